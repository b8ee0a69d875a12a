/* Mode K as a method: readings as they come, in any order, twice, spiked, surprising, without end. */
#include "posterior/modek.h"
#include "two_sensors.h"

static void test_same_seed_gives_the_same_bits_and_another_agrees(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 5);
  const hw_estimate a = identify(&river, 1), b = identify(&river, 1), other = identify(&river, 2);
  assert_memory_equal(&a.source, &b.source, sizeof a.source);
  assert_memory_equal(&a.interval, &b.interval, sizeof a.interval);
  check_near(other.source.location_m, a.source.location_m, 0.3 * place_sd(&a));
  assert_true(place_sd(&a) < 200);
  hw_river_free(&river);
}

static void test_asking_changes_nothing(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 5);
  hw_run *run = start(&river, 1);
  hw_sample sample[10];
  size_t count;
  for (size_t i = 0; i < reading_count; i++) {
    hw_run_observe(run, &readings[i]);
    if (i % 7 == 0) {
      answer(run);
      hw_run_samples(run, sample, 10, &count);
      assert_int_equal(count, 10);
    }
  }
  const hw_estimate asked = answer(run), silent = identify(&river, 1);
  /* Weights may be settled earlier by asking: the pending share is bounded by 1 % of one unit of evidence. */
  check_near(asked.source.location_m, silent.source.location_m, 0.3 * place_sd(&silent));
  hw_run_free(run);
  hw_river_free(&river);
}

static void check_late_readings(const hw_river *river) {
  simulate(river, &paper_truth, 6);
  const hw_estimate ordered = identify(river, 1);
  hw_reading late[3] = {readings[20], readings[61], readings[62]};
  size_t kept = 0;
  for (size_t i = 0; i < reading_count; i++) {
    if (i != 20 && i != 61 && i != 62) {
      readings[kept++] = readings[i];
    }
  }
  memcpy(&readings[kept], late, sizeof late);
  const hw_estimate mixed = identify(river, 1);
  assert_memory_equal(&mixed.source, &ordered.source, sizeof ordered.source);
  assert_memory_equal(&mixed.interval, &ordered.interval, sizeof ordered.interval);
  /* one sensor after the other, as some files are */
  simulate(river, &paper_truth, 6);
  static hw_reading sorted[MOST];
  size_t n = 0;
  for (size_t k = 2; k-- > 0;) {
    for (size_t i = 0; i < reading_count; i++) {
      if (readings[i].sensor == k) {
        sorted[n++] = readings[i];
      }
    }
  }
  memcpy(readings, sorted, n * sizeof *sorted);
  const hw_estimate by_sensor = identify(river, 1);
  assert_memory_equal(&by_sensor.interval, &ordered.interval, sizeof ordered.interval);
}

static void test_late_readings_give_the_ordered_answer_to_the_bits(void **state) {
  (void)state;
  hw_river river = two_sensors();
  check_late_readings(&river);
  hw_river_free(&river);
}

/* What a sensor with a background of its own had summed up before a replay must be gone after it. */
static void test_late_readings_do_so_with_backgrounds_to_learn(void **state) {
  (void)state;
  hw_river river = two_sensors();
  for (size_t k = 0; k < river.sensor_count; k++) {
    river.sensors[k].background_g_m3 = NAN;
  }
  check_late_readings(&river);
  hw_river_free(&river);
}

static void test_duplicates_do_not_count_twice(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 6);
  const hw_estimate once = identify(&river, 1);
  hw_run *run = start(&river, 1);
  for (size_t i = 0; i < reading_count; i++) {
    hw_run_observe(run, &readings[i]);
    if (i % 3 == 0) {
      hw_reading again = readings[i / 2];
      again.concentration_g_m3 += i == 60 ? 0.5 : 0;
      hw_run_observe(run, &again);
    }
  }
  const hw_estimate twice = answer(run);
  assert_memory_equal(&twice.interval, &once.interval, sizeof once.interval);
  assert_true(has_warning(run, "came twice with different values"));
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_lone_spikes_are_set_aside_and_reported(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 8);
  const hw_estimate clean = identify(&river, 1);
  readings[10].concentration_g_m3 = 0.5;  /* before the plume */
  readings[38].concentration_g_m3 = 0.2;  /* on its limb */
  readings[28].concentration_g_m3 = 0;    /* dropped out */
  readings[131].concentration_g_m3 = 0.3; /* at the other sensor */
  hw_run *run = run_all(&river, 1);
  const hw_estimate spiked = answer(run);
  check_near(spiked.source.location_m, clean.source.location_m, 1.0 * place_sd(&clean));
  assert_true(has_warning(run, "set aside"));
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_state_is_bounded_and_long_records_stay_right(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.sensors[0].noise_absolute_g_m3 = river.sensors[1].noise_absolute_g_m3 = 5e-4;
  hw_run *run = start(&river, 1);
  hw_rng rng;
  hw_rng_seed(&rng, 21, 0);
  size_t bytes = 0;
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  for (size_t i = 0; i < 6000; i++) {
    const double t = -9000 + 5.0 * (double)(i / 2);
    double c = 0;
    hw_transport_concentration(transport, &paper_truth, river.sensors[i % 2].location_m, t, &c);
    const hw_reading r = {i % 2, t, c + 5e-4 * hw_rng_normal(&rng), false, false};
    assert_int_equal(hw_run_observe(run, &r), HW_OK);
    if (i == 100) {
      bytes = answer(run).cost.state_bytes;
    }
  }
  hw_transport_free(transport);
  const hw_estimate e = answer(run);
  assert_int_equal(e.cost.state_bytes, bytes);
  assert_true(bytes < 4000000);
  check_holds(&e, &paper_truth);
  assert_true(place_sd(&e) < 150); /* 6000 readings are worth more than 200 */
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_the_answer_is_provisional_until_the_pulse_has_fallen(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 19);
  hw_run *run = start(&river, 1);
  bool was = true;
  for (size_t i = 0; i < reading_count; i++) {
    hw_run_observe(run, &readings[i]);
    const hw_estimate e = answer(run);
    check_holds(&e, &paper_truth); /* at every stage, the intervals wide before the peak */
    assert_true(was || !e.provisional || readings[i].sensor == 1);
    was = e.provisional;
  }
  assert_false(was);
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_a_history_merged_too_widely_is_reported(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 24);
  const hw_problem problem = {.river = &river};
  const hw_options options = {.seed = 1, .level = 0.9};
  void *engine = NULL;
  assert_int_equal(hw__modek_create(&problem, &options, &engine), HW_OK);
  for (size_t i = 0; i < reading_count; i++) {
    assert_int_equal(hw__modek_observe(engine, &readings[i]), HW_OK);
  }
  hw__modek *k = engine;
  for (int wide = 0; wide < 2; wide++) {
    hw_estimate e;
    assert_int_equal(hw__modek_estimate(engine, &e), HW_OK);
    bool told = false;
    for (size_t i = 0; i < e.warning_count; i++) {
      told = told || strstr(e.warnings[i], "sensor s1: more readings than there is room for");
    }
    assert_int_equal(told, wide);
    /* as if each entry of the first sensor stood for readings over one and a half standard deviations of the pulse */
    const double width = k->smc.channels[0].width_s;
    for (size_t i = 0; i < k->smc.history.start[1]; i++) {
      k->smc.history.entries[i].count = 50;
      k->smc.history.entries[i].spread_s2 = 1.5 * 1.5 / 12 * width * width;
    }
  }
  hw__modek_destroy(engine);
  hw_river_free(&river);
}

/* Three standard deviations slower than thought: on the way the engine has to start over. */
static void test_no_reading_does_more_than_its_share_of_work(void **state) {
  (void)state;
  hw_source truth;
  hw_river river = slower_than_thought(&truth);
  const hw_problem problem = {.river = &river};
  const hw_options options = {.seed = 1, .level = 0.9};
  void *engine = NULL;
  assert_int_equal(hw__modek_create(&problem, &options, &engine), HW_OK);
  const hw__smc *smc = &((hw__modek *)engine)->smc;
  size_t put_off = 0;
  for (size_t i = 0; i < reading_count; i++) {
    const uint64_t before = smc->effort;
    assert_int_equal(hw__modek_observe(engine, &readings[i]), HW_OK);
    /* One rejuvenation may follow what used the budget up: once over the history, then eleven moves at most. */
    const uint64_t sweep = smc->full_count * (hw__history_count(&smc->history) + HW__PROPOSAL);
    assert_true(smc->effort - before <= HW__READING_BUDGET + 12 * sweep);
    put_off += smc->restarting || smc->waiting > 0;
  }
  assert_true(smc->restarts > 0 && put_off > 1);
  hw_estimate e;
  assert_int_equal(hw__modek_estimate(engine, &e), HW_OK);
  assert_true(!smc->restarting && smc->waiting == 0 && smc->cloud.count == smc->full_count);
  check_holds(&e, &truth);
  hw__modek_destroy(engine);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_seed_gives_the_same_bits_and_another_agrees),
      cmocka_unit_test(test_asking_changes_nothing),
      cmocka_unit_test(test_late_readings_give_the_ordered_answer_to_the_bits),
      cmocka_unit_test(test_late_readings_do_so_with_backgrounds_to_learn),
      cmocka_unit_test(test_duplicates_do_not_count_twice),
      cmocka_unit_test(test_lone_spikes_are_set_aside_and_reported),
      cmocka_unit_test(test_state_is_bounded_and_long_records_stay_right),
      cmocka_unit_test(test_the_answer_is_provisional_until_the_pulse_has_fallen),
      cmocka_unit_test(test_a_history_merged_too_widely_is_reported),
      cmocka_unit_test(test_no_reading_does_more_than_its_share_of_work),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

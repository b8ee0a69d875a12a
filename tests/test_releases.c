/* Two releases (posterior/releases.h): when a sensor shows two pulses, and what the engine makes of them. */
#include "posterior/releases.h"
#include "two_sensors.h"

static hw__series series;
static hw__view view;
static hw__fit own;
static hw__tails tails;

static int build_tails(void **state) {
  (void)state;
  hw__tails_build(&tails);
  return 0;
}

/* Two pulses of this height, the second `apart` of their widths later and `share` as high; every 0.2 widths. */
static bool shows_two(double apart, double share, double noise) {
  const double width = 1400;
  hw_rng rng;
  hw_rng_seed(&rng, 61, 14);
  hw_sensor sensor;
  hw_sensor_init(&sensor);
  sensor.noise_absolute_g_m3 = noise;
  sensor.background_g_m3 = 0;
  memset(&series, 0, sizeof series);
  for (int i = 0; i < 150; i++) {
    const double x = 0.2 * i - 8, y = x - apart, c = exp(-0.5 * x * x) + share * exp(-0.5 * y * y);
    hw__series_insert(&series,
                      &(hw_reading){.time_s = x * width, .concentration_g_m3 = c + noise * hw_rng_normal(&rng)});
  }
  hw__pulse_fit(&series, &sensor, &tails, &own, &view);
  double valley_s = NAN;
  const bool two = hw__two_pulses(&series, &sensor, &own, &valley_s);
  assert_true(!two || (valley_s > 0.15 * apart * width && valley_s < 0.85 * apart * width));
  return two;
}

static void test_a_second_pulse_is_told_from_noise_and_from_a_shoulder(void **state) {
  (void)state;
  assert_true(shows_two(6, 1, 0.01));
  assert_true(shows_two(4, 0.4, 0.01));
  assert_false(shows_two(6, 0, 0.01));   /* one pulse */
  assert_false(shows_two(6, 0.1, 0.01)); /* too small to be called a release */
  assert_false(shows_two(1.5, 1, 0.01)); /* run into each other */
  assert_false(shows_two(6, 0.3, 0.08)); /* lost in the noise */
}

static void test_a_spike_is_no_release(void **state) {
  (void)state;
  (void)shows_two(6, 0, 0.01);
  hw_sensor sensor;
  hw_sensor_init(&sensor);
  sensor.noise_absolute_g_m3 = 0.01;
  series.span[120].value_g_m3 = series.span[121].value_g_m3 = 0.9;
  double valley_s;
  assert_false(hw__two_pulses(&series, &sensor, &own, &valley_s));
}

/* A pulse of 10 without noise, and behind it a hump of 8 of which so many readings lie above half of its rise; four
 * standard deviations of what they tell together are the least that a second pulse has. */
static bool shows_hump(int above_half, double noise_relative) {
  static const double pulse[] = {0, 0, 0, 5, 10, 10, 10, 5, 0, 0, 0, 0, 2.5};
  hw_sensor sensor;
  hw_sensor_init(&sensor);
  sensor.noise_relative = noise_relative;
  memset(&series, 0, sizeof series);
  for (int i = 0; i < 30; i++) {
    const double behind = i < 15 ? 8 : i < 13 + above_half ? 4.1 : i == 13 + above_half ? 2.5 : 0;
    hw__series_insert(&series, &(hw_reading){.time_s = 600 * i, .concentration_g_m3 = i < 13 ? pulse[i] : behind});
  }
  own = (hw__fit){.seen = true, .floor_g_m3 = 1e-6};
  double valley_s = NAN;
  const bool two = hw__two_pulses(&series, &sensor, &own, &valley_s);
  assert_true(valley_s >= 600 * 8 && valley_s <= 600 * 11);
  return two;
}

static void test_the_readings_of_a_hump_count_together_up_to_four(void **state) {
  (void)state;
  for (int count = 3; count <= 7; count++) {
    const double most = 1 / (4 * sqrt(2 / fmin(count, 4)));
    assert_true(shows_hump(count, 0.99 * most));
    assert_false(shows_hump(count, 1.01 * most));
  }
}

static void add_release(const hw_river *river, const hw_source *source) {
  for (size_t i = 0; i < reading_count; i++) {
    readings[i].concentration_g_m3 += concentration(river, source, readings[i].sensor, readings[i].time_s);
  }
}

/* The second one later, smaller and elsewhere. */
static void test_two_releases_are_counted_and_each_is_found(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.sensor_count = 1;
  river.search.hi.time_s = 0;
  const hw_source later = {1100, -19300, paper_truth.time_s + 7200};
  simulate(&river, &paper_truth, 71);
  add_release(&river, &later);
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.release_count, 2);
  const hw_source *truth[] = {&paper_truth, &later};
  for (size_t k = 0; k < 2; k++) {
    const hw_box *i = &e.releases[k].interval;
    const double place = 0.5 * (i->hi.location_m - i->lo.location_m), time = 0.5 * (i->hi.time_s - i->lo.time_s);
    assert_true(e.releases[k].probability > 0.9 && e.releases[k].probability <= 1);
    check_near(e.releases[k].source.location_m, truth[k]->location_m, 2 * place);
    check_near(e.releases[k].source.time_s, truth[k]->time_s, 2 * time);
  }
  assert_true(e.source.mass_g >= fmax(e.releases[0].source.mass_g, e.releases[1].source.mass_g));
  /* What is foreseen is what both bring. */
  const double passage = later.time_s + (river.sensors[0].location_m - later.location_m) / (80 / 60.0);
  hw_range band;
  const hw_prediction there = {river.sensors[0].location_m, &passage, 1, &band};
  assert_int_equal(hw_run_predict(run, &there), HW_OK);
  const double expected = concentration(&river, &later, 0, passage) + concentration(&river, &paper_truth, 0, passage);
  check_near(band.mid, expected, 0.05 * expected);
  hw_run_free(run);
  hw_river_free(&river);
}

/* One candidate at each release's place: either is suspected as of its own release, not only of the larger one. */
static void test_whoever_made_the_smaller_release_is_suspected_too(void **state) {
  (void)state;
  hw_river river = two_sensors();
  const hw_source later = {1100, -19300, paper_truth.time_s + 7200};
  hw_candidate who[] = {{.id = "upper", .location_m = paper_truth.location_m},
                        {.id = "lower", .location_m = later.location_m},
                        {.id = "away", .location_m = -27300}};
  hw_candidate *const given = river.candidates;
  const size_t given_count = river.candidate_count;
  river.candidates = who;
  river.candidate_count = 3;
  river.none_prior = 0.2;
  river.sensor_count = 1;
  river.search.hi.time_s = 0;
  simulate(&river, &paper_truth, 71);
  add_release(&river, &later);
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.release_count, 2);
  assert_int_equal(e.suspicion_count, 4);
  for (size_t k = 0; k < 2; k++) {
    assert_int_equal(e.releases[k].suspicion_count, 4);
    assert_int_equal(e.releases[k].suspicions[0].candidate, k);
  }
  for (size_t i = 0; i < 4; i++) {
    const ptrdiff_t c = e.suspicions[i].candidate;
    double each[2] = {0, 0};
    for (size_t k = 0; k < 2; k++) {
      for (size_t j = 0; j < 4; j++) {
        each[k] = e.releases[k].suspicions[j].candidate == c ? e.releases[k].suspicions[j].probability : each[k];
      }
    }
    check_near(e.suspicions[i].probability, c < 0 ? fmin(each[0], each[1]) : fmax(each[0], each[1]), 1e-12);
    assert_true(i == 0 || e.suspicions[i].probability <= e.suspicions[i - 1].probability);
    assert_true((c == 0 || c == 1) == (e.suspicions[i].probability > 0.5));
  }
  hw_run_free(run);
  river.candidates = given;
  river.candidate_count = given_count;
  hw_river_free(&river);
}

/* An intake between them: it has not passed before the second one has. */
static void test_an_intake_stays_closed_until_both_releases_have_passed(void **state) {
  (void)state;
  hw_river river = two_sensors();
  hw_intake town = {.id = "town", .location_m = river.sensors[0].location_m + 3000, .alarm_g_m3 = 1e-5};
  hw_intake *const given = river.intakes;
  const size_t given_count = river.intake_count;
  river.intakes = &town;
  river.intake_count = 1;
  river.sensor_count = 1;
  river.search.hi.time_s = 0;
  const hw_source later = {1100, -19300, paper_truth.time_s + 7200};
  simulate(&river, &paper_truth, 71);
  hw_run *run = run_all(&river, 1);
  const hw_estimate alone = answer(run);
  assert_int_equal(alone.arrival_count, 1);
  const double front_s = alone.arrivals[0].first_s.mid;
  hw_run_free(run);
  add_release(&river, &later);
  run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.release_count, 2);
  assert_int_equal(e.arrival_count, 1);
  const double passage = later.time_s + (town.location_m - later.location_m) / (80 / 60.0);
  assert_true(e.arrivals[0].last_s.lo > passage);
  check_near(e.arrivals[0].first_s.mid, front_s, 600); /* the first one's front, as before */
  assert_true(e.arrivals[0].exceeds_alarm > 0.9 && e.arrivals[0].exceeds_alarm <= 1);
  hw_run_free(run);
  river.intakes = given;
  river.intake_count = given_count;
  hw_river_free(&river);
}

/* The lower sensor, where both have run into one pulse, is nobody's. */
static void test_pulses_that_have_run_together_below_do_not_hide_two_releases(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.hi.time_s = 0;
  const hw_source later = {1100, paper_truth.location_m, paper_truth.time_s + 4500};
  simulate(&river, &paper_truth, 73);
  add_release(&river, &later);
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.release_count, 2);
  for (size_t k = 0; k < 2; k++) {
    const double at = (k == 0 ? &paper_truth : &later)->location_m;
    const hw_box *i = &e.releases[k].interval;
    check_near(e.releases[k].source.location_m, at, 2 * (i->hi.location_m - i->lo.location_m));
  }
  hw_run_free(run);
  hw_river_free(&river);
}

static const hw_source near_one = {3640, -1420, 32600}, far_one = {3790, -5860, 33000};

/* Two plain pulses at either sensor; at the second one, where they are wider, their flanks lie over each other. */
static hw_river with_flanks_that_meet(void) {
  hw_river river = two_sensors();
  hw_rng rng;
  hw_rng_seed(&rng, 74, 0);
  river.hydraulics.velocity_m_s.value = 0.354;
  river.hydraulics.dispersion_m2_s.value = 29.9;
  river.hydraulics.area_m2 = 473;
  river.hydraulics.decay_per_s = 0;
  river.search = (hw_box){{1000, -15000, 0}, {100000, -300, 86400}};
  river.sensors[0].location_m = 0;
  river.sensors[1].location_m = 5600;
  for (size_t k = 0; k < river.sensor_count; k++) {
    river.sensors[k].noise_relative = 0.05;
    river.sensors[k].noise_absolute_g_m3 = 1e-5;
  }
  reading_count = 0;
  for (double t = 0; t < 80000; t += 200) {
    for (size_t k = 0; k < river.sensor_count; k++) {
      const double c = concentration(&river, &near_one, k, t) + concentration(&river, &far_one, k, t);
      const double sd = hypot(river.sensors[k].noise_absolute_g_m3, river.sensors[k].noise_relative * c);
      readings[reading_count++] = (hw_reading){k, t, c + sd * hw_rng_normal(&rng), false, false};
    }
  }
  return river;
}

/* Cut off at the valley alone both pulses would come out too wide, and no release would make what is left of the one
 * with the other taken off. */
static void test_two_releases_from_different_places_are_found_where_their_flanks_meet(void **state) {
  (void)state;
  hw_river river = with_flanks_that_meet();
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.release_count, 2);
  const hw_source *truth[] = {&near_one, &far_one};
  for (size_t k = 0; k < 2; k++) {
    const hw_box *i = &e.releases[k].interval;
    check_near(e.releases[k].source.location_m, truth[k]->location_m, 2 * (i->hi.location_m - i->lo.location_m));
    check_near(e.releases[k].source.mass_g, truth[k]->mass_g, 0.1 * truth[k]->mass_g); /* two for one: far more */
  }
  hw_run_free(run);
  hw_river_free(&river);
}

/* Either is more than the search allows, so that two are no answer; and one explains nothing. */
static void test_two_pulses_that_are_not_explained_are_not_answered_as_one(void **state) {
  (void)state;
  hw_river river = with_flanks_that_meet();
  river.search.hi.mass_g = 3000;
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.release_count, 0);
  assert_int_equal(e.trust, HW_TRUST_NONE);
  assert_false(e.has_source);
  assert_string_equal(e.trust_reason, "sensor s1 shows two pulses that one release does not explain");
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_one_release_is_one(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 72);
  const hw_estimate e = identify(&river, 1);
  assert_int_equal(e.release_count, 0);
  check_holds(&e, &paper_truth);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_second_pulse_is_told_from_noise_and_from_a_shoulder),
      cmocka_unit_test(test_the_readings_of_a_hump_count_together_up_to_four),
      cmocka_unit_test(test_a_spike_is_no_release),
      cmocka_unit_test(test_two_releases_are_counted_and_each_is_found),
      cmocka_unit_test(test_whoever_made_the_smaller_release_is_suspected_too),
      cmocka_unit_test(test_an_intake_stays_closed_until_both_releases_have_passed),
      cmocka_unit_test(test_pulses_that_have_run_together_below_do_not_hide_two_releases),
      cmocka_unit_test(test_two_releases_from_different_places_are_found_where_their_flanks_meet),
      cmocka_unit_test(test_two_pulses_that_are_not_explained_are_not_answered_as_one),
      cmocka_unit_test(test_one_release_is_one),
  };
  return cmocka_run_group_tests(tests, build_tails, NULL);
}

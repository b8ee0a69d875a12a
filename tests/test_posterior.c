/* Mode K as a method: what it must get right whatever the readings do. Statistical quality is measured by
 * experiments/study_posterior.c; here stand the claims that hold in every run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "paper_river.h"

enum { MOST = 4000 };
static hw_reading readings[MOST];
static size_t reading_count;

/* The paper's river with two sensors, both trusted: background 0, noise absolute. */
static hw_river two_sensors(void) {
  hw_river river = paper_river();
  river.sensor_count = 2;
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].background_g_m3 = 0;
    river.sensors[k].noise_relative = 0;
    river.sensors[k].noise_absolute_g_m3 = 1e-4;
  }
  return river;
}

static double concentration(const hw_river *river, const hw_source *source, size_t sensor, double time_s) {
  hw_transport *transport = NULL;
  double c = 0;
  assert_int_equal(hw_transport_create(river, NULL, &transport), HW_OK);
  hw_transport_concentration(transport, source, river->sensors[sensor].location_m, time_s, &c);
  hw_transport_free(transport);
  return c;
}

/* All sensors read every 150 s from -9000 to 6000 s, with the noise the river states. */
static void simulate(const hw_river *river, const hw_source *source, uint64_t seed) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, 0);
  reading_count = 0;
  for (double t = -9000; t <= 6000; t += 150) {
    for (size_t k = 0; k < river->sensor_count; k++) {
      const hw_sensor *s = &river->sensors[k];
      const double c = concentration(river, source, k, t);
      const double sd = hypot(s->noise_absolute_g_m3, s->noise_relative * c);
      readings[reading_count++] = (hw_reading){k, t, c + sd * hw_rng_normal(&rng), false};
    }
  }
}

static hw_run *start(const hw_river *river, uint64_t seed) {
  hw_run *run = NULL;
  const hw_problem problem = {.river = river};
  const hw_options options = {.seed = seed};
  assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, &options, &run), HW_OK);
  return run;
}

static hw_run *run_all(const hw_river *river, uint64_t seed) {
  hw_run *run = start(river, seed);
  for (size_t i = 0; i < reading_count; i++) {
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
  }
  return run;
}

static hw_estimate answer(hw_run *run) {
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_true(isfinite(e.interval.lo.mass_g) && isfinite(e.interval.hi.location_m) && isfinite(e.interval.hi.time_s));
  return e;
}

static hw_estimate identify(const hw_river *river, uint64_t seed) {
  hw_run *run = run_all(river, seed);
  const hw_estimate e = answer(run);
  hw_run_free(run);
  return e; /* its arrays are gone; only numbers are used */
}

static double place_sd(const hw_estimate *e) {
  return (e->interval.hi.location_m - e->interval.lo.location_m) / 3.29;
}

static void check_holds(const hw_estimate *e, const hw_source *truth) {
  /* Within five posterior standard deviations: a sound posterior fails this once in a million. */
  check_near(e->source.location_m, truth->location_m, 5 * place_sd(e));
  check_near(e->source.mass_g, truth->mass_g, 5 * (e->interval.hi.mass_g - e->interval.lo.mass_g) / 3.29);
  check_near(e->source.time_s, truth->time_s, 5 * (e->interval.hi.time_s - e->interval.lo.time_s) / 3.29);
}

static bool has_warning(hw_run *run, const char *part) {
  const hw_estimate e = answer(run);
  for (size_t i = 0; i < e.warning_count; i++) {
    if (strstr(e.warnings[i], part)) {
      return true;
    }
  }
  return false;
}

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

static void test_late_readings_give_the_ordered_answer_to_the_bits(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 6);
  const hw_estimate ordered = identify(&river, 1);
  hw_reading late[3] = {readings[20], readings[61], readings[62]};
  size_t kept = 0;
  for (size_t i = 0; i < reading_count; i++) {
    if (i != 20 && i != 61 && i != 62) {
      readings[kept++] = readings[i];
    }
  }
  memcpy(&readings[kept], late, sizeof late);
  const hw_estimate mixed = identify(&river, 1);
  assert_memory_equal(&mixed.source, &ordered.source, sizeof ordered.source);
  assert_memory_equal(&mixed.interval, &ordered.interval, sizeof ordered.interval);
  /* one sensor after the other, as some files are */
  simulate(&river, &paper_truth, 6);
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
  const hw_estimate by_sensor = identify(&river, 1);
  assert_memory_equal(&by_sensor.interval, &ordered.interval, sizeof ordered.interval);
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

static void test_a_learned_background_is_taken_off(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 9);
  river.sensors[0].background_g_m3 = river.sensors[1].background_g_m3 = NAN;
  const hw_estimate flat = identify(&river, 1);
  check_holds(&flat, &paper_truth);
  for (size_t i = 0; i < reading_count; i++) {
    readings[i].concentration_g_m3 += readings[i].sensor ? 0.0031 : 0.012;
  }
  const hw_estimate raised = identify(&river, 1);
  check_holds(&raised, &paper_truth);
  check_near(raised.source.location_m, flat.source.location_m, 1.0 * place_sd(&flat));
  river.sensors[0].background_g_m3 = 0.012;
  river.sensors[1].background_g_m3 = 0.0031;
  const hw_estimate given = identify(&river, 1);
  check_holds(&given, &paper_truth);
  hw_river_free(&river);
}

static void test_a_source_between_sensors_is_found(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.hi.location_m = -500;
  const hw_source between = {1700, -9000, -11000};
  simulate(&river, &between, 10);
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  check_holds(&e, &between);
  assert_true(e.interval.lo.location_m > -14210.5); /* the silent sensor rules out everything above it */
  assert_true(has_warning(run, "sensor s1 never rose"));
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_non_detects_are_evidence(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 11);
  size_t hidden = 0;
  for (size_t i = 0; i < reading_count; i++) {
    if (readings[i].concentration_g_m3 < 0.002) {
      readings[i].concentration_g_m3 = 0.002;
      readings[i].below_limit = true;
      hidden++;
    }
  }
  assert_true(hidden > 60);
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  /* nothing but non-detects: a pulse that must have shown is ruled out */
  river.search = (hw_box){{1000, -30000, -24000}, {3000, -14500, -8760}};
  for (size_t i = 0; i < reading_count; i++) {
    readings[i] = (hw_reading){readings[i].sensor, readings[i].time_s, 0.001, true};
  }
  hw_run *run = run_all(&river, 1);
  const hw_estimate none = answer(run);
  assert_true(none.provisional);
  /* what is left: releases so early that they had passed, or so late that they have not come yet */
  static hw_sample samples[4096];
  size_t count;
  assert_int_equal(hw_run_samples(run, samples, 4096, &count), HW_OK);
  double ruled_out = 0;
  for (size_t i = 0; i < count; i++) {
    const double phi =
        samples[i].source.time_s + (-14210.5 - samples[i].source.location_m) / river.hydraulics.velocity_m_s.value;
    ruled_out += phi > -8000 && phi < 5000 ? samples[i].weight : 0;
  }
  assert_true(ruled_out < 0.01);
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_uncertain_gains_widen_the_mass_and_free_the_place(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 12);
  const hw_estimate sure = identify(&river, 1);
  river.sensors[0].gain_factor = river.sensors[1].gain_factor = 1.25;
  for (size_t i = 0; i < reading_count; i++) {
    readings[i].concentration_g_m3 *= readings[i].sensor ? 0.85 : 1.2;
  }
  const hw_estimate doubtful = identify(&river, 1);
  check_holds(&doubtful, &paper_truth);
  assert_true(doubtful.interval.hi.mass_g - doubtful.interval.lo.mass_g >
              5 * (sure.interval.hi.mass_g - sure.interval.lo.mass_g));
  hw_river_free(&river);
}

static void test_unknown_hydraulics_are_inferred(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 13);
  river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.2, 1.2};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 90, 3};
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  check_near(e.velocity_m_s.mid, 80 / 60.0, 5 * (e.velocity_m_s.hi - e.velocity_m_s.lo) / 3.29);
  check_near(e.dispersion_m2_s.mid, 40.5, 5 * (e.dispersion_m2_s.hi - e.dispersion_m2_s.lo) / 3.29);
  assert_true(e.velocity_m_s.hi - e.velocity_m_s.lo < 0.05);
  hw_river_free(&river);
}

/* Three standard deviations slower than thought, and the second sensor read only when a plume at the stated speed had
 * passed: no particle is left that slow when it rises, and the engine has to start over. */
static void test_a_river_far_slower_than_thought_is_found(void **state) {
  (void)state;
  hw_river river = two_sensors();
  const hw_source truth = {12516, -11232, -3183};
  river.search = (hw_box){{500, -30000, -20000}, {40000, -1000, 20000}};
  river.hydraulics =
      (hw_hydraulics){.velocity_m_s = {HW_KNOWN, 0.757, 1}, .dispersion_m2_s = {HW_KNOWN, 3.6, 1}, .area_m2 = 40};
  river.sensors[0].location_m = 0;
  river.sensors[1].location_m = 6370;
  river.sensors[0].noise_absolute_g_m3 = river.sensors[1].noise_absolute_g_m3 = 3e-3;
  hw_rng rng;
  hw_rng_seed(&rng, 20, 0);
  reading_count = 0;
  for (size_t i = 0; i < 80; i++) {
    const double t = i < 40 ? 9885 + 102.0 * (double)i : 17853 + 127.5 * (double)(i - 40);
    const double c = concentration(&river, &truth, i / 40, t) + 3e-3 * hw_rng_normal(&rng);
    readings[reading_count++] = (hw_reading){i / 40, t, c, false};
  }
  river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.3587, 1.2};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 25, 3};
  for (uint64_t seed = 1; seed < 4; seed++) {
    const hw_estimate e = identify(&river, seed);
    check_holds(&e, &truth);
    check_near(e.velocity_m_s.mid, 0.757, 0.01);
  }
  hw_river_free(&river);
}

static void test_reaches_and_decay_are_followed(void **state) {
  (void)state;
  static hw_reach reaches[] = {{-19000, 1.7, 33, 48, 2e-6}, {-6000, 0.9, 52, 80, 1e-5}};
  hw_river river = two_sensors();
  river.reaches = reaches;
  river.reach_count = 2;
  simulate(&river, &paper_truth, 14);
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  hw_bound bound;
  assert_int_equal(hw_fisher_source(&river, &paper_truth, &(hw_schedule){-9000, 6000, 150}, NULL, &bound), HW_OK);
  check_near(place_sd(&e), bound.location_m, 0.25 * bound.location_m);
  river.reaches = NULL;
  hw_river_free(&river);
}

static void test_relative_noise_and_an_estimated_floor(void **state) {
  (void)state;
  hw_river river = two_sensors();
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].noise_relative = 0.05;
    river.sensors[k].noise_absolute_g_m3 = 0.0003;
  }
  simulate(&river, &paper_truth, 15);
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].noise_absolute_g_m3 = 0; /* not told */
    river.sensors[k].background_g_m3 = NAN;
  }
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  assert_true(place_sd(&e) < 600);
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
    const hw_reading r = {i % 2, t, c + 5e-4 * hw_rng_normal(&rng), false};
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

static void test_degenerate_boxes_fix_what_is_known(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 16);
  river.search.lo.location_m = river.search.hi.location_m = paper_truth.location_m;
  const hw_estimate place = identify(&river, 1);
  assert_true(place.source.location_m == paper_truth.location_m);
  check_holds(&place, &paper_truth);
  hw_river_free(&river);
  river = two_sensors();
  river.search.lo.time_s = river.search.hi.time_s = paper_truth.time_s;
  river.search.lo.mass_g = river.search.hi.mass_g = paper_truth.mass_g;
  const hw_estimate time = identify(&river, 1);
  assert_true(time.source.time_s == paper_truth.time_s && time.source.mass_g == paper_truth.mass_g);
  check_near(time.source.location_m, paper_truth.location_m, 5 * place_sd(&time));
  hw_river_free(&river);
}

static void test_the_box_and_a_bad_model_are_reported(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 17);
  river.search.lo.location_m = -21500; /* the truth lies outside */
  hw_run *run = run_all(&river, 1);
  assert_true(has_warning(run, "lower end of the search box for location_m"));
  assert_true(has_warning(run, "the model does not fit"));
  hw_run_free(run);
  river.search.lo.location_m = -30000;
  for (size_t i = 0; i < reading_count; i++) {
    readings[i].concentration_g_m3 *= readings[i].sensor ? 0.6 : 1;
  }
  run = run_all(&river, 1);
  assert_true(has_warning(run, "contradicts the others"));
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_arrivals_and_bands_follow_the_truth(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 18);
  static hw_intake intakes[2] = {{.id = "reno", .location_m = 21999.7, .alarm_g_m3 = 0.004},
                                 {.id = "above", .location_m = -60000}};
  river.intakes = intakes;
  river.intake_count = 2;
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.arrival_count, 1);
  const hw_arrival a = e.arrivals[0];
  double best = 0, when = 0, first = NAN;
  for (double t = 0; t < 40000; t += 5) {
    double c = 0;
    hw_transport *transport = NULL;
    assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
    hw_transport_concentration(transport, &paper_truth, 21999.7, t, &c);
    hw_transport_free(transport);
    first = isnan(first) && c > 0.004 ? t : first;
    when = c > best ? t : when;
    best = fmax(best, c);
  }
  check_near(a.peak_s.mid, when, 2 * (a.peak_s.hi - a.peak_s.lo) + 5);
  check_near(a.first_s.mid, first, 2 * (a.first_s.hi - a.first_s.lo) + 5);
  check_near(a.peak_g_m3.mid, best, 2 * (a.peak_g_m3.hi - a.peak_g_m3.lo));
  check_near(a.exceeds_alarm, 1, 1e-12);
  hw_range band;
  const hw_prediction prediction = {21999.7, &when, 1, &band};
  assert_int_equal(hw_run_predict(run, &prediction), HW_OK);
  assert_true(band.lo <= band.mid && band.mid <= band.hi);
  check_near(band.mid, best, 2 * (band.hi - band.lo));
  hw_run_free(run);
  river.intakes = NULL;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_seed_gives_the_same_bits_and_another_agrees),
      cmocka_unit_test(test_asking_changes_nothing),
      cmocka_unit_test(test_late_readings_give_the_ordered_answer_to_the_bits),
      cmocka_unit_test(test_duplicates_do_not_count_twice),
      cmocka_unit_test(test_lone_spikes_are_set_aside_and_reported),
      cmocka_unit_test(test_a_learned_background_is_taken_off),
      cmocka_unit_test(test_a_source_between_sensors_is_found),
      cmocka_unit_test(test_non_detects_are_evidence),
      cmocka_unit_test(test_uncertain_gains_widen_the_mass_and_free_the_place),
      cmocka_unit_test(test_unknown_hydraulics_are_inferred),
      cmocka_unit_test(test_a_river_far_slower_than_thought_is_found),
      cmocka_unit_test(test_reaches_and_decay_are_followed),
      cmocka_unit_test(test_relative_noise_and_an_estimated_floor),
      cmocka_unit_test(test_state_is_bounded_and_long_records_stay_right),
      cmocka_unit_test(test_degenerate_boxes_fix_what_is_known),
      cmocka_unit_test(test_the_box_and_a_bad_model_are_reported),
      cmocka_unit_test(test_arrivals_and_bands_follow_the_truth),
      cmocka_unit_test(test_the_answer_is_provisional_until_the_pulse_has_fallen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sensor planning: Algorithm 4 with the paper's settings, the direct count, Student intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headwater/plan.h"
#include "headwater/rng.h"
#include "paper_river.h"

/* Section 5.2: spreads N(0, 50), N(0, 500), N(0, 5 min) about the truth, lengths 200 g, 500 m, 200 min. */
static const hw_source paper_spread = {50, 500, 5 * 60.0};
static const hw_plan_settings paper_settings = {.accepted = {200, 500, 200 * 60.0}, .level = 0.9};

static hw_status simulated(void *context, size_t round, size_t sensor, hw_source *out) {
  hw_rng rng;
  hw_rng_seed(&rng, *(const uint64_t *)context, round * 1000 + sensor);
  out->mass_g = paper_truth.mass_g + paper_spread.mass_g * hw_rng_normal(&rng);
  out->location_m = paper_truth.location_m + paper_spread.location_m * hw_rng_normal(&rng);
  out->time_s = paper_truth.time_s + paper_spread.time_s * hw_rng_normal(&rng);
  return HW_OK;
}

static void test_direct_count_is_thirteen_with_the_papers_settings(void **unused) {
  (void)unused;
  size_t required[3];
  assert_int_equal(hw_plan_direct(&paper_settings, &paper_spread, required), HW_OK);
  assert_int_equal(required[0], 3);
  assert_int_equal(required[1], 13);
  assert_int_equal(required[2], 2);
}

static void test_sequence_settles_near_twenty_and_keeps_a_larger_start(void **unused) {
  (void)unused;
  static const size_t firsts[] = {3, 7, 11, 13, 19, 25};
  double mean = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    for (size_t i = 0; i < 6; i++) {
      hw_plan_settings settings = paper_settings;
      settings.first = firsts[i];
      hw_plan_round rounds[100];
      uint64_t stream = seed;
      assert_int_equal(hw_plan_sequence(&settings, simulated, &stream, rounds), HW_OK);
      for (size_t r = 1; r < 100; r++) {
        assert_true(rounds[r].installed >= rounds[r - 1].installed);
      }
      if (seed == 1) {
        print_message("first %zu: settles at %zu\n", firsts[i], rounds[99].installed);
      }
      mean += i < 4 ? (double)rounds[99].installed / 40 : 0;
      assert_true(i < 5 || rounds[99].installed == 25);
    }
  }
  print_message("mean over ten seeds and A = 3, 7, 11, 13: %.1f\n", mean);
  assert_true(mean > 16 && mean < 23);
}

static void test_interval_matches_the_textbook(void **unused) {
  (void)unused;
  /* t_{0.05, 3} = 2.353363 (NIST handbook, table 1.3.6.7.2) */
  const hw_source four[] = {{1310.5, -1, 5}, {1288.2, -3, 5}, {1297.7, -2, 5}, {1304.4, -6, 5}};
  hw_source mean, spread;
  hw_box interval;
  assert_int_equal(hw_plan_interval(four, 4, 0.9, &mean, &interval, &spread), HW_OK);
  assert_true(fabs(mean.mass_g - 1300.2) < 1e-9);
  const double sd = sqrt((10.3 * 10.3 + 12.0 * 12.0 + 2.5 * 2.5 + 4.2 * 4.2) / 3);
  assert_true(fabs(spread.mass_g - sd) < 1e-9);
  assert_true(fabs(interval.hi.mass_g - (1300.2 + 2.353363 * sd / 2)) < 1e-5);
  assert_true(interval.lo.time_s == 5 && interval.hi.time_s == 5);
  assert_int_equal(hw_plan_interval(four, 1, 0.9, &mean, &interval, &spread), HW_EDOMAIN);
}

static hw_status agreeing(void *context, size_t round, size_t sensor, hw_source *out) {
  (void)round;
  (void)sensor;
  *out = *(const hw_source *)context;
  return HW_OK;
}

static void test_sensors_that_agree_need_no_company(void **unused) {
  (void)unused;
  hw_plan_settings settings = paper_settings;
  settings.rounds = 4;
  settings.first = 2;
  hw_plan_round rounds[4];
  hw_source same = paper_truth;
  assert_int_equal(hw_plan_sequence(&settings, agreeing, &same, rounds), HW_OK);
  assert_int_equal(rounds[3].installed, 2);
}

static hw_status broken(void *context, size_t round, size_t sensor, hw_source *out) {
  (void)context;
  (void)out;
  return round == 1 && sensor == 1 ? HW_EEMPTY : agreeing((void *)(uintptr_t)&paper_truth, round, sensor, out);
}

static void test_sequence_rejects_bad_settings_and_passes_failures_on(void **unused) {
  (void)unused;
  hw_plan_round rounds[100] = {{.installed = 77}};
  assert_int_equal(hw_plan_sequence(&paper_settings, broken, NULL, rounds), HW_EEMPTY);
  assert_int_equal(rounds[0].installed, 77);
  hw_plan_settings bad = paper_settings;
  bad.accepted.location_m = NAN;
  assert_int_equal(hw_plan_sequence(&bad, broken, NULL, rounds), HW_EDOMAIN);
  bad = paper_settings;
  bad.first = 51;
  assert_int_equal(hw_plan_sequence(&bad, broken, NULL, rounds), HW_EDOMAIN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_direct_count_is_thirteen_with_the_papers_settings),
      cmocka_unit_test(test_sequence_settles_near_twenty_and_keeps_a_larger_start),
      cmocka_unit_test(test_interval_matches_the_textbook),
      cmocka_unit_test(test_sensors_that_agree_need_no_company),
      cmocka_unit_test(test_sequence_rejects_bad_settings_and_passes_failures_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

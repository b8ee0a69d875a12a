/* Could the day alone have made what a sensor shows (posterior/cycle.h)? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/rng.h"
#include "posterior/cycle.h"

static const double noise = 0.7, limit = 5, day = 86400;
static hw__tails tails;
static hw__series series;
static hw__view view;
static hw__fit fit;

static int build_tails(void **state) {
  (void)state;
  hw__tails_build(&tails);
  return 0;
}

/* `days` of readings on a background of 200 g/m3 (nothing under a limit), that follows the day by
 * `swing` g/m3, the more sharply the larger the power, with a pulse of this height and width after two thirds of the
 * record. */
static void read_days_every(double step_s, double days, double swing, double power, double height, double width_s,
                            bool censored, uint64_t seed) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, 21);
  memset(&series, 0, sizeof series);
  const hw__curve curve = {.passage_s = 0.67 * days * day,
                           .travel_s = 9 * width_s,
                           .variance_s2 = width_s * width_s,
                           .area_g_s_m3 = height * width_s * sqrt(2 * M_PI)};
  for (double t = 0; t < days * day; t += step_s) {
    const double cycle = pow(0.5 + 0.5 * sin(2 * M_PI * t / day + 1.1), power);
    const double value =
        (censored ? 0 : 200) + swing * cycle + hw__curve_at(&curve, t, 0) + noise * hw_rng_normal(&rng);
    const bool below = censored && value < limit;
    hw__series_insert(&series,
                      &(hw_reading){.time_s = t, .concentration_g_m3 = below ? limit : value, .below_limit = below});
  }
  hw_sensor s;
  hw_sensor_init(&s);
  s.noise_absolute_g_m3 = noise;
  s.background_g_m3 = step_s > 3600 ? 200 : NAN; /* a few readings do not tell it */
  s.detection_limit_g_m3 = censored ? limit : 0;
  hw__pulse_fit(&series, &s, &tails, &fit, &view);
}

static void read_days(double days, double swing, double power, double height, double width_s, bool censored,
                      uint64_t seed) {
  read_days_every(600, days, swing, power, height, width_s, censored, seed);
}

static void test_a_daily_cycle_is_told_by_the_day(void **state) {
  (void)state;
  static const struct {
    double days, swing, power;
  } cycles[] = {{1.5, 40, 1}, {2, 11, 1}, {3, 60, 1}, {3, 60, 3}, {7, 25, 2}, {1, 30, 1}};
  for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++) {
    read_days(cycles[i].days, cycles[i].swing, cycles[i].power, 0, 3600, false, i + 1);
    assert_true(!fit.seen || hw__cycle_explains(&series, &fit));
  }
}

static void test_a_pulse_is_none(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    read_days((double)seed, 0, 1, 60, seed % 2 ? 1800 : 5400, false, seed);
    assert_true(fit.seen && !hw__cycle_explains(&series, &fit));
    read_days((double)seed, 3, 1, 60, seed % 2 ? 1800 : 5400, false, seed); /* a cycle beside it makes it none */
    assert_true(fit.seen && !hw__cycle_explains(&series, &fit));
  }
}

/* A cycle has to stay below the limit where the readings do. */
static void test_non_detects_speak_against_a_cycle(void **state) {
  (void)state;
  read_days(3, 0, 1, 60, 5400, true, 7);
  assert_true(fit.seen && !hw__cycle_explains(&series, &fit));
}

/* Seven terms go through any seven readings. */
static void test_a_few_grab_samples_are_no_cycle(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    read_days_every(9 * 3600, 2.6, 0, 1, 60, 6 * 3600, false, seed);
    assert_false(hw__cycle_explains(&series, &fit));
    read_days_every(5 * 3600, 1.2, 0, 1, 60, 3 * 3600, false, seed);
    assert_false(hw__cycle_explains(&series, &fit));
  }
}

/* In less than half a day there is no telling. */
static void test_a_short_record_has_no_cycle(void **state) {
  (void)state;
  read_days(0.45, 40, 1, 0, 3600, false, 8);
  assert_false(hw__cycle_explains(&series, &fit));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_daily_cycle_is_told_by_the_day),  cmocka_unit_test(test_a_pulse_is_none),
      cmocka_unit_test(test_non_detects_speak_against_a_cycle), cmocka_unit_test(test_a_few_grab_samples_are_no_cycle),
      cmocka_unit_test(test_a_short_record_has_no_cycle),
  };
  return cmocka_run_group_tests(tests, build_tails, NULL);
}

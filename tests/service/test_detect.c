/* Sensors leave their background, or do not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "headwater/rng.h"
#include "incidents/detect.h"

static hw_sensor plain_sensor(void) {
  hw_sensor sensor;
  hw_sensor_init(&sensor);
  sensor.noise_relative = 0;
  return sensor;
}

/* Background 0.3 with sd 0.01, a reading every 900 s. */
static void quiet(hw__detector *d, const hw_sensor *sensor, hw_rng *rng, size_t count, size_t *alarms) {
  for (size_t i = 0; i < count; i++) {
    const double time_s = isfinite(d->latest_s) ? d->latest_s + 900 : 0;
    *alarms += hw__detect_step(d, sensor, time_s, 0.3 + 0.01 * hw_rng_normal(rng), false) == HW_DETECT_RAISED;
  }
}

static void test_a_quiet_year_raises_no_alarm_and_learns_the_noise(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  hw__detector d;
  hw_rng rng;
  size_t alarms = 0;
  hw__detect_init(&d);
  hw_rng_seed(&rng, 14, 0);
  quiet(&d, &sensor, &rng, 35040, &alarms);
  assert_int_equal(alarms, 0);
  /* Mean and sd of the last 400 readings: standard errors 0.0005 and 0.00035; five of each. */
  assert_true(fabs(d.background_g_m3 - 0.3) < 0.0025);
  assert_true(fabs(hw__detect_noise(&d, &sensor) - 0.01) < 0.00175);
}

static void test_a_lone_spike_is_not_an_incident_but_a_rise_is(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  hw__detector d;
  hw_rng rng;
  size_t alarms = 0;
  hw__detect_init(&d);
  hw_rng_seed(&rng, 3, 0);
  quiet(&d, &sensor, &rng, 300, &alarms);
  assert_int_equal(hw__detect_step(&d, &sensor, d.latest_s + 900, 7.5, false), HW_DETECT_QUIET);
  quiet(&d, &sensor, &rng, 50, &alarms);
  assert_int_equal(alarms, 0);
  const double before_s = d.latest_s;
  int readings = 0;
  while (hw__detect_step(&d, &sensor, d.latest_s + 900, 0.36, false) != HW_DETECT_RAISED) {
    assert_true(++readings < 6); /* six sd: four or five readings */
  }
  assert_true(d.onset_s <= before_s + 900);
  assert_int_equal(hw__detect_step(&d, &sensor, d.latest_s + 900, 0.9, false), HW_DETECT_ALARM);
  /* The background is not taught by the pulse. */
  assert_true(fabs(d.background_g_m3 - 0.3) < 0.005);
  hw__detection last = HW_DETECT_ALARM;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(last, HW_DETECT_ALARM);
    last = hw__detect_step(&d, &sensor, d.latest_s + 900, 0.3, false);
  }
  assert_int_equal(last, HW_DETECT_CLEARED);
}

static void test_a_rise_from_nothing_needs_no_warm_up(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  sensor.detection_limit_g_m3 = 2e-5;
  sensor.noise_absolute_g_m3 = 2e-5;
  hw__detector d;
  hw__detect_init(&d);
  hw__detect_step(&d, &sensor, 0, 2e-5, true);
  int readings = 0;
  hw__detection found = HW_DETECT_QUIET;
  while (found != HW_DETECT_RAISED && readings < 8) {
    found = hw__detect_step(&d, &sensor, 60.0 * ++readings, 0.01, false);
  }
  assert_int_equal(readings, 4); /* 4 x (5 - 1) > 12 */
}

static void test_slowly_wandering_noise_does_not_add_up(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  hw__detector d;
  hw_rng rng;
  size_t alarms = 0;
  double wander = 0;
  hw__detect_init(&d);
  hw_rng_seed(&rng, 8, 0);
  for (int i = 0; i < 35040; i++) {
    wander = 0.9 * wander + sqrt(1 - 0.81) * hw_rng_normal(&rng);
    alarms += hw__detect_step(&d, &sensor, 900.0 * i, 0.3 + 0.01 * wander, false) == HW_DETECT_RAISED;
  }
  assert_true(alarms <= 2);
}

/* By the effective number of independent readings: a correlation of 0.6 halves a score, sqrt(0.4 / 1.6). */
static void test_correlated_readings_count_for_less(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  sensor.noise_absolute_g_m3 = 0.001; /* declared, below what is learned */
  double score[2];
  for (int correlated = 0; correlated < 2; correlated++) {
    hw__detector d;
    hw__detect_init(&d);
    hw__detect_step(&d, &sensor, 0, 0.3, false);
    d.learned = 1000000;
    d.variance = 1e-4;
    d.covariance = correlated ? 0.6e-4 : 0;
    hw__detect_step(&d, &sensor, 900, 0.34, false);
    score[correlated] = d.sum + 1; /* what is allowed for */
  }
  assert_true(fabs(score[0] - 4) < 1e-3);
  assert_true(fabs(score[1] - 0.5 * score[0]) < 1e-9);
}

static void test_late_readings_change_nothing(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  hw__detector d;
  hw__detect_init(&d);
  hw__detect_step(&d, &sensor, 100, 0.3, false);
  const hw__detector before = d;
  assert_int_equal(hw__detect_step(&d, &sensor, 100, 9, false), HW_DETECT_LATE);
  assert_int_equal(hw__detect_step(&d, &sensor, 40, 9, false), HW_DETECT_LATE);
  assert_memory_equal(&before, &d, sizeof d);
}

/* Noise is declared as a quarter of a gram, so that scores are exact: c = 0.25 z. Everything is learned already. */
static const double quarter = 0.25;

static hw_sensor exact_sensor(void) {
  hw_sensor sensor = plain_sensor();
  sensor.noise_absolute_g_m3 = quarter;
  return sensor;
}

static hw__detector settled(const hw_sensor *sensor) {
  hw__detector d;
  hw__detect_init(&d);
  assert_int_equal(hw__detect_step(&d, sensor, 0, 0, false), HW_DETECT_QUIET);
  d.learned = 1000000;
  return d;
}

/* One more reading of so many sd, 60 s later. */
static hw__detection step(hw__detector *d, const hw_sensor *sensor, double z) {
  return hw__detect_step(d, sensor, d->latest_s + 60, quarter * z, false);
}

static void test_the_first_readings_are_averaged(void **state) {
  (void)state;
  const hw_sensor sensor = plain_sensor();
  static const double c[] = {0.37, 0.42, 0.31, 0.4, 0.35, 0.39, 0.33, 0.38};
  static const double at_s[] = {0, 900, 1800, 2700, 4500, 5400, 6300, 7200};
  hw__detector d;
  hw__detect_init(&d);
  double sum = 0, squares = 0, products = 0, before = 0;
  for (size_t i = 0; i < 8; i++) {
    const double off = i ? c[i] - sum / (double)i : 0; /* from the mean of those before */
    sum += c[i];
    squares += off * off;
    products += off * before;
    before = off;
    assert_int_equal(hw__detect_step(&d, &sensor, at_s[i], c[i], false), i < 7 ? HW_DETECT_LEARNING : HW_DETECT_QUIET);
    const double n = (double)(i + 1);
    assert_true(d.learned == i + 1 && d.readings == i + 1);
    assert_true(fabs(d.background_g_m3 - sum / n) < 1e-12);
    assert_true(fabs(d.variance - squares / n) < 1e-12);
    assert_true(fabs(d.covariance - products / n) < 1e-12);
    assert_true(fabs(d.interval_s - (i ? at_s[i] / (double)i : 0)) < 1e-9);
    const double doubted = sqrt(squares / n) * (1 + 8 / (n + 1));
    /* Rounding to steps of at most 0.04 alone is 0.04 / sqrt(12) and less. */
    assert_true(fabs(hw__detect_noise(&d, &sensor) - fmax(fmax(d.finest_g_m3 / sqrt(12), 1e-6), doubted)) < 1e-12);
  }
  assert_true(fabs(d.finest_g_m3 - 0.04) < 1e-12);
}

static void test_noise_is_what_is_declared_at_its_level(void **state) {
  (void)state;
  hw_sensor sensor = plain_sensor();
  hw__detector d;
  hw__detect_init(&d);
  assert_true(isnan(hw__detect_noise(&d, &sensor))); /* nothing read yet */
  sensor.noise_absolute_g_m3 = 0.3;
  sensor.noise_relative = 0.1;
  d.background_g_m3 = 4;
  d.learned = 1000000;
  assert_true(fabs(hw__detect_noise(&d, &sensor) - 0.5) < 1e-12); /* 3, 4, 5 */
  sensor.detection_limit_g_m3 = 1.8;
  assert_true(fabs(hw__detect_noise(&d, &sensor) - 0.6) < 1e-12);
  d.finest_g_m3 = 100; /* digits say nothing where noise is declared */
  assert_true(fabs(hw__detect_noise(&d, &sensor) - 0.6) < 1e-12);
  sensor = plain_sensor();
  assert_true(fabs(hw__detect_noise(&d, &sensor) - 100 / sqrt(12)) < 1e-9);
  d.finest_g_m3 = 0;
  assert_true(hw__detect_noise(&d, &sensor) == 1e-6);
}

static void test_a_first_reading_within_the_noise_of_zero_is_the_background(void **state) {
  (void)state;
  hw_sensor sensor = exact_sensor();
  static const struct {
    double c, told;
    hw__detection found;
    double background;
  } cases[] = {
      {0.75, NAN, HW_DETECT_QUIET, 0.75}, {0.7501, NAN, HW_DETECT_LEARNING, 0.7501}, {9.7, 0.7, HW_DETECT_QUIET, 0.7}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw__detector d;
    hw__detect_init(&d);
    sensor.background_g_m3 = cases[i].told;
    assert_int_equal(hw__detect_step(&d, &sensor, 37, cases[i].c, false), cases[i].found);
    assert_true(d.background_g_m3 == cases[i].background && d.learned == (cases[i].found == HW_DETECT_QUIET ? 8 : 1));
    assert_true(d.onset_s == 37 && d.sum == 0 && d.variance == 0 && d.interval_s == 0 && d.finest_g_m3 == 0);
    assert_int_equal(hw__detect_step(&d, &sensor, 37, 0.1, false), HW_DETECT_LATE);
  }
}

static void test_sums_right_on_their_bounds(void **state) {
  (void)state;
  const hw_sensor sensor = exact_sensor();
  static const struct {
    double before, z, after;
    bool learns, begins;
    hw__detection found;
  } cases[] = {{0, 1, 0, true, true, HW_DETECT_QUIET},
               {0.25, 1, 0.25, true, false, HW_DETECT_QUIET},
               {0.25, 0.75, 0, true, true, HW_DETECT_QUIET},
               {0, -4, 0, true, true, HW_DETECT_QUIET},
               {1.75, 5, 5.75, true, false, HW_DETECT_QUIET},
               {2, 5, 6, false, false, HW_DETECT_QUIET},
               {8, 5, 12, false, false, HW_DETECT_QUIET},
               {8, 70, 12, false, false, HW_DETECT_QUIET},
               {12, 1, 12, false, false, HW_DETECT_QUIET},
               {11, 2.5, 12.5, false, false, HW_DETECT_RAISED},
               {11.5, 1.75, 12.25, false, false, HW_DETECT_RAISED}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw__detector d = settled(&sensor);
    d.sum = cases[i].before;
    assert_int_equal(step(&d, &sensor, cases[i].z), cases[i].found);
    assert_true(d.sum == cases[i].after);
    assert_true(d.learned == 1000000 + (cases[i].learns ? 1 : 0));
    assert_true(d.onset_s == (cases[i].begins ? 60 : 0));
    assert_int_equal(d.alarm != 0, cases[i].found == HW_DETECT_RAISED);
    const double residual = cases[i].learns ? quarter * fmax(-3, fmin(3, cases[i].z)) : 0;
    assert_true(fabs(d.background_g_m3 - residual / 400) < 1e-15);
    assert_true(fabs(d.variance - residual * residual / 400) < 1e-15);
  }
}

static void test_an_alarm_ends_after_three_calm_readings_in_a_row(void **state) {
  (void)state;
  const hw_sensor sensor = exact_sensor();
  hw__detector d = settled(&sensor);
  d.sum = 11;
  assert_int_equal(step(&d, &sensor, 5), HW_DETECT_RAISED);
  static const double z[] = {1.75, 1.75, 2, 1.75, 1.75}; /* two sd are not calm */
  for (size_t i = 0; i < sizeof z / sizeof z[0]; i++) {
    assert_int_equal(step(&d, &sensor, z[i]), HW_DETECT_ALARM);
  }
  assert_int_equal(step(&d, &sensor, 1.75), HW_DETECT_CLEARED);
  assert_true(d.alarm == 0 && d.sum == 0 && d.onset_s == d.latest_s && d.background_g_m3 == 0);
  assert_int_equal(step(&d, &sensor, 1.75), HW_DETECT_QUIET);
}

static void test_an_alarm_without_end_is_a_new_background(void **state) {
  (void)state;
  const hw_sensor sensor = exact_sensor();
  hw__detector d = settled(&sensor);
  d.sum = 11;
  assert_int_equal(step(&d, &sensor, 50), HW_DETECT_RAISED);
  for (int i = 2; i <= 3000; i++) {
    assert_int_equal(step(&d, &sensor, 50), HW_DETECT_ALARM);
  }
  assert_int_equal(step(&d, &sensor, 37), HW_DETECT_CLEARED);
  assert_true(d.alarm == 0 && d.background_g_m3 == quarter * 37 && d.learned == 1 && d.sum == 0);
  assert_int_equal(step(&d, &sensor, 37), HW_DETECT_LEARNING);
}

static void test_less_than_the_limit_is_no_higher_than_the_background(void **state) {
  (void)state;
  const hw_sensor sensor = exact_sensor();
  hw__detector d = settled(&sensor);
  assert_int_equal(hw__detect_step(&d, &sensor, 60, 5, true), HW_DETECT_QUIET);
  assert_true(d.background_g_m3 == 0 && d.latest_g_m3 == 5 && d.sum == 0 && d.finest_g_m3 == 0);
  d.background_g_m3 = 3;
  d.sum = 4;
  hw__detect_step(&d, &sensor, 120, 2.5, true); /* two sd below it */
  assert_true(d.sum == 1 && d.finest_g_m3 == 2.5);
  hw__detector new;
  hw__detect_init(&new);
  assert_int_equal(hw__detect_step(&new, &sensor, 0, 5, true), HW_DETECT_QUIET);
  assert_true(new.background_g_m3 == 0);
}

static void test_correlation_is_taken_between_none_and_nearly_all(void **state) {
  (void)state;
  const hw_sensor sensor = exact_sensor();
  static const double share[] = {-0.6, 0, 0.6, 0.99};
  static const double expected[] = {0, 0, 0.6, 0.95};
  for (size_t i = 0; i < 4; i++) {
    hw__detector d = settled(&sensor);
    d.variance = 1e-4; /* far below what is declared */
    d.covariance = share[i] * d.variance;
    step(&d, &sensor, 4);
    const double score = 4 * sqrt((1 - expected[i]) / (1 + expected[i]));
    assert_true(fabs(d.sum - fmax(0, score - 1)) < 1e-12);
  }
}

static void test_the_interval_is_that_of_the_last_twenty_or_so(void **state) {
  (void)state;
  const hw_sensor sensor = exact_sensor();
  hw__detector d = settled(&sensor);
  double expected_s = 0;
  for (int i = 1; i <= 30; i++) {
    const double gap_s = 60 + 7 * (i % 3);
    expected_s = i <= 20 ? ((i - 1) * expected_s + gap_s) / i : 0.95 * expected_s + 0.05 * gap_s;
    hw__detect_step(&d, &sensor, d.latest_s + gap_s, 0, false);
    assert_true(fabs(d.interval_s - expected_s) < 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_quiet_year_raises_no_alarm_and_learns_the_noise),
      cmocka_unit_test(test_a_lone_spike_is_not_an_incident_but_a_rise_is),
      cmocka_unit_test(test_a_rise_from_nothing_needs_no_warm_up),
      cmocka_unit_test(test_slowly_wandering_noise_does_not_add_up),
      cmocka_unit_test(test_correlated_readings_count_for_less),
      cmocka_unit_test(test_late_readings_change_nothing),
      cmocka_unit_test(test_the_first_readings_are_averaged),
      cmocka_unit_test(test_noise_is_what_is_declared_at_its_level),
      cmocka_unit_test(test_a_first_reading_within_the_noise_of_zero_is_the_background),
      cmocka_unit_test(test_sums_right_on_their_bounds),
      cmocka_unit_test(test_an_alarm_ends_after_three_calm_readings_in_a_row),
      cmocka_unit_test(test_an_alarm_without_end_is_a_new_background),
      cmocka_unit_test(test_less_than_the_limit_is_no_higher_than_the_background),
      cmocka_unit_test(test_correlation_is_taken_between_none_and_nearly_all),
      cmocka_unit_test(test_the_interval_is_that_of_the_last_twenty_or_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

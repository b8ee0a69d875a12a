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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_quiet_year_raises_no_alarm_and_learns_the_noise),
      cmocka_unit_test(test_a_lone_spike_is_not_an_incident_but_a_rise_is),
      cmocka_unit_test(test_a_rise_from_nothing_needs_no_warm_up),
      cmocka_unit_test(test_slowly_wandering_noise_does_not_add_up),
      cmocka_unit_test(test_correlated_readings_count_for_less),
      cmocka_unit_test(test_late_readings_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

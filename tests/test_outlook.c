/* What could be known with dispersion unknown, before any reading. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "field/law.h"
#include "headwater/headwater.h"
#include "paper_river.h"

static const hw_source release_made = {1370, -22106, -12900};

static hw_river unknown_river(size_t sensors) {
  hw_river river = paper_river();
  river.sensor_count = sensors;
  river.hydraulics.velocity_m_s = river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNKNOWN, 0, 1};
  river.hydraulics.discharge_m3_s = 80;
  return river;
}

static hw_outlook look(const hw_river *river) {
  hw_outlook o;
  assert_int_equal(hw_outlook_source(river, &release_made, 0.9, &o), HW_OK);
  return o;
}

static void test_a_known_velocity_leaves_the_law_alone(void **state) {
  (void)state;
  hw_river river = unknown_river(1);
  river.hydraulics.velocity_m_s = (hw_quantity){HW_KNOWN, 1.37, 1};
  const hw_outlook o = look(&river);
  const hw__population *p = &hw__population_shipped;
  const double far = exp(hw__t_quantile(0.95, p->law_freedom) * hw__law_scale(p) / p->law_between);
  check_near(o.age.hi, far, 0.09 * far); /* 101 quantiles */
  check_near(o.distance.hi, far, 0.09 * far);
  check_near(o.distance.lo * o.distance.hi, 1, 0.02);
  check_near(o.travel_s, (-14210.5 + 22106) / 1.37, 1);
  assert_true(o.mass.lo < 1 && o.mass.hi > 1 && o.lead_s > 0);
  hw_river_free(&river);
}

static void test_a_second_sensor_narrows_the_place(void **state) {
  (void)state;
  hw_river one = unknown_river(1), two = unknown_river(2), within = unknown_river(1);
  within.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.3, 1.15};
  const double alone = log(look(&one).distance.hi), both = log(look(&two).distance.hi);
  const double given = log(look(&within).distance.hi);
  assert_true(both < 0.9 * alone && given < 0.9 * alone);
  hw_river_free(&one);
  hw_river_free(&two);
  hw_river_free(&within);
}

static void test_what_no_sensor_sees_is_said(void **state) {
  (void)state;
  hw_river river = unknown_river(2);
  river.sensors[0].detection_limit_g_m3 = 3.7; /* grams a cubic metre: blind to this release */
  hw_outlook o = look(&river);
  assert_int_equal(o.downstream, 2);
  assert_int_equal(o.visible, 1);
  assert_true(o.location_m == river.sensors[1].location_m);
  river.sensor_count = 1;
  o = look(&river);
  assert_int_equal(o.visible, 0);
  assert_true(isnan(o.distance.lo) && isnan(o.location_m));
  hw_river_free(&river);
}

/* The mass that the first sensor just sees. */
static double least_mass(const hw_river *river) {
  double lo = 1e-3, hi = 1e9;
  while (hi > lo * (1 + 1e-9)) {
    const hw_source source = {sqrt(lo * hi), release_made.location_m, release_made.time_s};
    hw_outlook o;
    assert_int_equal(hw_outlook_source(river, &source, 0.9, &o), HW_OK);
    *(o.visible ? &hi : &lo) = source.mass_g;
  }
  return hi;
}

/* The peak is the mass that arrives, spread over the discharge and the time that the law gives: more has to be released
 * for as much as the sensor's floor, the discharge and the losses on the way are larger. */
static void test_the_least_mass_seen_follows_floor_discharge_and_losses(void **state) {
  (void)state;
  const hw__population *p = &hw__population_shipped;
  hw_river river = unknown_river(1);
  river.hydraulics.velocity_m_s = (hw_quantity){HW_KNOWN, 1.37, 1};
  river.sensors[0].detection_limit_g_m3 = 2e-4;
  const double plain = least_mass(&river), days = (-14210.5 + 22106) / 1.37 / 86400;
  river.sensors[0].detection_limit_g_m3 = 6e-4;
  check_near(least_mass(&river) / plain, 3, 1e-6);
  river.sensors[0].noise_absolute_g_m3 = 5e-4; /* the floor is this, or half the limit */
  check_near(least_mass(&river) / plain, 5, 1e-6);
  river.sensors[0].detection_limit_g_m3 = 2e-4;
  river.sensors[0].noise_absolute_g_m3 = 0;
  river.hydraulics.discharge_m3_s = 2 * 80;
  check_near(least_mass(&river) / plain, 2, 1e-6);
  river.sensors[0].discharge_m3_s = 37; /* its own goes before the river's */
  check_near(least_mass(&river) / plain, 37 / 80.0, 1e-6);
  river.sensors[0].discharge_m3_s = 80;
  if (river.substance.dye_losses) {
    river.sensors[0].depth_m = 0.3;
    const double shallow = p->recovery_depth_intercept + p->recovery_depth_slope * days / 0.3,
                 any = p->recovery_intercept + p->recovery_slope * sqrt(days);
    check_near(least_mass(&river) / plain, exp(any - shallow), 1e-6);
  }
  river.substance.dye_losses = false;
  river.hydraulics.decay_per_s = 1e-4;
  const double decayed = least_mass(&river);
  river.hydraulics.decay_per_s = 0;
  check_near(decayed / least_mass(&river), exp(1e-4 * days * 86400), 1e-6);
  hw_river_free(&river);
}

static void test_senseless_questions_are_refused(void **state) {
  (void)state;
  hw_river river = unknown_river(2);
  hw_outlook o = {.visible = 71};
  const hw_source wrong[] = {{0, -22106, 0}, {NAN, -22106, 0}, {1370, INFINITY, 0}};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(hw_outlook_source(&river, &wrong[i], 0.9, &o), HW_EDOMAIN);
  }
  assert_int_equal(hw_outlook_source(&river, &release_made, 1, &o), HW_EDOMAIN);
  assert_int_equal(o.visible, 71);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_known_velocity_leaves_the_law_alone),
      cmocka_unit_test(test_a_second_sensor_narrows_the_place),
      cmocka_unit_test(test_what_no_sensor_sees_is_said),
      cmocka_unit_test(test_the_least_mass_seen_follows_floor_discharge_and_losses),
      cmocka_unit_test(test_senseless_questions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

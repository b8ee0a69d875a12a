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
      cmocka_unit_test(test_senseless_questions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

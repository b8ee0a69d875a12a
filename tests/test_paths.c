/* Methods that know one river at a time, on networks and in changing flow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"

#define REST                                                                                  \
  "hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 30, discharge_m3_s: 6, decay_per_s: 0}\n" \
  "sensors:\n  - {id: low, location_m: -5000, noise_relative: 0.05, background_g_m3: 0}\n"    \
  "  - {id: lower, location_m: -2000, noise_relative: 0.05, background_g_m3: 0}\n"

static hw_river parse(const char *text) {
  hw_river river;
  hw_error error = {""};
  if (hw_river_parse("r.yaml", text, strlen(text), NULL, NULL, &river, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return river;
}

/* What a method makes of a spill, read every ten minutes at every sensor. */
static hw_estimate identify(const char *name, const hw_river *river, const hw_source *truth, hw_run **run) {
  const hw_problem problem = {.river = river};
  const hw_options options = {.threads = 1};
  hw_spill *spill = NULL;
  hw_estimate e;
  assert_int_equal(hw_spill_create(river, truth, 0, &spill), HW_OK);
  assert_int_equal(hw_run_create(hw_method_find(name), &problem, &options, run), HW_OK);
  for (double t = 0; t < 90000; t += 600) {
    for (size_t i = 0; i < river->sensor_count; i++) {
      const hw_sensor *s = &river->sensors[i];
      hw_reading reading = {.sensor = i, .time_s = t};
      reading.concentration_g_m3 = hw_spill_concentration(spill, s->branch, s->location_m, t);
      assert_int_equal(hw_run_observe(*run, &reading), HW_OK);
    }
  }
  hw_spill_free(spill);
  assert_int_equal(hw_run_estimate(*run, &e), HW_OK);
  return e;
}

static const char *const learners[] = {"atgd", "mptgd", "de", "posterior"};

static void test_a_network_of_one_branch_is_that_river_to_the_bit(void **state) {
  (void)state;
  hw_river plain = parse(REST "search: {mass_g: [100, 100000], location_m: [-40000, -6000], time_s: [-7200, 7200]}\n");
  hw_river branch = parse(REST
                          "search: {mass_g: [100, 100000], locations: {only: [-40000, -6000]}, time_s: [-7200, 7200]}\n"
                          "branches: [{id: only, head_m: -50000}]\n");
  const hw_source truth = {5000, -14370, -371};
  for (size_t i = 0; i < sizeof learners / sizeof learners[0]; i++) {
    hw_run *a = NULL, *b = NULL;
    const hw_estimate one = identify(learners[i], &plain, &truth, &a),
                      other = identify(learners[i], &branch, &truth, &b);
    assert_memory_equal(&one.source, &other.source, sizeof one.source);
    assert_int_equal(one.has_interval, other.has_interval);
    if (one.has_interval) {
      assert_memory_equal(&one.interval, &other.interval, sizeof one.interval);
    }
    hw_run_free(a);
    hw_run_free(b);
  }
  hw_river_free(&plain);
  hw_river_free(&branch);
}

#define NETWORK                                                                                                    \
  "branches:\n  - {id: stem, head_m: -40000, reaches: [{to_m: -20000, discharge_m3_s: 6}, {to_m: 0}]}\n"           \
  "  - {id: ash, head_m: -12000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}\n"  \
  "  - {id: birch, head_m: -9000, joins: {branch: stem, at_m: -11000}, reaches: [{to_m: 0, discharge_m3_s: 1}]}\n" \
  "search: {mass_g: [100, 100000], time_s: [-7200, 7200]}\n"

/* Each branch in turn, told apart by the sensors on the tributaries alone. */
static void test_learners_find_the_branch(void **state) {
  (void)state;
  hw_river river =
      parse(REST
            "  - {id: side, branch: ash, location_m: -500, noise_relative: 0.05, background_g_m3: 0}\n"
            "  - {id: other, branch: birch, location_m: -500, noise_relative: 0.05, background_g_m3: 0}\n" NETWORK);
  const hw_source truths[] = {{5000, -27370, 371, 0}, {5000, -8000, 371, 1}, {5000, -3000, 371, 2}};
  for (size_t k = 0; k < 3; k++) {
    hw_run *run = NULL;
    const hw_estimate e = identify("atgd", &river, &truths[k], &run);
    assert_int_equal(e.source.branch, truths[k].branch);
    /* Readings without noise: the learner's own tolerance. */
    assert_true(fabs(e.source.location_m - truths[k].location_m) < 100);
    assert_true(fabs(e.source.time_s - truths[k].time_s) < 200);
    assert_true(fabs(e.source.mass_g / 5000 - 1) < 0.02);
    assert_true(e.warning_count > 0 && strstr(e.warnings[0], "knows one river at a time"));
    hw_run_free(run);
  }
  hw_river_free(&river);
}

/* A flood between release and arrival: the learner's answer is on the wall's clock. */
static void test_learners_work_in_the_rivers_clock(void **state) {
  (void)state;
  hw_river river = parse(REST
                         "search: {mass_g: [100, 100000], location_m: [-40000, -6000], time_s: [-7200, 7200]}\n"
                         "gauges: [{id: g, location_m: -4000}]\n");
  river.flow = calloc(3, sizeof *river.flow);
  river.flow_count = 3;
  const double times[] = {0, 5000, 9000}, discharges[] = {6, 18, 11};
  for (size_t i = 0; i < 3; i++) {
    river.flow[i] = (hw_flow){0, times[i], discharges[i]};
  }
  const hw_source truth = {5000, -14370, 371};
  hw_run *run = NULL;
  const hw_estimate e = identify("atgd", &river, &truth, &run);
  assert_true(fabs(e.source.location_m - truth.location_m) < 100 && fabs(e.source.time_s - truth.time_s) < 200);
  assert_true(fabs(e.source.mass_g / 5000 - 1) < 0.02);
  hw_run_free(run);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_network_of_one_branch_is_that_river_to_the_bit),
      cmocka_unit_test(test_learners_find_the_branch),
      cmocka_unit_test(test_learners_work_in_the_rivers_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

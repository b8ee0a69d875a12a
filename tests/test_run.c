/* The gate: what a method may say without a source, and what it may not say with one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "paper_river.h"

static hw_estimate told; /* what the method below answers */

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  (void)problem;
  (void)options;
  *state = &told;
  return HW_OK;
}

static hw_status observe(void *state, const hw_reading *reading) {
  (void)state;
  (void)reading;
  return HW_OK;
}

static hw_status tell(void *state, hw_estimate *out) {
  assert_true(out->has_source && isnan(out->spill) && isnan(out->duration_s.mid) && isnan(out->rate_g_s));
  assert_int_equal(out->trust, HW_TRUST_UNJUDGED);
  *out = *(const hw_estimate *)state;
  return HW_OK;
}

static void destroy(void *state) {
  (void)state;
}

static const hw_method teller = {
    .name = "teller", .create = create, .observe = observe, .estimate = tell, .destroy = destroy};

static hw_status ask(hw_estimate *out) {
  hw_river river = paper_river();
  hw_run *run = NULL;
  assert_int_equal(hw_run_create(&teller, &(hw_problem){.river = &river}, NULL, &run), HW_OK);
  assert_int_equal(hw_run_observe(run, &(hw_reading){.sensor = 0, .time_s = 37}), HW_OK);
  const hw_status status = hw_run_estimate(run, out);
  hw_run_free(run);
  hw_river_free(&river);
  return status;
}

static void test_a_source_that_is_not_finite_is_refused(void **state) {
  (void)state;
  hw_estimate out;
  hw_estimate_init(&told);
  told.source = (hw_source){1300, NAN, -12900};
  assert_int_equal(ask(&out), HW_ENONFINITE);
}

static void test_without_a_source_nothing_is_said_that_needs_one(void **state) {
  (void)state;
  const hw_suspicion suspicion = {-1, 1};
  const hw_region region = {0, -23000, -21000, 0.9};
  hw_estimate out;
  hw_estimate_init(&told);
  told.has_source = false;
  told.has_interval = true;
  told.source = (hw_source){1300, -22106, -12900};
  told.trust = HW_TRUST_NONE;
  told.trust_reason = "the sensors contradict each other";
  told.suspicions = &suspicion;
  told.suspicion_count = 1;
  told.regions = &region;
  told.region_count = 1;
  told.duration_s = (hw_range){0};
  assert_int_equal(ask(&out), HW_OK);
  assert_int_equal(out.readings, 1);
  assert_false(out.has_source || out.has_interval);
  assert_true(isnan(out.source.mass_g) && isnan(out.duration_s.mid));
  assert_int_equal(out.suspicion_count + out.region_count, 0);
  assert_string_equal(out.trust_reason, "the sensors contradict each other");
  assert_string_equal(hw_trust_text(out.trust), "none");
  assert_null(hw_trust_text(HW_TRUST_UNJUDGED));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_source_that_is_not_finite_is_refused),
      cmocka_unit_test(test_without_a_source_nothing_is_said_that_needs_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

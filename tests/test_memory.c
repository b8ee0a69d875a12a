/* Every allocation fails once: the call says HW_ENOMEM, hands out nothing, leaks nothing (valgrind and the
 * leak sanitizer watch), and works when tried again. See starve.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "paper_river.h"
#include "starve.h"

typedef struct {
  hw_river river;
  hw_reading *readings;
  size_t count;
  const hw_method *method;
} scene;

static hw_status create_run(void *context) {
  const scene *s = context;
  const hw_problem problem = {.river = &s->river};
  const hw_options options = {.starts = 3, .threads = 1, .evaluations = 300, .particles = 64, .per_sensor = true};
  hw_run *run = (hw_run *)(uintptr_t)1;
  const hw_status status = hw_run_create(s->method, &problem, &options, &run);
  assert_true(status == HW_OK || run == NULL);
  hw_run_free(run);
  return status;
}

static void test_methods_survive_every_failed_allocation(void **state) {
  scene *s = *state;
  size_t count;
  const hw_method *const *methods = hw_methods(&count);
  for (size_t i = 0; i < count; i++) {
    s->method = methods[i];
    const long failures = provoke(create_run, s);
    print_message("%-10s %ld allocations\n", methods[i]->name, failures);
    assert_true(failures > 0);
  }
}

static void test_field_model_survives_every_failed_allocation(void **state) {
  scene *s = *state;
  s->method = hw_method_find("posterior");
  const hw_quantity given = s->river.hydraulics.dispersion_m2_s;
  s->river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNKNOWN, 0, 1};
  const long failures = provoke(create_run, s);
  s->river.hydraulics.dispersion_m2_s = given;
  assert_true(failures > 10);
}

static hw_status solve_offline(void *context) {
  const scene *s = context;
  const hw_problem problem = {.river = &s->river};
  const hw_options options = {.evaluations = 300};
  hw_run *run = NULL;
  hw_estimate estimate;
  hw_status status = hw_run_create(s->method, &problem, &options, &run);
  for (size_t i = 0; status == HW_OK && i < s->count; i++) {
    status = hw_run_observe(run, &s->readings[i]);
  }
  if (status == HW_OK) {
    status = hw_run_estimate(run, &estimate);
  }
  hw_run_free(run);
  return status;
}

static void test_offline_solves_survive_every_failed_allocation(void **state) {
  static const char *const names[] = {"de", "genetic", "mcmc", "backward"};
  scene *s = *state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    s->method = hw_method_find(names[i]);
    provoke(solve_offline, s);
  }
}

static hw_status measure_regret(void *context) {
  const scene *s = context;
  const hw_regret_options options = {.readings = s->count};
  hw_regret *regret = NULL;
  hw_loss_constants constants;
  hw_error_bound bound;
  hw_status status = hw_regret_create(&s->river, &options, &regret);
  hw_regret_free(regret);
  if (status == HW_OK) {
    status = hw_regret_constants(&s->river, s->readings, 1, &constants);
  }
  if (status == HW_OK) {
    const hw_error_bound_options few = {.samples = 5};
    status = hw_error_bound_check(&s->river, s->readings, 2, &few, &bound);
  }
  return status;
}

static void test_regret_survives_every_failed_allocation(void **state) {
  assert_true(provoke(measure_regret, *state) > 5);
}

static hw_status same_for_all(void *context, size_t round, size_t sensor, hw_source *out) {
  (void)context;
  *out = (hw_source){1300 + 37.0 * (double)sensor, -22106, (double)round};
  return HW_OK;
}

static hw_status plan(void *context) {
  const scene *s = context;
  static const double sites_m[] = {-14.2, 370, 4200};
  const hw_plan_settings settings = {.accepted = {200, 500, 12000}, .rounds = 3};
  const hw_place_settings place = {.sites_m = sites_m, .site_count = 3, .sources = 5, .sensor = s->river.sensors[0]};
  hw_plan_round rounds[3];
  hw_placement *placement = NULL;
  size_t chosen[2];
  hw_status status = hw_plan_sequence(&settings, same_for_all, NULL, rounds);
  if (status == HW_OK) {
    status = hw_placement_create(&s->river, &place, &placement);
    assert_true(status == HW_OK || placement == NULL);
  }
  if (status == HW_OK) {
    status = hw_placement_choose(placement, HW_PLACE_EXACT, 2, chosen);
  }
  hw_placement_free(placement);
  return status;
}

static void test_planning_survives_every_failed_allocation(void **state) {
  assert_true(provoke(plan, *state) > 5);
}

/* Long enough that every text has to grow. */
static hw_status tell(void *context) {
  const scene *s = context;
  const char *warnings[40];
  for (size_t i = 0; i < 40; i++) {
    warnings[i] = "a warning of more than a few words, so that the text grows";
  }
  hw_estimate estimate;
  hw_estimate_init(&estimate);
  estimate.has_source = true;
  estimate.source = paper_truth;
  const hw_result result = {
      .river = &s->river, .method = "atgd", .estimate = &estimate, .warnings = warnings, .warning_count = 40};
  char *text = NULL;
  hw_status status = hw_result_json(&result, true, &text);
  free(text);
  text = NULL;
  if (status == HW_OK) {
    status = hw_result_text(&result, &text);
  }
  free(text);
  text = NULL;
  if (status == HW_OK) {
    status = hw_comparison_json(&result, 1, NULL, &text);
  }
  free(text);
  return status;
}

static void test_texts_survive_every_failed_allocation(void **state) {
  assert_true(provoke(tell, *state) > 6);
}

static int open_scene(void **state) {
  static scene s;
  s.river = paper_river();
  s.count = paper_readings(&s.river, 3, 0.05, 1, &s.readings);
  *state = &s;
  return 0;
}

static int close_scene(void **state) {
  scene *s = *state;
  free(s->readings);
  hw_river_free(&s->river);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_methods_survive_every_failed_allocation),
      cmocka_unit_test(test_field_model_survives_every_failed_allocation),
      cmocka_unit_test(test_offline_solves_survive_every_failed_allocation),
      cmocka_unit_test(test_regret_survives_every_failed_allocation),
      cmocka_unit_test(test_planning_survives_every_failed_allocation),
      cmocka_unit_test(test_texts_survive_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, open_scene, close_scene);
}

/* Every allocation fails once on rivers with branches and changing flow, in advice, in mappings and in tables of other
 * programs: see test_memory.c. */
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
#include "starve.h"

static const char text[] =
    "hydraulics: {velocity_m_s: {median: 0.8, factor: 1.2}, dispersion_m2_s: 30, velocity_exponent: 0.4}\n"
    "branches:\n"
    "  - {id: stem, head_m: -40000, reaches: [{to_m: -20000, discharge_m3_s: 6}, {to_m: 0}], centerline: a.geojson}\n"
    "  - {id: ash, head_m: -12000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}\n"
    "search: {mass_g: [100, 100000], time_s: [-7200, 7200]}\n"
    "sensors:\n  - {id: low, branch: stem, location_m: -15000, noise_relative: 0.05, noise_absolute_g_m3: 1e-4}\n"
    "  - {id: side, branch: ash, location_m: -500, noise_relative: 0.05, noise_absolute_g_m3: 1e-4}\n"
    "candidates: [{id: mill, branch: ash, location_m: -8000, active: [[-900, 1500]]}, {id: dock, location_m: -21000}]\n"
    "intakes: [{id: town, location_m: -1000, alarm_g_m3: 0.05}, {id: pond, branch: ash, location_m: -370}]\n"
    "gauges: [{id: g1, location_m: -10000}, {id: g2, branch: ash, location_m: -1000}]\n"
    "import: {time: t, sensor: [], value: c}\n";

static const hw_flow flow[] = {{0, -9000, 8.3}, {1, -9000, 2.2}, {0, 14200, 9.5}, {1, 20000, 2.5}};

/* The river above without the line that is wrong in it, and with its flow where that is wanted. */
static hw_status open_river(bool flowing, hw_river *out) {
  hw_error error = {""};
  const hw_status status = hw_river_parse("r", text, (size_t)(strstr(text, "import") - text), NULL, NULL, out, &error);
  if (status == HW_OK && flowing) {
    feed_again(); /* what a test allocates itself does not count */
    out->flow = malloc(sizeof flow);
    assert_non_null(out->flow);
    memcpy(out->flow, flow, sizeof flow);
    out->flow_count = sizeof flow / sizeof flow[0];
  }
  return status;
}

static hw_status load_river(void *context) {
  (void)context;
  hw_river river;
  const hw_status status = open_river(false, &river);
  if (status == HW_OK) {
    hw_river_free(&river);
  }
  return status;
}

/* A fault behind all that was allocated before it: nothing of that is leaked. */
static hw_status load_wrong_river(void *context) {
  (void)context;
  hw_river river;
  hw_error error = {""};
  const hw_status status = hw_river_parse("r", text, strlen(text), NULL, NULL, &river, &error);
  return status == HW_EINPUT ? HW_OK : status;
}

static void test_loading_a_network_survives_every_failed_allocation(void **state) {
  (void)state;
  assert_true(provoke(load_river, NULL) > 10);
  assert_true(provoke(load_wrong_river, NULL) > 10);
}

typedef struct {
  hw_river river;
  const hw_method *method;
  hw_run *run;
  size_t spots; /* of its advice */
} scene;

static hw_status create_run(void *context) {
  const scene *s = context;
  const hw_problem problem = {.river = &s->river};
  const hw_options options = {.starts = 3, .threads = 1, .evaluations = 300};
  hw_run *run = (hw_run *)(uintptr_t)1;
  const hw_status status = hw_run_create(s->method, &problem, &options, &run);
  assert_true(status == HW_OK || run == NULL);
  hw_run_free(run);
  return status;
}

static void test_methods_on_branches_survive_every_failed_allocation(void **state) {
  (void)state;
  static const char *const names[] = {"posterior", "atgd", "mptgd", "mcmc", "backward"};
  for (int flowing = 0; flowing < 2; flowing++) {
    scene s = {.spots = 0};
    assert_int_equal(open_river(flowing, &s.river), HW_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      s.method = hw_method_find(names[i]);
      assert_true(provoke(create_run, &s) > 5);
    }
    hw_river_free(&s.river);
  }
}

static hw_status lay_line(void *context) {
  const scene *s = context;
  hw_river one;
  const hw_status status = hw_river_lay_line(&s->river, &one);
  if (status == HW_OK) {
    hw_river_free(&one);
  }
  return status;
}

static void test_a_branch_laid_as_a_line_survives_every_failed_allocation(void **state) {
  (void)state;
  static const char single[] =
      "hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 30}\n"
      "branches: [{id: stem, head_m: -40000, reaches: [{to_m: -9, discharge_m3_s: 6}, {to_m: 0, discharge_m3_s: 7}]}]\n"
      "search: {mass_g: [100, 100000], time_s: [-7200, 7200]}\nsensors: [{id: low, location_m: -150}]\n"
      "candidates: [{id: mill, location_m: -8000, active: [[-900, 1500]]}]\nintakes: [{id: k, location_m: -3}]\n";
  scene s = {.spots = 0};
  assert_int_equal(hw_river_parse("r", single, strlen(single), NULL, NULL, &s.river, NULL), HW_OK);
  assert_true(provoke(lay_line, &s) > 3);
  hw_river_free(&s.river);
}

static hw_status ask_advice(void *context) {
  const scene *s = context;
  hw_advice *advice = (hw_advice *)(uintptr_t)1;
  hw_error error = {""};
  const hw_advice_options options = {.now_s = 9000, .crews = 2};
  const hw_status status = hw_advise(s->run, &s->river, &options, &advice, &error);
  assert_true(status == HW_OK || advice == NULL);
  /* Without memory for threads it is worked out by one: the same advice. */
  assert_true(status != HW_OK || hw_advice_count(advice) == s->spots);
  hw_advice_free(advice);
  return status == HW_OK && met ? HW_ENOMEM : status;
}

static void test_advice_survives_every_failed_allocation(void **state) {
  (void)state;
  scene s = {.method = hw_method_find("posterior")};
  assert_int_equal(open_river(false, &s.river), HW_OK);
  const hw_problem problem = {.river = &s.river};
  const hw_options options = {.threads = 1};
  assert_int_equal(hw_run_create(s.method, &problem, &options, &s.run), HW_OK);
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&s.river, NULL, &transport), HW_OK);
  const hw_leg leg = hw_transport_leg_between(transport, 1, -8000, 1, -500);
  for (double t = 0; t <= 9000; t += 900) { /* the side's whole pulse */
    const hw_reading reading = {.sensor = 1, .time_s = t, .concentration_g_m3 = 5000 * hw_leg_response(&leg, t)};
    assert_int_equal(hw_run_observe(s.run, &reading), HW_OK);
  }
  hw_transport_free(transport);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(s.run, &e), HW_OK); /* worked out once, outside of what is provoked */
  hw_advice *advice = NULL;
  hw_error error = {""};
  assert_int_equal(hw_advise(s.run, &s.river, &(hw_advice_options){.now_s = 9000, .crews = 2}, &advice, &error), HW_OK);
  s.spots = hw_advice_count(advice);
  hw_advice_free(advice);
  assert_true(s.spots > 0 && provoke(ask_advice, &s) > 5);
  hw_run_free(s.run);
  hw_river_free(&s.river);
}

static hw_sensor sensors[] = {{.id = "s1", .location_m = 37.5}, {.id = "s2", .location_m = 141.2}};
static const hw_river plain = {.sensors = sensors, .sensor_count = 2, .search_is_calendar = true};

static void hear(void *context, const char *sentence) {
  (void)context;
  (void)sentence;
}

/* A table that has to be found out, and one with a mapping. */
static hw_status read_tables(void *context) {
  (void)context;
  static const char guessed[] =
      "Datum;Uhrzeit;Stelle;Konz [ug/l]\n01.03.2026;08:15;s1;0,02\n01.03.2026;08:30;s1;0,37\n02.03.2026;0:45;s2;14,2\n";
  static const char mapping[] =
      "{time: [Datum, Uhrzeit], time_as: dmy, timezone: '+01:00', decimal: ',', separator: ';', header: 1, sensor: "
      "Stelle, value: '*[ug/l]', unit: ug/l, missing: [x, y], names: {s1: s1, s2: Elm}}";
  hw_error error = {""};
  hw_reader *reader = NULL;
  hw_columns *columns = NULL, *copy = NULL;
  hw_reading *rest = NULL;
  size_t count = 0;
  const hw_reader_options guess = {.timezone = "+01:00", .tell = hear};
  hw_status status = hw_reader_memory_with(guessed, strlen(guessed), "t", &plain, &guess, &reader, &error);
  if (status == HW_OK) {
    status = hw_reader_rest(reader, 0, &rest, &count, &error);
    assert_int_equal(count, status == HW_OK ? 3 : 0);
    assert_true(status == HW_OK || !rest);
  }
  hw_reader_free(reader);
  free(rest);
  reader = NULL;
  if (status == HW_OK) {
    status = hw_columns_parse("m", mapping, strlen(mapping), &columns, &error);
    assert_true(status == HW_OK || !columns);
  }
  if (status == HW_OK) {
    status = hw_columns_copy(columns, &copy);
  }
  if (status == HW_OK) {
    const hw_reader_options mapped = {.columns = copy};
    status = hw_reader_memory_with(guessed, strlen(guessed), "t", &plain, &mapped, &reader, &error);
  }
  hw_reader_free(reader);
  hw_columns_free(columns);
  hw_columns_free(copy);
  return status;
}

static void test_tables_of_others_survive_every_failed_allocation(void **state) {
  (void)state;
  assert_true(provoke(read_tables, NULL) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loading_a_network_survives_every_failed_allocation),
      cmocka_unit_test(test_methods_on_branches_survive_every_failed_allocation),
      cmocka_unit_test(test_a_branch_laid_as_a_line_survives_every_failed_allocation),
      cmocka_unit_test(test_advice_survives_every_failed_allocation),
      cmocka_unit_test(test_tables_of_others_survive_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

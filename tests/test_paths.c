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
#include "river/clock.h"

#define KNOWN "hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 30, discharge_m3_s: 6, decay_per_s: 0}\n"
#define DOUBTED                                                                                         \
  "hydraulics: {velocity_m_s: {median: 0.8, factor: 1.2}, dispersion_m2_s: {median: 25, factor: 1.8}, " \
  "discharge_m3_s: 6, decay_per_s: 0}\n"
#define FIELD "hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: unknown, discharge_m3_s: 6, decay_per_s: 0}\n"
#define SENSORS                                                                            \
  "sensors:\n  - {id: low, location_m: -5000, noise_relative: 0.05, background_g_m3: 0}\n" \
  "  - {id: lower, location_m: -2000, noise_relative: 0.05, background_g_m3: 0}\n"
#define REST KNOWN SENSORS

static hw_river parse(const char *text) {
  hw_river river;
  hw_error error = {""};
  if (hw_river_parse("r.yaml", text, strlen(text), NULL, NULL, &river, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return river;
}

/* What a method makes of a spill in `spilt`, the same river with its hydraulics, read every ten minutes at every
 * sensor. */
static hw_estimate identify(const char *name, const hw_river *river, const hw_river *spilt, const hw_source *truth,
                            hw_run **run) {
  const hw_problem problem = {.river = river};
  const hw_options options = {.threads = 1};
  hw_spill *spill = NULL;
  hw_estimate e;
  assert_int_equal(hw_spill_create(spilt, truth, 0, &spill), HW_OK);
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

static void check_same_regions(const hw_estimate *one, const hw_estimate *other) {
  assert_int_equal(one->region_count, other->region_count);
  for (size_t k = 0; k < one->region_count; k++) {
    const hw_region *a = &one->regions[k], *b = &other->regions[k];
    assert_true(a->branch == b->branch && a->lo_m == b->lo_m && a->hi_m == b->hi_m && a->probability == b->probability);
  }
}

/* The same river with and without the word branches, as one method sees it. */
static void check_same_river(const char *method, const char *rest) {
  char text[1000];
  snprintf(text, sizeof text, "%s%s", rest,
           "search: {mass_g: [100, 100000], location_m: [-40000, -6000], time_s: [-7200, 7200]}\n");
  hw_river plain = parse(text);
  snprintf(text, sizeof text, "%s%s", rest,
           "search: {mass_g: [100, 100000], locations: {only: [-40000, -6000]}, time_s: [-7200, 7200]}\n"
           "branches: [{id: only, head_m: -50000}]\n");
  hw_river branch = parse(text);
  hw_river known = parse(REST "search: {mass_g: [100, 100000], location_m: [-40000, -6000], time_s: [-7200, 7200]}\n");
  const hw_source truth = {5000, -14370, -371};
  hw_run *a = NULL, *b = NULL;
  const hw_estimate one = identify(method, &plain, &known, &truth, &a);
  const hw_estimate other = identify(method, &branch, &known, &truth, &b);
  assert_true(one.has_source && other.has_source);
  assert_memory_equal(&one.source, &other.source, sizeof one.source);
  assert_int_equal(one.has_interval, other.has_interval);
  if (one.has_interval) {
    assert_memory_equal(&one.interval, &other.interval, sizeof one.interval);
  }
  check_same_regions(&one, &other);
  hw_run_free(a);
  hw_run_free(b);
  hw_river_free(&plain);
  hw_river_free(&branch);
  hw_river_free(&known);
}

static void test_a_network_of_one_branch_is_that_river_to_the_bit(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof learners / sizeof learners[0]; i++) {
    check_same_river(learners[i], REST);
  }
  check_same_river("posterior", DOUBTED SENSORS);
  check_same_river("posterior", FIELD SENSORS);
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
    const hw_estimate e = identify("atgd", &river, &river, &truths[k], &run);
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
  const hw_estimate e = identify("atgd", &river, &river, &truth, &run);
  assert_true(fabs(e.source.location_m - truth.location_m) < 100 && fabs(e.source.time_s - truth.time_s) < 200);
  assert_true(fabs(e.source.mass_g / 5000 - 1) < 0.02);
  hw_run_free(run);
  hw_river_free(&river);
}

/* A method of a user's own: it knows the answer, and tells of every intake and candidate of the course it was given. */
typedef struct {
  const hw_river *river;
  hw_arrival arrivals[4];
  hw_suspicion suspicions[4];
} oracle;

static hw_status oracle_create(const hw_problem *problem, const hw_options *options, void **state) {
  (void)options;
  oracle *o = calloc(1, sizeof *o);
  o->river = problem->river;
  *state = o;
  return HW_OK;
}

static hw_status oracle_observe(void *state, const hw_reading *reading) {
  (void)state;
  (void)reading;
  return HW_OK;
}

/* What is told of an id hangs on the id alone. */
static double number_of(const char *id) {
  return 1000 * (double)id[0] + (double)strlen(id);
}

static hw_status oracle_estimate(void *state, hw_estimate *out) {
  oracle *o = state;
  out->has_source = true;
  out->source = (hw_source){5000, -8000, 371};
  for (size_t i = 0; i < o->river->intake_count; i++) {
    const double at = number_of(o->river->intakes[i].id);
    o->arrivals[i] = (hw_arrival){.intake = i,
                                  .first_s = {at, at + 1, at + 2},
                                  .peak_s = {at + 10, at + 11, at + 12},
                                  .last_s = {NAN, at + 21, at + 22},
                                  .peak_g_m3 = {0.01, 0.02, 0.03}};
  }
  for (size_t i = 0; i < o->river->candidate_count; i++) {
    o->suspicions[i] = (hw_suspicion){(ptrdiff_t)i, 1e-6 * number_of(o->river->candidates[i].id)};
  }
  o->suspicions[o->river->candidate_count] = (hw_suspicion){-1, 0.37};
  out->arrivals = o->arrivals;
  out->arrival_count = o->river->intake_count;
  out->suspicions = o->suspicions;
  out->suspicion_count = o->river->candidate_count + 1;
  return HW_OK;
}

static hw_status oracle_samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  (void)state;
  assert_true(capacity >= 1);
  out[0] = (hw_sample){.source = {5000, -8000, 371}, .weight = 1};
  *count = 1;
  return HW_OK;
}

static const hw_method told = {.name = "oracle",
                               .summary = "knows",
                               .create = oracle_create,
                               .observe = oracle_observe,
                               .estimate = oracle_estimate,
                               .samples = oracle_samples,
                               .destroy = free};

static void expect_instant(const hw__clock *clock, const hw_intake *k, double tau_s, double wall_s) {
  assert_true(wall_s == hw__clock_out(clock, k->branch, k->location_m, tau_s));
}

static void test_what_a_course_tells_is_told_of_the_network(void **state) {
  (void)state;
  hw_river river = parse(REST NETWORK
                         "intakes: [{id: birk, branch: birch, location_m: -100}, {id: town, location_m: -1500},\n"
                         "  {id: mill, branch: ash, location_m: -300}]\n"
                         "candidates: [{id: yard, branch: birch, location_m: -3000}, {id: dock, location_m: -15000},\n"
                         "  {id: works, branch: ash, location_m: -8000}]\n"
                         "gauges: [{id: g, location_m: -4000}]\n");
  river.flow = calloc(2, sizeof *river.flow);
  river.flow_count = 2;
  river.flow[0] = (hw_flow){0, 0, 9};
  river.flow[1] = (hw_flow){0, 90000, 14.2};
  hw_run *run = NULL;
  hw__clock *clock = NULL;
  const hw_source truth = {5000, -8000, 371, 1};
  const hw_problem problem = {.river = &river};
  hw_spill *spill = NULL;
  assert_int_equal(hw_spill_create(&river, &truth, 0, &spill), HW_OK);
  assert_int_equal(hw_run_create(&told, &problem, NULL, &run), HW_OK);
  for (double t = 0; t < 60000; t += 1200) {
    hw_reading reading = {.time_s = t};
    reading.concentration_g_m3 = hw_spill_concentration(spill, 0, river.sensors[0].location_m, t);
    assert_int_equal(hw_run_observe(run, &reading), HW_OK);
  }
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_int_equal(e.source.branch, 1);
  assert_int_equal(hw__clock_create(&river, &clock), HW_OK);
  assert_int_equal(e.arrival_count, 2); /* the intake on the other tributary is not on the way */
  for (size_t i = 0; i < e.arrival_count; i++) {
    const hw_arrival *a = &e.arrivals[i];
    const hw_intake *k = &river.intakes[a->intake];
    const double at = number_of(k->id), dilution = hw__clock_dilution(clock, k->branch, k->location_m, a->peak_s.mid);
    assert_true(strcmp(k->id, "town") == 0 || strcmp(k->id, "mill") == 0);
    expect_instant(clock, k, at, a->first_s.lo);
    expect_instant(clock, k, at + 2, a->first_s.hi);
    expect_instant(clock, k, at + 11, a->peak_s.mid);
    expect_instant(clock, k, at + 22, a->last_s.hi);
    assert_true(isnan(a->last_s.lo));
    assert_true(dilution > 1.01 && a->peak_g_m3.lo == 0.01 / dilution && a->peak_g_m3.hi == 0.03 / dilution);
  }
  assert_true(e.arrivals[0].intake != e.arrivals[1].intake);
  assert_int_equal(e.suspicion_count, 3);
  for (size_t i = 0; i < 2; i++) {
    assert_true(e.suspicions[i].candidate > 0); /* not the yard on the other tributary */
    assert_true(e.suspicions[i].probability == 1e-6 * number_of(river.candidates[e.suspicions[i].candidate].id));
  }
  assert_true(e.suspicions[2].candidate == -1 && e.suspicions[2].probability == 0.37);
  hw_sample sample;
  size_t count = 0;
  assert_int_equal(hw_run_samples(run, &sample, 1, &count), HW_OK);
  assert_true(count == 1 && sample.source.branch == 1 && sample.source.time_s == e.source.time_s);
  hw__clock_free(clock);
  hw_spill_free(spill);
  hw_run_free(run);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_network_of_one_branch_is_that_river_to_the_bit),
      cmocka_unit_test(test_learners_find_the_branch),
      cmocka_unit_test(test_learners_work_in_the_rivers_clock),
      cmocka_unit_test(test_what_a_course_tells_is_told_of_the_network),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

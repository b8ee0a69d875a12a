/* A river that a program made, not a file: every rule of hw_river_check at its bounds. What is refused says what is
 * wrong and where; what lies on the bound is taken. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"

/* One of everything; the river borrows the rest. */
typedef struct {
  hw_reach reaches[2];
  hw_sensor sensors[2];
  hw_span active[2];
  hw_candidate candidates[2];
  hw_intake intakes[2];
  hw_gauge gauges[2];
  hw_flow flow[2];
  hw_branch branches[2];
  hw_river river;
} made;

static hw_sensor sensor(const char *id, double location_m) {
  hw_sensor s = {.location_m = location_m, .noise_relative = 0.05, .background_g_m3 = NAN, .gain_factor = 1};
  snprintf(s.id, sizeof s.id, "%s", id);
  return s;
}

static void make(made *m) {
  const hw_reach reach = {.velocity_m_s = 1.3, .dispersion_m2_s = 37, .area_m2 = 60};
  *m = (made){.reaches = {reach, reach},
              .sensors = {sensor("s1", -14210.5), sensor("s2", -370)},
              .active = {{-9000, -7000}, {-7000, -141}},
              .candidates = {{.id = "mill", .location_m = -21000}, {.id = "yard", .location_m = -17000}},
              .intakes = {{.id = "reno", .location_m = 21999.7}, {.id = "sparks", .location_m = 27000}},
              .gauges = {{.id = "g1", .location_m = -5000}, {.id = "g2", .location_m = -142}},
              .flow = {{0, 37, 14.2}, {1, 37, 8.5}}};
  m->reaches[0].to_m = -15000;
  m->reaches[1].to_m = 141;
  m->candidates[0].active = m->active;
  m->candidates[0].active_count = 2;
  hw_river *r = &m->river;
  hw_river_init(r);
  r->hydraulics.velocity_m_s = (hw_quantity){.certainty = HW_UNCERTAIN, .value = 1.3, .factor = 1.4, .local = 1.2};
  r->hydraulics.dispersion_m2_s = (hw_quantity){.certainty = HW_KNOWN, .value = 37, .factor = 1};
  r->hydraulics.area_m2 = 60;
  r->search = (hw_box){{1000, -30000, -24000, 0}, {3000, -10000, -8700, 0}};
  r->reaches = m->reaches, r->reach_count = 2;
  r->sensors = m->sensors, r->sensor_count = 2;
  r->candidates = m->candidates, r->candidate_count = 2;
  r->intakes = m->intakes, r->intake_count = 2;
  r->gauges = m->gauges, r->gauge_count = 2;
  r->flow = m->flow, r->flow_count = 2;
}

/* The reaches in two branches instead: "ash" joins "stem". */
static void make_branches(made *m) {
  make(m);
  m->branches[0] = (hw_branch){.id = "stem", .head_m = -61350, .joins = HW_OUTLET, .search_hi_m = 1};
  m->branches[1] = (hw_branch){.id = "ash", .head_m = -21000, .joins = 0, .joins_at_m = -31000, .search_hi_m = 1};
  m->branches[0].reaches = &m->reaches[0], m->branches[0].reach_count = 1;
  m->branches[1].reaches = &m->reaches[1], m->branches[1].reach_count = 1;
  m->reaches[1].to_m = -142;
  m->river.branches = m->branches, m->river.branch_count = 2;
  m->river.reaches = NULL, m->river.reach_count = 0;
}

static void expect(const made *m, const char *change, const char *sentence) {
  hw_error error = {""};
  const hw_status status = hw_river_check(&m->river, &error);
  if (status != (sentence ? HW_EINPUT : HW_OK) || (sentence && strcmp(error.text, sentence) != 0)) {
    fail_msg("%s: '%s' instead of '%s'", change, error.text, sentence ? sentence : "");
  }
  assert_int_equal(hw_river_check(&m->river, NULL), status); /* nobody has to listen */
}

#define REFUSED(change, sentence)  \
  do {                             \
    made m;                        \
    hw_river *r = &m.river;        \
    (void)r;                       \
    make(&m);                      \
    change;                        \
    expect(&m, #change, sentence); \
  } while (0)
#define TAKEN(change)                    REFUSED(change, NULL)
#define REFUSED_BRANCH(change, sentence) REFUSED(make_branches(&m); change, sentence)

static void test_hydraulics(void **state) {
  (void)state;
  TAKEN((void)0);
  REFUSED(r->hydraulics.velocity_m_s.value = 0, "velocity_m_s is 0, expected a positive number");
  REFUSED(r->hydraulics.velocity_m_s.value = INFINITY, "velocity_m_s is inf, expected a positive number");
  TAKEN(r->hydraulics.velocity_m_s = (hw_quantity){.certainty = HW_UNKNOWN});
  REFUSED(r->hydraulics.velocity_m_s.factor = 1, "velocity_m_s has factor 1, expected a number above 1");
  REFUSED(r->hydraulics.velocity_m_s.local = 0.9, "velocity_m_s has local 0.9, expected 1 up to its factor, 1.4");
  REFUSED(r->hydraulics.velocity_m_s.local = 1.5, "velocity_m_s has local 1.5, expected 1 up to its factor, 1.4");
  TAKEN(r->hydraulics.velocity_m_s.local = 1.4);
  TAKEN(r->hydraulics.velocity_m_s.local = 1);
  TAKEN(r->hydraulics.velocity_m_s.local = 0);
  REFUSED(r->hydraulics.dispersion_m2_s.value = -37, "dispersion_m2_s is -37, expected a positive number");
  REFUSED(r->hydraulics.area_m2 = -1, "area_m2 is -1, expected a positive number");
  TAKEN(r->hydraulics.area_m2 = 0);
  TAKEN(r->hydraulics.area_m2 = 0; r->hydraulics.discharge_m3_s = 14.2);
  REFUSED(r->hydraulics.discharge_m3_s = -1, "discharge_m3_s is -1, expected a positive number");
  REFUSED(r->hydraulics.discharge_m3_s = 5, "both area_m2 and discharge_m3_s are given, expected one of them");
  REFUSED(r->hydraulics.decay_per_s = -1e-6, "decay_per_s is -1e-06, expected 0 or more");
  TAKEN(r->hydraulics.velocity_exponent = 0.99);
  REFUSED(r->hydraulics.velocity_exponent = 1, "velocity_exponent is 1, expected a number between 0 and 1");
  REFUSED(r->hydraulics.velocity_exponent = -0.1, "velocity_exponent is -0.1, expected a number between 0 and 1");
}

static void test_reaches(void **state) {
  (void)state;
  static const char needs[] =
      "reach 2 needs a finite to_m, positive velocity, dispersion and area, and decay of 0 or more";
  REFUSED(m.reaches[1].to_m = INFINITY, needs);
  REFUSED(m.reaches[1].velocity_m_s = 0, needs);
  REFUSED(m.reaches[1].dispersion_m2_s = 0, needs);
  REFUSED(m.reaches[1].area_m2 = NAN, needs);
  REFUSED(m.reaches[1].decay_per_s = -1, needs);
  REFUSED(m.reaches[1].discharge_m3_s = -1, needs);
  REFUSED(m.reaches[1].to_m = -15000,
          "reach 2 ends at -15000 m, expected past the reach before it, which ends at -15000 m");
  static const char none[] = "reach 2 has a doubt that is none, expected 1 <= local <= factor";
  TAKEN(m.reaches[1].velocity_doubt = ((hw_doubt){1, 0}));
  TAKEN(m.reaches[1].velocity_doubt = ((hw_doubt){1.4, 1.4}));
  REFUSED(m.reaches[1].velocity_doubt = ((hw_doubt){0.9, 0}), none);
  REFUSED(m.reaches[1].velocity_doubt = ((hw_doubt){INFINITY, 0}), none);
  REFUSED(m.reaches[1].dispersion_doubt = ((hw_doubt){1.4, 0.9}), none);
  REFUSED(m.reaches[1].dispersion_doubt = ((hw_doubt){1.4, 1.5}), none);
}

static void test_sensors(void **state) {
  (void)state;
  REFUSED(r->sensor_count = 0, "the river has no sensors, expected at least one");
  REFUSED(m.sensors[1].location_m = NAN, "sensor s2 has location_m nan, expected a finite number");
  static const char less[] = "sensor s2 has a value of -1 where 0 or more is expected";
  REFUSED(m.sensors[1].noise_relative = -1, less);
  REFUSED(m.sensors[1].noise_absolute_g_m3 = -1, less);
  REFUSED(m.sensors[1].detection_limit_g_m3 = -1, less);
  REFUSED(m.sensors[1].discharge_m3_s = -1, less);
  REFUSED(m.sensors[1].width_m = -1, less);
  REFUSED(m.sensors[1].section_velocity_m_s = -1, less);
  REFUSED(m.sensors[1].depth_m = -1, less);
  TAKEN(m.sensors[1].background_g_m3 = 0);
  REFUSED(m.sensors[1].background_g_m3 = -1, "sensor s2 has background_g_m3 -1, expected 0 or more");
  REFUSED(m.sensors[1].gain_factor = 0.99, "sensor s2 has gain_factor 0.99, expected 1 or more");
  REFUSED(m.sensors[1].gain_factor = INFINITY, "sensor s2 has gain_factor inf, expected 1 or more");
  REFUSED(m.sensors[1].branch = 1, "sensor s2 is on a branch that is not there");
  REFUSED(m.sensors[1].id[0] = '\0', "sensor 2 has no id");
  REFUSED(m.sensors[1].id[1] = '1', "sensor id s1 is used twice, expected unique ids");
}

static void test_candidates_and_intakes(void **state) {
  (void)state;
  static const char place[] = "candidate yard needs a finite location_m and an extent_m of 0 or more";
  REFUSED(m.candidates[1].location_m = NAN, place);
  REFUSED(m.candidates[1].extent_m = -1, place);
  REFUSED(m.candidates[1].prior = -1, "candidate yard has prior -1, expected a positive number");
  TAKEN(m.candidates[1].active_trust = 1);
  REFUSED(m.candidates[1].active_trust = 1.01, "candidate yard has active_trust 1.01, expected a probability");
  REFUSED(m.active[1].to_s = -7000, "candidate mill is active from -7000 to -7000, expected a time and a later one");
  REFUSED(m.active[1].to_s = INFINITY, "candidate mill is active from -7000 to inf, expected a time and a later one");
  REFUSED(m.active[1].from_s = -7001,
          "candidate mill is active from -7001 on while still active until -7000, expected windows in order of time "
          "that do not overlap");
  REFUSED(memcpy(m.candidates[1].id, "mill", 5), "candidate id mill is used twice, expected unique ids");
  REFUSED(m.candidates[1].branch = 1, "candidate yard is on a branch that is not there");
  static const char intake[] = "intake sparks needs a finite location_m and an alarm_g_m3 of 0 or more";
  REFUSED(m.intakes[1].location_m = INFINITY, intake);
  REFUSED(m.intakes[1].alarm_g_m3 = -1, intake);
  REFUSED(m.intakes[1].id[0] = '\0', "intake 2 has no id");
  TAKEN(r->none_prior = 0);
  REFUSED(r->none_prior = 1, "none_of_these has prior 1, expected a probability below 1");
  REFUSED(r->none_prior = -0.1, "none_of_these has prior -0.1, expected a probability below 1");
}

static void test_gauges_and_flow(void **state) {
  (void)state;
  static const char flow[] =
      "flow 2 needs a gauge of the river, a positive discharge, and a time no earlier than the one before";
  REFUSED(m.gauges[1].location_m = NAN, "gauge g2 needs a finite location_m");
  REFUSED(m.gauges[1].id[1] = '1', "gauge id g1 is used twice, expected unique ids");
  REFUSED(m.gauges[0].branch = 1, "gauge g1 is on a branch that is not there");
  REFUSED(m.flow[1].gauge = 2, flow);
  REFUSED(m.flow[1].time_s = 36.9, flow);
  REFUSED(m.flow[1].discharge_m3_s = 0, flow);
}

static void test_the_search_box(void **state) {
  (void)state;
  REFUSED(r->search.lo.mass_g = 3001, "search mass_g is [3001, 3000], expected two finite numbers, lower first");
  REFUSED(r->search.hi.location_m = NAN,
          "search location_m is [-30000, nan], expected two finite numbers, lower first");
  REFUSED(r->search.hi.time_s = -24001, "search time_s is [-24000, -24001], expected two finite numbers, lower first");
  TAKEN(r->search.hi.time_s = -24000);
  TAKEN(r->search.lo.mass_g = 0);
  REFUSED(r->search.lo.mass_g = -1, "search mass_g is [-1, 3000], expected 0 or more, then a positive number");
  REFUSED(r->search.lo.mass_g = r->search.hi.mass_g = 0,
          "search mass_g is [0, 0], expected 0 or more, then a positive number");
  REFUSED(r->when.sd_s = -1, "search time_s has median 0 and sd_s -1, expected finite numbers, sd_s positive");
}

static void test_branches(void **state) {
  (void)state;
  REFUSED_BRANCH((void)0, NULL);
  REFUSED_BRANCH(r->reaches = m.reaches;
                 r->reach_count = 1, "both branches and reaches of the river, expected the reaches in the branches");
  REFUSED_BRANCH(memcpy(m.branches[1].id, "stem", 5), "branch id stem is used twice, expected unique ids");
  REFUSED_BRANCH(m.branches[1].head_m = 0, "branch ash has head_m 0, expected a negative number: its mouth is metre 0");
  REFUSED_BRANCH(m.branches[0].head_m = NAN, "branch stem has head_m nan, expected a finite number");
  REFUSED_BRANCH(m.reaches[1].to_m = -21000,
                 "branch ash, reach 1 ends at -21000 m, expected below the branch's head, -21000");
  REFUSED_BRANCH(m.reaches[1].to_m = 1, "branch ash, reach 1 ends at 1 m, expected at most 0, the branch's mouth");
  REFUSED_BRANCH(m.reaches[1].to_m = 0, NULL);
  REFUSED_BRANCH(m.branches[1].search_lo_m = NAN, "branch ash has a search that is no stretch of it");
  REFUSED_BRANCH(m.sensors[1].location_m = -61350, NULL);
  REFUSED_BRANCH(m.sensors[1].location_m = -61351,
                 "sensor s2 at -61351 m lies above the head of branch stem, expected -61350 m or more");
  REFUSED_BRANCH(m.sensors[1].branch = 1; m.sensors[1].location_m = 0, NULL);
  REFUSED_BRANCH(m.sensors[1].branch = 1; m.sensors[1].location_m = 1,
                                          "sensor s2 at 1 m lies below the mouth of branch ash, expected 0 m or less");
  REFUSED_BRANCH(m.branches[1].joins_at_m = -61350, NULL);
  REFUSED_BRANCH(m.branches[1].joins_at_m = -61351,
                 "branch ash joins stem at -61351 m, expected a metre between its ends, -61350 and -15000");
  REFUSED_BRANCH(m.branches[1].joins_at_m = -15000, NULL);
  REFUSED_BRANCH(m.branches[1].joins_at_m = -14999,
                 "branch ash joins stem at -14999 m, expected a metre between its ends, -61350 and -15000");
  REFUSED_BRANCH(m.branches[1].joins_at_m = NAN,
                 "branch ash joins stem at nan m, expected a metre between its ends, -61350 and -15000");
  REFUSED_BRANCH(m.branches[1].joins = 1, "branch ash joins itself, expected another branch");
  REFUSED_BRANCH(m.branches[1].joins = 2, "branch ash leads to a branch that is not there");
  REFUSED_BRANCH(m.branches[1].joins = HW_OUTLET,
                 "branch ash joins nothing, and so does stem: two outlets, expected exactly one");
  REFUSED_BRANCH(m.sensors[1].branch = 2, "sensor s2 is on a branch that is not there");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hydraulics),      cmocka_unit_test(test_reaches),
      cmocka_unit_test(test_sensors),         cmocka_unit_test(test_candidates_and_intakes),
      cmocka_unit_test(test_gauges_and_flow), cmocka_unit_test(test_the_search_box),
      cmocka_unit_test(test_branches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rivers from YAML: every value in its place, and a sentence with its line for every fault. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse_river.h"
#include "river/doubt.h"

#define HYDRAULICS "hydraulics: {velocity_m_s: 1.3333, dispersion_m2_s: 40.5, area_m2: 60, decay_per_s: 1.667e-10}\n"
#define SEARCH     "search: {mass_g: [1000, 3000], location_m: [-30000, -10000], time_s: [-24000, -8700]}\n"
#define SENSORS    "sensors: [{id: s1, location_m: -14210.5}]\n"

static void test_every_value_lands_in_its_place(void **state) {
  (void)state;
  hw_river river = parse(
      "dir/r.yaml",
      "name: \"Ache, upper\"\n"
      "hydraulics:\n  velocity_m_s: {median: 1.42, factor: 1.15}\n  dispersion_m2_s: unknown\n  discharge_m3_s: 37.5\n"
      "search:\n  mass_g: [10, 2.5e4]\n  location_m: [-3000, 12]\n  time_s: [-24000, -8700]\n"
      "sensors:\n  - {id: 7, location_m: 14.2, noise_relative: 0.07, noise_absolute_g_m3: 2e-5,\n"
      "     detection_limit_g_m3: 3e-5, background_g_m3: 1e-6, gain_factor: 1.1, discharge_m3_s: 75,\n"
      "     section_velocity_m_s: 1.2, width_m: 30, depth_m: 1.1}\n  - {id: bare, location_m: 99}\n"
      "candidates: [{id: mill, name: Paper mill, location_m: -210, extent_m: 40}]\n"
      "intakes: [{id: reno, name: Reno intake, location_m: 2199.7, alarm_g_m3: 0.001}]\n"
      "centerline: map/ache.geojson\n");
  assert_string_equal(river.name, "Ache, upper");
  assert_int_equal(river.hydraulics.velocity_m_s.certainty, HW_UNCERTAIN);
  assert_true(river.hydraulics.velocity_m_s.value == 1.42 && river.hydraulics.velocity_m_s.factor == 1.15);
  assert_int_equal(river.hydraulics.dispersion_m2_s.certainty, HW_UNKNOWN);
  assert_true(river.hydraulics.discharge_m3_s == 37.5 && river.hydraulics.area_m2 == 0);
  assert_true(river.search.lo.mass_g == 10 && river.search.hi.mass_g == 2.5e4);
  assert_true(river.search.lo.location_m == -3000 && river.search.hi.location_m == 12);
  assert_true(river.search.lo.time_s == -24000 && river.search.hi.time_s == -8700);
  assert_false(river.search_is_calendar);
  const hw_sensor *s = &river.sensors[0];
  assert_string_equal(s->id, "7");
  assert_true(s->location_m == 14.2 && s->noise_relative == 0.07 && s->noise_absolute_g_m3 == 2e-5);
  assert_true(s->detection_limit_g_m3 == 3e-5 && s->background_g_m3 == 1e-6 && s->gain_factor == 1.1);
  assert_true(s->discharge_m3_s == 75 && s->section_velocity_m_s == 1.2 && s->width_m == 30 && s->depth_m == 1.1);
  assert_true(river.sensors[1].noise_relative == 0.05 && isnan(river.sensors[1].background_g_m3));
  assert_true(river.candidates[0].extent_m == 40 && river.candidates[0].location_m == -210);
  assert_string_equal(river.intakes[0].name, "Reno intake");
  assert_true(river.intakes[0].alarm_g_m3 == 0.001);
  assert_string_equal(river.centerline, "dir/map/ache.geojson");
  assert_string_equal(warnings,
                      "dir/r.yaml:1: not given, so taken: a conservative pollutant (no substance), noise_relative 0.05 "
                      "for 1 of 2 sensors\n");
  hw_river_free(&river);
}

static void test_reaches_inherit_what_they_do_not_say(void **state) {
  (void)state;
  hw_river river = parse("dir/r.yaml", HYDRAULICS SEARCH SENSORS
                         "reaches:\n  - {to_m: -20000, velocity_m_s: 1.5}\n  - {to_m: 0, dispersion_m2_s: 30, area_m2: "
                         "50, decay_per_s: 1e-5}\n  - {to_m: 14.2, discharge_m3_s: 26.666}\n");
  assert_int_equal(river.reach_count, 3);
  assert_true(river.reaches[0].velocity_m_s == 1.5 && river.reaches[0].dispersion_m2_s == 40.5);
  assert_true(river.reaches[0].area_m2 == 60 && river.reaches[0].decay_per_s == 1.667e-10);
  assert_true(river.reaches[1].velocity_m_s == 1.3333 && river.reaches[1].area_m2 == 50);
  assert_true(fabs(river.reaches[2].area_m2 - 20) < 1e-12);
  hw_river_free(&river);
}

static void test_doubt_has_a_common_and_a_local_part(void **state) {
  (void)state;
  hw_river river = parse(
      "dir/r.yaml",
      "hydraulics: {velocity_m_s: {median: 0.7, factor: 1.15}, dispersion_m2_s: {median: 40, factor: 1.8, local: "
      "1.37}, discharge_m3_s: 14.2}\n" SEARCH SENSORS
      "reaches:\n  - {to_m: -20000, velocity_m_s: 0.61, discharge_m3_s: 5.1}\n"
      "  - {to_m: 0, velocity_m_s: {median: 0.72, factor: 1.3, local: 1.3}, dispersion_m2_s: {median: 30, factor: "
      "1}}\n");
  const hw_hydraulics *h = &river.hydraulics;
  const double tolerance = 1e-15; /* a few roundings of numbers below one */
  hw__spread v = hw__spread_of_quantity(&h->velocity_m_s), d = hw__spread_of_quantity(&h->dispersion_m2_s);
  assert_true(fabs(v.common - 0.8 * log(1.15)) < tolerance && fabs(v.local - 0.6 * log(1.15)) < tolerance);
  assert_true(fabs(d.local - log(1.37)) < tolerance);
  assert_true(fabs(d.common * d.common + d.local * d.local - log(1.8) * log(1.8)) < tolerance);
  /* A plain number inherits, a mapping does not. */
  const hw_reach *r = river.reaches;
  v = hw__spread_of_reach(&r[0].velocity_doubt, &h->velocity_m_s);
  d = hw__spread_of_reach(&r[0].dispersion_doubt, &h->dispersion_m2_s);
  assert_true(fabs(v.common - 0.8 * log(1.15)) < tolerance && fabs(d.local - log(1.37)) < tolerance);
  v = hw__spread_of_reach(&r[1].velocity_doubt, &h->velocity_m_s);
  d = hw__spread_of_reach(&r[1].dispersion_doubt, &h->dispersion_m2_s);
  assert_true(v.common == 0 && fabs(v.local - log(1.3)) < tolerance && d.common == 0 && d.local == 0);
  assert_true(r[0].velocity_m_s == 0.61 && r[1].velocity_m_s == 0.72 && r[1].dispersion_m2_s == 30);
  /* The water's own discharge, given or inherited. */
  assert_true(r[0].discharge_m3_s == 5.1 && r[1].discharge_m3_s == 14.2);
  hw_river_free(&river);
}

static void test_instants_make_the_search_box_a_calendar_one(void **state) {
  (void)state;
  hw_river river = parse("dir/r.yaml", HYDRAULICS SENSORS
                         "search: {mass_g: [1, 2], location_m: [-30000, 0], time_s: [2026-03-01T08:15:00+01:00, "
                         "\"2026-03-01 07:15:30Z\"]}\n");
  assert_true(river.search_is_calendar);
  assert_true(river.search.lo.time_s == 1772349300.0 && river.search.hi.time_s == 1772349330.0);
  hw_river_free(&river);
}

static void test_a_box_without_a_time_counts_from_the_first_reading(void **state) {
  (void)state;
  hw_river river = parse("dir/r.yaml", HYDRAULICS "search: {mass_g: [1, 2], location_m: [-30000, 0]}\n" SENSORS);
  assert_true(river.search.lo.time_s == -172800 && river.search.hi.time_s == 604800 && !river.search_is_calendar);
  assert_non_null(strstr(warnings, "search time_s -172800 to 604800"));
  hw_river_free(&river);
}

static void test_candidates_carry_their_prior_and_their_log(void **state) {
  (void)state;
  hw_river river = parse("dir/r.yaml", HYDRAULICS SEARCH SENSORS
                         "candidates:\n  - {id: mill, location_m: -21000, prior: 2.5, active: [[-20000, -18000.5], "
                         "[-12000, -9000]], active_trust: 0.7}\n  - {id: works, location_m: -22000}\n"
                         "none_of_these: {prior: 0.37}\n");
  const hw_candidate *mill = &river.candidates[0], *works = &river.candidates[1];
  assert_true(mill->prior == 2.5 && mill->active_trust == 0.7 && mill->active_count == 2);
  assert_true(mill->active[0].from_s == -20000 && mill->active[0].to_s == -18000.5 && mill->active[1].to_s == -9000);
  assert_true(works->prior == 0 && works->active_count == 0 && works->active_trust == 0);
  assert_true(river.none_prior == 0.37);
  hw_river_free(&river);
  river = parse("dir/r.yaml", HYDRAULICS SEARCH SENSORS);
  assert_true(river.none_prior == 0.2 && river.when.sd_s == 0);
  hw_river_free(&river);
}

static void test_release_time_may_be_a_distribution(void **state) {
  (void)state;
  hw_river river = parse("dir/r.yaml", HYDRAULICS SENSORS
                         "search: {mass_g: [1, 2], location_m: [-30000, 0], time_s: {median: "
                         "2026-03-01T08:15:00+01:00, sd_s: 600}}\n"
                         "candidates: [{id: a, location_m: -9, active: [[2026-03-01T06:00:00Z, "
                         "2026-03-01T07:00:00Z]]}]\n");
  assert_true(river.search_is_calendar);
  assert_true(river.when.median_s == 1772349300.0 && river.when.sd_s == 600);
  assert_true(river.search.lo.time_s == 1772349300.0 - 2400 && river.search.hi.time_s == 1772349300.0 + 2400);
  assert_true(river.candidates[0].active[0].to_s == 1772348400.0);
  hw_river_free(&river);
}

static void test_odd_but_usable_rivers_warn(void **state) {
  (void)state;
  hw_river river =
      parse("dir/r.yaml", "hydraulics: {velocity_m_s: 1.2}\n" SEARCH
                          "sensors:\n  - {id: s1, location_m: -14210.5}\n  - {id: up, location_m: -30000}\n"
                          "candidates: [{id: far, location_m: 5}]\n");
  assert_string_equal(
      warnings,
      "dir/r.yaml:1: no dispersion_m2_s in hydraulics: taken as unknown\n"
      "dir/r.yaml:1: neither area_m2 nor discharge_m3_s in hydraulics: the mass cannot be worked out from "
      "them\n"
      "dir/r.yaml:1: not given, so taken: a conservative pollutant (no substance), noise_relative 0.05 for 2 of 2 "
      "sensors\n"
      "dir/r.yaml:5: sensor up at -30000 m lies upstream of the whole search box, which begins at -30000 "
      "m: it cannot see the spill\n"
      "dir/r.yaml:6: candidate far at 5 m lies outside the search box\n");
  hw_river_free(&river);
}

static const struct {
  const char *text, *sentence;
} faults[] = {
    {"", "r.yaml:1: an empty file, expected a river in YAML"},
    {"# only a comment\n", "r.yaml:1: an empty file, expected a river in YAML"},
    {"just words\n", "r.yaml:1: the river is 'just words', expected keys and values"},
    {"a: [1\nb: 2\n",
     "r.yaml:2: while parsing a flow sequence: did not find expected ',' or ']', expected a river in YAML"},
    {HYDRAULICS SEARCH SENSORS "colour: blue\n",
     "r.yaml:4: unknown key 'colour' in the river, expected one of name, hydraulics, substance, reaches, branches, "
     "search, "
     "sensors, "
     "candidates, none_of_these, intakes, gauges, flow, centerline, import"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, prior: 0}\n",
     "r.yaml:5: prior is '0', expected a positive number"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, active: 5}\n",
     "r.yaml:5: active is '5', expected a list"},
    {HYDRAULICS SEARCH SENSORS
     "candidates:\n  - {id: a, location_m: 1, active: [[-20000, -18000], [2026-03-01T00:00:00Z, "
     "2026-03-01T01:00:00Z]]}\n",
     "r.yaml:5: active window has instants, expected numbers as in search time_s"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, active: []}\n",
     "r.yaml:5: active is a list of 0, expected 1 to 10000 windows [from, to]"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1,\n     active: [[1, 2, 3]]}\n",
     "r.yaml:6: active window is a list, expected [lo, hi]"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1,\n     active: [[9, 2]]}\n",
     "r.yaml:6: active window is [9, 2], expected the lower end first"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, active: [[2, 2]]}\n",
     "r.yaml:1: candidate a is active from 2 to 2, expected a time and a later one"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, active: [[5, 9], [8, 12]]}\n",
     "r.yaml:1: candidate a is active from 8 on while still active until 9, expected windows in order of time that do "
     "not overlap"},
    {HYDRAULICS SEARCH SENSORS
     "candidates:\n  - {id: a, location_m: 1, active: [[2026-03-01T06:00:00Z, 2026-03-01T07:00:00Z]]}\n",
     "r.yaml:5: active window has instants, expected numbers as in search time_s"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, active: [[2, 3]], active_trust: 1.5}\n",
     "r.yaml:5: active_trust is 1.5, expected a probability, at most 1"},
    {HYDRAULICS SEARCH SENSORS "none_of_these: {prior: 1}\n",
     "r.yaml:4: none_of_these has prior 1, expected a probability below 1"},
    {HYDRAULICS SEARCH SENSORS "none_of_these: {}\n", "r.yaml:4: no prior in none_of_these, expected one"},
    {HYDRAULICS SEARCH SENSORS "none_of_these: 0.2\n", "r.yaml:4: none_of_these is '0.2', expected keys and values"},
    {HYDRAULICS SENSORS "search: {mass_g: [1, 2], location_m: [-30000, 0], time_s: {median: noon, sd_s: 5}}\n",
     "r.yaml:3: search time_s median is 'noon', expected a number or an instant with its offset such as "
     "2026-03-01T08:15:00Z"},
    {HYDRAULICS SENSORS "search: {mass_g: [1, 2], location_m: [-30000, 0], time_s: {median: 7, sd_s: 0}}\n",
     "r.yaml:3: sd_s is '0', expected a positive number"},
    {SEARCH SENSORS, "r.yaml:1: no hydraulics in the river, expected one"},
    {HYDRAULICS SENSORS, "r.yaml:1: no search in the river, expected one"},
    {HYDRAULICS SEARCH, "r.yaml:1: no sensors in the river, expected one"},
    {HYDRAULICS SEARCH "sensors: []\n", "r.yaml:3: sensors is an empty list, expected at least one sensor"},
    {HYDRAULICS SEARCH "sensors: 5\n", "r.yaml:3: sensors is '5', expected a list"},
    {"name: [a]\n" HYDRAULICS SEARCH SENSORS, "r.yaml:1: name is a list, expected text"},
    {"hydraulics:\n  velocity_m_s: fast\n" SEARCH SENSORS,
     "r.yaml:2: velocity_m_s is 'fast', expected a positive number, {median: M, factor: F} or unknown"},
    {"hydraulics:\n  velocity_m_s: -1\n" SEARCH SENSORS,
     "r.yaml:2: velocity_m_s is '-1', expected a positive number, {median: M, factor: F} or unknown"},
    {"hydraulics:\n  velocity_m_s: \"1.2\"\n" SEARCH SENSORS,
     "r.yaml:2: velocity_m_s is '1.2', expected a positive number, {median: M, factor: F} or unknown"},
    {"hydraulics:\n  velocity_m_s: {median: 1.2,\n    factor: 0.9}\n" SEARCH SENSORS,
     "r.yaml:3: factor is '0.9', expected a number of 1 or more"},
    {"hydraulics:\n  velocity_m_s: {median: 1.2}\n" SEARCH SENSORS,
     "r.yaml:2: no factor in velocity_m_s, expected one"},
    {"hydraulics:\n  velocity_m_s: 1\n  decay_per_s: .nan\n" SEARCH SENSORS,
     "r.yaml:3: decay_per_s is '.nan', expected a number of 0 or more"},
    {"hydraulics: {area_m2: 4, discharge_m3_s: 2}\n" SEARCH SENSORS,
     "r.yaml:1: both area_m2 and discharge_m3_s in hydraulics, expected one of them"},
    {HYDRAULICS "search:\n  mass_g: [3000, 1000]\n  location_m: [0, 1]\n  time_s: [0, 1]\n" SENSORS,
     "r.yaml:3: search mass_g is [3000, 1000], expected the lower end first"},
    {HYDRAULICS "search:\n  mass_g: [-1, 1000]\n  location_m: [0, 1]\n  time_s: [0, 1]\n" SENSORS,
     "r.yaml:3: search mass_g is [-1, 1000], expected 0 or more, then a positive number"},
    {HYDRAULICS "search:\n  mass_g: [1, 2]\n  location_m: [0, .inf]\n  time_s: [0, 1]\n" SENSORS,
     "r.yaml:4: search location_m has '.inf', expected a number"},
    {HYDRAULICS "search:\n  mass_g: [1, 2]\n  location_m: 5\n  time_s: [0, 1]\n" SENSORS,
     "r.yaml:4: search location_m is '5', expected [lo, hi]"},
    {HYDRAULICS "search:\n  mass_g: [1, 2]\n  location_m: [0, 1]\n  time_s: [0, 2026-03-01T08:15:00]\n" SENSORS,
     "r.yaml:5: search time_s has '2026-03-01T08:15:00', expected a number or an instant with its offset such as "
     "2026-03-01T08:15:00Z"},
    {HYDRAULICS "search:\n  mass_g: [1, 2]\n  location_m: [0, 1]\n  time_s: [0, 2026-03-01T08:15:00Z]\n" SENSORS,
     "r.yaml:5: search time_s mixes a number and an instant, expected two of one kind"},
    {HYDRAULICS SEARCH "sensors:\n  - {id: a, location_m: 1}\n  - {id: a, location_m: 2}\n",
     "r.yaml:5: sensor id 'a' a second time, expected unique ids"},
    {HYDRAULICS SEARCH "sensors:\n  - {id: a, location_m: 1, location_m: 2}\n",
     "r.yaml:4: key location_m a second time in the sensor, expected it once"},
    {HYDRAULICS SEARCH "sensors:\n  - {location_m: 1}\n", "r.yaml:4: no id in the sensor, expected one"},
    {HYDRAULICS SEARCH "sensors:\n  - {id: a}\n", "r.yaml:4: no location_m in the sensor, expected one"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {location_m: 1}\n", "r.yaml:5: no id in the candidate, expected one"},
    {HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a}\n", "r.yaml:5: no location_m in the candidate, expected one"},
    {HYDRAULICS SEARCH SENSORS "intakes:\n  - {location_m: 1}\n", "r.yaml:5: no id in the intake, expected one"},
    {HYDRAULICS SEARCH SENSORS "intakes:\n  - {id: a}\n", "r.yaml:5: no location_m in the intake, expected one"},
    {HYDRAULICS SEARCH SENSORS "gauges:\n  - {location_m: 1}\n", "r.yaml:5: no id in the gauge, expected one"},
    {HYDRAULICS SEARCH SENSORS "gauges:\n  - {id: a}\n", "r.yaml:5: no location_m in the gauge, expected one"},
    {HYDRAULICS SEARCH SENSORS "branches:\n  - {head_m: 1}\n", "r.yaml:5: no id in the branch, expected one"},
    {HYDRAULICS SEARCH SENSORS "branches:\n  - {id: a}\n", "r.yaml:5: no head_m in the branch, expected one"},
    {HYDRAULICS SEARCH SENSORS "branches:\n  - {id: a, head_m: 1, joins: {at_m: 3}}\n",
     "r.yaml:5: no branch in joins, expected one"},
    {HYDRAULICS SEARCH SENSORS "branches:\n  - {id: a, head_m: 1, joins: {branch: b}}\n",
     "r.yaml:5: no at_m in joins, expected one"},
    {HYDRAULICS SEARCH SENSORS "reaches:\n  - {velocity_m_s: 1}\n", "r.yaml:5: no to_m in the reach, expected one"},
    {HYDRAULICS SENSORS "search: {location_m: [-30000, 0], time_s: [0, 1]}\n",
     "r.yaml:3: no mass_g in search, expected one"},
    {HYDRAULICS SENSORS "search: {mass_g: [1, 2], location_m: [-30000, 0], time_s: {median: 7}}\n",
     "r.yaml:3: no sd_s in search time_s, expected one"},
    {HYDRAULICS SENSORS "search: {mass_g: [1, 2], location_m: [-30000, 0], time_s: {sd_s: 7}}\n",
     "r.yaml:3: no median in search time_s, expected one"},
    {HYDRAULICS SEARCH "sensors:\n  - {id: a, location_m: 1, gain_factor: 0.5}\n",
     "r.yaml:4: gain_factor is '0.5', expected a number of 1 or more"},
    {HYDRAULICS SEARCH SENSORS "candidates: [{id: m, location_m: here}]\n",
     "r.yaml:4: location_m is 'here', expected a number"},
    {HYDRAULICS SEARCH SENSORS "candidates: [{id: m, location_m: 1}, {id: m, location_m: 2}]\n",
     "r.yaml:4: candidate id 'm' a second time, expected unique ids"},
    {HYDRAULICS SEARCH SENSORS "intakes:\n- {id: m, location_m: 1}\n- {id: m, location_m: 2}\n",
     "r.yaml:6: intake id 'm' a second time, expected unique ids"},
    {"hydraulics:\n  velocity_m_s: {median: 1, factor: 1.2, local: 1.3}\n",
     "r.yaml:2: velocity_m_s has local 1.3, expected 1 up to its factor, 1.2"},
    {"hydraulics:\n  velocity_m_s: {median: 1, factor: 1.2, local: 0.9}\n",
     "r.yaml:2: local is '0.9', expected a number of 1 or more"},
    {HYDRAULICS SEARCH SENSORS "reaches: [{to_m: 0, velocity_m_s: unknown}]\n",
     "r.yaml:4: velocity_m_s is 'unknown', expected a positive number"},
    {HYDRAULICS SEARCH SENSORS "reaches:\n  - {to_m: 0}\n  - {to_m: -5}\n",
     "r.yaml:6: the reach ends at -5 m and overlaps the one before it, which ends at 0 m; expected reaches from "
     "upstream "
     "to downstream"},
    {"hydraulics: {velocity_m_s: unknown, dispersion_m2_s: 3, area_m2: 2}\n" SEARCH SENSORS "reaches: [{to_m: 0}]\n",
     "r.yaml:4: no velocity_m_s in the reach and none in hydraulics, expected one of the two"},
    {HYDRAULICS SEARCH SENSORS "---\nname: second\n", "r.yaml:5: a second YAML document, expected one in one file"},
    {"name: a\x01\n",
     "r.yaml:1: bytes that are no text (control characters are not allowed), expected a river in YAML"},
    {"name: a\nb: \xc3\n", "r.yaml:2: bytes that are no text (invalid trailing UTF-8 octet), expected a river in YAML"},
    {"name: b\n\xff\xfe\n", "r.yaml:2: bytes that are no text (invalid leading UTF-8 octet), expected a river in YAML"},
};

static void test_every_fault_has_its_sentence_with_the_line(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    hw_river river = {.sensor_count = 37};
    hw_error error = {""};
    assert_int_equal(hw_river_parse("r.yaml", faults[i].text, strlen(faults[i].text), NULL, NULL, &river, &error),
                     HW_EINPUT);
    assert_string_equal(error.text, faults[i].sentence);
    assert_int_equal(river.sensor_count, 37); /* untouched */
  }
}

/* What lies right on a bound is inside it. */
static void test_values_on_their_bounds_are_taken(void **state) {
  (void)state;
  static const char *const texts[] = {
      HYDRAULICS SEARCH SENSORS "none_of_these: {prior: 0.999999}\n",
      HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, active: [[2, 3], [3, 4]], active_trust: 1}\n",
      HYDRAULICS SEARCH SENSORS "candidates:\n  - {id: a, location_m: 1, extent_m: 0}\n",
      HYDRAULICS "search: {mass_g: [0, 5], location_m: [-30000, -30000], time_s: [7, 7]}\n" SENSORS,
      HYDRAULICS SEARCH
      "sensors:\n  - {id: a, location_m: 1, gain_factor: 1, noise_relative: 0, noise_absolute_g_m3: 0, "
      "detection_limit_g_m3: 0, background_g_m3: 0}\n",
      HYDRAULICS SEARCH SENSORS "reaches:\n  - {to_m: 0, decay_per_s: 0}\n",
      "hydraulics: {velocity_m_s: {median: 1, factor: 1.2, local: 1.2}, dispersion_m2_s: {median: 3, factor: 1}, "
      "area_m2: 2, decay_per_s: 0}\n" SEARCH SENSORS,
      HYDRAULICS SEARCH SENSORS "intakes: [{id: m, location_m: -1e5}]\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    hw_river river;
    hw_error error = {""};
    if (hw_river_parse("r.yaml", texts[i], strlen(texts[i]), NULL, NULL, &river, &error) != HW_OK) {
      fail_msg("%s: %s", texts[i], error.text);
    }
    hw_river_free(&river);
  }
}

static void test_nested_aliases_and_cycles_end_in_a_sentence(void **state) {
  (void)state;
  static const char *const texts[] = {
      "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
      "hydraulics: &h\n  velocity_m_s: *h\n",
      "sensors: &s [*s]\n" HYDRAULICS SEARCH,
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    hw_river river;
    hw_error error = {""};
    assert_int_equal(hw_river_parse("r.yaml", texts[i], strlen(texts[i]), NULL, NULL, &river, &error), HW_EINPUT);
    assert_non_null(strstr(error.text, "expected"));
  }
}

static void test_a_huge_file_is_refused(void **state) {
  (void)state;
  const size_t size = (size_t)17 << 20;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, '\n', size);
  hw_river river;
  hw_error error;
  assert_int_equal(hw_river_parse("r.yaml", text, size, NULL, NULL, &river, &error), HW_EINPUT);
  assert_string_equal(error.text, "r.yaml:1: a file of 17825792 bytes, expected a river of at most 16777216");
  free(text);
}

static void test_a_file_that_is_not_there_is_the_callers_slip(void **state) {
  (void)state;
  hw_river river;
  hw_error error;
  assert_int_equal(hw_river_load("no/such/river.yaml", NULL, NULL, &river, &error), HW_EINPUT);
  assert_string_equal(error.text, "no/such/river.yaml: No such file or directory, expected a river file");
}

static void test_depth_is_refused_at_once(void **state) {
  (void)state;
  enum { DEEP = 200000 }; /* takes the parser minutes */
  char *text = malloc(DEEP);
  assert_non_null(text);
  hw_river river;
  hw_error error;
  memset(text, '[', DEEP);
  text[1] = '\n';
  assert_int_equal(hw_river_parse("r.yaml", text, DEEP, NULL, NULL, &river, &error), HW_EINPUT);
  assert_non_null(strstr(error.text, "r.yaml:2: lists within lists"));
  for (size_t i = 0; i < DEEP; i++) {
    text[i] = i % 2 ? ' ' : '-';
  }
  assert_int_equal(hw_river_parse("r.yaml", text, DEEP, NULL, NULL, &river, &error), HW_EINPUT);
  free(text);
}

static void test_many_anchors_are_refused_at_once(void **state) {
  (void)state;
  enum { MANY = 1000000, EACH = 9 }; /* takes the parser an hour */
  char *text = malloc((size_t)MANY * EACH + 1);
  assert_non_null(text);
  hw_river river;
  hw_error error;
  for (size_t i = 0; i < MANY; i++) {
    snprintf(text + EACH * i, EACH + 1, "- &%05zx\n", i % 0xfffff);
  }
  assert_int_equal(hw_river_parse("r.yaml", text, (size_t)MANY * EACH, NULL, NULL, &river, &error), HW_EINPUT);
  assert_string_equal(error.text, "r.yaml:1001: more than 1000 anchors, expected fewer");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_value_lands_in_its_place),
      cmocka_unit_test(test_depth_is_refused_at_once),
      cmocka_unit_test(test_many_anchors_are_refused_at_once),
      cmocka_unit_test(test_reaches_inherit_what_they_do_not_say),
      cmocka_unit_test(test_doubt_has_a_common_and_a_local_part),
      cmocka_unit_test(test_instants_make_the_search_box_a_calendar_one),
      cmocka_unit_test(test_a_box_without_a_time_counts_from_the_first_reading),
      cmocka_unit_test(test_candidates_carry_their_prior_and_their_log),
      cmocka_unit_test(test_release_time_may_be_a_distribution),
      cmocka_unit_test(test_odd_but_usable_rivers_warn),
      cmocka_unit_test(test_every_fault_has_its_sentence_with_the_line),
      cmocka_unit_test(test_values_on_their_bounds_are_taken),
      cmocka_unit_test(test_nested_aliases_and_cycles_end_in_a_sentence),
      cmocka_unit_test(test_a_huge_file_is_refused),
      cmocka_unit_test(test_a_file_that_is_not_there_is_the_callers_slip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

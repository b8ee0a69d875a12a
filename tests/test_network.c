/* Rivers with branches: discharges by continuity, transport along the way down, courses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "check.h"
#include "parse_river.h"
#include "river/course.h"

/* A stem, a tributary of it, and a brook into the tributary. */
#define HYDRAULICS                                                                  \
  "hydraulics: {velocity_m_s: {median: 0.7, factor: 1.15}, dispersion_m2_s: 41.3, " \
  "decay_per_s: 1.3e-6}\n"
#define BRANCHES                                                                                    \
  "branches:\n"                                                                                     \
  "  - id: brook\n    head_m: -7300\n    joins: {branch: ash, at_m: -4100}\n"                       \
  "    reaches: [{to_m: 0, velocity_m_s: 0.37, dispersion_m2_s: 9.1, discharge_m3_s: 0.71}]\n"      \
  "  - id: stem\n    head_m: -61350\n    reaches:\n"                                                \
  "      - {to_m: -50000, velocity_m_s: 0.61, discharge_m3_s: 5.1}\n"                               \
  "      - {to_m: -12000, velocity_m_s: 0.83, dispersion_m2_s: 63, decay_per_s: 4e-6}\n"            \
  "      - {to_m: 0, velocity_m_s: {median: 0.72, factor: 1.3, local: 1.2}}\n"                      \
  "  - id: ash\n    name: Ash water\n    head_m: -21000\n    joins: {branch: stem, at_m: -31000}\n" \
  "    reaches: [{to_m: -9000, velocity_m_s: 0.52, discharge_m3_s: 2.3}]\n"
#define SEARCH "search: {mass_g: [10, 100000], time_s: [-43200, 166500]}\n"
#define SENSORS                                                              \
  "sensors:\n"                                                               \
  "  - {id: low, location_m: -900, noise_relative: 0.05}\n"                  \
  "  - {id: a, branch: ash, location_m: -1700, noise_relative: 0.05}\n"      \
  "  - {id: high, branch: stem, location_m: -40000, noise_relative: 0.05}\n" \
  "  - {id: b, branch: brook, location_m: -130, noise_relative: 0.05}\n"

enum { BROOK, STEM, ASH };

static void test_missing_discharges_follow_from_continuity(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  assert_string_equal(warnings, "");
  const hw_branch *stem = &river.branches[STEM], *ash = &river.branches[ASH];
  /* The confluence at -31000 cuts the second reach of the stem, the one at -4100 the ash, whose only reach goes on to
   * its mouth. */
  assert_int_equal(stem->reach_count, 4);
  assert_true(stem->reaches[1].to_m == -31000 && stem->reaches[2].to_m == -12000);
  assert_true(stem->reaches[1].velocity_m_s == 0.83 && stem->reaches[2].velocity_m_s == 0.83);
  assert_int_equal(ash->reach_count, 2);
  assert_true(ash->reaches[0].to_m == -4100 && ash->reaches[1].to_m == 0 && ash->reaches[1].velocity_m_s == 0.52);
  const double tolerance = 1e-14; /* sums of two numbers below ten */
  /* What a reach gives holds below the confluence within it, so above it is what the brook leaves. */
  assert_true(fabs(ash->reaches[0].discharge_m3_s - (2.3 - 0.71)) < tolerance);
  assert_true(ash->reaches[1].discharge_m3_s == 2.3);
  assert_true(stem->reaches[1].discharge_m3_s == 5.1);
  assert_true(fabs(stem->reaches[2].discharge_m3_s - (5.1 + 2.3)) < tolerance);
  assert_true(fabs(stem->reaches[3].discharge_m3_s - (5.1 + 2.3)) < tolerance);
  assert_int_equal(ash->joins, STEM);
  assert_int_equal(hw_river_outlet(&river), STEM);
  assert_int_equal(river.sensors[0].branch, STEM); /* left out: the branch that joins nothing */
  assert_int_equal(river.sensors[1].branch, ASH);
  /* Every branch is searched whole. */
  assert_true(stem->search_lo_m == -61350 && stem->search_hi_m == 0);
  assert_true(river.branches[BROOK].search_lo_m == -7300 && river.branches[BROOK].search_hi_m == 0);
  hw_river_free(&river);
}

/* Only the mouth is gauged, and every tributary: what each confluence adds is taken off again, all the way up. */
static void test_discharges_follow_up_a_long_stem(void **state) {
  (void)state;
  enum { TRIBUTARIES = 7 };
  char text[4000];
  int size = snprintf(text, sizeof text,
                      HYDRAULICS SEARCH
                      "sensors: [{id: low, location_m: -900, noise_relative: 0.05}]\n"
                      "branches:\n  - {id: stem, head_m: -90000, reaches: [{to_m: 0, "
                      "velocity_m_s: 0.7, discharge_m3_s: 14.2}]}\n");
  for (int i = 0; i < TRIBUTARIES; i++) {
    size += snprintf(text + size, sizeof text - (size_t)size,
                     "  - {id: t%d, head_m: -5000, joins: {branch: stem, at_m: %d}, reaches: [{to_m: 0, velocity_m_s: "
                     "0.4, discharge_m3_s: %g}]}\n",
                     i, -80000 + 10000 * i, 0.37 + 0.1 * i);
  }
  hw_river river = parse("r.yaml", text);
  assert_string_equal(warnings, ""); /* nothing had to be assumed */
  const hw_branch *stem = &river.branches[0];
  assert_int_equal(stem->reach_count, TRIBUTARIES + 1);
  double below = 14.2;
  for (int i = TRIBUTARIES; i >= 0; i--) {
    assert_true(fabs(stem->reaches[i].discharge_m3_s - below) < 1e-13); /* seven differences of numbers below 15 */
    below -= i > 0 ? 0.37 + 0.1 * (i - 1) : 0;
  }
  hw_river_free(&river);
}

static void test_discharges_that_contradict_name_their_confluence(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS SEARCH SENSORS
                         "branches:\n"
                         "  - {id: stem, head_m: -61350, reaches: [{to_m: -31000, discharge_m3_s: 5.1}, {to_m: 0, "
                         "discharge_m3_s: 9.9}]}\n"
                         "  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}, reaches: [{to_m: 0, "
                         "discharge_m3_s: 2.3}]}\n"
                         "  - {id: brook, head_m: -7300, joins: {branch: ash, at_m: -4100}, reaches: [{to_m: 0, "
                         "discharge_m3_s: 0.7}]}\n");
  assert_string_equal(warnings,
                      "r.yaml:10: at the confluence of ash with stem (-31000 m) 7.4 m3/s come together and 9.9 "
                      "go on, expected the same within 20 %\n");
  assert_true(river.branches[0].reaches[1].discharge_m3_s == 9.9);
  hw_river_free(&river);
}

/* Of the larger of the two, whichever it is. */
static void test_a_fifth_of_contradiction_is_tolerated(void **state) {
  (void)state;
  static const struct {
    double above, below;
    bool told;
  } cases[] = {{30, 37.4, false}, {30, 37.6, true}, {37.4, 30, false}, {37.6, 30, true}};
  for (size_t i = 0; i < 4; i++) {
    char text[900];
    snprintf(text, sizeof text,
             HYDRAULICS SEARCH SENSORS
             "branches:\n"
             "  - {id: stem, head_m: -61350, reaches: [{to_m: -31000, discharge_m3_s: %g}, {to_m: 0, "
             "discharge_m3_s: %g}]}\n"
             "  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}, reaches: [{to_m: 0, discharge_m3_s: "
             "2}]}\n"
             "  - {id: brook, head_m: -7300, joins: {branch: ash, at_m: -4100}}\n",
             cases[i].above - 2, cases[i].below);
    hw_river river = parse("r.yaml", text);
    assert_true((strstr(warnings, "come together") != NULL) == cases[i].told);
    hw_river_free(&river);
  }
}

static void test_a_tributary_without_discharge_is_the_difference_or_a_share(void **state) {
  (void)state;
  /* As in the manual: the stem grows from 5.1 to 8.0, and the ash joins within the second reach. */
  hw_river river =
      parse("r.yaml",
            "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}\n" SEARCH
            "sensors: [{id: s1, branch: ash, location_m: -900, noise_relative: 0.05}]\n"
            "branches:\n  - id: stem\n    head_m: -61350\n    reaches:\n"
            "      - {to_m: -50000, velocity_m_s: 0.61, discharge_m3_s: 5.1}\n      - {to_m: 0, discharge_m3_s: 8.0}\n"
            "  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}}\n");
  assert_string_equal(warnings, "");
  assert_true(fabs(river.branches[1].reaches[0].discharge_m3_s - 2.9) < 1e-14);
  hw_river_free(&river);
  river = parse("r.yaml", "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}\n" SEARCH
                          "sensors: [{id: s1, branch: ash, location_m: -900, noise_relative: 0.05}]\n"
                          "branches:\n  - {id: stem, head_m: -61350, reaches: [{to_m: 0, discharge_m3_s: 8.0}]}\n"
                          "  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}}\n");
  assert_non_null(strstr(warnings, "no discharge for what meets where ash joins stem at -31000 m"));
  assert_true(river.branches[0].reaches[0].discharge_m3_s == 4 && river.branches[1].reaches[0].discharge_m3_s == 4);
  hw_river_free(&river);
}

static void test_two_brooks_may_make_a_river(void **state) {
  (void)state;
  hw_river river =
      parse("r.yaml", "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, area_m2: 3, decay_per_s: 0}\n" SEARCH
                      "sensors: [{id: s1, location_m: 900, noise_relative: 0.05}]\n"
                      "branches:\n  - {id: stem, head_m: 0}\n"
                      "  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: 0}}\n"
                      "  - {id: birch, head_m: -11000, joins: {branch: stem, at_m: 0}}\n");
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  const hw_leg leg = hw_transport_leg_between(transport, 1, -100, 0, 900);
  assert_true(fabs(leg.discharge_m3_s - 2 * 0.7 * 3) < 1e-14);
  assert_true(fabs(leg.travel_s - 1000 / 0.7) < 1e-9);
  hw_transport_free(transport);
  hw_river_free(&river);
}

/* Theta, V and K by hand. */
static void test_travel_time_variance_and_decay_add_up_along_the_way(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  const double from_m = -3370.5, to_m = -900;
  const struct {
    double length_m, v, d, k;
  } way[] = {
      {3370.5, 0.37, 9.1, 1.3e-6}, {4100, 0.52, 41.3, 1.3e-6}, {19000, 0.83, 63, 4e-6}, {11100, 0.72, 41.3, 1.3e-6}};
  double theta = 0, variance = 0, decay = 0;
  for (size_t i = 0; i < 4; i++) {
    theta += way[i].length_m / way[i].v;
    variance += 2 * way[i].d * way[i].length_m / pow(way[i].v, 3);
    decay += way[i].k * way[i].length_m / way[i].v;
  }
  const hw_leg leg = hw_transport_leg_between(transport, BROOK, from_m, STEM, to_m);
  const double tolerance = 1e-12; /* differences of running integrals some 1e5 long, in a few roundings */
  assert_true(fabs(leg.travel_s / theta - 1) < tolerance);
  assert_true(fabs(leg.sharpness_per_s / (theta / variance) - 1) < tolerance);
  assert_true(fabs(leg.decay_per_s / (decay / theta) - 1) < tolerance);
  assert_true(fabs(leg.discharge_m3_s - 7.4) < 1e-14);
  assert_true(leg.travel_dl == -1 / 0.37);
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_nothing_at_all_where_the_water_does_not_pass(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  const struct {
    size_t from;
    double from_m;
    size_t to;
    double to_m;
    bool passes;
  } cases[] = {{ASH, -5000, ASH, -1700, true},    {ASH, -1000, ASH, -1700, false},   {ASH, -5000, STEM, -30999.9, true},
               {ASH, -5000, STEM, -31000, false}, {ASH, -5000, STEM, -40000, false}, {STEM, -50000, ASH, -1, false},
               {BROOK, -1, ASH, -4099.9, true},   {BROOK, -1, ASH, -4100.1, false},  {BROOK, -1, STEM, 90000, true},
               {ASH, -20000, BROOK, -1, false},   {9, -20000, BROOK, -1, false},     {STEM, -2, 9, -1, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const hw_leg leg = hw_transport_leg_between(transport, cases[i].from, cases[i].from_m, cases[i].to, cases[i].to_m);
    assert_true((leg.travel_s > 0) == cases[i].passes);
    if (!cases[i].passes) {
      assert_true(hw_leg_response(&leg, 1e5) == 0);
    }
  }
  hw_transport_free(transport);
  hw_river_free(&river);
}

/* What passes a place is what was released, before and after every confluence. */
static void test_mass_is_kept_over_confluences(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  river.hydraulics.decay_per_s = 0;
  for (size_t b = 0; b < river.branch_count; b++) {
    for (size_t i = 0; i < river.branches[b].reach_count; i++) {
      river.branches[b].reaches[i].decay_per_s = 0;
    }
  }
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  const struct {
    size_t branch;
    double m;
  } places[] = {{BROOK, -130}, {ASH, -1700}, {STEM, -30000}, {STEM, 12345}};
  for (size_t i = 0; i < 4; i++) {
    const hw_leg leg = hw_transport_leg_between(transport, BROOK, -6000, places[i].branch, places[i].m);
    const double step_s = leg.travel_s / 4000;
    double mass = 0;
    for (double t = 0.5 * step_s; t < 5 * leg.travel_s; t += step_s) {
      mass += hw_leg_response(&leg, t) * leg.discharge_m3_s * step_s;
    }
    /* Past the place after 5 travel times is all but exp(-1.6 a theta); the midpoint rule is exact to far below that.
     */
    assert_true(fabs(mass - 1) < 1e-6);
  }
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_a_course_is_the_way_down_as_one_line(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  hw__course *course = NULL;
  assert_int_equal(hw__course_create(&river, BROOK, &course), HW_OK);
  /* The brook, the ash below it, the stem in two reaches below that. */
  assert_int_equal(course->count, 4);
  assert_true(course->pieces[0].from_m == -7300 && course->pieces[0].to_m == 0);
  assert_true(course->pieces[1].to_m == 4100 && course->pieces[2].to_m == 4100 + 19000);
  assert_true(isinf(course->pieces[3].to_m));
  assert_true(fabs(course->pieces[2].velocity.local - 0.6 * log(1.15)) < 1e-15);
  assert_true(fabs(course->pieces[3].velocity.local - log(1.2)) < 1e-15);
  assert_true(course->pieces[2].dispersion.local == 0);
  double x_m = 0, back_m = 0;
  assert_true(hw__course_place(course, STEM, -900, &x_m));
  assert_true(fabs(x_m - (4100 + 30100)) < 1e-9);
  assert_int_equal(hw__course_branch(course, x_m, &back_m), STEM);
  assert_true(fabs(back_m + 900) < 1e-9);
  assert_true(hw__course_place(course, ASH, -1700, &x_m) && fabs(x_m - 2400) < 1e-9);
  assert_false(hw__course_place(course, STEM, -40000, &x_m));
  assert_false(hw__course_place(course, ASH, -4100, &x_m));
  assert_true(hw__course_place(course, BROOK, -7300, &x_m) && x_m == -7300);
  /* As a river of its own it carries like the network. */
  hw_river line;
  size_t sensors[4] = {0};
  assert_int_equal(hw__course_river(course, &river, -7300, 0, &line, sensors), HW_OK);
  assert_int_equal(hw_river_check(&line, NULL), HW_OK);
  assert_int_equal(line.sensor_count, 3);
  assert_true(sensors[0] == 0 && sensors[1] == 1 && sensors[2] == 3);
  hw_transport *whole = NULL, *alone = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &whole), HW_OK);
  assert_int_equal(hw_transport_create(&line, NULL, &alone), HW_OK);
  for (size_t i = 0; i < 3; i++) {
    const hw_sensor *s = &river.sensors[sensors[i]];
    const hw_leg a = hw_transport_leg_between(whole, BROOK, -5000, s->branch, s->location_m);
    const hw_leg b = hw_transport_leg(alone, -5000, line.sensors[i].location_m);
    assert_true(fabs(a.travel_s / b.travel_s - 1) < 1e-12 && fabs(a.sharpness_per_s / b.sharpness_per_s - 1) < 1e-12);
    assert_true(fabs(a.decay_per_s / b.decay_per_s - 1) < 1e-12 &&
                fabs(a.discharge_m3_s / b.discharge_m3_s - 1) < 1e-15);
  }
  hw_transport_free(whole);
  hw_transport_free(alone);
  hw_river_free(&line);
  hw__course_free(course);
  hw_river_free(&river);
}

#define PLAIN_REACHES                                        \
  "      - {to_m: -20000, velocity_m_s: 1.5, area_m2: 47}\n" \
  "      - {to_m: -3000, dispersion_m2_s: 30, discharge_m3_s: 61.7}\n"

/* Field by field: what lies between the fields is nobody's. */
static void check_same_quantity(const hw_quantity *a, const hw_quantity *b) {
  assert_true(a->certainty == b->certainty && a->value == b->value && a->factor == b->factor && a->local == b->local);
}

/* The same river, with and without the word branches: the same bits. */
/* Where a discharge is given it stays as the velocity changes; where an area is, it follows. */
static void test_a_piece_of_a_course_knows_whether_its_discharge_follows(void **state) {
  (void)state;
  hw_river river = parse("r.yaml",
                         "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 41.3, area_m2: 14.2}\n"
                         "search: {mass_g: [10, 100000], location_m: [-20000, -1000], time_s: [-43200, 0]}\n"
                         "sensors: [{id: low, location_m: -900, noise_relative: 0.05}]\n"
                         "reaches: [{to_m: -9000, discharge_m3_s: 5.1}, {to_m: 0, area_m2: 7.3}]\n");
  hw__course *course = NULL;
  assert_int_equal(hw__course_create(&river, 0, &course), HW_OK);
  assert_int_equal(course->count, 3);
  const double discharge[] = {5.1, 7.3 * 0.7, 14.2 * 0.7};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(course->pieces[i].discharge_follows, i > 0);
    assert_true(fabs(course->pieces[i].discharge_m3_s - discharge[i]) < 1e-12);
  }
  hw__course_free(course);
  hw_river_free(&river);
}

static void test_one_branch_is_the_river_itself(void **state) {
  (void)state;
#define COMMON                                                                                               \
  "hydraulics: {velocity_m_s: {median: 1.3, factor: 1.2}, dispersion_m2_s: 40.5, area_m2: 60, decay_per_s: " \
  "1e-6}\n" SENSORS_ONE
#define SENSORS_ONE \
  "sensors: [{id: s1, location_m: -14210.5, noise_relative: 0.05}, {id: s2, location_m: 7.3, noise_relative: 0.05}]\n"
  hw_river plain = parse("r.yaml", COMMON
                         "search: {mass_g: [1, 2], location_m: [-30000, -15000], time_s: [0, 5]}\n"
                         "reaches:\n" PLAIN_REACHES);
  hw_river branch = parse("r.yaml", COMMON
                          "search: {mass_g: [1, 2], locations: {only: [-30000, -15000]}, time_s: [0, 5]}\n"
                          "branches:\n  - id: only\n    head_m: -40000\n    reaches:\n" PLAIN_REACHES
                          "      - {to_m: 0, velocity_m_s: 1.3, dispersion_m2_s: 40.5, area_m2: 60}\n");
  hw__course *course = NULL;
  hw_river line;
  size_t sensors[2];
  assert_int_equal(hw__course_create(&branch, 0, &course), HW_OK);
  assert_int_equal(hw__course_river(course, &branch, -30000, -15000, &line, sensors), HW_OK);
  check_same_quantity(&line.hydraulics.velocity_m_s, &plain.hydraulics.velocity_m_s);
  check_same_quantity(&line.hydraulics.dispersion_m2_s, &plain.hydraulics.dispersion_m2_s);
  assert_true(line.hydraulics.area_m2 == plain.hydraulics.area_m2 &&
              line.hydraulics.discharge_m3_s == plain.hydraulics.discharge_m3_s &&
              line.hydraulics.decay_per_s == plain.hydraulics.decay_per_s);
  assert_int_equal(line.reach_count, plain.reach_count);
  assert_memory_equal(line.reaches, plain.reaches, plain.reach_count * sizeof *plain.reaches);
  assert_memory_equal(&line.search, &plain.search, sizeof line.search);
  hw_transport *a = NULL, *b = NULL;
  assert_int_equal(hw_transport_create(&plain, NULL, &a), HW_OK);
  assert_int_equal(hw_transport_create(&branch, NULL, &b), HW_OK);
  for (double from_m = -29999; from_m < 20000; from_m += 7321.7) {
    for (double to_m = -28111; to_m < 30000; to_m += 3777.3) {
      const hw_leg one = hw_transport_leg(a, from_m, to_m), other = hw_transport_leg_between(b, 0, from_m, 0, to_m);
      assert_memory_equal(&one, &other, sizeof one);
    }
  }
  hw_transport_free(a);
  hw_transport_free(b);
  hw__course_free(course);
  hw_river_free(&line);
  hw_river_free(&plain);
  hw_river_free(&branch);
}

/* What the reaches leave out comes from the hydraulics there as here: nothing joins that could have changed it. */
static void test_a_lone_branch_inherits_what_its_reaches_leave_out(void **state) {
  (void)state;
  static const char *const sections[] = {"area_m2: 60", "discharge_m3_s: 14.2"};
  static const char *const lists[] = {
      "      - {to_m: -20000, velocity_m_s: 1.5}\n      - {to_m: 0, dispersion_m2_s: 30, area_m2: 50.3}\n",
      "      - {to_m: -20000, discharge_m3_s: 13.7}\n      - {to_m: 0, velocity_m_s: 0.83}\n",
      "      - {to_m: -20000, velocity_m_s: 0.83}\n      - {to_m: 0, discharge_m3_s: 13.7}\n",
  };
  for (size_t s = 0; s < 2; s++) {
    for (size_t k = 0; k < 3; k++) {
      char text[1000];
      const char *const common =
          "hydraulics: {velocity_m_s: 1.3, dispersion_m2_s: 40.5, decay_per_s: 0, %s}\n"
          "sensors: [{id: s1, location_m: -14210.5, noise_relative: 0.05}]\n%s%s";
      snprintf(text, sizeof text, common, sections[s],
               "search: {mass_g: [1, 2], location_m: [-30000, -15000], time_s: [0, 5]}\nreaches:\n", lists[k]);
      hw_river plain = parse("r.yaml", text);
      snprintf(text, sizeof text, common, sections[s],
               "search: {mass_g: [1, 2], time_s: [0, 5]}\n"
               "branches:\n  - id: only\n    head_m: -40000\n    reaches:\n",
               lists[k]);
      hw_river branch = parse("r.yaml", text);
      assert_int_equal(branch.branches[0].reach_count, plain.reach_count);
      for (size_t i = 0; i < plain.reach_count; i++) {
        const hw_reach *a = &plain.reaches[i], *b = &branch.branches[0].reaches[i];
        assert_true(a->area_m2 == b->area_m2 && a->discharge_m3_s == b->discharge_m3_s);
      }
      hw_river_free(&plain);
      hw_river_free(&branch);
    }
  }
}

/* Its processor is no measure of this one. */
static bool is_under_valgrind(void) {
  const char *preloaded = getenv("LD_PRELOAD");
  return preloaded && strstr(preloaded, "vgpreload");
}

/* 500 branches and 1,000 sensors: each branch joins an earlier one. */
static void test_a_large_network_loads_in_under_a_second(void **state) {
  (void)state;
  enum { BRANCHES_THERE = 500, SENSORS_THERE = 1000 };
  char *text = malloc(1 << 20);
  assert_non_null(text);
  size_t n =
      (size_t)sprintf(text, "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, area_m2: 3, decay_per_s: 0}\n" SEARCH
                            "branches:\n  - {id: b0, head_m: -90000, reaches: [{to_m: 0}]}\n");
  for (int i = 1; i < BRANCHES_THERE; i++) {
    n += (size_t)sprintf(text + n,
                         "  - {id: b%d, head_m: -9000, joins: {branch: b%d, at_m: %d}, reaches: [{to_m: 0}]}\n", i,
                         i / 3, -200 - 17 * i);
  }
  n += (size_t)sprintf(text + n, "sensors:\n");
  for (int i = 0; i < SENSORS_THERE; i++) {
    n += (size_t)sprintf(text + n, "  - {id: s%d, branch: b%d, location_m: %d, noise_relative: 0.05}\n", i,
                         i % BRANCHES_THERE, -100 - i);
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  hw_river river = parse("r.yaml", text);
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  print_message("%d branches and %d sensors: %.3f s\n", BRANCHES_THERE, SENSORS_THERE, seconds);
  assert_true(seconds < 1 || is_under_valgrind());
  const hw_leg leg = hw_transport_leg_between(transport, 499, -8999, 0, -1);
  assert_true(leg.travel_s > 0 && fabs(leg.discharge_m3_s - 500 * 0.7 * 3) < 1e-9);
  hw_transport_free(transport);
  hw_river_free(&river);
  free(text);
}

static void test_a_course_begins_on_a_branch_that_there_is(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  hw__course *course = NULL;
  for (size_t branch = 0; branch < 3; branch++) {
    assert_int_equal(hw__course_create(&river, branch, &course), HW_OK);
    assert_int_equal(course->branch, branch);
    hw__course_free(course);
  }
  assert_int_equal(hw__course_create(&river, 3, &course), HW_EDOMAIN);
  assert_null(course);
  /* At the mouth of the brook its own metre 0, just below it the ash. */
  double x_m = 0, back_m = 0;
  assert_int_equal(hw__course_create(&river, BROOK, &course), HW_OK);
  assert_true(hw__course_place(course, BROOK, 0, &x_m) && x_m == 0);
  assert_int_equal(hw__course_branch(course, 0, &back_m), BROOK);
  assert_int_equal(hw__course_branch(course, 0.37, &back_m), ASH);
  check_near(back_m, -4100 + 0.37, 1e-9);
  assert_false(hw__course_place(course, BROOK, -7300.5, &x_m));
  assert_false(hw__course_place(course, BROOK, 0.5, &x_m));
  hw__course_free(course);
  hw_river_free(&river);
  river = parse("r.yaml",
                "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 41.3, area_m2: 7}\n"
                "search: {mass_g: [10, 100], location_m: [-900, 0], time_s: [0, 1]}\n"
                "sensors: [{id: s1, location_m: 37}]\n");
  assert_int_equal(hw__course_create(&river, 0, &course), HW_OK);
  hw__course_free(course);
  assert_int_equal(hw__course_create(&river, 1, &course), HW_EDOMAIN);
  hw_river_free(&river);
}

/* A sensor sees what is released upstream of it, not what is released beside it. */
static void test_a_sensor_at_the_head_of_the_search_is_told_to_see_nothing(void **state) {
  (void)state;
  static const struct {
    const char *place;
    bool sees;
  } cases[] = {{"location_m: -61350", false},
               {"location_m: -61349", true},
               {"branch: brook, location_m: -7300", false},
               {"branch: ash, location_m: -21000", false},
               {"branch: ash, location_m: -20999", true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[3000];
    snprintf(text, sizeof text,
             HYDRAULICS BRANCHES SEARCH
             "sensors: [{id: s1, location_m: -1, noise_relative: 0.1}, {id: odd, noise_relative: "
             "0.1, %s}]\n",
             cases[i].place);
    hw_river river = parse("r.yaml", text);
    assert_int_equal(!strstr(warnings, "sensor odd"), cases[i].sees);
    hw_river_free(&river);
  }
}

/* A branch without reaches has the hydraulics' numbers; where one of them is unknown it keeps none of its own, whatever
 * joins it. */
static void test_a_branch_without_reaches_is_cut_only_where_its_numbers_are_known(void **state) {
  (void)state;
  static const struct {
    const char *hydraulics;
    size_t reaches;
  } cases[] = {{"velocity_m_s: 0.7, dispersion_m2_s: 30", 2},
               {"velocity_m_s: 0.7, dispersion_m2_s: unknown", 0},
               {"velocity_m_s: unknown, dispersion_m2_s: 30", 0},
               {"velocity_m_s: unknown, dispersion_m2_s: unknown", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1000];
    hw_river river;
    hw_error error = {""};
    snprintf(text, sizeof text,
             "hydraulics: {%s, discharge_m3_s: 7}\nbranches:\n  - {id: stem, head_m: -900}\n"
             "  - {id: brook, head_m: -90, joins: {branch: stem, at_m: -370}, reaches: [{to_m: 0, velocity_m_s: 0.5, "
             "dispersion_m2_s: 9, discharge_m3_s: 2}]}\n" SEARCH "sensors: [{id: s1, branch: stem, location_m: -1}]\n",
             cases[i].hydraulics);
    const bool named =
        strstr(cases[i].hydraulics, "dispersion_m2_s: unknown") != NULL; /* the field model has no branches */
    assert_int_equal(hw_river_parse("r", text, strlen(text), NULL, NULL, &river, &error), named ? HW_EINPUT : HW_OK);
    if (!named) {
      assert_int_equal(river.branches[0].reach_count, cases[i].reaches);
      hw_river_free(&river);
    }
  }
}

/* Random trees with a discharge wherever water begins, and some of those below left out: whatever meets goes on. */
static void test_in_any_tree_what_comes_together_goes_on(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 0);
  for (int round = 0; round < 40; round++) {
    enum { BRANCHES_MOST = 9 };
    const int count = 2 + round % (BRANCHES_MOST - 1);
    int joins[BRANCHES_MOST] = {0};
    double at_m[BRANCHES_MOST] = {0}, own[BRANCHES_MOST], whole[BRANCHES_MOST];
    char text[8000];
    int size = snprintf(text, sizeof text,
                        HYDRAULICS SEARCH
                        "sensors: [{id: low, branch: b0, location_m: -1, noise_relative: 0.05}]\nbranches:\n");
    for (int i = count - 1; i >= 0; i--) {
      joins[i] = i ? (int)(hw_rng_uniform(&rng) * i) : -1;
      at_m[i] = -1000.0 * (1 + (int)(hw_rng_uniform(&rng) * 8)); /* two may meet at one place, or where a reach ends */
      own[i] = whole[i] = 0.5 + hw_rng_uniform(&rng);
    }
    for (int i = count - 1; i > 0; i--) {
      whole[joins[i]] += whole[i];
    }
    for (int i = 0; i < count; i++) {
      size += snprintf(text + size, sizeof text - (size_t)size, "  - {id: b%d, head_m: -10000, ", i);
      if (i) {
        size +=
            snprintf(text + size, sizeof text - (size_t)size, "joins: {branch: b%d, at_m: %g}, ", joins[i], at_m[i]);
      }
      /* At the head, or at the mouth: the rest follows. */
      const bool mouth = round % 2 && i % 2;
      size += snprintf(text + size, sizeof text - (size_t)size,
                       "reaches: [{to_m: -9500, velocity_m_s: 0.5%s%.9g}, {to_m: -5000, velocity_m_s: 0.6}, {to_m: 0, "
                       "velocity_m_s: 0.7%s%.9g}]}\n",
                       mouth ? ", decay_per_s: " : ", discharge_m3_s: ", mouth ? 1e-6 : own[i],
                       mouth ? ", discharge_m3_s: " : ", decay_per_s: ", mouth ? whole[i] : 1e-6);
    }
    hw_river river = parse("r.yaml", text);
    if (warnings[0]) {
      fail_msg("%s in %s", warnings, text);
    }
    for (int i = 0; i < count; i++) {
      const hw_branch *b = &river.branches[i];
      for (size_t r = 0; r < b->reach_count; r++) {
        double expected = own[i];
        const double from_m = r ? b->reaches[r - 1].to_m : b->head_m;
        for (int k = 1; k < count; k++) {
          expected += joins[k] == i && at_m[k] <= from_m ? whole[k] : 0;
        }
        check_near(b->reaches[r].discharge_m3_s, expected,
                   1e-7); /* nine digits in the file, sums and differences of nine */
        const double to_m = b->reaches[r].to_m;
        assert_true(b->reaches[r].velocity_m_s == (to_m <= -9500 ? 0.5 : to_m <= -5000 ? 0.6 : 0.7));
        assert_true(to_m > from_m);
      }
      assert_true(b->reaches[b->reach_count - 1].to_m == 0);
    }
    hw_river_free(&river);
  }
}

/* Errors are shares of the way to the first sensor that the water reaches, whatever the order of the list; where there
 * is none, or the branch is not there, they are no numbers. */
static void test_errors_are_shares_of_the_way_to_the_first_sensor_below(void **state) {
  (void)state;
  hw_river river = parse("r.yaml", HYDRAULICS BRANCHES SEARCH SENSORS);
  static const struct {
    size_t branch;
    double location_m, way_m;
  } cases[] = {{BROOK, -7300, 7170},      {BROOK, -130, 130 + 2400}, /* at a sensor the next one below counts */
               {BROOK, -129, 129 + 2400}, {ASH, -1700, 1700 + 30100}, {ASH, -9000, 7300}, {STEM, -40000, 39100},
               {STEM, -40001, 1},         {STEM, -900, NAN},          {STEM, -899, NAN},  {3, -9000, NAN}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const hw_source truth = {
        .mass_g = 1000, .location_m = cases[i].location_m, .time_s = 370, .branch = cases[i].branch};
    const hw_source found = {
        .mass_g = 870, .location_m = cases[i].location_m + 37, .time_s = 70, .branch = cases[i].branch};
    const hw_source error = hw_relative_error(&river, &found, &truth);
    check_near(error.mass_g, 0.13, 1e-12);
    if (isnan(cases[i].way_m)) {
      assert_true(isnan(error.location_m) && isnan(error.time_s));
      continue;
    }
    check_near(error.location_m, 37 / cases[i].way_m, 1e-12);
    assert_true(error.time_s > 0 && isfinite(error.time_s));
    /* On another branch a distance means nothing. */
    hw_source elsewhere = found;
    elsewhere.branch = (found.branch + 1) % 3;
    assert_true(isnan(hw_relative_error(&river, &elsewhere, &truth).location_m));
  }
  hw_river_free(&river);
}

/* A branch that joins nothing and has no reaches has no end either: it is searched down to the last of its sensors. */
static void test_an_open_branch_is_searched_down_to_its_last_sensor(void **state) {
  (void)state;
#define OPEN                                                                                     \
  "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 41.3, discharge_m3_s: 7}\n"                  \
  "branches:\n  - {id: stem, head_m: -9000}\n"                                                   \
  "  - {id: brook, head_m: -800, joins: {branch: stem, at_m: -3700}, reaches: [{to_m: 0, "       \
  "discharge_m3_s: 1}]}\n"                                                                       \
  "sensors: [{id: s1, branch: stem, location_m: -900}, {id: s2, branch: brook, location_m: -3}," \
  " {id: s3, branch: stem, location_m: -142}, {id: s4, branch: stem, location_m: -500}]\n"
  hw_river river =
      parse("r.yaml",
            "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 41.3, discharge_m3_s: 7}\n"
            "branches: [{id: stem, head_m: -9000}]\nsearch: {mass_g: [10, 100], time_s: [0, 1]}\n"
            "sensors: [{id: s1, location_m: -900}, {id: s2, location_m: -142}, {id: s3, location_m: -500}]\n");
  assert_true(river.branches[0].search_lo_m == -9000 && river.branches[0].search_hi_m == -142);
  assert_true(river.search.lo.location_m == -9000 && river.search.hi.location_m == -142);
  hw_river_free(&river);
  river = parse("r.yaml", OPEN "search: {mass_g: [10, 100], time_s: [0, 1]}\n");
  assert_true(river.branches[0].search_lo_m == -9000 && river.branches[0].search_hi_m == 0); /* cut by the brook */
  assert_true(river.branches[1].search_lo_m == -800 && river.branches[1].search_hi_m == 0);
  hw_river_free(&river);
  river = parse("r.yaml", OPEN "search: {mass_g: [10, 100], time_s: [0, 1], locations: {brook: [-800, -14.2]}}\n");
  assert_true(river.branches[0].search_lo_m > river.branches[0].search_hi_m); /* not searched */
  assert_true(river.branches[1].search_lo_m == -800 && river.branches[1].search_hi_m == -14.2);
  assert_true(river.search.lo.location_m == -800 && river.search.hi.location_m == -14.2);
  hw_river_free(&river);
  static const struct {
    const char *search, *sentence;
  } cases[] = {{"locations: {}", "search locations names no branch, expected at least one"},
               {"locations: {brook: [-801, -3]}", "search from at -801 m lies above the head of branch brook"},
               {"locations: {brook: [-80, 0.5]}", "search to at 0.5 m lies below the mouth of branch brook"},
               {"locations: {brook: [-80, -5], stem: [-90, -80], brook: [-3, -2]}", "second time"},
               {"locations: {elm: [-80, -5]}", "elm"},
               {"locations: [-80, -5]", "search locations is a list, expected branches and their [lo, hi]"},
               {"location_m: [-80, -5]", "search location_m beside branches"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2000];
    hw_error error = {""};
    snprintf(text, sizeof text, OPEN "search: {mass_g: [10, 100], time_s: [0, 1], %s}\n", cases[i].search);
    assert_int_equal(hw_river_parse("r", text, strlen(text), NULL, NULL, &river, &error), HW_EINPUT);
    if (!strstr(error.text, cases[i].sentence)) {
      fail_msg("'%s' instead of '%s'", error.text, cases[i].sentence);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_missing_discharges_follow_from_continuity),
      cmocka_unit_test(test_discharges_follow_up_a_long_stem),
      cmocka_unit_test(test_discharges_that_contradict_name_their_confluence),
      cmocka_unit_test(test_a_fifth_of_contradiction_is_tolerated),
      cmocka_unit_test(test_a_tributary_without_discharge_is_the_difference_or_a_share),
      cmocka_unit_test(test_two_brooks_may_make_a_river),
      cmocka_unit_test(test_travel_time_variance_and_decay_add_up_along_the_way),
      cmocka_unit_test(test_nothing_at_all_where_the_water_does_not_pass),
      cmocka_unit_test(test_mass_is_kept_over_confluences),
      cmocka_unit_test(test_a_course_is_the_way_down_as_one_line),
      cmocka_unit_test(test_a_piece_of_a_course_knows_whether_its_discharge_follows),
      cmocka_unit_test(test_one_branch_is_the_river_itself),
      cmocka_unit_test(test_a_lone_branch_inherits_what_its_reaches_leave_out),
      cmocka_unit_test(test_a_large_network_loads_in_under_a_second),
      cmocka_unit_test(test_a_course_begins_on_a_branch_that_there_is),
      cmocka_unit_test(test_a_sensor_at_the_head_of_the_search_is_told_to_see_nothing),
      cmocka_unit_test(test_a_branch_without_reaches_is_cut_only_where_its_numbers_are_known),
      cmocka_unit_test(test_in_any_tree_what_comes_together_goes_on),
      cmocka_unit_test(test_errors_are_shares_of_the_way_to_the_first_sensor_below),
      cmocka_unit_test(test_an_open_branch_is_searched_down_to_its_last_sensor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

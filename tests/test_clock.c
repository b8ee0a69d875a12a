/* Flow in time: the river's own clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "io/flow_file.h"
#include "river/clock.h"
#include "river/flow_doubt.h"
#include "river/hydrograph.h"

static const char text[] =
    "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 41.3, decay_per_s: 0, velocity_exponent: 0.41}\n"
    "search: {mass_g: [10, 100000], time_s: [-43200, 166500]}\n"
    "branches:\n"
    "  - id: stem\n    head_m: -60000\n    reaches:\n"
    "      - {to_m: -31000, velocity_m_s: 0.61, discharge_m3_s: 5.1}\n      - {to_m: 0, velocity_m_s: 0.83}\n"
    "  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}, reaches: [{to_m: 0, velocity_m_s: 0.52, "
    "discharge_m3_s: 2.3}]}\n"
    "sensors:\n  - {id: low, location_m: -900, noise_relative: 0.05}\n"
    "  - {id: a, branch: ash, location_m: -1700, noise_relative: 0.05}\n"
    "gauges:\n  - {id: low, location_m: -900}\n  - {id: high, location_m: -45000}\n"
    "  - {id: a, branch: ash, location_m: -1700}\n";

enum { STEM, ASH };
static const double reference[] = {7.4, 5.1, 2.3}; /* of the gauges */

/* A flood that comes by: quick to rise, slow to fall, on three times the discharge; later further down. */
static double flood(double time_s) {
  const double x = time_s - 9000;
  return 1 + (x < 0 ? 0 : 2 * (x < 14400 ? pow(sin(0.5 * M_PI * x / 14400), 2) : exp(-(x - 14400) / 50000)));
}

/* The river with the readings of some gauges; the flood passes gauge g lag_s[g] later. */
static hw_river flooded(size_t gauges, const double lag_s[3]) {
  hw_river river;
  hw_error error = {""};
  if (hw_river_parse("r.yaml", text, strlen(text), NULL, NULL, &river, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  enum { TIMES = 150 };
  river.flow = calloc(3 * TIMES, sizeof *river.flow);
  assert_non_null(river.flow);
  for (size_t i = 0; i < TIMES; i++) {
    for (size_t g = 0; g < gauges; g++) {
      const double time_s = -21600 + 1800.0 * (double)i;
      river.flow[river.flow_count++] = (hw_flow){g, time_s, reference[g] * flood(time_s - lag_s[g])};
    }
  }
  assert_int_equal(hw_river_check(&river, NULL), HW_OK);
  return river;
}

static const double no_lag[3] = {0, 0, 0};

static void test_steady_flow_leaves_the_clock_alone(void **state) {
  (void)state;
  hw_river river = flooded(0, no_lag);
  hw__clock *clock = NULL;
  assert_int_equal(hw__clock_create(&river, &clock), HW_OK);
  assert_null(clock);
  assert_true(hw__clock_in(NULL, ASH, -3, 37.5) == 37.5 && hw__clock_out(NULL, ASH, -3, 37.5) == 37.5);
  assert_true(hw__clock_dilution(NULL, ASH, -3, 37.5) == 1 && hw__clock_ratio(NULL, ASH, -3, 37.5) == 1);
  hw_river_free(&river);
}

/* Follows the water with small steps: where it is after dt, the discharge being `ratio` times the reference. */
static double drift(const hw__clock *clock, size_t branch, double x_m, double v, double from_s, double to_s) {
  const int steps = 20000;
  const double dt = (to_s - from_s) / steps;
  for (int i = 0; i < steps; i++) {
    x_m += v * pow(hw__clock_ratio(clock, branch, x_m, from_s + (i + 0.5) * dt), 0.41) * dt;
  }
  return x_m;
}

/* One gauge: in tau the river is steady, for everybody, everywhere. */
static void test_one_factor_is_steady_in_the_rivers_clock(void **state) {
  (void)state;
  hw_river river = flooded(1, no_lag);
  hw__clock *clock = NULL;
  hw_transport *transport = NULL;
  assert_int_equal(hw__clock_create(&river, &clock), HW_OK);
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  for (double t = -50000; t < 350000; t += 7321.7) {
    const double tau = hw__clock_in(clock, ASH, -100, t);
    assert_true(fabs(hw__clock_out(clock, STEM, -100, tau) - t) < 1e-6); /* roundings of some 1e5 s */
  }
  /* Who drifts from -20000 m needs just the tau of the steady river, however the flood falls. */
  for (double t = -9000; t < 60000; t += 13000.7) {
    const double tau = hw__clock_in(clock, STEM, -20000, t);
    const double end_s = hw__clock_out(clock, STEM, -900, tau + (20000 - 900) / 0.83);
    assert_true(fabs(drift(clock, STEM, -20000, 0.83, t, end_s) + 900) < 0.01);
  }
  /* The concentration is the steady one in tau, diluted by the area; all that was released comes by. */
  const hw_leg leg = hw_transport_leg_between(transport, ASH, -9000, STEM, -900);
  const double release_tau = hw__clock_in(clock, ASH, -9000, -3000);
  double mass = 0, arrival_s = 0;
  const double step_s = 60;
  for (double t = -3000 + step_s; t < 400000; t += step_s) {
    const double c = hw_leg_response(&leg, hw__clock_in(clock, STEM, -900, t) - release_tau) /
                     hw__clock_dilution(clock, STEM, -900, t);
    const double q = 7.4 * hw__clock_ratio(clock, STEM, -900, t);
    const double area_ratio = pow(flood(t), 1 - 0.41);
    if ((long)t % 1800 == 0 &&
        t < 240000) { /* at a reading of the gauge, where the discharge is the flood's to the digit */
      assert_true(fabs(hw__clock_dilution(clock, STEM, -900, t) / area_ratio - 1) < 1e-9);
    }
    mass += c * q * step_s;
    arrival_s += t * c * q * step_s;
  }
  assert_true(fabs(mass - 1) < 1e-6); /* kinks at every reading of the gauge, in steps of a minute */
  /* Twice the discharge and more moves the middle of the pulse by hours against the steady river. */
  const double steady_s = 9000 / 0.52 + 30100 / 0.83 - 3000;
  assert_true(arrival_s < steady_s - 7200);
  hw_transport_free(transport);
  hw__clock_free(clock);
  hw_river_free(&river);
}

/* Several gauges that all say the same, without a wave that travels, are one. */
static void test_gauges_that_agree_are_one(void **state) {
  (void)state;
  hw_river river = flooded(3, no_lag);
  for (size_t i = 0; i < river.flow_count; i++) {
    river.flow[i].discharge_m3_s = 2.7 * reference[river.flow[i].gauge];
  }
  hw__clock *clock = NULL;
  assert_int_equal(hw__clock_create(&river, &clock), HW_OK);
  const double f = pow(2.7, 0.41);
  const double tau = hw__clock_in(clock, ASH, -15000, 100);
  assert_true(fabs(hw__clock_in(clock, ASH, -15000, 5100) - tau - 5000 * f) < 1e-6);
  const double theta = 15000 / 0.52 + 20000 / 0.83;
  assert_true(fabs(hw__clock_out(clock, STEM, -11000, tau + theta) - (100 + theta / f)) < 1e-5);
  assert_true(fabs(hw__clock_dilution(clock, STEM, -11000, 77) - pow(2.7, 1 - 0.41)) < 1e-9);
  hw__clock_free(clock);
  hw_river_free(&river);
}

/* A wave that travels: the table against water followed step by step. */
static void test_several_gauges_follow_the_water(void **state) {
  (void)state;
  const double lag_s[3] = {26000, 0, 15000};
  hw_river river = flooded(3, lag_s);
  hw__clock *clock = NULL;
  assert_int_equal(hw__clock_create(&river, &clock), HW_OK);
  for (double t = -9000; t < 90000; t += 9000.7) {
    const double tau = hw__clock_in(clock, STEM, -28000, t);
    const double end_s = hw__clock_out(clock, STEM, -900, tau + (28000 - 900) / 0.83);
    const double there_m = drift(clock, STEM, -28000, 0.83, t, end_s);
    /* Nodes 2 km and drops 10 minutes apart: within some 40 m, a minute of drift, of 27 km. */
    assert_true(fabs(there_m + 900) < 60);
    assert_true(fabs(hw__clock_in(clock, STEM, -900, end_s) - (tau + (28000 - 900) / 0.83)) < 1e-4);
    /* From the tributary too, by way of its mouth. */
    const double from_ash = hw__clock_in(clock, ASH, -8000, t);
    const double mouth_s = hw__clock_out(clock, ASH, 0, from_ash + 8000 / 0.52);
    assert_true(fabs(drift(clock, ASH, -8000, 0.52, t, mouth_s)) < 60);
    /* Where it joins, both clocks are one. */
    assert_true(fabs(hw__clock_in(clock, ASH, 0, t) - hw__clock_in(clock, STEM, -31000, t)) < 30);
  }
  /* In between, the discharge lies between what the gauges show; at a gauge it is the gauge's own. */
  assert_true(fabs(hw__clock_ratio(clock, STEM, -900, 55800) / flood(55800 - 26000) - 1) < 1e-3);
  hw__clock_free(clock);
  hw_river_free(&river);
}

/* What has still to come after the last discharge known is doubted the more the later it comes; what came before is
 * not. */
static void test_doubt_of_the_flow_grows_from_the_last_reading_on(void **state) {
  (void)state;
  hw_range before = {900, 1000, 1100}, soon = before, late = before;
  hw__flow_doubt(&before, 1000, INFINITY, 0.45, 1.645);
  assert_true(before.lo == 900 && before.hi == 1100);
  const double near_s = 1000 - 3600, far_s = 1000 - 4 * 86400.0;
  hw__flow_doubt(&soon, near_s, INFINITY, 0.45, 1.645);
  hw__flow_doubt(&late, far_s, INFINITY, 0.45, 1.645);
  /* An hour: sd of ln discharge 0.051, of ln velocity 0.023; 136 s of 3600 beside the 100. */
  check_near(soon.hi, 1000 + hypot(100, 3600 * (exp(1.645 * 0.45 * 0.25 * sqrt(1 / 24.0)) - 1)), 1e-9);
  assert_true(soon.mid == 1000 && late.mid == 1000);
  assert_true(late.hi - late.mid > 20 * (soon.hi - soon.mid) && late.lo < soon.lo);
  hw_range never = {NAN, NAN, NAN};
  hw__flow_doubt(&never, 0, INFINITY, 0.45, 1.645);
  assert_true(isnan(never.lo) && isnan(never.hi));
}

/* A silence is doubted as the time after the last discharge is, but less and less towards the one that ends it. */
static void test_a_long_silence_of_the_gauges_is_doubted_too(void **state) {
  (void)state;
  const double day_s = 86400;
  hw_flow flow[] = {{.time_s = 0, .discharge_m3_s = 7},
                    {.time_s = 3600, .discharge_m3_s = 9},
                    {.time_s = 3600 + 4 * day_s, .discharge_m3_s = 8}};
  hw_river river = {.flow = flow, .flow_count = 3};
  double last_s = NAN, next_s = NAN;
  assert_false(hw__flow_silence(&river, -1, &last_s, &next_s));
  assert_false(hw__flow_silence(&river, 1800, &last_s, &next_s));
  assert_true(hw__flow_silence(&river, 3600 + day_s, &last_s, &next_s));
  assert_true(last_s == 3600 && next_s == 3600 + 4 * day_s);
  assert_true(hw__flow_silence(&river, 3600 + 5 * day_s, &last_s, &next_s));
  assert_true(last_s == 3600 + 4 * day_s && isinf(next_s));
  hw_range open = {day_s, day_s, day_s}, bridged = open, ended = open;
  hw__flow_doubt(&open, 0, INFINITY, 0.45, 1.645);
  hw__flow_doubt(&bridged, 0, 4 * day_s, 0.45, 1.645);
  hw__flow_doubt(&ended, 0, day_s, 0.45, 1.645);
  /* A day of four: three quarters of the variance. */
  check_near(log(bridged.hi / day_s), 1.645 * 0.45 * 0.25 * sqrt(0.75), 1e-9);
  assert_true(bridged.hi < open.hi && bridged.lo > open.lo);
  assert_true(ended.lo == day_s && ended.hi == day_s);
}

/* Two gauges that show discharges of their own all the time: who tells of a place is who is on its water, the gauge
 * that stands at the place included, the one just above a confluence not. */
static void test_a_gauge_tells_of_the_water_that_passes_it(void **state) {
  (void)state;
  static const struct {
    size_t gauge_branch[2];
    double gauge_m[2];
    size_t branch;
    double x_m, ratio;
  } cases[] = {
      {{STEM, STEM}, {0, -45000}, STEM, 0, 2},           /* at the lowest place of all stands a gauge */
      {{STEM, STEM}, {-900, -45000}, STEM, -60000, 3},   /* at the head only the upper one is below */
      {{STEM, STEM}, {-45000, -60000}, STEM, -60000, 3}, /* one stands at the head itself */
      {{STEM, STEM}, {-900, -31000}, ASH, -21000, 2},    /* the other is where the ash comes in: not its water */
      {{STEM, STEM}, {-900, -30999}, ASH, -21000, 3},    /* a metre further down it is */
      {{ASH, STEM}, {-21000, -45000}, STEM, -60000, 3},  /* a tributary's tells nothing of the stem above */
      {{ASH, STEM}, {-1700, -45000}, ASH, 0, 2},         /* and at its mouth the tributary's own counts */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw_river river = flooded(0, no_lag);
    river.gauge_count = 2;
    for (size_t g = 0; g < 2; g++) {
      river.gauges[g].branch = cases[i].gauge_branch[g];
      river.gauges[g].location_m = cases[i].gauge_m[g];
      hw_transport *transport = NULL;
      assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
      const double q = hw_transport_leg_between(transport, river.gauges[g].branch, river.gauges[g].location_m,
                                                river.gauges[g].branch, river.gauges[g].location_m)
                           .discharge_m3_s;
      hw_transport_free(transport);
      river.flow[river.flow_count++] = (hw_flow){g, 0, (g == 0 ? 2 : 3) * q};
    }
    hw__clock *clock = NULL;
    assert_int_equal(hw__clock_create(&river, &clock), HW_OK);
    const double found = hw__clock_ratio(clock, cases[i].branch, cases[i].x_m, 37);
    if (!(fabs(found - cases[i].ratio) < 1e-9)) { /* logarithms and back */
      fail_msg("case %zu: %g", i, found);
    }
    hw__clock_free(clock);
    hw_river_free(&river);
  }
}

/* Every entry, just before and just behind it, and outside: lists that grow evenly and unevenly. */
static void test_the_last_entry_before_a_value_is_found_in_any_list(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 37, 0);
  for (size_t count = 2; count <= 41; count++) {
    double list[41];
    for (size_t i = 0; i < count; i++) {
      const double even = 14.2 * (double)i;
      list[i] = count % 3 == 0   ? even
                : count % 3 == 1 ? pow(1.7, (double)i) - 400
                : i              ? list[i - 1] + 1e-3 + pow(hw_rng_uniform(&rng), 9)
                                 : -7;
    }
    for (size_t i = 0; i < count; i++) {
      const double at[] = {list[i], nextafter(list[i], -INFINITY), nextafter(list[i], INFINITY)};
      for (size_t k = 0; k < 3; k++) {
        size_t expected = 0;
        while (expected + 2 < count && list[expected + 1] <= at[k]) {
          expected++;
        }
        assert_int_equal(hw__last_before(list, count, at[k]), expected);
      }
    }
    assert_int_equal(hw__last_before(list, count, -1e300), 0);
    assert_int_equal(hw__last_before(list, count, 1e300), count - 2);
  }
}

/* Against sums of a thousand steps in each stretch, and there and back. */
static void test_a_hydrograph_is_straight_between_its_readings_and_its_integral_is_theirs(void **state) {
  (void)state;
  /* Falls to next to nothing, and rises from it by a little: what hardly changes is told by its own size. */
  enum { COUNT = 8, STEPS = 1000 };
  double time_s[COUNT] = {-900, 370, 1420, 1421, 9000, 9001, 10000, 11000};
  double ratio[COUNT] = {2, 0.5, 3, 3, 3.00001, 1, 0.02, 0.0203}, logs[COUNT], elapsed[COUNT];
  hw__hydrograph s = {COUNT, time_s, ratio, logs, elapsed, 0.41};
  hw__hydrograph_finish(&s);
  double sum = 0;
  for (size_t i = 0; i < COUNT; i++) {
    check_near(hw__hydrograph_ratio(&s, time_s[i]), ratio[i], 0);
    check_near(hw__hydrograph_log_ratio(&s, time_s[i]), log(ratio[i]), 0);
    check_near(hw__hydrograph_elapsed(&s, time_s[i]), sum,
               1e-5 * fabs(sum)); /* Simpson's error where it falls to a fourth */
    check_near(hw__hydrograph_time(&s, hw__hydrograph_elapsed(&s, time_s[i])), time_s[i], 1e-8);
    for (size_t k = 0; i + 1 < COUNT && k < STEPS; k++) {
      const double step = (time_s[i + 1] - time_s[i]) / STEPS, a = time_s[i] + (double)k * step;
      const double share = ((double)k + 0.5) / STEPS, middle = ratio[i] + share * (ratio[i + 1] - ratio[i]);
      check_near(hw__hydrograph_ratio(&s, a + 0.5 * step), middle, 1e-9);
      check_near(hw__hydrograph_log_ratio(&s, a + 0.5 * step), log(ratio[i]) + share * log(ratio[i + 1] / ratio[i]),
                 1e-9);
      check_near(hw__hydrograph_time(&s, hw__hydrograph_elapsed(&s, a)), a, 1e-7);
      sum += step * pow(middle, 0.41);
    }
  }
  /* Before the first and after the last it stays. */
  check_near(hw__hydrograph_ratio(&s, -5000), 2, 0);
  check_near(hw__hydrograph_log_ratio(&s, -5000), log(2), 0);
  check_near(hw__hydrograph_elapsed(&s, -5000), -4100 * pow(2, 0.41), 1e-9);
  check_near(hw__hydrograph_time(&s, -4100 * pow(2, 0.41)), -5000, 1e-9);
  check_near(hw__hydrograph_ratio(&s, 14000), 0.0203, 0);
  check_near(hw__hydrograph_log_ratio(&s, 14000), log(0.0203), 0);
  check_near(hw__hydrograph_elapsed(&s, 14000) - hw__hydrograph_elapsed(&s, 11000), 3000 * pow(0.0203, 0.41), 1e-8);
  check_near(hw__hydrograph_time(&s, hw__hydrograph_elapsed(&s, 14000)), 14000, 1e-7);
  hw__hydrograph single = {1, time_s, ratio, logs, elapsed, 0.41};
  hw__hydrograph_finish(&single);
  check_near(hw__hydrograph_elapsed(&single, 100), 1000 * pow(2, 0.41), 1e-9);
  check_near(hw__hydrograph_time(&single, 1000 * pow(2, 0.41)), 100, 1e-9);
  check_near(hw__hydrograph_ratio(&single, 37), 2, 0);
}

static void ignore(void *context, const char *sentence) {
  (void)context;
  (void)sentence;
}

/* Files of as many rows as places are made for at once, and one more or less. */
static void test_discharges_are_read_to_the_last_row(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 2, 255, 256, 257, 512};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    char path[] = "/tmp/headwater-flow-XXXXXX";
    const int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    assert_non_null(file);
    fputs("discharge_m3_s,note,time_min,gauge\n", file);
    for (size_t i = sizes[k]; i-- > 0;) { /* latest first */
      fprintf(file, "%g,x,%g,%s\n", 1.5 + (double)i, 7.0 * (double)i, i % 2 ? "high" : "a");
    }
    fclose(file);
    hw_river river = flooded(0, no_lag);
    hw_error error = {""};
    river.flow_file = path;
    free(river.flow);
    river.flow = NULL;
    if (hw__flow_load(&river, ignore, NULL, &error) != HW_OK) {
      fail_msg("%s", error.text);
    }
    unlink(path);
    assert_int_equal(river.flow_count, sizes[k]);
    for (size_t i = 0; i < sizes[k]; i++) {
      assert_true(river.flow[i].time_s == 420.0 * (double)i && river.flow[i].discharge_m3_s == 1.5 + (double)i);
      assert_int_equal(river.flow[i].gauge, i % 2 ? 1 : 2);
    }
    river.flow_file = NULL;
    hw_river_free(&river);
  }
}

/* Only how long ago the last discharge was counts, and how far off the next is, not what the clock shows. */
static void test_doubt_of_the_flow_does_not_depend_on_where_time_begins(void **state) {
  (void)state;
  static const double begins_s[] = {0, -14200, 370000, 1772352900};
  const double day_s = 86400;
  for (size_t i = 0; i < 4; i++) {
    hw_range passage = {begins_s[i] + 0.9 * day_s, begins_s[i] + day_s, begins_s[i] + 1.2 * day_s};
    hw__flow_doubt(&passage, begins_s[i], begins_s[i] + 4 * day_s, 0.45, 1.645);
    const double slower = exp(1.645 * 0.45 * 0.25 * sqrt(0.75)); /* a day of four: three quarters of the variance */
    /* To what a double of 2e9 s resolves. */
    check_near(passage.hi - begins_s[i], day_s + hypot(0.2 * day_s, day_s * (slower - 1)), 1e-5);
    check_near(passage.lo - begins_s[i], day_s - hypot(0.1 * day_s, day_s * (1 - 1 / slower)), 1e-5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steady_flow_leaves_the_clock_alone),
      cmocka_unit_test(test_one_factor_is_steady_in_the_rivers_clock),
      cmocka_unit_test(test_gauges_that_agree_are_one),
      cmocka_unit_test(test_several_gauges_follow_the_water),
      cmocka_unit_test(test_doubt_of_the_flow_grows_from_the_last_reading_on),
      cmocka_unit_test(test_a_long_silence_of_the_gauges_is_doubted_too),
      cmocka_unit_test(test_a_gauge_tells_of_the_water_that_passes_it),
      cmocka_unit_test(test_the_last_entry_before_a_value_is_found_in_any_list),
      cmocka_unit_test(test_a_hydrograph_is_straight_between_its_readings_and_its_integral_is_theirs),
      cmocka_unit_test(test_discharges_are_read_to_the_last_row),
      cmocka_unit_test(test_doubt_of_the_flow_does_not_depend_on_where_time_begins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A sensor's series: readings in order of time, in bounded room (posterior/series.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/rng.h"
#include "posterior/series.h"

static hw__series series;

static void insert(double time_s, double value) {
  hw__series_insert(&series, &(hw_reading){.time_s = time_s, .concentration_g_m3 = value});
}

static int start_empty(void **state) {
  (void)state;
  memset(&series, 0, sizeof series);
  return 0;
}

static void test_order_of_arrival_does_not_matter_while_the_readings_fit(void **state) {
  (void)state;
  enum { COUNT = HW__SERIES_SIZE };
  hw_reading readings[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    readings[i] = (hw_reading){.time_s = 37.3 * (double)i,
                               .concentration_g_m3 = 0.14 + 0.01 * (double)(i % 7),
                               .below_limit = i % 5 == 0,
                               .above_limit = i % 11 == 3 && i % 5 != 0};
    hw__series_insert(&series, &readings[i]);
  }
  const hw__series in_order = series;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 2);
  for (int round = 0; round < 5; round++) {
    for (size_t i = COUNT - 1; i > 0; i--) {
      const size_t j = (size_t)(hw_rng_uniform(&rng) * (double)(i + 1));
      const hw_reading held = readings[i];
      readings[i] = readings[j];
      readings[j] = held;
    }
    start_empty(NULL);
    for (size_t i = 0; i < COUNT; i++) {
      hw__series_insert(&series, &readings[i]);
    }
    assert_int_equal(series.count, in_order.count);
    assert_int_equal(series.readings, COUNT);
    for (size_t i = 0; i < COUNT; i++) { /* copied, never computed with: equal to the bit */
      check_near(series.span[i].time_s, in_order.span[i].time_s, 0);
      check_near(series.span[i].value_g_m3, in_order.span[i].value_g_m3, 0);
      check_near(series.span[i].count, 1, 0);
      check_near(series.span[i].spread_s2, 0, 0);
      assert_int_equal(series.span[i].side, in_order.span[i].side);
    }
  }
}

static void test_duplicates_and_conflicts_are_counted_and_the_first_value_stays(void **state) {
  (void)state;
  insert(60, 0.37);
  insert(120, 0.41);
  insert(60, 0.37);
  insert(60, 0.38);
  insert(120, 0.41);
  hw__series_insert(&series, &(hw_reading){.time_s = 120, .concentration_g_m3 = 0.41, .below_limit = true});
  assert_int_equal(series.count, 2);
  assert_int_equal(series.readings, 2);
  assert_int_equal(series.duplicates, 2);
  assert_int_equal(series.conflicts, 2); /* another value, another side */
  check_near(series.span[0].value_g_m3, 0.37, 0);
  check_near(series.span[1].value_g_m3, 0.41, 0);
  assert_int_equal(series.span[1].side, HW__MEASURED);
}

/* Mean and variance of four times and values, taken two by two or one by one. */
static void test_merging_keeps_mean_and_spread_whatever_the_order(void **state) {
  (void)state;
  static const double t[] = {3.7, 14.2, 15.9, 71.3}, v[] = {0.37, 1.42, 0.59, 0.03};
  hw__span one[4], pairs[2];
  double mean = 0, square = 0, value = 0;
  for (size_t i = 0; i < 4; i++) {
    one[i] = (hw__span){.time_s = t[i], .value_g_m3 = v[i], .count = 1};
    mean += t[i] / 4;
    value += v[i] / 4;
  }
  for (size_t i = 0; i < 4; i++) {
    square += (t[i] - mean) * (t[i] - mean) / 4;
  }
  pairs[0] = hw__span_merged(&one[0], &one[1]);
  pairs[1] = hw__span_merged(&one[2], &one[3]);
  hw__span chain = hw__span_merged(&pairs[0], &one[2]);
  const hw__span merged[] = {hw__span_merged(&pairs[0], &pairs[1]), hw__span_merged(&chain, &one[3])};
  for (size_t i = 0; i < 2; i++) { /* a few roundings of numbers up to 71 and their squares */
    check_near(merged[i].time_s, mean, 1e-13 * 71);
    check_near(merged[i].spread_s2, square, 1e-13 * 71 * 71);
    check_near(merged[i].value_g_m3, value, 1e-14);
    check_near(merged[i].count, 4, 0);
  }
}

/* A week of minutes with a pulse of 20 minutes' standard deviation in it: twenty-six times the room. */
static void test_a_narrow_pulse_in_a_long_quiet_record_keeps_resolution_and_area(void **state) {
  (void)state;
  enum { COUNT = 10080 };
  const double step = 60, middle = 0.61 * COUNT * step, width = 20 * step, height = 0.37, level = 0.0042;
  hw_rng rng;
  hw_rng_seed(&rng, 3, 7);
  double given = 0, kept = 0, longest = 0, readings = 0;
  for (size_t i = 0; i < COUNT; i++) {
    const double off = ((double)i * step - middle) / width;
    const double value = level + height * exp(-0.5 * off * off) + 0.0007 * hw_rng_normal(&rng);
    insert((double)i * step, value);
    given += value * step;
  }
  assert_true(series.count <= HW__SERIES_SIZE);
  assert_int_equal(series.readings, COUNT);
  for (size_t i = 0; i < series.count; i++) {
    const hw__span *span = &series.span[i];
    kept += span->value_g_m3 * span->count * step;
    readings += span->count;
    assert_true(i == 0 || span->time_s > series.span[i - 1].time_s);
    if (fabs(span->time_s - middle) < 2 * width) {
      longest = fmax(longest, sqrt(12 * span->spread_s2)); /* of a span whose readings lie evenly */
    }
  }
  check_near(readings, COUNT, 0);
  check_near(kept, given, 1e-9 * given); /* means of means: rounding alone, of 1e4 sums */
  /* The likelihood merges to a quarter of the standard deviation (view.h): no coarser here. */
  assert_in_range((int)longest, 0, (int)(0.25 * width));
}

/* Five times the room, and the pulse is as narrow as seven readings can show: there is room enough for all of them as
 * long as the quiet ones make it. */
static void test_quiet_readings_make_room_before_a_pulse_does(void **state) {
  (void)state;
  enum { COUNT = 2000 };
  const double step = 300, middle = 0.29 * COUNT * step, width = 1.75 * step;
  hw_rng rng;
  hw_rng_seed(&rng, 5, 7);
  for (size_t i = 0; i < COUNT; i++) {
    const double off = ((double)i * step - middle) / width;
    insert((double)i * step, 0.37 * exp(-0.5 * off * off) + 0.0007 * hw_rng_normal(&rng));
  }
  for (size_t i = 0; i < series.count; i++) {
    assert_true(fabs(series.span[i].time_s - middle) > 2.5 * width || !(series.span[i].count > 1));
  }
}

/* Noise alone, a hundred times the room: if high and low readings were merged apart from each other, some spans would
 * stand many standard deviations of their mean off the level. */
static void test_merging_does_not_sort_noise_by_its_size(void **state) {
  (void)state;
  const double level = 0.31, sd = 0.007;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 9);
  for (size_t i = 0; i < 100 * HW__SERIES_SIZE; i++) {
    insert(1.3 * (double)i, level + sd * hw_rng_normal(&rng));
  }
  for (size_t i = 0; i < series.count; i++) { /* five: 4e4 draws at most, one in two million */
    check_near(series.span[i].value_g_m3, level, 5 * sd / sqrt(series.span[i].count));
  }
}

/* What is wild is told by most readings, not by the first two: a sensor that was switched on in air. */
static void test_a_wild_beginning_does_not_hide_lone_spikes(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 9);
  size_t spikes = 0, alone = 0;
  insert(0, 52.0);
  for (size_t i = 1; i < 20 * HW__SERIES_SIZE; i++) {
    const bool spike = i % 997 == 0;
    spikes += spike;
    insert(1.3 * (double)i, 0.31 + 0.007 * hw_rng_normal(&rng) + (spike ? 0.5 : 0));
  }
  for (size_t i = 0; i < series.count; i++) {
    alone += series.span[i].count == 1 && series.span[i].value_g_m3 > 0.6 && series.span[i].value_g_m3 < 1;
  }
  assert_int_equal(alone, spikes);
}

static void test_a_merged_span_knows_whether_its_readings_vary(void **state) {
  (void)state;
  const hw__span a = {.time_s = 1, .value_g_m3 = 0.37, .count = 1}, b = {.time_s = 2, .value_g_m3 = 0.37, .count = 1};
  const hw__span c = {.time_s = 3, .value_g_m3 = 0.41, .count = 1};
  const hw__span same = hw__span_merged(&a, &b), other = hw__span_merged(&same, &c);
  assert_false(same.varied);
  check_near(same.value_g_m3, 0.37, 0);
  assert_true(other.varied);
}

static void test_detects_and_non_detects_in_turn_end_in_bounded_room(void **state) {
  (void)state;
  enum { COUNT = 5 * HW__SERIES_SIZE };
  double readings = 0;
  for (size_t i = 0; i < COUNT; i++) {
    hw__series_insert(&series, &(hw_reading){.time_s = 14.2 * (double)i,
                                             .concentration_g_m3 = 0.037 + 1e-5 * (double)(i % 13),
                                             .below_limit = i % 2 == 0});
    assert_true(series.count <= HW__SERIES_SIZE);
  }
  for (size_t i = 0; i < series.count; i++) {
    readings += series.span[i].count;
  }
  check_near(readings, COUNT, 0);
}

/* A non-detect stands for half its limit where there is no room for both kinds. */
static void test_unlike_sides_merge_to_a_measured_value(void **state) {
  (void)state;
  const hw__span below = {.time_s = 60, .value_g_m3 = 0.37, .count = 1, .side = HW__BELOW};
  const hw__span measured = {.time_s = 120, .value_g_m3 = 0.41, .count = 3};
  const hw__span both = hw__span_merged(&below, &measured);
  assert_int_equal(both.side, HW__MEASURED);
  check_near(both.value_g_m3, (0.185 + 3 * 0.41) / 4, 1e-15); /* one rounding */
  check_near(both.time_s, 105, 1e-13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_order_of_arrival_does_not_matter_while_the_readings_fit, start_empty),
      cmocka_unit_test_setup(test_duplicates_and_conflicts_are_counted_and_the_first_value_stays, start_empty),
      cmocka_unit_test(test_merging_keeps_mean_and_spread_whatever_the_order),
      cmocka_unit_test_setup(test_a_narrow_pulse_in_a_long_quiet_record_keeps_resolution_and_area, start_empty),
      cmocka_unit_test_setup(test_quiet_readings_make_room_before_a_pulse_does, start_empty),
      cmocka_unit_test_setup(test_merging_does_not_sort_noise_by_its_size, start_empty),
      cmocka_unit_test_setup(test_a_wild_beginning_does_not_hide_lone_spikes, start_empty),
      cmocka_unit_test_setup(test_a_merged_span_knows_whether_its_readings_vary, start_empty),
      cmocka_unit_test_setup(test_detects_and_non_detects_in_turn_end_in_bounded_room, start_empty),
      cmocka_unit_test(test_unlike_sides_merge_to_a_measured_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

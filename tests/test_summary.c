/* What people read from weighted samples: quantiles, suspects, arrivals, the box. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "summary/summary.h"
#include "summary/warnings.h"

static void check_near(double got, double want, double tolerance) {
  if (!(fabs(got - want) <= tolerance)) {
    fail_msg("got %.17g, want %.17g within %g", got, want, tolerance);
  }
}

enum { COUNT = 2000 };
static double values[COUNT], weights[COUNT];
static hw_sample samples[COUNT];
static hw__scratch scratch = {values, weights, COUNT};

/* Places normal around mean, everything else spread evenly over the box below. */
static void fill_samples(double mean, double sd) {
  hw_rng rng;
  hw_rng_seed(&rng, 7, 0);
  for (size_t i = 0; i < COUNT; i++) {
    const double even = ((double)i + 0.5) / COUNT;
    samples[i] = (hw_sample){.source = {1000 + 2000 * even, mean + sd * hw_rng_normal(&rng), -500 + 300 * even},
                             .velocity_m_s = 0.37 + even,
                             .dispersion_m2_s = 14.2,
                             .weight = 1.0 / COUNT};
  }
}

static const hw_box box = {{1000, -30000, -500}, {3000, -10000, -200}};

static void test_weighted_quantiles_match_repeated_values(void **state) {
  (void)state;
  const double v[] = {5.5, 1.25, 3.0}, w[] = {1, 2, 5};
  memcpy(values, v, sizeof v);
  memcpy(weights, w, sizeof w);
  hw__scratch_sort(&scratch, 3);
  /* steps' middles at 1, 4.5 and 7.5 of 8: the median (4) lies 3/3.5 of the way from 1.25 to 3 */
  check_near(hw__scratch_quantile(&scratch, 3, 0.5), 1.25 + 1.75 * 3 / 3.5, 1e-12);
  check_near(hw__scratch_quantile(&scratch, 3, 0.0), 1.25, 1e-12);
  check_near(hw__scratch_quantile(&scratch, 3, 1.0), 5.5, 1e-12);
}

static void test_zero_weights_do_not_count(void **state) {
  (void)state;
  const double v[] = {-1e9, 2.5, 1e9}, w[] = {0, 0.4, 0};
  memcpy(values, v, sizeof v);
  memcpy(weights, w, sizeof w);
  const hw_range r = hw__scratch_range(&scratch, 3, 0.9);
  assert_true(r.lo == 2.5 && r.mid == 2.5 && r.hi == 2.5);
  weights[1] = 0;
  assert_true(isnan(hw__scratch_quantile(&scratch, 3, 0.5)));
}

static void test_even_samples_give_even_intervals(void **state) {
  (void)state;
  fill_samples(-20000, 700);
  hw_source median;
  hw_box interval;
  hw__summary_source(samples, COUNT, 0.8, &scratch, &median, &interval);
  check_near(median.mass_g, 2000, 1e-9);
  check_near(interval.lo.mass_g, 1200, 1e-9);
  check_near(interval.hi.time_s, -230, 1e-9);
  /* normal quantile 1.2816; sampling error of a quantile of 2000 draws is 0.04 sd, allow 3 of them */
  check_near(interval.hi.location_m, -20000 + 1.2816 * 700, 0.12 * 700);
}

static double held(const hw_region *regions, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += regions[i].probability;
  }
  return sum;
}

static void test_one_mode_is_one_stretch(void **state) {
  (void)state;
  fill_samples(-20000, 700);
  hw_region regions[HW__MOST_REGIONS];
  assert_int_equal(hw__summary_regions(&box, samples, COUNT, 0.9, &scratch, regions), 1);
  check_near(regions[0].probability, 0.9, 0.01);
  /* normal: 1.645 sd to each side; smoothing adds 2 %, the quantile's sampling error is 0.05 sd, allow 4 of them */
  check_near(regions[0].lo_m, -20000 - 1.645 * 700, 0.2 * 700);
  check_near(regions[0].hi_m, -20000 + 1.645 * 700, 0.2 * 700);
}

static void test_two_modes_are_two_stretches(void **state) {
  (void)state;
  fill_samples(-20000, 100);
  for (size_t i = 0; i < COUNT; i += 4) {
    samples[i].source.location_m += 5700;
  }
  hw_region regions[HW__MOST_REGIONS];
  assert_int_equal(hw__summary_regions(&box, samples, COUNT, 0.9, &scratch, regions), 2);
  check_near(held(regions, 2), 0.9, 0.02);
  assert_true(regions[0].probability > 2 * regions[1].probability);
  assert_true(regions[0].lo_m < -20000 && regions[0].hi_m > -20000 && regions[0].hi_m - regions[0].lo_m < 500);
  assert_true(regions[1].lo_m < -14300 && regions[1].hi_m > -14300 && regions[1].hi_m - regions[1].lo_m < 500);
}

static void test_a_stretch_ends_where_the_box_does(void **state) {
  (void)state;
  fill_samples(box.lo.location_m, 700);
  hw_region regions[HW__MOST_REGIONS];
  assert_int_equal(hw__summary_regions(&box, samples, COUNT, 0.9, &scratch, regions), 1);
  assert_true(regions[0].lo_m == box.lo.location_m && regions[0].hi_m > box.lo.location_m);
}

static hw_river river_with(hw_candidate *candidates, size_t count) {
  hw_river river;
  hw_river_init(&river);
  river.search = box;
  river.candidates = candidates;
  river.candidate_count = count;
  return river;
}

static void test_suspicion_is_bayes_rule_on_the_density(void **state) {
  (void)state;
  fill_samples(-20000, 700);
  hw_candidate c[] = {{.location_m = -15000}, {.location_m = -20300}, {.location_m = -20300, .extent_m = 9000}};
  hw_river river = river_with(c, 3);
  hw_suspicion out[4];
  assert_int_equal(hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out), 4);
  assert_int_equal(out[0].candidate, 1);
  assert_int_equal(out[3].candidate, 0);
  /* odds against "none": normal density times the box's length; the wide one has 1/18000 m instead */
  const double exact = exp(-0.5 * 300 * 300 / (700.0 * 700.0)) / (700 * sqrt(2 * M_PI)) * 20000;
  const double wide = 20000.0 / 18000.0;
  /* "none" begins with 0.2, each of three with 0.8 / 3; kernel smoothing and sampling: a few per cent of the odds */
  const double none = 0.2 / (0.8 / 3);
  check_near(out[0].probability, exact / (none + exact + wide), 0.02);
  check_near(out[0].probability + out[1].probability + out[2].probability + out[3].probability, 1, 1e-12);
}

/* Where all samples lie at one place the kernel is a millionth of the box wide. */
static void test_samples_at_one_place_suspect_what_is_there(void **state) {
  (void)state;
  fill_samples(-20000, 0);
  hw_candidate c[] = {{.location_m = -20000.1}};
  hw_river river = river_with(c, 1);
  hw_suspicion out[2];
  assert_int_equal(hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out), 2);
  const double length = box.hi.location_m - box.lo.location_m, width = 1e-6 * length + 1e-6, z = 0.1 / width;
  const double odds = 0.8 * length * exp(-0.5 * z * z) / (width * sqrt(2 * M_PI)) / 0.2;
  const double found = out[0].candidate == 0 ? out[0].probability : out[1].probability;
  check_near(found, odds / (1 + odds), 1e-6);
  assert_true(found > 0.05 && found < 0.95);
}

static double probability_of(const hw_suspicion *rows, size_t count, ptrdiff_t candidate) {
  for (size_t i = 0; i < count; i++) {
    if (rows[i].candidate == candidate) {
      return rows[i].probability;
    }
  }
  return NAN;
}

static void test_priors_multiply_the_odds(void **state) {
  (void)state;
  fill_samples(-20000, 700);
  hw_candidate c[] = {{.location_m = -20300}, {.location_m = -20300}};
  hw_river river = river_with(c, 2);
  hw_suspicion out[3];
  hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out);
  const double even = probability_of(out, 3, 0) / probability_of(out, 3, -1);
  check_near(probability_of(out, 3, 1), probability_of(out, 3, 0), 1e-12);
  c[0].prior = 3;
  river.none_prior = 0.6;
  hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out);
  check_near(probability_of(out, 3, 0) / probability_of(out, 3, 1), 3, 1e-9);
  /* from 0.8 x 1/2 against 0.2 to 0.4 x 3/4 against 0.6 */
  check_near(probability_of(out, 3, 0) / probability_of(out, 3, -1) / even, 0.5 / 2, 1e-9);
}

static void test_a_candidate_idle_at_the_time_is_less_suspect(void **state) {
  (void)state;
  fill_samples(-20000, 700); /* times spread evenly over the box, -500 to -200 */
  hw_span late[] = {{-230, -200}}, elsewhere[] = {{1000, 2000}};
  hw_candidate c[] = {{.location_m = -20300},
                      {.location_m = -20300, .active = late, .active_count = 1},
                      {.location_m = -20300, .active = elsewhere, .active_count = 1, .active_trust = 0.75}};
  hw_river river = river_with(c, 3);
  hw_suspicion out[4];
  hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out);
  const double always = probability_of(out, 4, 0);
  /* A tenth of the time holds a tenth of the samples: nothing learned. 2000 samples, 200 of them in the window:
   * three standard errors are 0.2. */
  check_near(probability_of(out, 4, 1) / always, 1, 0.2);
  check_near(probability_of(out, 4, 2) / always, 0.25, 1e-9);
  for (size_t i = 0; i < COUNT; i++) {
    samples[i].source.time_s = -215; /* the readings know the time: inside the window */
  }
  hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out);
  check_near(probability_of(out, 4, 1) / probability_of(out, 4, 0), 0.1 + 0.9 / 0.1, 1e-9);
  river.when = (hw_when){-215, 10}; /* and so did everybody before: the coincidence says little */
  hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out);
  const double share = erf(15 / (10 * M_SQRT2)) / (0.5 * (1 + erf(15 / (10 * M_SQRT2)))); /* of what the box holds */
  check_near(probability_of(out, 4, 1) / probability_of(out, 4, 0), 0.1 + 0.9 / share, 1e-9);
}

static void test_far_candidates_leave_none_of_these(void **state) {
  (void)state;
  fill_samples(-20000, 100);
  hw_candidate c[] = {{.location_m = -11000}, {.location_m = -90000}};
  hw_river river = river_with(c, 2);
  hw_suspicion out[3];
  hw__summary_suspicions(&river, samples, COUNT, NULL, NULL, &scratch, out);
  assert_int_equal(out[0].candidate, -1);
  assert_true(out[0].probability > 0.999);
}

static void test_arrival_counts_what_does_not_pass(void **state) {
  (void)state;
  const hw_intake intake = {.alarm_g_m3 = 0.01};
  const hw__passage passages[] = {
      {100, 150, 310, 0.02, 0.25}, {120, 170, 350, 0.03, 0.25}, {NAN, 190, NAN, 0.005, 0.5}};
  const hw_arrival a = hw__summary_arrival(&intake, 3, passages, 3, 0.9, &scratch);
  assert_int_equal(a.intake, 3);
  check_near(a.exceeds_alarm, 0.5, 1e-12);
  check_near(a.first_s.mid, 110, 1e-9);
  check_near(a.last_s.mid, 330, 1e-9);
  assert_true(a.peak_g_m3.lo <= 0.005 && a.peak_g_m3.hi == 0.03);
}

/* When is told from where one end of the interval passes on: with a level of 0.9, a twentieth. */
static void test_an_arrival_has_a_time_where_the_interval_does(void **state) {
  (void)state;
  const hw_intake without = {.alarm_g_m3 = 0};
  for (int i = 0; i < 3; i++) {
    const double share = (const double[]){0.049, 0.051, 0.15}[i];
    const hw__passage passages[] = {{100, 150, 310, 0.02, 3 * share}, {NAN, 190, NAN, 0, 3 * (1 - share)}};
    const hw_arrival a = hw__summary_arrival(&without, 0, passages, 2, 0.9, &scratch);
    assert_true(isnan(a.exceeds_alarm));
    assert_true(i == 0 ? isnan(a.first_s.mid) && isnan(a.last_s.lo) : a.first_s.lo == 100 && a.last_s.hi == 310);
    assert_true(a.peak_s.lo == 150 && a.peak_s.hi == 150 && a.peak_g_m3.lo == 0); /* of those that have a peak */
  }
}

static void test_box_warning_names_the_side(void **state) {
  (void)state;
  static hw__warnings warnings;
  fill_samples(-20000, 700);
  hw__warnings_clear(&warnings);
  hw__warn_box(&warnings, &box, samples, COUNT);
  assert_int_equal(warnings.count, 0); /* evenly spread is not leaning */
  fill_samples(-10100, 150);
  hw__warn_box(&warnings, &box, samples, COUNT);
  assert_int_equal(warnings.count, 1);
  assert_non_null(strstr(warnings.pointers[0], "further downstream than km -10.00"));
}

static void test_warnings_beyond_capacity_are_dropped(void **state) {
  (void)state;
  static hw__warnings warnings;
  hw__warnings_clear(&warnings);
  for (int i = 0; i < HW__WARNING_COUNT + 5; i++) {
    hw__warn(&warnings, "warning %d", i);
  }
  assert_int_equal(warnings.count, HW__WARNING_COUNT);
  assert_string_equal(warnings.pointers[0], "warning 0");
}

/* Orders that trip a careless quicksort: random, ascending, descending, all equal, organ pipe, few values. */
static void test_sort_orders_pairs_of_any_kind(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 3, 0);
  for (int kind = 0; kind < 6; kind++) {
    for (size_t n = 0; n <= COUNT; n = n < 70 ? n + 1 : n * 3) {
      for (size_t i = 0; i < n; i++) {
        const double x = (double)i, pipe = i < n / 2 ? x : (double)(n - i);
        const double kinds[] = {hw_rng_uniform(&rng), x, -x, 4.2, pipe, floor(4 * hw_rng_uniform(&rng))};
        values[i] = kinds[kind];
        weights[i] = 3 * kinds[kind] + 1; /* travels with its value */
      }
      hw__scratch_sort(&scratch, n);
      for (size_t i = 0; i < n; i++) {
        assert_true(weights[i] == 3 * values[i] + 1);
        assert_true(i == 0 || values[i - 1] <= values[i]);
      }
    }
  }
}

/* Each side of each part of the box, whatever the weights add up to. */
static void test_each_side_of_the_box_is_told_by_its_own_sentence(void **state) {
  (void)state;
  static hw__warnings warnings;
  static const char *const sentences[] = {"smaller than 1000 g",
                                          "larger than 3000 g",
                                          "further upstream than km -30.00",
                                          "further downstream than km -10.00",
                                          "earlier than",
                                          "later than"};
  static const double weights_of_all[] = {1.0 / COUNT, 0.37, 2};
  for (size_t side = 0; side < 6; side++) {
    for (size_t w = 0; w < 3; w++) {
      for (size_t i = 0; i < COUNT; i++) {
        const double even = ((double)i + 0.5) / COUNT, leaning = side % 2 ? 1 - 0.03 * even : 0.03 * even;
        samples[i] = (hw_sample){.source = {1000 + 2000 * (side / 2 == 0 ? leaning : even),
                                            -30000 + 20000 * (side / 2 == 1 ? leaning : even),
                                            -500 + 300 * (side / 2 == 2 ? leaning : even)},
                                 .weight = weights_of_all[w]};
      }
      hw__warnings_clear(&warnings);
      hw__warn_box(&warnings, &box, samples, COUNT);
      assert_int_equal(warnings.count, 1);
      assert_non_null(strstr(warnings.pointers[0], sentences[side]));
    }
  }
  /* All in one place have no spread, and lean on nothing. */
  for (size_t i = 0; i < COUNT; i++) {
    samples[i] = (hw_sample){.source = {1000, -30000, -500}, .weight = 1.0 / COUNT};
  }
  hw__warnings_clear(&warnings);
  hw__warn_box(&warnings, &box, samples, COUNT);
  assert_int_equal(warnings.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sort_orders_pairs_of_any_kind),
      cmocka_unit_test(test_weighted_quantiles_match_repeated_values),
      cmocka_unit_test(test_zero_weights_do_not_count),
      cmocka_unit_test(test_even_samples_give_even_intervals),
      cmocka_unit_test(test_one_mode_is_one_stretch),
      cmocka_unit_test(test_two_modes_are_two_stretches),
      cmocka_unit_test(test_a_stretch_ends_where_the_box_does),
      cmocka_unit_test(test_samples_at_one_place_suspect_what_is_there),
      cmocka_unit_test(test_suspicion_is_bayes_rule_on_the_density),
      cmocka_unit_test(test_priors_multiply_the_odds),
      cmocka_unit_test(test_a_candidate_idle_at_the_time_is_less_suspect),
      cmocka_unit_test(test_far_candidates_leave_none_of_these),
      cmocka_unit_test(test_arrival_counts_what_does_not_pass),
      cmocka_unit_test(test_an_arrival_has_a_time_where_the_interval_does),
      cmocka_unit_test(test_box_warning_names_the_side),
      cmocka_unit_test(test_warnings_beyond_capacity_are_dropped),
      cmocka_unit_test(test_each_side_of_the_box_is_told_by_its_own_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

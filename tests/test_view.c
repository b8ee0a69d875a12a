/* A sensor's view (posterior/view.h): points that stand for many readings, their likelihood, its second order, and the
 * kernel that works it out for many curves at once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/rng.h"
#include "posterior/kernel.h"
#include "posterior/quadratic.h"
#include "posterior/view.h"

static hw__tails tails;
static hw_rng rng;

static int start_again(void **state) {
  (void)state;
  hw__tails_build(&tails);
  hw_rng_seed(&rng, 37, 14);
  return 0;
}

static double between(double lo, double hi) {
  return lo + (hi - lo) * hw_rng_uniform(&rng);
}

/* Inverse Gaussian times T / theta: its Laplace transform is known. With lambda = theta^3 / V and
 * q = sqrt(1 + 2 theta^2 k / lambda), the integral is area exp(lambda (1 - q) / theta) / q; the area itself at k = 0.
 */
static void test_a_curve_integrates_to_its_area_less_what_decays(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    const double width = between(200, 3000), travel = width * exp(between(0.3, 4)), spread = between(0, HW__APART);
    const double decay = round % 2 ? between(0, 2) / travel : 0, variance = width * width;
    const hw__curve curve = {.passage_s = between(-1e5, 1e5),
                             .travel_s = travel,
                             .variance_s2 = width * width,
                             .area_g_s_m3 = 142,
                             .decay_per_s = decay};
    const double lambda = travel * travel * travel / variance, q = sqrt(1 + 2 * travel * travel * decay / lambda);
    const double begin = curve.passage_s - travel - width, end = curve.passage_s + 40 * sqrt(variance);
    const int steps = 20000;
    double sum = 0;
    for (int i = 0; i < steps; i++) { /* midpoints: of a smooth bump, exact but for its cut ends */
      sum += hw__curve_at(&curve, begin + (i + 0.5) * (end - begin) / steps, spread * width * width);
    }
    /* Ends: beyond 40 standard deviations the widest curve (V = 3 width^2, travel 1.35 width) still holds
     * exp(-theta (40 sd) / 2 V), 1e-7. */
    check_near(sum * (end - begin) / steps, 142 * exp(lambda * (1 - q) / travel) / q, 142 * 2e-7);
  }
}

/* Readings evenly spread over a quarter of the pulse's width, as the mean of a point and as single ones. */
static void test_a_smeared_point_equals_the_mean_of_its_readings_to_second_order(void **state) {
  (void)state;
  static const double skews[] = {1e-4, 0.12};
  enum { COUNT = 9 };
  for (size_t k = 0; k < 2; k++) {
    const double width = 1420, skew = skews[k], h = 0.25 * width, peak = 1 / (width * sqrt(2 * M_PI));
    const hw__curve curve = {
        .passage_s = 3700, .travel_s = width / skew, .variance_s2 = width * width, .area_g_s_m3 = 1};
    for (double off = -4; off <= 4; off += 0.37) {
      double mean = 0, spread = 0;
      for (int i = 0; i < COUNT; i++) {
        const double lag = h * (i / (COUNT - 1.0) - 0.5);
        mean += hw__curve_at(&curve, 3700 + off * width + lag, 0) / COUNT;
        spread += lag * lag / COUNT;
      }
      /* Fourth order: (m4 - spread^2) / 24 of a fourth derivative of at most 3 peak / width^4, m4 = 1.8 spread^2; the
       * front of an asymmetric curve is the steeper for it. */
      const double second = spread / (width * width), fourth = second * second;
      check_near(hw__curve_at(&curve, 3700 + off * width, spread), mean, peak * (0.1 + 2 * skew) * fourth);
    }
  }
}

static void make_view(const hw__series *series, double width_s, hw__view *view) {
  *view = (hw__view){
      .background_g_m3 = 0.02, .background_precision = INFINITY, .level_from_s = -INFINITY, .level_to_s = INFINITY};
  hw__view_make(series, &(hw__focus){0, width_s, INFINITY}, view);
  for (size_t i = 0; i < view->count; i++) {
    view->fixed[i] = 0.003 * 0.003 / view->readings[i];
  }
}

/* However wide a pulse is looked for, a record keeps its resolution: what drifts for a day looks like a wide one. */
static void test_a_record_is_not_merged_into_a_few_points(void **state) {
  (void)state;
  static hw__series series;
  static hw__view view;
  memset(&series, 0, sizeof series);
  for (int i = 0; i < 61; i++) {
    hw__series_insert(&series, &(hw_reading){.time_s = 710.0 * i, .concentration_g_m3 = 0.02 - 1e-4 * i});
  }
  make_view(&series, 1e7, &view);
  assert_int_equal(view.count, 61);
}

/* How much worse another curve does is the same whether readings are merged or not. */
static void test_merged_points_tell_curves_apart_as_single_readings_do(void **state) {
  (void)state;
  static hw__series series;
  static hw__view single, merged;
  memset(&series, 0, sizeof series);
  const double width = 1420;
  const double truth[HW__PULSE_SIZE] = {0, 2 * log(width), log(0.37 * width), log(0.12), 0};
  const hw__curve curve = hw__curve_from(truth);
  for (int i = 0; i < 240; i++) {
    const double t = 0.1 * width * (i - 120);
    hw__series_insert(&series, &(hw_reading){.time_s = t, .concentration_g_m3 = 0.02 + hw__curve_at(&curve, t, 0)});
  }
  make_view(&series, 1e-3, &single);
  make_view(&series, width, &merged);
  assert_int_equal(single.count, 240);
  assert_in_range(merged.count, 70, 130);    /* 24 widths in quarters, each of two or three readings */
  for (size_t k = 0; k < HW__LN_SKEW; k++) { /* which is right to first order only: the test above */
    double other[HW__PULSE_SIZE];
    memcpy(other, truth, sizeof other);
    other[k] += k == HW__PASSAGE ? 0.2 * width : 0.2;
    const hw__curve moved = hw__curve_from(other);
    const double lost =
        hw__view_log_likelihood(&single, &tails, &curve) - hw__view_log_likelihood(&single, &tails, &moved);
    const double lost_merged =
        hw__view_log_likelihood(&merged, &tails, &curve) - hw__view_log_likelihood(&merged, &tails, &moved);
    /* Within a point the change of the difference d is lost: spread * int d'^2 / int d^2. Five readings 0.06 widths
     * apart have a spread of 0.0072; of a Gaussian's derivatives the second, the variance's, has the ratio 2.5. */
    check_near(lost_merged, lost, 0.0072 * 2.5 * lost);
    assert_true(lost > 10);
  }
}

typedef struct {
  hw__side side;
  double share, level_sd; /* noise that follows the signal; 0: the level is known */
} view_kind;

/* Eighty points about a pulse at `truth`; measured ones as the curve has them, half a standard deviation off at most.
 */
static void random_view(const view_kind *kind, const double truth[HW__PULSE_SIZE], hw__view *view) {
  const hw__curve curve = hw__curve_from(truth);
  const double width = sqrt(curve.variance_s2);
  *view = (hw__view){.count = 80,
                     .background_g_m3 = 0.021,
                     .background_precision = kind->level_sd > 0 ? 1 / (kind->level_sd * kind->level_sd) : INFINITY,
                     .share = kind->share,
                     .share_level = kind->share * 0.021,
                     .level_from_s = -INFINITY,
                     .level_to_s = INFINITY};
  for (size_t i = 0; i < view->count; i++) {
    const double off = 8 * width * ((double)i / (double)view->count - 0.5);
    view->time_s[i] = curve.passage_s + off;
    view->spread_s2[i] = between(0, 0.01) * width * width;
    view->readings[i] = 1 + floor(between(0, 5));
    view->fixed[i] = 0.003 * 0.003 / view->readings[i];
    view->side[i] = (signed char)kind->side;
    const double plume = hw__curve_at(&curve, view->time_s[i], view->spread_s2[i]);
    const double sd = sqrt(hw__view_variance(view, i, plume));
    view->value_g_m3[i] = 0.021 + plume + between(-0.5, 0.5) * sd;
  }
}

static void random_pulse(double y[HW__PULSE_SIZE]) {
  y[HW__PASSAGE] = between(-1e4, 1e4);
  y[HW__LN_VARIANCE] = 2 * log(between(300, 3000));
  y[HW__LN_AREA] = log(between(0.05, 0.5)) + 0.5 * y[HW__LN_VARIANCE];
  y[HW__LN_SKEW] = between(-3, -1);
  y[HW__LN_SHARE] = 0;
}

static double log_likelihood_at(const hw__view *view, const double y[HW__PULSE_SIZE]) {
  const hw__curve curve = hw__curve_from(y);
  return hw__view_log_likelihood(view, &tails, &curve);
}

/* Where the likelihood is what the expansion says it is the second order of: with censored points the noise does not
 * follow the signal, with noise that does the level is known. */
static void test_slopes_match_finite_differences_of_the_likelihood(void **state) {
  (void)state;
  static const view_kind kinds[] = {
      {HW__MEASURED, 0, 0}, {HW__MEASURED, 0.05, 0}, {HW__MEASURED, 0, 0.002}, {HW__BELOW, 0, 0}, {HW__ABOVE, 0, 0}};
  static hw__view view;
  for (int round = 0; round < 60; round++) {
    const view_kind *kind = &kinds[round % 5];
    double truth[HW__PULSE_SIZE];
    random_pulse(truth);
    random_view(kind, truth, &view);
    hw__quadratic q;
    hw__view_expand(&view, &tails, HW__INSTANT_SIZE, truth, &q);
    check_near(q.log_at, log_likelihood_at(&view, truth), 0);
    for (size_t k = 0; k < HW__INSTANT_SIZE; k++) {
      const double step = 1e-4 * (k == HW__PASSAGE ? sqrt(exp(truth[HW__LN_VARIANCE])) : 1);
      double up[HW__PULSE_SIZE], down[HW__PULSE_SIZE];
      memcpy(up, truth, sizeof up);
      memcpy(down, truth, sizeof down);
      up[k] += step;
      down[k] -= step;
      const double slope = (log_likelihood_at(&view, up) - log_likelihood_at(&view, down)) / (2 * step);
      /* The soft bound on misfits changes a score by off^2 / HW__LOUDEST, 0.0025 at half a standard deviation, and the
       * differences inside are one-sided, a ten thousandth. Scores of 80 points add up to the root of the curvature. */
      check_near(q.slope[k], slope, 0.003 * sqrt(q.curvature[k][k]) + 1e-6 * fabs(slope));
    }
  }
}

static void test_curvature_is_never_negative_in_any_direction(void **state) {
  (void)state;
  static hw__view view;
  for (int round = 0; round < 60; round++) {
    const view_kind kind = {(hw__side)(round % 3 - 1), round % 2 ? 0.08 : 0, round % 4 < 2 ? 0 : 0.01};
    double truth[HW__PULSE_SIZE], at[HW__PULSE_SIZE];
    random_pulse(truth);
    random_view(&kind, truth, &view);
    random_pulse(at); /* nowhere near */
    at[HW__PASSAGE] = truth[HW__PASSAGE] + between(-2000, 2000);
    hw__quadratic q;
    hw__view_expand(&view, &tails, HW__INSTANT_SIZE, at, &q);
    for (int direction = 0; direction < 50; direction++) {
      double sum = 0, size = 0, d[HW__PULSE_SIZE];
      for (size_t a = 0; a < HW__INSTANT_SIZE; a++) { /* in units in which each coordinate is about as stiff */
        d[a] = hw_rng_normal(&rng) / sqrt(fmax(q.curvature[a][a], 1e-300));
      }
      for (size_t a = 0; a < HW__INSTANT_SIZE; a++) {
        for (size_t b = 0; b < HW__INSTANT_SIZE; b++) {
          sum += d[a] * q.curvature[a][b] * d[b];
          size += fabs(d[a] * q.curvature[a][b] * d[b]);
        }
      }
      assert_true(isfinite(sum) && sum >= -1e-9 * size); /* roundings of sums that cancel */
    }
  }
}

static void test_a_misfit_is_bounded_however_far_off_a_reading_is(void **state) {
  (void)state;
  static hw__view view;
  const view_kind kind = {HW__MEASURED, 0, 0};
  double truth[HW__PULSE_SIZE];
  random_pulse(truth);
  random_view(&kind, truth, &view);
  const double before = log_likelihood_at(&view, truth);
  view.readings[7] = 1;
  view.value_g_m3[7] = 1e6;
  /* half of HW__LOUDEST; what the point had cost before is at most an eighth */
  check_near(log_likelihood_at(&view, truth), before - 0.5 * HW__LOUDEST, 0.13);
}

static void check_kernel(const hw__view *view, const double truth[HW__PULSE_SIZE], size_t n, bool censored) {
  static hw__curve curves[256];
  static hw__curves fours[64];
  double got[256];
  for (size_t i = 0; i < (n + HW__LANES - 1) / HW__LANES * HW__LANES; i++) {
    double y[HW__PULSE_SIZE];
    random_pulse(y);
    y[HW__PASSAGE] = truth[HW__PASSAGE] + between(-3, 3) * exp(0.5 * truth[HW__LN_VARIANCE]);
    curves[i] = hw__curve_from(y);
    curves[i].area_g_s_m3 = i % 17 == 3 ? 0 : curves[i].area_g_s_m3;
    curves[i].decay_per_s = between(0, 0.3) / curves[i].travel_s;
    hw__curves_set(&fours[i / HW__LANES], i % HW__LANES, curves[i]);
  }
  hw__kernel_log_likelihood(view, &tails, n, fours, false, got, NULL);
  for (size_t i = 0; i < n; i++) {
    const hw__curve curve = curves[i];
    const double want = hw__view_log_likelihood(view, &tails, &curve);
    double readings = 0;
    for (size_t k = 0; k < view->count; k++) {
      readings += view->readings[k];
    }
    /* 1e-9 of its size; a censored point takes signals below a thousandth of its noise for none, at a slope of at most
     * one a reading here, where limits lie within half a standard deviation */
    check_near(got[i], want, 1e-9 * fmax(1, fabs(want)) + (censored ? 1e-3 * readings : 0));
  }
}

static void test_the_kernel_equals_the_likelihood_of_each_curve(void **state) {
  (void)state;
  static hw__view view;
  static const size_t counts[] = {256, 1, 37, 254};
  for (int round = 0; round < 12; round++) {
    const view_kind kind = {(hw__side)(round % 3 - 1), round % 2 ? 0.08 : 0, round % 4 < 2 ? 0 : 0.01};
    double truth[HW__PULSE_SIZE];
    random_pulse(truth);
    random_view(&kind, truth, &view);
    check_kernel(&view, truth, counts[round % 4], kind.side != HW__MEASURED);
  }
}

/* Where the background drifts, what is known of it beforehand is that of the quiet times, which points away from the
 * pulse stand on; the value about which it is integrated is a choice, and changes nothing. */
static void test_a_drifting_background_may_be_integrated_about_any_value(void **state) {
  (void)state;
  static hw__view view;
  double truth[HW__PULSE_SIZE];
  random_pulse(truth);
  random_view(&(view_kind){HW__MEASURED, 0.05, 0.004}, truth, &view);
  const double width = exp(0.5 * truth[HW__LN_VARIANCE]);
  view.level_from_s = truth[HW__PASSAGE] - 2 * width;
  view.level_to_s = truth[HW__PASSAGE] + 2 * width;
  view.background_prior = 0.021;
  const double want = log_likelihood_at(&view, truth);
  view.background_g_m3 = 0.0225;
  /* A misfit x is quadratic but for (x / 30)^2 of itself: of forty points half a standard deviation further off. */
  check_near(log_likelihood_at(&view, truth), want, 0.1);
}

/* Non-detects far above what a hidden background can be tell neither of it nor against it. */
static void test_non_detects_that_tell_nothing_weigh_nothing(void **state) {
  (void)state;
  static hw__view view;
  double truth[HW__PULSE_SIZE];
  random_pulse(truth);
  random_view(&(view_kind){HW__BELOW, 0, 0.01}, truth, &view);
  for (size_t i = 0; i < view.count; i++) {
    view.value_g_m3[i] = 0.37;
  }
  view.hidden = true;
  view.highest_g_m3 = 0.142;
  view.background_g_m3 = 0.25 * view.highest_g_m3;
  check_near(hw__view_log_likelihood(&view, &tails, NULL), 0, 1e-4);
}

/* Near the pulse measured values and non-detects in turn do not merge: those nearest to it are kept, in order of time.
 */
static void test_a_view_that_is_full_keeps_what_is_nearest(void **state) {
  (void)state;
  static hw__series series;
  static hw__view view;
  static const double middles_s[] = {0, 37 * 100.0, 37 * 190.0, 37 * 383.0};
  enum { COUNT = HW__SERIES_SIZE, MORE = COUNT - HW__VIEW_POINTS };
  memset(&series, 0, sizeof series);
  for (int i = 0; i < COUNT; i++) {
    hw__series_insert(&series, &(hw_reading){.time_s = 37.0 * i, .concentration_g_m3 = 0.3 + i, .below_limit = i % 2});
  }
  assert_int_equal(series.count, COUNT);
  for (size_t k = 0; k < sizeof middles_s / sizeof middles_s[0]; k++) {
    view = (hw__view){.background_precision = INFINITY, .level_from_s = -INFINITY, .level_to_s = INFINITY};
    hw__view_make(&series, &(hw__focus){middles_s[k], 1e5, INFINITY}, &view);
    assert_int_equal(view.count, HW__VIEW_POINTS);
    /* 128 on each side of the middle, as far as there are so many. */
    const int first = (int)fmin(fmax(middles_s[k] / 37 - HW__VIEW_POINTS / 2, 0), MORE);
    for (size_t i = 0; i < view.count; i++) {
      check_near(view.time_s[i], 37.0 * ((double)first + (double)i),
                 37 * 1.01 * (k > 0)); /* the middle one, or the next */
      check_near(view.time_s[i] - view.time_s[0], 37.0 * (double)i, 0);
      const int at = (int)round(view.time_s[i] / 37);
      assert_true(view.value_g_m3[i] == 0.3 + at && view.readings[i] == 1 && view.spread_s2[i] == 0);
      assert_int_equal(view.side[i], at % 2 ? HW__BELOW : HW__MEASURED);
    }
  }
}

static void test_a_curve_and_its_coordinates_are_one_another(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    const double share = round % 2 ? between(0.1, 0.9) : 1, variance = exp(between(10, 16));
    const hw__curve curve = {.passage_s = between(-1e5, 1e5),
                             .travel_s = sqrt(variance) * between(2, 40),
                             .variance_s2 = variance,
                             .area_g_s_m3 = between(1, 400),
                             .duration_s = sqrt(12 * variance * (1 / share - 1))};
    double y[HW__PULSE_SIZE];
    hw__curve_to(&curve, y);
    const hw__curve back = hw__curve_from(y);
    /* Through logarithms and roots: some ten roundings of numbers up to 1e5. */
    check_near(back.passage_s, curve.passage_s, 1e-8);
    check_near(back.travel_s / curve.travel_s, 1, 1e-13);
    check_near(back.variance_s2 / curve.variance_s2, 1, 1e-13);
    check_near(back.area_g_s_m3 / curve.area_g_s_m3, 1, 1e-13);
    check_near(back.duration_s, curve.duration_s, 1e-6 * sqrt(variance)); /* a root of a difference from 1 */
    check_near(y[HW__PASSAGE], curve.passage_s + 0.5 * curve.duration_s, 1e-9);
    check_near(exp(y[HW__LN_VARIANCE]), variance / share, 1e-12 * variance / share);
    check_near(y[HW__LN_SHARE], log(share), 1e-12);
  }
}

/* Over a normal prior of standard deviations s a likelihood of curvature J is worth exp(-ln det(I + s J s) / 2) of its
 * top: here two coordinates that go together, and two that nobody asks for. */
static void test_the_price_of_meeting_a_pulse_is_what_the_prior_leaves_to_chance(void **state) {
  (void)state;
  hw__quadratic q = {.size = HW__INSTANT_SIZE};
  q.curvature[HW__PASSAGE][HW__PASSAGE] = 0.37;
  q.curvature[HW__LN_AREA][HW__LN_AREA] = 14.2;
  q.curvature[HW__PASSAGE][HW__LN_AREA] = q.curvature[HW__LN_AREA][HW__PASSAGE] = 1.6;
  q.curvature[HW__LN_VARIANCE][HW__LN_VARIANCE] = 51;
  const double sd[HW__INSTANT_SIZE] = {[HW__PASSAGE] = 7.3, [HW__LN_AREA] = 0.9};
  const double a = 1 + 7.3 * 7.3 * 0.37, b = 1 + 0.9 * 0.9 * 14.2, c = 7.3 * 0.9 * 1.6;
  check_near(hw__price_of_meeting(&q, sd), 0.5 * log(a * b - c * c), 1e-12);
  const double known[HW__INSTANT_SIZE] = {0};
  check_near(hw__price_of_meeting(&q, known), 0, 0);
  /* Without the other one each costs more: what they say together is said twice. */
  const double first[HW__INSTANT_SIZE] = {[HW__PASSAGE] = 7.3}, second[HW__INSTANT_SIZE] = {[HW__LN_AREA] = 0.9};
  assert_true(hw__price_of_meeting(&q, first) + hw__price_of_meeting(&q, second) > hw__price_of_meeting(&q, sd));
}

static void test_the_root_of_a_determinant_is_not_a_number_where_it_is_not_positive(void **state) {
  (void)state;
  double m[HW__PULSE_SIZE][HW__PULSE_SIZE] = {{4, 99}, {1.2, 2.5}}; /* the upper triangle is not read */
  check_near(hw__log_root_det(2, m), 0.5 * log(4 * 2.5 - 1.2 * 1.2), 1e-14);
  check_near(hw__log_root_det(1, m), log(2), 1e-14);
  check_near(hw__log_root_det(0, m), 0, 0);
  m[1][0] = sqrt(10);
  m[1][1] = 2.4;
  assert_true(isnan(hw__log_root_det(2, m)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_curve_integrates_to_its_area_less_what_decays, start_again),
      cmocka_unit_test_setup(test_a_smeared_point_equals_the_mean_of_its_readings_to_second_order, start_again),
      cmocka_unit_test(test_a_record_is_not_merged_into_a_few_points),
      cmocka_unit_test_setup(test_merged_points_tell_curves_apart_as_single_readings_do, start_again),
      cmocka_unit_test_setup(test_slopes_match_finite_differences_of_the_likelihood, start_again),
      cmocka_unit_test_setup(test_curvature_is_never_negative_in_any_direction, start_again),
      cmocka_unit_test_setup(test_a_misfit_is_bounded_however_far_off_a_reading_is, start_again),
      cmocka_unit_test_setup(test_the_kernel_equals_the_likelihood_of_each_curve, start_again),
      cmocka_unit_test_setup(test_a_drifting_background_may_be_integrated_about_any_value, start_again),
      cmocka_unit_test_setup(test_non_detects_that_tell_nothing_weigh_nothing, start_again),
      cmocka_unit_test(test_a_view_that_is_full_keeps_what_is_nearest),
      cmocka_unit_test(test_a_curve_and_its_coordinates_are_one_another),
      cmocka_unit_test(test_the_price_of_meeting_a_pulse_is_what_the_prior_leaves_to_chance),
      cmocka_unit_test(test_the_root_of_a_determinant_is_not_a_number_where_it_is_not_positive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

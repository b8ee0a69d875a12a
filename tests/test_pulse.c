/* What one sensor's readings say by themselves (posterior/pulse.h). */
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/rng.h"
#include "posterior/memory.h"
#include "posterior/pulse.h"

static hw__tails tails;
static hw__series series;
static hw__view view;
static hw__fit fit;

static const double width = 1420, level = 0.021, floor_noise = 0.002, share = 0.05;

static int build_tails(void **state) {
  (void)state;
  hw__tails_build(&tails);
  return 0;
}

static hw_sensor sensor(void) {
  hw_sensor s;
  hw_sensor_init(&s);
  s.noise_absolute_g_m3 = floor_noise;
  s.noise_relative = share;
  return s;
}

/* ln(width / travel time) where the fit's prior has its middle. */
static hw__curve pulse(double height) {
  return (hw__curve){.passage_s = 37000,
                     .travel_s = width * exp(2.1),
                     .variance_s2 = width * width,
                     .area_g_s_m3 = height * width * sqrt(2 * M_PI)};
}

/* `count` readings over 20 widths about the passage, the noise `times` what is stated, cut at `range`. */
static void read_pulse_often(int count, double height, double times, double range, uint64_t seed) {
  const hw__curve curve = pulse(height);
  hw_rng rng;
  hw_rng_seed(&rng, seed, 14);
  memset(&series, 0, sizeof series);
  for (int i = 0; i < count; i++) {
    const double t = curve.passage_s + width * (20.0 * i / count - 10), plume = hw__curve_at(&curve, t, 0);
    const double sd = hypot(floor_noise, share * (plume + level));
    hw__series_insert(
        &series, &(hw_reading){.time_s = t,
                               .concentration_g_m3 = fmin(plume + level + times * sd * hw_rng_normal(&rng), range)});
  }
}

static void read_pulse(double height, double times, double range, uint64_t seed) {
  read_pulse_often(200, height, times, range, seed);
}

static void fit_series(void) {
  const hw_sensor s = sensor();
  hw__pulse_fit(&series, &s, &tails, &fit, &view);
}

/* Variances that the readings' curvature and the fit's prior of the asymmetry (0.8 in ln) leave. */
static void stated_variance(double out[HW__INSTANT_SIZE]) {
  gsl_matrix *m = gsl_matrix_alloc(HW__INSTANT_SIZE, HW__INSTANT_SIZE);
  for (size_t a = 0; a < HW__INSTANT_SIZE; a++) {
    for (size_t b = 0; b < HW__INSTANT_SIZE; b++) { /* the passage in widths, so that the numbers are of a size */
      const double unit = (a == HW__PASSAGE ? width : 1) * (b == HW__PASSAGE ? width : 1);
      gsl_matrix_set(m, a, b, fit.near.curvature[a][b] * unit + (a == b && a == HW__LN_SKEW ? 1 / 0.64 : 0));
    }
  }
  gsl_linalg_cholesky_decomp1(m);
  gsl_linalg_cholesky_invert(m);
  for (size_t a = 0; a < HW__INSTANT_SIZE; a++) {
    out[a] = gsl_matrix_get(m, a, a) * (a == HW__PASSAGE ? width * width : 1);
  }
  gsl_matrix_free(m);
}

static void test_a_clean_pulse_is_fitted_within_its_own_stated_error(void **state) {
  (void)state;
  enum { SEEDS = 50 };
  const hw__curve truth = pulse(0.37);
  const double want[] = {truth.passage_s, log(truth.variance_s2), log(truth.area_g_s_m3)};
  double squares[3] = {0};
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    double variance[HW__INSTANT_SIZE];
    read_pulse(0.37, 1, INFINITY, seed);
    fit_series();
    assert_true(fit.seen && fit.complete && fit.begun && fit.strong && !fit.sketchy);
    stated_variance(variance);
    const double got[] = {fit.curve.passage_s, log(fit.curve.variance_s2), log(fit.curve.area_g_s_m3)};
    for (size_t k = 0; k < 3; k++) {
      const double z2 = (got[k] - want[k]) * (got[k] - want[k]) / variance[k];
      assert_true(z2 < 16); /* one in sixteen thousand of 150 */
      squares[k] += z2 / SEEDS;
    }
    assert_true(isinf(fit.clipped_at_g_m3));
  }
  for (size_t k = 0; k < 3; k++) { /* chi-square of 50 degrees of freedom over 50: within 0.2 (one sd), three times */
    check_near(squares[k], 1, 0.6);
  }
}

/* Merged readings are a mean of many, and the highest mean is no sensor at the end of its range. */
static void test_many_readings_leave_no_bias_and_no_clipped_top(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  read_pulse_often(COUNT, 0.37, 0, INFINITY, 1);
  fit_series();
  assert_true(isinf(fit.clipped_at_g_m3));
  double variance[HW__INSTANT_SIZE];
  stated_variance(variance);
  /* Without noise what is left is merging's own error: a small part of what so many readings could tell. */
  check_near(log(fit.curve.area_g_s_m3), log(pulse(0.37).area_g_s_m3), 0.1 * sqrt(variance[HW__LN_AREA]));
  read_pulse_often(COUNT, 0.37, 1, INFINITY, 2);
  fit_series();
  assert_true(isinf(fit.clipped_at_g_m3));
  check_near(fit.inflation, 1, 0.7); /* as noisy as stated */
  assert_true(fit.wander_g_m3 < 0.1 * floor_noise);
}

/* A level that swings by `swing` noises through the record, read with a detection limit in its middle. */
static void read_at_the_limit(double swing, uint64_t seed) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, 14);
  memset(&series, 0, sizeof series);
  for (int i = 0; i < 400; i++) {
    const double t = 120.0 * i, sd = hypot(floor_noise, share * level);
    const double c = level + sd * (swing * sin(2 * M_PI * i / 200) + hw_rng_normal(&rng));
    hw__series_insert(&series,
                      &(hw_reading){.time_s = t, .concentration_g_m3 = fmax(c, level), .below_limit = c < level});
  }
}

/* Half of the readings show; only how many of them do, from one part of the record to the next, can tell a level that
 * wanders from one that stays. */
static void test_a_level_that_wanders_shows_through_a_detection_limit(void **state) {
  (void)state;
  enum { SEEDS = 20 };
  double stays = 0, wanders = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    read_at_the_limit(0, seed);
    fit_series();
    stays += fit.wander_g_m3 / fit.floor_g_m3 / SEEDS;
    read_at_the_limit(1.5, seed);
    fit_series();
    wanders += fit.wander_g_m3 / fit.floor_g_m3 / SEEDS;
  }
  assert_true(stays < 0.1);                    /* beyond chance, hardly ever */
  assert_true(wanders > 0.6 && wanders < 1.6); /* the swing's own spread is 1.5 / sqrt(2) */
}

/* Readings of a clean river, of which a limit at one standard deviation hides five of six. */
static void read_above_limit(double from_s, double to_s, double every_s, double height, uint64_t seed) {
  const hw__curve curve = pulse(height);
  hw_rng rng;
  hw_rng_seed(&rng, seed, 15);
  memset(&series, 0, sizeof series);
  for (double t = from_s; t <= to_s; t += every_s) {
    const double plume = hw__curve_at(&curve, t, 0), sd = hypot(floor_noise, share * plume);
    const double value = plume + sd * hw_rng_normal(&rng);
    hw__series_insert(
        &series,
        &(hw_reading){.time_s = t, .concentration_g_m3 = fmax(value, floor_noise), .below_limit = value < floor_noise});
  }
}

static hw_sensor limited_sensor(void) {
  hw_sensor s = sensor();
  s.detection_limit_g_m3 = floor_noise;
  return s;
}

/* What a limit leaves of the noise is its upper tail, however many readings stand behind a mean: no larger noise, no
 * level below nothing, no wandering. */
static void test_many_readings_about_a_limit_are_noise_as_stated(void **state) {
  (void)state;
  const hw_sensor s = limited_sensor();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    read_above_limit(37000 - 10 * width, 37000 + 10 * width, 1, 1.2, seed);
    hw__pulse_fit(&series, &s, &tails, &fit, &view);
    assert_true(fit.seen);
    assert_true(fit.inflation < 1.7); /* 4 and more where means were held against what only single readings clear */
    check_near(fit.level_g_m3, 0, 0.05 * floor_noise);
    assert_true(fit.wander_g_m3 < 0.3 * floor_noise); /* more would be a drift */
  }
}

/* Days of quiet readings, detects and non-detects in turn, must not take the room of the pulse between them. */
static void test_a_pulse_in_a_long_record_about_a_limit_keeps_its_readings(void **state) {
  (void)state;
  const hw_sensor s = limited_sensor();
  read_above_limit(37000 - 340 * width, 37000 + 720 * width, 0.57 * width, 1.2, 1);
  hw__pulse_fit(&series, &s, &tails, &fit, &view);
  assert_true(fit.seen);
  double readings = 0;
  for (size_t i = 0; i < view.count; i++) {
    if (fabs(view.time_s[i] - 37000) < 2.5 * width) {
      assert_true(view.side[i] == HW__MEASURED);
      check_near(view.readings[i], 1, 0);
      readings += view.readings[i];
    } else if (fabs(view.time_s[i] - 37000) > 6 * width) { /* nor does a wide point reach to the pulse */
      assert_true(hw__curve_at(&fit.curve, view.time_s[i], view.spread_s2[i]) < 0.05 * floor_noise);
    }
  }
  check_near(readings, 9, 1);
}

static void test_noise_alone_is_no_pulse(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 50; seed++) { /* five and a half standard deviations: never in so many */
    read_pulse(0, 1, INFINITY, seed);
    fit_series();
    assert_false(fit.seen);
    /* the level by 200 readings, a fifteenth of their noise; four times that */
    check_near(view.background_g_m3, level, 4 * hypot(floor_noise, share * level) / sqrt(200));
  }
}

/* What lies below a limit is told by no more than "below it". */
static void censor_below(double limit) {
  for (size_t i = 0; i < series.count; i++) {
    if (series.span[i].value_g_m3 < limit) {
      series.span[i].value_g_m3 = limit;
      series.span[i].side = HW__BELOW;
    }
  }
}

/* The level stands two standard deviations above the limit, and some of its readings fall below: a few non-detects do
 * not hide what all the others show. Where it stands far below the limit, they do. */
static void test_a_few_non_detects_do_not_hide_a_level_that_shows(void **state) {
  (void)state;
  const double sd = hypot(floor_noise, share * level);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    read_pulse(0.37, 1, INFINITY, seed);
    censor_below(level - 2 * sd);
    fit_series();
    assert_true(fit.seen && !view.hidden);
    check_near(view.background_g_m3, level, 4 * sd / sqrt(120)); /* by the readings away from the pulse */
    read_pulse(0.37, 1, INFINITY, seed);
    censor_below(level + 6 * sd);
    fit_series();
    assert_true(fit.seen && view.hidden);
  }
}

/* The level swings by four noises within four hours, and the pulse passes while it is low. */
static void add_a_swinging_level(void) {
  for (size_t i = 0; i < series.count; i++) {
    series.span[i].value_g_m3 -= 4 * floor_noise * cos(2 * M_PI * (series.span[i].time_s - 37000) / 14000);
  }
}

/* Wandering is seen, with a few non-detects at its lowest or without. */
static void test_a_level_that_wanders_is_seen_beside_non_detects(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    for (int cut = 0; cut < 2; cut++) {
      read_pulse(0.12, 1, INFINITY, seed);
      add_a_swinging_level();
      if (cut) {
        censor_below(level - 6.2 * floor_noise);
      }
      fit_series();
      assert_true(fit.seen && !view.hidden);
      check_near(fit.wander_g_m3, 4 * floor_noise / M_SQRT2, 0.6 * floor_noise); /* of two swings */
    }
  }
}

/* A level that swings makes a hump of a hundred readings; the pulse shows in two, a tenth and half as high as it is. It
 * is the pulse that is fitted. */
static void test_a_pulse_read_twice_is_not_outvoted_by_a_level_that_drifts(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    hw_rng rng;
    hw_rng_seed(&rng, seed, 15);
    memset(&series, 0, sizeof series);
    for (int i = 0; i < 70; i++) {
      const double t = 3 * width * i, hump = 6 * floor_noise * exp(-0.5 * pow((t - 90 * width) / (25 * width), 2));
      const double plume = i == 40 ? 0.037 : i == 41 ? 0.185 : 0, c = level + hump + plume;
      hw__series_insert(
          &series,
          &(hw_reading){.time_s = t, .concentration_g_m3 = c + hypot(floor_noise, share * c) * hw_rng_normal(&rng)});
    }
    fit_series();
    assert_true(fit.seen && fit.strong && fit.sketchy);
    check_near(hw__curve_at(&fit.curve, 3 * width * 41, 0), 0.185, 0.25 * 0.185); /* five times its noise */
    assert_true(fit.peak_s > 3 * width * 40 && fit.peak_s < 3 * width * 42);
  }
}

/* Five digits and a noise of one in twenty: the highest value twice is no chance. Where the digits are as coarse as the
 * noise it is one. */
static void test_a_top_that_comes_twice_is_the_end_of_the_range_where_digits_are_fine(void **state) {
  (void)state;
  static const double digits[] = {1e-5, 0.02};
  for (size_t k = 0; k < 2; k++) {
    read_pulse_often(40, 0.37, 1, INFINITY, 3);
    size_t highest = 0;
    for (size_t i = 0; i < series.count; i++) {
      series.span[i].value_g_m3 = digits[k] * round(series.span[i].value_g_m3 / digits[k]);
      highest = series.span[i].value_g_m3 > series.span[highest].value_g_m3 ? i : highest;
    }
    const double top = series.span[highest].value_g_m3;
    series.span[highest - 1].value_g_m3 = top;
    fit_series();
    assert_true(fit.seen && (k == 0 ? fit.clipped_at_g_m3 == top : isinf(fit.clipped_at_g_m3)));
  }
}

/* Hours between readings of a pulse that stays for half an hour: two of them stand above it, and it is a pulse. */
static void test_a_pulse_that_was_read_twice_is_seen(void **state) {
  (void)state;
  static const double off[] = {-0.5, -0.35, -0.2};
  for (size_t k = 0; k < sizeof off / sizeof *off; k++) {
    const double apart = 2.1 * width;
    const hw__curve curve = pulse(14.2);
    hw_rng rng;
    hw_rng_seed(&rng, 5, k);
    memset(&series, 0, sizeof series);
    for (int i = -20; i <= 20; i++) {
      const double t = curve.passage_s + apart * (i + off[k]), plume = hw__curve_at(&curve, t, 0);
      const double noise = hypot(floor_noise, share * (plume + level)) * hw_rng_normal(&rng);
      hw__series_insert(&series, &(hw_reading){.time_s = t, .concentration_g_m3 = plume + level + noise});
    }
    fit_series();
    assert_true(fit.seen && fit.strong);
    check_near(fit.curve.passage_s, curve.passage_s, apart);
  }
}

static void test_a_lone_spike_is_no_pulse(void **state) {
  (void)state;
  static const double heights[] = {0.05, 0.37, 14.2, 1e4};
  for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
      read_pulse(0, 1, INFINITY, seed);
      series.span[73].value_g_m3 += heights[i];
      fit_series();
      assert_false(fit.seen);
    }
  }
}

/* A sensor whose range ends at four tenths of the height. */
static void test_a_clipped_top_is_met_as_at_least(void **state) {
  (void)state;
  const double range = 0.15;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    double clipped = 0;
    read_pulse(0.37, 1, range, seed);
    fit_series();
    assert_true(fit.seen);
    check_near(fit.clipped_at_g_m3, range, 0); /* copied */
    for (size_t i = 0; i < view.count; i++) {
      assert_int_equal(view.side[i], view.value_g_m3[i] < range ? HW__MEASURED : HW__ABOVE);
      clipped += view.side[i] == HW__ABOVE ? view.readings[i] : 0;
    }
    assert_true(clipped > 20);                /* of the 28 within 1.4 widths, where the curve is above the range */
    assert_true(fit.peak_g_m3 > 1.5 * range); /* nothing holds it down to the range */
  }
}

/* Where the readings themselves say that they are beyond the range, the pulse is as well known as it claims. */
static void test_a_top_beyond_the_limit_is_fitted_within_its_own_stated_error(void **state) {
  (void)state;
  const hw__curve truth = pulse(0.37);
  double squares = 0;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    double variance[HW__INSTANT_SIZE];
    read_pulse(0.37, 1, 0.15, seed);
    for (size_t i = 0; i < series.count; i++) {
      series.span[i].side = series.span[i].value_g_m3 < 0.15 ? HW__MEASURED : HW__ABOVE;
    }
    fit_series();
    assert_true(fit.seen);
    stated_variance(variance);
    const double off = log(fit.curve.area_g_s_m3 / truth.area_g_s_m3);
    squares += off * off / variance[HW__LN_AREA] / 50;
  }
  check_near(squares, 1, 0.6); /* as for a clean pulse */
}

/* Misfit: the root mean square of residuals in units of the stated noise; inflation: their mean square over the pulse,
 * against 15 degrees of freedom that the stated noise is worth. Misfits are bounded softly, 9 becomes 9 - 3 * 81 / 300
 * = 8.2 where a point has three readings, and 26 points of which the fit takes 4 show the pulse:
 * (15 + 22 * 8.2) / (15 + 22) = 5.3. */
static void test_understated_noise_inflates_and_honest_noise_does_not(void **state) {
  (void)state;
  enum { SEEDS = 20 };
  double honest = 0, understated = 0, honest_misfit = 0, misfit = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    read_pulse(0.37, 1, INFINITY, seed);
    fit_series();
    honest += fit.inflation / SEEDS;
    honest_misfit += fit.misfit / SEEDS;
    read_pulse(0.37, 3, INFINITY, seed);
    fit_series();
    assert_true(fit.seen);
    understated += fit.inflation / SEEDS;
    misfit += fit.misfit / SEEDS;
  }
  /* 54 points: one misfit's standard deviation is 1 / sqrt(108), the mean's of twenty 0.02; three of them. */
  check_near(honest_misfit, 1, 0.07);
  check_near(misfit, sqrt(8.2), 0.07 * sqrt(8.2));
  /* One inflation's is 8.2 sqrt(44) / 37, the mean's 0.33; three of them. Honest noise: the positive part, 0.1 on
   * average, and readings that seem to go together now and then. */
  check_near(understated, 5.3, 1);
  assert_true(honest < 1.2);
}

/* Readings of a simulation without noise, ages before the plume: 1e-40 is no noise to believe in. */
static void test_noise_that_nobody_states_is_no_better_than_elsewhere(void **state) {
  (void)state;
  const hw__elsewhere elsewhere = {.level_g_m3 = 0, .floor_g_m3 = 0.0137};
  const hw__focus focus = {.middle_s = 37000, .width_s = width, .reach_s = 5 * width};
  hw_sensor s = sensor();
  memset(&series, 0, sizeof series);
  for (int i = 0; i < 14; i++) {
    hw__series_insert(&series, &(hw_reading){.time_s = 1200.0 * i, .concentration_g_m3 = pow(10, -54 + i)});
  }
  hw__pulse_look(&series, &s, &tails, &focus, &elsewhere, &fit, &view);
  check_near(fit.floor_g_m3, floor_noise, 0); /* stated, so believed */
  s.noise_absolute_g_m3 = 0;
  hw__pulse_look(&series, &s, &tails, &focus, &elsewhere, &fit, &view);
  check_near(fit.floor_g_m3, 0.0137, 0);
}

/* Quiet readings tell their scatter, in units of what is stated. Where a limit hides them, the low readings that are
 * left are the flanks of the pulse: taken for noise they would be that of a sensor in another unit. */
static void test_the_flanks_of_a_pulse_are_no_noise(void **state) {
  (void)state;
  const double sd = hypot(floor_noise, share * level);
  for (uint64_t seed = 1; seed <= 5; seed++) {
    read_pulse_often(400, 37, 1, INFINITY, seed);
    fit_series();
    assert_true(fit.scatter > 0.7 && fit.scatter < 3); /* some of the low readings are flanks here too */
    censor_below(level + 6 * sd);
    fit_series();
    check_near(fit.scatter, 0, 0);
  }
}

/* Seven quiet readings, then a release that flows on for the rest of the record. */
static void test_a_plateau_that_fills_the_record_is_no_background(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 142, 0);
  memset(&series, 0, sizeof series);
  for (int i = 0; i < 300; i++) {
    const double plume = i < 7 ? 0 : 0.37 * (1 - exp(-0.37 * (i - 6)));
    const double sd = hypot(floor_noise, share * (plume + level));
    hw__series_insert(&series,
                      &(hw_reading){.time_s = 600 * i, .concentration_g_m3 = plume + level + sd * hw_rng_normal(&rng)});
  }
  fit_series();
  assert_true(fit.seen && fit.strong);
}

/* A release of half a day is a plateau: no instant comes near it. Readings every five minutes, four days of them. */
static void read_plateau(double lasted_s, double edge_s, uint64_t seed) {
  static const double limit = 5e-5, plateau = 0.04;
  hw_rng rng;
  hw_rng_seed(&rng, seed, 16);
  memset(&series, 0, sizeof series);
  const hw__curve curve = {.passage_s = 90000,
                           .travel_s = 8 * edge_s,
                           .variance_s2 = edge_s * edge_s,
                           .area_g_s_m3 = plateau * lasted_s,
                           .duration_s = lasted_s};
  for (int i = 0; i < 1152; i++) {
    const double t = 300.0 * i, plume = hw__curve_at(&curve, t, 0);
    const double value = plume + hypot(2e-5, 0.04 * plume) * hw_rng_normal(&rng);
    hw__series_insert(
        &series, &(hw_reading){.time_s = t, .concentration_g_m3 = fmax(value, limit), .below_limit = value < limit});
  }
}

static void test_a_plateau_of_half_a_day_is_a_release_that_lasted(void **state) {
  (void)state;
  hw_sensor s = sensor();
  s.noise_absolute_g_m3 = 2e-5;
  s.noise_relative = 0.04;
  s.background_g_m3 = 0;
  s.detection_limit_g_m3 = 5e-5;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    const double lasted = seed % 3 == 0 ? 20000 : seed % 3 == 1 ? 46000 : 90000, edge = seed % 2 == 0 ? 800 : 3000;
    read_plateau(lasted, edge, seed);
    hw__pulse_fit(&series, &s, &tails, &fit, &view);
    assert_true(fit.seen && fit.complete && fit.lasting); /* "never rose above its limit", of every third */
    check_near(fit.curve.duration_s, lasted, 0.01 * lasted);
    assert_true(fit.misfit < 1.5);
  }
}

/* A limit at the noise's upper end: now and then a quiet reading shows, between non-detects. */
static void test_flanks_between_non_detects_are_no_scatter(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    read_pulse(1.42, 1, INFINITY, seed);
    censor_below(level + 1.7 * hypot(floor_noise, share * level));
    fit_series();
    assert_true(fit.seen);
    check_near(fit.scatter, 0, 0);
  }
}

/* 300 readings over 30 widths, with noise `times` the stated that keeps `kept` of the last reading's, on a level that
 * rises and falls by `drift` noise floors. Returned: how many of ten seeds show a memory; *mean: of those. */
static int count_memories(double kept, double times, double drift, double *mean) {
  const hw__curve curve = pulse(0.37);
  const double stated = hypot(floor_noise, share * level);
  int shown = 0;
  *mean = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    hw_rng rng;
    hw_rng_seed(&rng, seed, 37);
    memset(&series, 0, sizeof series);
    double noise = hw_rng_normal(&rng);
    for (int i = 0; i < 300; i++) {
      const double t = curve.passage_s + width * (0.1 * i - 15), plume = hw__curve_at(&curve, t, 0);
      noise = kept * noise + sqrt(1 - kept * kept) * hw_rng_normal(&rng);
      const double value = level + plume + drift * floor_noise * sin(0.02 * i) +
                           times * hypot(floor_noise, share * (level + plume)) * noise;
      hw__series_insert(&series, &(hw_reading){.time_s = t, .concentration_g_m3 = value});
    }
    const double memory = hw__memory_of(&series, &curve, level, stated * stated);
    shown += memory > 0;
    *mean += memory;
  }
  *mean /= shown > 0 ? shown : 1;
  return shown;
}

static void test_noise_that_goes_on_from_reading_to_reading_is_told_by_quiet_ones(void **state) {
  (void)state;
  double mean;
  assert_true(count_memories(0.8, 1, 0, &mean) >= 9);
  check_near(mean, 0.78, 0.08);                          /* ten readings on, a tenth is left; some 80 pairs a seed */
  assert_int_equal(count_memories(0, 1, 0, &mean), 0);   /* white */
  assert_int_equal(count_memories(0, 1, 3, &mean), 0);   /* and a drift that is larger than the noise */
  assert_int_equal(count_memories(0, 0.3, 0, &mean), 0); /* smaller than stated */
  assert_int_equal(count_memories(0.8, 0.3, 0, &mean), 0);
}

static void test_readings_whose_noise_goes_on_are_worth_fewer(void **state) {
  (void)state;
  double mean;
  count_memories(0.8, 1, 0, &mean);
  fit_series();
  assert_true(fit.memory > 0.6);
  assert_true(fit.inflation > (1 + 0.6) / (1 - 0.6));
  count_memories(0, 1, 0, &mean);
  fit_series();
  check_near(fit.memory, 0, 0);
  assert_true(fit.inflation < 1.6); /* sixty readings on the pulse, and no memory found in them */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_clean_pulse_is_fitted_within_its_own_stated_error),
      cmocka_unit_test(test_many_readings_leave_no_bias_and_no_clipped_top),
      cmocka_unit_test(test_a_level_that_wanders_shows_through_a_detection_limit),
      cmocka_unit_test(test_many_readings_about_a_limit_are_noise_as_stated),
      cmocka_unit_test(test_a_pulse_in_a_long_record_about_a_limit_keeps_its_readings),
      cmocka_unit_test(test_noise_alone_is_no_pulse),
      cmocka_unit_test(test_a_few_non_detects_do_not_hide_a_level_that_shows),
      cmocka_unit_test(test_a_level_that_wanders_is_seen_beside_non_detects),
      cmocka_unit_test(test_a_pulse_read_twice_is_not_outvoted_by_a_level_that_drifts),
      cmocka_unit_test(test_a_top_that_comes_twice_is_the_end_of_the_range_where_digits_are_fine),
      cmocka_unit_test(test_a_pulse_that_was_read_twice_is_seen),
      cmocka_unit_test(test_a_lone_spike_is_no_pulse),
      cmocka_unit_test(test_a_clipped_top_is_met_as_at_least),
      cmocka_unit_test(test_a_top_beyond_the_limit_is_fitted_within_its_own_stated_error),
      cmocka_unit_test(test_understated_noise_inflates_and_honest_noise_does_not),
      cmocka_unit_test(test_noise_that_nobody_states_is_no_better_than_elsewhere),
      cmocka_unit_test(test_the_flanks_of_a_pulse_are_no_noise),
      cmocka_unit_test(test_a_plateau_that_fills_the_record_is_no_background),
      cmocka_unit_test(test_a_plateau_of_half_a_day_is_a_release_that_lasted),
      cmocka_unit_test(test_flanks_between_non_detects_are_no_scatter),
      cmocka_unit_test(test_noise_that_goes_on_from_reading_to_reading_is_told_by_quiet_ones),
      cmocka_unit_test(test_readings_whose_noise_goes_on_are_worth_fewer),
  };
  return cmocka_run_group_tests(tests, build_tails, NULL);
}

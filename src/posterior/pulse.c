#include "posterior/pulse.h"

#include <math.h>
#include <string.h>

#include "posterior/descent.h"
#include "posterior/duration.h"
#include "posterior/glance.h"
#include "posterior/memory.h"
#include "posterior/noise.h"
#include "posterior/pulse_noise.h"
#include "posterior/quadratic.h"

/* Chi-square gained that makes a pulse: five and a half standard deviations for any place in the record. */
static const double plainly_seen = 30;

/* Readings that can tell a level. */
static const size_t fewest_readings = 3;

/* A curve that has come about by accident costs at least this, a place in time, a height, a width, ln. */
static const double least_accident = 25;

/* Readings above a tenth of its height that a pulse needs to tell its shape by itself. */
static const double shape_readings = 6;

/* Below so many noise floors a pulse may be the level wandering. */
static const double strong_height = 10;

/* Standard deviations of chi-square beyond its mean that make one ask for a duration, and chi-square gained by it that
 * makes it plain. */
static const double lasting_suspected = 2, lasting_plain = 20;

/* By how much the curve rises and falls between readings: what it does where nobody has looked, a level that wanders
 * would do as well. */
static double shown_of(const hw__view *view, const hw__curve *curve) {
  double signal[HW__VIEW_POINTS], least = INFINITY, most = 0;
  hw__curve_over(curve, view->count, view->time_s, view->spread_s2, signal);
  for (size_t i = 0; i < view->count; i++) {
    least = fmin(least, signal[i]);
    most = fmax(most, signal[i]);
  }
  return most - least;
}

/* Readings that stand plainly above the level: two at least make a pulse. */
static double standing_out(const hw__pulse_problem *q, const double *p) {
  const double level = hw__problem_level(q, p);
  double count = 0;
  for (size_t i = 0; i < q->view->count; i++) {
    const double off = (q->view->value_g_m3[i] - level) / sqrt(hw__view_variance(q->view, i, 0));
    const bool out = q->view->side[i] != HW__BELOW && off > 4;
    count += out ? q->view->readings[i] : 0;
  }
  return count;
}

static void set_peak(hw__fit *fit) {
  fit->peak_s = hw__curve_peak_s(&fit->curve);
  fit->peak_g_m3 = hw__curve_at(&fit->curve, fit->peak_s, 0);
}

typedef struct {
  double p[HW__FIT_PARAMETERS];
  double squares;
} attempt;

static attempt fit_from(const hw__pulse_problem *q, double passage_s, double width_s, double height, double level) {
  attempt a = {.p = {(passage_s - q->origin_s) / q->scale_s, log(width_s),
                     log(fmax(height, q->unit_g_m3) / q->unit_g_m3), level / q->unit_g_m3, HW__SKEW_MIDDLE}};
  a.squares = hw__problem_is_sensible(q, a.p) ? hw__problem_descend(q, a.p) : INFINITY;
  return a;
}

/* A first guess: of the passage, in widths; of the width and the height, as shares of what the readings show. */
typedef struct {
  double late, wide, tall;
} guess;

/* Whether a fit is one of the highest reading that another confirms, where that is plain. One reading can speak against
 * a curve only so loudly; so a level that drifts for a day may outvote the two readings in which a narrow pulse showed.
 */
static bool meets_the_highest(const hw__pulse_problem *q, const hw__glance *g, const attempt *a) {
  const double rise = g->high - g->low;
  if (!isfinite(a->squares) || !(rise > strong_height * q->unit_g_m3)) {
    return isfinite(a->squares);
  }
  const hw__curve curve = hw__problem_curve(q, a->p);
  return hw__curve_at(&curve, g->high_s, 0) > 0.5 * rise;
}

/* A few of them: a pulse that is still rising may be wider and later than what is seen of it, and the top of one that
 * was read no more than three times may lie between the readings, narrow and high, nearer to the one or to the other.
 */
static attempt best_fit(const hw__pulse_problem *q, const hw__glance *g, double passage, double width) {
  static const guess guesses[] = {{0, 1, 1},   {0, 0.5, 0.5}, {1, 1.7, 1.7},  {2, 2.5, 2.5},
                                  {0, 0.5, 2}, {0, 0.3, 7},   {-0.4, 0.3, 7}, {0.4, 0.3, 7}};
  const size_t count = g->above_half <= 3 ? 8 : 4;
  attempt best = {.squares = INFINITY};
  bool met = false;
  for (size_t i = 0; i < count; i++) {
    const guess *f = &guesses[i];
    const attempt a = fit_from(q, passage + f->late * width, f->wide * width, (g->high - g->low) * f->tall, g->low);
    const bool meets = meets_the_highest(q, g, &a);
    if (meets > met || (meets == met && a.squares < best.squares)) {
      best = a;
      met = meets;
    }
  }
  return best;
}

static void fit_level(hw__pulse_problem *q, const hw__glance *g, double *p) {
  q->pulse = false;
  memset(p, 0, HW__FIT_PARAMETERS * sizeof *p);
  p[HW__FIT_LEVEL] = g->low / q->unit_g_m3;
  p[HW__FIT_LN_WIDTH] = log(q->scale_s);
  p[HW__FIT_LN_SKEW] = HW__SKEW_MIDDLE;
  hw__problem_descend(q, p);
}

static void store_background(const hw__pulse_problem *q, const double *p, hw__view *view) {
  const double level = hw__problem_level(q, p);
  view->background_g_m3 = view->hidden ? 0.25 * view->highest_g_m3 : level;
  view->background_prior = q->level_prior;
  view->background_precision = q->level_sd > 0 ? 1 / (q->level_sd * q->level_sd) : INFINITY;
}

static hw__pulse_problem make_problem(const hw_sensor *sensor, const hw__tails *tails, const hw__glance *g,
                                      const hw__fit *fit, const hw__focus *focus, hw__view *view) {
  view->level_from_s = -INFINITY;
  view->level_to_s = INFINITY;
  const bool hidden = g->hidden > 0, given = !isnan(sensor->background_g_m3);
  const double sd = hidden ? 0.35 * g->lowest_limit + 0.5 * fit->floor_g_m3 : 3 * fit->floor_g_m3 + 2 * fmax(g->low, 0);
  view->hidden = hidden && !given;
  if (hidden) { /* so far below the limit that all of the non-detects stay there */
    const double noise = hypot(fit->floor_g_m3, sensor->noise_relative * g->lowest_limit);
    view->highest_g_m3 = fmax(g->lowest_limit - 0.8 * sqrt(2 * log1p(g->hidden)) * noise, 0.1 * g->lowest_limit);
  }
  return (hw__pulse_problem){.sensor = sensor,
                             .tails = tails,
                             .view = view,
                             .origin_s = focus->middle_s,
                             .scale_s = focus->width_s,
                             .unit_g_m3 = fit->floor_g_m3,
                             .level_prior = hidden ? 0.35 * g->lowest_limit : 0,
                             .level_sd = given ? 0 : sd};
}

/* The sensor without a plume: its level, its noise, its likelihood. */
static void settle_quiet(hw__pulse_problem *q, const hw__glance *g, hw__fit *fit) {
  double p[HW__FIT_PARAMETERS];
  const double usual = g->scatter > 0 ? g->scatter : INFINITY;
  fit->inflation = 1;
  fit->wander_g_m3 = 0;
  q->pulse = false;
  hw__noise_set_view(q, fit, NULL, g->low, usual);
  hw__noise_set_first(q, g->low);
  fit_level(q, g, p);
  hw__noise_set_view(q, fit, NULL, hw__problem_level(q, p), usual);
  hw__noise_set_variance(q, p);
  fit_level(q, g, p);
  hw__noise_learn(q, p, fit);
  hw__noise_set_view(q, fit, NULL, hw__problem_level(q, p), usual);
  store_background(q, p, q->view);
  fit->level_g_m3 = q->view->background_g_m3;
  fit->log_likelihood = fit->log_without = hw__view_log_likelihood(q->view, q->tails, NULL);
}

/* What readings would be worth to a curve that meets every one of them. */
static double log_met(const hw__view *view) {
  double sum = 0;
  for (size_t i = 0; i < view->count; i++) {
    const double signal = fmax(view->value_g_m3[i] - view->background_g_m3, 0);
    sum += view->side[i] == HW__MEASURED ? hw__view_measured_by_level(view, i, signal).value : 0;
  }
  return sum;
}

/* Scatter of quiet readings over the noise that is stated there; 0: not known. Where a limit hides the quiet ones, what
 * is left of low readings are the flanks of a pulse. */
static double scatter_of(const hw_sensor *sensor, const hw__glance *g, double floor_g_m3) {
  static const double most_below = 0.5;
  return g->hidden > 0 || g->below > most_below ? 0 : g->scatter / sqrt(hw__noise_variance(sensor, floor_g_m3, g->low));
}

/* What is known of a sensor before anything is fitted. */
static hw__fit fit_at_first(const hw__series *series, const hw_sensor *sensor, const hw__glance *g) {
  const double floor = hw__glance_floor(sensor, g);
  return (hw__fit){.few = series->count < fewest_readings,
                   .accident = least_accident,
                   .inflation = 1,
                   .misfit = 1,
                   .floor_g_m3 = floor,
                   .scatter = scatter_of(sensor, g, floor),
                   .flat = g->flat && sensor->noise_absolute_g_m3 > 0,
                   .first_s = series->span[0].time_s,
                   .last_s = series->span[series->count - 1].time_s};
}

void hw__pulse_look(const hw__series *series, const hw_sensor *sensor, const hw__tails *tails, const hw__focus *focus,
                    const hw__elsewhere *elsewhere, hw__fit *fit, hw__view *view) {
  hw__glance g = hw__glance_at(series, sensor);
  const bool few = series->count < fewest_readings;
  if (few && isnan(sensor->background_g_m3)) { /* all of them may stand on the pulse */
    g.low = fmin(g.low, elsewhere->level_g_m3);
  }
  *fit = fit_at_first(series, sensor, &g);
  if (!(sensor->noise_absolute_g_m3 > 0) && !(sensor->detection_limit_g_m3 > 0)) {
    fit->floor_g_m3 = fmax(fit->floor_g_m3, elsewhere->floor_g_m3);
  }
  hw__focus there = *focus;
  there.floor_g_m3 = fit->floor_g_m3;
  there.share = sensor->noise_relative;
  hw__view_make(series, &there, view);
  hw__pulse_problem q = make_problem(sensor, tails, &g, fit, &there, view);
  settle_quiet(&q, &g, fit);
  if (few) { /* where it is wrong, it is so by itself: any curve could have met it */
    fit->log_likelihood = fmax(fit->log_likelihood, log_met(view));
  }
}

/* The curve p, seen through the view that suits it. */
static void refocus(hw__pulse_problem *q, const hw__series *series, const hw__glance *g, const hw__fit *fit,
                    hw__focus *focus, double *p) {
  const hw__curve curve = hw__problem_curve(q, p);
  const double level = hw__problem_level(q, p), height = q->unit_g_m3 * exp(p[HW__FIT_LN_HEIGHT]),
               width = exp(p[HW__FIT_LN_WIDTH]);
  const bool lasting = q->lasting;
  focus->middle_s = q->origin_s + q->scale_s * p[HW__FIT_PLACE];
  /* One that lasted is steeper than it is wide. */
  focus->width_s = fmax(sqrt(curve.variance_s2), 0.2 * width);
  focus->flank_s = 0.5 * curve.duration_s;
  focus->flank_width_s = lasting ? sqrt(curve.variance_s2) : 0;
  focus->reach_s = 5 * width;
  hw__view_make(series, focus, q->view);
  *q = make_problem(q->sensor, q->tails, g, fit, focus, q->view);
  q->pulse = true;
  q->lasting = lasting;
  p[HW__FIT_PLACE] = 0;
  p[HW__FIT_LN_WIDTH] = log(width);
  p[HW__FIT_LN_HEIGHT] = log(height / q->unit_g_m3);
  p[HW__FIT_LEVEL] = level / q->unit_g_m3;
}

/* ln of the prior's range of variance and area, and how far the asymmetry strays, ln. In so many more ways something
 * that has nothing to do with a plume may have another shape than one. */
static const double log_range = 8, skew_sd = 0.8, shape_modes = 3;

/* A curve of its own explains a sensor's readings as well as they can be. For that it had to happen with just this
 * passage, width, height and asymmetry, which is the less probable the better the readings tell them: the share of the
 * prior that the second order of the likelihood leaves. Without it the evidence of a release, which pays for every
 * digit, would fall behind that of a wrong sensor as readings become denser. */
static double accident_of(const hw__fit *fit) {
  double told[HW__PULSE_SIZE][HW__PULSE_SIZE];
  memcpy(told, fit->near.curvature, sizeof told);
  told[HW__LN_SKEW][HW__LN_SKEW] += 1 / (skew_sd * skew_sd);
  const double log_root = hw__log_root_det(HW__INSTANT_SIZE, told);
  if (isnan(log_root)) {
    return least_accident; /* the readings do not tell them apart */
  }
  /* As precisely as the height is told, so is the rest of the shape, which only by accident is the equation's. */
  const double shape = shape_modes * 0.5 * log(fmax(fit->near.curvature[HW__LN_AREA][HW__LN_AREA], 1));
  const double length = fmax(fit->last_s - fit->first_s, sqrt(fit->curve.variance_s2));
  const double ranges = log(length) + 2 * log(log_range) + log(skew_sd * sqrt(2 * M_PI));
  return fmax(ranges + shape + log_root - 0.5 * HW__INSTANT_SIZE * log(2 * M_PI), least_accident);
}

/* What comes of a fit. */
static void store_pulse(hw__pulse_problem *q, const double *p, const hw__glance *g, hw__fit *fit) {
  hw__view *view = q->view;
  store_background(q, p, view);
  fit->level_g_m3 = view->background_g_m3;
  fit->curve = hw__problem_curve(q, p);
  fit->log_likelihood = hw__view_log_likelihood(view, q->tails, &fit->curve);
  double instant[HW__FIT_PARAMETERS], y[HW__PULSE_SIZE];
  memcpy(instant, p, sizeof instant);
  if (q->lasting) { /* the best that an instant can do */
    q->lasting = false;
    hw__problem_descend(q, instant);
    view->background_g_m3 = hw__problem_level(q, p);
    fit->lasting = true;
  }
  const hw__curve best = hw__problem_curve(q, instant);
  hw__curve_to(&best, y);
  y[HW__LN_SKEW] = instant[HW__FIT_LN_SKEW];
  hw__view_expand(view, q->tails, HW__INSTANT_SIZE, y, &fit->near);
  double alone[HW__FIT_PARAMETERS];
  const double kept = view->background_g_m3;
  fit_level(q, g, alone);
  view->background_g_m3 = hw__problem_level(q, alone);
  fit->log_without = hw__view_log_likelihood(view, q->tails, NULL);
  view->background_g_m3 = kept;
  set_peak(fit);
  double on_pulse = 0;
  for (size_t i = 0; i < view->count; i++) {
    on_pulse += hw__curve_at(&fit->curve, view->time_s[i], 0) > 0.1 * fit->peak_g_m3 ? view->readings[i] : 0;
  }
  fit->sketchy = on_pulse < shape_readings;
  fit->strong = shown_of(view, &fit->curve) > strong_height * hypot(fit->floor_g_m3, fit->wander_g_m3);
  fit->seen = true;
  fit->accident = accident_of(fit);
  fit->begun = fit->first_s < fit->curve.passage_s - 1.2 * sqrt(fit->curve.variance_s2);
  fit->complete = fit->last_s > fit->peak_s && hw__curve_at(&fit->curve, fit->last_s, 0) < 0.5 * fit->peak_g_m3;
}

/* The fit of a release that lasted, from where that of an instant ended and from the stretch of readings that stand
 * high: on a plateau of half a day an instant finds no hold. */
static attempt best_lasting(hw__pulse_problem *q, const hw__glance *g, const attempt *instant, double passage,
                            double width) {
  static const double first[] = {0.8, 1.5}; /* of LASTED: durations of 2.4 and 3.3 standard deviations */
  static const double box = 0.7; /* standard deviation of a plateau over a pulse's as wide at half its height */
  attempt found = {.squares = INFINITY};
  for (size_t i = 0; i < 2 * sizeof first / sizeof first[0]; i++) {
    attempt a =
        i % 2 == 0
            ? *instant
            : (attempt){.p = {(passage - q->origin_s) / q->scale_s, log(box * width),
                              log(fmax((g->high - g->low) / q->unit_g_m3, 1)), g->low / q->unit_g_m3, HW__SKEW_MIDDLE}};
    a.p[HW__FIT_LASTED] = first[i / 2];
    if (!isfinite(a.squares) || !hw__problem_is_sensible(q, a.p)) {
      continue;
    }
    a.squares = hw__problem_descend(q, a.p);
    hw__noise_set_variance(q, a.p); /* lower than an instant's peak, the plateau is less noisy */
    a.squares = hw__problem_descend(q, a.p);
    found = a.squares < found.squares ? a : found;
  }
  return found;
}

/* Does the pulse plainly come from a release that lasted? Then `best` becomes the fit of one. Asked only where an
 * instant leaves more than noise, and by what the fit of one leaves. */
static bool lasts(hw__pulse_problem *q, const hw__glance *g, double passage, double width, attempt *best) {
  double r[HW__FIT_RESIDUALS];
  const double n = (double)q->view->count, instant = isfinite(best->squares)
                                                         ? hw__sum_of_squares(r, hw__problem_residuals(q, best->p, r))
                                                         : INFINITY;
  if (!(instant > n + lasting_suspected * sqrt(n))) {
    return false;
  }
  q->lasting = true;
  const attempt found = best_lasting(q, g, best, passage, width);
  const double left = fmax(found.squares / fmax(n - 6, 1), 1);
  q->lasting = instant - found.squares > lasting_plain * left;
  if (q->lasting) {
    *best = found;
  } else {
    hw__noise_set_variance(q, best->p);
  }
  return q->lasting;
}

void hw__pulse_fit(const hw__series *series, const hw_sensor *sensor, const hw__tails *tails, hw__fit *fit,
                   hw__view *view) {
  hw__glance g = hw__glance_at(series, sensor);
  *fit = fit_at_first(series, sensor, &g);
  hw__glance_clipping(series, fit->floor_g_m3, sensor->noise_relative, &g);
  fit->clipped_at_g_m3 = g.clipped_at;
  double passage, width;
  hw__glance_guess(series, &g, &passage, &width);
  hw__focus focus = {.middle_s = passage,
                     .width_s = width,
                     .reach_s = 5 * width,
                     .clipped_g_m3 = isfinite(g.clipped_at) ? g.clipped_at : 0,
                     .floor_g_m3 = fit->floor_g_m3,
                     .share = sensor->noise_relative};
  hw__view_make(series, &focus, view);
  hw__pulse_problem q = make_problem(sensor, tails, &g, fit, &focus, view);
  if (!(g.high - g.low > 3 * fit->floor_g_m3) || fit->few) {
    settle_quiet(&q, &g, fit);
    return;
  }
  const double usual = g.scatter > 0 ? g.scatter : INFINITY;
  hw__noise_set_view(&q, fit, NULL, g.low, usual);
  hw__noise_set_first(&q, g.low);
  double quiet[HW__FIT_PARAMETERS], r[HW__FIT_RESIDUALS];
  fit_level(&q, &g, quiet);
  const double without = hw__sum_of_squares(r, hw__problem_residuals(&q, quiet, r));
  q.pulse = true;
  attempt best = best_fit(&q, &g, passage, width);
  const bool plain = without - best.squares > plainly_seen;
  if (!(plain || (lasts(&q, &g, passage, width, &best) && without - best.squares > plainly_seen)) ||
      standing_out(&q, best.p) < 2) {
    q.lasting = false;
    settle_quiet(&q, &g, fit);
    return;
  }
  for (int round = 0; round < 2; round++) { /* the view, the noise and the fit follow each other */
    refocus(&q, series, &g, fit, &focus, best.p);
    hw__noise_set_view(&q, fit, NULL, hw__problem_level(&q, best.p), usual);
    hw__noise_set_variance(&q, best.p);
    hw__problem_descend(&q, best.p);
  }
  if (!q.lasting && lasts(&q, &g, passage, width, &best)) {
    refocus(&q, series, &g, fit, &focus, best.p);
    hw__noise_set_view(&q, fit, NULL, hw__problem_level(&q, best.p), usual);
    hw__noise_set_variance(&q, best.p);
    hw__problem_descend(&q, best.p);
  }
  hw__noise_set_variance(&q, best.p);
  const hw__curve pulse = hw__problem_curve(&q, best.p);
  const double level = hw__problem_level(&q, best.p);
  fit->memory = hw__memory_of(series, &pulse, level, hw__noise_variance(sensor, fit->floor_g_m3, level));
  hw__noise_learn(&q, best.p, fit);
  hw__noise_set_view(&q, fit, &pulse, hw__problem_level(&q, best.p), usual);
  hw__noise_let_drift(&q, fit, &focus, best.p);
  hw__noise_set_variance(&q, best.p);
  hw__problem_descend(&q, best.p);
  store_pulse(&q, best.p, &g, fit);
}

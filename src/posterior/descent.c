#include "posterior/descent.h"

#include <math.h>
#include <string.h>

#include "posterior/limits.h"

enum { ITERATIONS = 40 };
static const double skew_sd = 0.8;

hw__curve hw__problem_curve(const hw__pulse_problem *q, const double *p) {
  const double width = exp(p[HW__FIT_LN_WIDTH]), travel = width * exp(-p[HW__FIT_LN_SKEW]);
  const hw__curve instant = {.passage_s = q->origin_s + q->scale_s * p[HW__FIT_PLACE],
                             .travel_s = travel,
                             .variance_s2 = width * width,
                             .area_g_s_m3 = q->unit_g_m3 * exp(p[HW__FIT_LN_HEIGHT]) * width * sqrt(2 * M_PI)};
  if (!q->lasting) {
    return instant;
  }
  double y[HW__PULSE_SIZE];
  hw__curve_to(&instant, y);
  y[HW__LN_SHARE] = -p[HW__FIT_LASTED] * p[HW__FIT_LASTED];
  return hw__curve_from(y);
}

double hw__problem_level(const hw__pulse_problem *q, const double *p) {
  return q->level_sd > 0 ? q->unit_g_m3 * p[HW__FIT_LEVEL] : q->sensor->background_g_m3;
}

void hw__problem_signals(const hw__pulse_problem *q, const double *p, double out[HW__VIEW_POINTS]) {
  const hw__view *v = q->view;
  if (!q->pulse) {
    memset(out, 0, v->count * sizeof *out);
    return;
  }
  const hw__curve curve = hw__problem_curve(q, p);
  hw__curve_over(&curve, v->count, v->time_s, v->spread_s2, out);
}

/* Of four points from i on, where these signals are expected. */
HW__INLINE hw__v4 residuals_of(const hw__pulse_problem *q, size_t i, hw__v4 signal) {
  const hw__view *v = q->view;
  const size_t n = v->count;
  const hw__v4 time = hw__four_of(v->time_s, i, n), readings = hw__four_of(v->readings, i, n);
  const hw__i4 on_level = (time >= v->level_from_s) & (time <= v->level_to_s);
  const hw__v4 level = hw__v4_choose(on_level, hw__v4_all(v->background_g_m3), hw__v4_all(v->background_prior));
  const hw__v4 below = hw__four_of(v->value_g_m3, i, n) - level, off = below - signal;
  const hw__v4 sides = {v->side[i], v->side[i + 1 < n ? i + 1 : n - 1], v->side[i + 2 < n ? i + 2 : n - 1],
                        v->side[i + 3 < n ? i + 3 : n - 1]};
  const hw__i4 cut = (sides < 0.0) | (sides > 0.0);
  /* off sd^-1 (1 + (square / loudest)^2)^-1/4 */
  const hw__v4 variance = hw__four_of(q->variance, i, n), loud = off * off / (HW__LOUDEST * readings);
  const hw__v4 measured = off / hw__v4_sqrt(hw__v4_sqrt(variance * variance + loud * loud));
  if (!hw__v4_any(cut)) {
    return measured;
  }
  const hw__v4 following = v->share * signal + v->share_level;
  const hw__censored4 c = {-sides * below, sides, readings,
                           hw__four_of(v->fixed, i, n) * readings + following * following, cut};
  return hw__v4_choose(cut, hw__v4_sqrt(-2.0 * hw__censored(q->tails, &c, signal).value), measured);
}

HW__CLONES static void find_residuals(const hw__pulse_problem *q, const double *signal, double *out) {
  const size_t n = q->view->count;
  for (size_t i = 0; i < n; i += HW__LANES) {
    const hw__v4 four = residuals_of(q, i, hw__four_of(signal, i, n));
    memcpy(out + i, &four, (n - i < HW__LANES ? n - i : HW__LANES) * sizeof *out);
  }
}

size_t hw__problem_residuals(const hw__pulse_problem *q, const double *p, double *out) {
  hw__view *v = q->view;
  double signal[HW__VIEW_POINTS];
  const double near = hw__problem_level(q, p);
  v->background_g_m3 = near;
  v->background_prior = q->level_prior;
  hw__problem_signals(q, p, signal);
  find_residuals(q, signal, out);
  out[v->count] = q->pulse ? (p[HW__FIT_LN_SKEW] - HW__SKEW_MIDDLE) / skew_sd : 0;
  out[v->count + 1] = q->level_sd > 0 ? (near - q->level_prior) / q->level_sd : 0;
  return v->count + 2;
}

double hw__sum_of_squares(const double *r, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += r[i] * r[i];
  }
  return sum;
}

static bool is_free(const hw__pulse_problem *q, size_t k) {
  return k == HW__FIT_LEVEL ? q->level_sd > 0 : q->pulse && (k != HW__FIT_LASTED || q->lasting);
}

/* Normal equations of the residuals at p, by differences. Parameters that are not free have a row of the identity. */
static void linearise(const hw__pulse_problem *q, const double *p, const double *r,
                      double normal[HW__FIT_PARAMETERS][HW__FIT_PARAMETERS], double gradient[HW__FIT_PARAMETERS]) {
  double slope[HW__FIT_PARAMETERS][HW__FIT_RESIDUALS];
  const size_t n = q->view->count + 2;
  for (size_t k = 0; k < HW__FIT_PARAMETERS; k++) {
    double moved[HW__FIT_PARAMETERS];
    memcpy(moved, p, sizeof moved);
    const double step = 1e-5 * fmax(1, k == HW__FIT_LEVEL ? fabs(p[k]) : 1);
    moved[k] += step;
    if (is_free(q, k)) {
      hw__problem_residuals(q, moved, slope[k]);
    }
    for (size_t i = 0; i < n; i++) {
      slope[k][i] = is_free(q, k) ? (slope[k][i] - r[i]) / step : 0;
    }
  }
  for (size_t a = 0; a < HW__FIT_PARAMETERS; a++) {
    gradient[a] = 0;
    for (size_t i = 0; i < n; i++) {
      gradient[a] += slope[a][i] * r[i];
    }
    for (size_t b = 0; b <= a; b++) {
      double sum = 0;
      for (size_t i = 0; i < n; i++) {
        sum += slope[a][i] * slope[b][i];
      }
      normal[a][b] = normal[b][a] = sum;
    }
    if (!is_free(q, a)) {
      normal[a][a] = 1;
    }
  }
}

/* Solves (normal + damping diag) step = -gradient by Cholesky; false when it is not positive. */
static bool damped_step(const double normal[HW__FIT_PARAMETERS][HW__FIT_PARAMETERS],
                        const double gradient[HW__FIT_PARAMETERS], double damping, double step[HW__FIT_PARAMETERS]) {
  double root[HW__FIT_PARAMETERS][HW__FIT_PARAMETERS] = {{0}};
  for (size_t a = 0; a < HW__FIT_PARAMETERS; a++) {
    for (size_t b = 0; b <= a; b++) {
      double sum = a == b ? normal[a][a] * (1 + damping) + 1e-9 : normal[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= root[a][k] * root[b][k];
      }
      if (a == b && !(sum > 0)) {
        return false;
      }
      root[a][b] = a == b ? sqrt(sum) : sum / root[b][b];
    }
  }
  for (size_t a = 0; a < HW__FIT_PARAMETERS; a++) {
    double sum = -gradient[a];
    for (size_t k = 0; k < a; k++) {
      sum -= root[a][k] * step[k];
    }
    step[a] = sum / root[a][a];
  }
  for (size_t a = HW__FIT_PARAMETERS; a-- > 0;) {
    double sum = step[a];
    for (size_t k = a + 1; k < HW__FIT_PARAMETERS; k++) {
      sum -= root[k][a] * step[k];
    }
    step[a] = sum / root[a][a];
  }
  return true;
}

/* At most this far in one step, in units of the parameters, so that no pulse jumps off the record. */
static void shorten(double step[HW__FIT_PARAMETERS]) {
  static const double most[HW__FIT_PARAMETERS] = {1.5, 0.7, 1.5, INFINITY, 0.7, 0.5};
  double share = 1;
  for (size_t k = 0; k < HW__FIT_PARAMETERS; k++) {
    share = fmin(share, most[k] / fmax(fabs(step[k]), 1e-300));
  }
  for (size_t k = 0; k < HW__FIT_PARAMETERS; k++) {
    step[k] *= share;
  }
}

bool hw__problem_is_sensible(const hw__pulse_problem *q, const double *p) {
  const double width = exp(p[HW__FIT_LN_WIDTH]) / q->scale_s;
  return fabs(p[HW__FIT_PLACE]) < 40 && width > 0.02 && width < 60 && p[HW__FIT_LN_SKEW] > -6 &&
         p[HW__FIT_LN_SKEW] < -0.1 && fabs(p[HW__FIT_LN_HEIGHT]) < 60 && p[HW__FIT_LASTED] >= 0 &&
         p[HW__FIT_LASTED] < 3.5;
}

double hw__problem_descend(const hw__pulse_problem *q, double *p) {
  double r[HW__FIT_RESIDUALS], normal[HW__FIT_PARAMETERS][HW__FIT_PARAMETERS], gradient[HW__FIT_PARAMETERS],
      damping = 1e-2;
  double best = hw__sum_of_squares(r, hw__problem_residuals(q, p, r));
  for (int i = 0; i < ITERATIONS; i++) {
    linearise(q, p, r, normal, gradient);
    bool moved = false;
    double gain = 0;
    for (; damping < 1e8 && !moved; damping *= moved ? 1 : 8) {
      double step[HW__FIT_PARAMETERS], tried[HW__FIT_PARAMETERS], r_tried[HW__FIT_RESIDUALS];
      if (!damped_step((const double(*)[HW__FIT_PARAMETERS])normal, gradient, damping, step)) {
        continue;
      }
      shorten(step);
      for (size_t k = 0; k < HW__FIT_PARAMETERS; k++) {
        tried[k] = p[k] + (is_free(q, k) ? step[k] : 0);
      }
      const double sum = hw__problem_is_sensible(q, tried)
                             ? hw__sum_of_squares(r_tried, hw__problem_residuals(q, tried, r_tried))
                             : INFINITY;
      if (sum < best) {
        gain = best - sum;
        best = sum;
        memcpy(p, tried, sizeof tried);
        memcpy(r, r_tried, sizeof r);
        moved = true;
      }
    }
    damping = fmax(damping * 0.1, 1e-9);
    if (!moved || gain < 1e-4 * (1 + 1e-3 * best)) {
      break;
    }
  }
  return best;
}

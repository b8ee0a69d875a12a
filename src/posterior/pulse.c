#include "posterior/pulse.h"

#include <math.h>
#include <string.h>

#include "posterior/duration.h"
#include "posterior/noise.h"

/* LASTED: the root of minus ln of the instant's share of the variance; grows as the duration does. */
enum { PLACE, LN_WIDTH, LN_HEIGHT, LEVEL, LN_SKEW, LASTED, PARAMETERS };
enum { RESIDUALS = HW__VIEW_POINTS + 2, ITERATIONS = 40 };

/* Width over travel time of pulses in rivers: where the readings do not tell the asymmetry, this does. */
static const double skew_middle = -2.1, skew_sd = 0.8;

/* Chi-square gained that makes a pulse: five and a half standard deviations for any place in the record. */
static const double plainly_seen = 30;

/* Readings above a tenth of its height that a pulse needs to tell its shape by itself. */
static const double shape_readings = 6;

/* A level that is neither given nor seen, because the detection limit hides it, may wander by this share of the noise
 * floor.
 */
static const double unseen_wander = 0.5;
/* Below so many noise floors a pulse may be the level wandering. */
static const double strong_height = 10;

/* Standard deviations of chi-square beyond its mean that make one ask for a duration, and chi-square gained by it that
 * makes it plain. */
static const double lasting_suspected = 2, lasting_plain = 20;

/* Degrees of freedom that the stated noise is worth when the scatter about the fit contradicts it. */
static const double stated_worth = 15;

typedef struct {
  const hw_sensor *sensor;
  const hw__tails *tails;
  hw__view *view;
  double origin_s, scale_s;         /* PLACE counts scale_s from origin_s */
  double unit_g_m3;                 /* LEVEL and heights count in it: the noise floor */
  double level_prior, level_sd;     /* what is known of the level beforehand; 0: it is given */
  bool drifting;                    /* the pulse stands on a level of its own, the prior's is that of the quiet times */
  bool pulse;                       /* a pulse is fitted, or the level alone */
  bool lasting;                     /* its duration too */
  double variance[HW__VIEW_POINTS]; /* of each point's mean, as last worked out */
} problem;

static hw__curve curve_of(const problem *q, const double *p) {
  const double width = exp(p[LN_WIDTH]), travel = width * exp(-p[LN_SKEW]);
  const hw__curve instant = {.passage_s = q->origin_s + q->scale_s * p[PLACE],
                             .travel_s = travel,
                             .variance_s2 = width * width,
                             .area_g_s_m3 = q->unit_g_m3 * exp(p[LN_HEIGHT]) * width * sqrt(2 * M_PI)};
  if (!q->lasting) {
    return instant;
  }
  double y[HW__PULSE_SIZE];
  hw__curve_to(&instant, y);
  y[HW__LN_SHARE] = -p[LASTED] * p[LASTED];
  return hw__curve_from(y);
}

static double level_of(const problem *q, const double *p) {
  return q->level_sd > 0 ? q->unit_g_m3 * p[LEVEL] : q->sensor->background_g_m3;
}

/* Residuals whose squares add up to minus twice the log-likelihood and log-prior, the noise as last worked out. */
static size_t residuals(const problem *q, const double *p, double *out) {
  hw__view *v = q->view;
  const hw__curve curve = curve_of(q, p);
  const double near = level_of(q, p);
  for (size_t i = 0; i < v->count; i++) {
    const bool far = q->drifting && !hw__view_on_level(v, i);
    const double level = far ? q->level_prior : near;
    v->background_g_m3 = level;
    const double signal = q->pulse ? hw__curve_at(&curve, v->time_s[i], v->spread_s2[i]) : 0;
    if (v->side[i] != HW__MEASURED) {
      out[i] = sqrt(-2 * hw__view_censored(v, i, q->tails, signal));
      continue;
    }
    const double off = (v->value_g_m3[i] - level - signal) / sqrt(q->variance[i]);
    out[i] = off * sqrt(hw__soft(off * off, v->readings[i]));
  }
  out[v->count] = q->pulse ? (p[LN_SKEW] - skew_middle) / skew_sd : 0;
  v->background_g_m3 = near;
  out[v->count + 1] = q->level_sd > 0 ? (near - q->level_prior) / q->level_sd : 0;
  return v->count + 2;
}

static double sum_of_squares(const double *r, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += r[i] * r[i];
  }
  return sum;
}

static bool is_free(const problem *q, size_t k) {
  return k == LEVEL ? q->level_sd > 0 : q->pulse && (k != LASTED || q->lasting);
}

/* Normal equations of the residuals at p, by differences. Parameters that are not free have a row of the identity. */
static void linearise(const problem *q, const double *p, const double *r, double normal[PARAMETERS][PARAMETERS],
                      double gradient[PARAMETERS]) {
  double slope[PARAMETERS][RESIDUALS];
  const size_t n = q->view->count + 2;
  for (size_t k = 0; k < PARAMETERS; k++) {
    double moved[PARAMETERS];
    memcpy(moved, p, sizeof moved);
    const double step = 1e-5 * fmax(1, k == LEVEL ? fabs(p[k]) : 1);
    moved[k] += step;
    if (is_free(q, k)) {
      residuals(q, moved, slope[k]);
    }
    for (size_t i = 0; i < n; i++) {
      slope[k][i] = is_free(q, k) ? (slope[k][i] - r[i]) / step : 0;
    }
  }
  for (size_t a = 0; a < PARAMETERS; a++) {
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
static bool damped_step(const double normal[PARAMETERS][PARAMETERS], const double gradient[PARAMETERS], double damping,
                        double step[PARAMETERS]) {
  double root[PARAMETERS][PARAMETERS] = {{0}};
  for (size_t a = 0; a < PARAMETERS; a++) {
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
  for (size_t a = 0; a < PARAMETERS; a++) {
    double sum = -gradient[a];
    for (size_t k = 0; k < a; k++) {
      sum -= root[a][k] * step[k];
    }
    step[a] = sum / root[a][a];
  }
  for (size_t a = PARAMETERS; a-- > 0;) {
    double sum = step[a];
    for (size_t k = a + 1; k < PARAMETERS; k++) {
      sum -= root[k][a] * step[k];
    }
    step[a] = sum / root[a][a];
  }
  return true;
}

/* At most this far in one step, in units of the parameters, so that no pulse jumps off the record. */
static void shorten(double step[PARAMETERS]) {
  static const double most[PARAMETERS] = {1.5, 0.7, 1.5, INFINITY, 0.7, 0.5};
  double share = 1;
  for (size_t k = 0; k < PARAMETERS; k++) {
    share = fmin(share, most[k] / fmax(fabs(step[k]), 1e-300));
  }
  for (size_t k = 0; k < PARAMETERS; k++) {
    step[k] *= share;
  }
}

static bool sensible(const problem *q, const double *p) {
  const double width = exp(p[LN_WIDTH]) / q->scale_s;
  return fabs(p[PLACE]) < 40 && width > 0.02 && width < 60 && p[LN_SKEW] > -6 && p[LN_SKEW] < -0.1 &&
         fabs(p[LN_HEIGHT]) < 60 && p[LASTED] >= 0 && p[LASTED] < 2.5;
}

/* Levenberg-Marquardt from p. Returned: the sum of squares there. */
static double descend(const problem *q, double *p) {
  double r[RESIDUALS], normal[PARAMETERS][PARAMETERS], gradient[PARAMETERS], damping = 1e-2;
  double best = sum_of_squares(r, residuals(q, p, r));
  for (int i = 0; i < ITERATIONS; i++) {
    linearise(q, p, r, normal, gradient);
    bool moved = false;
    double gain = 0;
    for (; damping < 1e8 && !moved; damping *= moved ? 1 : 8) {
      double step[PARAMETERS], tried[PARAMETERS], r_tried[RESIDUALS];
      if (!damped_step((const double(*)[PARAMETERS])normal, gradient, damping, step)) {
        continue;
      }
      shorten(step);
      for (size_t k = 0; k < PARAMETERS; k++) {
        tried[k] = p[k] + (is_free(q, k) ? step[k] : 0);
      }
      const double sum = sensible(q, tried) ? sum_of_squares(r_tried, residuals(q, tried, r_tried)) : INFINITY;
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

/* The noise as the view knows it: the floor, the share of the signal, of the background what its own scatter allows,
 * and how far the level wanders. */
static void set_view_noise(const problem *q, const hw__fit *fit, const hw__curve *pulse, double level, double usual) {
  hw__view *v = q->view;
  const double root = sqrt(fit->inflation), share = q->sensor->noise_relative;
  v->share = share * root;
  v->share_level = fmin(share * fmax(level, 0), usual) * root;
  for (size_t i = 0; i < v->count; i++) {
    /* A limit is passed reading by reading: there the wandering counts with each of them. */
    const double wander = fit->wander_g_m3 * fit->wander_g_m3 / (v->side[i] == HW__MEASURED ? 1 : v->readings[i]);
    /* What the pulse's readings scatter more than stated is no news of the quiet ones: their share above a limit tells
     * the level only if their noise is as it is. */
    const bool on_pulse =
        pulse && v->side[i] == HW__MEASURED && hw__curve_at(pulse, v->time_s[i], v->spread_s2[i]) > 2 * fit->floor_g_m3;
    const double inflation = on_pulse ? fit->inflation : 1;
    v->fixed[i] = fit->floor_g_m3 * fit->floor_g_m3 * inflation / v->readings[i] + wander;
  }
}

/* The variance of every point where the curve p is expected. */
static void set_variance(problem *q, const double *p) {
  const hw__curve curve = curve_of(q, p);
  for (size_t i = 0; i < q->view->count; i++) {
    const double signal = q->pulse ? hw__curve_at(&curve, q->view->time_s[i], q->view->spread_s2[i]) : 0;
    q->variance[i] = hw__view_variance(q->view, i, signal);
  }
}

/* Before there is a fit: the readings themselves stand for the signal, each drawn a little towards its neighbours. */
static void set_first_variance(problem *q, double level) {
  const hw__view *v = q->view;
  for (size_t i = 0; i < v->count; i++) {
    const double before = v->value_g_m3[i > 0 ? i - 1 : i], after = v->value_g_m3[i + 1 < v->count ? i + 1 : i];
    const double smooth = 0.5 * v->value_g_m3[i] + 0.25 * (before + after);
    q->variance[i] = hw__view_variance(v, i, v->side[i] == HW__BELOW ? 0 : fmax(smooth - level, 0));
  }
}

static int by_size(double a, double b) {
  return (a > b) - (a < b);
}

static void sort_values(double *x, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const double v = x[i];
    size_t j = i;
    for (; j > 0 && by_size(x[j - 1], v) > 0; j--) {
      x[j] = x[j - 1];
    }
    x[j] = v;
  }
}

/* What the series shows at a glance. */
typedef struct {
  double low, high; /* a low level and the highest value that a neighbour confirms */
  size_t high_at;
  double scatter;      /* of single readings about the level, by neighbours' differences; 0: not known */
  double clipped_at;   /* the end of the sensor's range; INFINITY: not met */
  double lowest_limit; /* of non-detects; INFINITY: none */
  double hidden;       /* non-detects that hide the level; 0: it shows */
} glance;

enum { SAMPLED = 256 };

static double confirmed(const hw__series *s, size_t i) {
  const double v = s->span[i].side == HW__BELOW ? 0 : s->span[i].value_g_m3;
  const double a = i > 0 ? (s->span[i - 1].side == HW__BELOW ? 0 : s->span[i - 1].value_g_m3) : -INFINITY;
  const double b = i + 1 < s->count ? (s->span[i + 1].side == HW__BELOW ? 0 : s->span[i + 1].value_g_m3) : -INFINITY;
  return fmin(v, fmax(a, b)); /* the higher neighbour confirms */
}

static void find_clipping(const hw__series *s, double floor, glance *g) {
  double top = -INFINITY;
  for (size_t i = 0; i < s->count; i++) {
    top = s->span[i].side == HW__MEASURED ? fmax(top, s->span[i].value_g_m3) : top;
  }
  double run = 0, longest = 0;
  for (size_t i = 0; i < s->count; i++) {
    const bool there = s->span[i].side == HW__MEASURED && !(s->span[i].value_g_m3 < top);
    run = there ? run + s->span[i].count : 0;
    longest = fmax(longest, run);
  }
  g->clipped_at = longest >= 3 && top > g->low + 10 * floor ? top : INFINITY;
}

/* Non-detects, where hardly a reading among them shows: then the level lies somewhere below the limit. Where some do,
 * their share tells how far. */
static double hidden_by(const hw__series *s) {
  double below = 0, among = 0;
  for (size_t i = 0; i < s->count; i++) {
    const bool before = i == 0 || s->span[i - 1].side == HW__BELOW;
    const bool after = i + 1 == s->count || s->span[i + 1].side == HW__BELOW;
    below += s->span[i].side == HW__BELOW ? s->span[i].count : 0;
    among += s->span[i].side == HW__MEASURED && before && after ? s->span[i].count : 0;
  }
  return among <= 0.03 * below ? below : 0;
}

static glance look_at(const hw__series *s, const hw_sensor *sensor) {
  glance g = {.low = 0, .high = -INFINITY, .lowest_limit = INFINITY, .clipped_at = INFINITY};
  double value[SAMPLED], step[SAMPLED];
  size_t n = 0, steps = 0;
  const size_t stride = (s->count + SAMPLED - 1) / SAMPLED;
  for (size_t i = 0; i < s->count; i++) {
    const double c = confirmed(s, i);
    if (c > g.high) {
      g.high = c;
      g.high_at = i;
    }
    if (s->span[i].side == HW__BELOW) {
      g.lowest_limit = fmin(g.lowest_limit, s->span[i].value_g_m3);
    } else if (i % stride == 0 && n < SAMPLED) {
      value[n++] = s->span[i].value_g_m3;
    }
  }
  sort_values(value, n);
  g.low = n > 0 ? value[n / 5] : 0;
  g.hidden = hidden_by(s);
  if (isfinite(g.lowest_limit)) {
    g.low = fmin(g.low, (g.hidden > 0 ? 0.3 : 0.8) * g.lowest_limit);
  }
  const double quiet = g.low + 0.25 * (g.high - g.low);
  for (size_t i = 1; i < s->count && steps < SAMPLED; i++) {
    const hw__span *a = &s->span[i - 1], *b = &s->span[i];
    if (a->side == HW__MEASURED && b->side == HW__MEASURED && a->value_g_m3 < quiet && b->value_g_m3 < quiet) {
      step[steps++] = fabs(b->value_g_m3 - a->value_g_m3) / sqrt(1 / a->count + 1 / b->count);
    }
  }
  sort_values(step, steps);
  g.scatter = steps >= 8 ? 1.4826 * step[steps / 2] : 0;
  if (!isnan(sensor->background_g_m3)) {
    g.low = sensor->background_g_m3;
  }
  return g;
}

static double floor_of(const hw_sensor *sensor, const glance *g) {
  const double height = fmax(g->high, 0) - fmax(g->low, 0);
  double floor = hw__noise_floor(sensor, fmax(height, 0));
  if (!(sensor->noise_absolute_g_m3 > 0)) {
    floor = fmax(floor, g->scatter);
  }
  return fmax(floor, fmax(1e-6 * fabs(g->high), 1e-300));
}

/* Half-height crossings about the highest span: a first guess of passage and width. */
static void first_guess(const hw__series *s, const glance *g, double *passage, double *width) {
  const double half = g->low + 0.5 * (g->high - g->low), top = s->span[g->high_at].time_s;
  double left = NAN, right = NAN;
  for (size_t i = g->high_at; i-- > 0 && isnan(left);) {
    left = confirmed(s, i) < half ? 0.5 * (s->span[i].time_s + s->span[i + 1].time_s) : left;
  }
  for (size_t i = g->high_at + 1; i < s->count && isnan(right); i++) {
    right = confirmed(s, i) < half ? 0.5 * (s->span[i].time_s + s->span[i - 1].time_s) : right;
  }
  const double span = s->span[s->count - 1].time_s - s->span[0].time_s;
  const double closest = fmax(span / (double)s->count, 1e-3);
  *passage = top;
  if (!isnan(left) && !isnan(right)) {
    *passage = 0.5 * (left + right);
    *width = (right - left) / 2.355;
  } else if (!isnan(left)) {
    *width = (top - left) / 1.18;
  } else {
    *width = isnan(right) ? 0.25 * span : (right - top) / 1.18;
  }
  *width = fmax(*width, 0.3 * closest);
}

/* Readings that stand plainly above the level: two at least make a pulse. */
static double standing_out(const problem *q, const double *p) {
  const double level = level_of(q, p);
  double count = 0;
  for (size_t i = 0; i < q->view->count; i++) {
    const double off = (q->view->value_g_m3[i] - level) / sqrt(hw__view_variance(q->view, i, 0));
    const bool out = q->view->side[i] != HW__BELOW && off > 4;
    count += out ? q->view->readings[i] : 0;
  }
  return count;
}

/* Residuals where the pulse shows and elsewhere, in units of the stated noise. */
typedef struct {
  double squares, count;
  double excess; /* sum of (residual^2 - variance of the point's mean), (g/m3)^2 */
  double together, pairs;
} scatter;

static void scatter_about(const problem *q, const double *p, scatter out[2]) {
  double r[RESIDUALS];
  residuals(q, p, r);
  const hw__curve curve = curve_of(q, p);
  bool censored = false;
  for (size_t i = 0; i < q->view->count; i++) {
    censored = censored || q->view->side[i] == HW__BELOW;
  }
  out[0] = out[1] = (scatter){0};
  double last = NAN;
  int last_where = -1;
  for (size_t i = 0; i < q->view->count; i++) {
    const double signal = q->pulse ? hw__curve_at(&curve, q->view->time_s[i], q->view->spread_s2[i]) : 0;
    const int where = signal > (censored ? 4 : 2) * sqrt(hw__view_variance(q->view, i, 0));
    if (q->view->side[i] != HW__MEASURED || (censored && !where)) {
      last_where = -1; /* what is left of quiet readings above a limit is the upper tail of their noise */
      continue;
    }
    scatter *s = &out[where];
    s->squares += r[i] * r[i];
    s->excess += (r[i] * r[i] - 1) * q->variance[i];
    s->count += 1;
    s->together += last_where == where ? r[i] * last : 0;
    s->pairs += last_where == where;
    last = r[i];
    last_where = where;
  }
}

/* How far the level wanders where a detection limit shows only its upper side: by how much the share of readings that
 * show changes from one part of the quiet record to the next, beyond chance. Negative: no share to tell it by. */
static double wander_by_share(const problem *q, const hw__curve *curve, double sd) {
  enum { PARTS = 8 };
  double shown[PARTS] = {0}, all[PARTS] = {0}, total = 0, detects = 0, chi = 0, parts = 0, usual = 0;
  const hw__view *v = q->view;
  const double begin = v->time_s[0], length = v->time_s[v->count - 1] - begin;
  for (size_t i = 0; i < v->count; i++) {
    if (q->pulse && hw__curve_at(curve, v->time_s[i], v->spread_s2[i]) > 0.1 * sd) {
      continue;
    }
    const size_t k = (size_t)fmin((v->time_s[i] - begin) / fmax(length, 1e-9) * PARTS, PARTS - 1);
    all[k] += v->readings[i];
    shown[k] += v->side[i] == HW__MEASURED ? v->readings[i] : 0;
  }
  for (size_t k = 0; k < PARTS; k++) {
    total += all[k];
    detects += shown[k];
  }
  const double p = detects / fmax(total, 1);
  if (!(detects > 5) || !(total - detects > 5)) {
    return -1;
  }
  for (size_t k = 0; k < PARTS; k++) {
    const double expected = all[k] * p;
    chi += all[k] > 2 ? (shown[k] - expected) * (shown[k] - expected) / (expected * (1 - p)) : 0;
    usual += all[k] > 2 ? 1 / all[k] : 0;
    parts += all[k] > 2;
  }
  const double excess = parts > 2 && chi > parts - 1 + 3 * sqrt(2 * (parts - 1)) ? chi / (parts - 1) - 1 : 0;
  const double z = sqrt(2) * (p < 0.5 ? 1 : -1) * sqrt(fmax(-log(4 * p * (1 - p)) * 1.2, 0)); /* Phi(-z) = p, nearly */
  const double slope = exp(-0.5 * z * z) / sqrt(2 * M_PI);
  return excess > 0 ? sd * sqrt(excess * p * (1 - p) * usual / parts) / slope : 0;
}

/* What the scatter about the fit says of the noise. Where the pulse shows: by how much it is larger than stated, noise
 * that lasts being worth fewer readings. Elsewhere: whether the level wanders. */
static void learn_noise(const problem *q, const double *p, hw__fit *fit) {
  scatter s[2];
  scatter_about(q, p, s);
  const double used = q->lasting ? 5 : q->pulse ? 4 : 0, n = s[0].count + s[1].count;
  fit->misfit = n > used + 1 ? sqrt((s[0].squares + s[1].squares) / (n - used - 1)) : 1;
  const double quiet = s[0].count - 1;
  if (q->level_sd > 0 && quiet < 4) {
    const hw__curve curve = curve_of(q, p);
    const double shown = wander_by_share(q, &curve, fit->floor_g_m3);
    fit->wander_g_m3 = shown >= 0 ? shown : q->view->hidden ? unseen_wander * fit->floor_g_m3 : 0;
  } else if (quiet >= 4) {
    fit->wander_g_m3 = sqrt(fmax(s[0].excess / quiet, 0));
  }
  const bool noisy = s[1].squares > 0.5 * s[1].count; /* what is left of a perfect curve goes together too */
  const double rho =
      noisy && s[1].pairs > 8 ? fmin(fmax(s[1].together / s[1].squares - 2 / sqrt(s[1].pairs), 0), 0.9) : 0;
  const double freedom = fmax(s[1].count - used, 0);
  fit->inflation = fmax(1, (stated_worth + s[1].squares) / (stated_worth + freedom)) * (1 + rho) / (1 - rho);
}

static void set_peak(hw__fit *fit) {
  fit->peak_s = hw__curve_peak_s(&fit->curve);
  fit->peak_g_m3 = hw__curve_at(&fit->curve, fit->peak_s, 0);
}

typedef struct {
  double p[PARAMETERS];
  double squares;
} attempt;

static attempt fit_from(const problem *q, double passage_s, double width_s, double height, double level) {
  attempt a = {.p = {(passage_s - q->origin_s) / q->scale_s, log(width_s),
                     log(fmax(height, q->unit_g_m3) / q->unit_g_m3), level / q->unit_g_m3, skew_middle}};
  a.squares = sensible(q, a.p) ? descend(q, a.p) : INFINITY;
  return a;
}

/* A few first guesses: a pulse that is still rising may be wider and later than what is seen of it. */
static attempt best_fit(const problem *q, const glance *g, double passage, double width) {
  static const double late[] = {0, 0, 1, 2}, wide[] = {1, 0.5, 1.7, 2.5};
  attempt best = {.squares = INFINITY};
  for (size_t i = 0; i < sizeof late / sizeof late[0]; i++) {
    const attempt a = fit_from(q, passage + late[i] * width, wide[i] * width, (g->high - g->low) * wide[i], g->low);
    best = a.squares < best.squares ? a : best;
  }
  return best;
}

static void fit_level(problem *q, const glance *g, double *p) {
  q->pulse = false;
  memset(p, 0, PARAMETERS * sizeof *p);
  p[LEVEL] = g->low / q->unit_g_m3;
  p[LN_WIDTH] = log(q->scale_s);
  p[LN_SKEW] = skew_middle;
  descend(q, p);
}

/* Where the level wanders by more than this share of the noise floor it has another value under the pulse. */
static const double plain_drift = 0.3;
/* Of the wandering, what is left within the time of a pulse once its own level is taken off. */
static const double drift_within = 0.5;

static void let_drift(problem *q, const hw__fit *fit, const hw__focus *focus, const double *p) {
  q->drifting = q->level_sd > 0 && !q->view->hidden && fit->wander_g_m3 > plain_drift * fit->floor_g_m3;
  if (!q->drifting) {
    return;
  }
  q->view->level_from_s = focus->middle_s - focus->reach_s;
  q->view->level_to_s = focus->middle_s + focus->reach_s;
  q->level_prior = level_of(q, p);
  q->level_sd = 1.3 * fit->wander_g_m3;
  for (size_t i = 0; i < q->view->count; i++) {
    if (hw__view_on_level(q->view, i)) {
      const double n = q->view->side[i] == HW__MEASURED ? 1 : q->view->readings[i];
      q->view->fixed[i] -= (1 - drift_within * drift_within) * fit->wander_g_m3 * fit->wander_g_m3 / n;
    }
  }
}

static void store_background(const problem *q, const double *p, hw__view *view) {
  const double level = level_of(q, p);
  view->background_g_m3 = view->hidden ? 0.25 * view->highest_g_m3 : level;
  view->background_prior = q->level_prior;
  view->background_precision = q->level_sd > 0 ? 1 / (q->level_sd * q->level_sd) : INFINITY;
}

static problem make_problem(const hw_sensor *sensor, const hw__tails *tails, const glance *g, const hw__fit *fit,
                            const hw__focus *focus, hw__view *view) {
  view->level_from_s = -INFINITY;
  view->level_to_s = INFINITY;
  const bool hidden = g->hidden > 0, given = !isnan(sensor->background_g_m3);
  const double sd = hidden ? 0.35 * g->lowest_limit + 0.5 * fit->floor_g_m3 : 3 * fit->floor_g_m3 + 2 * fmax(g->low, 0);
  view->hidden = hidden && !given;
  if (hidden) { /* so far below the limit that all of the non-detects stay there */
    const double noise = hypot(fit->floor_g_m3, sensor->noise_relative * g->lowest_limit);
    view->highest_g_m3 = fmax(g->lowest_limit - 0.8 * sqrt(2 * log1p(g->hidden)) * noise, 0.1 * g->lowest_limit);
  }
  return (problem){.sensor = sensor,
                   .tails = tails,
                   .view = view,
                   .origin_s = focus->middle_s,
                   .scale_s = focus->width_s,
                   .unit_g_m3 = fit->floor_g_m3,
                   .level_prior = hidden ? 0.35 * g->lowest_limit : 0,
                   .level_sd = given ? 0 : sd};
}

/* The sensor without a plume: its level, its noise, its likelihood. */
static void settle_quiet(problem *q, const glance *g, hw__fit *fit) {
  double p[PARAMETERS];
  const double usual = g->scatter > 0 ? g->scatter : INFINITY;
  fit->inflation = 1;
  fit->wander_g_m3 = 0;
  q->pulse = false;
  set_view_noise(q, fit, NULL, g->low, usual);
  set_first_variance(q, g->low);
  fit_level(q, g, p);
  set_view_noise(q, fit, NULL, level_of(q, p), usual);
  set_variance(q, p);
  fit_level(q, g, p);
  learn_noise(q, p, fit);
  set_view_noise(q, fit, NULL, level_of(q, p), usual);
  store_background(q, p, q->view);
  fit->log_likelihood = fit->log_without = hw__view_log_likelihood(q->view, q->tails, NULL);
}

void hw__pulse_look(const hw__series *series, const hw_sensor *sensor, const hw__tails *tails, const hw__focus *focus,
                    hw__fit *fit, hw__view *view) {
  const glance g = look_at(series, sensor);
  *fit = (hw__fit){.inflation = 1, .misfit = 1, .floor_g_m3 = floor_of(sensor, &g)};
  fit->first_s = series->span[0].time_s;
  fit->last_s = series->span[series->count - 1].time_s;
  hw__focus there = *focus;
  there.floor_g_m3 = fit->floor_g_m3;
  there.share = sensor->noise_relative;
  hw__view_make(series, &there, view);
  problem q = make_problem(sensor, tails, &g, fit, &there, view);
  settle_quiet(&q, &g, fit);
}

/* The curve p, seen through the view that suits it. */
static void refocus(problem *q, const hw__series *series, const glance *g, const hw__fit *fit, hw__focus *focus,
                    double *p) {
  const hw__curve curve = curve_of(q, p);
  const double level = level_of(q, p), height = q->unit_g_m3 * exp(p[LN_HEIGHT]), width = exp(p[LN_WIDTH]);
  const bool lasting = q->lasting;
  focus->middle_s = q->origin_s + q->scale_s * p[PLACE];
  focus->width_s = fmax(sqrt(curve.variance_s2), 0.2 * width); /* one that lasted is steeper than it is wide */
  focus->reach_s = 5 * width;
  hw__view_make(series, focus, q->view);
  *q = make_problem(q->sensor, q->tails, g, fit, focus, q->view);
  q->pulse = true;
  q->lasting = lasting;
  p[PLACE] = 0;
  p[LN_WIDTH] = log(width);
  p[LN_HEIGHT] = log(height / q->unit_g_m3);
  p[LEVEL] = level / q->unit_g_m3;
}

/* What comes of a fit. */
static void store_pulse(problem *q, const double *p, const glance *g, hw__fit *fit) {
  hw__view *view = q->view;
  store_background(q, p, view);
  fit->curve = curve_of(q, p);
  fit->log_likelihood = hw__view_log_likelihood(view, q->tails, &fit->curve);
  double instant[PARAMETERS], y[HW__PULSE_SIZE];
  memcpy(instant, p, sizeof instant);
  if (q->lasting) { /* the best that an instant can do */
    q->lasting = false;
    descend(q, instant);
    view->background_g_m3 = level_of(q, p);
    fit->lasting = true;
  }
  const hw__curve best = curve_of(q, instant);
  hw__curve_to(&best, y);
  y[HW__LN_SKEW] = instant[LN_SKEW];
  hw__view_expand(view, q->tails, HW__INSTANT_SIZE, y, &fit->near);
  double alone[PARAMETERS];
  const double kept = view->background_g_m3;
  fit_level(q, g, alone);
  view->background_g_m3 = level_of(q, alone);
  fit->log_without = hw__view_log_likelihood(view, q->tails, NULL);
  view->background_g_m3 = kept;
  set_peak(fit);
  double on_pulse = 0;
  for (size_t i = 0; i < view->count; i++) {
    on_pulse += hw__curve_at(&fit->curve, view->time_s[i], 0) > 0.1 * fit->peak_g_m3 ? view->readings[i] : 0;
  }
  fit->sketchy = on_pulse < shape_readings;
  fit->strong = fit->peak_g_m3 > strong_height * hypot(fit->floor_g_m3, fit->wander_g_m3);
  fit->seen = true;
  fit->begun = fit->first_s < fit->curve.passage_s - 1.2 * sqrt(fit->curve.variance_s2);
  fit->complete = fit->last_s > fit->peak_s && hw__curve_at(&fit->curve, fit->last_s, 0) < 0.5 * fit->peak_g_m3;
}

/* Does the pulse plainly come from a release that lasted? Then `best` becomes the fit of one. Asked only where an
 * instant leaves more than noise, and by what the fit of one leaves. */
static bool lasts(problem *q, attempt *best) {
  static const double first[] = {0.8, 1.5}; /* of LASTED: durations of 2.4 and 3.3 standard deviations */
  double r[RESIDUALS];
  const double n = (double)q->view->count, instant = sum_of_squares(r, residuals(q, best->p, r));
  if (!(instant > n + lasting_suspected * sqrt(n))) {
    return false;
  }
  attempt found = {.squares = INFINITY};
  q->lasting = true;
  for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
    attempt a = *best;
    a.p[LASTED] = first[i];
    a.squares = descend(q, a.p);
    set_variance(q, a.p); /* lower than an instant's peak, the plateau is less noisy */
    a.squares = descend(q, a.p);
    found = a.squares < found.squares ? a : found;
  }
  const double left = fmax(found.squares / fmax(n - 6, 1), 1);
  q->lasting = instant - found.squares > lasting_plain * left;
  if (q->lasting) {
    *best = found;
  } else {
    set_variance(q, best->p);
  }
  return q->lasting;
}

void hw__pulse_fit(const hw__series *series, const hw_sensor *sensor, const hw__tails *tails, hw__fit *fit,
                   hw__view *view) {
  glance g = look_at(series, sensor);
  *fit = (hw__fit){.inflation = 1, .misfit = 1, .floor_g_m3 = floor_of(sensor, &g)};
  fit->first_s = series->span[0].time_s;
  fit->last_s = series->span[series->count - 1].time_s;
  find_clipping(series, fit->floor_g_m3, &g);
  fit->clipped_at_g_m3 = g.clipped_at;
  double passage, width;
  first_guess(series, &g, &passage, &width);
  hw__focus focus = {.middle_s = passage,
                     .width_s = width,
                     .reach_s = 5 * width,
                     .clipped_g_m3 = isfinite(g.clipped_at) ? g.clipped_at : 0,
                     .floor_g_m3 = fit->floor_g_m3,
                     .share = sensor->noise_relative};
  hw__view_make(series, &focus, view);
  problem q = make_problem(sensor, tails, &g, fit, &focus, view);
  if (!(g.high - g.low > 3 * fit->floor_g_m3) || series->count < 2) {
    settle_quiet(&q, &g, fit);
    return;
  }
  const double usual = g.scatter > 0 ? g.scatter : INFINITY;
  set_view_noise(&q, fit, NULL, g.low, usual);
  set_first_variance(&q, g.low);
  double quiet[PARAMETERS], r[RESIDUALS];
  fit_level(&q, &g, quiet);
  const double without = sum_of_squares(r, residuals(&q, quiet, r));
  q.pulse = true;
  attempt best = best_fit(&q, &g, passage, width);
  if (!(without - best.squares > plainly_seen) || standing_out(&q, best.p) < 2) {
    settle_quiet(&q, &g, fit);
    return;
  }
  for (int round = 0; round < 2; round++) { /* the view, the noise and the fit follow each other */
    refocus(&q, series, &g, fit, &focus, best.p);
    set_view_noise(&q, fit, NULL, level_of(&q, best.p), usual);
    set_variance(&q, best.p);
    descend(&q, best.p);
  }
  if (lasts(&q, &best)) {
    refocus(&q, series, &g, fit, &focus, best.p);
    set_view_noise(&q, fit, NULL, level_of(&q, best.p), usual);
    set_variance(&q, best.p);
    descend(&q, best.p);
  }
  set_variance(&q, best.p);
  learn_noise(&q, best.p, fit);
  const hw__curve pulse = curve_of(&q, best.p);
  set_view_noise(&q, fit, &pulse, level_of(&q, best.p), usual);
  let_drift(&q, fit, &focus, best.p);
  set_variance(&q, best.p);
  descend(&q, best.p);
  store_pulse(&q, best.p, &g, fit);
}

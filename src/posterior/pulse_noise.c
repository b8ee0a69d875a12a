#include "posterior/pulse_noise.h"

#include <math.h>

/* A level that is neither given nor seen, because the detection limit hides it, may wander by this share of the noise
 * floor.
 */
static const double unseen_wander = 0.5;

/* Degrees of freedom that the stated noise is worth when the scatter about the fit contradicts it. */
static const double stated_worth = 15;

/* Below it a measured value is one that a limit has picked: what noise leaves it out is among the non-detects. */
static double picked_below(const hw__view *v, double floor) {
  double limit = -INFINITY;
  for (size_t i = 0; i < v->count; i++) {
    limit = v->side[i] == HW__BELOW ? fmax(limit, v->value_g_m3[i]) : limit;
  }
  return limit + 4 * floor;
}

/* Variance of a point by the level's wandering. A limit is passed reading by reading: there the wandering counts with
 * each of them, of those above it as of those below, or one kind would outweigh the other and move the level. */
static double wandering(const hw__view *v, size_t i, double picked, double wander) {
  const bool whole = v->side[i] == HW__MEASURED && !(v->value_g_m3[i] < picked);
  return wander * wander / (whole ? 1 : v->readings[i]);
}

/* The noise as the view knows it: the floor, the share of the signal, of the background what its own scatter allows,
 * and how far the level wanders. */
void hw__noise_set_view(const hw__pulse_problem *q, const hw__fit *fit, const hw__curve *pulse, double level,
                        double usual) {
  hw__view *v = q->view;
  const double root = sqrt(fit->inflation), share = q->sensor->noise_relative;
  v->share = share * root;
  v->share_level = fmin(share * fmax(level, 0), usual) * root;
  const double picked = picked_below(v, fit->floor_g_m3);
  for (size_t i = 0; i < v->count; i++) {
    const double wander = wandering(v, i, picked, fit->wander_g_m3);
    /* What the pulse's readings scatter more than stated is no news of the quiet ones: their share above a limit tells
     * the level only if their noise is as it is. */
    const bool on_pulse =
        pulse && v->side[i] == HW__MEASURED && hw__curve_at(pulse, v->time_s[i], v->spread_s2[i]) > 2 * fit->floor_g_m3;
    const double inflation = on_pulse ? fit->inflation : 1;
    v->fixed[i] = fit->floor_g_m3 * fit->floor_g_m3 * inflation / v->readings[i] + wander;
  }
}

void hw__noise_set_variance(hw__pulse_problem *q, const double *p) {
  double signal[HW__VIEW_POINTS];
  hw__problem_signals(q, p, signal);
  for (size_t i = 0; i < q->view->count; i++) {
    q->variance[i] = hw__view_variance(q->view, i, signal[i]);
  }
}

/* Before there is a fit: the readings themselves stand for the signal, each drawn a little towards its neighbours. */
void hw__noise_set_first(hw__pulse_problem *q, double level) {
  const hw__view *v = q->view;
  for (size_t i = 0; i < v->count; i++) {
    const double before = v->value_g_m3[i > 0 ? i - 1 : i], after = v->value_g_m3[i + 1 < v->count ? i + 1 : i];
    const double smooth = 0.5 * v->value_g_m3[i] + 0.25 * (before + after);
    q->variance[i] = hw__view_variance(v, i, v->side[i] == HW__BELOW ? 0 : fmax(smooth - level, 0));
  }
}

/* Residuals where the pulse shows and elsewhere, in units of the stated noise. */
typedef struct {
  double squares, count, readings;
  double excess; /* sum of (residual^2 - variance of the point's mean), (g/m3)^2 */
  double together, pairs;
} scatter;

/* Whether so many readings lie below a limit that those above it are no sample of the level's noise. */
static bool is_cut(const hw__view *v) {
  static const double most = 0.05;
  double below = 0, all = 0;
  for (size_t i = 0; i < v->count; i++) {
    below += v->side[i] == HW__BELOW ? v->readings[i] : 0;
    all += v->readings[i];
  }
  return below > most * all;
}

static void scatter_about(const hw__pulse_problem *q, const double *p, scatter out[2]) {
  double r[HW__FIT_RESIDUALS];
  hw__problem_residuals(q, p, r);
  double signals[HW__VIEW_POINTS];
  hw__problem_signals(q, p, signals);
  const bool censored = is_cut(q->view);
  out[0] = out[1] = (scatter){0};
  double last = NAN;
  int last_where = -1;
  for (size_t i = 0; i < q->view->count; i++) {
    const double signal = signals[i];
    /* A limit cuts single readings, however many stand behind a point: it is theirs that the pulse must clear. */
    const double readings = censored ? q->view->readings[i] : 1;
    const int where = signal > (censored ? 4 : 2) * sqrt(hw__view_variance(q->view, i, 0) * readings);
    if (q->view->side[i] != HW__MEASURED || (censored && !where)) {
      last_where = -1; /* what is left of quiet readings above a limit is the upper tail of their noise */
      continue;
    }
    scatter *s = &out[where];
    s->squares += r[i] * r[i];
    s->excess += (r[i] * r[i] - 1) * q->variance[i];
    s->count += 1;
    s->readings += q->view->readings[i];
    s->together += last_where == where ? r[i] * last : 0;
    s->pairs += last_where == where;
    last = r[i];
    last_where = where;
  }
}

enum { PARTS = 8 };

/* The readings of a point to the parts of the record that they come from: measured ones and non-detects are merged
 * apart, with middles apart, and a whole point in one part would look as if one of them had become rarer there. */
static void share_out(const hw__view *v, size_t i, double begin, double length, double parts[PARTS]) {
  const double reach = sqrt(3 * v->spread_s2[i]), one = fmax(length, 1e-9) / PARTS;
  const double from = v->time_s[i] - reach, to = v->time_s[i] + reach;
  if (!(to > from)) {
    parts[(size_t)fmin((v->time_s[i] - begin) / one, PARTS - 1)] += v->readings[i];
    return;
  }
  for (size_t k = 0; k < PARTS; k++) {
    const double lower = k > 0 ? fmax(from, begin + (double)k * one) : from;
    const double upper = k + 1 < PARTS ? fmin(to, begin + (double)(k + 1) * one) : to;
    parts[k] += v->readings[i] * fmax(upper - lower, 0) / (to - from);
  }
}

/* How far the level wanders where a detection limit shows only its upper side: by how much the share of readings that
 * show changes from one part of the quiet record to the next, beyond chance. Negative: no share to tell it by. */
static double wander_by_share(const hw__pulse_problem *q, const hw__curve *curve, double sd) {
  double shown[PARTS] = {0}, all[PARTS] = {0}, total = 0, detects = 0, chi = 0, parts = 0, usual = 0;
  const hw__view *v = q->view;
  const double begin = v->time_s[0], length = v->time_s[v->count - 1] - begin;
  for (size_t i = 0; i < v->count; i++) {
    if (q->pulse && hw__curve_at(curve, v->time_s[i], v->spread_s2[i]) > 0.1 * sd) {
      continue;
    }
    share_out(v, i, begin, length, all);
    if (v->side[i] == HW__MEASURED) {
      share_out(v, i, begin, length, shown);
    }
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
void hw__noise_learn(const hw__pulse_problem *q, const double *p, hw__fit *fit) {
  scatter s[2];
  scatter_about(q, p, s);
  const double used = q->lasting ? 5 : q->pulse ? 4 : 0, n = s[0].count + s[1].count;
  fit->misfit = n > used + 1 ? sqrt((s[0].squares + s[1].squares) / (n - used - 1)) : 1;
  const double quiet = s[0].count - 1;
  if (q->level_sd > 0 && quiet < 4) {
    const hw__curve curve = hw__problem_curve(q, p);
    const double shown = wander_by_share(q, &curve, fit->floor_g_m3);
    fit->wander_g_m3 = shown >= 0 ? shown : q->view->hidden ? unseen_wander * fit->floor_g_m3 : 0;
  } else if (quiet >= 4) {
    fit->wander_g_m3 = sqrt(fmax(s[0].excess / quiet, 0));
  }
  const bool noisy = s[1].squares > 0.5 * s[1].count; /* what is left of a perfect curve goes together too */
  const double rho =
      noisy && s[1].pairs > 8 ? fmin(fmax(s[1].together / s[1].squares - 2 / sqrt(s[1].pairs), 0), 0.9) : 0;
  const double freedom = fmax(s[1].count - used, 0), kept = fmax(rho, fit->memory);
  /* All of them together are worth one reading at least. */
  const double fewer = fmin((1 + kept) / (1 - kept), fmax(s[1].readings, 1));
  fit->inflation = fmax(1, (stated_worth + s[1].squares) / (stated_worth + freedom)) * fewer;
}

/* Where the level wanders by more than this share of the noise floor it has another value under the pulse. */
static const double plain_drift = 0.3;
/* Of the wandering, what is left within the time of a pulse once its own level is taken off. */
static const double drift_within = 0.5;

void hw__noise_let_drift(hw__pulse_problem *q, const hw__fit *fit, const hw__focus *focus, const double *p) {
  const bool drifting = q->level_sd > 0 && !q->view->hidden && fit->wander_g_m3 > plain_drift * fit->floor_g_m3;
  if (!drifting) {
    return;
  }
  q->view->level_from_s = focus->middle_s - focus->reach_s;
  q->view->level_to_s = focus->middle_s + focus->reach_s;
  q->level_prior = hw__problem_level(q, p);
  q->level_sd = 1.3 * fit->wander_g_m3;
  const double picked = picked_below(q->view, fit->floor_g_m3);
  for (size_t i = 0; i < q->view->count; i++) {
    if (hw__view_on_level(q->view, i)) {
      q->view->fixed[i] -= (1 - drift_within * drift_within) * wandering(q->view, i, picked, fit->wander_g_m3);
    }
  }
}

#include "posterior/view.h"

#include <math.h>

/* How wide a point may be at this time: a quarter of the pulse's width where it may be, a quarter of the distance
 * beyond that. */
static double allowed_s(const hw__focus *focus, double time_s, double scale) {
  const double beyond = fabs(time_s - focus->middle_s) - focus->reach_s;
  return scale * 0.25 * fmax(focus->width_s, beyond);
}

static bool join(const hw__span *a, const hw__span *b, double first_s, const hw__focus *focus, double scale) {
  if (!hw__span_alike(a, b)) {
    return false;
  }
  return b->time_s - first_s <= fmin(allowed_s(focus, first_s, scale), allowed_s(focus, b->time_s, scale));
}

/* Clipped readings are set apart before anything is merged: a mean over both kinds would say neither. */
static hw__span span_at(const hw__series *series, size_t i, const hw__focus *focus) {
  hw__span span = series->span[i];
  if (focus->clipped_g_m3 > 0 && span.side == HW__MEASURED && !(span.value_g_m3 < focus->clipped_g_m3)) {
    span.side = HW__ABOVE;
  }
  return span;
}

static size_t condense(const hw__series *series, const hw__focus *focus, double scale, size_t most, hw__view *out) {
  size_t n = 0;
  for (size_t i = 0; i < series->count;) {
    hw__span span = span_at(series, i, focus);
    const double first = span.time_s;
    for (i++; i < series->count; i++) {
      const hw__span next = span_at(series, i, focus);
      if (!join(&span, &next, first, focus, scale)) {
        break;
      }
      span = hw__span_merged(&span, &next);
    }
    if (n < most) {
      out->time_s[n] = span.time_s;
      out->spread_s2[n] = span.spread_s2;
      out->value_g_m3[n] = span.value_g_m3;
      out->readings[n] = span.count;
      out->side[n] = (signed char)span.side;
    }
    n++;
  }
  return n;
}

/* Non-detects and measured values in turn do not merge: where they alone fill the view, the ones furthest from the
 * focus go. */
static void keep_nearest(hw__view *view, const hw__series *series, const hw__focus *focus, size_t most) {
  size_t from = 0;
  while (from + most < series->count &&
         fabs(series->span[from].time_s - focus->middle_s) > fabs(series->span[from + most].time_s - focus->middle_s)) {
    from++;
  }
  view->count = 0;
  for (size_t i = from; i < series->count && view->count < most; i++) {
    const hw__span span = span_at(series, i, focus);
    view->time_s[view->count] = span.time_s;
    view->spread_s2[view->count] = span.spread_s2;
    view->value_g_m3[view->count] = span.value_g_m3;
    view->readings[view->count] = span.count;
    view->side[view->count++] = (signed char)span.side;
  }
}

void hw__view_make(const hw__series *series, const hw__focus *focus, size_t most, hw__view *out) {
  double scale = 1;
  size_t n = condense(series, focus, scale, most, out);
  for (int tries = 0; n > most && tries < 40; tries++) {
    scale *= 1.3;
    n = condense(series, focus, scale, most, out);
  }
  out->count = n;
  if (n > most) {
    keep_nearest(out, series, focus, most);
  }
}

double hw__curve_at(const hw__curve *curve, double time_s, double spread_s2) {
  const double lag = time_s - curve->passage_s, age = lag + curve->travel_s;
  if (!(age > 0) || !(curve->travel_s > 0)) {
    return 0;
  }
  const double r = curve->travel_s / ((curve->variance_s2 + spread_s2) * age);
  return curve->area_g_s_m3 * sqrt(r / (2 * M_PI)) * exp(-0.5 * r * lag * lag - curve->decay_per_s * age);
}

double hw__view_censored(const hw__view *view, size_t i, const hw__tails *tails, double signal) {
  const double sd = sqrt(hw__view_variance(view, i, signal) * view->readings[i]);
  const double above = view->background_g_m3 + signal - view->value_g_m3[i];
  const double z = view->side[i] == HW__BELOW ? -above / sd : above / sd;
  double slope;
  return z > HW__TAIL_TO ? 0 : view->readings[i] * fmax(hw__tails_at(tails, z, &slope), -0.5 * HW__LOUDEST);
}

double hw__view_log_likelihood(const hw__view *view, const hw__tails *tails, const hw__curve *curve) {
  double squares = 0, sum = 0, weights = 0, rest = 0;
  for (size_t i = 0; i < view->count; i++) {
    const double plume = curve ? hw__curve_at(curve, view->time_s[i], view->spread_s2[i]) : 0;
    if (view->side[i] != HW__MEASURED) {
      rest += hw__view_censored(view, i, tails, plume);
      continue;
    }
    const double off = view->value_g_m3[i] - view->background_g_m3 - plume;
    const double variance = hw__view_variance(view, i, plume), square = off * off / variance;
    const double weight = 1 / (variance * (1 + square / (HW__LOUDEST * view->readings[i])));
    rest -= 0.5 * log(variance / hw__view_variance(view, i, 0));
    squares += weight * off * off;
    sum += weight * off;
    weights += weight;
  }
  return rest -
         0.5 * (squares - sum * sum / (weights + view->background_precision)); /* an infinite one folds nothing */
}

hw__curve hw__curve_from(const double y[HW__PULSE_SIZE]) {
  const double variance = exp(y[HW__LN_VARIANCE]);
  return (hw__curve){.passage_s = y[HW__PASSAGE],
                     .travel_s = sqrt(variance) * exp(-y[HW__LN_SKEW]),
                     .variance_s2 = variance,
                     .area_g_s_m3 = exp(y[HW__LN_AREA])};
}

enum { LEVEL = HW__PULSE_SIZE, UNKNOWNS };

typedef struct {
  double slope[UNKNOWNS], curvature[UNKNOWNS][UNKNOWNS];
} terms;

/* A point's part: `by` how its expected value changes with each unknown, `score` and `information` of that value. */
static void add_point(terms *t, const double by[UNKNOWNS], double score, double information) {
  for (size_t a = 0; a < UNKNOWNS; a++) {
    t->slope[a] += score * by[a];
    for (size_t b = 0; b < UNKNOWNS; b++) {
      t->curvature[a][b] += information * by[a] * by[b];
    }
  }
}

static void add_measured(const hw__view *view, size_t i, double plume, const double by[UNKNOWNS], terms *t) {
  const double off = view->value_g_m3[i] - view->background_g_m3 - plume;
  const double variance = hw__view_variance(view, i, plume), square = off * off / variance;
  const double soft = 1 / (1 + square / (HW__LOUDEST * view->readings[i]));
  add_point(t, by, soft * off / variance, soft / variance);
  /* The noise tells of the signal too: ln variance changes with it, and not with the level. */
  const double following = view->share * plume + view->share_level;
  const double noisier = 2 * view->share * following / (view->readings[i] * variance);
  double through[UNKNOWNS] = {0};
  for (size_t a = 0; a < HW__PULSE_SIZE; a++) {
    through[a] = noisier * by[a];
  }
  add_point(t, through, 0.5 * (fmin(soft * square, 4) - 1), 0.5); /* one that is far off is not noise */
}

static void add_censored(const hw__view *view, size_t i, const hw__tails *tails, double plume,
                         const double by[UNKNOWNS], terms *t) {
  const double sd = sqrt(hw__view_variance(view, i, plume) * view->readings[i]);
  const double sign = view->side[i] == HW__BELOW ? -1 : 1;
  const double z = sign * (view->background_g_m3 + plume - view->value_g_m3[i]) / sd;
  if (z > HW__TAIL_TO || z < -sqrt(HW__LOUDEST)) {
    return;
  }
  double r;
  (void)hw__tails_at(tails, z, &r);
  const double n = view->readings[i];
  add_point(t, by, n * sign * r / sd, n * hw__tail_curvature(z, r) / (sd * sd));
}

void hw__view_expand(const hw__view *view, const hw__tails *tails, const double at[HW__PULSE_SIZE],
                     hw__quadratic *out) {
  static const double step = 1e-4;
  const hw__curve here = hw__curve_from(at);
  const double width = sqrt(here.variance_s2);
  hw__curve moved[HW__PULSE_SIZE];
  for (size_t k = 0; k < HW__PULSE_SIZE; k++) {
    double y[HW__PULSE_SIZE];
    for (size_t a = 0; a < HW__PULSE_SIZE; a++) {
      y[a] = at[a] + (a == k ? step * (k == HW__PASSAGE ? width : 1) : 0);
    }
    moved[k] = hw__curve_from(y);
  }
  terms t = {{0}, {{0}}};
  for (size_t i = 0; i < view->count; i++) {
    const double plume = hw__curve_at(&here, view->time_s[i], view->spread_s2[i]);
    double by[UNKNOWNS];
    for (size_t k = 0; k < HW__PULSE_SIZE; k++) {
      const double per = step * (k == HW__PASSAGE ? width : 1);
      by[k] = (hw__curve_at(&moved[k], view->time_s[i], view->spread_s2[i]) - plume) / per;
    }
    by[LEVEL] = isinf(view->background_precision) ? 0 : 1;
    if (view->side[i] == HW__MEASURED) {
      add_measured(view, i, plume, by, &t);
    } else {
      add_censored(view, i, tails, plume, by, &t);
    }
  }
  const double level = isinf(view->background_precision) ? 1 : t.curvature[LEVEL][LEVEL] + view->background_precision;
  for (size_t a = 0; a < HW__PULSE_SIZE; a++) {
    out->at[a] = at[a];
    out->slope[a] = t.slope[a] - t.curvature[a][LEVEL] / level * t.slope[LEVEL];
    for (size_t b = 0; b < HW__PULSE_SIZE; b++) {
      out->curvature[a][b] = t.curvature[a][b] - t.curvature[a][LEVEL] * t.curvature[LEVEL][b] / level;
    }
  }
  out->log_at = hw__view_log_likelihood(view, tails, &here);
}

#include "posterior/kernel.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"
#include "posterior/duration.h"

enum { MOST = 256 };

/* A curve so far from the point that e^x of it is nothing. */
static const double nothing = -700;

/* Concentrations of n curves about one time, as hw__curve_at has them: `side` standard deviations from its middle.
 * Plain loops: compilers make vectors of them, and the same bits with or without. */
HW__CLONES static void respond_at(size_t n, const hw__curves *c, double time_s, double spread_s2, double side,
                                  double *out) {
  double power[MOST], root[MOST];
  for (size_t i = 0; i < n; i++) {
    const double most = HW__APART * c->variance_s2[i], apart = spread_s2 < most ? spread_s2 : most;
    const double lag = time_s + side * sqrt(apart) - c->passage_s[i], travel = c->travel_s[i], age = lag + travel;
    const double aged = age > 0 ? age : 1;
    const double r = travel / ((c->variance_s2[i] + (spread_s2 - apart)) * aged);
    const double x = -0.5 * r * lag * lag - c->decay_per_s[i] * aged;
    power[i] = age > 0 && x > nothing ? x : nothing;
    root[i] = sqrt(r) * 0.3989422804014327 * c->area_g_s_m3[i];
  }
  for (size_t i = 0; i < n; i += HW__LANES) {
    const hw__v4 e = hw__v4_exp(hw__v4_load(power + i));
    memcpy(power + i, &e, sizeof e);
  }
  for (size_t i = 0; i < n; i++) {
    out[i] = power[i] * root[i];
  }
}

static void respond(size_t n, const hw__curves *c, double time_s, double spread_s2, double *out) {
  if (!(spread_s2 > 0)) {
    respond_at(n, c, time_s, 0, 0, out);
    return;
  }
  double other[MOST];
  respond_at(n, c, time_s, spread_s2, -1, out);
  respond_at(n, c, time_s, spread_s2, 1, other);
  for (size_t i = 0; i < n; i++) {
    out[i] = 0.5 * (out[i] + other[i]);
  }
}

/* Running sums of a block of curves, as in hw__by_level. */
typedef struct {
  double value[MOST], slope[MOST], curvature[MOST];
} sums;

HW__CLONES static void measure(size_t n, const double *plume, const hw__view *view, size_t at, sums *s) {
  const double value = view->value_g_m3[at] - view->background_g_m3, fixed = view->fixed[at];
  const double per = 1 / view->readings[at], loudest = 1 / (HW__LOUDEST * view->readings[at]);
  const double share = view->share, level = view->share_level, quiet = 1 / hw__view_variance(view, at, 0);
  const double here = hw__view_on_level(view, at) ? 1 : 0;
  double ratio[MOST];
  for (size_t i = 0; i < n; i++) {
    const double off = value - plume[i], following = share * plume[i] + level;
    const double variance = fixed + following * following * per, square = off * off, inverse = 1 / variance;
    const double loud = square * inverse * loudest, w = inverse / sqrt(1 + loud * loud);
    s->value[i] -= 0.5 * w * square;
    s->slope[i] += here * w * off;
    s->curvature[i] += here * w;
    ratio[i] = variance * quiet;
  }
  if (!(share > 0)) {
    return;
  }
  for (size_t i = 0; i < n; i += HW__LANES) {
    const hw__v4 value_so_far = hw__v4_load(s->value + i) - 0.5 * hw__v4_log(hw__v4_load(ratio + i));
    memcpy(s->value + i, &value_so_far, sizeof value_so_far);
  }
}

static void add(sums *s, size_t i, hw__by_level part) {
  s->value[i] += part.value;
  s->slope[i] += part.slope;
  s->curvature[i] += part.curvature;
}

static void censor(size_t n, const double *plume, const hw__view *view, size_t at, const hw__tails *tails, sums *s) {
  /* Of nearly all curves a quiet point expects nothing: one value serves them. */
  const hw__by_level none = hw__view_censored_by_level(view, at, tails, 0);
  const double least = 1e-3 * sqrt(view->fixed[at] * view->readings[at]);
  for (size_t i = 0; i < n; i++) {
    add(s, i, plume[i] < least ? none : hw__view_censored_by_level(view, at, tails, plume[i]));
  }
}

/* When any of the curves is more than nothing, a millionth of the noise. The exponent -E of a curve is reached at the
 * lag E V / theta + sqrt((E V / theta)^2 + 2 E V) after its passage, and no later than sqrt(2 E V) before it. */
typedef struct {
  double from_s, to_s;
} window;

static window window_of(const hw__view *view, size_t n, const hw__curves *c) {
  double spread = 0, least = INFINITY;
  for (size_t k = 0; k < view->count; k++) {
    spread = fmax(spread, view->spread_s2[k]);
    least = fmin(least, view->fixed[k]);
  }
  window w = {INFINITY, -INFINITY};
  for (size_t i = 0; i < n; i++) {
    if (!(c->area_g_s_m3[i] > 0)) {
      continue;
    }
    const double variance = c->variance_s2[i] + spread, height = c->area_g_s_m3[i] / sqrt(c->variance_s2[i] * least);
    const double lasts = c->duration_s ? c->duration_s[i] : 0;
    const double e = fmax(14 + log(height), 1), tail = e * variance / c->travel_s[i];
    w.from_s = fmin(w.from_s, c->passage_s[i] - sqrt(2 * e * variance));
    w.to_s = fmax(w.to_s, c->passage_s[i] + lasts + tail + sqrt(tail * tail + 2 * e * variance));
  }
  return w;
}

void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               double *out, double *clean) {
  double plume[MOST] = {0};
  sums s = {{0}, {0}, {0}};
  const size_t padded = (n + HW__LANES - 1) / HW__LANES * HW__LANES;
  const window w = window_of(view, n, curves);
  size_t from = 0, to = view->count;
  while (from < to && view->time_s[from] < w.from_s) {
    from++;
  }
  while (to > from && view->time_s[to - 1] > w.to_s) {
    to--;
  }
  const hw__by_level before = hw__view_without(view, tails, 0, from);
  const hw__by_level after = hw__view_without(view, tails, to, view->count);
  const hw__by_level between = hw__view_without(view, tails, from, to);
  const double quiet = before.curvature + between.curvature + after.curvature;
  for (size_t i = 0; i < padded; i++) {
    s.value[i] = before.value + after.value;
    s.slope[i] = before.slope + after.slope;
    s.curvature[i] = before.curvature + after.curvature;
  }
  for (size_t k = from; k < to; k++) {
    if (curves->duration_s) {
      hw__lasting_respond(padded, curves, view->time_s[k], view->spread_s2[k], plume);
    } else {
      respond(padded, curves, view->time_s[k], view->spread_s2[k], plume);
    }
    if (view->side[k] == HW__MEASURED) {
      measure(padded, plume, view, k, &s);
    } else {
      censor(n, plume, view, k, tails, &s);
    }
  }
  for (size_t i = 0; i < n; i++) {
    const hw__by_level sum = {s.value[i], s.slope[i], s.curvature[i]};
    out[i] = hw__view_fold(view, tails, &sum, quiet);
    if (view->hidden) {
      clean[i] = hw__view_clean(view, &sum);
    }
  }
}

#include "posterior/kernel.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

enum { MOST = 256 };

/* A curve so far from the point that e^x of it is nothing. */
static const double nothing = -700;

/* Concentrations of n curves at one time: r = travel / ((variance + spread) age). Plain loops: compilers make vectors
 * of them, and the same bits with or without. */
HW__CLONES static void respond(size_t n, const hw__curves *c, double time_s, double spread_s2, double *out) {
  double power[MOST], root[MOST];
  for (size_t i = 0; i < n; i++) {
    const double lag = time_s - c->passage_s[i], travel = c->travel_s[i], age = lag + travel;
    const double aged = age > 0 ? age : 1;
    const double r = travel / ((c->variance_s2[i] + spread_s2) * aged);
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

/* ln x for positive normal x; absolute error below 1e-11. x = 2^k m with m in [sqrt(1/2), sqrt 2), then
 * ln m = 2 artanh((m-1)/(m+1)) as a series. */
HW__INLINE hw__v4 fast_log(hw__v4 x) {
  const int64_t root_half = INT64_C(0x3fe6a09e667f3bcd);
  const hw__i4 shifted = (hw__i4)x - root_half + INT64_C(0x4000000000000000);
  const hw__v4 k = (hw__v4)((shifted >> 52) | INT64_C(0x4330000000000000)) - (0x1p52 + 1024);
  const hw__v4 m = (hw__v4)((shifted & INT64_C(0x000fffffffffffff)) + root_half);
  const hw__v4 f = (m - 1.0) / (m + 1.0), s = f * f;
  hw__v4 p = s * (2.0 / 13) + 2.0 / 11;
  p = p * s + 2.0 / 9;
  p = p * s + 2.0 / 7;
  p = p * s + 2.0 / 5;
  p = p * s + 2.0 / 3;
  p = p * s + 2.0;
  return k * 0.6931471805599453 + f * p;
}

/* Running sums of a block of curves. */
typedef struct {
  double squares[MOST], sum[MOST], weights[MOST], rest[MOST];
} sums;

HW__CLONES static void measure(size_t n, const double *plume, const hw__view *view, size_t at, sums *s) {
  const double value = view->value_g_m3[at] - view->background_g_m3, fixed = view->fixed[at];
  const double per = 1 / view->readings[at], loudest = 1 / (HW__LOUDEST * view->readings[at]);
  const double share = view->share, level = view->share_level, quiet = 1 / hw__view_variance(view, at, 0);
  double ratio[MOST];
  for (size_t i = 0; i < n; i++) {
    const double off = value - plume[i], following = share * plume[i] + level;
    const double variance = fixed + following * following * per, square = off * off;
    const double w = 1 / (variance + square * loudest);
    s->squares[i] += w * square;
    s->sum[i] += w * off;
    s->weights[i] += w;
    ratio[i] = variance * quiet;
  }
  if (!(share > 0)) {
    return;
  }
  for (size_t i = 0; i < n; i += HW__LANES) {
    const hw__v4 rest = hw__v4_load(s->rest + i) - 0.5 * fast_log(hw__v4_load(ratio + i));
    memcpy(s->rest + i, &rest, sizeof rest);
  }
}

static void censor(size_t n, const double *plume, const hw__view *view, size_t at, const hw__tails *tails, sums *s) {
  /* Of nearly all curves a quiet point expects nothing: one value serves them. */
  const double none = hw__view_censored(view, at, tails, 0), least = 1e-6 * sqrt(view->fixed[at]);
  for (size_t i = 0; i < n; i++) {
    s->rest[i] += plume[i] < least ? none : hw__view_censored(view, at, tails, plume[i]);
  }
}

void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               double *out) {
  double plume[MOST] = {0};
  sums s = {{0}, {0}, {0}, {0}};
  const size_t padded = (n + HW__LANES - 1) / HW__LANES * HW__LANES;
  for (size_t k = 0; k < view->count; k++) {
    respond(padded, curves, view->time_s[k], view->spread_s2[k], plume);
    if (view->side[k] == HW__MEASURED) {
      measure(padded, plume, view, k, &s);
    } else {
      censor(n, plume, view, k, tails, &s);
    }
  }
  for (size_t i = 0; i < n; i++) { /* an infinite precision folds nothing */
    out[i] = s.rest[i] - 0.5 * (s.squares[i] - s.sum[i] * s.sum[i] / (s.weights[i] + view->background_precision));
  }
}

#include "posterior/kernel.h"

#include <math.h>

#include "posterior/lastings.h"
#include "posterior/limits.h"

/* Four points without a plume. */
HW__INLINE hw__by_level4 without_plume(const hw__prepared *p, size_t k) {
  const hw__view *v = p->view;
  const size_t n = v->count;
  const hw__v4 off = hw__four_of(p->off, k, n), quiet = hw__four_of(p->quiet, k, n),
               readings = hw__four_of(v->readings, k, n);
  const hw__v4 loud = off * off * quiet * hw__four_of(p->loudest, k, n), on_level = hw__four_of(p->on_level, k, n);
  const hw__v4 weight = quiet / hw__v4_sqrt(1.0 + loud * loud);
  hw__by_level4 sum = {-0.5 * weight * off * off, on_level * weight * off, on_level * weight};
  const hw__v4 sign = hw__four_of(p->sign, k, n), none = hw__v4_all(0);
  const hw__i4 cut = (sign < none) | (sign > none);
  if (hw__v4_any(cut)) {
    const hw__censored4 c = {-sign * off, sign, readings, readings / quiet, v->hidden ? (hw__i4){0} : on_level > none};
    const hw__by_level4 here = hw__censored(p->tails, &c, none);
    sum = (hw__by_level4){hw__v4_choose(cut, here.value, sum.value), hw__v4_choose(cut, here.slope, sum.slope),
                          hw__v4_choose(cut, here.curvature, sum.curvature)};
  }
  return sum;
}

HW__CLONES static void add_without(hw__prepared *p) {
  for (size_t k = 0; k < p->view->count; k += HW__LANES) {
    const hw__by_level4 here = without_plume(p, k);
    for (size_t i = k; i < p->view->count && i < k + HW__LANES; i++) {
      const hw__by_level *before = &p->without[i];
      p->without[i + 1] = (hw__by_level){before->value + here.value[i - k], before->slope + here.slope[i - k],
                                         before->curvature + here.curvature[i - k]};
    }
  }
}

void hw__kernel_prepare(const hw__view *view, const hw__tails *tails, hw__prepared *out) {
  out->view = view;
  out->tails = tails;
  out->widest_s2 = 0;
  out->quietest = INFINITY;
  out->without[0] = (hw__by_level){0, 0, 0};
  for (size_t k = 0; k < view->count; k++) {
    out->off[k] = view->value_g_m3[k] - hw__view_level(view, k);
    out->sign[k] = view->side[k];
    out->spread_s[k] = sqrt(view->spread_s2[k]);
    out->per[k] = 1 / view->readings[k];
    out->loudest[k] = out->per[k] / HW__LOUDEST;
    out->quiet[k] = 1 / hw__view_variance(view, k, 0);
    out->on_level[k] = hw__view_on_level(view, k) ? 1 : 0;
    out->widest_s2 = fmax(out->widest_s2, view->spread_s2[k]);
    out->quietest = fmin(out->quietest, view->fixed[k]);
  }
  add_without(out);
}

/* Running sums of four curves; ln of the variances' ratios is taken of products of some. */
typedef struct {
  hw__by_level4 by;
  hw__v4 ratio;
} sums;

HW__INLINE void take_ratios(sums *s) {
  s->by.value -= 0.5 * hw__v4_log(s->ratio);
  s->ratio = hw__v4_all(1);
}

HW__INLINE void add(hw__by_level4 *sum, hw__by_level4 part) {
  sum->value += part.value;
  sum->slope += part.slope;
  sum->curvature += part.curvature;
}

/* inverse / sqrt(1 + (square inverse loudest)^2) with one root and one division. */
HW__INLINE void measure(const hw__prepared *p, size_t k, hw__v4 plume, sums *s) {
  const hw__v4 off = p->off[k] - plume, following = p->view->share * plume + p->view->share_level;
  const hw__v4 variance = p->view->fixed[k] + following * following * p->per[k], square = off * off;
  const hw__v4 loud = square * p->loudest[k], w = 1.0 / hw__v4_sqrt(variance * variance + loud * loud);
  const hw__v4 counts = p->on_level[k] * w;
  add(&s->by, (hw__by_level4){-0.5 * w * square, counts * off, counts});
  s->ratio *= variance * p->quiet[k];
}

HW__INLINE void censor(const hw__prepared *p, size_t k, hw__v4 plume, sums *s) {
  const hw__view *v = p->view;
  /* Of nearly all curves a quiet point expects nothing: one value serves them. */
  const hw__by_level *to = &p->without[k + 1], *from = &p->without[k];
  const hw__i4 nothing = plume < 1e-3 * sqrt(v->fixed[k] * v->readings[k]);
  hw__by_level4 here = {hw__v4_all(to->value - from->value), hw__v4_all(to->slope - from->slope),
                        hw__v4_all(to->curvature - from->curvature)};
  if (hw__v4_any(~nothing)) {
    const double sign = p->sign[k];
    const hw__v4 following = v->share * plume + v->share_level;
    /* Quiet ones make the end of a hidden level's range, and that is all they say of it. */
    const hw__i4 tells = (hw__v4_all(p->on_level[k]) > 0.0) & (v->hidden ? plume > 0.0 : nothing | ~nothing);
    const hw__censored4 c = {hw__v4_all(-sign * p->off[k]), hw__v4_all(sign), hw__v4_all(v->readings[k]),
                             v->fixed[k] * v->readings[k] + following * following, tells};
    const hw__by_level4 seen = hw__censored(p->tails, &c, plume);
    here =
        (hw__by_level4){hw__v4_choose(nothing, here.value, seen.value), hw__v4_choose(nothing, here.slope, seen.slope),
                        hw__v4_choose(nothing, here.curvature, seen.curvature)};
  }
  add(&s->by, here);
}

/* The points from..to at which any of the four curves is more than nothing, a millionth of the noise. The exponent -E
 * of a curve is reached at the lag E V / theta + sqrt((E V / theta)^2 + 2 E V) after its passage, and no later than
 * sqrt(2 E V) before it. */
typedef struct {
  size_t from, to;
} window;

/* First point not before this time. */
static size_t point_at(const hw__view *view, double time_s) {
  size_t lo = 0, hi = view->count;
  while (lo < hi) {
    const size_t middle = (lo + hi) / 2;
    if (view->time_s[middle] < time_s) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

HW__INLINE window window_of(const hw__prepared *p, const hw__curves *c, bool lasting) {
  enum { FEW = 4 }; /* points: looked at sooner than searched through */
  if (p->view->count <= FEW) {
    return (window){0, p->view->count};
  }
  const hw__i4 passes = c->area_g_s_m3 > 0.0;
  const hw__v4 variance = c->variance_s2 + p->widest_s2;
  const hw__v4 height =
      hw__v4_choose(passes, c->area_g_s_m3, hw__v4_all(1)) / hw__v4_sqrt(c->variance_s2 * p->quietest);
  const hw__v4 e = hw__v4_max(14.0 + hw__v4_log(height), hw__v4_all(1)), tail = e * variance / c->travel_s;
  const hw__v4 wide = 2.0 * e * variance;
  hw__v4 first = c->passage_s - hw__v4_sqrt(wide), last = c->passage_s + tail + hw__v4_sqrt(tail * tail + wide);
  last = lasting ? last + c->duration_s : last;
  double from_s = INFINITY, to_s = -INFINITY;
  for (size_t i = 0; i < HW__LANES; i++) {
    from_s = passes[i] && first[i] < from_s ? first[i] : from_s;
    to_s = passes[i] && last[i] > to_s ? last[i] : to_s;
  }
  const size_t from = point_at(p->view, from_s), to = to_s > from_s ? point_at(p->view, to_s) : from;
  return (window){from, to > from ? to : from};
}

HW__INLINE sums sum_up(const hw__prepared *p, const hw__curves *c, bool lasting) {
  const window w = window_of(p, c, lasting);
  const hw__v4 widest = hw__widest_apart(c);
  const hw__lastings lasts = lasting ? hw__lastings_of(c) : (hw__lastings){0};
  const hw__by_level *before = &p->without[w.from], *to = &p->without[w.to], *all = &p->without[p->view->count];
  sums s = {{hw__v4_all(before->value + (all->value - to->value)), hw__v4_all(before->slope + (all->slope - to->slope)),
             hw__v4_all(before->curvature + (all->curvature - to->curvature))},
            hw__v4_all(1)};
  for (size_t k = w.from; k < w.to; k++) {
    const hw__v4 time = hw__v4_all(p->view->time_s[k]), spread = hw__v4_all(p->spread_s[k]);
    const hw__v4 plume =
        lasting ? hw__lastings_about(c, &lasts, widest, time, spread) : hw__instants_about(c, widest, time, spread);
    if (p->view->side[k] != HW__MEASURED) {
      censor(p, k, plume, &s);
    } else {
      measure(p, k, plume, &s);
    }
    if (k % 8 == 7) {
      take_ratios(&s);
    }
  }
  take_ratios(&s);
  return s;
}

/* hw__view_fold of four where the background may be anything about what is known of it. */
HW__INLINE hw__v4 fold(const hw__view *v, const hw__by_level4 *sum, double quiet) {
  const double precision = v->background_precision, off = v->background_prior - v->background_g_m3;
  if (isinf(precision)) {
    return sum->value;
  }
  const hw__v4 slope = sum->slope + precision * off, curvature = sum->curvature + precision;
  const hw__v4 room = hw__v4_log(curvature / (quiet + precision));
  return sum->value + 0.5 * (slope * slope / curvature - precision * off * off - room);
}

HW__CLONES static void compare(const hw__prepared *p, size_t fours, const hw__curves *curves, bool lasting, double *out,
                               double *clean) {
  const hw__view *v = p->view;
  const double quiet = p->without[v->count].curvature;
  for (size_t i = 0; i < fours; i++) {
    const sums s = lasting ? sum_up(p, &curves[i], true) : sum_up(p, &curves[i], false);
    if (!v->hidden) {
      const hw__v4 folded = fold(v, &s.by, quiet);
      memcpy(out + i * HW__LANES, &folded, sizeof folded);
    }
    for (size_t lane = 0; lane < HW__LANES && v->hidden; lane++) {
      const hw__by_level sum = {s.by.value[lane], s.by.slope[lane], s.by.curvature[lane]};
      out[i * HW__LANES + lane] = hw__view_fold(v, p->tails, &sum, quiet);
      clean[i * HW__LANES + lane] = hw__view_clean(v, &sum);
    }
  }
}

void hw__kernel_compare(const hw__prepared *p, size_t n, const hw__curves *curves, bool lasting, double *out,
                        double *clean) {
  compare(p, (n + HW__LANES - 1) / HW__LANES, curves, lasting, out, clean);
}

void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               bool lasting, double *out, double *clean) {
  hw__prepared p;
  hw__kernel_prepare(view, tails, &p);
  hw__kernel_compare(&p, n, curves, lasting, out, clean);
}

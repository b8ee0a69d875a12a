#include "posterior/kernel.h"

#include <math.h>

#include "posterior/lastings.h"

/* A view's points with what every curve asks of them, and their sums without a plume: of those before point k at
 * without[k]. */
typedef struct {
  const hw__view *view;
  const hw__tails *tails;
  double off[HW__VIEW_POINTS];                              /* value less background */
  double spread_s[HW__VIEW_POINTS];                         /* standard deviation of the times */
  double per[HW__VIEW_POINTS], loudest[HW__VIEW_POINTS];    /* of a reading; of a squared misfit, as hw__soft has it */
  double quiet[HW__VIEW_POINTS], on_level[HW__VIEW_POINTS]; /* 1 / variance without a plume; 1 or 0 */
  hw__by_level without[HW__VIEW_POINTS + 1];
  double widest_s2, quietest; /* the largest spread and the smallest fixed variance of any */
} prepared;

static void prepare(const hw__view *view, const hw__tails *tails, prepared *p) {
  p->view = view;
  p->tails = tails;
  p->widest_s2 = 0;
  p->quietest = INFINITY;
  p->without[0] = (hw__by_level){0, 0, 0};
  for (size_t k = 0; k < view->count; k++) {
    p->off[k] = view->value_g_m3[k] - hw__view_level(view, k);
    p->spread_s[k] = sqrt(view->spread_s2[k]);
    p->per[k] = 1 / view->readings[k];
    p->loudest[k] = 1 / (HW__LOUDEST * view->readings[k]);
    p->quiet[k] = 1 / hw__view_variance(view, k, 0);
    p->on_level[k] = hw__view_on_level(view, k) ? 1 : 0;
    p->widest_s2 = fmax(p->widest_s2, view->spread_s2[k]);
    p->quietest = fmin(p->quietest, view->fixed[k]);
    const hw__by_level here = hw__view_without(view, tails, k, k + 1), *before = &p->without[k];
    p->without[k + 1] =
        (hw__by_level){before->value + here.value, before->slope + here.slope, before->curvature + here.curvature};
  }
}

/* Running sums of four curves, as in hw__by_level; ln of the variances' ratios is taken of products of some. */
typedef struct {
  hw__v4 value, slope, curvature, ratio;
} sums;

HW__INLINE void take_ratios(sums *s) {
  s->value -= 0.5 * hw__v4_log(s->ratio);
  s->ratio = hw__v4_all(1);
}

/* inverse / sqrt(1 + (square inverse loudest)^2) with one root and one division. */
HW__INLINE void measure(const prepared *p, size_t k, hw__v4 plume, sums *s) {
  const hw__v4 off = p->off[k] - plume, following = p->view->share * plume + p->view->share_level;
  const hw__v4 variance = p->view->fixed[k] + following * following * p->per[k], square = off * off;
  const hw__v4 loud = square * p->loudest[k], w = 1.0 / hw__v4_sqrt(variance * variance + loud * loud);
  s->value -= 0.5 * w * square;
  s->slope += p->on_level[k] * w * off;
  s->curvature += p->on_level[k] * w;
  s->ratio *= variance * p->quiet[k];
}

HW__INLINE void censor(const prepared *p, size_t k, hw__v4 plume, sums *s) {
  /* Of nearly all curves a quiet point expects nothing: one value serves them. */
  const double least = 1e-3 * sqrt(p->view->fixed[k] * p->view->readings[k]);
  const hw__by_level *to = &p->without[k + 1], *from = &p->without[k];
  for (size_t i = 0; i < HW__LANES; i++) {
    const hw__by_level here = plume[i] < least ? (hw__by_level){to->value - from->value, to->slope - from->slope,
                                                                to->curvature - from->curvature}
                                               : hw__view_censored_by_level(p->view, k, p->tails, plume[i]);
    s->value[i] += here.value;
    s->slope[i] += here.slope;
    s->curvature[i] += here.curvature;
  }
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

HW__INLINE window window_of(const prepared *p, const hw__curves *c, bool lasting) {
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

HW__INLINE sums sum_up(const prepared *p, const hw__curves *c, bool lasting) {
  const window w = window_of(p, c, lasting);
  const hw__v4 widest = hw__widest_apart(c);
  const hw__lastings lasts = lasting ? hw__lastings_of(c) : (hw__lastings){0};
  const hw__by_level *before = &p->without[w.from], *to = &p->without[w.to], *all = &p->without[p->view->count];
  sums s = {hw__v4_all(before->value + (all->value - to->value)), hw__v4_all(before->slope + (all->slope - to->slope)),
            hw__v4_all(before->curvature + (all->curvature - to->curvature)), hw__v4_all(1)};
  for (size_t k = w.from; k < w.to; k++) {
    const hw__v4 time = hw__v4_all(p->view->time_s[k]), spread = hw__v4_all(p->spread_s[k]);
    const hw__v4 plume =
        lasting ? hw__lastings_about(c, &lasts, widest, time, spread) : hw__instants_about(c, widest, time, spread);
    if (p->view->side[k] != HW__MEASURED) {
      censor(p, k, plume, &s);
      continue;
    }
    measure(p, k, plume, &s);
    if (k % 4 == 3) {
      take_ratios(&s);
    }
  }
  take_ratios(&s);
  return s;
}

HW__CLONES static void compare(const prepared *p, size_t fours, const hw__curves *curves, bool lasting, sums *out) {
  for (size_t i = 0; i < fours; i++) {
    out[i] = lasting ? sum_up(p, &curves[i], true) : sum_up(p, &curves[i], false);
  }
}

void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               bool lasting, double *out, double *clean) {
  enum { AT_ONCE = 16 };
  prepared p;
  prepare(view, tails, &p);
  const double quiet = p.without[view->count].curvature;
  const size_t fours = (n + HW__LANES - 1) / HW__LANES;
  for (size_t from = 0; from < fours; from += AT_ONCE) {
    sums s[AT_ONCE];
    const size_t here = fours - from < AT_ONCE ? fours - from : AT_ONCE;
    compare(&p, here, curves + from, lasting, s);
    for (size_t i = 0; i < here * HW__LANES; i++) {
      const size_t four = i / HW__LANES, lane = i % HW__LANES, to = from * HW__LANES + i;
      const hw__by_level sum = {s[four].value[lane], s[four].slope[lane], s[four].curvature[lane]};
      out[to] = hw__view_fold(view, tails, &sum, quiet);
      if (view->hidden) {
        clean[to] = hw__view_clean(view, &sum);
      }
    }
  }
}

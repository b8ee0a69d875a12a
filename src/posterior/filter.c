#include "posterior/filter.h"

#include <math.h>

/* By how much a curve may do better than the sensor's own. */
static const double beyond = 3;

/* Coordinate c of a pulse may be off by more, with this standard deviation: what is left of the news of the others.
 * With J the curvature and g the slope, a = sd^2 / (1 + sd^2 J_cc),
 *   J - a J_c J_c',  g - a g_c J_c,  ln L + a g_c^2 / 2 - ln(1 + sd^2 J_cc) / 2. */
static void integrate_out(hw__news *news, size_t c, double sd) {
  hw__quadratic *q = &news->near;
  const double own = q->curvature[c][c], a = sd * sd / (1 + sd * sd * own), slope = q->slope[c];
  double row[HW__PULSE_SIZE];
  for (size_t i = 0; i < HW__PULSE_SIZE; i++) {
    row[i] = q->curvature[c][i];
  }
  for (size_t i = 0; i < HW__PULSE_SIZE; i++) {
    q->slope[i] -= a * slope * row[i];
    for (size_t j = 0; j < HW__PULSE_SIZE; j++) {
      q->curvature[i][j] -= a * row[i] * row[j];
    }
  }
  q->log_at += 0.5 * a * slope * slope;
  news->log_room -= 0.5 * log1p(sd * sd * own);
}

hw__news hw__filter_news(const hw__fit *fit, double gain_sd, double shape_sd, double believed) {
  hw__news news = {.near = fit->near, .most = fit->log_likelihood + beyond, .believed = believed};
  integrate_out(&news, HW__LN_AREA, gain_sd);
  integrate_out(&news, HW__LN_SKEW, shape_sd);
  return news;
}

/* The state after the stretch, its step linearised at `about`. With f and s the new local factors, the old ones carried
 * on and more in doubt, T + took (1 - f) and V + spread (1 + s - 3 f). */
HW__INLINE void advance(const hw__plume *from, const hw__stretch *s, const hw__v4 about[2], hw__plume *to) {
  const hw__v4 *m = from->mean, *c = from->cov;
  const hw__v4 took = s->travel_s * hw__v4_exp(-about[0]);
  const hw__v4 spread = s->variance_s2 * hw__v4_exp(about[1] - 3.0 * about[0]);
  const hw__v4 f = s->carry[0] * m[HW__OWN_FASTER], e = s->carry[1] * m[HW__OWN_SPREADING];
  const hw__v4 faster = f - about[0], more = e - about[1] - 3.0 * faster, least = hw__v4_all(0.1);
  to->mean[HW__TRAVEL] = m[HW__TRAVEL] + took * hw__v4_max(1.0 - faster, least); /* else the line would cross zero */
  to->mean[HW__VARIANCE] = m[HW__VARIANCE] + spread * hw__v4_max(1.0 + more, least);
  to->mean[HW__OWN_FASTER] = f;
  to->mean[HW__OWN_SPREADING] = e;
  /* Covariances of the old travel time and variance with the new factors. */
  const hw__v4 tf = s->carry[0] * c[hw__pair(HW__TRAVEL, HW__OWN_FASTER)];
  const hw__v4 vf = s->carry[0] * c[hw__pair(HW__VARIANCE, HW__OWN_FASTER)];
  const hw__v4 te = s->carry[1] * c[hw__pair(HW__TRAVEL, HW__OWN_SPREADING)];
  const hw__v4 ve = s->carry[1] * c[hw__pair(HW__VARIANCE, HW__OWN_SPREADING)];
  const hw__v4 ff = s->carry[0] * s->carry[0] * c[hw__pair(HW__OWN_FASTER, HW__OWN_FASTER)] + s->sd[0] * s->sd[0];
  const hw__v4 ee = s->carry[1] * s->carry[1] * c[hw__pair(HW__OWN_SPREADING, HW__OWN_SPREADING)] + s->sd[1] * s->sd[1];
  const hw__v4 fe = s->carry[0] * s->carry[1] * c[hw__pair(HW__OWN_FASTER, HW__OWN_SPREADING)];
  /* And with what the variance gains, spread (e - 3 f). */
  const hw__v4 fg = spread * (fe - 3.0 * ff), eg = spread * (ee - 3.0 * fe), gg = spread * (eg - 3.0 * fg);
  const hw__v4 tg = spread * (te - 3.0 * tf), vg = spread * (ve - 3.0 * vf);
  to->cov[hw__pair(HW__TRAVEL, HW__TRAVEL)] = c[hw__pair(HW__TRAVEL, HW__TRAVEL)] - 2.0 * took * tf + took * took * ff;
  to->cov[hw__pair(HW__TRAVEL, HW__VARIANCE)] = c[hw__pair(HW__TRAVEL, HW__VARIANCE)] + tg - took * (vf + fg);
  to->cov[hw__pair(HW__VARIANCE, HW__VARIANCE)] = c[hw__pair(HW__VARIANCE, HW__VARIANCE)] + 2.0 * vg + gg;
  to->cov[hw__pair(HW__TRAVEL, HW__OWN_FASTER)] = tf - took * ff;
  to->cov[hw__pair(HW__VARIANCE, HW__OWN_FASTER)] = vf + fg;
  to->cov[hw__pair(HW__OWN_FASTER, HW__OWN_FASTER)] = ff;
  to->cov[hw__pair(HW__TRAVEL, HW__OWN_SPREADING)] = te - took * fe;
  to->cov[hw__pair(HW__VARIANCE, HW__OWN_SPREADING)] = ve + eg;
  to->cov[hw__pair(HW__OWN_FASTER, HW__OWN_SPREADING)] = fe;
  to->cov[hw__pair(HW__OWN_SPREADING, HW__OWN_SPREADING)] = ee;
}

/* A station's ln likelihood about the pulse that is expected there, as travel time and variance move. */
typedef struct {
  hw__v4 there, slope_t, slope_v, curve_tt, curve_tv, curve_vv;
} by_state;

HW__INLINE by_state look(size_t n, const hw__news *news, const hw__cargo *cargo, hw__v4 travel, hw__v4 variance) {
  const hw__quadratic *q = &news->near;
  const double(*j)[HW__PULSE_SIZE] = q->curvature;
  const hw__v4 ln_variance = hw__v4_log(variance);
  const hw__v4 whole = n == HW__INSTANT_SIZE ? variance : variance + cargo->duration_s * cargo->duration_s / 12.0;
  const hw__v4 ln_whole = n == HW__INSTANT_SIZE ? ln_variance : hw__v4_log(whole);
  hw__v4 off[HW__PULSE_SIZE], h[HW__PULSE_SIZE];
  off[HW__PASSAGE] = q->at[HW__PASSAGE] - (cargo->release_s + travel + 0.5 * cargo->duration_s);
  off[HW__LN_VARIANCE] = q->at[HW__LN_VARIANCE] - ln_whole;
  off[HW__LN_AREA] = q->at[HW__LN_AREA] - cargo->ln_area;
  off[HW__LN_SKEW] = q->at[HW__LN_SKEW] - (0.5 * ln_variance - hw__v4_log(travel) - cargo->shape);
  off[HW__LN_SHARE] = q->at[HW__LN_SHARE] - (ln_variance - ln_whole);
  hw__v4 sum = hw__v4_all(0);
  for (size_t a = 0; a < n; a++) {
    h[a] = hw__v4_all(q->slope[a]);
    for (size_t b = 0; b < n; b++) {
      h[a] += j[a][b] * off[b];
    }
    sum += (h[a] + q->slope[a]) * off[a];
  }
  /* How the pulse follows from travel time and variance: passage 1, ln skew -a; ln variance b, ln skew c, ln share e.
   */
  const hw__v4 a = 1.0 / travel, c = 0.5 / variance, b = n == HW__INSTANT_SIZE ? 2.0 * c : 1.0 / whole;
  by_state s = {.there = q->log_at - 0.5 * sum,
                .slope_t = h[HW__PASSAGE] - a * h[HW__LN_SKEW],
                .slope_v = b * h[HW__LN_VARIANCE] + c * h[HW__LN_SKEW],
                .curve_tt = j[0][0] - 2.0 * a * j[0][3] + a * a * j[3][3],
                .curve_tv = b * j[0][1] + c * j[0][3] - a * (b * j[1][3] + c * j[3][3]),
                .curve_vv = b * b * j[1][1] + 2.0 * b * c * j[1][3] + c * c * j[3][3]};
  if (n == HW__PULSE_SIZE) {
    const hw__v4 e = 2.0 * c - b;
    s.slope_v += e * h[HW__LN_SHARE];
    s.curve_tv += e * (j[0][4] - a * j[3][4]);
    s.curve_vv += e * (e * j[4][4] + 2.0 * (b * j[1][4] + c * j[3][4]));
  }
  return s;
}

/* Takes the station's own pulse into the state. With P the covariance of travel time and variance, J and h the
 * curvature and the slope of its ln likelihood where they are expected,
 *   ln integral = ln likelihood there - ln det(I + J P) / 2 + h' P (I + J P)^-1 h / 2,
 * and state and covariance move by K g and -K Q K', K the state's covariance with the two, g = (I + J P)^-1 h and
 * Q = (I + J P)^-1 J, all of two by two. Returned: the integral. */
HW__INLINE hw__v4 take_in(size_t n, const hw__news *news, const hw__cargo *cargo, hw__v4 least_variance,
                          hw__plume *state) {
  hw__v4 *c = state->cov;
  const hw__v4 travel = hw__v4_max(state->mean[HW__TRAVEL], hw__v4_all(1e-3));
  const by_state l = look(n, news, cargo, travel, hw__v4_max(state->mean[HW__VARIANCE], least_variance));
  const hw__v4 tt = c[hw__pair(HW__TRAVEL, HW__TRAVEL)], tv = c[hw__pair(HW__TRAVEL, HW__VARIANCE)],
               vv = c[hw__pair(HW__VARIANCE, HW__VARIANCE)], none = hw__v4_all(0);
  const hw__v4 det_j = hw__v4_max(l.curve_tt * l.curve_vv - l.curve_tv * l.curve_tv, none);
  const hw__v4 det_p = hw__v4_max(tt * vv - tv * tv, none);
  const hw__v4 det = 1.0 + (l.curve_tt * tt + 2.0 * l.curve_tv * tv + l.curve_vv * vv) + det_j * det_p;
  const hw__v4 inverse = 1.0 / det;
  const hw__v4 gt = inverse * (l.slope_t * (1.0 + l.curve_tv * tv + l.curve_vv * vv) -
                               l.slope_v * (l.curve_tt * tv + l.curve_tv * vv));
  const hw__v4 gv = inverse * (l.slope_v * (1.0 + l.curve_tt * tt + l.curve_tv * tv) -
                               l.slope_t * (l.curve_tv * tt + l.curve_vv * tv));
  const hw__v4 gained = l.slope_t * (tt * gt + tv * gv) + l.slope_v * (tv * gt + vv * gv);
  const hw__v4 qtt = inverse * (l.curve_tt + det_j * vv), qtv = inverse * (l.curve_tv - det_j * tv),
               qvv = inverse * (l.curve_vv + det_j * tt);
  hw__v4 kt[HW__STATE], kv[HW__STATE];
  for (size_t a = 0; a < HW__STATE; a++) {
    kt[a] = c[hw__pair(a, HW__TRAVEL)];
    kv[a] = c[hw__pair(a, HW__VARIANCE)];
  }
  for (size_t a = 0; a < HW__STATE; a++) {
    const hw__v4 by_t = kt[a] * qtt + kv[a] * qtv, by_v = kt[a] * qtv + kv[a] * qvv;
    state->mean[a] += kt[a] * gt + kv[a] * gv;
    for (size_t b = 0; b <= a; b++) {
      c[hw__pair(a, b)] -= by_t * kt[b] + by_v * kv[b];
    }
  }
  const hw__v4 value = l.there + 0.5 * gained, most = hw__v4_all(news->most);
  return hw__v4_choose(value < most, value, most) + news->log_room - 0.5 * hw__v4_log(det);
}

HW__INLINE void keep_where(hw__i4 mask, const hw__plume *kept, hw__plume *state) {
  for (size_t a = 0; a < HW__STATE; a++) {
    state->mean[a] = hw__v4_choose(mask, kept->mean[a], state->mean[a]);
  }
  for (size_t a = 0; a < HW__COVARIANCES; a++) {
    state->cov[a] = hw__v4_choose(mask, kept->cov[a], state->cov[a]);
  }
}

/* The velocity that brings the pulse there when it was seen, within four standard deviations: a good place to begin. */
HW__INLINE hw__v4 begin_at(const hw__news *news, const hw__stretch *s, const hw__cargo *cargo, hw__v4 travel,
                           hw__v4 expected) {
  const hw__v4 took = news->near.at[HW__PASSAGE] - 0.5 * cargo->duration_s - cargo->release_s - travel;
  const hw__i4 later = took > 0.0;
  const hw__v4 ratio = s->travel_s / hw__v4_choose(later, took, s->travel_s), most = 4.0 * s->sd[0];
  const hw__v4 off = hw__v4_log(ratio) - expected;
  const hw__v4 within = hw__v4_choose(off < most, hw__v4_max(off, -most), most);
  return expected + hw__v4_keep(later, within);
}

HW__INLINE void pass(size_t n, const hw__news *news, const hw__stretch *s, const hw__cargo *cargo, hw__plume *state,
                     hw__v4 *log_likelihood) {
  const hw__v4 travel = state->mean[HW__TRAVEL], variance = state->mean[HW__VARIANCE];
  const hw__v4 least = 0.5 * variance + 1e-6;
  hw__v4 about[2] = {s->carry[0] * state->mean[HW__OWN_FASTER], s->carry[1] * state->mean[HW__OWN_SPREADING]};
  about[0] = begin_at(news, s, cargo, travel, about[0]);
  hw__plume first, second, expected;
  advance(state, s, about, &first);
  expected = first;
  const hw__v4 at_first = take_in(n, news, cargo, least, &first);
  const hw__i4 wrong = at_first < news->believed;
  about[0] = first.mean[HW__OWN_FASTER];
  about[1] = first.mean[HW__OWN_SPREADING];
  advance(state, s, about, &second);
  keep_where(wrong, &expected, &second);
  expected = second;
  const hw__v4 at_last = take_in(n, news, cargo, least, &second);
  *log_likelihood = hw__v4_choose(wrong, at_first, at_last);
  keep_where(wrong | (at_last < news->believed), &expected, &second);
  second.mean[HW__VARIANCE] = hw__v4_max(second.mean[HW__VARIANCE], least);
  second.mean[HW__TRAVEL] = hw__v4_max(second.mean[HW__TRAVEL], 0.5 * travel);
  *state = second;
}

HW__CLONES void hw__filter_pass(const hw__news *news, const hw__stretch *s, const hw__cargo *cargo, hw__plume *state,
                                hw__v4 *log_likelihood) {
  /* Written out for either size, for the compiler to unroll. */
  if (news->near.size == HW__INSTANT_SIZE) {
    pass(HW__INSTANT_SIZE, news, s, cargo, state, log_likelihood);
  } else {
    pass(HW__PULSE_SIZE, news, s, cargo, state, log_likelihood);
  }
}

HW__CLONES void hw__filter_advance(const hw__stretch *s, hw__plume *state) {
  const hw__v4 about[2] = {s->carry[0] * state->mean[HW__OWN_FASTER], s->carry[1] * state->mean[HW__OWN_SPREADING]};
  hw__plume to;
  advance(state, s, about, &to);
  *state = to;
}

HW__CLONES void hw__filter_compare(const hw__news *news, const hw__cargo *cargo, const hw__plume *state,
                                   hw__v4 *log_likelihood) {
  hw__plume same = *state;
  const hw__v4 least = hw__v4_all(1e-6);
  *log_likelihood = news->near.size == HW__INSTANT_SIZE ? take_in(HW__INSTANT_SIZE, news, cargo, least, &same)
                                                        : take_in(HW__PULSE_SIZE, news, cargo, least, &same);
}

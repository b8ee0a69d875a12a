/* Readings below a detection limit, and above the end of a range, four at a time (view.h, nondetect.h), in lanes: the
 * same bits on every machine. */
#ifndef HW_POSTERIOR_LIMITS_H
#define HW_POSTERIOR_LIMITS_H

#include "core/lanes.h"
#include "posterior/view.h"

HW__INLINE hw__v4 hw__gather(const double *from, const size_t at[HW__LANES]) {
  return (hw__v4){from[at[0]], from[at[1]], from[at[2]], from[at[3]]};
}

/* Four of a view's numbers, the last of n again where there are fewer. */
HW__INLINE hw__v4 hw__four_of(const double *from, size_t k, size_t n) {
  const size_t last = n - 1, at[] = {k, k + 1 < n ? k + 1 : last, k + 2 < n ? k + 2 : last, k + 3 < n ? k + 3 : last};
  return k + HW__LANES <= n ? hw__v4_load(from + k) : hw__gather(from, at);
}

/* hw__by_level of four. */
typedef struct {
  hw__v4 value, slope, curvature;
} hw__by_level4;

/* ln Phi at four places within the table, and its slope, as hw__tails_at has them. */
HW__INLINE hw__v4 hw__tails_at_four(const hw__tails *tails, hw__v4 z, hw__v4 *slope) {
  const double step = 1.0 / HW__TAIL_PER_UNIT;
  const hw__v4 place = (z - HW__TAIL_FROM) * HW__TAIL_PER_UNIT;
  const int k[] = {(int)place[0], (int)place[1], (int)place[2], (int)place[3]};
  const size_t at[] = {(size_t)k[0], (size_t)k[1], (size_t)k[2], (size_t)k[3]};
  const hw__v4 knot = {k[0], k[1], k[2], k[3]}, a = hw__gather(tails->value, at), b = hw__gather(tails->value + 1, at);
  const hw__v4 ra = hw__gather(tails->slope, at), rb = hw__gather(tails->slope + 1, at);
  const hw__v4 u = place - knot, v = 1.0 - u, za = HW__TAIL_FROM + knot * step, zb = za + step;
  const hw__v4 bend_a = -step * ra * (za + ra), bend_b = -step * rb * (zb + rb), more = rb - ra, rise = b - a;
  *slope = ra + u * more + u * v * (v * (bend_a - more) - u * (bend_b - more));
  return a + u * rise + u * v * (v * (step * ra - rise) - u * (step * rb - rise));
}

/* Readings on one side of a limit, four points or four signals: how far the limit is from the background, towards their
 * side; their number and the variance of one; and whether they tell of the level. */
typedef struct {
  hw__v4 inside, sign, readings, variance;
  hw__i4 tells;
} hw__censored4;

/* As hw__view_censored_by_level has it; the signal is in the variance. */
HW__INLINE hw__by_level4 hw__censored(const hw__tails *tails, const hw__censored4 *c, hw__v4 signal) {
  static const double least = -5.5, most = HW__TAIL_TO - 1e-9; /* beyond the first nothing is louder */
  const hw__v4 sd = hw__v4_sqrt(c->variance), z = (c->inside + c->sign * signal) / sd, none = hw__v4_all(0);
  const hw__v4 below = hw__v4_choose(z < most, z, hw__v4_all(most));
  hw__v4 slope;
  const hw__v4 within = hw__v4_max(below, hw__v4_all(least)), value = hw__tails_at_four(tails, within, &slope);
  const hw__i4 loud = (z < least) | (value < -0.5 * HW__LOUDEST), some = ~loud & (z <= (double)HW__TAIL_TO);
  const hw__v4 bend = hw__v4_max(slope * (within + slope), none);
  return (hw__by_level4){c->readings * hw__v4_choose(loud, hw__v4_all(-0.5 * HW__LOUDEST), hw__v4_keep(some, value)),
                         hw__v4_keep(some & c->tells, c->readings * c->sign * slope / sd),
                         hw__v4_keep(some & c->tells, c->readings * bend / c->variance)};
}

#endif

/* Four curves of releases that last at a time (duration.h), in lanes: the same bits on every machine. */
#ifndef HW_POSTERIOR_LASTINGS_H
#define HW_POSTERIOR_LASTINGS_H

#include "posterior/curves.h"

/* (1 + 2 x) e^(x^2) erfc x for x >= 0, relative error below 3e-10: it is smooth in u = (x - 3) / (x + 3), which takes
 * [0, inf) to [-1, 1); a polynomial through its values at the zeros of Chebyshev's of degree 14, its even and its odd
 * powers apart, so that neither sum waits for the other. */
HW__INLINE hw__v4 hw__scaled_tail(hw__v4 u) {
  static const double c[] = {1.2530080582517198,     -0.13562110588977411,    -0.047562292578381779,
                             0.12964513564858771,    -0.11927369264647601,    0.068308399692526986,
                             -0.023770329148928782,  0.0025271155196833202,   0.0018881023959187765,
                             -0.0007731099351480404, -0.00010412154073995744, 0.00011462995270302857,
                             3.858826671278491e-06,  -1.148163984713132e-05};
  const hw__v4 square = u * u;
  hw__v4 even = hw__v4_all(c[12]), odd = hw__v4_all(c[13]);
  for (int k = 10; k >= 0; k -= 2) {
    even = even * square + c[k];
    odd = odd * square + c[k + 1];
  }
  return even + u * odd;
}

/* e^-a^2 is nothing beside 1 from here on: everything has passed, or nothing yet. */
#define HW__PASSED_SQUARE 36.0

/* What a curve's constants come to: F = scale (erfc a - e^-a^2 erfcx b). */
typedef struct {
  hw__v4 travel, per_travel; /* theta; 2 V / theta */
  hw__v4 g, scale;
} hw__lasting_shape;

HW__INLINE hw__lasting_shape hw__lasting_shape_of(const hw__curves *c, hw__v4 variance) {
  const hw__v4 travel = c->travel_s, decay = c->decay_per_s, per_travel = 2.0 * variance / travel;
  if (!hw__v4_any(decay > 0.0)) { /* as below, and cheaper */
    return (hw__lasting_shape){travel, per_travel, hw__v4_all(1), hw__v4_all(0.5)};
  }
  const hw__v4 g = hw__v4_sqrt(1.0 + decay * per_travel);
  /* (1 - g) theta^2 / V without the difference: (1 - g^2) / (1 + g) */
  const hw__v4 lost = -2.0 * decay * travel / (1.0 + g);
  return (hw__lasting_shape){travel, per_travel, g, 0.5 * hw__v4_exp(lost) / g};
}

/* F: the share that has passed at this age. */
HW__INLINE hw__v4 hw__lasting_passed(const hw__lasting_shape *s, hw__v4 age) {
  const hw__v4 aged = hw__v4_max(age, 1e-9 * s->travel), wide = s->per_travel * aged, way = s->g * aged;
  const hw__v4 left = s->travel - way, over = s->travel + way;
  const hw__i4 later = left < 0.0;
  if (!hw__v4_any(left * left < HW__PASSED_SQUARE * wide)) {
    return hw__v4_keep(later, 2.0 * s->scale);
  }
  const hw__v4 narrow = 1.0 / hw__v4_sqrt(wide), a = hw__v4_max(left, -left) * narrow, b = over * narrow;
  /* One division for both tails' arguments and what they are divided by. */
  const hw__v4 a_far = a + 3.0, b_far = b + 3.0, a_twice = 1.0 + 2.0 * a, b_twice = 1.0 + 2.0 * b;
  const hw__v4 of_a = a_far * a_twice, of_b = b_far * b_twice, one = 1.0 / (of_a * of_b);
  const hw__v4 per_a = one * of_b, per_b = one * of_a;
  const hw__v4 e = hw__v4_exp(-(a * a));
  const hw__v4 tail = e * (hw__scaled_tail((a - 3.0) * a_twice * per_a) * (a_far * per_a));
  const hw__v4 other = e * (hw__scaled_tail((b - 3.0) * b_twice * per_b) * (b_far * per_b));
  return s->scale * (hw__v4_choose(later, 2.0 - tail, tail) - other);
}

/* What does not change from time to time. */
typedef struct {
  hw__lasting_shape shape;
  hw__v4 plateau; /* area / duration */
} hw__lastings;

HW__INLINE hw__lastings hw__lastings_of(const hw__curves *c) {
  return (hw__lastings){hw__lasting_shape_of(c, c->variance_s2), c->area_g_s_m3 / c->duration_s};
}

/* What has come by then of a release that began, less what has come of one that begins when it ends. */
HW__INLINE hw__v4 hw__lasting_come(const hw__curves *c, const hw__lasting_shape *shape, hw__v4 time_s) {
  const hw__v4 age = time_s - c->passage_s + c->travel_s, ended = age - c->duration_s;
  const hw__v4 gone = hw__v4_any(ended > 0.0) ? hw__lasting_passed(shape, ended) : hw__v4_all(0);
  return hw__lasting_passed(shape, age) - gone;
}

/* Concentrations of four curves, whose durations are positive, as the mean over times about time_s with this standard
 * deviation, as hw__curve_at has it of an instant's; `widest` is hw__widest_apart of the curves. Smeared instead, a
 * curve's skew changes with how readings were merged, and with known hydraulics the skew is all that tells a short
 * release from an older instant. Within 1e-8 of the curve's plateau, at any time; never negative. */
HW__INLINE hw__v4 hw__lastings_about(const hw__curves *c, const hw__lastings *l, hw__v4 widest, hw__v4 time_s,
                                     hw__v4 spread_s) {
  if (!hw__v4_any(spread_s > 0.0)) {
    return hw__v4_max(l->plateau * hw__lasting_come(c, &l->shape, time_s), hw__v4_all(0));
  }
  const hw__i4 wide = widest < spread_s;
  const hw__v4 node = hw__v4_choose(wide, widest, spread_s);
  hw__lasting_shape shape = l->shape;
  if (hw__v4_any(wide)) {
    shape = hw__lasting_shape_of(c, c->variance_s2 + hw__v4_keep(wide, spread_s * spread_s - widest * widest));
  }
  const hw__v4 come = hw__lasting_come(c, &shape, time_s - node) + hw__lasting_come(c, &shape, time_s + node);
  return hw__v4_max(0.5 * l->plateau * come, hw__v4_all(0));
}

#endif

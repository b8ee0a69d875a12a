/* Four curves at a time (hw__curve, view.h), in lanes: the same bits on every machine. */
#ifndef HW_POSTERIOR_CURVES_H
#define HW_POSTERIOR_CURVES_H

#include "core/lanes.h"
#include "posterior/view.h"

/* As hw__curve; area 0 where nothing passes, and then the others anything positive. */
typedef struct {
  hw__v4 passage_s, travel_s, variance_s2, area_g_s_m3, decay_per_s;
  hw__v4 duration_s; /* all positive, or not looked at */
} hw__curves;

HW__INLINE void hw__curves_set(hw__curves *c, size_t lane, hw__curve curve) {
  c->passage_s[lane] = curve.passage_s;
  c->travel_s[lane] = curve.travel_s;
  c->variance_s2[lane] = curve.variance_s2;
  c->area_g_s_m3[lane] = curve.area_g_s_m3;
  c->decay_per_s[lane] = curve.decay_per_s;
  c->duration_s[lane] = curve.duration_s;
}

/* A curve so far from the point that e^x of it is nothing. */
#define HW__NOTHING (-700.0)

/* Instants' concentrations at a time, their variance smeared by `more`. */
HW__INLINE hw__v4 hw__instants_at(const hw__curves *c, hw__v4 time_s, hw__v4 more) {
  const hw__v4 lag = time_s - c->passage_s, age = lag + c->travel_s, none = hw__v4_all(HW__NOTHING);
  const hw__v4 aged = hw__v4_choose(age > 0.0, age, hw__v4_all(1));
  const hw__v4 r = c->travel_s / ((c->variance_s2 + more) * aged);
  const hw__v4 x = -0.5 * r * lag * lag - c->decay_per_s * aged;
  const hw__v4 power = hw__v4_choose((age > 0.0) & (x > none), x, none);
  return hw__v4_exp(power) * hw__v4_sqrt(r) * (0.3989422804014327 * c->area_g_s_m3);
}

HW__INLINE hw__v4 hw__widest_apart(const hw__curves *c) {
  return hw__v4_sqrt(HW__APART * c->variance_s2);
}

/* Their mean over times about time_s whose standard deviation is spread_s, as hw__curve_at has it; `widest` is
 * hw__widest_apart of the curves. */
HW__INLINE hw__v4 hw__instants_about(const hw__curves *c, hw__v4 widest, hw__v4 time_s, hw__v4 spread_s) {
  const hw__v4 none = hw__v4_all(0);
  if (!hw__v4_any(spread_s > 0.0)) {
    return hw__instants_at(c, time_s, none);
  }
  const hw__i4 wide = widest < spread_s;
  const hw__v4 node = hw__v4_choose(wide, widest, spread_s);
  const hw__v4 more = hw__v4_keep(wide, spread_s * spread_s - widest * widest);
  return 0.5 * (hw__instants_at(c, time_s - node, more) + hw__instants_at(c, time_s + node, more));
}

#endif

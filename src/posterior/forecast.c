/* What the intakes must expect: the picked draws carried on downstream. */
#include <math.h>

#include "posterior/ade.h"
#include "posterior/walk.h"

/* The time between these two at which `level` is passed; bisection, a limb rises or falls all the way. */
static double passing_time(const hw__curve *c, double level, double below, double above) {
  for (int i = 0; i < 50; i++) {
    const double middle = 0.5 * (below + above);
    if (hw__curve_at(c, middle, 0) < level) {
      below = middle;
    } else {
      above = middle;
    }
  }
  return above;
}

static double late_time(const hw__curve *c, double level, double peak) {
  double after = 2 * sqrt(c->variance_s2);
  for (int i = 0; i < 60 && hw__curve_at(c, peak + after, 0) >= level; i++) {
    after *= 2;
  }
  return peak + after;
}

static hw__passage passage_of(const hw__curve *c, double alarm) {
  hw__passage passage = {.first_s = NAN, .peak_s = NAN, .last_s = NAN, .peak_g_m3 = 0, .weight = 1};
  if (!(c->travel_s > 0)) {
    return passage;
  }
  passage.peak_s = hw__curve_peak_s(c);
  passage.peak_g_m3 = hw__curve_at(c, passage.peak_s, 0);
  const double level = alarm > 0 ? alarm : 0.1 * passage.peak_g_m3;
  if (passage.peak_g_m3 > level) {
    passage.first_s = passing_time(c, level, c->passage_s - c->travel_s, passage.peak_s);
    passage.last_s = passing_time(c, level, late_time(c, level, passage.peak_s), passage.peak_s);
  }
  return passage;
}

size_t hw__ade_forecast(hw__ade *a) {
  size_t count = 0;
  for (size_t i = 0; i < a->river->intake_count; i++) {
    const hw_intake *intake = &a->river->intakes[i];
    hw_rng rng;
    hw_rng_seed(&rng, a->options.seed, UINT64_MAX - i);
    size_t reached = 0;
    for (size_t j = 0; j < HW__PICKED; j++) {
      const hw__curve c = hw__picked_curve(a, j, intake->location_m, &rng);
      a->passages[j] = passage_of(&c, intake->alarm_g_m3);
      reached += a->passages[j].peak_g_m3 > 0;
    }
    if (reached > HW__PICKED / 20) {
      hw_arrival *arrival = &a->arrivals[count++];
      *arrival = hw__summary_arrival(intake, i, a->passages, HW__PICKED, a->options.level, &a->sorting);
      arrival->exceeds_alarm *= a->probability;
    }
  }
  return count;
}

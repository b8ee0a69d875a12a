/* A grid of places and times, each rated with a quarter of the draws. */
#include "advice/inside.h"

#include <math.h>
#include <stdlib.h>

enum { COARSE = 4 };
static const double longest_s = 2 * 86400.0, shortest_s = 3600;

/* Until the pulse has passed the last place that most of the draws come to, on the average. */
static double passes_by(const hw_advice *a, const hw__survey *g, double from_s) {
  double latest = from_s + shortest_s;
  for (size_t p = 0; p < g->count; p++) {
    size_t later = 0, n = 0;
    double sum = 0;
    for (size_t j = 0; j < a->ahead.count; j += COARSE, n++) {
      const hw_leg *leg = &g->sites[p].pulses[j].leg;
      if (leg->travel_s > 0) {
        const double sd = sqrt(leg->travel_s / leg->sharpness_per_s);
        sum += a->ahead.draws[j].source.time_s + leg->travel_s + 2 * sd + g->sites[p].pulses[j].duration_s;
        later++;
      }
    }
    latest = 2 * later > n ? fmax(latest, sum / (double)later) : latest;
  }
  return fmin(latest - from_s, longest_s);
}

static void rate(hw_advice *a, hw__survey *g) {
  const size_t n = hw__pick(a, COARSE);
  for (size_t p = 0; p < g->count; p++) {
    hw__surveyed *s = &g->sites[p];
    for (size_t t = 0; t < HW__TIMES; t++) {
      hw__foresee(a, s->pulses, g->time_s[t], n);
      s->bits[t] = hw__worth_of(a, n);
      s->best = s->bits[t] > s->bits[s->best] ? t : s->best;
    }
  }
}

hw_status hw__survey_make(hw_advice *a, const hw_river *river, const hw_advice_options *o, hw__survey *g) {
  hw__place_ahead places[HW__PLACES_MOST];
  g->count = hw__places_ahead(&a->ahead, river, places);
  g->pulses = malloc((g->count + 1) * a->ahead.count * sizeof *g->pulses);
  if (!g->pulses || g->count == 0) {
    return g->pulses ? HW_EEMPTY : HW_ENOMEM;
  }
  for (size_t p = 0; p < g->count; p++) {
    g->sites[p] = (hw__surveyed){.place = places[p], .pulses = &g->pulses[p * a->ahead.count]};
    hw__pulses_at(a, places[p], g->sites[p].pulses);
  }
  const double from_s = o->now_s + o->delay_s;
  const double horizon = o->horizon_s > 0 ? o->horizon_s : passes_by(a, g, from_s);
  for (size_t t = 0; t < HW__TIMES; t++) {
    g->time_s[t] = from_s + horizon * (double)t / (HW__TIMES - 1);
  }
  rate(a, g);
  return HW_OK;
}

/* From the survey to spots. The best of each place is looked at again with every draw, so that what is told of the
 * winner was not what made it win. Further crews: the draws are sorted into eight parts by what the first crew would
 * read, and a second place is worth what it tells within the parts. */
#include "advice/inside.h"

#include <math.h>
#include <stdlib.h>

enum { PARTS = 8, TRUTHS = 32 };
static const double nearly = 0.8; /* of the best: still worth going */

static int ascending(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* What will be read there, and whether it will be seen. */
static void describe_reading(const hw_advice *a, const hw__surveyed *s, hw_spot *spot) {
  const size_t n = a->ahead.count;
  size_t seen = 0;
  for (size_t j = 0; j < n; j++) {
    a->scratch[j] = hw__foresight_read(&a->ahead, j, &s->pulses[j], spot->time_s);
    seen += a->scratch[j] > a->error.limit_g_m3;
  }
  qsort(a->scratch, n, sizeof *a->scratch, ascending);
  spot->seen = (double)seen / (double)n;
  spot->expected_g_m3 = (hw_range){a->scratch[n / 20], a->scratch[n / 2], a->scratch[n - 1 - n / 20]};
}

/* As far up and down, early and late, as it stays nearly as good. */
static void widen(const hw__survey *g, size_t chosen, hw_spot *spot) {
  const hw__surveyed *s = &g->sites[chosen];
  const double least = nearly * s->bits[s->best];
  size_t first = s->best, last = s->best, up = chosen, down = chosen;
  while (first > 0 && s->bits[first - 1] >= least) {
    first--;
  }
  while (last + 1 < HW__TIMES && s->bits[last + 1] >= least) {
    last++;
  }
  while (up > 0 && g->sites[up - 1].place.branch == spot->branch && g->sites[up - 1].bits[s->best] >= least) {
    up--;
  }
  while (down + 1 < g->count && g->sites[down + 1].place.branch == spot->branch &&
         g->sites[down + 1].bits[s->best] >= least) {
    down++;
  }
  spot->from_s = g->time_s[first];
  spot->to_s = g->time_s[last];
  spot->from_m = g->sites[up].place.x_m;
  spot->to_m = g->sites[down].place.x_m;
}

/* The region's length after the reading, over draws that stand for the truth in turn; the readings of all draws are in
 * the scratch. Geometric, so that it goes with the bits. */
static double expected_region(const hw_advice *a, size_t n) {
  const hw__question *q = &a->questions[0];
  double *weight = q->fine.count ? malloc(n * sizeof *weight) : NULL;
  double sum = 0;
  const double limit = hw__stabilised(&a->error, a->error.limit_g_m3);
  for (size_t i = 0; i < TRUTHS && weight; i++) {
    hw_rng rng = a->rng;
    hw_rng_seed(&rng, i + 1, 0x7E57);
    const double read = fmax(a->scratch[n * i / TRUTHS] + hw_rng_normal(&rng), 0);
    hw__weigh(a->scratch, n, read, limit, weight);
    sum += log(fmax(hw__stretches_region(&q->fine, weight, n, NULL), 1));
  }
  const double region_m = weight ? exp(sum / TRUTHS) : (double)NAN;
  free(weight);
  return region_m > hw_advice_region(a) ? hw_advice_region(a) : region_m;
}

/* The site's best moment, looked at with every draw. */
static hw_spot settle_spot(hw_advice *a, const hw__survey *g, size_t chosen) {
  const hw__surveyed *s = &g->sites[chosen];
  hw_spot spot = {.branch = s->place.branch, .location_m = s->place.x_m, .time_s = g->time_s[s->best]};
  const size_t n = hw__pick(a, 1);
  hw__foresee(a, s->pulses, spot.time_s, n);
  spot.bits = fmax(hw__worth_of(a, n), 0);
  spot.region_m = expected_region(a, n);
  widen(g, chosen, &spot);
  describe_reading(a, s, &spot);
  return spot;
}

static size_t best_site(const hw__survey *g, const bool *used) {
  size_t best = g->count;
  for (size_t p = 0; p < g->count; p++) {
    const hw__surveyed *s = &g->sites[p];
    best = !used[p] && s->bits[s->best] > 0 &&
                   (best == g->count || s->bits[s->best] > g->sites[best].bits[g->sites[best].best])
               ? p
               : best;
  }
  return best;
}

/* The stretch of a spot is spoken for: the next place is another one. */
static void mark_used(const hw__survey *g, const hw_spot *spot, bool *used) {
  for (size_t p = 0; p < g->count; p++) {
    const hw__place_ahead *at = &g->sites[p].place;
    used[p] = used[p] || (at->branch == spot->branch && at->x_m >= spot->from_m && at->x_m <= spot->to_m);
  }
}

static int by_bits(const void *x, const void *y) {
  const hw_spot *a = x, *b = y;
  return (a->bits < b->bits) - (a->bits > b->bits);
}

void hw__choose_alternatives(hw_advice *a, const hw__survey *g, size_t most) {
  bool used[HW__PLACES_MOST] = {false};
  size_t chosen;
  while (a->count < most && (chosen = best_site(g, used)) < g->count) {
    a->spots[a->count] = settle_spot(a, g, chosen);
    mark_used(g, &a->spots[a->count], used);
    used[chosen] = true;
    a->count += a->spots[a->count].bits > 0;
  }
  qsort(a->spots, a->count, sizeof *a->spots, by_bits);
}

/* --- several crews --- */

typedef struct {
  double read;
  size_t draw;
} bottle;

static int by_reading(const void *x, const void *y) {
  const bottle *a = x, *b = y;
  return (a->read > b->read) - (a->read < b->read);
}

/* Sorts each part of the draws again by what a further crew would read there, error and all; parts become smaller. */
static void split_parts(hw_advice *a, const hw_spot *spot, const hw__surveyed *s, bottle *order, size_t parts) {
  const size_t n = a->ahead.count;
  for (size_t i = 0; i < n; i++) {
    const double c = hw__foresight_read(&a->ahead, order[i].draw, &s->pulses[order[i].draw], spot->time_s);
    order[i].read = hw__stabilised(&a->error, c) + hw_rng_normal(&a->rng);
  }
  for (size_t p = 0; p < parts; p++) {
    qsort(&order[n * p / parts], n * (p + 1) / parts - n * p / parts, sizeof *order, by_reading);
  }
}

/* Every site again, within the parts. */
static void rate_within(hw_advice *a, hw__survey *g, const bottle *order, size_t parts, const bool *used) {
  const size_t n = a->ahead.count;
  for (size_t p = 0; p < g->count; p++) {
    hw__surveyed *s = &g->sites[p];
    if (used[p] || !(s->bits[s->best] > 0)) {
      continue;
    }
    double bits = 0;
    for (size_t part = 0; part < parts; part++) {
      const size_t first = n * part / parts, end = n * (part + 1) / parts;
      for (size_t i = first; i < end; i++) {
        a->picked[i - first] = order[i].draw;
      }
      hw__shuffle(a->dealt, end - first, &a->rng);
      hw__foresee(a, s->pulses, g->time_s[s->best], end - first);
      bits += hw__worth_of(a, end - first) / (double)parts;
    }
    s->bits[s->best] = bits;
  }
}

hw_status hw__choose_crews(hw_advice *a, hw__survey *g, size_t crews) {
  bool used[HW__PLACES_MOST] = {false};
  bottle *order = calloc(a->ahead.count, sizeof *order);
  if (!order) {
    return HW_ENOMEM;
  }
  for (size_t j = 0; j < a->ahead.count; j++) {
    order[j] = (bottle){0, j};
  }
  size_t parts = 1, chosen;
  while (a->count < crews && (chosen = best_site(g, used)) < g->count) {
    const double within = g->sites[chosen].bits[g->sites[chosen].best];
    hw_spot *spot = &a->spots[a->count];
    *spot = settle_spot(a, g, chosen);
    spot->bits = a->count ? within : spot->bits;
    spot->region_m = a->count ? (double)NAN : spot->region_m;
    mark_used(g, spot, used);
    used[chosen] = true;
    a->count++;
    split_parts(a, spot, &g->sites[chosen], order, parts);
    parts = parts < PARTS ? parts * PARTS : parts; /* 64 parts of 32 draws would say nothing */
    rate_within(a, g, order, parts, used);
  }
  free(order);
  return HW_OK;
}

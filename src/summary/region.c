/* The shortest stretches that together hold a given probability: cells of a smoothed histogram, densest first.
 *
 * Smoothing by Silverman's bandwidth keeps chance gaps between neighbouring samples from cutting one stretch into many;
 * two modes that are really apart stay apart. */
#include <math.h>
#include <string.h>

#include "summary/summary.h"

enum { CELLS = 512 };

const hw_branch_share hw__only_branch = {0, 1};

typedef struct {
  double from_m, cell_m;
  double share[CELLS]; /* sums to 1 */
} histogram;

/* The shortest way that holds a quarter of the sorted weights: a scale that modes far apart do not stretch. */
static double shortest_quarter(const hw__scratch *sorted, size_t n, double total) {
  double held = 0, shortest = INFINITY;
  for (size_t first = 0, next = 0; next < n; next++) {
    held += sorted->weight[next];
    for (; held >= total / 4; first++) {
      shortest = fmin(shortest, sorted->value[next] - sorted->value[first]);
      held -= sorted->weight[first];
    }
  }
  return shortest;
}

/* Silverman's rule, 0.9 sd n_eff^(-1/5), with the sd of the densest mode: a normal holds a quarter within 0.637 sd. */
static double smoothing_m(const hw_sample *samples, size_t n, hw__scratch *scratch) {
  double total = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    total += samples[i].weight;
    squares += samples[i].weight * samples[i].weight;
  }
  const hw_range middle = hw__summary_range(samples, n, hw__sample_location, 0.5, scratch); /* leaves them sorted */
  const double sd_m = fmin((middle.hi - middle.lo) / 1.34, shortest_quarter(scratch, n, total) / 0.637);
  return 0.9 * sd_m * pow(total * total / squares, -0.2);
}

static void count(const hw_sample *samples, size_t n, histogram *h) {
  for (size_t i = 0; i < n; i++) {
    const double cell = floor((samples[i].source.location_m - h->from_m) / h->cell_m);
    h->share[(size_t)fmin(fmax(cell, 0), CELLS - 1)] += samples[i].weight;
  }
}

static void smooth(histogram *h, double width_m) {
  const double width = fmax(width_m / h->cell_m, 0.3);
  const int reach = (int)fmin(ceil(4 * width), CELLS - 1);
  double blurred[CELLS], total = 0;
  for (int i = 0; i < CELLS; i++) {
    blurred[i] = 0;
    for (int j = i > reach ? i - reach : 0; j <= i + reach && j < CELLS; j++) {
      const double z = (j - i) / width;
      blurred[i] += h->share[j] > 0 ? h->share[j] * exp(-0.5 * z * z) : 0;
    }
    total += blurred[i];
  }
  for (int i = 0; i < CELLS; i++) {
    h->share[i] = blurred[i] / total;
  }
}

/* The density down to which cells must be taken to hold `level`. */
static double threshold(const histogram *h, double level) {
  double lo = 0, hi = 1;
  for (int k = 0; k < 60; k++) {
    const double middle = 0.5 * (lo + hi);
    double held = 0;
    for (int i = 0; i < CELLS; i++) {
      held += h->share[i] >= middle ? h->share[i] : 0;
    }
    if (held >= level) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

/* Most probable first; the least probable gives way when there is no room. */
static size_t insert(hw_region *out, size_t count, const hw_region *region) {
  size_t at = count < HW__MOST_REGIONS ? count : HW__MOST_REGIONS - 1;
  if (count == HW__MOST_REGIONS && region->probability <= out[at].probability) {
    return count;
  }
  for (; at > 0 && out[at - 1].probability < region->probability; at--) {
    out[at] = out[at - 1];
  }
  out[at] = *region;
  return count < HW__MOST_REGIONS ? count + 1 : count;
}

size_t hw__summary_regions(const hw_box *box, const hw_sample *samples, size_t n, double level, hw__scratch *scratch,
                           hw_region *out) {
  if (n == 0) {
    return 0;
  }
  const hw_range most = hw__summary_range(samples, n, hw__sample_location, 0.999, scratch);
  const double width_m = smoothing_m(samples, n, scratch);
  histogram h = {.from_m = most.lo - 3 * width_m};
  h.cell_m = fmax((most.hi + 3 * width_m - h.from_m) / CELLS, 1e-6);
  count(samples, n, &h);
  smooth(&h, width_m);
  const double least = threshold(&h, level);
  size_t found = 0;
  for (int i = 0; i < CELLS; i++) {
    hw_region region = {.lo_m = fmax(h.from_m + i * h.cell_m, box->lo.location_m)};
    for (; i < CELLS && h.share[i] >= least; i++) {
      region.probability += h.share[i];
    }
    if (region.probability > 0) {
      region.hi_m = fmin(h.from_m + i * h.cell_m, box->hi.location_m);
      found = insert(out, found, &region);
    }
  }
  return found;
}

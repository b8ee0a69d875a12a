/* Chooses sites: greedily one after the other, by trying every choice, or evenly spaced. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/placement.h"

enum { MOST_CHOICES = 200000 };

static int ascending(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static void choose_greedily(const hw_placement *p, size_t count, size_t *chosen) {
  for (size_t k = 0; k < count; k++) {
    double best = -INFINITY;
    size_t best_site = 0;
    for (size_t site = 0; site < p->site_count; site++) {
      bool taken = false;
      for (size_t i = 0; i < k; i++) {
        taken = taken || chosen[i] == site;
      }
      chosen[k] = site;
      const double gain = taken ? -INFINITY : hw__placement_gain(p, chosen, k + 1);
      if (gain > best) {
        best = gain;
        best_site = site;
      }
    }
    chosen[k] = best_site;
  }
  qsort(chosen, count, sizeof *chosen, ascending);
}

static double choices(size_t pool, size_t count) {
  double product = 1;
  for (size_t i = 0; i < count; i++) {
    product *= (double)(pool - i) / (double)(i + 1);
  }
  return product;
}

/* The next combination in lexicographic order; false after the last. */
static bool advance(size_t *choice, size_t count, size_t pool) {
  for (size_t i = count; i-- > 0;) {
    if (choice[i] < pool - count + i) {
      choice[i]++;
      for (size_t k = i + 1; k < count; k++) {
        choice[k] = choice[k - 1] + 1;
      }
      return true;
    }
  }
  return false;
}

static hw_status choose_exactly(const hw_placement *p, size_t count, size_t *chosen) {
  if (choices(p->site_count, count) > MOST_CHOICES) {
    return HW_EUNSUPPORTED;
  }
  size_t *choice = calloc(count, sizeof *choice);
  if (!choice) {
    return HW_ENOMEM;
  }
  for (size_t k = 0; k < count; k++) {
    choice[k] = k;
  }
  double best = -INFINITY;
  do {
    const double gain = hw__placement_gain(p, choice, count);
    if (gain > best) {
      best = gain;
      memcpy(chosen, choice, count * sizeof *chosen);
    }
  } while (advance(choice, count, p->site_count));
  free(choice);
  return HW_OK;
}

/* The middles of `count` equal stretches of the pool's extent, each moved to the nearest free site; with branches every
 * so many sites of the list. */
static void choose_evenly(const hw_placement *p, size_t count, size_t *chosen) {
  for (size_t k = 0; p->branch_count && k < count; k++) {
    chosen[k] = (2 * k + 1) * p->site_count / (2 * count);
  }
  if (p->branch_count) {
    return;
  }
  const double from = p->sites_m[0], length = p->sites_m[p->site_count - 1] - from;
  for (size_t k = 0; k < count; k++) {
    const double target = from + length * ((double)k + 0.5) / (double)count;
    size_t site = k ? chosen[k - 1] + 1 : 0;
    const size_t last = p->site_count - (count - k);
    while (site < last && fabs(p->sites_m[site + 1] - target) < fabs(p->sites_m[site] - target)) {
      site++;
    }
    chosen[k] = site;
  }
}

hw_status hw_placement_choose(const hw_placement *placement, hw_place_kind kind, size_t count, size_t *chosen) {
  if (count < 1 || count > placement->site_count) {
    return HW_EDOMAIN;
  }
  if (kind == HW_PLACE_EXACT) {
    return choose_exactly(placement, count, chosen);
  }
  (kind == HW_PLACE_EVEN ? choose_evenly : choose_greedily)(placement, count, chosen);
  return HW_OK;
}

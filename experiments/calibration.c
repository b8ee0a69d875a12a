#include "calibration.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  double u; /* ln of distance over true distance: the truth is at 0 */
  double weight;
} point;

static int by_place(const void *a, const void *b) {
  const double x = ((const point *)a)->u, y = ((const point *)b)->u;
  return (x > y) - (x < y);
}

static double quantile_of(const point *p, size_t n, double share) {
  double below = 0;
  for (size_t i = 0; i < n; i++) {
    below += p[i].weight;
    if (below >= share) {
      return p[i].u;
    }
  }
  return p[n - 1].u;
}

/* Integral of (F(u) - [u >= 0])^2. */
static double crps_of(const point *p, size_t n) {
  double below = 0, sum = fmax(p[0].u, 0) + fmax(-p[n - 1].u, 0);
  for (size_t i = 0; i + 1 < n; i++) {
    below += p[i].weight;
    const double from = p[i].u, to = p[i + 1].u, split = fmin(fmax(0, from), to);
    sum += below * below * (split - from) + (1 - below) * (1 - below) * (to - split);
  }
  return sum;
}

/* Density at the truth by a kernel of 0.08, a fifth of the narrowest posteriors. */
static double log_density(const point *p, size_t n) {
  static const double width = 0.08;
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += p[i].weight * exp(-0.5 * (p[i].u / width) * (p[i].u / width));
  }
  return log(sum / (width * sqrt(2 * M_PI)) + 1e-4);
}

static void score(calibration *out, point *p, size_t n, double weight) {
  qsort(p, n, sizeof *p, by_place);
  double below = 0; /* where the truth stands in the posterior */
  for (size_t i = 0; i < n; i++) {
    below += p[i].u < 0 ? p[i].weight : 0;
  }
  const double off = fabs(below - 0.5), lo = quantile_of(p, n, 0.05), hi = quantile_of(p, n, 0.95);
  out->cases++;
  out->weight += weight;
  out->cover50 += weight * (off < 0.25);
  out->cover80 += weight * (off < 0.4);
  out->cover90 += weight * (off < 0.45);
  out->cover98 += weight * (off < 0.49);
  out->crps += weight * crps_of(p, n);
  out->interval90 += weight * (hi - lo + 20 * fmax(lo, 0) + 20 * fmax(-hi, 0));
  out->log_score -= weight * log_density(p, n);
}

void calibration_add(calibration *sum, const hw__field *f, double first_m, const hw_source *truth, double weight) {
  static point points[HW__DRAWS];
  const double distance = first_m - truth->location_m;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    const double drawn = fmax(first_m - f->sample[i].source.location_m, 1e-3 * distance);
    points[i] = (point){log(drawn / distance), f->sample[i].weight};
  }
  score(sum, points, HW__DRAWS, weight);
}

void calibration_join(calibration *sum, const calibration *more) {
  const double share = 1 / more->weight;
  sum->cases += more->cases;
  sum->weight += 1;
  sum->cover50 += share * more->cover50;
  sum->cover80 += share * more->cover80;
  sum->cover90 += share * more->cover90;
  sum->cover98 += share * more->cover98;
  sum->crps += share * more->crps;
  sum->interval90 += share * more->interval90;
  sum->log_score += share * more->log_score;
}

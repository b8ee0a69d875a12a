#include "weeks/ideal_doubt.h"

#include <math.h>

static const double correlation_m = 5000, common_share = 0.64, local_share = 0.36; /* of the variance */

void median_run(const hw_river *river, double x_m, double *travel_s, double *variance_s2) {
  const hw_hydraulics *h = &river->hydraulics;
  double from = fmin(river->search.lo.location_m, river->sensors[0].location_m) - 1e5;
  *travel_s = *variance_s2 = 0;
  for (size_t i = 0; i <= river->reach_count && from < x_m; i++) {
    const hw_reach *r = i < river->reach_count ? &river->reaches[i] : NULL;
    const double v = r ? r->velocity_m_s : h->velocity_m_s.value, d = r ? r->dispersion_m2_s : h->dispersion_m2_s.value;
    const double to = r ? fmin(r->to_m, x_m) : x_m;
    if (to > from) {
      *travel_s += (to - from) / v;
      *variance_s2 += 2 * d * (to - from) / (v * v * v);
      from = to;
    }
  }
}

/* The stretches from the source to the sensors below it. */
typedef struct {
  size_t first; /* sensor at the end of the first stretch */
  double from_m[DOUBT_SENSORS], to_m[DOUBT_SENSORS], travel_s[DOUBT_SENSORS], variance_s2[DOUBT_SENSORS]; /* medians */
  double root[DOUBT_SENSORS][DOUBT_SENSORS]; /* Cholesky factor of the covariance for s = 1 */
  double within[DOUBT_SENSORS];              /* variance within for s = 1 */
  double sd_velocity, sd_dispersion;
} stretches;

static double decay(double m) {
  return exp(-m / correlation_m);
}

/* Covariance of the local part's means over two stretches, of which k is not above j. */
static double local_covariance(const stretches *s, size_t j, size_t k) {
  const double a = s->to_m[j] - s->from_m[j], b = s->to_m[k] - s->from_m[k], c = correlation_m;
  if (j == k) {
    return 2 * c * c / (a * a) * (a / c - 1 + decay(a));
  }
  return c * c / (a * b) * decay(s->from_m[k] - s->to_m[j]) * (1 - decay(a)) * (1 - decay(b));
}

static void factorise(stretches *s, size_t count) {
  for (size_t k = s->first; k < count; k++) {
    for (size_t j = s->first; j <= k; j++) {
      double sum = common_share + local_share * local_covariance(s, j, k);
      for (size_t i = s->first; i < j; i++) {
        sum -= s->root[k][i] * s->root[j][i];
      }
      s->root[k][j] = j == k ? sqrt(sum) : sum / s->root[j][j];
    }
    s->within[k] = local_share * (1 - local_covariance(s, k, k));
  }
}

static stretches cut(const hw_river *river, double source_m) {
  stretches s = {.sd_velocity = log(river->hydraulics.velocity_m_s.factor),
                 .sd_dispersion = log(river->hydraulics.dispersion_m2_s.factor)};
  double from = source_m, travel, variance;
  median_run(river, from, &travel, &variance);
  while (s.first < river->sensor_count && river->sensors[s.first].location_m <= source_m) {
    s.first++;
  }
  for (size_t k = s.first; k < river->sensor_count; k++) {
    double travel_there, variance_there;
    const double to = river->sensors[k].location_m;
    median_run(river, to, &travel_there, &variance_there);
    s.from_m[k] = from;
    s.to_m[k] = to;
    s.travel_s[k] = travel_there - travel;
    s.variance_s2[k] = variance_there - variance;
    from = to;
    travel = travel_there;
    variance = variance_there;
  }
  factorise(&s, river->sensor_count);
  return s;
}

static double within_velocity(const stretches *s, size_t k) {
  return s->within[k] * s->sd_velocity * s->sd_velocity;
}

static double within_dispersion(const stretches *s, size_t k) {
  return s->within[k] * s->sd_dispersion * s->sd_dispersion;
}

void doubt_unfold(const hw_river *river, double source_m, const double *z, doubt_legs *out) {
  const size_t n = river->sensor_count;
  const stretches s = cut(river, source_m);
  double travel = 0, variance = 0;
  *out = (doubt_legs){0};
  for (size_t k = s.first; k < n; k++) {
    double a = 0, b = 0;
    for (size_t j = s.first; j <= k; j++) {
      a += s.root[k][j] * z[j] * s.sd_velocity;
      b += s.root[k][j] * z[n + j] * s.sd_dispersion;
    }
    const double w = within_velocity(&s, k);
    travel += s.travel_s[k] * exp(-a + w / 2);
    variance += s.variance_s2[k] * exp(b - 3 * a + (9 * w + within_dispersion(&s, k)) / 2);
    out->travel_s[k] = travel;
    out->variance_s2[k] = variance;
  }
}

void doubt_fold(const hw_river *river, double source_m, const doubt_legs *legs, double *z) {
  const size_t n = river->sensor_count;
  const stretches s = cut(river, source_m);
  double travel = 0, variance = 0;
  for (size_t k = 0; k < 2 * n; k++) {
    z[k] = 0;
  }
  for (size_t k = s.first; k < n; k++) {
    const double w = within_velocity(&s, k);
    double a = w / 2 - log((legs->travel_s[k] - travel) / s.travel_s[k]);
    double b =
        log((legs->variance_s2[k] - variance) / s.variance_s2[k]) + 3 * a - (9 * w + within_dispersion(&s, k)) / 2;
    a /= s.sd_velocity;
    b /= s.sd_dispersion;
    for (size_t j = s.first; j < k; j++) {
      a -= s.root[k][j] * z[j];
      b -= s.root[k][j] * z[n + j];
    }
    z[k] = a / s.root[k][k];
    z[n + k] = b / s.root[k][k];
    travel = legs->travel_s[k];
    variance = legs->variance_s2[k];
  }
}

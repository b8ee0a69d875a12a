#include "weeks/water.h"

#include <gsl/gsl_sf_bessel.h>
#include <math.h>

enum { REST_NODES = 64, LEAST_INSTANTS = 64 };

static const double correlation_m = 5000, common_share = 0.8, local_share = 0.6;

/* One step along the river of a normal variable with exponential correlation. */
static double next_local(hw_rng *rng, double last) {
  const double kept = exp(-WATER_CELL_M / correlation_m);
  return kept * last + sqrt(1 - kept * kept) * hw_rng_normal(rng);
}

void water_draw(const water_stated *stated, const water_secret *secret, hw_rng *rng, water *out) {
  const double common_v = common_share * hw_rng_normal(rng), common_d = common_share * hw_rng_normal(rng);
  const double ratio = secret->dispersion_ratio > 0 ? secret->dispersion_ratio : 1;
  const double under_way = 1 / (1 + secret->rests_per_s * secret->rest_s); /* share of the time not at rest */
  double local_v = hw_rng_normal(rng), local_d = hw_rng_normal(rng);
  *out =
      (water){.from_m = stated->from_m, .cells = stated->cells, .decay_per_s = stated->decay_per_s, .secret = *secret};
  out->discharge_m3_s =
      stated->discharge_m3_s * (stated->discharge_follows ? pow(stated->velocity_factor[0], common_v) : 1);
  for (size_t i = 0; i < stated->cells; i++) {
    const double faster = pow(stated->velocity_factor[i], common_v + local_share * local_v);
    const double wider = pow(stated->dispersion_factor[i], common_d + local_share * local_d);
    const double v = stated->velocity_m_s[i] * faster / under_way, d = ratio * stated->dispersion_m2_s[i] * wider;
    out->travel_s[i + 1] = out->travel_s[i] + WATER_CELL_M / v;
    out->variance_s2[i + 1] = out->variance_s2[i] + 2 * d * WATER_CELL_M / (v * v * v);
    local_v = next_local(rng, local_v);
    local_d = next_local(rng, local_d);
  }
}

static double along(const water *w, const double *sum, double x_m) {
  const double cell = (x_m - w->from_m) / WATER_CELL_M;
  const size_t i = (size_t)fmin(fmax(cell, 0), (double)w->cells - 1);
  return sum[i] + (cell - (double)i) * (sum[i + 1] - sum[i]);
}

static double channel_travel_s(const water *w, double from_m, double to_m) {
  return along(w, w->travel_s, to_m) - along(w, w->travel_s, from_m);
}

double water_travel_s(const water *w, double from_m, double to_m) {
  return channel_travel_s(w, from_m, to_m) * (1 + w->secret.rests_per_s * w->secret.rest_s);
}

double water_spread_s(const water *w, double from_m, double to_m) {
  return sqrt(along(w, w->variance_s2, to_m) - along(w, w->variance_s2, from_m));
}

/* A way down the river as one uniform reach. */
typedef struct {
  double length_m, velocity_m_s, dispersion_m2_s, area_m2, decay_per_s;
} way;

static way way_between(const water *w, double from_m, double to_m) {
  const double spread = water_spread_s(w, from_m, to_m), length = to_m - from_m;
  const double v = length / channel_travel_s(w, from_m, to_m);
  return (way){.length_m = length,
               .velocity_m_s = v,
               .dispersion_m2_s = spread * spread * v * v * v / (2 * length),
               .area_m2 = w->discharge_m3_s / v,
               .decay_per_s = w->decay_per_s};
}

/* Eq. (1) for one gram. */
static double pulse(const way *y, double age_s) {
  if (!(age_s > 0)) {
    return 0;
  }
  const double four_dt = 4 * y->dispersion_m2_s * age_s, lag = y->length_m - y->velocity_m_s * age_s;
  return exp(-lag * lag / four_dt - y->decay_per_s * age_s) / (y->area_m2 * sqrt(M_PI * four_dt));
}

/* Density of the time spent at rest; the Bessel function scaled by exp(-argument). */
static double rest_density(double lambda, double tau, double u) {
  const double apart = sqrt(lambda) - sqrt(u / tau);
  return exp(-apart * apart) * sqrt(lambda / (tau * u)) * gsl_sf_bessel_I1_scaled(2 * sqrt(lambda * u / tau));
}

/* The pulse with rests: integrated over where both the density and the pulse are more than nothing. */
static double pulse_with_rests(const way *y, const water_secret *secret, double age_s) {
  const double travel = y->length_m / y->velocity_m_s, tau = secret->rest_s, lambda = secret->rests_per_s * travel;
  const double spread = sqrt(2 * y->dispersion_m2_s * travel) / y->velocity_m_s;
  const double most = lambda * tau + 8 * sqrt(2 * lambda) * tau + 12 * tau;
  const double from = fmax(age_s - travel - 10 * spread, 0), to = fmin(age_s - fmax(travel - 7 * spread, 0), most);
  double sum = exp(-lambda) * pulse(y, age_s);
  const double step = (to - from) / REST_NODES;
  for (int i = 0; step > 0 && i < REST_NODES; i++) {
    const double u = from + (i + 0.5) * step;
    sum += step * rest_density(lambda, tau, u) * pulse(y, age_s - u);
  }
  return sum;
}

/* The clock that runs as fast as the water. */
static double water_clock_s(const water_secret *s, double t_s) {
  if (!(s->swing > 0)) {
    return t_s;
  }
  const double turn = 2 * M_PI / s->swing_s;
  return t_s - s->swing / turn * cos(turn * t_s + s->swing_phase);
}

double water_concentration(const water *w, const hw_source *source, double duration_s, double x_m, double t_s) {
  if (!(x_m > source->location_m) || !(t_s > source->time_s)) {
    return 0;
  }
  const way y = way_between(w, source->location_m, x_m);
  /* A standard deviation of the pulse apart their sum is as smooth as the integral. */
  const double apart_s = water_spread_s(w, source->location_m, x_m);
  const int instants = duration_s > 0 ? (int)fmax(ceil(duration_s / apart_s), LEAST_INSTANTS) : 1;
  double sum = 0;
  for (int i = 0; i < instants; i++) {
    const double release_s = source->time_s + duration_s * (i + 0.5) / instants;
    const double age = water_clock_s(&w->secret, t_s) - water_clock_s(&w->secret, release_s);
    sum += w->secret.rests_per_s > 0 ? pulse_with_rests(&y, &w->secret, age) : pulse(&y, age);
  }
  return source->mass_g * sum / instants;
}

#include "weeks/water.h"

#include <math.h>

static const double correlation_m = 5000, common_share = 0.8, local_share = 0.6;

/* One step along the river of a normal variable with exponential correlation. */
static double next_local(hw_rng *rng, double last) {
  const double kept = exp(-WATER_CELL_M / correlation_m);
  return kept * last + sqrt(1 - kept * kept) * hw_rng_normal(rng);
}

void water_draw(const water_stated *stated, hw_rng *rng, water *out) {
  const double sd_v = log(stated->velocity_factor), sd_d = log(stated->dispersion_factor);
  const double common_v = common_share * sd_v * hw_rng_normal(rng), common_d = common_share * sd_d * hw_rng_normal(rng);
  double local_v = hw_rng_normal(rng), local_d = hw_rng_normal(rng);
  *out = (water){.from_m = stated->from_m, .cells = stated->cells, .decay_per_s = stated->decay_per_s};
  out->discharge_m3_s = stated->discharge_m3_s * (stated->discharge_follows ? exp(common_v) : 1);
  for (size_t i = 0; i < stated->cells; i++) {
    const double v = stated->velocity_m_s[i] * exp(common_v + local_share * sd_v * local_v);
    const double d = stated->dispersion_m2_s[i] * exp(common_d + local_share * sd_d * local_d);
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

double water_travel_s(const water *w, double from_m, double to_m) {
  return along(w, w->travel_s, to_m) - along(w, w->travel_s, from_m);
}

double water_spread_s(const water *w, double from_m, double to_m) {
  return sqrt(along(w, w->variance_s2, to_m) - along(w, w->variance_s2, from_m));
}

double water_concentration(const water *w, const hw_source *source, double x_m, double t_s) {
  const double way = x_m - source->location_m, age = t_s - source->time_s;
  if (!(way > 0) || !(age > 0)) {
    return 0;
  }
  const double spread = water_spread_s(w, source->location_m, x_m);
  const double v = way / water_travel_s(w, source->location_m, x_m);
  const double d = spread * spread * v * v * v / (2 * way);
  const double area = w->discharge_m3_s / v, lag = way - v * age;
  return source->mass_g / (area * sqrt(4 * M_PI * d * age)) * exp(-lag * lag / (4 * d * age) - w->decay_per_s * age);
}

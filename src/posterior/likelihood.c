/* What the history says of a block of particles. */
#include <math.h>
#include <string.h>

#include "posterior/evidence.h"
#include "posterior/smc.h"

/* The mass a particle has from everything else, about which its non-detects are expanded; before anything else is
 * known, the middle of the mass box, by way of the prior's own precision. */
double hw__smc_expected_mass(const hw__smc *smc, double lambda, double h) {
  const double span = smc->mass_hi - smc->mass_lo;
  if (!(span > 0)) {
    return smc->mass_lo;
  }
  const double prior = 12 / (span * span);
  const double mass = (h + prior * 0.5 * (smc->mass_lo + smc->mass_hi)) / (lambda + prior);
  return fmin(fmax(mass, smc->mass_lo), smc->mass_hi);
}

typedef struct {
  double from_s, to_s;
} window;

/* When any particle of the block could show at the sensor. Outside, responses are below e^-40 of their peak. */
static window block_window(const hw__view *view, size_t n, const hw__point *place) {
  window w = {INFINITY, -INFINITY};
  for (size_t j = 0; j < n; j++) {
    const double travel = (place->theta - view->theta[j]) * view->slowness[j];
    if (travel > 0) {
      const double variance = (place->variance - view->variance[j]) * view->spread[j];
      const double sd = sqrt(variance), release = view->release[j], centre = release + travel;
      const double early = centre - 9 * sd, late = centre + 9 * sd + 80 * variance / travel;
      const double first = early > release ? early : release;
      w.from_s = first < w.from_s ? first : w.from_s;
      w.to_s = late > w.to_s ? late : w.to_s;
    }
  }
  return w;
}

static void sum_sensor(hw__smc *smc, hw__cloud *cloud, size_t from, size_t n, size_t sensor) {
  const hw__channel *channel = &smc->channels[sensor];
  const hw__view view = hw__cloud_view(cloud, from);
  const hw__totals totals = hw__cloud_totals(cloud, from);
  hw__sums sums = hw__cloud_sums(cloud, sensor, from);
  const bool own = sums.lambda;
  if (own) {
    memset(sums.lambda, 0, n * sizeof(double));
    memset(sums.h, 0, n * sizeof(double));
    memset(sums.g, 0, n * sizeof(double));
  } else {
    sums = (hw__sums){totals.lambda, totals.h, smc->scratch};
  }
  const window seen = block_window(&view, n, &channel->place);
  hw__point point = channel->place;
  for (size_t i = smc->history.start[sensor]; i < smc->history.start[sensor + 1]; i++) {
    const hw__entry *e = &smc->history.entries[i];
    if (e->held || e->aside || e->below_limit || e->last_s < seen.from_s || e->first_s > seen.to_s) {
      continue;
    }
    const double weight = smc->heat * e->share * e->count / e->variance;
    const hw__bin bin = {.weight = weight,
                         .value = e->value_g_m3 - channel->background_g_m3,
                         .half_spread = 0.5 * e->spread_s2,
                         .slope_weight = weight * e->spread_s2,
                         .slope_value = weight * e->slope_g_s};
    point.time_s = e->time_s;
    smc->kernel->accumulate(&view, n, &point, &bin, &sums);
    smc->evaluations += n;
  }
  if (own) {
    smc->kernel->fold(n, &sums, &channel->fold, &totals);
  }
}

/* The sensor's first entry below a limit; the end of its entries without one. */
static size_t first_nondetect(const hw__history *history, size_t sensor) {
  size_t i = history->start[sensor];
  while (i < history->start[sensor + 1] && !history->entries[i].below_limit) {
    i++;
  }
  return i;
}

/* Non-detects come last, expanded about the mass the readings gave. */
static void add_nondetects(hw__smc *smc, hw__cloud *cloud, size_t from, size_t n) {
  const hw__view view = hw__cloud_view(cloud, from);
  const hw__totals totals = hw__cloud_totals(cloud, from);
  double *mass = smc->scratch, *g = smc->scratch + HW__BLOCK;
  for (size_t j = 0; j < n; j++) {
    mass[j] = hw__smc_expected_mass(smc, totals.lambda[j], totals.h[j]);
  }
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    const hw__channel *channel = &smc->channels[k];
    const size_t first = first_nondetect(&smc->history, k), end = smc->history.start[k + 1];
    const window seen = first < end ? block_window(&view, n, &channel->place) : (window){0, 0};
    hw__point point = channel->place;
    for (size_t i = first; i < end; i++) {
      const hw__entry *e = &smc->history.entries[i];
      if (!e->below_limit || e->aside || e->held || e->last_s < seen.from_s || e->first_s > seen.to_s) {
        continue;
      }
      point.time_s = e->time_s;
      smc->kernel->response(&view, n, &point, g);
      smc->evaluations += n;
      const double limit = e->value_g_m3 - channel->learned_g_m3, sd = sqrt(e->variance);
      for (size_t j = 0; j < n; j++) {
        const hw__terms t = hw__nondetect(&smc->tails, mass[j], g[j], limit, sd, smc->heat * e->share * e->count);
        totals.lambda[j] += t.lambda;
        totals.h[j] += t.h;
        totals.offset[j] += t.offset;
      }
    }
  }
}

/* During a restart the prior of the hydraulics is let in by degrees too: what is missing of it is taken off here. */
static void soften_prior(const hw__smc *smc, hw__cloud *cloud, size_t from, size_t n) {
  const double missing = 1 - fmax(smc->heat, HW__SOFTEST);
  const double per_v = smc->sd_velocity > 0 ? 1 / smc->sd_velocity : 0;
  const double per_d = smc->sd_dispersion > 0 ? 1 / smc->sd_dispersion : 0;
  for (size_t i = from; i < from + n; i++) {
    const double v = cloud->column[HW__LN_VELOCITY][i] * per_v, d = cloud->column[HW__LN_DISPERSION][i] * per_d;
    cloud->column[HW__EVIDENCE][i] += missing * 0.5 * (v * v + d * d);
  }
}

void hw__likelihood(hw__smc *smc, hw__cloud *cloud, size_t from, size_t n) {
  const uint64_t before = smc->evaluations;
  const hw__totals totals = hw__cloud_totals(cloud, from);
  memset(totals.lambda, 0, n * sizeof(double));
  memset(totals.h, 0, n * sizeof(double));
  memset(totals.offset, 0, n * sizeof(double));
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    if (hw__history_heard(&smc->history, k)) {
      sum_sensor(smc, cloud, from, n, k);
    }
  }
  add_nondetects(smc, cloud, from, n);
  hw__smc_evidence(smc, n, &totals, cloud->column[HW__EVIDENCE] + from, cloud->column[HW__MASS] + from);
  smc->effort += smc->evaluations - before;
  if (smc->heat < 1) {
    soften_prior(smc, cloud, from, n);
  }
}

/* Rejuvenation: the noise refreshed by what the posterior expects, all sums worked out anew, particles resampled and
 * moved. */
#include <math.h>
#include <string.h>

#include "posterior/evidence.h"
#include "posterior/smc.h"

void hw__smc_thin(hw__smc *smc, double *mass) {
  const double *weight = smc->cloud.column[HW__WEIGHT];
  double total = 0;
  for (size_t i = 0; i < smc->cloud.count; i++) {
    total += weight[i];
  }
  const double step = total / HW__BLOCK;
  double running = 0;
  size_t given = 0;
  for (size_t i = 0; i < smc->cloud.count && given < HW__BLOCK; i++) {
    running += weight[i];
    while (given < HW__BLOCK && (0.5 + (double)given) * step < running) {
      hw__cloud_copy(&smc->cloud, i, &smc->proposal, given++);
    }
  }
  while (given < HW__BLOCK) {
    hw__cloud_copy(&smc->cloud, smc->cloud.count - 1, &smc->proposal, given++);
  }
  const hw__totals totals = hw__cloud_totals(&smc->proposal, 0);
  for (size_t j = 0; j < HW__BLOCK; j++) {
    mass[j] = hw__mass_quantile(totals.lambda[j], totals.h[j], smc->mass_lo, smc->mass_hi, 0.5);
  }
}

double hw__smc_background(const hw__smc *smc, size_t sensor, const double *mass) {
  const hw__channel *c = &smc->channels[sensor];
  const hw__sums sums = hw__cloud_sums(&smc->proposal, sensor, 0);
  const bool learns = c->learns_background && hw__history_heard(&smc->history, sensor);
  double background = c->background_g_m3;
  for (size_t j = 0; learns && j < HW__BLOCK; j++) {
    background += fmax((c->s1 - sums.g[j] * mass[j]) * c->fold.per_s0, 0) / HW__BLOCK;
  }
  return background;
}

void hw__smc_refloor(hw__smc *smc, size_t sensor) {
  hw__channel *c = &smc->channels[sensor];
  const hw_sensor *s = &smc->river->sensors[sensor];
  const double peak = c->readings ? fmax(c->peak_g_m3, 0) : 0;
  c->floor_g_m3 = fmax(hw__noise_floor(s, peak), 1e-300);
  if (!(s->noise_absolute_g_m3 > 0)) {
    /* A record that begins on a falling limb must not pass for noise altogether. */
    const double scatter = c->peak_g_m3 > 20 * c->least_floor_g_m3
                               ? fmin(hw__scatter_sd(&c->scatter), fmax(0.05 * peak, -c->lowest_g_m3))
                               : hw__scatter_sd(&c->scatter);
    c->floor_g_m3 = fmax(c->floor_g_m3, fmax(c->least_floor_g_m3, scatter));
  }
}

/* A quiet non-detect says ln Phi((limit - b) / sigma) of the background b: expanded to second order about the
 * background as last learned, it joins the sums. Without it only readings above the limit would tell, and too much. */
static void add_quiet(const hw__smc *smc, const hw__entry *e, hw__channel *c) {
  const double sd = sqrt(e->variance), about = c->learned_g_m3, z = (e->value_g_m3 - about) / sd;
  if (z > HW__TAIL_TO) {
    return;
  }
  double r;
  (void)hw__tails_at(&smc->tails, z, &r);
  const double count = smc->heat * e->share * e->count, curvature = hw__tail_curvature(z, r) / (sd * sd);
  c->s0 += count * curvature;
  c->s1 += count * (curvature * about - r / sd);
}

void hw__smc_resum(hw__smc *smc, size_t sensor) {
  hw__channel *c = &smc->channels[sensor];
  c->s0 = c->s1 = 0;
  for (size_t i = smc->history.start[sensor]; i < smc->history.start[sensor + 1]; i++) {
    const hw__entry *e = &smc->history.entries[i];
    if (e->below_limit) {
      if (e->quiet && c->learns_background) {
        add_quiet(smc, e, c);
      }
    } else if (!e->aside && !e->held) {
      const double weight = smc->heat * e->share * e->count / e->variance;
      c->s0 += weight;
      c->s1 += weight * (e->value_g_m3 - c->background_g_m3);
    }
  }
  c->fold = hw__smc_fold(smc, sensor, 0, 0);
}

/* Readings against what the posterior expects of them, in units of the stated noise. */
typedef struct {
  double squares, count;
} misfit;

/* Relative noise follows the concentration that the posterior expects, the same for all particles: a particle's own
 * would let a huge plume elsewhere explain everything as noise. */
static void refresh_sensor(hw__smc *smc, size_t k, const double *mass, double *g, misfit *sum) {
  hw__channel *c = &smc->channels[k];
  const hw_sensor *sensor = &smc->river->sensors[k];
  const hw__view view = hw__cloud_view(&smc->proposal, 0);
  c->learned_g_m3 = hw__smc_background(smc, k, mass);
  c->refreshed_floor = c->floor_g_m3;
  hw__point point = c->place;
  for (size_t i = smc->history.start[k]; i < smc->history.start[k + 1]; i++) {
    hw__entry *e = &smc->history.entries[i];
    double plume = 0;
    point.time_s = e->time_s;
    smc->kernel->response(&view, HW__BLOCK, &point, g);
    for (size_t j = 0; j < HW__BLOCK; j++) {
      plume += mass[j] * g[j] / HW__BLOCK;
    }
    if (e->below_limit) {
      e->variance = hw__noise_variance(sensor, c->floor_g_m3, e->value_g_m3);
      e->quiet = plume * plume < 0.01 * e->variance;
      continue;
    }
    e->variance = hw__noise_variance(sensor, c->floor_g_m3, c->learned_g_m3 + plume);
    const double net = e->value_g_m3 - c->learned_g_m3;
    /* Gains in doubt shift a whole curve, which is not noise. */
    if (!e->aside && !e->held && e->share >= 1 && !(c->gain_sd > 0) && fmax(plume, net) > 3 * c->floor_g_m3) {
      sum->squares += e->count * (net - plume) * (net - plume) / e->variance;
      sum->count += 1;
    }
  }
}

/* By how much the variance must be larger than stated. The misfit is that of the best curve to be had (a restart has
 * looked for a better one), so what is left of it is noise, or a model that is wrong by as much. Only what six standard
 * deviations of chance exclude counts: a river file that states its noise rightly is taken at its word. */
static double inflation_for(hw__smc *smc, const misfit *sum) {
  const double freedom = sum->count - 4; /* mass, place, time, and a little for the hydraulics */
  if (!(freedom >= 6)) {
    return smc->inflation;
  }
  const double ratio = sum->squares / freedom;
  if (!(ratio > 1 + 6 * sqrt(2 / freedom))) {
    return 1;
  }
  if (smc->restarts == 0) {
    smc->surprises = HW__SURPRISES;
    return 1;
  }
  return ratio;
}

static void refresh_noise(hw__smc *smc) {
  double *mass = smc->scratch, *g = smc->scratch + HW__BLOCK;
  hw__smc_thin(smc, mass);
  smc->mass_scale_g = 0;
  for (size_t j = 0; j < HW__BLOCK; j++) {
    smc->mass_scale_g += mass[j] / HW__BLOCK;
  }
  misfit sum = {0};
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    refresh_sensor(smc, k, mass, g, &sum);
  }
  const double before = smc->inflation;
  smc->inflation = inflation_for(smc, &sum);
  smc->widenings = smc->inflation > 1.5 * before ? HW__WIDENINGS : smc->widenings;
  for (size_t i = 0; i < hw__history_count(&smc->history); i++) {
    smc->history.entries[i].variance *= smc->inflation;
  }
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    hw__smc_resum(smc, k);
  }
}

/* Weights from the evidence; returned: the effective number of particles. */
double hw__smc_weigh(hw__smc *smc, const double *evidence, double *weight) {
  const size_t n = smc->cloud.count;
  double sums[2];
  const double shift = smc->kernel->largest(n, evidence, smc->cloud.column[HW__BASE]);
  smc->kernel->weigh(n, evidence, smc->cloud.column[HW__BASE], shift, weight, sums);
  return sums[0] * sums[0] / sums[1];
}

void hw__smc_measure(hw__smc *smc) {
  const hw__view view = hw__cloud_view(&smc->cloud, 0);
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    hw__channel *c = &smc->channels[k];
    double sum = 0, count = 0;
    for (size_t j = 0; j < smc->cloud.count; j++) {
      const double variance = (c->place.variance - view.variance[j]) * view.spread[j];
      sum += variance > 0 ? sqrt(variance) : 0;
      count += variance > 0 ? 1 : 0;
    }
    c->width_s = count > 0 ? sum / count : 0;
  }
}

/* The refreshed noise shifts the target a little; the weights follow it unless that would leave too few particles (a
 * floor that grows broadens the target, and weights cannot widen a cloud): then the moves alone must. */
void hw__smc_rejuvenate(hw__smc *smc) {
  double *weight = smc->cloud.column[HW__WEIGHT];
  refresh_noise(smc);
  for (size_t from = 0; from < smc->cloud.count; from += HW__BLOCK) {
    hw__likelihood(smc, &smc->cloud, from, HW__BLOCK);
  }
  if (hw__smc_weigh(smc, smc->cloud.column[HW__EVIDENCE], smc->trial_weight) >= 0.2 * (double)smc->cloud.count) {
    memcpy(weight, smc->trial_weight, smc->cloud.count * sizeof(double));
  }
  hw__smc_move(smc, HW__MOVES_AT_WILL);
  memcpy(smc->cloud.column[HW__BASE], smc->cloud.column[HW__EVIDENCE], smc->cloud.count * sizeof(double));
  hw__smc_measure(smc);
  smc->pending = 0;
  smc->rejuvenations++;
}

/* A reading comes in. */
#include "posterior/smc.h"

#include <math.h>
#include <string.h>

#include "posterior/evidence.h"
#include "posterior/noise.h"

/* The share of particles that must stay effective: below HALF they are rejuvenated, and a reading that would leave
 * fewer than a QUARTER is taken in by degrees. */
enum { SURPRISES = 4 }; /* in a row before the particles are given up */
#define HALF    0.5
#define QUARTER 0.25

void hw__smc_evidence(const hw__smc *smc, size_t n, const hw__totals *totals, double *evidence, double *mass) {
  const double lo = smc->mass_lo, hi = smc->mass_hi;
  if (smc->kernel->evidence(n, totals, lo, hi, evidence, mass) == 0) {
    return;
  }
  for (size_t j = 0; j < n; j++) {
    const double l = totals->lambda[j], h = totals->h[j];
    const double room = fmin(h - lo * l, hi * l - h);
    if (!(room > 0 && room * room > 36 * l)) {
      evidence[j] = hw__mass_evidence(l, h, lo, hi) + totals->offset[j];
    }
  }
}

hw__fold hw__smc_fold(const hw__smc *smc, size_t sensor, double more_s0, double more_s1) {
  const hw__channel *c = &smc->channels[sensor];
  hw__fold fold = {.gain2 = c->gain_sd * c->gain_sd * smc->mass_scale_g * smc->mass_scale_g};
  if (c->learns_background) {
    const double spread = hw__background_spread(c->refreshed_floor, c->lowest_g_m3);
    fold.per_s0 = 1 / (c->s0 + more_s0 + 1 / (spread * spread));
    fold.s1 = c->s1 + more_s1;
  }
  return fold;
}

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
  double background = c->background_g_m3;
  for (size_t j = 0; c->learns_background && j < HW__BLOCK; j++) {
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

void hw__smc_resum(hw__smc *smc, size_t sensor) {
  hw__channel *c = &smc->channels[sensor];
  c->s0 = c->s1 = 0;
  for (size_t i = smc->history.start[sensor]; i < smc->history.start[sensor + 1]; i++) {
    const hw__entry *e = &smc->history.entries[i];
    if (!e->below_limit && !e->aside && !e->held) {
      const double weight = smc->heat * e->share * e->count / e->variance;
      c->s0 += weight;
      c->s1 += weight * (e->value_g_m3 - c->background_g_m3);
    }
  }
  c->fold = hw__smc_fold(smc, sensor, 0, 0);
}

/* Relative noise follows the concentration that the posterior expects, the same for all particles: a particle's own
 * would let a huge plume elsewhere explain everything as noise. */
static void refresh_sensor(hw__smc *smc, size_t k, const double *mass, double *g) {
  hw__channel *c = &smc->channels[k];
  const hw_sensor *sensor = &smc->river->sensors[k];
  const hw__view view = hw__cloud_view(&smc->proposal, 0);
  c->learned_g_m3 = hw__smc_background(smc, k, mass);
  c->refreshed_floor = c->floor_g_m3;
  hw__point point = c->place;
  for (size_t i = smc->history.start[k]; i < smc->history.start[k + 1]; i++) {
    hw__entry *e = &smc->history.entries[i];
    double expected = c->learned_g_m3;
    if (e->below_limit) {
      expected = e->value_g_m3;
    } else if (sensor->noise_relative > 0) {
      point.time_s = e->time_s;
      smc->kernel->response(&view, HW__BLOCK, &point, g);
      for (size_t j = 0; j < HW__BLOCK; j++) {
        expected += mass[j] * g[j] / HW__BLOCK;
      }
    }
    e->variance = hw__noise_variance(sensor, c->floor_g_m3, expected);
  }
  hw__smc_resum(smc, k);
}

static void refresh_noise(hw__smc *smc) {
  double *mass = smc->scratch, *g = smc->scratch + HW__BLOCK;
  hw__smc_thin(smc, mass);
  smc->mass_scale_g = 0;
  for (size_t j = 0; j < HW__BLOCK; j++) {
    smc->mass_scale_g += mass[j] / HW__BLOCK;
  }
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    refresh_sensor(smc, k, mass, g);
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
  hw__smc_move(smc);
  memcpy(smc->cloud.column[HW__BASE], smc->cloud.column[HW__EVIDENCE], smc->cloud.count * sizeof(double));
  hw__smc_measure(smc);
  smc->pending = 0;
  smc->rejuvenations++;
}

void hw__smc_settle(hw__smc *smc) {
  if (!(smc->pending > 0)) {
    return;
  }
  const hw__totals totals = hw__cloud_totals(&smc->cloud, 0);
  hw__smc_evidence(smc, smc->cloud.count, &totals, smc->cloud.column[HW__EVIDENCE], smc->cloud.column[HW__MASS]);
  const double effective = hw__smc_weigh(smc, smc->cloud.column[HW__EVIDENCE], smc->cloud.column[HW__WEIGHT]);
  smc->pending = 0;
  if (effective < HALF * (double)smc->cloud.count) {
    hw__smc_rejuvenate(smc);
  }
}

/* The totals with this share more of the entry, into `out` (which may be the totals themselves). */
static void add_share(hw__smc *smc, size_t sensor, const hw__entry *e, double share, const hw__totals *out) {
  const hw__channel *c = &smc->channels[sensor];
  const size_t n = smc->cloud.count;
  const hw__totals totals = hw__cloud_totals(&smc->cloud, 0);
  const double value = e->value_g_m3 - c->background_g_m3;
  const double weight = share / e->variance;
  const hw__sums sums = hw__cloud_sums(&smc->cloud, sensor, 0);
  if (e->below_limit) {
    const double sd = sqrt(e->variance);
    for (size_t j = 0; j < n; j++) {
      const hw__terms t = hw__nondetect(smc, totals.lambda[j], totals.h[j], smc->g[j], value, sd, share);
      out->lambda[j] = totals.lambda[j] + t.lambda;
      out->h[j] = totals.h[j] + t.h;
      out->offset[j] = totals.offset[j] + t.offset;
    }
  } else if (sums.lambda) {
    smc->trial_fold = hw__smc_fold(smc, sensor, weight, weight * value);
    smc->kernel->couple(n, smc->g, weight, value, &sums, &c->fold, &smc->trial_fold, &totals, out);
  } else {
    smc->kernel->add(n, smc->g, weight, value, &totals, out);
  }
}

static double try_effective(hw__smc *smc, size_t sensor, const hw__entry *e, double share) {
  add_share(smc, sensor, e, share, &smc->trial);
  hw__smc_evidence(smc, smc->cloud.count, &smc->trial, smc->trial_evidence, smc->trial_mass);
  return hw__smc_weigh(smc, smc->trial_evidence, smc->trial_weight);
}

/* The entry's share in the sensor's own sums, and in its background's evidence. */
static void keep_share(hw__smc *smc, size_t sensor, hw__entry *e, double share) {
  hw__channel *c = &smc->channels[sensor];
  const double weight = share / e->variance, value = e->value_g_m3 - c->background_g_m3;
  e->share += share;
  if (e->below_limit) {
    return;
  }
  c->s0 += weight;
  c->s1 += weight * value;
  const hw__sums sums = hw__cloud_sums(&smc->cloud, sensor, 0);
  if (sums.lambda) {
    smc->kernel->grow(smc->cloud.count, smc->g, weight, value, &sums);
    c->fold = smc->trial_fold;
  }
}

static void swap(double **a, double **b) {
  double *const kept = *a;
  *a = *b;
  *b = kept;
}

/* What is on trial becomes fact. */
static void keep_trial(hw__smc *smc, size_t sensor, hw__entry *e, double share) {
  double **c = smc->cloud.column;
  swap(&c[HW__LAMBDA], &smc->trial.lambda);
  swap(&c[HW__H], &smc->trial.h);
  swap(&c[HW__OFFSET], &smc->trial.offset);
  swap(&c[HW__EVIDENCE], &smc->trial_evidence);
  swap(&c[HW__WEIGHT], &smc->trial_weight);
  swap(&c[HW__MASS], &smc->trial_mass);
  keep_share(smc, sensor, e, share);
  smc->pending = 0;
}

/* Largest share that leaves about a third of the particles effective, by bisection. */
static double fitting_share(hw__smc *smc, size_t sensor, const hw__entry *e, double most) {
  double lo = 0, hi = most;
  const double wanted = 0.35 * (double)smc->cloud.count;
  for (int i = 0; i < 12; i++) {
    const double middle = i < 6 ? hi * 0.25 + lo * 0.75 : 0.5 * (lo + hi);
    if (try_effective(smc, sensor, e, middle) < wanted) {
      hi = middle;
    } else {
      lo = middle;
    }
  }
  return lo > 0 ? lo : hi;
}

/* Every reading that none of the particles comes near is a hint that they have lost the truth. */
static void note_surprise(hw__smc *smc, const hw__channel *c, double mean, double off, double variance) {
  const double doubt = variance + c->gain_sd * c->gain_sd * mean * mean;
  if (off * off > 25 * doubt) {
    smc->surprises++;
  } else if (off * off < 9 * doubt && mean > 5 * c->floor_g_m3) {
    smc->surprises = 0;
  }
}

/* Responses to the newest reading. Returned: about the variance, over the particles, of the evidence it brings:
 * (r delta - delta^2 / 2) with r the reading's and delta a particle's distance from the mean prediction, in noise. */
static double respond(hw__smc *smc, const hw__channel *c, const hw__entry *e) {
  const size_t n = smc->cloud.count;
  const hw__view view = hw__cloud_view(&smc->cloud, 0);
  hw__point point = c->place;
  double sums[2];
  point.time_s = e->time_s;
  smc->kernel->expect(&view, n, &point, smc->cloud.column[HW__MASS], smc->g, sums);
  smc->evaluations += n;
  const double mean = sums[0] / (double)n, spread = fmax(sums[1] / (double)n - mean * mean, 0) / e->variance;
  const double off = e->value_g_m3 - c->learned_g_m3 - mean;
  if (!e->below_limit) {
    note_surprise(smc, c, mean, off, e->variance * (1 + spread));
  }
  return spread * (off * off / e->variance + 0.5 * spread);
}

/* Below this the weights need not be looked at yet: it costs a twentieth of the effective particles at most. */
static const double unnoticed = 0.05;

static void assimilate(hw__smc *smc, size_t sensor, hw__entry *e) {
  const hw__channel *c = &smc->channels[sensor];
  const double enough = (double)smc->cloud.count;
  const bool refloored = !(c->floor_g_m3 < 1.1 * c->refreshed_floor);
  smc->pending += respond(smc, c, e);
  if (smc->pending < unnoticed && !refloored) {
    const hw__totals totals = hw__cloud_totals(&smc->cloud, 0);
    add_share(smc, sensor, e, 1, &totals);
    keep_share(smc, sensor, e, 1);
    return;
  }
  for (int step = 0; step < 100; step++) {
    const double rest = 1 - e->share;
    const double effective = try_effective(smc, sensor, e, rest);
    if (effective >= QUARTER * enough || step == 99) {
      keep_trial(smc, sensor, e, rest);
      e->share = 1;
      if (effective < HALF * enough || refloored) {
        hw__smc_rejuvenate(smc);
      }
      return;
    }
    const double share = fitting_share(smc, sensor, e, rest);
    try_effective(smc, sensor, e, share);
    keep_trial(smc, sensor, e, share);
    hw__smc_rejuvenate(smc);
    respond(smc, c, e);
  }
}

static void note_value(hw__channel *c, const hw_sensor *sensor, double value) {
  if (c->readings == 0) {
    c->peak_g_m3 = c->lowest_g_m3 = value;
  }
  if (value > c->peak_g_m3) {
    c->peak_g_m3 = value;
    c->fallen = false;
  }
  c->lowest_g_m3 = fmin(c->lowest_g_m3, value);
  const double base = c->learns_background ? c->lowest_g_m3 : c->background_g_m3;
  c->fallen = c->fallen || value - base < 0.5 * (c->peak_g_m3 - base);
  c->detects += value > sensor->detection_limit_g_m3;
  c->readings++;
  hw__scatter_add(&c->scatter, value);
}

void hw__smc_take(hw__smc *smc, size_t sensor, hw__entry *e) {
  hw__channel *c = &smc->channels[sensor];
  const hw_sensor *s = &smc->river->sensors[sensor];
  if (e->below_limit) {
    c->fallen = c->fallen || (c->readings > 0 && e->value_g_m3 < 0.5 * c->peak_g_m3);
  } else {
    note_value(c, s, e->value_g_m3);
  }
  hw__smc_refloor(smc, sensor);
  e->variance = hw__noise_variance(s, c->floor_g_m3, fmax(e->value_g_m3, 0));
  smc->taken++;
  assimilate(smc, sensor, e);
  if (smc->surprises >= SURPRISES) {
    hw__smc_restart(smc);
  }
}

void hw__smc_observe(hw__smc *smc, const hw_reading *reading) {
  const bool held = !reading->below_limit && hw__screen(smc, reading);
  const hw__entry entry = {.time_s = reading->time_s,
                           .value_g_m3 = reading->concentration_g_m3,
                           .count = 1,
                           .first_s = reading->time_s,
                           .last_s = reading->time_s,
                           .below_limit = reading->below_limit,
                           .held = held};
  const size_t at = hw__history_insert(&smc->history, reading->sensor, &entry);
  if (!held) {
    hw__smc_take(smc, reading->sensor, &smc->history.entries[at]);
  }
}

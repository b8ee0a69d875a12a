/* A reading comes in. */
#include "posterior/smc.h"

#include <math.h>
#include <string.h>

#include "posterior/evidence.h"
#include "posterior/noise.h"

/* The share of particles that must stay effective: below HALF they are rejuvenated, and a reading that would leave
 * fewer than a QUARTER is taken in by degrees. */
enum { MOST_STEPS = 100 }; /* by which an entry is taken in */
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
      const double mass = hw__smc_expected_mass(smc, totals.lambda[j], totals.h[j]);
      const hw__terms t = hw__nondetect(&smc->tails, mass, smc->g[j], e->value_g_m3 - c->learned_g_m3, sd, share);
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

/* One step of taking an entry in: all that is left of it, or as much as leaves a third of the particles effective, and
 * then the particles rejuvenated. Returned: whether it is all in. */
static bool take_step(hw__smc *smc, size_t sensor, hw__entry *e) {
  const hw__channel *c = &smc->channels[sensor];
  const double enough = (double)smc->cloud.count, rest = 1 - e->share;
  const bool refloored = !(c->floor_g_m3 < 1.1 * c->refreshed_floor);
  const double brought = respond(smc, c, e);
  smc->pending += smc->steps++ == 0 ? brought : 0;
  if (smc->steps == 1 && smc->pending < unnoticed && !refloored) {
    const hw__totals totals = hw__cloud_totals(&smc->cloud, 0);
    add_share(smc, sensor, e, 1, &totals);
    keep_share(smc, sensor, e, 1);
    return true;
  }
  const double effective = try_effective(smc, sensor, e, rest);
  const bool whole = effective >= QUARTER * enough || smc->steps == MOST_STEPS;
  if (whole) {
    keep_trial(smc, sensor, e, rest);
    e->share = 1;
  } else {
    const double share = fitting_share(smc, sensor, e, rest);
    try_effective(smc, sensor, e, share);
    keep_trial(smc, sensor, e, share);
  }
  if (!whole || effective < HALF * enough || refloored) {
    hw__smc_rejuvenate(smc);
  }
  return whole;
}

/* The earliest entry that is not yet in whole, and its sensor; NULL when there is none. */
static hw__entry *first_waiting(hw__smc *smc, size_t *sensor) {
  hw__entry *first = NULL;
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    for (size_t i = smc->history.start[k]; i < smc->history.start[k + 1]; i++) {
      hw__entry *e = &smc->history.entries[i];
      if (e->share < 1 && !e->held && !e->aside && (!first || e->time_s < first->time_s)) {
        first = e;
        *sensor = k;
      }
    }
  }
  return first;
}

/* Takes in what waits, oldest first, until it is all in or smc->effort has passed `until`; at least one step.
 * e: the only one that waits, if that is known (else NULL), and its sensor. */
static void work(hw__smc *smc, hw__entry *e, size_t sensor, uint64_t until) {
  while (smc->waiting > 0 && !smc->restarting) {
    e = e ? e : first_waiting(smc, &sensor);
    if (!e || take_step(smc, sensor, e)) {
      smc->steps = 0;
      smc->waiting = e ? smc->waiting - 1 : 0;
      e = NULL;
    }
    if (smc->surprises >= HW__SURPRISES) {
      hw__smc_restart(smc);
    }
    if (smc->effort >= until) {
      return;
    }
  }
  hw__smc_restart_on(smc, until);
  for (; smc->widenings > 0 && !smc->restarting && smc->effort < until; smc->widenings--) {
    hw__smc_rejuvenate(smc);
  }
}

void hw__smc_settle(hw__smc *smc) {
  work(smc, NULL, 0, UINT64_MAX);
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
  e->variance = smc->inflation * hw__noise_variance(s, c->floor_g_m3, fmax(e->value_g_m3, 0));
  smc->taken++;
  if (smc->restarting) {
    e->share = 1; /* the restart looks at the history itself */
  } else {
    smc->waiting++;
  }
  work(smc, smc->waiting == 1 ? e : NULL, sensor, smc->effort + HW__READING_BUDGET);
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
  if (!hw__history_heard(&smc->history, reading->sensor)) {
    hw__cloud_hear(&smc->cloud, reading->sensor);
    hw__cloud_hear(&smc->proposal, reading->sensor);
  }
  const size_t at = hw__history_insert(&smc->history, reading->sensor, &entry);
  if (!held) {
    hw__smc_take(smc, reading->sensor, &smc->history.entries[at]);
  }
}

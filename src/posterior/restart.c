/* When every particle has lost the truth.
 *
 * Sequential weights cannot bring back a mode that died out: a river twice as slow as thought, say, whose particles all
 * went when the plume was late. Then every new reading is a surprise to all of them alike. So start over: particles
 * from the prior, and the likelihood of the whole history let in by degrees, heat 0 to 1, each as large as leaves a
 * third of the particles effective, with resampling and moves in between (an annealed sampler). The way up is spread
 * over the readings that follow, which it takes in as they come, or finished when an answer is asked for. Readings that
 * contradict the model itself surprise any particles, so restarts are few: each only after half as many readings again.
 */
#include <math.h>
#include <string.h>

#include "posterior/smc.h"

/* FEW particles are led up the heat. */
enum { MOST_RESTARTS = 4, MOST_STAGES = 80, TRIES = 24, FEW = 512 };
#define WANTED 0.35

/* Before anything is known of the concentrations, the readings stand for them. */
static void noise_from_readings(hw__smc *smc) {
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    for (size_t i = smc->history.start[k]; i < smc->history.start[k + 1]; i++) {
      hw__entry *e = &smc->history.entries[i];
      e->variance = hw__noise_variance(&smc->river->sensors[k], smc->channels[k].floor_g_m3, fmax(e->value_g_m3, 0));
    }
  }
}

/* Evidence and weights of all particles at this heat; returned: the effective number. */
static double evaluate(hw__smc *smc, double heat) {
  smc->heat = heat;
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    hw__smc_resum(smc, k);
  }
  for (size_t from = 0; from < smc->cloud.count; from += HW__BLOCK) {
    hw__likelihood(smc, &smc->cloud, from, HW__BLOCK);
  }
  return hw__smc_weigh(smc, smc->cloud.column[HW__EVIDENCE], smc->cloud.column[HW__WEIGHT]);
}

/* The effective number this share of the way from `base`, where all weigh the same, to `evidence`. */
static double effective_at(const hw__smc *smc, const double *evidence, const double *base, double share) {
  const size_t n = smc->cloud.count;
  double most = -INFINITY, sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, evidence[i] - base[i]);
  }
  for (size_t i = 0; i < n; i++) {
    const double w = exp(share * (evidence[i] - base[i] - most));
    sum += w;
    squares += w * w;
  }
  return sum * sum / squares;
}

/* The next heat: as far up as leaves a third effective, by bisection on the line; then what the evidence really is
 * there, and back by halves as long as that leaves far fewer. */
static void climb(hw__smc *smc) {
  const double n = (double)smc->cloud.count, heat = smc->heat;
  if (evaluate(smc, 1) >= WANTED * n) {
    return;
  }
  double lo = 0, hi = 1;
  for (int i = 0; i < 40; i++) {
    const double middle = i < 20 ? 0.2 * hi + 0.8 * lo : 0.5 * (lo + hi);
    if (effective_at(smc, smc->cloud.column[HW__EVIDENCE], smc->cloud.column[HW__BASE], middle) < WANTED * n) {
      hi = middle;
    } else {
      lo = middle;
    }
  }
  double step = hi * (1 - heat);
  for (size_t i = 0; i < TRIES && evaluate(smc, heat + step) < 0.5 * WANTED * n; i++) {
    step *= 0.5;
  }
}

static void keep_base(hw__smc *smc) {
  memcpy(smc->cloud.column[HW__BASE], smc->cloud.column[HW__EVIDENCE], smc->cloud.count * sizeof(double));
}

/* Full numbers again: everyone as often as it takes, then moved apart. */
static void arrive(hw__smc *smc) {
  const size_t few = smc->cloud.count;
  smc->restarting = false;
  smc->cloud.count = smc->full_count;
  for (size_t i = few; i < smc->full_count; i++) {
    hw__cloud_copy(&smc->cloud, i % few, &smc->cloud, i);
  }
  for (size_t i = 0; i < smc->full_count; i++) {
    smc->cloud.column[HW__WEIGHT][i] = 1 / (double)smc->full_count;
  }
  keep_base(smc);
  evaluate(smc, 1);
  hw__smc_rejuvenate(smc);
}

void hw__smc_restart_on(hw__smc *smc, uint64_t until) {
  while (smc->restarting && smc->effort < until) {
    if (smc->heat < 1 && smc->stage < MOST_STAGES) {
      smc->stage++;
      noise_from_readings(smc);
      climb(smc);
      hw__smc_move(smc, smc->move_count);
      keep_base(smc);
    } else {
      arrive(smc);
    }
  }
}

void hw__smc_restart(hw__smc *smc) {
  smc->surprises = 0;
  if (smc->restarts == MOST_RESTARTS || smc->taken < smc->restart_after) {
    return;
  }
  smc->restarts++;
  smc->restart_after = smc->taken + 8 + smc->taken / 4;
  smc->restarting = true;
  smc->stage = 0;
  smc->waiting = smc->steps = 0;
  for (size_t i = 0; i < hw__history_count(&smc->history); i++) {
    hw__entry *e = &smc->history.entries[i];
    e->share = e->held ? e->share : 1; /* the whole history, also what was put off */
  }
  smc->cloud.count = smc->full_count < FEW ? smc->full_count : FEW;
  hw__cloud_draw(&smc->cloud, smc->river, smc->transport, sqrt(1 / HW__SOFTEST), &smc->rng);
  noise_from_readings(smc);
  evaluate(smc, 0);
  keep_base(smc);
  smc->move_scale = 1;
}

/* When every particle has lost the truth.
 *
 * Sequential weights cannot bring back a mode that died out: a river twice as slow as thought, say, whose particles all
 * went when the plume was late. Then every new reading is a surprise to all of them alike. So start over: particles
 * from the prior, and the likelihood of the whole history let in by degrees, heat 0 to 1, each as large as leaves a
 * third of the particles effective, with resampling and moves in between (an annealed sampler). Readings that
 * contradict the model itself surprise any particles, so restarts are few: each only after half as many readings again.
 */
#include <math.h>
#include <string.h>

#include "posterior/smc.h"

enum { MOST_RESTARTS = 4, MOST_STAGES = 80, TRIES = 24 };

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

static void heat_up(hw__smc *smc) {
  const double wanted = 0.35 * (double)smc->cloud.count;
  double heat = 0;
  for (size_t stage = 0; stage < MOST_STAGES && heat < 1; stage++) {
    double next = 1;
    for (size_t i = 0; i < TRIES && evaluate(smc, next) < wanted; i++) {
      next = heat > 0 ? sqrt(heat * next) : 0.1 * next;
    }
    heat = next;
    hw__smc_move(smc);
    memcpy(smc->cloud.column[HW__BASE], smc->cloud.column[HW__EVIDENCE], smc->cloud.count * sizeof(double));
  }
}

void hw__smc_restart(hw__smc *smc) {
  smc->surprises = 0;
  if (smc->restarts == MOST_RESTARTS || smc->taken < smc->restart_after) {
    return;
  }
  smc->restarts++;
  smc->restart_after = smc->taken + 8 + smc->taken / 4;
  hw__cloud_draw(&smc->cloud, smc->river, smc->transport, sqrt(1 / HW__SOFTEST), &smc->rng);
  noise_from_readings(smc);
  evaluate(smc, 0);
  memcpy(smc->cloud.column[HW__BASE], smc->cloud.column[HW__EVIDENCE], smc->cloud.count * sizeof(double));
  smc->move_scale = 1;
  heat_up(smc);
  evaluate(smc, 1);
  hw__smc_rejuvenate(smc);
}

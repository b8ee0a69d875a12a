/* Mode K: Rao-Blackwellised sequential Monte Carlo.
 *
 * Particles suppose a place, a time and, where in doubt, velocity and dispersion; the mass, each sensor's background
 * and its gain are Gaussian given those and are integrated out in closed form. A reading costs one vector pass over
 * the particles. When their weights grow uneven they are resampled and moved by Metropolis steps that look at the
 * whole (bounded) history.
 *
 *   smc.c         a reading comes in: tempering, weights, when to rejuvenate
 *   rejuvenate.c  noise refreshed, sums anew, resampled and moved
 *   likelihood.c  what the history says of a block of particles; nondetect.c: its readings below a limit
 *   moves.c       resampling's companion: covariance-adapted random walks
 *   screen.c      lone spikes
 *   restart.c     when every particle has lost the truth
 *   modek.c       the method: creation, late and duplicate readings
 *   report.c      estimates, samples, predictions
 */
#ifndef HW_POSTERIOR_SMC_H
#define HW_POSTERIOR_SMC_H

#include "posterior/cloud.h"
#include "posterior/history.h"
#include "posterior/noise.h"
#include "posterior/nondetect.h"
#include "posterior/summary.h"
#include "posterior/warnings.h"

/* What a reading may spend before the rest of its work is put off, in model evaluations; a particle's proposal counts
 * as HW__PROPOSAL of them. What has begun is finished: at most one rejuvenation or one stage of a restart. Counted, not
 * timed: the same bits everywhere. */
enum { HW__READING_BUDGET = 400000, HW__PROPOSAL = 80 };

/* Surprises in a row before the particles are given up, and rejuvenations in a row when the noise has turned out larger
 * than stated: weights cannot widen a cloud, moves can, by and by. */
enum { HW__SURPRISES = 4, HW__WIDENINGS = 4 };

/* Least share of the hydraulics' prior in force during a restart: a ninth is three times its standard deviation. */
#define HW__SOFTEST (1.0 / 9)

/* What is known of one sensor beside its history. */
typedef struct {
  hw__point place; /* time_s is filled in per reading */
  bool learns_background;
  double background_g_m3;  /* given, else 0 */
  double gain_sd;          /* of ln gain; 0: trusted */
  double floor_g_m3;       /* noise that does not shrink, now */
  double refreshed_floor;  /* the same when weights were last worked out */
  double least_floor_g_m3; /* from the prior: for a sensor that shows nothing yet */
  hw__fold fold;           /* background and gain as they stand in the totals */
  double learned_g_m3;     /* background as last worked out, or the given one */
  double s0, s1;           /* sums of 1/sigma^2 and c/sigma^2 of what is taken in: the background's own evidence */
  hw__scatter scatter;     /* of the readings before any rise */
  double width_s;          /* typical standard deviation of the pulse here */
  double peak_g_m3;        /* largest and smallest reading taken in; NAN before the first */
  double lowest_g_m3;
  bool fallen; /* a reading after the peak was below half of it */
  size_t readings;
  size_t detects; /* at or above the detection limit */
  bool has_held;
  double held_s;      /* the reading on probation */
  double before_g_m3; /* the reading before the newest, and its time */
  double before_s;
  bool has_before;
  size_t spikes;
  double spike_s, spike_g_m3;
} hw__channel;

typedef struct {
  const hw_river *river; /* borrowed */
  hw_transport *transport;
  hw_options options;
  const hw__kernel_table *kernel;
  hw_rng rng;
  hw__cloud cloud;
  hw__cloud proposal; /* one block */
  hw__totals trial;   /* totals with the newest reading on trial, and their evidence and weights */
  double *trial_evidence, *trial_weight, *trial_mass;
  double *g; /* response to the newest reading */
  hw__fold trial_fold;
  double *scratch; /* three blocks */
  double *memory;  /* all of the above */
  hw__history history;
  hw__tails tails; /* for non-detects */
  hw__channel *channels;
  double mass_lo, mass_hi;
  double mass_scale_g; /* posterior mean mass when last refreshed: scale of the gains' effect */
  double heat;         /* share of the whole likelihood in force: below 1 only during a restart */
  bool restarting;     /* one is under way: particles are on their way from the prior, and readings only noted */
  size_t full_count;   /* particles when none is: a restart works with fewer */
  size_t stage;        /* of the restart */
  size_t surprises;    /* readings in a row that no particle explains */
  size_t restarts;
  size_t restart_after; /* readings taken in before another restart is worth trying */
  double inflation;     /* of all variances, 1 as long as the stated noise explains the readings */
  size_t widenings;     /* rejuvenations due because it grew */
  size_t waiting;       /* entries not yet taken in whole, put off to later readings */
  size_t steps;         /* made so far with the first of them */
  size_t taken;         /* readings taken in */
  double pending;       /* bound on the evidence that weights do not yet reflect */
  double move_scale;
  double theta_far; /* a place downstream of every source and sensor, as a running integral */
  size_t move_count;
  size_t rejuvenations;
  double sd_velocity, sd_dispersion; /* of ln; 0: known */
  uint64_t evaluations;
  uint64_t effort; /* the same with proposals counted in */
} hw__smc;

/* Back to the prior, nothing read; the same bits every time. */
void hw__smc_reset(hw__smc *smc);
/* Take in one reading (in time order). Work that a surprising reading would need beyond HW__READING_BUDGET is put off
 * to the readings after it. */
void hw__smc_observe(hw__smc *smc, const hw_reading *reading);
/* Do what was put off, and bring the weights up to date with everything read: before anything is reported. */
void hw__smc_settle(hw__smc *smc);

/* A new or released entry of the history into the particles: tempering, weights, rejuvenation. smc.c */
void hw__smc_take(hw__smc *smc, size_t sensor, hw__entry *entry);
/* Typical pulse widths at the sensors, of the particles as they stand. */
void hw__smc_measure(hw__smc *smc);
/* Sums of the sensor's background from the history, and its fold. */
void hw__smc_resum(hw__smc *smc, size_t sensor);
/* Weights from the evidence; returned: the effective number of particles. */
double hw__smc_weigh(hw__smc *smc, const double *evidence, double *weight);
/* Noise refreshed, sums worked out anew, resampled and moved. */
void hw__smc_rejuvenate(hw__smc *smc);
/* restart.c: particles drawn anew, to be led from the prior to the posterior of the whole history; does nothing when
 * tried too often. */
void hw__smc_restart(hw__smc *smc);
/* Lead them on, stage by stage, until they have arrived or smc->effort has passed `until`. */
void hw__smc_restart_on(hw__smc *smc, uint64_t until);
/* Noise of a sensor as it stands, after its peak changed. */
void hw__smc_refloor(hw__smc *smc, size_t sensor);
/* How the sensor's background and gain fold in with this much more taken in. */
hw__fold hw__smc_fold(const hw__smc *smc, size_t sensor, double more_s0, double more_s1);
/* The block `proposal` filled with a block of equally weighted particles of the cloud, chosen systematically, and the
 * median mass of each. */
void hw__smc_thin(hw__smc *smc, double *mass);
/* Expected background of the sensor over that block; the given one where it is given. */
double hw__smc_background(const hw__smc *smc, size_t sensor, const double *mass);

/* ln of the mass integral for each of n particles, and the mass to expect. */
void hw__smc_evidence(const hw__smc *smc, size_t n, const hw__totals *totals, double *evidence, double *mass);

/* likelihood.c: sums, totals and evidence of particles [from, from + n) of a cloud, from the whole history. */
void hw__likelihood(hw__smc *smc, hw__cloud *cloud, size_t from, size_t n);
/* The mass to expand a particle's non-detects about, from the sums of everything else. */
double hw__smc_expected_mass(const hw__smc *smc, double lambda, double h);

/* moves.c: resample and move the whole cloud, whose weights and evidence are current, by at most so many moves. */
void hw__smc_move(hw__smc *smc, size_t most);
/* As many as it takes. */
enum { HW__MOVES_AT_WILL = 100 };

/* screen.c: a new reading, about to be inserted. Tells whether it must wait for its successor, and settles what became
 * of the one that waited for this (which may be assimilated on the way). */
bool hw__screen(hw__smc *smc, const hw_reading *reading);

#endif

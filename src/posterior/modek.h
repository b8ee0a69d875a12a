/* Mode K behind hw_method: the operations posterior.c dispatches to. */
#ifndef HW_POSTERIOR_MODEK_H
#define HW_POSTERIOR_MODEK_H

#include "headwater/method.h"
#include "posterior/record.h"
#include "posterior/smc.h"

/* One run of mode K: the particles, the readings waiting to be put in order, and room for what is reported. */
typedef struct {
  hw__smc smc;
  hw__record record;
  bool replayable; /* the record is whole */
  bool replay_due; /* it holds readings that came late and are not taken in yet */
  size_t replayed; /* readings taken in again so far; steady: as if asked after every one */
  size_t duplicates, conflicts;
  hw_sample *samples;
  hw__scratch sorting;
  hw__passage *passages; /* one block */
  hw_suspicion *suspicions;
  hw_arrival *arrivals;
  hw_region regions[HW__MOST_REGIONS];
  hw__warnings warnings;
} hw__modek;

/* Status: HW_EHYDRAULICS, HW_EDOMAIN for more than 10,000,000 particles, HW_ENOMEM. */
hw_status hw__modek_create(const hw_problem *problem, const hw_options *options, void **state);
/* Status: HW_EDOMAIN for a time beyond 1e12 s or a concentration beyond 1e12 g/m3 in size. */
hw_status hw__modek_observe(void *state, const hw_reading *reading);
hw_status hw__modek_estimate(void *state, hw_estimate *out);
void hw__modek_destroy(void *state);
hw_status hw__modek_samples(void *state, hw_sample *out, size_t capacity, size_t *count);
hw_status hw__modek_predict(void *state, const hw_prediction *prediction);

/* Replay if due, and settle the weights: before anything is reported. */
void hw__modek_ready(hw__modek *k);
size_t hw__modek_bytes(const hw__modek *k);
/* The block picked for forecasts: `proposal`, and a mass drawn for each. */
void hw__modek_pick(hw__modek *k, double *mass);
/* warn.c: what to tell beside the answer, from that block. Returned: mean squared misfit of the readings kept. */
double hw__modek_warn(hw__modek *k, const double *mass, bool provisional);

#endif

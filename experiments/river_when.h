/* What it is worth to know about when: every release once more, with the time of release known within a share of its
 * age at the first sensor. */
#ifndef EXPERIMENTS_RIVER_WHEN_H
#define EXPERIMENTS_RIVER_WHEN_H

#include "calibration.h"
#include "population_fit.h"

/* Errors of the place and widths of its 90 % interval, in distances to the first sensor, over `cases`. */
typedef struct {
  size_t cases;
  double error[512], width[512];
} place_errors;

/* share: standard deviation of the time stated, over the age at the first sensor's peak; 0: nothing is known of it.
 * What is stated errs by the quantiles of its own normal distribution, five of them a release. */
void study_when(const release *r, const hw__population *population, double share, calibration *score,
                place_errors *errors);

#endif

/* Calibration on more cases than releases: every subset of a release's sensors, as if the others had not been there. */
#ifndef EXPERIMENTS_RIVER_SUBSETS_H
#define EXPERIMENTS_RIVER_SUBSETS_H

#include "population_fit.h"

/* Sums over cases, each release counting once however many subsets it has. Scores are of ln distance from the first
 * sensor of the subset; smaller is better. */
typedef struct {
  size_t cases;
  double weight;
  double hold50, hold80, hold90, hold98; /* central intervals that hold the true place */
  double crps;                           /* continuous ranked probability score */
  double interval90;                     /* interval score of the 90 % interval */
  double log_score;                      /* -ln density at the truth */
} calibration;

/* Subsets of one sensor go to *single, of several to *several. Velocity and dispersion unknown, all readings. */
void study_subsets(const release *r, const hw__population *population, calibration *single, calibration *several);

#endif

/* Calibration on more cases than releases: every subset of a release's sensors, as if the others had not been there. */
#ifndef EXPERIMENTS_RIVER_SUBSETS_H
#define EXPERIMENTS_RIVER_SUBSETS_H

#include "calibration.h"
#include "population_fit.h"

/* Subsets of one sensor go to *single, of several to *several; a release counts once however many it has. Velocity and
 * dispersion unknown, all readings. */
void study_subsets(const release *r, const hw__population *population, calibration *single, calibration *several);

#endif

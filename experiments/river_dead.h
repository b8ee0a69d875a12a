/* One sensor that reads nothing while the pulse goes past it. */
#ifndef EXPERIMENTS_RIVER_DEAD_H
#define EXPERIMENTS_RIVER_DEAD_H

#include "population_fit.h"

typedef struct {
  double cases, covers, named; /* 90 % intervals that cover the place; warnings that name the sensor */
} dead_sensors;

/* Each sensor of a release with three or more in turn reads zero from beginning to end. */
void study_dead(const release *r, const hw__population *population, dead_sensors *sum);

#endif

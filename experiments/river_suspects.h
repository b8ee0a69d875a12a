/* Is a suspicion of 70 % right seven times of ten? Candidates on real rivers, the guilty one among them or not. */
#ifndef EXPERIMENTS_RIVER_SUSPECTS_H
#define EXPERIMENTS_RIVER_SUSPECTS_H

#include "population_fit.h"

enum { RELIABILITY_BINS = 6 };
extern const double reliability_edges[RELIABILITY_BINS + 1];

/* Every candidate of every set, and "none of these", is one statement. */
typedef struct {
  double said[RELIABILITY_BINS], true_ones[RELIABILITY_BINS], count[RELIABILITY_BINS];
  double sets, guilty_first, none_sets, none_first, innocent_over_80;
} reliability;

/* `sets` times: the true place with probability 0.8, and innocent ones up to five in all, drawn evenly in ln distance
 * from the first sensor as far as the search box goes. */
void study_suspects(const release *r, const hw__population *population, int sets, reliability *sum);

#endif

/* Chance as the weeks use it. */
#ifndef WEEKS_DRAW_H
#define WEEKS_DRAW_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "headwater/rng.h"

static inline double between(hw_rng *rng, double lo, double hi) {
  return lo + (hi - lo) * hw_rng_uniform(rng);
}

static inline double between_log(hw_rng *rng, double lo, double hi) {
  return exp(between(rng, log(lo), log(hi)));
}

static inline bool chance(hw_rng *rng, double share) {
  return hw_rng_uniform(rng) < share;
}

/* The number as a person writes it into a file, so that what the file states is what is true. */
static inline double as_written(double x) {
  char text[32];
  snprintf(text, sizeof text, "%.5g", x);
  return strtod(text, NULL);
}

#endif

/* Does what the field model says of the place agree with the truth, over many cases? */
#ifndef EXPERIMENTS_CALIBRATION_H
#define EXPERIMENTS_CALIBRATION_H

#include "field/engine.h"

/* Weighted sums over cases. Scores are of ln distance from the first sensor; smaller is better. */
typedef struct {
  size_t cases;
  double weight;
  double cover50, cover80, cover90, cover98; /* central intervals that cover the true place */
  double crps;                               /* continuous ranked probability score */
  double interval90;                         /* interval score of the 90 % interval */
  double log_score;                          /* -ln density at the truth */
} calibration;

/* The settled draws of f as one more case; first_m: the place of its most upstream sensor. */
void calibration_add(calibration *sum, const hw__field *f, double first_m, const hw_source *truth, double weight);

/* The cases of *more as one case of weight 1 more. */
void calibration_join(calibration *sum, const calibration *more);

#endif

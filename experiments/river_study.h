/* The questions study_rivers asks of the field model, one function each; every release is judged with
 * constants fitted without its river. */
#ifndef EXPERIMENTS_RIVER_STUDY_H
#define EXPERIMENTS_RIVER_STUDY_H

#include "calibration.h"
#include "population_fit.h"

enum { STUDY_STAGES = 7 };
extern const char *const study_stage_names[STUDY_STAGES];

/* One release at the end of its readings; distances in units of source to first sensor. */
typedef struct {
  double place_error; /* signed: positive is too far downstream */
  double width90;     /* of the place's interval */
  bool covers90, covers50;
  double mass_error;       /* relative, unsigned; NAN when not comparable */
  double first, first_two; /* share of candidate sets with the truth first, or among the first two */
  double log_age_error;
} verdict;

/* Velocity and dispersion unknown, all readings in file order.
 * Candidates: the truth and four decoys drawn uniformly over the search range, `sets` times. */
bool study_judge(const release *r, const hw__population *population, int sets, verdict *out);

/* How often 90 % intervals cover the true place at each stage of the first sensor's pulse, over `velocities`
 * given velocities that err by a lognormal factor of 1.15, the one the river file admits; the median over
 * them of the interval's far end over its near end, as distances; and all of them together in *score. */
bool study_stages(const release *r, const hw__population *population, int velocities, double covers[STUDY_STAGES],
                  double ratio[STUDY_STAGES], calibration *score);

/* After every reading: does the 90 % interval cover the true place? Returned: the share of readings from
 * the moment the second sensor's pulse has fallen to half on, NAN when it never does. */
double study_follow(const release *r, const hw__population *population, hw_estimate *last);

/* From the sensors so far to the next one, as if an intake stood there: how many forecasts were made, and
 * how many 90 % intervals covered the passage of a tenth of the peak, the peak's time and its height. */
typedef struct {
  double made, first, peak_time, peak;
} forecasts;

void study_forecasts(const release *r, const hw__population *population, forecasts *sum);

#endif

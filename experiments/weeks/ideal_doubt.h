/* Doubtful water between a source and the sensors below it, stretch by stretch.
 *
 * With a the mean over a stretch of ln velocity over its median, and b that of ln dispersion,
 *
 *   travel = median travel exp(-a + w_v / 2),   variance = median variance exp(b - 3 a + (9 w_v + w_d) / 2),
 *
 * w being the variance within the stretch. Over the stretches a and b are normal: of s = ln F, 0.64 s^2 is common to
 * all, and 0.36 s^2 has exponential correlation along the river, integrated over the two stretches. */
#ifndef WEEKS_IDEAL_DOUBT_H
#define WEEKS_IDEAL_DOUBT_H

#include "headwater/river.h"

enum { DOUBT_SENSORS = 4 };

/* Mean and variance of the travel time from the source to each sensor. */
typedef struct {
  double travel_s[DOUBT_SENSORS], variance_s2[DOUBT_SENSORS];
} doubt_legs;

/* Given: z, standard normal: for each sensor the velocity's, then for each the dispersion's. Those of sensors above the
 * source are not used, and their legs are 0. */
void doubt_unfold(const hw_river *river, double source_m, const double *z, doubt_legs *out);

/* The z that gives these legs. */
void doubt_fold(const hw_river *river, double source_m, const doubt_legs *legs, double *z);

/* Mean and variance of the travel time from far above to a place, by the medians. */
void median_run(const hw_river *river, double x_m, double *travel_s, double *variance_s2);

#endif

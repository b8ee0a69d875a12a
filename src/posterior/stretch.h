/* The water from one station to the next: what is in doubt of it, and the pulse that it brings there. */
#ifndef HW_POSTERIOR_STRETCH_H
#define HW_POSTERIOR_STRETCH_H

#include "posterior/pulse.h"

/* What is in doubt from one station to the next: factors on velocity and dispersion, and the sensor's gain. */
enum { HW__STEP_V, HW__STEP_D, HW__STEP_GAIN, HW__STEP };

typedef struct {
  double mean[HW__STEP], sd[HW__STEP]; /* prior; sd 0: known */
} hw__step_prior;

/* The curve a step leads to, and how it changes with the step. */
typedef struct {
  double travel_before, variance_before, travel, variance; /* medians of the stretch, common factors in */
  double ln_area, release_s;                               /* area less what has decayed on the way */
  double shape;                                            /* ln of the shape's travel time over the water's */
  double duration;
} hw__stretch;

/* The pulse where the plume has this travel time and variance. */
void hw__stretch_pulse(const hw__stretch *s, double travel, double variance, double y[HW__PULSE_SIZE]);
/* Where the step n leads to. */
void hw__stretch_predict(const hw__stretch *s, const double n[HW__STEP], double *travel, double *variance,
                         double y[HW__PULSE_SIZE]);
/* Sets n to the velocity that brings the pulse there when it was seen: a good place to begin. */
void hw__stretch_begin(const hw__fit *fit, const hw__stretch *s, const hw__step_prior *prior, double n[HW__STEP]);

#endif

/* A Kalman filter that carries the plume down the river, Gaussian given a point of the hypothesis: from station to
 * station travel time, variance and local factors follow the water; at a station its own pulse, to second order, is
 * taken in.
 */
#ifndef HW_POSTERIOR_FILTER_H
#define HW_POSTERIOR_FILTER_H

#include "posterior/stretch.h"

enum { HW__TRAVEL, HW__VARIANCE, HW__OWN_FASTER, HW__OWN_SPREADING, HW__STATE };

/* What is known of the plume where the walk has come to. */
typedef struct {
  double mean[HW__STATE], cov[HW__STATE][HW__STATE];
} hw__plume;

/* The state at the next station, the stretch's step linearised at `about`. */
hw__plume hw__filter_advance(const hw__plume *from, const hw__stretch *s, const hw__step_prior *prior,
                             const double carry[2], const double about[2]);
/* Takes the station's own pulse into the state. Returned: ln of the integral of its likelihood. */
double hw__filter_take_in(const hw__fit *fit, const hw__stretch *s, double gain_sd, double shape_sd, hw__plume *state);

#endif

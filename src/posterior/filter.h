/* A Kalman filter that carries the plume down the river, Gaussian given a point of the hypothesis; four points at a
 * time. From station to station travel time, variance and local factors follow the water; at a station its own pulse,
 * to second order, is taken in.
 */
#ifndef HW_POSTERIOR_FILTER_H
#define HW_POSTERIOR_FILTER_H

#include "core/lanes.h"
#include "posterior/pulse.h"

/* The state: travel time and variance where the walk has come to, local factors (ln) of the last stretch. */
enum { HW__TRAVEL, HW__VARIANCE, HW__OWN_FASTER, HW__OWN_SPREADING, HW__STATE };
enum { HW__COVARIANCES = HW__STATE * (HW__STATE + 1) / 2 };

typedef struct {
  hw__v4 mean[HW__STATE];
  hw__v4 cov[HW__COVARIANCES]; /* of a and b at hw__pair(a, b) */
} hw__plume;

HW__INLINE size_t hw__pair(size_t a, size_t b) {
  return a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
}

/* What else of the points makes their pulse: when they were released, and for how long; ln of area less what has
 * decayed; ln of the shape's travel time over the water's. */
typedef struct {
  hw__v4 release_s, duration_s, ln_area, shape;
} hw__cargo;

/* The water from one station to the next: what it takes at the medians, common factors in, and of its local factors
 * what they keep of the last stretch's and their standard deviation about that. */
typedef struct {
  hw__v4 travel_s, variance_s2;
  hw__v4 carry[2], sd[2];
} hw__stretch;

/* A station's own pulse to second order (hw__quadratic) with its gain and its own asymmetry integrated out. */
typedef struct {
  hw__quadratic near; /* log_at without: */
  double log_room;    /* -ln det / 2 of the integral */
  double most;        /* no curve does better than the sensor's own by much; where the second order says so, it is no
                         longer right */
  double believed;    /* below it the sensor is more likely wrong than right */
} hw__news;

hw__news hw__filter_news(const hw__fit *fit, double gain_sd, double shape_sd, double believed);

/* Carries `state` along the stretch, its step taken as a line about the expected factors. */
void hw__filter_advance(const hw__stretch *s, hw__plume *state);
/* Carries `state` along the stretch and takes in the next station's own pulse; where that is more likely wrong than
 * right nothing is taken from it. *log_likelihood: of its readings. */
void hw__filter_pass(const hw__news *news, const hw__stretch *s, const hw__cargo *cargo, hw__plume *state,
                     hw__v4 *log_likelihood);
/* The likelihood alone, of a plume that is where it is. */
void hw__filter_compare(const hw__news *news, const hw__cargo *cargo, const hw__plume *state, hw__v4 *log_likelihood);

#endif

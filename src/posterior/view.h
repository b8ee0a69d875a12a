/* A sensor's series as the likelihood looks at it: merged to what a pulse's shape can use, with the noise of each
 * point.
 *
 * Near the pulse points lie at most a quarter of its standard deviation apart, further away ever wider. Comparing the
 * mean of a point with the expected curve smeared over the spread of its times is right to second order in its width
 * (a Gaussian's derivative in its variance is half its second derivative in time), and where a point is wider than the
 * pulse it still counts all of what passed. So a million readings cost what forty cost, and say as much as they know.
 */
#ifndef HW_POSTERIOR_VIEW_H
#define HW_POSTERIOR_VIEW_H

#include "headwater/river.h"
#include "posterior/nondetect.h"
#include "posterior/series.h"

enum { HW__VIEW_POINTS = 128 };

typedef struct {
  size_t count;
  double time_s[HW__VIEW_POINTS], spread_s2[HW__VIEW_POINTS];
  double value_g_m3[HW__VIEW_POINTS]; /* background not taken off; limit of a censored one */
  double readings[HW__VIEW_POINTS];   /* how many stand behind it */
  double fixed[HW__VIEW_POINTS];      /* variance of the point's mean that does not follow the signal */
  signed char side[HW__VIEW_POINTS];
  double background_g_m3;      /* as best known */
  double background_precision; /* of what else is known of it; INFINITY: it is known */
  double share, share_level;   /* noise of one reading that follows the signal s: share * s + share_level */
} hw__view;

/* Where a pulse may be: its middle, its standard deviation, and how far from the middle to look as closely. Readings at
 * the end of the sensor's range, clipped_g_m3 (0: not met), say "at least". */
typedef struct {
  double middle_s, width_s, reach_s;
  double clipped_g_m3;
} hw__focus;

/* Merges the series about the focus into at most `most` points (<= HW__VIEW_POINTS); times, values, counts and sides
 * only. */
void hw__view_make(const hw__series *series, const hw__focus *focus, size_t most, hw__view *out);

/* A pulse at a sensor: what the advection-dispersion equation makes of any release, as its passage, width and
 * asymmetry. With theta the travel time and V the temporal variance, T = t - passage + theta,
 *   c = area sqrt(r / (2 pi)) exp(-r (T - theta)^2 / 2 - decay T),  r = theta / (V T). */
typedef struct {
  double passage_s;   /* release + travel time */
  double travel_s;    /* theta */
  double variance_s2; /* V */
  double area_g_s_m3; /* mass / discharge */
  double decay_per_s;
} hw__curve;

double hw__curve_at(const hw__curve *curve, double time_s, double spread_s2);

/* How far one reading can speak against a curve: squared misfits are bounded by it, softly, so that a lone spike cannot
 * overrule a pulse. */
#define HW__LOUDEST 100.0

/* Variance of point i's mean where this signal is expected. */
static inline double hw__view_variance(const hw__view *view, size_t i, double signal) {
  const double following = view->share * signal + view->share_level;
  return view->fixed[i] + following * following / view->readings[i];
}

/* ln likelihood of the view under the curve (NULL: no plume), up to a constant of the view; the background integrated
 * over what is not known of it. The noise is what the curve makes it, so that a higher curve pays for the room it
 * takes. */
double hw__view_log_likelihood(const hw__view *view, const hw__tails *tails, const hw__curve *curve);
/* ln probability of a point's readings on their side of the limit, given the expected signal; <= 0. */
double hw__view_censored(const hw__view *view, size_t i, const hw__tails *tails, double signal);

/* A pulse in the coordinates in which it is nearly Gaussian; the last is ln(width / travel time). */
enum { HW__PASSAGE, HW__LN_VARIANCE, HW__LN_AREA, HW__LN_SKEW, HW__PULSE_SIZE };

hw__curve hw__curve_from(const double y[HW__PULSE_SIZE]);

/* The ln likelihood near a pulse, to second order:
 *   log_at + slope (y - at) - (y - at)' curvature (y - at) / 2,
 * its curvature the expected one (Fisher's), which is never negative. */
typedef struct {
  double at[HW__PULSE_SIZE], slope[HW__PULSE_SIZE], curvature[HW__PULSE_SIZE][HW__PULSE_SIZE];
  double log_at;
} hw__quadratic;

void hw__view_expand(const hw__view *view, const hw__tails *tails, const double at[HW__PULSE_SIZE], hw__quadratic *out);

#endif

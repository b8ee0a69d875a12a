/* A sensor's series as the likelihood looks at it: merged to what a pulse's shape can use, with the noise of each
 * point.
 *
 * Points lie at most a quarter of the pulse's standard deviation apart; where that makes too many of them those far
 * from the pulse are merged further. Readings that lie wider apart stay by themselves: a narrow pulse may have passed
 * between them unseen, and a mean would hide that. The mean of a point is compared with the mean of the expected curve
 * over its times (hw__curve_at). So a million readings cost what some hundred cost, and say as much as they know.
 */
#ifndef HW_POSTERIOR_VIEW_H
#define HW_POSTERIOR_VIEW_H

#include <math.h>

#include "headwater/river.h"
#include "posterior/nondetect.h"
#include "posterior/series.h"

enum { HW__VIEW_POINTS = 256 };

typedef struct {
  size_t count;
  double time_s[HW__VIEW_POINTS], spread_s2[HW__VIEW_POINTS];
  double value_g_m3[HW__VIEW_POINTS]; /* background not taken off; limit of a censored one */
  double readings[HW__VIEW_POINTS];   /* how many stand behind it */
  double fixed[HW__VIEW_POINTS];      /* variance of the point's mean that does not follow the signal */
  signed char side[HW__VIEW_POINTS];
  double background_g_m3;  /* as best known; what is not known of it is integrated about this value */
  double background_prior; /* and precision of what is known of it beforehand; INFINITY: it is known */
  double background_precision;
  bool hidden; /* by a detection limit: it may be anything from 0 to highest_g_m3, where non-detects would not stay
                  below */
  double highest_g_m3;
  double level_from_s, level_to_s; /* when: where it drifts, readings further off tell of another level */
  double share, share_level;       /* noise of one reading that follows the signal s: share * s + share_level */
} hw__view;

/* Flanks reach so many of their standard deviations to either side. */
#define HW__FLANK 4

/* Where a pulse may be: its middle, its standard deviation, and how far from the middle to look as closely; of one that
 * is a plateau also how far from the middle its flanks are, and how wide (0: it has none). Readings at the end of the
 * sensor's range, clipped_g_m3 (0: not met), say "at least". */
typedef struct {
  double middle_s, width_s, reach_s;
  double flank_s, flank_width_s;
  double clipped_g_m3;
  double floor_g_m3, share; /* noise of a reading: lone readings far outside it are not merged with their neighbours */
} hw__focus;

/* Merges the series about the focus into at most HW__VIEW_POINTS points; times, values, counts and sides only. */
void hw__view_make(const hw__series *series, const hw__focus *focus, hw__view *out);

/* A pulse at a sensor: what the advection-dispersion equation makes of any release, as its passage, width and
 * asymmetry. With theta the travel time and V the temporal variance, T = t - passage + theta,
 *   c = area sqrt(r / (2 pi)) exp(-r (T - theta)^2 / 2 - decay T),  r = theta / (V T). */
typedef struct {
  double passage_s;   /* release + travel time */
  double travel_s;    /* theta */
  double variance_s2; /* V */
  double area_g_s_m3; /* mass / discharge */
  double decay_per_s;
  double duration_s; /* of the release; 0: an instant. The passage is that of what was released first */
} hw__curve;

/* The mean of the curve over times about time_s with this variance: of two moments a standard deviation apart from it,
 * which is right to third order. Of a spread wider than HW__APART of the pulse's own variance the rest smears the
 * curve, so that a point wider than the pulse still counts all of what passed. */
#define HW__APART 0.09
double hw__curve_at(const hw__curve *curve, double time_s, double spread_s2);
/* The same of n times. */
void hw__curve_over(const hw__curve *curve, size_t n, const double *time_s, const double *spread_s2, double *out);

/* How far one reading can speak against a curve: a squared misfit x of n readings counts x / sqrt(1 + (x / (n
 * HW__LOUDEST))^2), so that ordinary noise counts in full and a lone spike cannot overrule a pulse. */
#define HW__LOUDEST 30.0

static inline double hw__soft(double square, double readings) {
  const double x = square / (HW__LOUDEST * readings);
  return 1 / sqrt(1 + x * x);
}

/* Variance of point i's mean where this signal is expected. */
static inline double hw__view_variance(const hw__view *view, size_t i, double signal) {
  const double following = view->share * signal + view->share_level;
  return view->fixed[i] + following * following / view->readings[i];
}

/* ln likelihood of the view under the curve (NULL: no plume), up to a constant of the view; the background integrated
 * over what is not known of it. The noise is what the curve makes it, so that a higher curve pays for the room it
 * takes. */
double hw__view_log_likelihood(const hw__view *view, const hw__tails *tails, const hw__curve *curve);
/* Whether a point shares the level that the pulse stands on. */
static inline bool hw__view_on_level(const hw__view *view, size_t i) {
  return view->time_s[i] >= view->level_from_s && view->time_s[i] <= view->level_to_s;
}

/* The background under a point: where it drifts, readings further off stand on that of the quiet times. */
static inline double hw__view_level(const hw__view *view, size_t i) {
  return hw__view_on_level(view, i) ? view->background_g_m3 : view->background_prior;
}

/* A likelihood as the background moves by d from where it is best known: value + slope d - curvature d^2 / 2. */
typedef struct {
  double value, slope, curvature;
} hw__by_level;
/* Point i with this signal: readings on their side of a limit. */
hw__by_level hw__view_censored_by_level(const hw__view *view, size_t i, const hw__tails *tails, double signal);
/* A measured point, without what is known of the background beforehand. */
hw__by_level hw__view_measured_by_level(const hw__view *view, size_t i, double signal);
/* Integrated over the background; `quiet` is the curvature that it has without a plume. */
double hw__view_fold(const hw__view *view, const hw__tails *tails, const hw__by_level *sum, double quiet);
/* Of a hidden background: that it is nothing. */
double hw__view_clean(const hw__view *view, const hw__by_level *sum);
/* All points without a plume. */
hw__by_level hw__view_without(const hw__view *view, const hw__tails *tails, size_t from, size_t to);

/* A pulse in the coordinates in which it is nearly Gaussian: the passage of its middle, ln of its variance as a whole,
 * ln area, ln(width / travel time) of an instant's pulse, and of a release that lasts ln of that pulse's share of the
 * variance, the other part being duration^2 / 12. Of an instant there are the first four; the last is 0. */
enum { HW__PASSAGE, HW__LN_VARIANCE, HW__LN_AREA, HW__LN_SKEW, HW__LN_SHARE, HW__PULSE_SIZE };
enum { HW__INSTANT_SIZE = HW__LN_SHARE };

hw__curve hw__curve_from(const double y[HW__PULSE_SIZE]);
void hw__curve_to(const hw__curve *curve, double y[HW__PULSE_SIZE]);

/* The ln likelihood near a pulse, to second order:
 *   log_at + slope (y - at) - (y - at)' curvature (y - at) / 2,
 * its curvature the expected one (Fisher's), which is never negative. */
typedef struct {
  size_t size; /* HW__INSTANT_SIZE, or HW__PULSE_SIZE where the release lasts */
  double at[HW__PULSE_SIZE], slope[HW__PULSE_SIZE], curvature[HW__PULSE_SIZE][HW__PULSE_SIZE];
  double log_at;
} hw__quadratic;

void hw__view_expand(const hw__view *view, const hw__tails *tails, size_t size, const double at[HW__PULSE_SIZE],
                     hw__quadratic *out);

#endif

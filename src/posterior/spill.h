/* The hypothesis "one release": what the sensors should see of it, and how probable that makes their readings.
 *
 * A point of the hypothesis is a release (mass, place, time) with what is in doubt of the river: common factors on all
 * velocities and dispersions, and one of its own for the water between the source and the anchor, the most upstream
 * sensor that saw the pulse. It is written as (passage at the anchor, ln age there, ln mass, ...), where posteriors are
 * nearly round. Uniform in place and time, log-uniform in mass, lognormal in the factors.
 *
 * Below the anchor each stretch from one sensor to the next has local factors too. They are not coordinates: walking
 * down the river a filter integrates over them (walk.h). So sixty sensors are no harder than two. What two sensors
 * measure of the water between them removes the common part of the doubt about the water above, never the local one.
 *
 * A sensor may be wrong altogether: with a small probability its readings say nothing of the plume. Then they count
 * as little as if its own best curve had been true and that curve an accident.
 */
#ifndef HW_POSTERIOR_SPILL_H
#define HW_POSTERIOR_SPILL_H

#include "headwater/transport.h"
#include "posterior/anneal.h"
#include "posterior/crew.h"
#include "posterior/doubts.h"
#include "posterior/duration.h"
#include "posterior/pulse.h"
#include "river/along.h"

typedef struct {
  size_t sensor;
  double x_m;
  hw__integrals at;
  hw__doubt_sums doubt;
  double per_discharge, per_area; /* area = mass (per_discharge + per_area / velocity factor) */
  double common_v;                /* of the largest common doubt, what the water there has */
  double gain_sd;
  bool suspect; /* by what it shows of its own noise it may well be broken (stations.c) */
  const hw__fit *fit;
  const hw__view *view;
} hw__station;

/* What a point makes of one station. */
typedef struct {
  double travel_s; /* of the water; 0: it does not pass */
  double variance_s2, area_g_s_m3;
  double own_v, own_d;   /* local factors of the stretch above, ln */
  double log_likelihood; /* of its readings, where its own pulse has been taken in; else NAN */
} hw__sight;

/* What a point's coordinates can be (coordinates.h). */
enum {
  HW__AXIS_PASSAGE,
  HW__AXIS_LN_AGE,
  HW__AXIS_LN_MASS,
  HW__AXIS_LN_V, /* common to all water */
  HW__AXIS_LN_D,
  HW__AXIS_OWN_V, /* of the water from the source to the anchor alone */
  HW__AXIS_OWN_D,
  HW__AXIS_SHAPE,
  HW__AXIS_STRAY_V, /* how far a part of that water, above a sensor above the anchor, is from it (walk.c) */
  HW__AXIS_STRAY_D,
  HW__AXIS_LN_DURATION,
  HW__AXES
};

/* Standard deviations of ln velocity and ln dispersion: common to all stretches, and of one place; where reaches differ
 * in it (doubts.h), the largest. */
typedef struct {
  double common_v, common_d, local_v, local_d;
  double shape; /* of ln asymmetry: water that varies along its way skews a pulse otherwise than even water does */
} hw__doubt;

typedef struct {
  const hw_river *river;
  const hw_transport *transport;
  const hw__tails *tails;
  uint64_t seed;
  hw__doubt doubt;
  const hw__doubts *doubts;
  hw__station *station; /* from upstream to downstream */
  size_t count, anchor;
  double eased_v, eased_d; /* local doubt below the anchor beyond the stated one, on the way to it */
  bool many;               /* stations: on the way to the answer pulses are taken in by their second order */
  bool stained;            /* some sensor shows a background: what limits hide elsewhere need not be nothing */
  bool first_look; /* pulses below the anchor are taken as each sensor by itself has them: not those that cannot tell */
  double mass_lo, mass_hi;
  bool open;        /* nobody has seen its end: front and rate are coordinates, not middle and mass */
  bool lasting;     /* the hypothesis is a release that lasts (duration.c) */
  hw__lasting last; /* what is supposed of its duration */
  size_t dims;
  size_t axis[HW__DIMENSIONS]; /* what each coordinate is */
  size_t column[HW__AXES];     /* which coordinate an axis is; HW__DIMENSIONS: none */
  double log_prior;            /* what of it is the same for all points */
  double log_age_lo, log_age_hi;
  bool boxed;            /* time and place themselves are coordinates, as shares of the search box */
  bool anywhere;         /* none of the draws that begin near the pulse is possible: they begin anywhere */
  bool from_pulse;       /* draws begin at points that explain the anchor's pulse, where that can be (near_draws.h) */
  struct hw__walk *walk; /* room for a block of points on its way (walk.h) */
  hw__crew crew;         /* while an answer is worked out: points are evaluated side by side */
} hw__spill;

/* One point with all that follows from it. */
typedef struct {
  bool possible;
  hw_source source;
  double velocity_factor, dispersion_factor; /* from the source to the anchor */
  double log_prior;
  /* used on the way */
  double age_s, ln_v, ln_d, own_v, own_d, shape;
  double stray_v, stray_d; /* in standard deviations */
  double duration_s;
  double apparent_s; /* the age at which an instant's pulse would be as wide */
  hw__integrals at;
  hw__doubt_sums doubt;
  hw__doubt_share above; /* of the stretch from the source to the anchor */
} hw__release;

/* Stations, transport and doubt are set; chooses coordinates for this anchor. */
void hw__spill_anchor(hw__spill *spill, size_t anchor);
hw__target hw__spill_target(hw__spill *spill);

/* ln probability of a station's readings given what its curve came to: the sensor right or wrong. */
double hw__station_log_probability(const hw__station *station, double log_likelihood, double *wrong);
/* The same of n likelihoods, a multiple of four, in their place. */
void hw__station_log_probabilities(const hw__station *station, size_t n, double *log_likelihood);
/* The same without a release. */
double hw__station_log_without(const hw__station *station);
/* The ln likelihood below which the sensor is more likely wrong than right. */
double hw__station_believed(const hw__station *station);
/* The same with a pulse of any kind: the sensor's own, at the price of an accident. */
double hw__station_log_pulse(const hw__station *station);

#endif

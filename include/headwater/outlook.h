/* How well could a source be known where the river's dispersion is not: before any reading.
 *
 * With dispersion unknown there is no Cramer-Rao bound to give (fisher.h): what limits the answer is not the sensors'
 * noise but how much rivers differ. The field model knows that from the rivers it learned from. This is the interval it
 * would give, as ratios to the truth, for a release whose pulses the sensors see whole:
 * the age of a pulse to within the law's scatter, the distance to within that and the velocity's, the mass to within
 * what is lost on the way. Sampling too coarse for the front (fewer than three readings on it) makes it worse.
 */
#ifndef HEADWATER_OUTLOOK_H
#define HEADWATER_OUTLOOK_H

#include "headwater/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t downstream; /* sensors below the source */
  size_t visible;    /* of these, where the pulse would stand out from noise and detection limit */
  double location_m; /* of the first visible sensor; NAN when there is none */
  double travel_s;   /* expected age of the pulse there */
  double lead_s;     /* expected time from a tenth of its peak to its middle: readings must be denser */
  hw_range distance; /* true distance from the first visible sensor times this */
  hw_range age;      /* true age of the pulse there times this */
  hw_range mass;     /* true mass times this; NAN where neither discharge nor area is known */
} hw_outlook;

/* Given:    the river (velocity may be unknown, dispersion is not looked at), the release, level such as 0.9
 * Returned: *out; ranges are NAN when no sensor would see the pulse
 * Status:   HW_EDOMAIN unless 0 < level < 1 and the source is finite with a positive mass; HW_ENOMEM */
hw_status hw_outlook_source(const hw_river *river, const hw_source *source, double level, hw_outlook *out);

/* The parts of it, for whoever asks of many releases and choices of sensors (plan.h). */

/* The pulse of a release at one sensor; all NAN where it would not stand out from noise and detection limit. */
typedef struct {
  double travel_s; /* expected age */
  double lead_s;   /* expected time from a tenth of its peak to its middle */
  hw_range mass;   /* as in hw_outlook, for a release first seen here */
} hw_outlook_passage;

/* Given:    as hw_outlook_source
 * Returned: out[0 .. sensor_count-1]
 * Status:   as hw_outlook_source */
hw_status hw_outlook_passages(const hw_river *river, const hw_source *source, double level, hw_outlook_passage *out);

/* Given:    the sensor that sees the pulse first, and how many see it in all, >= 1
 * Returned: *distance and *age, as in hw_outlook; they do not depend on the release
 * Status:   HW_EDOMAIN unless 0 < level < 1 and the sensor exists; HW_ENOMEM */
hw_status hw_outlook_ranges(const hw_river *river, size_t first, size_t visible, double level, hw_range *distance,
                            hw_range *age);

#ifdef __cplusplus
}
#endif

#endif

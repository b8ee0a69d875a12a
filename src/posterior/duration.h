/* A release that lasts: the curve of an instant's release, taken over a time of equal release.
 *
 * With F the integral of the instant's curve of area 1 up to age T,
 *   F(T) = e^((1 - g) theta^2 / V) / (2 g) (erfc a - e^-a^2 erfcx b),  a, b = (theta -+ g T) / sqrt(2 V T / theta),
 * g = sqrt(1 + 2 k V / theta), k the decay, a release of duration d gives area / d (F(T) - F(T - d)).
 */
#ifndef HW_POSTERIOR_DURATION_H
#define HW_POSTERIOR_DURATION_H

#include "posterior/view.h"

/* Durations that are supposed: half of the probability is an instant's, the rest log-uniform from a minute to
 * three days; none is longer than longest_s allows. Those shorter than shortest_s are as good as an instant and count
 * there. */
typedef struct {
  double shortest_s, longest_s;
  double log_prior;    /* ln density of ln duration, given that it is no instant */
  double per_travel_s; /* variance that a second's travel brings, where the hydraulics have their medians */
} hw__lasting;

/* From the width of a pulse (its standard deviation) and the time in which a release can have been. */
void hw__lasting_set(hw__lasting *lasting, double width_s, double within_s);
/* ln of the odds of a duration against an instant, given the evidence of both. */
double hw__lasting_log_odds(const hw__lasting *lasting, double log_instant, double log_lasting);

/* When a curve of any duration is highest. */
double hw__curve_peak_s(const hw__curve *curve);

#endif

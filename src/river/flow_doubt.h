/* How far the flow may go from where it was last seen. */
#ifndef HW_RIVER_FLOW_DOUBT_H
#define HW_RIVER_FLOW_DOUBT_H

#include "headwater/estimate.h"

/* m of the river: the velocity follows discharge^m. Where the file does not give it, its doubt as a standard deviation:
 * that of at-a-station exponents about their mean (Leopold and Maddock, USGS Prof. Paper 252, 1953). */
#define HW__VELOCITY_EXPONENT 0.45
#define HW__EXPONENT_DOUBT    0.1
double hw__velocity_exponent(const hw_river *river);
double hw__velocity_exponent_sd(const hw_river *river);

/* Of ln discharge as a gauge shows it: a record is called good when 95 % of it is within 10 %. */
#define HW__GAUGE_DOUBT 0.05

/* Gauges that are silent for longer than this leave the flow in doubt, s. */
#define HW__FLOW_SILENCE_S 43200.0

/* Widens a time that lies after the last discharge known, last_s. The discharge is taken to wander: its logarithm has a
 * standard deviation of HW__FLOW_DOUBT_A_DAY sqrt(days), at most HW__FLOW_DOUBT_MOST, over the way that is left. In a
 * silence that another discharge ends, at next_s (INFINITY: none does), it wanders as a bridge between the two. z is
 * the half-width of the interval in standard deviations. Doubts of both kinds add up as squares. */
#define HW__FLOW_DOUBT_A_DAY 0.25
#define HW__FLOW_DOUBT_MOST  0.7
void hw__flow_doubt(hw_range *time_s, double last_s, double next_s, double exponent, double z);

/* The last discharge known before t_s and the one that ends the silence after it, if t_s lies in one; false if not. */
bool hw__flow_silence(const hw_river *river, double t_s, double *last_s, double *next_s);

#endif

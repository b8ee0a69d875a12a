/* How far the flow may go from where it was last seen. */
#ifndef HW_RIVER_FLOW_DOUBT_H
#define HW_RIVER_FLOW_DOUBT_H

#include "headwater/estimate.h"

/* m of the river: the velocity follows discharge^m. */
#define HW__VELOCITY_EXPONENT 0.45
double hw__velocity_exponent(const hw_river *river);

/* Widens a time that lies after the last discharge known, last_s. The discharge is taken to wander: its logarithm has a
 * standard deviation of HW__FLOW_DOUBT_A_DAY sqrt(days), at most HW__FLOW_DOUBT_MOST, over the way that is left. z is
 * the half-width of the interval in standard deviations. Doubts of both kinds add up as squares. */
#define HW__FLOW_DOUBT_A_DAY 0.25
#define HW__FLOW_DOUBT_MOST  0.7
void hw__flow_doubt(hw_range *time_s, double last_s, double exponent, double z);

#endif

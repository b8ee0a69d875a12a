/* A background that follows the day (temperature, light, snow melt, a town's habits) rises and falls as a broad pulse
 * does. Could the day alone have made what a sensor shows?
 */
#ifndef HW_POSTERIOR_CYCLE_H
#define HW_POSTERIOR_CYCLE_H

#include "posterior/pulse.h"

/* Whether a cycle of a day explains the series about as well as the sensor's own pulse does. */
bool hw__cycle_explains(const hw__series *series, const hw__fit *pulse);

#endif

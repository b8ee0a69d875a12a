/* What a sensor's readings scatter by, where the river file leaves it open. */
#ifndef HW_POSTERIOR_NOISE_H
#define HW_POSTERIOR_NOISE_H

#include "headwater/river.h"

/* Standard deviation that does not shrink with the concentration: the sensor's noise_absolute_g_m3 where
 * given; else the larger of a third of its detection limit (a limit is by convention three standard
 * deviations of a blank) and half a per cent of peak_g_m3, the largest concentration it sees. */
double hw__noise_floor(const hw_sensor *sensor, double peak_g_m3);

/* Variance of a reading where `concentration_g_m3` is expected. */
double hw__noise_variance(const hw_sensor *sensor, double floor_g_m3, double concentration_g_m3);

/* Prior standard deviation of a background that is to be learned: `lowest_g_m3` is the smallest reading
 * met, which no background can lie far above. */
double hw__background_spread(double floor_g_m3, double lowest_g_m3);

#endif

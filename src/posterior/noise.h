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

/* Scatter of a sensor's first readings, to set the floor by where the river file gives no absolute noise. Counts only
 * while they look like noise around a level: as soon as they rise it freezes. */
typedef struct {
  double count, mean, squares; /* Welford's sums */
  double steps;                /* sum of squared steps from one reading to the next */
  double falls, fall_count;    /* the same of the downward steps alone */
  double last;
  bool frozen;
} hw__scatter;
void hw__scatter_add(hw__scatter *scatter, double value);
/* From 8 readings on that scatter without trend (von Neumann's ratio within a factor 2 of white noise): their standard
 * deviation. Before, a first idea from the downward steps: ahead of the peak only noise goes down. Else 0. */
double hw__scatter_sd(const hw__scatter *scatter);

#endif

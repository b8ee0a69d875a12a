#include "posterior/noise.h"

#include <math.h>

double hw__noise_floor(const hw_sensor *sensor, double peak_g_m3) {
  if (sensor->noise_absolute_g_m3 > 0) {
    return sensor->noise_absolute_g_m3;
  }
  return fmax(sensor->detection_limit_g_m3 / 3, 0.005 * peak_g_m3);
}

double hw__noise_variance(const hw_sensor *sensor, double floor_g_m3, double concentration_g_m3) {
  const double relative = sensor->noise_relative * fmax(concentration_g_m3, 0);
  return floor_g_m3 * floor_g_m3 + relative * relative;
}

double hw__background_spread(double floor_g_m3, double lowest_g_m3) {
  return 3 * floor_g_m3 + 2 * fmax(lowest_g_m3, 0);
}

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

static double sample_sd(const hw__scatter *s) {
  return s->count > 1 ? sqrt(s->squares / (s->count - 1)) : 0;
}

void hw__scatter_add(hw__scatter *s, double value) {
  if (s->frozen || (s->count >= 6 && value - s->mean > 5 * sample_sd(s))) {
    s->frozen = true;
    return;
  }
  if (s->count > 0) {
    const double step = value - s->last;
    s->steps += step * step;
    s->falls += step < 0 ? step * step : 0;
    s->fall_count += step < 0 ? 1 : 0;
  }
  s->count += 1;
  const double off = value - s->mean;
  s->mean += off / s->count;
  s->squares += off * (value - s->mean);
  s->last = value;
  s->frozen = s->count >= 1000;
}

double hw__scatter_sd(const hw__scatter *s) {
  if (s->count < 8) {
    return s->fall_count > 0 ? sqrt(s->falls / (2 * s->fall_count)) : 0;
  }
  const double ratio = s->steps / (2 * s->squares);
  return ratio > 0.5 && ratio < 2 ? sample_sd(s) : 0;
}

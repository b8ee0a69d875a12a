#include "incidents/detect.h"

#include <math.h>

static const double allowance = 1;  /* a rise of fewer sd than this never counts */
static const double threshold = 12; /* of S */
static const double clip_sd = 5;    /* the most that one reading adds to the sum */
static const double learn_sd = 3;   /* the most that one reading moves the background */
static const double calm_sd = 2;    /* back at the background */
static const uint32_t calm_needed = 3;
static const uint64_t warm_readings = 8;
static const double memory_readings = 400;     /* time constant of the background's memory */
static const uint64_t give_up_readings = 3000; /* an alarm that lasts this long is taken for a new background */
static const double resolution_g_m3 = 1e-6;    /* one nanogram per litre: smaller differences never count */

void hw__detect_init(hw__detector *detector) {
  *detector = (hw__detector){.latest_s = -INFINITY, .onset_s = NAN, .latest_g_m3 = NAN, .background_g_m3 = NAN};
}

/* What the sensor's own data sheet says of noise at this level. */
static double declared_noise(const hw_sensor *sensor, double level_g_m3) {
  const double relative = sensor->noise_relative * level_g_m3;
  const double declared = sqrt(sensor->noise_absolute_g_m3 * sensor->noise_absolute_g_m3 + relative * relative);
  return fmax(declared, sensor->detection_limit_g_m3 / 3);
}

double hw__detect_noise(const hw__detector *detector, const hw_sensor *sensor) {
  if (!isfinite(detector->background_g_m3)) {
    return NAN;
  }
  const double declared = declared_noise(sensor, detector->background_g_m3);
  /* Where nothing is declared, rounding to the sensor's digits alone makes this sd. */
  const double digits_sd = detector->finest_g_m3 / sqrt(12);
  const double floor_sd = fmax(declared > 0 ? declared : digits_sd, resolution_g_m3);
  /* An sd learned from few readings may be far too small; allow for that until there are many. */
  const double doubt = 1 + 8.0 / (double)(detector->learned + 1);
  return fmax(floor_sd, sqrt(detector->variance) * doubt);
}

static hw__detection start(hw__detector *d, const hw_sensor *sensor, double c) {
  const bool told = isfinite(sensor->background_g_m3);
  d->background_g_m3 = told ? sensor->background_g_m3 : c;
  d->variance = 0;
  d->covariance = 0;
  d->residual = 0;
  d->sum = 0;
  d->onset_s = d->latest_s;
  d->learned = 1;
  /* A first reading that is zero within the declared noise: the background is zero. */
  if (told || c <= 3 * declared_noise(sensor, 0)) {
    d->learned = warm_readings;
  }
  return d->learned >= warm_readings ? HW_DETECT_QUIET : HW_DETECT_LEARNING;
}

static void learn(hw__detector *d, double c, double noise) {
  const bool warm = d->learned >= warm_readings;
  const double limit = warm ? learn_sd * noise : INFINITY;
  const double residual = fmax(-limit, fmin(limit, c - d->background_g_m3));
  const double share = 1 / fmin((double)d->learned + 1, memory_readings);
  d->variance += share * (residual * residual - d->variance);
  d->covariance += share * (residual * d->residual - d->covariance);
  d->background_g_m3 += share * residual;
  d->residual = residual;
  d->learned++;
}

static double standard_score(const hw__detector *d, double c, double noise) {
  const double rho = d->variance > 0 ? fmin(0.95, fmax(0, d->covariance / d->variance)) : 0;
  return (c - d->background_g_m3) / noise * sqrt((1 - rho) / (1 + rho));
}

static hw__detection in_alarm(hw__detector *d, const hw_sensor *sensor, double c, double z) {
  d->alarm_readings++;
  d->calm = z < calm_sd ? d->calm + 1 : 0;
  if (d->alarm_readings > give_up_readings) {
    d->alarm = 0;
    start(d, sensor, c);
    return HW_DETECT_CLEARED;
  }
  if (d->calm < calm_needed) {
    return HW_DETECT_ALARM;
  }
  d->alarm = 0;
  d->sum = 0;
  d->residual = 0;
  d->onset_s = d->latest_s;
  return HW_DETECT_CLEARED;
}

hw__detection hw__detect_step(hw__detector *d, const hw_sensor *sensor, double time_s, double concentration_g_m3,
                              bool below_limit) {
  if (!(time_s > d->latest_s)) {
    return HW_DETECT_LATE;
  }
  const bool first = d->readings == 0;
  if (!first) {
    d->interval_s += (time_s - d->latest_s - d->interval_s) / fmin((double)d->readings, 20);
  }
  d->latest_s = time_s;
  d->latest_g_m3 = concentration_g_m3;
  d->readings++;
  /* "Less than the limit" counts as no higher than the background. */
  double c = concentration_g_m3;
  if (below_limit) {
    c = first ? 0 : fmin(c, d->background_g_m3);
  }
  const double change = first ? 0 : fabs(c - d->previous_g_m3);
  d->previous_g_m3 = c;
  if (change > 0 && (change < d->finest_g_m3 || d->finest_g_m3 <= 0)) {
    d->finest_g_m3 = change;
  }
  if (first) {
    return start(d, sensor, c);
  }
  const double noise = hw__detect_noise(d, sensor);
  if (d->learned < warm_readings) {
    learn(d, c, noise);
    return d->learned < warm_readings ? HW_DETECT_LEARNING : HW_DETECT_QUIET;
  }
  const double z = standard_score(d, c, noise);
  if (d->alarm) {
    return in_alarm(d, sensor, c, z);
  }
  const double sum = d->sum + fmin(z, clip_sd) - allowance;
  d->sum = fmax(0, sum);
  if (sum <= 0) {
    d->onset_s = time_s;
  }
  if (d->sum > threshold) {
    d->alarm = 1;
    d->alarm_readings = 1;
    d->calm = 0;
    return HW_DETECT_RAISED;
  }
  /* Not while a rise builds up: it would be learned as background. */
  if (d->sum < threshold / 2) {
    learn(d, c, noise);
  }
  return HW_DETECT_QUIET;
}

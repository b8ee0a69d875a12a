/* A sensor that was read once or twice, a grab sample: nobody sees a pulse by it. Its readings are compared with the
 * pulse that a draw brings there, through their own noise, the misfit of the pulse's shape and what is not known of the
 * background. A sample may be mistaken: then it says nothing. */
#include <math.h>

#include "field/engine.h"

/* Readings that can tell a background. */
enum { FEWEST = 3 };

/* One sample in thirty has nothing to do with the pulse and reads anything up to some times what it does. */
static const double mistaken = 1.0 / 30, anything = 10;

bool hw__field_is_grab(const hw__field *f, size_t sensor) {
  const size_t count = f->trace[sensor].count;
  return count > 0 && count < FEWEST && !hw__field_is_pulse(f, sensor);
}

void hw__field_count_grabs(hw__field *f) {
  f->grabs = 0;
  f->level_g_m3 = 0;
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    f->grabs += hw__field_is_grab(f, s);
    f->level_g_m3 = f->trace[s].count >= FEWEST ? fmax(f->level_g_m3, f->trace[s].background_g_m3) : f->level_g_m3;
  }
}

static double log_normal_below(double z) {
  return log(fmax(0.5 * erfc(-z / M_SQRT2), 1e-300));
}

/* Known, or somewhere up to what the river shows elsewhere. */
typedef struct {
  double mean, sd;
} level;

static level level_of(const hw__field *f, const hw_sensor *sensor) {
  const bool given = !isnan(sensor->background_g_m3);
  return given ? (level){sensor->background_g_m3, 0} : (level){0.5 * f->level_g_m3, 0.3 * f->level_g_m3};
}

/* ln density of one reading where the pulse brings this much of its height. */
static double log_density(const hw__field *f, const hw_sensor *sensor, const hw__entry *read, double signal,
                          double height) {
  const level b = level_of(f, sensor);
  const double declared = fmax(sensor->noise_absolute_g_m3, sensor->detection_limit_g_m3 / 2);
  const double floor = fmax(fmax(declared, 0.02 * height), 1e-12), shape = f->population.shape_noise;
  const double share = sensor->noise_relative * (b.mean + signal);
  const double variance = floor * floor + share * share + shape * shape * height * signal + b.sd * b.sd;
  const double z = (read->value_g_m3 - b.mean - signal) / sqrt(variance);
  return read->below_limit ? log_normal_below(z)
         : read->clipped   ? log_normal_below(-z)
                           : -0.5 * z * z - 0.5 * log(2 * M_PI * variance);
}

double hw__field_grab_weight(const hw__field *f, size_t index, size_t sensor, double *wrong) {
  const hw__trace *trace = &f->trace[sensor];
  const hw_sensor *at = &f->river->sensors[sensor];
  hw__pulse pulse;
  const bool comes = hw__field_pulse_at(f, index, at->location_m, &pulse);
  const double first = f->trace[f->pulse_sensor[0]].height_g_m3;
  double right = log(1 - mistaken), other = log(mistaken);
  for (size_t i = 0; i < trace->count; i++) {
    const hw__entry *read = &trace->entry[i];
    const double signal = comes ? hw__pulse_height_at(f, &pulse, read->time_s) : 0;
    right += log_density(f, at, read, signal, comes ? pulse.height_g_m3 : 0);
    other -= read->below_limit || read->clipped ? M_LN2 : log(anything * fmax(read->value_g_m3, 0.02 * first));
  }
  const double most = fmax(right, other), both = most + log(exp(right - most) + exp(other - most));
  if (wrong) {
    *wrong = exp(other - both);
  }
  return both;
}

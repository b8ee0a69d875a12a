#include "posterior/warnings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "posterior/summary.h"

void hw__warnings_clear(hw__warnings *warnings) {
  warnings->count = 0;
}

void hw__warn(hw__warnings *warnings, const char *format, ...) {
  if (warnings->count == HW__WARNING_COUNT) {
    return;
  }
  char *text = warnings->text[warnings->count];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, HW__WARNING_SIZE, format, arguments);
  va_end(arguments);
  warnings->pointers[warnings->count++] = text;
}

static void warn_side(hw__warnings *warnings, const hw_sample *samples, size_t n, hw__sample_part part, double lo,
                      double hi, const char *what) {
  double total = 0, mean = 0, square = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = part(&samples[i]) - lo;
    total += samples[i].weight;
    mean += samples[i].weight * x;
    square += samples[i].weight * x * x;
  }
  mean /= total;
  const double shell = 0.33 * sqrt(fmax(square / total - mean * mean, 0));
  if (!(shell > 0)) {
    return;
  }
  double low = 0, high = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = part(&samples[i]);
    low += x < lo + shell ? samples[i].weight / total : 0;
    high += x > hi - shell ? samples[i].weight / total : 0;
  }
  const double much = fmax(0.06, 2.5 * shell / (hi - lo));
  if (low > much) {
    hw__warn(warnings, "the answer leans on the lower end of the search box for %s (%g): the source may lie below it",
             what, lo);
  }
  if (high > much) {
    hw__warn(warnings, "the answer leans on the upper end of the search box for %s (%g): the source may lie above it",
             what, hi);
  }
}

void hw__warn_box(hw__warnings *warnings, const hw_box *box, const hw_sample *samples, size_t n) {
  warn_side(warnings, samples, n, hw__sample_mass, box->lo.mass_g, box->hi.mass_g, "mass_g");
  warn_side(warnings, samples, n, hw__sample_location, box->lo.location_m, box->hi.location_m, "location_m");
  warn_side(warnings, samples, n, hw__sample_time, box->lo.time_s, box->hi.time_s, "time_s");
}

void hw__warn_incomplete(hw__warnings *warnings, bool provisional) {
  if (provisional) {
    hw__warn(warnings, "no sensor has yet seen the pulse fall to half its peak: the answer is provisional");
  }
}

void hw__warn_never_rose(hw__warnings *warnings, const hw_sensor *sensor) {
  hw__warn(warnings, "sensor %s never rose above its %s", sensor->id,
           sensor->detection_limit_g_m3 > 0 ? "detection limit" : "background");
}

void hw__warn_spike(hw__warnings *warnings, const hw_sensor *sensor, size_t count, double last_s, double last_g_m3) {
  if (count == 1) {
    hw__warn(warnings, "sensor %s: a lone reading of %g g/m3 at %.0f s fits neither neighbour and was set aside",
             sensor->id, last_g_m3, last_s);
  } else if (count > 1) {
    hw__warn(warnings,
             "sensor %s: %zu lone readings fit neither neighbour and were set aside, the last of %g g/m3 at %.0f s",
             sensor->id, count, last_g_m3, last_s);
  }
}

void hw__warn_misfit(hw__warnings *warnings, double ratio, bool allowed) {
  hw__warn(warnings, "the model does not fit: the readings differ from it by %.1f times the stated noise, %s", ratio,
           allowed ? "which is taken for noise: the intervals are too narrow if it is not"
                   : "so the intervals are too narrow");
}

void hw__warn_contradiction(hw__warnings *warnings, const hw_sensor *sensor, double ratio) {
  hw__warn(warnings, "sensor %s contradicts the others: it reads %.2g times what they imply", sensor->id, ratio);
}

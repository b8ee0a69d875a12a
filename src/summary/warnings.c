#include "summary/warnings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "summary/summary.h"

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

/* Shares of the samples within a third of their standard deviation of either side. */
typedef struct {
  bool low, high;
} cut_off;

static cut_off cut_off_by(const hw_sample *samples, size_t n, hw__sample_part part, double lo, double hi) {
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
    return (cut_off){false, false};
  }
  double low = 0, high = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = part(&samples[i]);
    low += x < lo + shell ? samples[i].weight / total : 0;
    high += x > hi - shell ? samples[i].weight / total : 0;
  }
  const double much = fmax(0.06, 2.5 * shell / (hi - lo));
  return (cut_off){low > much, high > much};
}

void hw__warn_box(hw__warnings *warnings, const hw_box *box, const hw_sample *samples, size_t n) {
  const hw_source lo = box->lo, hi = box->hi;
  const cut_off mass = cut_off_by(samples, n, hw__sample_mass, lo.mass_g, hi.mass_g);
  const cut_off place = cut_off_by(samples, n, hw__sample_location, lo.location_m, hi.location_m);
  const cut_off time = cut_off_by(samples, n, hw__sample_time, lo.time_s, hi.time_s);
  if (mass.low) {
    hw__warn(warnings, "the release may be smaller than %g g, where the search ends", lo.mass_g);
  }
  if (mass.high) {
    hw__warn(warnings, "the release may be larger than %g g, where the search ends", hi.mass_g);
  }
  if (place.low) {
    hw__warn(warnings, "the source may lie further upstream than km %.2f, where the search ends", lo.location_m / 1000);
  }
  if (place.high) {
    hw__warn(warnings, "the source may lie further downstream than km %.2f, where the search ends",
             hi.location_m / 1000);
  }
  if (time.low) {
    hw__warn(warnings, "the release may be earlier than the search in time begins");
  }
  if (time.high) {
    hw__warn(warnings, "the release may be later than the search in time ends");
  }
}

void hw__warn_incomplete(hw__warnings *warnings, bool provisional) {
  if (provisional) {
    hw__warn(warnings,
             "no sensor has yet seen the pulse fall to half its peak: the answer is provisional, and the release may "
             "still go on");
  }
}

void hw__warn_never_rose(hw__warnings *warnings, const hw_sensor *sensor, double level_g_m3) {
  const double limit = sensor->detection_limit_g_m3;
  hw__warn(warnings, "sensor %s never rose above its %s", sensor->id,
           limit > 0 && !(level_g_m3 > limit) ? "detection limit" : "background");
}

void hw__warn_spike(hw__warnings *warnings, const hw_sensor *sensor, size_t count, double last_s, double last_g_m3) {
  if (count == 1) {
    hw__warn(
        warnings,
        "sensor %s: a lone reading of %g g/m3 at %.0f s fits neither the pulse nor the level and counts for little",
        sensor->id, last_g_m3, last_s);
  } else if (count > 1) {
    hw__warn(warnings,
             "sensor %s: %zu lone readings fit neither the pulse nor the level and count for little, the last of %g "
             "g/m3 at %.0f s",
             sensor->id, count, last_g_m3, last_s);
  }
}

#include "river_subsets.h"

#include <math.h>

enum { SENSORS_MOST = 16 };

/* The release as the sensors in `kept` (a bit each) saw it. */
static void judge_subset(const release *r, unsigned kept, const hw__population *population, double weight,
                         calibration *out) {
  hw_sensor sensors[SENSORS_MOST];
  size_t index[SENSORS_MOST] = {0}, n = 0;
  double first = INFINITY;
  for (size_t s = 0; s < r->river.sensor_count; s++) {
    if (kept >> s & 1) {
      index[s] = n;
      sensors[n++] = r->river.sensors[s];
      first = fmin(first, r->river.sensors[s].location_m);
    }
  }
  hw_river river = r->river; /* a shallow copy: only the sensors are its own */
  river.sensors = sensors;
  river.sensor_count = n;
  hw__field *f = field_on(&river, population);
  if (!f) {
    return;
  }
  for (size_t i = 0; i < r->count; i++) {
    hw_reading reading = r->readings[i];
    if (kept >> reading.sensor & 1) {
      reading.sensor = index[reading.sensor];
      (void)hw__field_observe(f, &reading);
    }
  }
  hw__field_settle(f);
  calibration_add(out, f, first, &r->truth, weight);
  hw__field_destroy(f);
}

void study_subsets(const release *r, const hw__population *population, calibration *single, calibration *several) {
  const size_t n = r->river.sensor_count;
  if (n > SENSORS_MOST) {
    return;
  }
  const double all = (double)((1u << n) - 1), ones = (double)n;
  for (unsigned kept = 1; kept < 1u << n; kept++) {
    const bool one = (kept & (kept - 1)) == 0;
    judge_subset(r, kept, population, 1 / (one ? ones : all - ones), one ? single : several);
  }
}

#include "river_subsets.h"

#include <math.h>

enum { SENSORS_MOST = 16 };

/* The search box as the releases' files have it, for whichever sensor now comes first: ten distances and ten times of
 * the peak up from the truth, and down to a metre above the sensor and a second before a tenth of the peak passed. A
 * box made for a sensor that is not there would give the answer away. */
static hw_box box_for(const release *r, size_t first) {
  double peak = 0, peak_s = 0, front_s = INFINITY;
  for (size_t i = 0; i < r->count; i++) {
    const hw_reading *reading = &r->readings[i];
    if (reading->sensor == first && reading->concentration_g_m3 > peak) {
      peak = reading->concentration_g_m3;
      peak_s = reading->time_s;
    }
  }
  for (size_t i = 0; i < r->count; i++) {
    const hw_reading *reading = &r->readings[i];
    if (reading->sensor == first && reading->concentration_g_m3 >= 0.1 * peak) {
      front_s = fmin(front_s, reading->time_s);
    }
  }
  const double place = r->river.sensors[first].location_m, distance = place - r->truth.location_m;
  hw_box box = r->river.search;
  box.lo.location_m = r->truth.location_m - 10 * distance;
  box.hi.location_m = place - 1;
  box.lo.time_s = r->truth.time_s - 10 * (peak_s - r->truth.time_s);
  box.hi.time_s = front_s - 1;
  return box;
}

/* The release as the sensors in `kept` (a bit each) saw it. */
static void judge_subset(const release *r, unsigned kept, const hw__population *population, double weight,
                         calibration *out) {
  hw_sensor sensors[SENSORS_MOST];
  size_t index[SENSORS_MOST] = {0}, n = 0, nearest = 0;
  double first = INFINITY;
  for (size_t s = 0; s < r->river.sensor_count; s++) {
    if (kept >> s & 1) {
      index[s] = n;
      sensors[n++] = r->river.sensors[s];
      nearest = r->river.sensors[s].location_m < first ? s : nearest;
      first = fmin(first, r->river.sensors[s].location_m);
    }
  }
  hw_river river = r->river; /* a shallow copy: only the sensors and the box are its own */
  river.sensors = sensors;
  river.sensor_count = n;
  river.search = box_for(r, nearest);
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

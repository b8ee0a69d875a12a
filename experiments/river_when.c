#include "river_when.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static size_t first_sensor(const hw_river *river) {
  size_t first = 0;
  for (size_t s = 1; s < river->sensor_count; s++) {
    first = river->sensors[s].location_m < river->sensors[first].location_m ? s : first;
  }
  return first;
}

static double peak_time(const release *r, size_t sensor) {
  double peak = 0, time = NAN;
  for (size_t i = 0; i < r->count; i++) {
    if (r->readings[i].sensor == sensor && r->readings[i].concentration_g_m3 > peak) {
      peak = r->readings[i].concentration_g_m3;
      time = r->readings[i].time_s;
    }
  }
  return time;
}

void study_when(const release *r, const hw__population *population, double share, calibration *score,
                place_errors *errors) {
  const size_t first = first_sensor(&r->river);
  const double place = r->river.sensors[first].location_m, distance = place - r->truth.location_m;
  const int times = share > 0 ? 5 : 1;
  for (int k = 0; k < times; k++) {
    hw_river river = r->river; /* a shallow copy: only what is known of the time differs */
    if (share > 0) {
      const double sd = share * (peak_time(r, first) - r->truth.time_s);
      river.when = (hw_when){r->truth.time_s + sd * gsl_cdf_ugaussian_Pinv((k + 0.5) / times), sd};
    }
    hw__field *f = field_on(&river, population);
    if (!f) {
      return;
    }
    field_read(f, r);
    hw_estimate e;
    if (hw__field_estimate(f, &e) == HW_OK && errors->cases < 512) {
      errors->error[errors->cases] = fabs(e.source.location_m - r->truth.location_m) / distance;
      errors->width[errors->cases++] = (e.interval.hi.location_m - e.interval.lo.location_m) / distance;
      calibration_add(score, f, place, &r->truth, 1.0 / times);
    }
    hw__field_destroy(f);
  }
}

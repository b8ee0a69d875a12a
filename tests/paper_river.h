/* The paper's river (section 5): the Truckee with its stated hydraulics, four sensors, its search box and
 * its source; and artificial readings there, eq. (1) plus noise. */
#ifndef HW_TESTS_PAPER_RIVER_H
#define HW_TESTS_PAPER_RIVER_H

#include <stdio.h>
#include <stdlib.h>

#include "headwater/headwater.h"

static const hw_source paper_truth = {1300, -22106, -215 * 60.0};

static inline hw_river paper_river(void) {
  static const double places_m[] = {-14210.5, 0, 14339.3, 21999.7};
  hw_river river;
  hw_river_init(&river);
  snprintf(river.name, sizeof river.name, "Truckee");
  river.hydraulics.velocity_m_s = (hw_quantity){HW_KNOWN, 80 / 60.0, 1};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_KNOWN, 2430 / 60.0, 1};
  river.hydraulics.area_m2 = 60;
  river.hydraulics.decay_per_s = 1e-8 / 60;
  river.search = (hw_box){{1000, -30000, -400 * 60.0}, {3000, -15000, -146 * 60.0}};
  river.sensors = calloc(4, sizeof *river.sensors);
  river.sensor_count = 4;
  for (size_t i = 0; i < 4; i++) {
    hw_sensor_init(&river.sensors[i]);
    snprintf(river.sensors[i].id, sizeof river.sensors[i].id, "s%zu", i + 1);
    river.sensors[i].location_m = places_m[i];
  }
  return river;
}

/* `per_sensor` readings over each sensor's window, one sensor after the other; noise is relative.
 * Returned: how many; *out to be freed. */
static inline size_t paper_readings(const hw_river *river, size_t per_sensor, double noise, uint64_t seed,
                                    hw_reading **out) {
  static const double window_min[4][2] = {{-145, -92}, {-70, 100}, {55, 319}, {240, 433}};
  hw_transport *transport = NULL;
  hw_rng rng;
  hw_rng_seed(&rng, seed, 0);
  *out = calloc(4 * per_sensor, sizeof **out);
  if (hw_transport_create(river, NULL, &transport) != HW_OK || !*out) {
    abort();
  }
  for (size_t i = 0; i < 4 * per_sensor; i++) {
    const size_t sensor = i / per_sensor;
    const double share = (double)(i % per_sensor) / (double)(per_sensor - 1);
    const double time_s = 60 * (window_min[sensor][0] + share * (window_min[sensor][1] - window_min[sensor][0]));
    double c = 0;
    hw_transport_concentration(transport, &paper_truth, river->sensors[sensor].location_m, time_s, &c);
    (*out)[i] = (hw_reading){.sensor = sensor, .time_s = time_s};
    (*out)[i].concentration_g_m3 = c * (1 + noise * hw_rng_normal(&rng));
  }
  hw_transport_free(transport);
  return 4 * per_sensor;
}

#endif

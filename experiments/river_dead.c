#include "river_dead.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const hw_estimate *e, const char *id) {
  char words[HW_ID_SIZE + 32];
  snprintf(words, sizeof words, "sensor %s stayed quiet", id);
  for (size_t i = 0; i < e->warning_count; i++) {
    if (strstr(e->warnings[i], words)) {
      return true;
    }
  }
  return false;
}

/* The box must not give away that the source is above a dead first sensor. */
static double lowest_allowed(const hw_river *river, size_t dead) {
  double place = INFINITY;
  for (size_t s = 0; s < river->sensor_count; s++) {
    place = s == dead ? place : fmin(place, river->sensors[s].location_m);
  }
  return place - 1;
}

void study_dead(const release *r, const hw__population *population, dead_sensors *sum) {
  for (size_t dead = 0; dead < r->river.sensor_count && r->river.sensor_count > 2; dead++) {
    hw_river river = r->river; /* a shallow copy: only the box differs */
    river.search.hi.location_m = lowest_allowed(&river, dead);
    hw__field *f = field_on(&river, population);
    if (!f) {
      return;
    }
    for (size_t i = 0; i < r->count; i++) {
      hw_reading reading = r->readings[i];
      reading.concentration_g_m3 *= reading.sensor == dead ? 0 : 1;
      (void)hw__field_observe(f, &reading);
    }
    hw_estimate e;
    if (hw__field_estimate(f, &e) == HW_OK) {
      sum->cases++;
      sum->covers += e.interval.lo.location_m <= r->truth.location_m && r->truth.location_m <= e.interval.hi.location_m;
      sum->named += is_named(&e, river.sensors[dead].id);
    }
    hw__field_destroy(f);
  }
}

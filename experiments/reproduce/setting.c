#include "experiments/reproduce/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double minute_s = 60;
const hw_source hw_paper_truth = {1300, -22106, -215 * 60.0};
const hw_source hw_paper_start = {1500, -10000, -205 * 60.0};

enum { SENSORS = 4 };
static const double places_m[SENSORS] = {-14210.5, 0, 14339.3, 21999.7};
static const double window_min[SENSORS][2] = {{-145, -92}, {-70, 100}, {55, 319}, {240, 433}};

hw_status hw_paper_river(hw_river *out) {
  hw_river river;
  hw_river_init(&river);
  snprintf(river.name, sizeof river.name, "Truckee River, hydraulics as the paper states them");
  river.hydraulics.velocity_m_s = (hw_quantity){HW_KNOWN, 80 / minute_s, 1};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_KNOWN, 2430 / minute_s, 1};
  river.hydraulics.area_m2 = 60;
  river.hydraulics.decay_per_s = 1e-8 / minute_s;
  river.search = (hw_box){{1000, -30000, -400 * minute_s}, {3000, -10000, -145 * minute_s}};
  river.sensors = calloc(SENSORS, sizeof *river.sensors);
  if (!river.sensors) {
    return HW_ENOMEM;
  }
  river.sensor_count = SENSORS;
  for (size_t i = 0; i < SENSORS; i++) {
    hw_sensor_init(&river.sensors[i]);
    snprintf(river.sensors[i].id, sizeof river.sensors[i].id, "s%zu", i + 1);
    river.sensors[i].location_m = places_m[i];
  }
  *out = river;
  return HW_OK;
}

/* By time, then by sensor: an order that does not depend on the sort. */
static int by_time(const void *a, const void *b) {
  const hw_reading *x = a, *y = b;
  const int time = (x->time_s > y->time_s) - (x->time_s < y->time_s);
  return time ? time : (x->sensor > y->sensor) - (x->sensor < y->sensor);
}

hw_status hw_paper_artificial(const hw_river *river, size_t count, hw_reading **out) {
  hw_transport *transport = NULL;
  hw_status status = hw_transport_create(river, NULL, &transport);
  if (status != HW_OK) {
    return status;
  }
  size_t all = 0, made = 0;
  for (size_t s = 0; s < SENSORS; s++) {
    all += (size_t)(2 * (window_min[s][1] - window_min[s][0])) + 1;
  }
  hw_reading *readings = calloc(all, sizeof *readings);
  for (size_t s = 0; readings && s < SENSORS; s++) {
    const size_t here = (size_t)(2 * (window_min[s][1] - window_min[s][0])) + 1;
    for (size_t i = 0; i < here; i++, made++) {
      hw_reading *r = &readings[made];
      r->sensor = s;
      r->time_s = minute_s * (window_min[s][0] + 0.5 * (double)i);
      hw_transport_concentration(transport, &hw_paper_truth, places_m[s], r->time_s, &r->concentration_g_m3);
    }
  }
  hw_transport_free(transport);
  if (!readings) {
    return HW_ENOMEM;
  }
  qsort(readings, all, sizeof *readings, by_time);
  for (size_t i = 0; i < count; i++) {
    readings[i] = readings[i * all / count];
  }
  *out = readings;
  return HW_OK;
}

hw_status hw_paper_real(const hw_river *river, const char *data_dir, hw_reading **out, size_t *count, hw_error *error) {
  enum { MOST = 10000 };
  char path[1024];
  hw_reader *reader = NULL;
  snprintf(path, sizeof path, "%s/truckee/readings.csv", data_dir);
  if (access(path, F_OK) != 0) { /* told apart from a file that is at fault: the rest can do without */
    snprintf(error->text, sizeof error->text, "%.400s: not there, expected the field data", path);
    return HW_EIO;
  }
  hw_reading *readings = NULL;
  size_t n = 0;
  hw_status status = hw_reader_open(path, river, &reader, error);
  if (status == HW_OK) {
    status = hw_reader_rest(reader, MOST, &readings, &n, error);
  }
  hw_reader_free(reader);
  if (status != HW_OK) {
    return status;
  }
  if (n) {
    qsort(readings, n, sizeof *readings, by_time);
  }
  *out = readings;
  *count = n;
  return HW_OK;
}

/* What Prometheus may follow of the rivers themselves: sensors, open incidents, and what they mean to the intakes.
 * Apart from /metrics, for a service may have thousands of sensors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/present.h"
#include "live/show.h"

enum { INCIDENTS_MOST = 500 };

/* A label's value: backslash, quote and line feed escaped. */
static void put_text(FILE *out, const char *text) {
  for (; text && *text; text++) {
    if (*text == '\\' || *text == '"') {
      fputc('\\', out);
    }
    if (*text == '\n') {
      fputs("\\n", out);
    } else {
      fputc(*text, out);
    }
  }
}

static const char *word(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static double number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The middle of [lo, mid, hi]. */
static double middle(const json_t *object, const char *key) {
  const json_t *value = json_array_get(json_object_get(object, key), 1);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void put_value(FILE *out, double value) {
  if (!isfinite(value)) {
    fputs(" NaN\n", out);
  } else {
    fprintf(out, " %.17g\n", value);
  }
}

static void head(FILE *out, const char *name, const char *help) {
  fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* --- sensors --- */

/* What a sensor's value is; present_s on its river's clock. */
typedef double (*sensor_value)(const hw__detector *detector, double present_s);

static void put_sensors(FILE *out, hw__service *service, const double *present_s, const char *name, const char *help,
                        sensor_value value) {
  head(out, name, help);
  for (size_t r = 0; present_s && r < hw__catalog_count(service->catalog); r++) {
    const hw__site *site = hw__catalog_site(service->catalog, r);
    for (size_t s = 0; s < site->river.sensor_count; s++) {
      const hw__detector d = hw__tracker_detector(service->processing.tracker, (hw__place){r, s});
      fprintf(out, "%s{river=\"", name);
      put_text(out, site->id);
      fputs("\",sensor=\"", out);
      put_text(out, site->river.sensors[s].id);
      fputs("\"}", out);
      put_value(out, value(&d, present_s[r]));
    }
  }
}

static double latest(const hw__detector *d, double present_s) {
  (void)present_s;
  return d->latest_g_m3;
}

static double age(const hw__detector *d, double present_s) {
  return present_s - d->latest_s;
}

static double is_in_alarm(const hw__detector *d, double present_s) {
  return strcmp(hw__sensor_state(d, present_s), "alarm") == 0;
}

static double is_silent(const hw__detector *d, double present_s) {
  return strcmp(hw__sensor_state(d, present_s), "silent") == 0;
}

/* NULL where there are too many sensors for series of their own, or no memory. */
static double *presents(hw__service *service, size_t *omitted) {
  const size_t rivers = hw__catalog_count(service->catalog);
  size_t sensors = 0;
  for (size_t r = 0; r < rivers; r++) {
    sensors += hw__catalog_site(service->catalog, r)->river.sensor_count;
  }
  double *present_s = sensors > HW_PAGE_MOST ? NULL : calloc(rivers + 1, sizeof *present_s);
  for (size_t r = 0; present_s && r < rivers; r++) {
    present_s[r] = hw__present_s(service, r);
  }
  *omitted = present_s ? 0 : sensors;
  return present_s;
}

static void put_all_sensors(FILE *out, hw__service *service) {
  size_t omitted;
  double *p = presents(service, &omitted);
  head(out, "headwater_sensors_omitted", "Sensors without series of their own here: they are too many.");
  fprintf(out, "headwater_sensors_omitted %zu\n", omitted);
  put_sensors(out, service, p, "headwater_sensor_concentration_g_m3", "Latest reading.", latest);
  put_sensors(out, service, p, "headwater_sensor_age_seconds", "Since the latest reading.", age);
  put_sensors(out, service, p, "headwater_sensor_alarm", "1 while above its background.", is_in_alarm);
  put_sensors(out, service, p, "headwater_sensor_silent", "1 while nothing has come for long.", is_silent);
  free(p);
}

/* --- incidents and intakes --- */

static void put_incident(FILE *out, const char *name, const json_t *incident) {
  fprintf(out, "%s{river=\"", name);
  put_text(out, word(incident, "river_id"));
  fprintf(out, "\",incident=\"%lld\"", (long long)json_integer_value(json_object_get(incident, "id")));
}

static void put_incidents(FILE *out, const json_t *incidents, const char *name, const char *help, const char *key) {
  size_t i;
  json_t *incident;
  head(out, name, help);
  json_array_foreach(incidents, i, incident) {
    put_incident(out, name, incident);
    if (!key) {
      fprintf(out, ",trust=\"%s\"} 1\n", word(incident, "trust"));
    } else {
      fputs("}", out);
      put_value(out, number(json_object_get(incident, "estimate"), key));
    }
  }
}

static double first_of(const json_t *incident, const json_t *arrival) {
  return middle(arrival, "first_s") + number(incident, "origin_s");
}

static double last_of(const json_t *incident, const json_t *arrival) {
  return middle(arrival, "last_s") + number(incident, "origin_s");
}

static double peak_of(const json_t *incident, const json_t *arrival) {
  (void)incident;
  return middle(arrival, "peak_g_m3");
}

static double exceeds(const json_t *incident, const json_t *arrival) {
  (void)incident;
  return number(arrival, "exceeds_alarm");
}

static void put_intakes(FILE *out, const json_t *incidents, const char *name, const char *help,
                        double (*part)(const json_t *incident, const json_t *arrival)) {
  size_t i, k;
  json_t *incident, *arrival;
  head(out, name, help);
  json_array_foreach(incidents, i, incident) {
    json_array_foreach(json_object_get(incident, "arrivals"), k, arrival) {
      put_incident(out, name, incident);
      fputs(",intake=\"", out);
      put_text(out, word(arrival, "id"));
      fputs("\"}", out);
      put_value(out, part(incident, arrival));
    }
  }
}

static json_t *open_incidents(hw__service *service) {
  json_t *list = json_array();
  hw__incident *open = malloc(INCIDENTS_MOST * sizeof *open);
  hw__db *db = open ? hw__store_reader(service->store) : NULL;
  size_t count = 0;
  if (db && hw__db_incidents(db, &(hw__incident_query){.open_only = true}, open, INCIDENTS_MOST, &count) == HW_DB_OK) {
    for (size_t i = 0; i < count; i++) {
      json_array_append_new(list, hw__show_incident(service, db, &open[i]));
    }
  }
  if (db) {
    hw__store_return(service->store, db);
  }
  free(open);
  return list;
}

static void write_metrics(void *context, FILE *out) {
  hw__service *service = context;
  json_t *incidents = open_incidents(service);
  put_all_sensors(out, service);
  put_incidents(out, incidents, "headwater_incident_info", "1 for each open incident.", NULL);
  put_incidents(out, incidents, "headwater_incident_mass_g", "Mass released, best estimate.", "mass_g");
  put_incidents(out, incidents, "headwater_incident_location_meters", "Where along its branch, best estimate.",
                "location_m");
  put_intakes(out, incidents, "headwater_intake_exceeds_alarm", "Probability of passing the alarm level.", exceeds);
  put_intakes(out, incidents, "headwater_intake_peak_g_m3", "Expected highest concentration.", peak_of);
  put_intakes(out, incidents, "headwater_intake_first_seconds", "When the level is passed, river's clock.", first_of);
  put_intakes(out, incidents, "headwater_intake_last_seconds", "When it is passed downwards for good.", last_of);
  json_decref(incidents);
}

hw__reply hw__get_river_metrics(hw__request *request) {
  return hw__reply_metrics(write_metrics, request->service);
}

#include "live/silence.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/rest.h"
#include "live/present.h"
#include "live/show.h"

enum { LOOK_MS = 1000 };

typedef struct {
  bool told;      /* its silence */
  bool suspected; /* silent at the last look */
} watched;

struct hw__silence {
  hw__service *service;
  watched *sensors; /* of all rivers, in the catalog's order */
  size_t count;
  double started_s;
  pthread_t thread;
};

/* --- what is kept of it --- */

static void cursor_name(const hw__silence *silence, hw__place place, char *out, size_t size) {
  const hw__site *site = hw__catalog_site(silence->service->catalog, place.site);
  snprintf(out, size, "silent %lld", (long long)site->sensor_keys[place.sensor]);
}

typedef struct {
  hw__event event;
  char name[48];
  bool silent;
} telling;

static hw__db_status run_tell(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const telling *t = context;
  const hw__db_status status = hw__db_put_event(db, &t->event);
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__db_put_cursor(db, t->name, t->silent);
}

/* Number of the sensor's latest record, 0 when it is stored no longer. */
static int64_t latest_seq(hw__silence *silence, hw__place place, double latest_s) {
  const hw__site *site = hw__catalog_site(silence->service->catalog, place.site);
  hw__log_record record = {0};
  size_t count = 0;
  hw__db *db = hw__store_reader(silence->service->store);
  if (db) {
    hw__db_sensor_log(db, site->sensor_keys[place.sensor], latest_s, latest_s, &record, 1, &count);
    hw__store_return(silence->service->store, db);
  }
  return count ? record.seq : 0;
}

/* For whoever has no page before them. */
static void say(const hw__site *site, const hw_sensor *sensor, bool silent, double age_s, char *out, size_t size) {
  const char *river = site->river.name[0] ? site->river.name : site->id;
  const char *name = sensor->name[0] ? sensor->name : sensor->id;
  const double minutes = fmax(0, round(age_s / 60));
  char age[40];
  if (minutes < 60) {
    snprintf(age, sizeof age, "%.0f min", minutes);
  } else {
    snprintf(age, sizeof age, "%.0f h %02.0f min", floor(minutes / 60), fmod(minutes, 60));
  }
  if (silent) {
    snprintf(out, size, "%s: sensor %s is silent, last reading %s before.", river, name, age);
  } else {
    snprintf(out, size, "%s: sensor %s reports again.", river, name);
  }
}

static bool tell(hw__silence *silence, hw__place place, const hw__detector *d, bool silent, double present_s) {
  hw__service *service = silence->service;
  const hw__site *site = hw__catalog_site(service->catalog, place.site);
  const hw_sensor *sensor = &site->river.sensors[place.sensor];
  const char *id = sensor->id;
  char sentence[512];
  say(site, sensor, silent, present_s - d->latest_s, sentence, sizeof sentence);
  json_t *body = json_pack("{s:s, s:s, s:o, s:o, s:s}", "sensor", id, "name", sensor->name, "latest_s",
                           hw__real(d->latest_s), "age_s", hw__real(present_s - d->latest_s), "sentence", sentence);
  telling t = {.silent = silent,
               .event = {.seq = latest_seq(silence, place, d->latest_s),
                         .river = site->key,
                         .at_us = hw__store_now_us(service->store),
                         .body = body ? json_dumps(body, JSON_COMPACT) : NULL}};
  json_decref(body);
  cursor_name(silence, place, t.name, sizeof t.name);
  snprintf(t.event.kind, sizeof t.event.kind, "%s",
           hw__event_text(silent ? HW_EVENT_SENSOR_SILENT : HW_EVENT_SENSOR_HEARD));
  snprintf(t.event.subject, sizeof t.event.subject, "%s", id);
  const bool told = t.event.body && hw__store_write(service->store, run_tell, &t) == HW_DB_OK;
  if (told) {
    hw__log(silent ? HW_LOG_WARNING : HW_LOG_INFO, t.event.kind, "sensor", id);
  }
  free(t.event.body);
  return told;
}

/* --- looking --- */

static void look_at(hw__silence *silence, watched *w, hw__place place, double present_s, double listened_s) {
  const hw__detector d = hw__tracker_detector(silence->service->processing.tracker, place);
  const bool silent = hw__sensor_is_silent(&d, present_s);
  if (w->told) {
    w->told = silent || d.readings == 0 || !tell(silence, place, &d, false, present_s);
    return;
  }
  /* A sensor must be found silent twice: while a long body is being stored, sensors later in it only seem to be
   * silent. */
  if (silent && w->suspected && listened_s > hw__sensor_patience_s(&d)) {
    w->told = tell(silence, place, &d, true, present_s);
  }
  w->suspected = silent;
}

static void look_around(hw__silence *silence) {
  hw__service *service = silence->service;
  if (hw__tracker_seq(service->processing.tracker) < hw__store_seq(service->store)) {
    return;
  }
  const double now_s = (double)hw__store_now_us(service->store) * 1e-6;
  size_t next = 0;
  for (size_t site = 0; site < hw__catalog_count(service->catalog); site++) {
    const double present_s = hw__present_s(service, site);
    /* Where only readings move the river's clock, wait for the next reading. */
    const double listened_s = present_s >= silence->started_s ? now_s - silence->started_s : INFINITY;
    const size_t sensors = hw__catalog_site(service->catalog, site)->river.sensor_count;
    for (size_t s = 0; s < sensors && next < silence->count; s++) {
      look_at(silence, &silence->sensors[next++], (hw__place){site, s}, present_s, listened_s);
    }
  }
}

static void *watch(void *argument) {
  hw__silence *silence = argument;
  while (!atomic_load(&silence->service->stopping)) {
    look_around(silence);
    hw__rest(&silence->service->stopping, LOOK_MS);
  }
  return NULL;
}

/* --- life --- */

static void release(hw__silence *silence) {
  free(silence->sensors);
  free(silence);
}

static bool allocate(hw__silence *silence) {
  for (size_t site = 0; site < hw__catalog_count(silence->service->catalog); site++) {
    silence->count += hw__catalog_site(silence->service->catalog, site)->river.sensor_count;
  }
  silence->sensors = calloc(silence->count, sizeof *silence->sensors);
  return silence->sensors != NULL;
}

/* What a former run told. */
static hw__db_status recall(hw__silence *silence, hw__db *db) {
  size_t next = 0;
  for (size_t site = 0; site < hw__catalog_count(silence->service->catalog); site++) {
    const size_t sensors = hw__catalog_site(silence->service->catalog, site)->river.sensor_count;
    for (size_t s = 0; s < sensors && next < silence->count; s++) {
      char name[48];
      int64_t silent = 0;
      cursor_name(silence, (hw__place){site, s}, name, sizeof name);
      const hw__db_status status = hw__db_cursor(db, name, &silent);
      if (status != HW_DB_OK && status != HW_DB_ABSENT) {
        return status;
      }
      silence->sensors[next++].told = status == HW_DB_OK && silent != 0;
    }
  }
  return HW_DB_OK;
}

hw_status hw__silence_start(hw__service *service, hw__silence **out, hw_error *error) {
  *out = NULL;
  hw__silence *silence = calloc(1, sizeof *silence);
  if (!silence) {
    return HW_ENOMEM;
  }
  silence->service = service;
  silence->started_s = (double)hw__store_now_us(service->store) * 1e-6;
  hw_status status = allocate(silence) ? HW_OK : HW_ENOMEM;
  hw__db *db = status == HW_OK ? hw__store_reader(service->store) : NULL;
  if (db) {
    status = recall(silence, db) == HW_DB_OK ? HW_OK : HW_EIO;
    hw__store_return(service->store, db);
  }
  if (status == HW_OK && (!db || pthread_create(&silence->thread, NULL, watch, silence) != 0)) {
    status = HW_EIO;
  }
  if (status != HW_OK) {
    snprintf(error->text, sizeof error->text, "sensors cannot be watched: %s", hw_status_text(status));
    release(silence);
    return status;
  }
  *out = silence;
  return HW_OK;
}

void hw__silence_stop(hw__silence *silence) {
  if (silence) {
    pthread_join(silence->thread, NULL);
    release(silence);
  }
}

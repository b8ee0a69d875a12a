/* An incident that opens or closes is stored together with the event that reports it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "incidents/tracker_state.h"

typedef struct {
  const hw__incident *incident; /* NULL: of an acknowledgement nothing but the event is kept */
  bool opening;
  hw__event event;
} change_job;

static hw__db_status run_change(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const change_job *change = context;
  hw__incident stored;
  hw__db_status status;
  if (!change->incident) {
    status = hw__db_incident(db, change->event.incident, &stored);
    return status == HW_DB_ABSENT || (status == HW_DB_OK && stored.river != change->event.river)
               ? HW_DB_OK /* of no incident: nothing to report */
           : status == HW_DB_OK ? hw__db_put_event(db, &change->event)
                                : status;
  }
  status = change->opening ? hw__db_open_incident(db, change->incident) : hw__db_close_incident(db, change->incident);
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__db_put_event(db, &change->event);
}

/* Keeps trying, because no record of the log may be skipped. A service that is stopping gives up and processes it
 * again at its next start. */
static hw__db_status write_event(hw__tracker *tracker, change_job *change, hw__event_kind kind, json_t *body) {
  char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
  json_decref(body);
  change->event.body = text;
  snprintf(change->event.kind, sizeof change->event.kind, "%s", hw__event_text(kind));
  hw__db_status status = HW_DB_MEMORY;
  while (text && (status = hw__store_write(tracker->store, run_change, change)) != HW_DB_OK &&
         !hw__tracker_stopping(tracker)) {
    hw__log(HW_LOG_ERROR, "incident_not_stored", "reason", hw__db_text(status));
    hw__store_wait(tracker->store, UINT64_MAX, 1000);
  }
  free(text);
  return status;
}

static const char *river_name(const hw__tracker *tracker, int64_t key) {
  const ptrdiff_t index = hw__catalog_site_of_key(tracker->catalog, key);
  const hw__site *site = index >= 0 ? hw__catalog_site(tracker->catalog, (size_t)index) : NULL;
  return !site ? "a river no longer served" : site->river.name[0] ? site->river.name : site->id;
}

/* What a person calls the sensor. */
static const char *sensor_name(const hw__tracker *tracker, int64_t key) {
  hw__place place;
  if (hw__catalog_place(tracker->catalog, key, &place) != HW_OK) {
    return "a sensor";
  }
  const hw_sensor *sensor = &hw__catalog_site(tracker->catalog, place.site)->river.sensors[place.sensor];
  return sensor->name[0] ? sensor->name : sensor->id;
}

static void tell_change(const hw__tracker *tracker, const hw__incident *i, bool opening, char *out, size_t size) {
  const char *river = river_name(tracker, i->river);
  if (!opening) {
    snprintf(out, size, "Incident %lld on %s is closed%s.", (long long)i->id, river,
             strcmp(i->reason, "passed") == 0           ? ": the pulse has passed"
             : strcmp(i->reason, "closed by hand") == 0 ? " by hand"
                                                        : " after thirty days");
  } else if (i->sensor) {
    snprintf(out, size, "Incident %lld on %s: readings at %s left their background; no source is known yet.",
             (long long)i->id, river, sensor_name(tracker, i->sensor));
  } else {
    snprintf(out, size, "Incident %lld on %s was opened by hand; no source is known yet.", (long long)i->id, river);
  }
}

hw__db_status hw__tracker_write_change(hw__tracker *tracker, const hw__incident *incident, bool opening, int64_t seq) {
  char sentence[512];
  tell_change(tracker, incident, opening, sentence, sizeof sentence);
  change_job change = {incident, opening, {.seq = seq, .river = incident->river, .incident = incident->id}};
  change.event.at_us = opening ? incident->opened_us : incident->closed_us;
  const char *reason =
      opening ? (incident->sensor ? "sensor left its background" : "opened by hand") : incident->reason;
  return write_event(tracker, &change, opening ? HW_EVENT_INCIDENT_OPENED : HW_EVENT_INCIDENT_CLOSED,
                     json_pack("{s:s, s:s}", "reason", reason, "sentence", sentence));
}

/* The note is what a person said: {"who", "note", "subject"}. */
static json_t *read_note(hw__tracker *tracker, int64_t seq) {
  char *text = NULL;
  hw__db *db = hw__store_reader(tracker->store);
  if (db) {
    hw__db_note(db, seq, &text);
    hw__store_return(tracker->store, db);
  }
  json_t *note = text ? hw__json_read(text, strlen(text)) : NULL;
  free(text);
  return json_is_object(note) ? note : json_object();
}

hw__db_status hw__tracker_write_acknowledgement(hw__tracker *tracker, const hw__log_record *record) {
  json_t *body = read_note(tracker, record->seq);
  const char *who = json_string_value(json_object_get(body, "who"));
  const char *subject = json_string_value(json_object_get(body, "subject"));
  const char *note = json_string_value(json_object_get(body, "note"));
  char sentence[1024];
  snprintf(sentence, sizeof sentence, "Incident %lld on %s: %s%sacknowledged by %s%s%s.", (long long)record->incident,
           river_name(tracker, record->river), subject && *subject ? subject : "", subject && *subject ? " " : "",
           who && *who ? who : "somebody", note && *note ? ": " : "", note ? note : "");
  change_job change = {
      .event = {
          .seq = record->seq, .river = record->river, .incident = record->incident, .at_us = record->received_us}};
  snprintf(change.event.subject, sizeof change.event.subject, "%s", subject ? subject : "");
  json_object_set_new(body, "sentence", json_string(sentence));
  return write_event(tracker, &change, HW_EVENT_ACKNOWLEDGED, body);
}

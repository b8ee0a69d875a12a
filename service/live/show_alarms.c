/* The life of an incident's alarms, from its events: raised, acknowledged, changed, withdrawn, closed.
 *
 * The incident itself is the first of them; the others are the candidates and intakes that were told of. One that is
 * raised or changed after somebody acknowledged it asks to be acknowledged again; one that is withdrawn names whoever
 * acknowledged it last, since they may have shut a gate.
 */
#include <stdlib.h>
#include <string.h>

#include "live/show.h"

enum { PAGE = 256 };

/* Who acknowledged an alarm last, kept beside it until all events are read. */
static const char heard[] = "heard";

static const struct {
  hw__event_kind event;
  const char *kind, *state;
} lives[] = {
    {HW_EVENT_INCIDENT_OPENED, "incident", "raised"},
    {HW_EVENT_CANDIDATE, "candidate", "raised"},
    {HW_EVENT_CANDIDATE_CHANGED, "candidate", "changed"},
    {HW_EVENT_CANDIDATE_WITHDRAWN, "candidate", "withdrawn"},
    {HW_EVENT_INTAKE_ALARM, "intake", "raised"},
    {HW_EVENT_INTAKE_ALARM_CHANGED, "intake", "changed"},
    {HW_EVENT_INTAKE_ALARM_WITHDRAWN, "intake", "withdrawn"},
};

static bool says(const json_t *object, const char *key, const char *text) {
  const char *here = json_string_value(json_object_get(object, key));
  return here && strcmp(here, text) == 0;
}

static json_t *find(json_t *alarms, const char *kind, const char *subject) {
  size_t i;
  json_t *each;
  json_array_foreach(alarms, i, each) {
    if (says(each, "kind", kind) && says(each, "subject", subject)) {
      return each;
    }
  }
  json_t *made = json_pack("{s:s, s:s, s:n, s:n}", "kind", kind, "subject", subject, "since", "acknowledged");
  return json_array_append_new(alarms, made) == 0 ? made : NULL;
}

static void follow(json_t *alarms, const hw__event *event, const json_t *body, const char *kind, const char *state) {
  json_t *alarm = find(alarms, kind, event->subject);
  const bool raised = strcmp(state, "raised") == 0;
  if (raised || !json_is_string(json_object_get(alarm, "since"))) {
    json_object_set_new(alarm, "since", hw__instant_us(event->at_us));
  }
  json_object_set_new(alarm, "at", hw__instant_us(event->at_us));
  json_object_set_new(alarm, "state", json_string(state));
  static const char *const told[] = {"sentence", "trust", "provisional"};
  for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
    const json_t *value = json_object_get(body, told[i]);
    json_object_set_new(alarm, told[i], value ? json_copy((json_t *)value) : json_null());
  }
  if (raised) {
    json_object_del(alarm, heard);
  }
  const json_t *last = strcmp(state, "withdrawn") == 0 ? json_object_get(alarm, heard) : NULL;
  json_object_set_new(alarm, "acknowledged", last ? json_copy((json_t *)last) : json_null());
}

static void acknowledge(json_t *alarms, const hw__event *event, const json_t *body) {
  size_t i;
  json_t *each;
  json_array_foreach(alarms, i, each) {
    if (event->subject[0] ? !says(each, "subject", event->subject) : says(each, "state", "withdrawn")) {
      continue; /* what was withdrawn before keeps its own history */
    }
    const char *who = json_string_value(json_object_get(body, "who"));
    const char *note = json_string_value(json_object_get(body, "note"));
    json_t *by = json_pack("{s:s, s:s, s:o}", "who", who ? who : "", "note", note ? note : "", "at",
                           hw__instant_us(event->at_us));
    json_object_set(each, "acknowledged", by);
    json_object_set_new(each, heard, by);
  }
}

static void take(json_t *alarms, const hw__event *event) {
  json_t *body = hw__json_read(event->body, strlen(event->body));
  if (hw__event_is(event, HW_EVENT_ACKNOWLEDGED)) {
    acknowledge(alarms, event, body);
  }
  for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
    if (hw__event_is(event, lives[i].event)) {
      follow(alarms, event, body, lives[i].kind, lives[i].state);
    }
  }
  json_decref(body);
}

static void end_all(json_t *alarms, bool closed) {
  size_t i;
  json_t *each;
  json_array_foreach(alarms, i, each) {
    json_object_del(each, heard);
    if (closed && !says(each, "state", "withdrawn")) {
      json_object_set_new(each, "state", json_string("closed"));
    }
  }
}

json_t *hw__show_alarms(hw__db *db, const hw__incident *incident) {
  json_t *alarms = json_array();
  hw__event *events = malloc(PAGE * sizeof *events);
  size_t count = events ? PAGE : 0;
  int64_t after = 0;
  while (count == PAGE && hw__db_incident_events(db, incident->id, after, events, PAGE, &count) == HW_DB_OK) {
    for (size_t i = 0; i < count; i++) {
      take(alarms, &events[i]);
      after = events[i].id;
      free(events[i].body);
    }
  }
  free(events);
  end_all(alarms, incident->closed_seq != 0);
  return alarms;
}

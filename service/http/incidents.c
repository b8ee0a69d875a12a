#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/handlers.h"
#include "live/accept.h"
#include "live/show.h"

enum { INCIDENTS_MAX = 500, HISTORY_MAX = 20000, EVENTS_MAX = 1000 };

int64_t hw__captured_incident(const hw__request *request) {
  char *end;
  const long long id = strtoll(request->captured[0], &end, 10);
  return *end || id <= 0 ? 0 : (int64_t)id;
}

hw__reply hw__get_incidents(hw__request *request) {
  hw__service *service = request->service;
  const char *river = hw__query(request, "river");
  const char *state = hw__query(request, "state");
  const ptrdiff_t index = river ? hw__catalog_find(service->catalog, river) : -1;
  if (river && index < 0) {
    return hw__reply_error(404, "no river '%.64s'", river);
  }
  const int64_t key = river ? hw__catalog_site(service->catalog, (size_t)index)->key : 0;
  hw__incident *incidents = malloc(INCIDENTS_MAX * sizeof *incidents);
  hw__db *db = incidents ? hw__store_reader(service->store) : NULL;
  size_t count = 0;
  hw__db_status status = incidents ? HW_DB_IO : HW_DB_MEMORY;
  json_t *list = json_array();
  if (db) {
    status = hw__db_incidents(db, key, state && strcmp(state, "open") == 0, incidents, INCIDENTS_MAX, &count);
    for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
      status = json_array_append_new(list, hw__show_incident(service, db, &incidents[i])) == 0 ? HW_DB_OK : HW_DB_IO;
    }
    hw__store_return(service->store, db);
  }
  free(incidents);
  if (status != HW_DB_OK) {
    json_decref(list);
    return hw__reply_db(status);
  }
  return hw__reply_json(200, json_pack("{s:o}", "incidents", list));
}

static hw__db_status show_with_history(hw__service *service, int64_t id, int64_t after, size_t limit, json_t **out) {
  hw__track *tracks = malloc(limit * sizeof *tracks);
  hw__db *db = tracks ? hw__store_reader(service->store) : NULL;
  hw__incident incident;
  size_t count = 0;
  hw__db_status status = tracks ? HW_DB_IO : HW_DB_MEMORY;
  if (db) {
    status = hw__db_incident(db, id, &incident);
    if (status == HW_DB_OK) {
      status = hw__db_tracks(db, id, after, tracks, limit, &count);
    }
    if (status == HW_DB_OK) {
      *out = hw__show_incident(service, db, &incident);
      json_t *history = json_array();
      for (size_t i = 0; i < count; i++) {
        json_array_append_new(history, hw__show_track(&tracks[i]));
      }
      json_object_set_new(*out, "history", history);
    }
    hw__store_return(service->store, db);
  }
  free(tracks);
  return status;
}

hw__reply hw__get_incident(hw__request *request) {
  double limit, after;
  if (!hw__query_number(request, "history", 5000, &limit) || !(limit >= 0) || limit > HISTORY_MAX ||
      !hw__query_number(request, "after", 0, &after)) {
    return hw__reply_error(400, "history: expected 0 to %d; after: a seq", HISTORY_MAX);
  }
  json_t *root = NULL;
  const hw__db_status status =
      show_with_history(request->service, hw__captured_incident(request), (int64_t)after, (size_t)limit + 1, &root);
  if (status != HW_DB_OK) {
    return status == HW_DB_ABSENT ? hw__reply_error(404, "no incident '%.40s'", request->captured[0])
                                  : hw__reply_db(status);
  }
  return hw__reply_json(200, root);
}

/* 202: it is in the log, and no worker has come to it yet. */
static hw__reply show_now(hw__service *service, int64_t id, unsigned code, bool shown) {
  if (!shown) {
    return hw__reply_json(202, json_pack("{s:I, s:s}", "id", (json_int_t)id, "state", "pending"));
  }
  json_t *root = NULL;
  const hw__db_status status = show_with_history(service, id, 0, 1, &root);
  return status == HW_DB_OK ? hw__reply_json(code, root) : hw__reply_db(status);
}

/* {"river": ID, "method": NAME, "from": seconds or ISO 8601}; all but river optional. */
hw__reply hw__post_incident(hw__request *request) {
  hw__service *service = request->service;
  json_t *root;
  const hw_status parsed =
      hw__json_load(request->body ? request->body : "", request->size, JSON_REJECT_DUPLICATES, &root, NULL);
  if (parsed == HW_ENOMEM) {
    return hw__reply_later("no memory for this now: send it again");
  }
  const char *river = json_string_value(json_object_get(root, "river"));
  const char *method = json_string_value(json_object_get(root, "method"));
  const json_t *from = json_object_get(root, "from");
  double from_s = json_is_number(from) ? json_number_value(from) : (double)NAN;
  const bool from_ok = !from || json_is_number(from) ||
                       (json_is_string(from) && hw_time_parse(json_string_value(from), &from_s) == HW_OK);
  const ptrdiff_t index = river ? hw__catalog_find(service->catalog, river) : -1;
  hw__reply reply;
  int64_t id = 0;
  if (!json_is_object(root) || index < 0) {
    reply = hw__reply_error(river ? 404 : 400, "expected {\"river\": ID} with a river of this service");
  } else if ((method && !hw_method_find(method)) || !from_ok) {
    reply = hw__reply_error(400, "expected a method of /v1/methods, and from in seconds or ISO 8601");
  } else {
    bool shown = false;
    const hw__db_status status = hw__accept_open(service, (size_t)index, method, from_s, &id, &shown);
    reply = status == HW_DB_OK ? show_now(service, id, 201, shown) : hw__reply_db(status);
  }
  json_decref(root);
  return reply;
}

hw__reply hw__post_close(hw__request *request) {
  const int64_t id = hw__captured_incident(request);
  bool shown = false;
  const hw__db_status status = hw__accept_close(request->service, id, &shown);
  if (status == HW_DB_ABSENT) {
    return hw__reply_error(404, "no open incident '%.40s'", request->captured[0]);
  }
  return status == HW_DB_OK ? show_now(request->service, id, 200, shown) : hw__reply_db(status);
}

/* What happened, oldest first; estimates left out unless asked for. */
hw__reply hw__get_events(hw__request *request) {
  hw__service *service = request->service;
  double after;
  if (!hw__query_number(request, "after", 0, &after)) {
    return hw__reply_error(400, "after: expected the id of an event");
  }
  const bool estimates = hw__query(request, "estimates") != NULL;
  hw__event *events = malloc(EVENTS_MAX * sizeof *events);
  hw__db *db = events ? hw__store_reader(service->store) : NULL;
  size_t count = 0;
  hw__db_status status = events ? HW_DB_IO : HW_DB_MEMORY;
  if (db) {
    status = hw__db_events(db, (int64_t)after, estimates, events, EVENTS_MAX, &count);
    hw__store_return(service->store, db);
  }
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_array_append_new(list, hw__show_event(service, &events[i]));
    free(events[i].body);
  }
  free(events);
  if (status != HW_DB_OK) {
    json_decref(list);
    return hw__reply_db(status);
  }
  return hw__reply_json(200, json_pack("{s:o}", "events", list));
}

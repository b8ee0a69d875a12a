#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/handlers.h"
#include "live/accept.h"
#include "live/show.h"

enum { INCIDENTS_MAX = 500, HISTORY_MAX = 20000, HISTORY_PAGE = 1024, WHO_MAX = 80, NOTE_MAX = 500, EVENTS_MAX = 1000 };

int64_t hw__captured_incident(const hw__request *request) {
  char *end;
  const long long id = strtoll(request->captured[0], &end, 10);
  return *end || id <= 0 ? 0 : (int64_t)id;
}

/* A page of incidents, the latest first, as a list. */
static hw__db_status show_page(hw__service *service, const hw__incident_query *which, bool brief, size_t limit,
                               json_t *list, bool *more) {
  hw__incident *incidents = malloc((limit + 1) * sizeof *incidents);
  hw__db *db = NULL;
  size_t count = 0;
  hw__db_status status = incidents ? hw__store_borrow(service->store, &db) : HW_DB_MEMORY;
  if (db) {
    status = hw__db_incidents(db, which, incidents, limit + 1, &count);
    for (size_t i = 0; i < count && i < limit && status == HW_DB_OK; i++) {
      json_t *shown =
          brief ? hw__show_incident_briefly(service, db, &incidents[i]) : hw__show_incident(service, db, &incidents[i]);
      status = json_array_append_new(list, shown) == 0 ? HW_DB_OK : HW_DB_MEMORY;
    }
    hw__store_return(service->store, db);
  }
  *more = count > limit;
  free(incidents);
  return status;
}

/* ?river=ID &state=open|closed &brief=1 &limit=N &before=ID */
hw__reply hw__get_incidents(hw__request *request) {
  hw__service *service = request->service;
  const char *river = hw__query(request, "river");
  const char *state = hw__query(request, "state");
  const ptrdiff_t index = river ? hw__catalog_find(service->catalog, river) : -1;
  double limit, before;
  if (river && index < 0) {
    return hw__reply_error(404, "no river '%.64s'", river);
  }
  if (!hw__query_number(request, "limit", INCIDENTS_MAX, &limit) || !(limit >= 1) || limit > INCIDENTS_MAX ||
      !hw__query_number(request, "before", 0, &before) || !(before >= 0)) {
    return hw__reply_error(400, "limit: expected 1 to %d; before: the id of an incident", INCIDENTS_MAX);
  }
  const hw__incident_query which = {.river = river ? hw__catalog_site(service->catalog, (size_t)index)->key : 0,
                                    .open_only = state && strcmp(state, "open") == 0,
                                    .before = (int64_t)before};
  json_t *list = json_array();
  bool more = false;
  const bool brief = hw__query(request, "brief") != NULL;
  const hw__db_status status = show_page(service, &which, brief, (size_t)limit, list, &more);
  if (status != HW_DB_OK) {
    json_decref(list);
    return hw__reply_db(status);
  }
  return hw__reply_json(200, json_pack("{s:o, s:b}", "incidents", list, "more", more));
}

/* --- its history --- */

/* At most `most` of an incident's steps, evenly spread and the last among them; all of them where there are fewer.
 * *total counts them. */
static hw__db_status thin_history(hw__db *db, int64_t id, size_t most, hw__track *out, size_t *count, size_t *total) {
  hw__track *page = malloc(HISTORY_PAGE * sizeof *page);
  size_t got = HISTORY_PAGE, step = 1;
  int64_t after = 0;
  hw__track last = {0};
  hw__db_status status = page ? HW_DB_OK : HW_DB_MEMORY;
  while (status == HW_DB_OK && got == HISTORY_PAGE) {
    status = hw__db_tracks(db, id, after, page, HISTORY_PAGE, &got);
    for (size_t i = 0; status == HW_DB_OK && i < got; i++, ++*total) {
      last = page[i];
      after = last.seq;
      if (*total % step == 0) {
        out[(*count)++] = last;
      }
      if (*count == most) { /* every second of those kept */
        step *= 2;
        for (size_t k = 0; k < most / 2; k++) {
          out[k] = out[2 * k];
        }
        *count = most / 2;
      }
    }
  }
  if (*total && out[*count - 1].seq != last.seq) {
    out[(*count)++] = last;
  }
  free(page);
  return status;
}

/* Which steps: the first `limit` after a number, or `points` that show them all. */
typedef struct {
  int64_t after;
  size_t limit, points; /* points 0: not thinned */
} history_query;

static hw__db_status show_with_history(hw__service *service, int64_t id, const history_query *q, json_t **out) {
  const size_t room = (q->points ? q->points : q->limit) + 2;
  hw__track *tracks = malloc(room * sizeof *tracks);
  hw__db *db = NULL;
  hw__incident incident;
  size_t count = 0, total = 0;
  hw__db_status status = tracks ? hw__store_borrow(service->store, &db) : HW_DB_MEMORY;
  if (db) {
    status = hw__db_incident(db, id, &incident);
    if (status == HW_DB_OK) {
      status = q->points ? thin_history(db, id, q->points, tracks, &count, &total)
                         : hw__db_tracks(db, id, q->after, tracks, q->limit + 1, &count);
    }
    if (status == HW_DB_OK) {
      *out = hw__show_incident(service, db, &incident);
      const bool more = !q->points && count > q->limit;
      json_t *history = json_array();
      for (size_t i = 0; i < count && !(more && i == q->limit); i++) {
        json_array_append_new(history, hw__show_track(&tracks[i]));
      }
      json_object_set_new(*out, "history", history);
      json_object_set_new(*out, "history_more", json_boolean(more));
      json_object_set_new(*out, "history_thinned", json_boolean(total > count));
    }
    hw__store_return(service->store, db);
  }
  free(tracks);
  return status;
}

/* ?history=N &after=SEQ, or &points=N */
hw__reply hw__get_incident(hw__request *request) {
  double limit, after, points;
  if (!hw__query_number(request, "history", 5000, &limit) || !(limit >= 0) || limit > HISTORY_MAX ||
      !hw__query_number(request, "after", 0, &after) || !hw__query_number(request, "points", 0, &points) ||
      !(points == 0 || (points >= 10 && points <= HISTORY_MAX))) {
    return hw__reply_error(400, "history: expected 0 to %d; after: a seq; points: 10 to %d", HISTORY_MAX, HISTORY_MAX);
  }
  json_t *root = NULL;
  const history_query q = {(int64_t)after, (size_t)limit, (size_t)points};
  const hw__db_status status = show_with_history(request->service, hw__captured_incident(request), &q, &root);
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
  const hw__db_status status = show_with_history(service, id, &(history_query){.limit = 1}, &root);
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

/* --- acknowledging --- */

/* The text of this key; NULL where it is no text or longer than `most` bytes. Absent: "". */
static const char *text_of(const json_t *root, const char *key, size_t most) {
  const json_t *value = json_object_get(root, key);
  const char *text = value ? json_string_value(value) : "";
  return text && strlen(text) <= most ? text : NULL;
}

/* {"who": NAME, "note": TEXT, "subject": the id of an intake or candidate}; all but who optional. */
hw__reply hw__post_acknowledge(hw__request *request) {
  json_t *root;
  const hw_status parsed =
      hw__json_load(request->body ? request->body : "", request->size, JSON_REJECT_DUPLICATES, &root, NULL);
  if (parsed == HW_ENOMEM) {
    return hw__reply_later("no memory for this now: send it again");
  }
  const char *who = text_of(root, "who", WHO_MAX), *note = text_of(root, "note", NOTE_MAX);
  const char *subject = text_of(root, "subject", HW_ID_SIZE);
  if (!json_is_object(root) || !who || !*who || !note || !subject) {
    json_decref(root);
    return hw__reply_error(400, "expected {\"who\": up to %d bytes, \"note\": up to %d, \"subject\": an id}", WHO_MAX,
                           NOTE_MAX);
  }
  json_t *said = json_pack("{s:s, s:s, s:s}", "who", who, "note", note, "subject", subject);
  char *text = said ? json_dumps(said, JSON_COMPACT) : NULL;
  json_decref(said);
  json_decref(root);
  const int64_t id = hw__captured_incident(request);
  bool shown = false;
  const hw__db_status status = text ? hw__accept_acknowledgement(request->service, id, text, &shown) : HW_DB_MEMORY;
  free(text);
  if (status == HW_DB_ABSENT) {
    return hw__reply_error(404, "no incident '%.40s'", request->captured[0]);
  }
  return status == HW_DB_OK ? show_now(request->service, id, 200, shown) : hw__reply_db(status);
}

/* --- events --- */

/* What happened, oldest first; estimates left out unless asked for. &latest=N &before=ID: the last ones instead. */
hw__reply hw__get_events(hw__request *request) {
  hw__service *service = request->service;
  double after, latest, before;
  if (!hw__query_number(request, "after", 0, &after) || !hw__query_number(request, "latest", 0, &latest) ||
      !(latest >= 0) || latest > EVENTS_MAX || !hw__query_number(request, "before", 0, &before)) {
    return hw__reply_error(400, "after, before: expected the id of an event; latest: 1 to %d", EVENTS_MAX);
  }
  const bool estimates = hw__query(request, "estimates") != NULL;
  const size_t limit = latest > 0 ? (size_t)latest : EVENTS_MAX;
  hw__event *events = malloc((limit + 1) * sizeof *events);
  hw__db *db = NULL;
  size_t count = 0;
  hw__db_status status = events ? hw__store_borrow(service->store, &db) : HW_DB_MEMORY;
  if (db) {
    status = latest > 0 ? hw__db_latest_events(db, (int64_t)before, events, limit + 1, &count)
                        : hw__db_events(db, (int64_t)after, estimates, events, limit + 1, &count);
    hw__store_return(service->store, db);
  }
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *shown = i < limit ? hw__show_event(service, &events[i]) : NULL;
    if (shown) {
      json_array_insert_new(list, latest > 0 ? 0 : i, shown);
    }
    free(events[i].body);
  }
  free(events);
  if (status != HW_DB_OK) {
    json_decref(list);
    return hw__reply_db(status);
  }
  return hw__reply_json(200, json_pack("{s:o, s:b}", "events", list, "more", count > limit));
}

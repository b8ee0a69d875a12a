/* Server-Sent Events: every reading and everything that happened, in the order they became durable.
 *
 * A stream is two cursors, one in the log and one in the events, and its event ids are both, so a
 * client that comes back with Last-Event-ID goes on where it was: nothing lost, also over a restart.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/connections.h"
#include "http/handlers.h"
#include "live/show.h"

enum { PAGE = 256, BLOCK = 16384, HEARTBEAT_MS = 15000 };

typedef struct {
  hw__service *service;
  int64_t river; /* key; 0: all */
  int64_t log_at, event_at;
  uint64_t seen;
  unsigned allowed; /* version of the tokens it was allowed by */
  bool greeted;
  char *text; /* not yet sent */
  size_t size, sent;
} stream;

static void add_reading(stream *s, FILE *out, const hw__log_record *record) {
  s->log_at = record->seq;
  const bool measured = record->kind == HW_RECORD_READING || record->kind == HW_RECORD_DISCHARGE;
  if (!measured || (s->river && record->river != s->river)) {
    return;
  }
  const ptrdiff_t site = hw__catalog_site_of_key(s->service->catalog, record->river);
  const bool calendar = site >= 0 && hw__river_time_base(s->service, (size_t)site) == HW_TIME_CALENDAR;
  json_t *root = hw__show_reading(s->service, record, calendar);
  char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  if (text) {
    fprintf(out, "id: %" PRId64 "-%" PRId64 "\nevent: %s\ndata: %s\n\n", s->log_at, s->event_at,
            record->kind == HW_RECORD_DISCHARGE ? "discharge" : "reading", text);
  }
  free(text);
}

static void add_event(stream *s, FILE *out, const hw__event *event) {
  s->event_at = event->id;
  if (s->river && event->river != s->river) {
    return;
  }
  json_t *root = hw__show_event(s->service, event);
  char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  if (text) {
    fprintf(out, "id: %" PRId64 "-%" PRId64 "\nevent: %s\ndata: %s\n\n", s->log_at, s->event_at, event->kind, text);
  }
  free(text);
}

/* Everything new, at most a page of each. Returned: false when the disk failed. */
static bool collect(stream *s, FILE *out) {
  hw__log_record *records = malloc(PAGE * sizeof *records);
  hw__event *events = malloc(PAGE * sizeof *events);
  hw__db *db = records && events ? hw__store_reader(s->service->store) : NULL;
  size_t record_count = 0, event_count = 0;
  bool ok = false;
  if (db) {
    ok = hw__db_log(db, s->log_at, records, PAGE, &record_count) == HW_DB_OK &&
         hw__db_events(db, s->event_at, true, events, PAGE, &event_count) == HW_DB_OK;
    hw__store_return(s->service->store, db);
  }
  for (size_t i = 0; i < record_count && ok; i++) {
    add_reading(s, out, &records[i]);
  }
  for (size_t i = 0; i < event_count; i++) {
    add_event(s, out, &events[i]);
    free(events[i].body);
  }
  free(records);
  free(events);
  return ok;
}

static bool refill(stream *s) {
  free(s->text);
  s->text = NULL;
  s->sent = s->size = 0;
  FILE *out = open_memstream(&s->text, &s->size);
  if (!out) {
    return false;
  }
  bool ok = true;
  if (!s->greeted) {
    fprintf(out, "retry: 2000\nid: %" PRId64 "-%" PRId64 "\nevent: hello\ndata: {}\n\n", s->log_at, s->event_at);
    s->greeted = true;
  } else {
    const int64_t log_at = s->log_at, event_at = s->event_at;
    const uint64_t version = hw__store_wait(s->service->store, s->seen, 0);
    /* Asked behind the version: tokens that change after it wake us again. */
    ok = hw__auth_version(s->service->auth) == s->allowed && collect(s, out);
    if (ok && s->log_at == log_at && s->event_at == event_at) {
      s->seen = version;
      if (hw__store_wait(s->service->store, version, HEARTBEAT_MS) == version) {
        fprintf(out, ": still here\n\n");
      }
    }
  }
  return fclose(out) == 0 && ok;
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t most) {
  (void)position;
  stream *s = context;
  while (s->sent == s->size) {
    if (atomic_load(&s->service->stopping) || !refill(s)) {
      return MHD_CONTENT_READER_END_OF_STREAM;
    }
  }
  const size_t size = s->size - s->sent < most ? s->size - s->sent : most;
  memcpy(buffer, s->text + s->sent, size);
  s->sent += size;
  return (ssize_t)size;
}

static void free_stream(void *context) {
  stream *s = context;
  free(s->text);
  free(s);
}

static bool start_at(stream *s, const char *last) {
  int64_t log_at = 0, event_at = 0;
  if (last && *last) {
    if (sscanf(last, "%" SCNd64 "-%" SCNd64, &log_at, &event_at) != 2 || log_at < 0 || event_at < 0) {
      return false;
    }
  } else {
    hw__db *db = hw__store_reader(s->service->store);
    if (db) {
      hw__db_head(db, &log_at);
      hw__db_last_event(db, &event_at);
      hw__store_return(s->service->store, db);
    }
  }
  s->log_at = log_at;
  s->event_at = event_at;
  return true;
}

hw__reply hw__get_stream(hw__request *request) {
  const char *river = hw__query(request, "river");
  const ptrdiff_t site = river ? hw__catalog_find(request->service->catalog, river) : -1;
  if (river && site < 0) {
    return hw__reply_error(404, "no river '%.64s'", river);
  }
  if (!hw__connections_step(request->service->connections, request->connection, HW_STEP_STREAM)) {
    return hw__reply_later("too many event streams");
  }
  stream *s = calloc(1, sizeof *s);
  if (!s) {
    return hw__reply_later("out of memory, ask again");
  }
  s->service = request->service;
  s->allowed = hw__auth_version(request->service->auth);
  s->river = river ? hw__catalog_site(request->service->catalog, (size_t)site)->key : 0;
  const char *last = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Last-Event-ID");
  if (!start_at(s, last ? last : hw__query(request, "last_event_id"))) {
    free(s);
    return hw__reply_error(400, "Last-Event-ID: expected one that this stream gave");
  }
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, s, free_stream);
  if (!response) {
    free_stream(s);
    return hw__reply_later("out of memory, ask again");
  }
  MHD_add_response_header(response, "Content-Type", "text/event-stream");
  MHD_add_response_header(response, "Cache-Control", "no-store");
  MHD_add_response_header(response, "X-Accel-Buffering", "no");
  return (hw__reply){.code = 200, .response = response, .stream = true};
}

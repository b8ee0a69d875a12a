#include "cluster/wire.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { BELOW = 1, CALENDAR = 2, ABOVE = 4, DISCHARGE = 8 };
enum { PROVISIONAL = 1, HAS_INTERVAL = 2, HAS_SOURCE = 4 };

/* --- addresses --- */

static void token_of(const char *id, char *out, size_t size) {
  size_t at = 0;
  for (; *id && at + 4 < size; id++) {
    if (*id == '.') {
      memcpy(out + at, "%2E", 3);
      at += 3;
    } else {
      out[at++] = *id;
    }
  }
  out[at] = '\0';
}

size_t hw__wire_partition(const char *river, size_t partitions) {
  char token[3 * HW_ID_SIZE];
  token_of(river, token, sizeof token);
  uint32_t h = UINT32_C(2166136261);
  for (const char *c = token; *c; c++) {
    h = (h ^ (unsigned char)*c) * UINT32_C(16777619);
  }
  return h % partitions;
}

void hw__wire_subject(const char *way, size_t partition, const char *river, const char *kind,
                      char out[HW_WIRE_SUBJECT]) {
  char token[3 * HW_ID_SIZE];
  token_of(river, token, sizeof token);
  snprintf(out, HW_WIRE_SUBJECT, "hw.%.8s.%zu.%s.%.24s", way, partition, token, kind);
}

/* The next token of a subject, decoded. Returned: where the one after it begins, NULL when it does not fit. */
static const char *next_token(const char *at, char *out, size_t size) {
  size_t n = 0;
  for (; *at && *at != '.'; n++) {
    const bool dot = strncmp(at, "%2E", 3) == 0;
    if (n + 1 >= size) {
      return NULL;
    }
    out[n] = dot ? '.' : *at;
    at += dot ? 3 : 1;
  }
  out[n] = '\0';
  return n ? at + (*at == '.') : NULL;
}

bool hw__wire_read_address(const char *subject, hw__wire_address *out) {
  char house[4], way[8], number[12];
  const char *at = next_token(subject, house, sizeof house);
  at = at ? next_token(at, way, sizeof way) : NULL;
  at = at ? next_token(at, number, sizeof number) : NULL;
  at = at ? next_token(at, out->river, sizeof out->river) : NULL;
  at = at ? next_token(at, out->kind, sizeof out->kind) : NULL;
  char *end = NULL;
  const long partition = at ? strtol(number, &end, 10) : -1;
  out->partition = (size_t)partition;
  return at && !*at && partition >= 0 && !*end;
}

/* --- small things --- */

static json_t *real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static double number_of(const json_t *value) {
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int64_t integer_of(const json_t *object, const char *key) {
  return (int64_t)json_integer_value(json_object_get(object, key));
}

static char *dump(json_t *root) {
  char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  return text;
}

/* Messages of earlier versions are read; those of a later version are refused. The first version had no number. */
static bool is_readable(const json_t *root) {
  const json_t *version = json_object_get(root, "v");
  return json_is_object(root) && (!version || (json_is_integer(version) && json_integer_value(version) >= 1 &&
                                               json_integer_value(version) <= HW_WIRE_VERSION));
}

static hw_status load(const char *text, size_t size, json_t **out) {
  const hw_status status = hw__json_load(text, size, JSON_REJECT_DUPLICATES, out, NULL);
  if (status == HW_OK && !is_readable(*out)) {
    json_decref(*out);
    *out = NULL;
    return HW_EINPUT;
  }
  return status;
}

static bool copy_text(const json_t *object, const char *key, char *out, size_t size) {
  const char *text = json_string_value(json_object_get(object, key));
  const bool fits = text && strlen(text) < size;
  snprintf(out, size, "%s", fits ? text : "");
  return fits;
}

/* --- towards the workers --- */

char *hw__wire_readings(const hw__site *site, const hw__checked_reading *const *entries, size_t count) {
  json_t *rows = json_array();
  for (size_t i = 0; i < count; i++) {
    const hw__checked_reading *e = entries[i];
    json_t *row = json_pack("[s, f, f, i]", hw__site_name(site, e->place), e->time_s, e->concentration_g_m3,
                            (e->below_limit ? BELOW : 0) | (e->calendar ? CALENDAR : 0) | (e->above_limit ? ABOVE : 0) |
                                (e->place.gauge ? DISCHARGE : 0));
    if (json_array_append_new(rows, row) != 0) {
      json_decref(rows);
      return NULL;
    }
  }
  return dump(json_pack("{s:i, s:o}", "v", HW_WIRE_VERSION, "rows", rows));
}

static hw_status read_row(const json_t *row, const char *river, size_t line, hw__ingest *ingest) {
  hw__checked_reading entry = {.line = line, .time_s = number_of(json_array_get(row, 1))};
  entry.concentration_g_m3 = number_of(json_array_get(row, 2));
  const json_int_t flags = json_integer_value(json_array_get(row, 3));
  entry.below_limit = (flags & BELOW) != 0;
  entry.above_limit = (flags & ABOVE) != 0;
  entry.calendar = (flags & CALENDAR) != 0;
  const bool discharge = (flags & DISCHARGE) != 0;
  const char *sensor = json_string_value(json_array_get(row, 0));
  if (!sensor || !isfinite(entry.time_s) || !isfinite(entry.concentration_g_m3) ||
      (entry.below_limit && entry.above_limit) || (discharge && (entry.below_limit || entry.above_limit))) {
    ingest->tally[HW_FATE_MALFORMED]++;
  } else if ((discharge ? hw__catalog_gauge : hw__catalog_sensor)(ingest->catalog, river, sensor, &entry.place) !=
             HW_OK) {
    ingest->tally[HW_FATE_UNKNOWN]++;
  } else {
    return hw__ingest_entry(ingest, &entry);
  }
  return HW_OK;
}

hw_status hw__wire_read_readings(const char *text, size_t size, const char *river, hw__ingest *ingest) {
  json_t *root;
  hw_status status = load(text, size, &root);
  const json_t *rows = json_object_get(root, "rows");
  if (status == HW_OK && (!json_is_array(rows) || json_array_size(rows) > HW_WIRE_ROWS)) {
    status = HW_EINPUT;
  }
  for (size_t i = 0; status == HW_OK && i < json_array_size(rows); i++) {
    status = read_row(json_array_get(rows, i), river, i, ingest);
  }
  json_decref(root);
  return status;
}

static const char *const command_words[] = {
    [HW_RECORD_OPEN] = "open", [HW_RECORD_CLOSE] = "close", [HW_RECORD_ACKNOWLEDGE] = "acknowledge"};

static hw__record_kind command_of(const char *word) {
  hw__record_kind kind = HW_RECORD_READING;
  for (int k = HW_RECORD_OPEN; word && k <= HW_RECORD_ACKNOWLEDGE; k++) {
    kind = command_words[k] && strcmp(word, command_words[k]) == 0 ? (hw__record_kind)k : kind;
  }
  return kind;
}

char *hw__wire_command(const hw__log_record *record) {
  json_t *root =
      json_pack("{s:i, s:s, s:I, s:o, s:s}", "v", HW_WIRE_VERSION, "command", command_words[record->kind], "incident",
                (json_int_t)record->incident, "time_s", real(record->time_s), "method", record->method);
  if (root && record->note) {
    json_object_set_new(root, "note", json_string(record->note));
  }
  return dump(root);
}

hw_status hw__wire_read_command(const char *text, size_t size, hw__log_record *out, char **note) {
  json_t *root;
  const hw_status status = load(text, size, &root);
  const char *said = json_string_value(json_object_get(root, "note"));
  *out = (hw__log_record){.kind = command_of(json_string_value(json_object_get(root, "command"))),
                          .incident = integer_of(root, "incident"),
                          .time_s = number_of(json_object_get(root, "time_s"))};
  const bool named = copy_text(root, "method", out->method, sizeof out->method);
  const bool ok = out->kind != HW_RECORD_READING && named && (!out->method[0] || hw_method_find(out->method)) &&
                  !(fabs(out->time_s) > 1e10);
  *note = status == HW_OK && ok && said ? strdup(said) : NULL;
  out->note = *note;
  const bool starved = status == HW_OK && ok && said && !*note;
  json_decref(root);
  return starved ? HW_ENOMEM : status != HW_OK || ok ? status : HW_EINPUT;
}

/* --- from the workers --- */

static const char *sensor_name(const hw__catalog *catalog, int64_t key) {
  hw__place place;
  return key && hw__catalog_place(catalog, key, &place) == HW_OK
             ? hw__site_name(hw__catalog_site(catalog, place.site), place)
             : "";
}

static json_t *pack_incident(const hw__catalog *catalog, const hw__incident *i) {
  return json_pack("{s:I, s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:I, s:s}", "id", (json_int_t)i->id,
                   "engine", (json_int_t)i->engine, "sensor", sensor_name(catalog, i->sensor), "method", i->method,
                   "seed", (json_int_t)i->seed, "opened_s", real(i->opened_s), "onset_s", real(i->onset_s), "from_s",
                   real(i->from_s), "origin_s", real(i->origin_s), "opened_us", (json_int_t)i->opened_us, "closed_seq",
                   (json_int_t)i->closed_seq, "closed_s", real(i->closed_s), "closed_us", (json_int_t)i->closed_us,
                   "reason", i->reason);
}

static json_t *pack_track(const hw__track *t) {
  const int flags =
      (t->provisional ? PROVISIONAL : 0) | (t->has_interval ? HAS_INTERVAL : 0) | (t->has_source ? HAS_SOURCE : 0);
  return json_pack("[I, o, I, i, o, o, o, o, o, o, o, o, o, i, o, s, o, o, o]", (json_int_t)t->seq, real(t->reading_s),
                   (json_int_t)t->readings, flags, real(t->source.mass_g), real(t->source.location_m),
                   real(t->source.time_s), real(t->interval.lo.mass_g), real(t->interval.lo.location_m),
                   real(t->interval.lo.time_s), real(t->interval.hi.mass_g), real(t->interval.hi.location_m),
                   real(t->interval.hi.time_s), (int)t->trust, real(t->spill), t->branch, real(t->duration_s.lo),
                   real(t->duration_s.mid), real(t->duration_s.hi));
}

char *hw__wire_write_news(const hw__catalog *catalog, const hw__wire_news *news) {
  const hw__event *e = &news->event;
  const ptrdiff_t site = hw__catalog_site_of_key(catalog, e->river);
  json_t *tracks = json_array();
  for (size_t i = 0; i < news->track_count; i++) {
    json_array_append_new(tracks, pack_track(&news->tracks[i]));
  }
  return dump(json_pack("{s:i, s:I, s:s, s:s, s:I, s:s, s:I, s:s, s:o, s:o}", "v", HW_WIRE_VERSION, "fence",
                        (json_int_t)news->fence, "river", site >= 0 ? hw__catalog_site(catalog, (size_t)site)->id : "",
                        "kind", e->kind, "seq", (json_int_t)e->seq, "subject", e->subject, "at_us",
                        (json_int_t)e->at_us, "body", e->body, "incident", pack_incident(catalog, &news->incident),
                        "tracks", tracks));
}

/* In the first version every track had a source, and no track said how far it is trusted. */
static bool read_track(const json_t *row, int64_t version, hw__track *out) {
  const json_int_t flags = json_integer_value(json_array_get(row, 3)) | (version < 2 ? HAS_SOURCE : 0);
  const json_int_t trust = json_integer_value(json_array_get(row, 13));
  const char *branch = json_string_value(json_array_get(row, 15));
  double n[9];
  for (size_t i = 0; i < 9; i++) {
    n[i] = number_of(json_array_get(row, 4 + i));
  }
  *out = (hw__track){.seq = (int64_t)json_integer_value(json_array_get(row, 0)),
                     .reading_s = number_of(json_array_get(row, 1)),
                     .readings = (size_t)json_integer_value(json_array_get(row, 2)),
                     .provisional = (flags & PROVISIONAL) != 0,
                     .has_source = (flags & HAS_SOURCE) != 0,
                     .has_interval = (flags & HAS_INTERVAL) != 0,
                     .trust = (hw_trust)trust,
                     .spill = number_of(json_array_get(row, 14)),
                     .source = {n[0], n[1], n[2]},
                     .interval = {{n[3], n[4], n[5]}, {n[6], n[7], n[8]}},
                     .duration_s = {.lo = number_of(json_array_get(row, 16)),
                                    .mid = number_of(json_array_get(row, 17)),
                                    .hi = number_of(json_array_get(row, 18))}};
  snprintf(out->branch, sizeof out->branch, "%s", branch ? branch : "");
  const bool finite = isfinite(n[0]) && isfinite(n[1]) && isfinite(n[2]);
  return isfinite(out->reading_s) && trust >= HW_TRUST_UNJUDGED && trust <= HW_TRUST_NONE &&
         (finite || !out->has_source) && (out->has_source || !out->has_interval) &&
         (!branch || strlen(branch) < sizeof out->branch);
}

static bool read_incident(const json_t *object, const hw__catalog *catalog, const hw__site *site, hw__incident *out) {
  *out = (hw__incident){.id = integer_of(object, "id"),
                        .river = site->key,
                        .seed = (uint64_t)integer_of(object, "seed"),
                        .opened_s = number_of(json_object_get(object, "opened_s")),
                        .onset_s = number_of(json_object_get(object, "onset_s")),
                        .from_s = number_of(json_object_get(object, "from_s")),
                        .origin_s = number_of(json_object_get(object, "origin_s")),
                        .opened_us = integer_of(object, "opened_us"),
                        .closed_seq = integer_of(object, "closed_seq"),
                        .closed_s = number_of(json_object_get(object, "closed_s")),
                        .closed_us = integer_of(object, "closed_us"),
                        .engine = json_object_get(object, "engine") ? integer_of(object, "engine") : 1};
  char sensor[HW_ID_SIZE];
  hw__place place;
  if (copy_text(object, "sensor", sensor, sizeof sensor) && sensor[0] &&
      hw__catalog_sensor(catalog, site->id, sensor, &place) == HW_OK) {
    out->sensor = site->sensor_keys[place.sensor];
  }
  return copy_text(object, "method", out->method, sizeof out->method) && hw_method_find(out->method) &&
         copy_text(object, "reason", out->reason, sizeof out->reason) && out->id > 0 && isfinite(out->opened_s) &&
         isfinite(out->onset_s) && isfinite(out->from_s) && isfinite(out->origin_s);
}

hw_status hw__wire_read_news(const char *text, size_t size, const hw__catalog *catalog, hw__wire_news *out) {
  json_t *root;
  hw_status status = load(text, size, &root);
  char river[HW_ID_SIZE];
  const json_t *tracks = json_object_get(root, "tracks");
  const int64_t version = integer_of(root, "v");
  const char *body = json_string_value(json_object_get(root, "body"));
  const ptrdiff_t site =
      copy_text(root, "river", river, sizeof river) ? hw__catalog_find(catalog, river) : (ptrdiff_t)-1;
  bool ok = site >= 0 && body && json_array_size(tracks) <= HW_WIRE_TRACKS;
  if (ok) {
    const hw__site *place = hw__catalog_site(catalog, (size_t)site);
    *out = (hw__wire_news){.fence = integer_of(root, "fence"), .track_count = json_array_size(tracks)};
    ok = read_incident(json_object_get(root, "incident"), catalog, place, &out->incident) &&
         copy_text(root, "kind", out->event.kind, sizeof out->event.kind) &&
         copy_text(root, "subject", out->event.subject, sizeof out->event.subject);
    out->event.seq = integer_of(root, "seq");
    out->event.river = place->key;
    out->event.incident = out->incident.id;
    out->event.at_us = integer_of(root, "at_us");
    for (size_t i = 0; i < out->track_count; i++) {
      ok = read_track(json_array_get(tracks, i), version, &out->tracks[i]) && ok;
    }
    out->event.body = ok ? strdup(body) : NULL;
    status = ok && !out->event.body ? HW_ENOMEM : status;
  }
  json_decref(root);
  return status != HW_OK || ok ? status : HW_EINPUT;
}

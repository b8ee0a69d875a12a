/* What was worked out from the log: incidents, their estimates, events, the tracker's snapshot. */
#include <math.h>
#include <stdlib.h>

#include "store/driver.h"

bool hw__incident_passes_over(const hw__incident *incident, const hw__site *site, const hw__log_record *record) {
  const bool measured = record->kind == HW_RECORD_READING;
  return record->time_s < incident->from_s ||
         (measured && !hw__site_on_one_path(site, incident->sensor, record->sensor));
}

hw__db_status hw__db_open_incident(hw__db *db, const hw__incident *i) {
  return hw__sql_run(
      db, SQL_INCIDENT_OPEN,
      HW_VALUES(of_integer(i->id), of_integer(i->river), of_integer(i->sensor), of_text(i->method),
                of_integer((int64_t)i->seed), of_real(i->opened_s), of_real(i->onset_s), of_real(i->from_s),
                of_real(i->origin_s), of_integer(i->opened_us), of_integer(i->engine)));
}

hw__db_status hw__db_close_incident(hw__db *db, const hw__incident *i) {
  return hw__sql_run(db, SQL_INCIDENT_CLOSE,
                     HW_VALUES(of_integer(i->id), of_integer(i->closed_seq), of_real(i->closed_s),
                               of_integer(i->closed_us), of_text(i->reason)));
}

hw__db_status hw__read_incident(const hw__value *row, void *element) {
  hw__incident *out = element;
  *out = (hw__incident){.id = hw__value_integer(&row[0]),
                        .river = hw__value_integer(&row[1]),
                        .sensor = hw__value_integer(&row[2]),
                        .seed = (uint64_t)hw__value_integer(&row[4]),
                        .opened_s = hw__value_real(&row[5]),
                        .onset_s = hw__value_real(&row[6]),
                        .from_s = hw__value_real(&row[7]),
                        .origin_s = hw__value_real(&row[8]),
                        .opened_us = hw__value_integer(&row[9]),
                        .closed_seq = hw__value_integer(&row[10]),
                        .closed_s = hw__value_real(&row[11]),
                        .closed_us = hw__value_integer(&row[12]),
                        .result_seq = hw__value_integer(&row[14]),
                        .engine = hw__value_integer(&row[15])};
  hw__value_copy(&row[3], out->method, sizeof out->method);
  hw__value_copy(&row[13], out->reason, sizeof out->reason);
  return HW_DB_OK;
}

hw__db_status hw__db_incident(hw__db *db, int64_t id, hw__incident *out) {
  return hw__sql_one(db, SQL_INCIDENT, hw__read_incident, out, HW_VALUES(of_integer(id)));
}

hw__db_status hw__db_incidents(hw__db *db, const hw__incident_query *which, hw__incident *out, size_t limit,
                               size_t *count) {
  const hw__collection incidents = {hw__read_incident, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_INCIDENTS, &incidents,
                         HW_VALUES(of_integer(which->river), of_integer(which->open_only), of_integer(which->before),
                                   of_integer((int64_t)limit)));
}

hw__db_status hw__db_unfinished(hw__db *db, hw__incident *out, size_t limit, size_t *count) {
  const hw__collection incidents = {hw__read_incident, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_UNFINISHED, &incidents, HW_VALUES(of_integer((int64_t)limit)));
}

hw__db_status hw__db_finish_incident(hw__db *db, int64_t id) {
  return hw__sql_run(db, SQL_FINISH, HW_VALUES(of_integer(id)));
}

hw__db_status hw__db_rework_incident(hw__db *db, int64_t id, int64_t engine, bool *reworked) {
  size_t changed = 0;
  const hw__db_status status = db->driver->run(db, SQL_REWORK, HW_VALUES(of_integer(id), of_integer(engine)), &changed);
  *reworked = status == HW_DB_OK && changed > 0;
  return *reworked ? hw__sql_run(db, SQL_REWORK_TRACKS, HW_VALUES(of_integer(id))) : status;
}

static hw__value bound(const hw__track *track, double x) {
  return of_real(track->has_interval ? x : (double)NAN);
}

static hw__value found(const hw__track *track, double x) {
  return of_real(track->has_source ? x : (double)NAN);
}

hw__db_status hw__db_put_track(hw__db *db, int64_t incident, const hw__track *t) {
  const hw_source *lo = &t->interval.lo, *hi = &t->interval.hi;
  return hw__sql_run(
      db, SQL_TRACK_ADD,
      HW_VALUES(of_integer(incident), of_integer(t->seq), of_real(t->reading_s), of_integer((int64_t)t->readings),
                of_integer(t->provisional), of_integer(t->has_interval), found(t, t->source.mass_g),
                found(t, t->source.location_m), found(t, t->source.time_s), bound(t, lo->mass_g), bound(t, hi->mass_g),
                bound(t, lo->location_m), bound(t, hi->location_m), bound(t, lo->time_s), bound(t, hi->time_s),
                of_integer(t->trust), of_real(t->spill), of_text(t->branch), found(t, t->duration_s.mid),
                found(t, t->duration_s.lo), found(t, t->duration_s.hi)));
}

static hw__db_status read_track(const hw__value *row, void *element) {
  double x[9];
  for (int i = 0; i < 9; i++) {
    x[i] = hw__value_real(&row[6 + i]);
  }
  hw__track *out = element;
  *out = (hw__track){
      .seq = hw__value_integer(&row[1]),
      .reading_s = hw__value_real(&row[2]),
      .readings = (size_t)hw__value_integer(&row[3]),
      .provisional = hw__value_integer(&row[4]) != 0,
      .has_source = isfinite(x[0]),
      .has_interval = hw__value_integer(&row[5]) != 0,
      .source = {x[0], x[1], x[2]},
      .interval = {{x[3], x[5], x[7]}, {x[4], x[6], x[8]}},
      .trust = (hw_trust)hw__value_integer(&row[15]),
      .spill = hw__value_real(&row[16]),
      .duration_s = {.mid = hw__value_real(&row[18]), .lo = hw__value_real(&row[19]), .hi = hw__value_real(&row[20])}};
  hw__value_copy(&row[17], out->branch, sizeof out->branch);
  return HW_DB_OK;
}

hw__db_status hw__db_tracks(hw__db *db, int64_t incident, int64_t after, hw__track *out, size_t limit, size_t *count) {
  const hw__collection tracks = {read_track, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_TRACKS, &tracks,
                         HW_VALUES(of_integer(incident), of_integer(after), of_integer((int64_t)limit)));
}

hw__db_status hw__db_put_result(hw__db *db, int64_t incident, int64_t seq, const char *json) {
  return hw__sql_run(db, SQL_RESULT_SET, HW_VALUES(of_integer(incident), of_integer(seq), of_text(json)));
}

static hw__db_status read_text(const hw__value *row, void *element) {
  char **out = element;
  *out = hw__value_duplicate(&row[0]);
  return *out ? HW_DB_OK : HW_DB_MEMORY;
}

hw__db_status hw__db_result(hw__db *db, int64_t incident, char **out) {
  *out = NULL;
  return hw__sql_one(db, SQL_RESULT, read_text, out, HW_VALUES(of_integer(incident)));
}

hw__db_status hw__db_put_event(hw__db *db, const hw__event *event) {
  return hw__sql_run(
      db, SQL_EVENT_ADD,
      HW_VALUES(of_text(event->kind), of_integer(event->seq), of_integer(event->river), of_integer(event->incident),
                of_text(event->subject), of_integer(event->at_us), of_text(event->body)));
}

static hw__db_status read_event(const hw__value *row, void *element) {
  hw__event *event = element;
  *event = (hw__event){.id = hw__value_integer(&row[0]),
                       .seq = hw__value_integer(&row[2]),
                       .river = hw__value_integer(&row[3]),
                       .incident = hw__value_integer(&row[4]),
                       .at_us = hw__value_integer(&row[6]),
                       .body = hw__value_duplicate(&row[7])};
  hw__value_copy(&row[1], event->kind, sizeof event->kind);
  hw__value_copy(&row[5], event->subject, sizeof event->subject);
  return event->body ? HW_DB_OK : HW_DB_MEMORY;
}

hw__db_status hw__db_events(hw__db *db, int64_t after, bool estimates, hw__event *out, size_t limit, size_t *count) {
  const hw__collection events = {read_event, out, sizeof *out, limit, count};
  return hw__sql_collect(db, estimates ? SQL_EVENTS : SQL_EVENTS_BRIEF, &events,
                         HW_VALUES(of_integer(after), of_integer((int64_t)limit)));
}

hw__db_status hw__db_latest_events(hw__db *db, int64_t before, hw__event *out, size_t limit, size_t *count) {
  const hw__collection events = {read_event, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_EVENTS_LATEST, &events, HW_VALUES(of_integer(before), of_integer((int64_t)limit)));
}

hw__db_status hw__db_incident_events(hw__db *db, int64_t incident, int64_t after, hw__event *out, size_t limit,
                                     size_t *count) {
  const hw__collection events = {read_event, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_EVENTS_INCIDENT, &events,
                         HW_VALUES(of_integer(incident), of_integer(after), of_integer((int64_t)limit)));
}

hw__db_status hw__db_forget_estimates(hw__db *db, int64_t before) {
  return hw__sql_run(db, SQL_EVENTS_FORGET, HW_VALUES(of_integer(before)));
}

hw__db_status hw__db_last_event(hw__db *db, int64_t *id) {
  return hw__sql_integer(db, SQL_LAST_EVENT, id, HW_NO_VALUES);
}

const char *hw__event_text(hw__event_kind kind) {
  static const char *const texts[] = {
#define ROW(name, text) text,
      HW_EVENT_LIST(ROW)
#undef ROW
  };
  return texts[kind];
}

bool hw__event_is(const hw__event *event, hw__event_kind kind) {
  return strcmp(event->kind, hw__event_text(kind)) == 0;
}

bool hw__event_withdraws(const hw__event *event) {
  return hw__event_is(event, HW_EVENT_CANDIDATE_WITHDRAWN) || hw__event_is(event, HW_EVENT_INTAKE_ALARM_WITHDRAWN);
}

hw__db_status hw__db_last_event_of(hw__db *db, int64_t incident, hw__event_kind kind, const char *subject,
                                   hw__event *out) {
  return hw__sql_one(db, SQL_LAST_EVENT_OF, read_event, out,
                     HW_VALUES(of_integer(incident), of_text(hw__event_text(kind)), of_text(subject)));
}

hw__db_status hw__db_put_cursor(hw__db *db, const char *name, int64_t event) {
  return hw__sql_run(db, SQL_CURSOR_SET, HW_VALUES(of_text(name), of_integer(event)));
}

hw__db_status hw__db_cursor(hw__db *db, const char *name, int64_t *event) {
  return hw__sql_integer(db, SQL_CURSOR, event, HW_VALUES(of_text(name)));
}

hw__db_status hw__db_put_snapshot(hw__db *db, int64_t seq, const void *body, size_t size) {
  return hw__sql_run(db, SQL_SNAPSHOT_SET, HW_VALUES(of_integer(seq), of_blob(body, size)));
}

typedef struct {
  int64_t seq;
  char *body;
  size_t size;
} snapshot;

static hw__db_status read_snapshot(const hw__value *row, void *element) {
  const snapshot found = {hw__value_integer(&row[0]), hw__value_duplicate(&row[1]), row[1].size};
  *(snapshot *)element = found;
  return found.body ? HW_DB_OK : HW_DB_MEMORY;
}

hw__db_status hw__db_snapshot(hw__db *db, int64_t *seq, void **body, size_t *size) {
  *body = NULL;
  snapshot found;
  const hw__db_status status = hw__sql_one(db, SQL_SNAPSHOT, read_snapshot, &found, HW_NO_VALUES);
  if (status == HW_DB_OK) {
    *seq = found.seq;
    *body = found.body;
    *size = found.size;
  }
  return status;
}

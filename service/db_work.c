/* What was worked out from the log: incidents, their estimates, events, the tracker's snapshot. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db_schema.h"

static double column_real(sqlite3_stmt *statement, int column) {
  return sqlite3_column_type(statement, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(statement, column);
}

static void column_text(sqlite3_stmt *statement, int column, char *out, size_t size) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  snprintf(out, size, "%s", text ? text : "");
}

bool hw__incident_passes_over(const hw_incident *incident, const hw_record *record) {
  return record->time_s < incident->from_s;
}

hw_db_status hw__db_open_incident(hw_db *db, const hw_incident *i) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_INCIDENT_OPEN);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, i->id);
  sqlite3_bind_int64(statement, 2, i->river);
  sqlite3_bind_int64(statement, 3, i->sensor);
  sqlite3_bind_text(statement, 4, i->method, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 5, (sqlite3_int64)i->seed);
  sqlite3_bind_double(statement, 6, i->opened_s);
  sqlite3_bind_double(statement, 7, i->onset_s);
  sqlite3_bind_double(statement, 8, i->from_s);
  sqlite3_bind_double(statement, 9, i->origin_s);
  sqlite3_bind_int64(statement, 10, i->opened_us);
  return hw__db_run(db, statement);
}

hw_db_status hw__db_close_incident(hw_db *db, const hw_incident *i) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_INCIDENT_CLOSE);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, i->id);
  sqlite3_bind_int64(statement, 2, i->closed_seq);
  sqlite3_bind_double(statement, 3, i->closed_s);
  sqlite3_bind_int64(statement, 4, i->closed_us);
  sqlite3_bind_text(statement, 5, i->reason, -1, SQLITE_STATIC);
  return hw__db_run(db, statement);
}

static void read_incident(sqlite3_stmt *s, hw_incident *out) {
  *out = (hw_incident){.id = sqlite3_column_int64(s, 0),
                       .river = sqlite3_column_int64(s, 1),
                       .sensor = sqlite3_column_int64(s, 2),
                       .seed = (uint64_t)sqlite3_column_int64(s, 4),
                       .opened_s = sqlite3_column_double(s, 5),
                       .onset_s = sqlite3_column_double(s, 6),
                       .from_s = sqlite3_column_double(s, 7),
                       .origin_s = sqlite3_column_double(s, 8),
                       .opened_us = sqlite3_column_int64(s, 9),
                       .closed_seq = sqlite3_column_int64(s, 10),
                       .closed_s = column_real(s, 11),
                       .closed_us = sqlite3_column_int64(s, 12),
                       .result_seq = sqlite3_column_int64(s, 14)};
  column_text(s, 3, out->method, sizeof out->method);
  column_text(s, 13, out->reason, sizeof out->reason);
}

hw_db_status hw__db_incident(hw_db *db, int64_t id, hw_incident *out) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_INCIDENT);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, id);
  const hw_db_status status = hw__db_step(db, statement);
  if (status == HW_DB_OK) {
    read_incident(statement, out);
    sqlite3_reset(statement);
  }
  return status;
}

static hw_db_status collect_incidents(hw_db *db, sqlite3_stmt *statement, hw_incident *out, size_t limit,
                                      size_t *count) {
  size_t n = 0;
  hw_db_status status = HW_DB_OK;
  while (n < limit && (status = hw__db_step(db, statement)) == HW_DB_OK) {
    read_incident(statement, &out[n++]);
  }
  sqlite3_reset(statement);
  *count = n;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

hw_db_status hw__db_incidents(hw_db *db, int64_t river, bool open_only, hw_incident *out, size_t limit, size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_INCIDENTS);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, river);
  sqlite3_bind_int(statement, 2, open_only);
  sqlite3_bind_int64(statement, 3, (sqlite3_int64)limit);
  return collect_incidents(db, statement, out, limit, count);
}

hw_db_status hw__db_unfinished(hw_db *db, hw_incident *out, size_t limit, size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_UNFINISHED);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, (sqlite3_int64)limit);
  return collect_incidents(db, statement, out, limit, count);
}

hw_db_status hw__db_finish_incident(hw_db *db, int64_t id) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_FINISH);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, id);
  return hw__db_run(db, statement);
}

hw_db_status hw__db_put_track(hw_db *db, int64_t incident, const hw_track *t) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_TRACK_ADD);
  if (!statement) {
    return hw__db_fault(db);
  }
  const double numbers[] = {t->source.mass_g,          t->source.location_m,  t->source.time_s,
                            t->interval.lo.mass_g,     t->interval.hi.mass_g, t->interval.lo.location_m,
                            t->interval.hi.location_m, t->interval.lo.time_s, t->interval.hi.time_s};
  sqlite3_bind_int64(statement, 1, incident);
  sqlite3_bind_int64(statement, 2, t->seq);
  sqlite3_bind_double(statement, 3, t->reading_s);
  sqlite3_bind_int64(statement, 4, (sqlite3_int64)t->readings);
  sqlite3_bind_int(statement, 5, t->provisional);
  sqlite3_bind_int(statement, 6, t->has_interval);
  for (int i = 0; i < 9; i++) {
    sqlite3_bind_double(statement, 7 + i, i < 3 || t->has_interval ? numbers[i] : (double)NAN);
  }
  return hw__db_run(db, statement);
}

hw_db_status hw__db_tracks(hw_db *db, int64_t incident, int64_t after, hw_track *out, size_t limit, size_t *count) {
  sqlite3_stmt *s = hw__db_statement(db, SQL_TRACKS);
  if (!s) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(s, 1, incident);
  sqlite3_bind_int64(s, 2, after);
  sqlite3_bind_int64(s, 3, (sqlite3_int64)limit);
  size_t n = 0;
  hw_db_status status = HW_DB_OK;
  while (n < limit && (status = hw__db_step(db, s)) == HW_DB_OK) {
    out[n++] = (hw_track){.seq = sqlite3_column_int64(s, 0),
                          .reading_s = sqlite3_column_double(s, 1),
                          .readings = (size_t)sqlite3_column_int64(s, 2),
                          .provisional = sqlite3_column_int(s, 3) != 0,
                          .has_interval = sqlite3_column_int(s, 4) != 0,
                          .source = {column_real(s, 5), column_real(s, 6), column_real(s, 7)},
                          .interval = {{column_real(s, 8), column_real(s, 10), column_real(s, 12)},
                                       {column_real(s, 9), column_real(s, 11), column_real(s, 13)}}};
  }
  sqlite3_reset(s);
  *count = n;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

hw_db_status hw__db_put_result(hw_db *db, int64_t incident, int64_t seq, const char *json) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_RESULT_SET);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, incident);
  sqlite3_bind_int64(statement, 2, seq);
  sqlite3_bind_text(statement, 3, json, -1, SQLITE_STATIC);
  return hw__db_run(db, statement);
}

hw_db_status hw__db_result(hw_db *db, int64_t incident, char **out) {
  *out = NULL;
  sqlite3_stmt *statement = hw__db_statement(db, SQL_RESULT);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, incident);
  hw_db_status status = hw__db_step(db, statement);
  if (status == HW_DB_OK) {
    *out = strdup((const char *)sqlite3_column_text(statement, 0));
    status = *out ? HW_DB_OK : HW_DB_IO;
    sqlite3_reset(statement);
  }
  return status;
}

hw_db_status hw__db_put_event(hw_db *db, const hw_event *event) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_EVENT_ADD);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_text(statement, 1, event->kind, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, event->seq);
  sqlite3_bind_int64(statement, 3, event->river);
  sqlite3_bind_int64(statement, 4, event->incident);
  sqlite3_bind_text(statement, 5, event->subject, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 6, event->at_us);
  sqlite3_bind_text(statement, 7, event->body, -1, SQLITE_STATIC);
  return hw__db_run(db, statement);
}

hw_db_status hw__db_events(hw_db *db, int64_t after, bool estimates, hw_event *out, size_t limit, size_t *count) {
  sqlite3_stmt *s = hw__db_statement(db, estimates ? SQL_EVENTS : SQL_EVENTS_BRIEF);
  if (!s) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(s, 1, after);
  sqlite3_bind_int64(s, 2, (sqlite3_int64)limit);
  size_t n = 0;
  hw_db_status status = HW_DB_OK;
  while (n < limit && (status = hw__db_step(db, s)) == HW_DB_OK) {
    hw_event *event = &out[n];
    *event = (hw_event){.id = sqlite3_column_int64(s, 0),
                        .seq = sqlite3_column_int64(s, 2),
                        .river = sqlite3_column_int64(s, 3),
                        .incident = sqlite3_column_int64(s, 4),
                        .at_us = sqlite3_column_int64(s, 6)};
    column_text(s, 1, event->kind, sizeof event->kind);
    column_text(s, 5, event->subject, sizeof event->subject);
    event->body = strdup((const char *)sqlite3_column_text(s, 7));
    if (!event->body) {
      status = HW_DB_IO;
      break;
    }
    n++;
  }
  sqlite3_reset(s);
  *count = n;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

hw_db_status hw__db_last_event(hw_db *db, int64_t *id) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_LAST_EVENT);
  const hw_db_status status = statement ? hw__db_step(db, statement) : hw__db_fault(db);
  if (status == HW_DB_OK) {
    *id = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
  }
  return status;
}

hw_db_status hw__db_has_event(hw_db *db, const char *kind, int64_t incident, const char *subject, bool *out) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_HAS_EVENT);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_text(statement, 1, kind, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, incident);
  sqlite3_bind_text(statement, 3, subject, -1, SQLITE_STATIC);
  const hw_db_status status = hw__db_step(db, statement);
  sqlite3_reset(statement);
  *out = status == HW_DB_OK;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

hw_db_status hw__db_put_cursor(hw_db *db, const char *name, int64_t event) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_CURSOR_SET);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, event);
  return hw__db_run(db, statement);
}

hw_db_status hw__db_cursor(hw_db *db, const char *name, int64_t *event) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_CURSOR);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  const hw_db_status status = hw__db_step(db, statement);
  if (status == HW_DB_OK) {
    *event = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
  }
  return status;
}

hw_db_status hw__db_put_snapshot(hw_db *db, int64_t seq, const void *body, size_t size) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_SNAPSHOT_SET);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, seq);
  sqlite3_bind_blob64(statement, 2, body, size, SQLITE_STATIC);
  return hw__db_run(db, statement);
}

hw_db_status hw__db_snapshot(hw_db *db, int64_t *seq, void **body, size_t *size) {
  *body = NULL;
  sqlite3_stmt *statement = hw__db_statement(db, SQL_SNAPSHOT);
  if (!statement) {
    return hw__db_fault(db);
  }
  hw_db_status status = hw__db_step(db, statement);
  if (status == HW_DB_OK) {
    *seq = sqlite3_column_int64(statement, 0);
    *size = (size_t)sqlite3_column_bytes(statement, 1);
    *body = malloc(*size + 1);
    if (*body) {
      memcpy(*body, sqlite3_column_blob(statement, 1), *size);
    }
    status = *body ? HW_DB_OK : HW_DB_IO;
    sqlite3_reset(statement);
  }
  return status;
}

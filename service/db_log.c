/* The log: readings and commands in, in order out again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db_schema.h"

hw_db_status hw__db_time_base(hw_db *db, int64_t river, hw_time_base *out) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_BASE_GET);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, river);
  const hw_db_status status = hw__db_step(db, statement);
  if (status == HW_DB_OK) {
    *out = (hw_time_base)sqlite3_column_int(statement, 0);
    sqlite3_reset(statement);
  }
  return status;
}

/* A river is in calendar time or relative time for good, as its first stored reading said. A river
 * whose search box has dates takes plain seconds as seconds since 1970. */
static hw_db_status settle_time_base(hw_db *db, const hw_site *site, hw_entry *entry) {
  const hw_time_base told = entry->calendar || site->river.search_is_calendar ? HW_TIME_CALENDAR : HW_TIME_RELATIVE;
  hw_time_base stored = HW_TIME_UNSET;
  hw_db_status status = hw__db_time_base(db, site->key, &stored);
  if (status == HW_DB_OK && stored == HW_TIME_UNSET) {
    sqlite3_stmt *statement = hw__db_statement(db, SQL_BASE_SET);
    if (!statement) {
      return hw__db_fault(db);
    }
    sqlite3_bind_int64(statement, 1, site->key);
    sqlite3_bind_int(statement, 2, (int)told);
    status = hw__db_run(db, statement);
    stored = told;
  }
  if (status == HW_DB_OK && stored != told) {
    entry->fate = HW_FATE_TIME_BASE;
  }
  return status;
}

static hw_db_status same_as_stored(hw_db *db, int64_t sensor, const hw_entry *entry, bool *same) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_READING_SAME);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, sensor);
  sqlite3_bind_double(statement, 2, entry->time_s);
  sqlite3_bind_double(statement, 3, entry->concentration_g_m3);
  sqlite3_bind_int(statement, 4, entry->below_limit);
  const hw_db_status status = hw__db_step(db, statement);
  if (status == HW_DB_OK) {
    *same = sqlite3_column_int(statement, 0) != 0;
    sqlite3_reset(statement);
  }
  return status;
}

static hw_db_status append_one(hw_db *db, const hw_site *site, hw_entry *entry, int64_t received_us, int64_t *seq) {
  const int64_t sensor = site->sensor_keys[entry->place.sensor];
  sqlite3_stmt *statement = hw__db_statement(db, SQL_READING_ADD);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, *seq + 1);
  sqlite3_bind_int64(statement, 2, site->key);
  sqlite3_bind_int64(statement, 3, sensor);
  sqlite3_bind_double(statement, 4, entry->time_s);
  sqlite3_bind_double(statement, 5, entry->concentration_g_m3);
  sqlite3_bind_int(statement, 6, entry->below_limit);
  sqlite3_bind_int64(statement, 7, received_us);
  hw_db_status status = hw__db_run(db, statement);
  if (status != HW_DB_OK) {
    return status;
  }
  if (sqlite3_changes(db->handle) > 0) {
    entry->fate = HW_FATE_ACCEPTED;
    ++*seq;
    return HW_DB_OK;
  }
  bool same = false;
  status = same_as_stored(db, sensor, entry, &same);
  entry->fate = same ? HW_FATE_DUPLICATE : HW_FATE_CONFLICT;
  return status;
}

hw_db_status hw__db_append(hw_db *db, const hw_catalog *catalog, hw_entry *entries, size_t count, int64_t received_us,
                           int64_t *seq) {
  size_t settled = SIZE_MAX; /* the river and kind of time asked about last: rows of one body agree mostly */
  bool settled_calendar = false;
  hw_db_status status = HW_DB_OK;
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    hw_entry *entry = &entries[i];
    const hw_site *site = hw__catalog_site(catalog, entry->place.site);
    entry->fate = HW_FATE_ACCEPTED;
    if (entry->place.site != settled || entry->calendar != settled_calendar) {
      status = settle_time_base(db, site, entry);
      const bool fits = status == HW_DB_OK && entry->fate == HW_FATE_ACCEPTED;
      settled = fits ? entry->place.site : SIZE_MAX;
      settled_calendar = entry->calendar;
    }
    if (status == HW_DB_OK && entry->fate == HW_FATE_ACCEPTED) {
      status = append_one(db, site, entry, received_us, seq);
    }
  }
  return status;
}

hw_db_status hw__db_command(hw_db *db, hw_record *record, int64_t *seq) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_COMMAND_ADD);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, *seq + 1);
  sqlite3_bind_int(statement, 2, (int)record->kind);
  sqlite3_bind_int64(statement, 3, record->river);
  sqlite3_bind_int64(statement, 4, record->incident);
  sqlite3_bind_double(statement, 5, record->time_s);
  sqlite3_bind_text(statement, 6, record->method, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 7, record->received_us);
  const hw_db_status status = hw__db_run(db, statement);
  if (status == HW_DB_OK) {
    record->seq = ++*seq;
  }
  return status;
}

hw_db_status hw__db_head(hw_db *db, int64_t *seq, int64_t *received_us) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_HEAD);
  const hw_db_status status = statement ? hw__db_step(db, statement) : hw__db_fault(db);
  if (status == HW_DB_OK) {
    *seq = sqlite3_column_int64(statement, 0);
    *received_us = sqlite3_column_int64(statement, 1);
    sqlite3_reset(statement);
  }
  return status;
}

/* Rows of a statement over readings, all with the same columns. */
static hw_db_status collect(hw_db *db, sqlite3_stmt *statement, hw_record *out, size_t limit, size_t *count) {
  size_t n = 0;
  hw_db_status status = HW_DB_OK;
  while (n < limit && (status = hw__db_step(db, statement)) == HW_DB_OK) {
    out[n++] = (hw_record){.seq = sqlite3_column_int64(statement, 0),
                           .kind = HW_RECORD_READING,
                           .river = sqlite3_column_int64(statement, 1),
                           .sensor = sqlite3_column_int64(statement, 2),
                           .time_s = sqlite3_column_double(statement, 3),
                           .concentration_g_m3 = sqlite3_column_double(statement, 4),
                           .below_limit = sqlite3_column_int(statement, 5) != 0,
                           .received_us = sqlite3_column_int64(statement, 6)};
  }
  sqlite3_reset(statement);
  *count = n;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

static hw_db_status collect_commands(hw_db *db, int64_t after, hw_record *out, size_t limit, size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_COMMANDS);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, after);
  sqlite3_bind_int64(statement, 2, (sqlite3_int64)limit);
  size_t n = 0;
  hw_db_status status = HW_DB_OK;
  while (n < limit && (status = hw__db_step(db, statement)) == HW_DB_OK) {
    hw_record *record = &out[n++];
    *record = (hw_record){
        .seq = sqlite3_column_int64(statement, 0),
        .kind = (hw_record_kind)sqlite3_column_int(statement, 1),
        .river = sqlite3_column_int64(statement, 2),
        .incident = sqlite3_column_int64(statement, 3),
        .time_s = sqlite3_column_type(statement, 4) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(statement, 4),
        .received_us = sqlite3_column_int64(statement, 6)};
    snprintf(record->method, sizeof record->method, "%s", (const char *)sqlite3_column_text(statement, 5));
  }
  sqlite3_reset(statement);
  *count = n;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

enum { COMMANDS_PER_PAGE = 16 };

hw_db_status hw__db_log(hw_db *db, int64_t after, hw_record *out, size_t limit, size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_LOG);
  if (!statement || limit <= COMMANDS_PER_PAGE) {
    return hw__db_fault(db);
  }
  const size_t page = limit - COMMANDS_PER_PAGE;
  sqlite3_bind_int64(statement, 1, after);
  sqlite3_bind_int64(statement, 2, (sqlite3_int64)page);
  size_t readings = 0, commands = 0;
  /* One read transaction: a command between two readings is not missed. */
  hw_record met[COMMANDS_PER_PAGE];
  sqlite3_exec(db->handle, "BEGIN", NULL, NULL, NULL);
  hw_db_status status = collect(db, statement, out, page, &readings);
  status = status == HW_DB_OK ? collect_commands(db, after, met, COMMANDS_PER_PAGE, &commands) : status;
  sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL);
  if (status != HW_DB_OK) {
    return status;
  }
  /* A full page of either kind ends the merge where it ends: what lies behind is for the next call. */
  const int64_t readings_end = readings == page ? out[readings - 1].seq : INT64_MAX;
  const int64_t commands_end = commands == COMMANDS_PER_PAGE ? met[commands - 1].seq : INT64_MAX;
  while (readings && out[readings - 1].seq > commands_end) {
    readings--;
  }
  while (commands && met[commands - 1].seq > readings_end) {
    commands--;
  }
  *count = readings + commands;
  for (size_t to = *count; commands > 0; to--) {
    out[to - 1] = readings && out[readings - 1].seq > met[commands - 1].seq ? out[--readings] : met[--commands];
  }
  return HW_DB_OK;
}

hw_db_status hw__db_river_log(hw_db *db, int64_t river, int64_t after, int64_t upto, hw_record *out, size_t limit,
                              size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_RIVER_LOG);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, river);
  sqlite3_bind_int64(statement, 2, after);
  sqlite3_bind_int64(statement, 3, upto);
  sqlite3_bind_int64(statement, 4, (sqlite3_int64)limit);
  return collect(db, statement, out, limit, count);
}

hw_db_status hw__db_lead_in(hw_db *db, const hw_lead_in *what, hw_record *out, size_t limit, size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_LEAD_IN);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, what->river);
  sqlite3_bind_double(statement, 2, what->from_s);
  sqlite3_bind_int64(statement, 3, what->after);
  sqlite3_bind_int64(statement, 4, what->before);
  sqlite3_bind_int64(statement, 5, (sqlite3_int64)limit);
  return collect(db, statement, out, limit, count);
}

hw_db_status hw__db_sensor_log(hw_db *db, int64_t sensor, double from_s, double to_s, hw_record *out, size_t limit,
                               size_t *count) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_SENSOR_LOG);
  if (!statement) {
    return hw__db_fault(db);
  }
  sqlite3_bind_int64(statement, 1, sensor);
  sqlite3_bind_double(statement, 2, from_s);
  sqlite3_bind_double(statement, 3, to_s);
  sqlite3_bind_int64(statement, 4, (sqlite3_int64)limit);
  const hw_db_status status = collect(db, statement, out, limit, count);
  for (size_t i = 0; status == HW_DB_OK && i < *count / 2; i++) {
    const hw_record swap = out[i];
    out[i] = out[*count - 1 - i];
    out[*count - 1 - i] = swap;
  }
  return status;
}

hw_db_status hw__db_count(hw_db *db, int64_t *readings) {
  sqlite3_stmt *statement = hw__db_statement(db, SQL_COUNT);
  const hw_db_status status = statement ? hw__db_step(db, statement) : hw__db_fault(db);
  if (status == HW_DB_OK) {
    *readings = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
  }
  return status;
}

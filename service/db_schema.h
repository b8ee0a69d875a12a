/* Inside the SQLite backend: the connection and its statements. */
#ifndef HW_SERVICE_DB_SCHEMA_H
#define HW_SERVICE_DB_SCHEMA_H

#include <sqlite3.h>

#include "db.h"

/* X(name, SQL): every statement the service runs, prepared once per connection, parameters bound. */
#define HW_SQL_LIST(X)                                                                                     \
  X(SQL_BEGIN, "BEGIN IMMEDIATE")                                                                          \
  X(SQL_COMMIT, "COMMIT")                                                                                  \
  X(SQL_RIVER_ADD, "INSERT OR IGNORE INTO rivers(id) VALUES(?1)")                                          \
  X(SQL_RIVER_KEY, "SELECT key FROM rivers WHERE id = ?1")                                                 \
  X(SQL_SENSOR_ADD, "INSERT OR IGNORE INTO sensors(river, id) VALUES(?1, ?2)")                             \
  X(SQL_SENSOR_KEY, "SELECT key FROM sensors WHERE river = ?1 AND id = ?2")                                \
  X(SQL_BASE_GET, "SELECT time_base FROM rivers WHERE key = ?1")                                           \
  X(SQL_BASE_SET, "UPDATE rivers SET time_base = ?2 WHERE key = ?1")                                       \
  X(SQL_READING_ADD,                                                                                       \
    "INSERT OR IGNORE INTO readings(seq, river, sensor, time_s, concentration_g_m3, below,"                \
    " received_us) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                                    \
  X(SQL_READING_SAME,                                                                                      \
    "SELECT concentration_g_m3 = ?3 AND below = ?4 FROM readings WHERE sensor = ?1 AND"                    \
    " time_s = ?2")                                                                                        \
  X(SQL_COMMAND_ADD,                                                                                       \
    "INSERT INTO commands(seq, kind, river, incident, time_s, method, received_us)"                        \
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                                                 \
  X(SQL_HEAD,                                                                                              \
    "SELECT max(coalesce((SELECT max(seq) FROM readings), 0), coalesce((SELECT max(seq) FROM commands),"   \
    " 0)), coalesce((SELECT received_us FROM readings ORDER BY seq DESC LIMIT 1), 0)")                     \
  X(SQL_LOG,                                                                                               \
    "SELECT seq, river, sensor, time_s, concentration_g_m3, below, received_us FROM readings"              \
    " WHERE seq > ?1 ORDER BY seq LIMIT ?2")                                                               \
  X(SQL_COMMANDS,                                                                                          \
    "SELECT seq, kind, river, incident, time_s, method, received_us FROM commands WHERE seq > ?1"          \
    " ORDER BY seq LIMIT ?2")                                                                              \
  X(SQL_RIVER_LOG,                                                                                         \
    "SELECT seq, river, sensor, time_s, concentration_g_m3, below, received_us FROM readings"              \
    " WHERE river = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4")                                  \
  X(SQL_LEAD_IN,                                                                                           \
    "SELECT r.seq, r.river, r.sensor, r.time_s, r.concentration_g_m3, r.below, r.received_us"              \
    " FROM sensors AS s CROSS JOIN readings AS r ON r.sensor = s.key WHERE s.river = ?1"                   \
    " AND r.time_s >= ?2 AND r.seq > ?3 AND r.seq < ?4 ORDER BY r.seq LIMIT ?5")                           \
  X(SQL_SENSOR_LOG,                                                                                        \
    "SELECT seq, river, sensor, time_s, concentration_g_m3, below, received_us FROM readings"              \
    " WHERE sensor = ?1 AND time_s >= ?2 AND time_s <= ?3 ORDER BY time_s DESC LIMIT ?4")                  \
  X(SQL_COUNT, "SELECT count(*) FROM readings")                                                            \
  X(SQL_INCIDENT_OPEN,                                                                                     \
    "INSERT OR IGNORE INTO incidents(id, river, sensor, method, seed, opened_s, onset_s,"                  \
    " from_s, origin_s, opened_us) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")                       \
  X(SQL_INCIDENT_CLOSE,                                                                                    \
    "UPDATE incidents SET closed_seq = ?2, closed_s = ?3, closed_us = ?4, reason = ?5"                     \
    " WHERE id = ?1 AND closed_seq = 0")                                                                   \
  X(SQL_INCIDENT,                                                                                          \
    "SELECT id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, opened_us,"              \
    " closed_seq, closed_s, closed_us, reason, result_seq FROM incidents WHERE id = ?1")                   \
  X(SQL_INCIDENTS,                                                                                         \
    "SELECT id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, opened_us,"              \
    " closed_seq, closed_s, closed_us, reason, result_seq FROM incidents"                                  \
    " WHERE (?1 = 0 OR river = ?1) AND (?2 = 0 OR closed_seq = 0) ORDER BY id DESC LIMIT ?3")              \
  X(SQL_UNFINISHED,                                                                                        \
    "SELECT id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, opened_us,"              \
    " closed_seq, closed_s, closed_us, reason, result_seq FROM incidents WHERE finished = 0"               \
    " ORDER BY id DESC LIMIT ?1")                                                                          \
  X(SQL_FINISH, "UPDATE incidents SET finished = 1 WHERE id = ?1 AND closed_seq > 0")                      \
  X(SQL_TRACK_ADD,                                                                                         \
    "INSERT OR IGNORE INTO estimates(incident, seq, reading_s, readings, provisional, has_interval,"       \
    " mass_g, location_m, time_s, mass_lo, mass_hi, location_lo, location_hi, time_lo, time_hi)"           \
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)")                           \
  X(SQL_TRACKS,                                                                                            \
    "SELECT seq, reading_s, readings, provisional, has_interval, mass_g, location_m, time_s, mass_lo,"     \
    " mass_hi, location_lo, location_hi, time_lo, time_hi FROM estimates WHERE incident = ?1"              \
    " AND seq > ?2 ORDER BY seq LIMIT ?3")                                                                 \
  X(SQL_RESULT_SET, "UPDATE incidents SET result = ?3, result_seq = ?2 WHERE id = ?1 AND result_seq < ?2") \
  X(SQL_RESULT, "SELECT result FROM incidents WHERE id = ?1 AND result IS NOT NULL")                       \
  X(SQL_EVENT_ADD,                                                                                         \
    "INSERT OR IGNORE INTO events(kind, seq, river, incident, subject, at_us, body)"                       \
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                                                 \
  X(SQL_EVENTS,                                                                                            \
    "SELECT id, kind, seq, river, incident, subject, at_us, body FROM events WHERE id > ?1"                \
    " ORDER BY id LIMIT ?2")                                                                               \
  X(SQL_EVENTS_BRIEF,                                                                                      \
    "SELECT id, kind, seq, river, incident, subject, at_us, body FROM events WHERE id > ?1"                \
    " AND kind <> 'estimate' ORDER BY id LIMIT ?2")                                                        \
  X(SQL_LAST_EVENT, "SELECT coalesce(max(id), 0) FROM events")                                             \
  X(SQL_HAS_EVENT, "SELECT 1 FROM events WHERE kind = ?1 AND incident = ?2 AND subject = ?3 LIMIT 1")      \
  X(SQL_CURSOR_SET, "INSERT OR REPLACE INTO cursors(name, event) VALUES(?1, ?2)")                          \
  X(SQL_CURSOR, "SELECT event FROM cursors WHERE name = ?1")                                               \
  X(SQL_SNAPSHOT_SET, "INSERT OR REPLACE INTO snapshots(name, seq, body) VALUES('tracker', ?1, ?2)")       \
  X(SQL_SNAPSHOT, "SELECT seq, body FROM snapshots WHERE name = 'tracker'")

typedef enum {
#define HW_SQL_ENUM(name, sql) name,
  HW_SQL_LIST(HW_SQL_ENUM)
#undef HW_SQL_ENUM
      SQL_STATEMENTS
} hw_sql;

struct hw_db {
  sqlite3 *handle;
  sqlite3_stmt *statements[SQL_STATEMENTS];
};

/* The statement, reset and ready to bind; NULL when it cannot be prepared (see hw__db_fault). */
sqlite3_stmt *hw__db_statement(hw_db *db, hw_sql which);
/* Run a statement that gives no rows. */
hw_db_status hw__db_run(hw_db *db, sqlite3_stmt *statement);
/* What the connection's last failure means. */
hw_db_status hw__db_fault(hw_db *db);
/* Step to the next row: HW_DB_OK on a row, HW_DB_ABSENT after the last (the statement is reset). */
hw_db_status hw__db_step(hw_db *db, sqlite3_stmt *statement);

#endif

/* Every statement the service runs, written once for both engines.
 *
 * The words are SQLite's and PostgreSQL's alike; the few that are not (?1 for $1, the names of types) are
 * translated by the PostgreSQL driver. Keys are given, never made by the engine: both number rows alike.
 */
#ifndef HW_STORE_STATEMENTS_H
#define HW_STORE_STATEMENTS_H

#define HW_SQL_READING     "seq, river, sensor, time_s, concentration_g_m3, below, received_us"
#define HW_SQL_READING_SUM HW_SQL_READING ", sum"
#define HW_SQL_COMMAND_SUM "seq, kind, river, incident, time_s, method, received_us, note, sum"
#define HW_SQL_MARK        "mark, seq, records, hash"
#define HW_SQL_INCIDENT                                                                     \
  "SELECT id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, opened_us," \
  " closed_seq, closed_s, closed_us, reason, result_seq, engine FROM incidents"
#define HW_SQL_TRACK                                                                                             \
  "incident, seq, reading_s, readings, provisional, has_interval, mass_g, location_m, time_s, mass_lo, mass_hi," \
  " location_lo, location_hi, time_lo, time_hi, trust, spill, branch, duration_s, duration_lo, duration_hi"
#define HW_SQL_EVENT "SELECT id, kind, seq, river, incident, subject, at_us, body FROM events"

#define HW_MARKS_2  "?1, ?2"
#define HW_MARKS_3  HW_MARKS_2 ", ?3"
#define HW_MARKS_4  HW_MARKS_3 ", ?4"
#define HW_MARKS_6  HW_MARKS_4 ", ?5, ?6"
#define HW_MARKS_7  HW_MARKS_6 ", ?7"
#define HW_MARKS_8  HW_MARKS_7 ", ?8"
#define HW_MARKS_9  HW_MARKS_8 ", ?9"
#define HW_MARKS_18 HW_MARKS_9 ", ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18"
#define HW_MARKS_21 HW_MARKS_18 ", ?19, ?20, ?21"

/* X(name, SQL): prepared once per connection, parameters bound. */
#define HW_SQL_LIST(X)                                                                                                 \
  X(SQL_RIVER_ADD,                                                                                                     \
    "INSERT INTO rivers(key, id) VALUES((SELECT coalesce(max(key), 0) + 1 FROM rivers), ?1)"                           \
    " ON CONFLICT(id) DO NOTHING")                                                                                     \
  X(SQL_RIVER_KEY, "SELECT key FROM rivers WHERE id = ?1")                                                             \
  X(SQL_SENSOR_ADD,                                                                                                    \
    "INSERT INTO sensors(key, river, id, gauge) VALUES((SELECT coalesce(max(key), 0) + 1 FROM sensors), ?1, ?2, ?3)"   \
    " ON CONFLICT(river, gauge, id) DO NOTHING")                                                                       \
  X(SQL_SENSOR_KEY, "SELECT key FROM sensors WHERE river = ?1 AND id = ?2 AND gauge = ?3")                             \
  X(SQL_BASE_GET, "SELECT time_base FROM rivers WHERE key = ?1")                                                       \
  X(SQL_BASE_SET, "UPDATE rivers SET time_base = ?2 WHERE key = ?1")                                                   \
  X(SQL_READING_ADD, "INSERT INTO readings(" HW_SQL_READING_SUM ") VALUES(" HW_MARKS_8                                 \
                     ")"                                                                                               \
                     " ON CONFLICT(sensor, time_s) DO NOTHING")                                                        \
  X(SQL_READING_SAME, "SELECT concentration_g_m3 = ?3 AND below = ?4 FROM readings WHERE sensor = ?1 AND time_s = ?2") \
  X(SQL_COMMAND_ADD, "INSERT INTO commands(" HW_SQL_COMMAND_SUM ") VALUES(" HW_MARKS_9 ")")                            \
  X(SQL_COMMAND_NOTE, "SELECT note FROM commands WHERE seq = ?1")                                                      \
  X(SQL_HEAD,                                                                                                          \
    "SELECT coalesce(max(seq), 0)"                                                                                     \
    " FROM (SELECT max(seq) AS seq FROM readings UNION ALL SELECT max(seq) FROM commands"                              \
    " UNION ALL SELECT max(last_seq) FROM faults) AS heads")                                                           \
  X(SQL_RECENT,                                                                                                        \
    "SELECT received_us FROM (SELECT seq, received_us FROM readings ORDER BY seq DESC LIMIT 20000) AS r"               \
    " GROUP BY received_us ORDER BY max(seq) DESC LIMIT ?1")                                                           \
  /* One statement, hence one moment: a command between two readings is not missed. A page of each, since one engine   \
   * would sort all that follows otherwise. */                                                                         \
  X(SQL_LOG,                                                                                                           \
    "SELECT * FROM (SELECT " HW_SQL_READING                                                                            \
    ", CAST(0 AS BIGINT) AS kind, CAST(0 AS BIGINT) AS incident, '' AS method"                                         \
    " FROM readings WHERE seq > ?1 ORDER BY seq LIMIT ?2) AS r UNION ALL SELECT * FROM"                                \
    " (SELECT seq, river, CAST(0 AS BIGINT), time_s, CAST(0 AS REAL), CAST(0 AS BIGINT), received_us, kind, incident," \
    " method FROM commands WHERE seq > ?1 ORDER BY seq LIMIT ?2) AS c ORDER BY seq LIMIT ?2")                          \
  X(SQL_RIVER_LOG,                                                                                                     \
    "SELECT " HW_SQL_READING " FROM readings WHERE river = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4")       \
  /* From the sensors, each by its times: not through all of the river's log. */                                       \
  X(SQL_LEAD_IN,                                                                                                       \
    "SELECT r.seq, r.river, r.sensor, r.time_s, r.concentration_g_m3, r.below, r.received_us"                          \
    " FROM sensors AS s CROSS JOIN readings AS r WHERE r.sensor = s.key AND s.river = ?1"                              \
    " AND r.time_s >= ?2 AND r.seq > ?3 AND r.seq < ?4 ORDER BY r.seq LIMIT ?5")                                       \
  X(SQL_SENSOR_LOG,                                                                                                    \
    "SELECT " HW_SQL_READING                                                                                           \
    " FROM readings WHERE sensor = ?1 AND time_s >= ?2 AND time_s <= ?3 ORDER BY time_s DESC LIMIT ?4")                \
  X(SQL_SENSOR_PAGE,                                                                                                   \
    "SELECT " HW_SQL_READING                                                                                           \
    " FROM readings WHERE sensor = ?1 AND time_s > ?2 AND time_s <= ?3 AND seq > ?4 ORDER BY time_s LIMIT ?5")         \
  X(SQL_OLDEST, "SELECT " HW_SQL_READING " FROM readings ORDER BY seq LIMIT ?1")                                       \
  X(SQL_FORGET_READINGS, "DELETE FROM readings WHERE seq <= ?1")                                                       \
  X(SQL_FORGET_ESTIMATES,                                                                                              \
    "DELETE FROM events WHERE id IN (SELECT e.id FROM incidents AS i JOIN events AS e ON e.incident = i.id"            \
    " WHERE i.finished = 1 AND i.closed_us < ?1 AND e.kind = 'estimate' AND e.id < (SELECT max(id) FROM events)"       \
    " ORDER BY e.id LIMIT ?2)")                                                                                        \
  X(SQL_INCIDENT_OPEN,                                                                                                 \
    "INSERT INTO incidents(id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, opened_us, engine)"   \
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT(id) DO NOTHING")                                \
  X(SQL_INCIDENT_CLOSE,                                                                                                \
    "UPDATE incidents SET closed_seq = ?2, closed_s = ?3, closed_us = ?4, reason = ?5"                                 \
    " WHERE id = ?1 AND closed_seq = 0")                                                                               \
  X(SQL_INCIDENT, HW_SQL_INCIDENT " WHERE id = ?1")                                                                    \
  X(SQL_INCIDENTS, HW_SQL_INCIDENT                                                                                     \
    " WHERE (?1 = 0 OR river = ?1) AND (?2 = 0 OR closed_seq = 0) AND (?3 = 0 OR id < ?3)"                             \
    " ORDER BY id DESC LIMIT ?4")                                                                                      \
  X(SQL_UNFINISHED, HW_SQL_INCIDENT " WHERE finished = 0 ORDER BY id DESC LIMIT ?1")                                   \
  X(SQL_NEEDED, HW_SQL_INCIDENT " WHERE finished = 0 OR closed_us >= ?1 ORDER BY id LIMIT ?2")                         \
  X(SQL_FINISH, "UPDATE incidents SET finished = 1 WHERE id = ?1 AND closed_seq > 0")                                  \
  X(SQL_TRACK_ADD,                                                                                                     \
    "INSERT INTO estimates(" HW_SQL_TRACK ") VALUES(" HW_MARKS_21 ") ON CONFLICT(incident, seq) DO NOTHING")           \
  X(SQL_TRACKS, "SELECT " HW_SQL_TRACK " FROM estimates WHERE incident = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3")       \
  X(SQL_REWORK, "UPDATE incidents SET result_seq = 0, engine = ?2 WHERE id = ?1 AND engine < ?2")                      \
  X(SQL_REWORK_TRACKS, "DELETE FROM estimates WHERE incident = ?1")                                                    \
  X(SQL_RESULT_SET, "UPDATE incidents SET result = ?3, result_seq = ?2 WHERE id = ?1 AND result_seq < ?2")             \
  X(SQL_RESULT, "SELECT result FROM incidents WHERE id = ?1 AND result IS NOT NULL")                                   \
  X(SQL_EVENT_ADD,                                                                                                     \
    "INSERT INTO events(id, kind, seq, river, incident, subject, at_us, body)"                                         \
    " VALUES((SELECT coalesce(max(id), 0) + 1 FROM events), ?1, ?2, ?3, ?4, ?5, ?6, ?7)"                               \
    " ON CONFLICT(incident, kind, subject, seq) DO NOTHING")                                                           \
  X(SQL_EVENTS, HW_SQL_EVENT " WHERE id > ?1 ORDER BY id LIMIT ?2")                                                    \
  X(SQL_EVENTS_BRIEF, HW_SQL_EVENT " WHERE id > ?1 AND kind <> 'estimate' ORDER BY id LIMIT ?2")                       \
  X(SQL_EVENTS_LATEST, HW_SQL_EVENT " WHERE (?1 = 0 OR id < ?1) AND kind <> 'estimate' ORDER BY id DESC LIMIT ?2")     \
  X(SQL_EVENTS_INCIDENT, HW_SQL_EVENT " WHERE incident = ?1 AND id > ?2 AND kind <> 'estimate' ORDER BY id LIMIT ?3")  \
  X(SQL_EVENTS_FORGET, "DELETE FROM events WHERE id < ?1 AND kind = 'estimate'")                                       \
  X(SQL_LAST_EVENT, "SELECT coalesce(max(id), 0) FROM events")                                                         \
  X(SQL_LAST_EVENT_OF, HW_SQL_EVENT                                                                                    \
    " WHERE incident = ?1 AND subject = ?3 AND substr(kind, 1, length(?2)) = ?2 ORDER BY id DESC LIMIT 1")             \
  X(SQL_CURSOR_SET,                                                                                                    \
    "INSERT INTO cursors(name, event) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET event = excluded.event")          \
  X(SQL_CURSOR, "SELECT event FROM cursors WHERE name = ?1")                                                           \
  X(SQL_SNAPSHOT_SET,                                                                                                  \
    "INSERT INTO snapshots(name, seq, body) VALUES('tracker', ?1, ?2)"                                                 \
    " ON CONFLICT(name) DO UPDATE SET seq = excluded.seq, body = excluded.body")                                       \
  X(SQL_SNAPSHOT, "SELECT seq, body FROM snapshots WHERE name = 'tracker'")                                            \
  X(SQL_MARK_LAST, "SELECT " HW_SQL_MARK " FROM marks ORDER BY mark DESC LIMIT 1")                                     \
  X(SQL_MARK_FIRST, "SELECT " HW_SQL_MARK " FROM marks ORDER BY mark LIMIT 1")                                         \
  X(SQL_MARK_BEFORE, "SELECT " HW_SQL_MARK " FROM marks WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1")                    \
  X(SQL_MARK_AFTER, "SELECT " HW_SQL_MARK " FROM marks WHERE mark > ?1 ORDER BY mark LIMIT 1")                         \
  X(SQL_MARK_MOVE, "UPDATE marks SET seq = ?2, records = ?3, hash = ?4 WHERE mark = ?1")                               \
  X(SQL_MARKS_FORGET, "DELETE FROM marks WHERE mark < ?1")                                                             \
  /* What the chain rests on, ?1 < seq <= ?2, as stored: columns as in HW_LINK_... */                                  \
  X(SQL_LINKS,                                                                                                         \
    "SELECT * FROM (SELECT seq, CAST(0 AS BIGINT) AS kind, river, sensor, time_s, concentration_g_m3, below, "         \
    "received_us,"                                                                                                     \
    " CAST(0 AS BIGINT) AS incident, '' AS method, '' AS note, sum"                                                    \
    " FROM readings WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3) AS r UNION ALL SELECT * FROM"                  \
    " (SELECT seq, kind, river, CAST(0 AS BIGINT), time_s, CAST(0 AS REAL), CAST(0 AS BIGINT), received_us, incident," \
    " method, note, sum FROM commands WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3) AS c ORDER BY seq LIMIT ?3") \
  X(SQL_READING_SUM_SET, "UPDATE readings SET sum = ?2 WHERE seq = ?1")                                                \
  X(SQL_COMMAND_SUM_SET, "UPDATE commands SET sum = ?2 WHERE seq = ?1")                                                \
  X(SQL_FAULT_ADD,                                                                                                     \
    "INSERT INTO faults(id, found_us, first_seq, last_seq, records, what)"                                             \
    " VALUES((SELECT coalesce(max(id), 0) + 1 FROM faults), ?1, ?2, ?3, ?4, ?5)")                                      \
  X(SQL_SENSOR_NAMES,                                                                                                  \
    "SELECT r.id, s.id, r.time_base FROM sensors AS s JOIN rivers AS r ON r.key = s.river WHERE s.key = ?1")           \
  X(SQL_FAULTS_FORGET, "DELETE FROM faults")                                                                           \
  X(SQL_MARKS_CLEAR, "DELETE FROM marks")

/* Columns of SQL_LINKS. */
enum {
  HW_LINK_SEQ,
  HW_LINK_KIND,
  HW_LINK_RIVER,
  HW_LINK_SENSOR,
  HW_LINK_TIME,
  HW_LINK_VALUE,
  HW_LINK_BELOW,
  HW_LINK_RECEIVED,
  HW_LINK_INCIDENT,
  HW_LINK_METHOD,
  HW_LINK_NOTE,
  HW_LINK_SUM
};

/* --- whole tables, for moving a database (move.h) --- */

/* X(name, table, key, its marks, mark of the limit, columns (the key's first), their marks, their kinds).
 * Kinds: k a number from 1 on, n from 0 on, i any, f 0 or 1, c a command, g 0 to 3, h 0 to 2, r real, q finite, t text,
 * j text that is JSON, b bytes; a capital may be NULL. */
#define HW_TABLE_LIST(X)                                                                                          \
  X(RIVERS, "rivers", "key", "?1", "?2", "key, id, time_base", HW_MARKS_3, "kth")                                 \
  X(SENSORS, "sensors", "key", "?1", "?2", "key, river, id, gauge", HW_MARKS_4, "kktf")                           \
  X(READINGS, "readings", "seq", "?1", "?2", HW_SQL_READING_SUM, HW_MARKS_8, "kkkqqgnN")                          \
  X(COMMANDS, "commands", "seq", "?1", "?2", HW_SQL_COMMAND_SUM, HW_MARKS_9, "kcnnRtntN")                         \
  X(MARKS, "marks", "mark", "?1", "?2", HW_SQL_MARK, HW_MARKS_4, "knni")                                          \
  X(FAULTS, "faults", "id", "?1", "?2", "id, found_us, first_seq, last_seq, records, what", HW_MARKS_6, "knnnnt") \
  X(INCIDENTS, "incidents", "id", "?1", "?2",                                                                     \
    "id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, opened_us, closed_seq, closed_s, "     \
    "closed_us,"                                                                                                  \
    " reason, result, result_seq, finished, engine",                                                              \
    HW_MARKS_18, "kkntirrrrnnRNTJnfn")                                                                            \
  X(ESTIMATES, "estimates", "incident, seq", "?1, ?2", "?3", HW_SQL_TRACK, HW_MARKS_21, "kkrnffRRRRRRRRRnRtRRR")  \
  X(EVENTS, "events", "id", "?1", "?2", "id, kind, seq, river, incident, subject, at_us, body", HW_MARKS_8,       \
    "ktnnntnj")                                                                                                   \
  X(CURSORS, "cursors", "name", "?1", "?2", "name, event", HW_MARKS_2, "ti")                                      \
  X(SNAPSHOTS, "snapshots", "name", "?1", "?2", "name, seq, body", HW_MARKS_3, "tnb")

/* X(name, SQL, what is wrong when it finds a row) */
#define HW_CHECK_LIST(X)                                                                                              \
  X(SQL_CHECK_SENSORS,                                                                                                \
    "SELECT s.key FROM sensors AS s WHERE NOT EXISTS (SELECT 1 FROM rivers WHERE key = s.river) LIMIT 1",             \
    "a sensor of no river")                                                                                           \
  X(SQL_CHECK_READINGS,                                                                                               \
    "SELECT r.seq FROM readings AS r WHERE NOT EXISTS"                                                                \
    " (SELECT 1 FROM sensors AS s WHERE s.key = r.sensor AND s.river = r.river"                                       \
    " AND s.gauge = CASE WHEN r.below = 3 THEN 1 ELSE 0 END) LIMIT 1",                                                \
    "a reading of no sensor, or a discharge of no gauge")                                                             \
  X(SQL_CHECK_LOG, "SELECT c.seq FROM commands AS c WHERE EXISTS (SELECT 1 FROM readings WHERE seq = c.seq) LIMIT 1", \
    "a reading and a command with one number")                                                                        \
  X(SQL_CHECK_INCIDENTS,                                                                                              \
    "SELECT i.id FROM incidents AS i WHERE NOT EXISTS (SELECT 1 FROM rivers WHERE key = i.river) LIMIT 1",            \
    "an incident of no river")                                                                                        \
  X(SQL_CHECK_ESTIMATES,                                                                                              \
    "SELECT e.incident FROM estimates AS e WHERE NOT EXISTS (SELECT 1 FROM incidents WHERE id = e.incident) LIMIT 1", \
    "an estimate of no incident")

typedef enum {
#define HW_SQL_ENUM(name, sql) name,
  HW_SQL_LIST(HW_SQL_ENUM)
#undef HW_SQL_ENUM
#define HW_SQL_ENUM(name, sql, fault) name,
      HW_CHECK_LIST(HW_SQL_ENUM)
#undef HW_SQL_ENUM
#define HW_SQL_ENUM(name, ...) SQL_PAGE_##name, SQL_PUT_##name,
          HW_TABLE_LIST(HW_SQL_ENUM)
#undef HW_SQL_ENUM
              SQL_STATEMENTS
} hw__sql;

#endif

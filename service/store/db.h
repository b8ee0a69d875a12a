/* What the service keeps, behind one small interface.
 *
 * The heart is a log: readings and commands (a person opens or closes an incident) share one sequence of numbers, in
 * the order they became durable. Everything else (detection, incidents, estimates) is a function of that log, so it
 * can be computed again after a crash, to the same bits; it is stored for people to read and for quick restarts.
 * Storing the same result twice changes nothing.
 *
 * A handle is used by one thread at a time. One handle writes (the store's writer thread, store.h),
 * others read beside it. Two engines stand behind it, SQLite and PostgreSQL (driver.h); nothing outside
 * store/ knows which. A store is named in text: "postgresql://..." (libpq's URL), "sqlite:FILE", or a plain FILE.
 */
#ifndef HW_STORE_DB_H
#define HW_STORE_DB_H

#include <stdint.h>

#include "ingest/ingest.h"
#include "rivers/catalog.h"

typedef struct hw__db hw__db;

/* What can go wrong with a database, as far as people can act on it. */
#define HW_DB_LIST(X)                                                                                \
  X(HW_DB_OK, "done")                                                                                \
  X(HW_DB_ABSENT, "no such row")                                                                     \
  X(HW_DB_NO_FILE, "there is no such file")                                                          \
  X(HW_DB_FULL, "the disk is full")                                                                  \
  X(HW_DB_READONLY, "the database cannot be written")                                                \
  X(HW_DB_CORRUPT, "the database is damaged")                                                        \
  X(HW_DB_CLASH, "rows contradict each other")                                                       \
  X(HW_DB_BUSY, "another process holds the database")                                                \
  X(HW_DB_NEWER, "the database was written by a newer version")                                      \
  X(HW_DB_OLDER, "the database is of an older version; headwater serve brings it up to date")        \
  X(HW_DB_FOREIGN, "the database belongs to another cluster or to a single service")                 \
  X(HW_DB_GONE, "the database server does not answer")                                               \
  X(HW_DB_AWAY, "the cluster does not answer")                                                       \
  X(HW_DB_FORGOTTEN, "the readings of this incident are no longer kept; its result and history are") \
  X(HW_DB_STOPPING, "the service is stopping")                                                       \
  X(HW_DB_CLOCK, "the machine's clock was set just now, and this is dated later: send it again")     \
  X(HW_DB_MEMORY, "out of memory")                                                                   \
  X(HW_DB_THREAD, "no thread could be started")                                                      \
  X(HW_DB_IO, "the database failed")

typedef enum {
#define HW_DB_ENUM(name, text) name,
  HW_DB_LIST(HW_DB_ENUM)
#undef HW_DB_ENUM
} hw__db_status;

const char *hw__db_text(hw__db_status status);

/* Open, creating and migrating when it may write. sentence (of `size` bytes) says what failed, in one line. */
hw__db_status hw__db_open(const char *store, bool writer, hw__db **out, char *sentence, size_t size);
void hw__db_close(hw__db *db);
/* Has a statement found damage since the handle was opened? */
bool hw__db_damaged(const hw__db *db);
/* What is written can be read again from elsewhere, so a commit need not wait for the disk. After a power cut the
 * database is intact, but its last commits may be missing. Writer only. */
hw__db_status hw__db_relax(hw__db *db);
/* A copy of the whole database as it is at this moment, in a new file. HW_DB_IO where the engine has no files. */
hw__db_status hw__db_copy(hw__db *db, const char *path);
/* Which version of the schema this program has. */
int hw__db_schema_version(void);
/* What messages and logs call the store: never with a password. */
void hw__db_name(const char *store, char *out, size_t size);
/* Gives every river and sensor of the catalog its number. Writer only. */
hw__db_status hw__db_enrol(hw__db *db, hw__catalog *catalog);

/* A failed statement may show as late as at the commit; after any failure comes the rollback. A server that was gone
 * and is back is connected to again by hw__db_begin, or by a statement outside of a transaction. */
hw__db_status hw__db_begin(hw__db *db);
hw__db_status hw__db_commit(hw__db *db);
void hw__db_rollback(hw__db *db);

/* Is the end of the log that is kept outside of the database not on the disk yet? `now`: sync it first. */
bool hw__db_head_waits(hw__db *db, bool now);
/* Puts the end of the log's chain into the database, where it is only outside so far. */
void hw__db_mark_end(hw__db *db);
/* Accepts the end of the log in this database: a later end that was kept outside is dropped. */
void hw__db_head_is_here(hw__db *db);

/* --- the log --- */

typedef enum {
  HW_RECORD_READING,
  HW_RECORD_OPEN,
  HW_RECORD_CLOSE,
  HW_RECORD_DISCHARGE,
  HW_RECORD_ACKNOWLEDGE
} hw__record_kind;

typedef struct {
  int64_t seq;
  hw__record_kind kind;
  int64_t river, sensor; /* keys; of HW_RECORD_DISCHARGE the gauge's */
  double time_s;
  double concentration_g_m3; /* of HW_RECORD_DISCHARGE m3/s */
  bool below_limit, above_limit;
  int64_t received_us;
  int64_t incident; /* HW_RECORD_CLOSE, _ACKNOWLEDGE */
  char method[32];  /* HW_RECORD_OPEN */
  const char *note; /* HW_RECORD_ACKNOWLEDGE, JSON text (hw__db_note); borrowed, and not read with the log */
} hw__log_record;

/* Rivers whose readings are in calendar time, by the first one accepted. */
typedef enum { HW_TIME_UNSET, HW_TIME_RELATIVE, HW_TIME_CALENDAR } hw__time_base;
hw__db_status hw__db_time_base(hw__db *db, int64_t river, hw__time_base *out);

/* Append readings; each entry's fate becomes accepted, duplicate, conflict or time_base.
 * *seq is the last number used, moved on by those accepted. */
hw__db_status hw__db_append(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                            int64_t received_us, int64_t *seq);
/* The same where the caller numbers and dates the records: the numbers grow, gaps are allowed. */
typedef struct {
  int64_t seq, received_us;
} hw__stamp;
hw__db_status hw__db_append_stamped(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                                    const hw__stamp *stamps);
/* Append a command; record->seq is filled in from *seq, which moves on. */
hw__db_status hw__db_command(hw__db *db, hw__log_record *record, int64_t *seq);
/* What a command came with, "" where it had nothing to say. *out is malloc'd; NULL with HW_DB_ABSENT. */
hw__db_status hw__db_note(hw__db *db, int64_t seq, char **out);
/* Highest number in the log, 0 when empty. Numbers of lost records count too, so that no number is given twice. */
hw__db_status hw__db_head(hw__db *db, int64_t *seq);
/* When the latest readings were received, each moment once, the latest first. */
hw__db_status hw__db_recent(hw__db *db, int64_t *received_us, size_t limit, size_t *count);
/* When the last record of the log, up to `head`, was received that was received until then; 0: none was. Looks at a few
 * records only: stamps are taken to rise, and where they do not, a record followed by a later one is found. */
hw__db_status hw__db_received_until(hw__db *db, int64_t until_us, int64_t head, int64_t *received_us);

/* Records in order, `after` < seq, at most `limit`, readings and commands merged. */
hw__db_status hw__db_log(hw__db *db, int64_t after, hw__log_record *out, size_t limit, size_t *count);
/* Readings of one river, after < seq <= upto, in order. */
hw__db_status hw__db_river_log(hw__db *db, int64_t river, int64_t after, int64_t upto, hw__log_record *out,
                               size_t limit, size_t *count);
/* Readings of one river with time_s >= from_s and after < seq < before, in order of seq: an incident's lead-in. */
typedef struct {
  int64_t river;
  double from_s;
  int64_t after, before;
} hw__lead_in;
hw__db_status hw__db_lead_in(hw__db *db, const hw__lead_in *what, hw__log_record *out, size_t limit, size_t *count);
/* Readings of one sensor in [from_s, to_s], in order of time, the last `limit` of them. */
hw__db_status hw__db_sensor_log(hw__db *db, int64_t sensor, double from_s, double to_s, hw__log_record *out,
                                size_t limit, size_t *count);

/* The first `limit` of one sensor with after_s < time_s <= to_s and a number beyond after_seq, in order of time. */
typedef struct {
  int64_t sensor;
  double after_s, to_s;
  int64_t after_seq;
} hw__sensor_span;
hw__db_status hw__db_sensor_page(hw__db *db, const hw__sensor_span *what, hw__log_record *out, size_t limit,
                                 size_t *count);

/* --- results --- */

typedef struct {
  int64_t id; /* the number of the record that opened it */
  int64_t river;
  int64_t sensor; /* that raised the alarm; 0: a person */
  char method[32];
  uint64_t seed;
  double opened_s, onset_s, from_s, origin_s; /* reading time; origin_s: what the engine calls 0 */
  int64_t opened_us;
  int64_t closed_seq; /* 0: open */
  double closed_s;
  int64_t closed_us;
  char reason[32]; /* of closing */
  int64_t result_seq;
  int64_t engine; /* HW_ENGINE of the program that processes it; its estimates come from that one */
} hw__incident;

/* A late reading from before the incident's lead-in does not belong to it, nor does one of a sensor that is neither
 * upstream nor downstream of the one that raised the alarm. */
bool hw__incident_passes_over(const hw__incident *incident, const hw__site *site, const hw__log_record *record);
hw__db_status hw__db_open_incident(hw__db *db, const hw__incident *incident);
hw__db_status hw__db_close_incident(hw__db *db, const hw__incident *incident);
hw__db_status hw__db_incident(hw__db *db, int64_t id, hw__incident *out);
/* Latest first. */
typedef struct {
  int64_t river; /* 0: any */
  bool open_only;
  int64_t before; /* only those opened before this one; 0: all */
} hw__incident_query;
hw__db_status hw__db_incidents(hw__db *db, const hw__incident_query *which, hw__incident *out, size_t limit,
                               size_t *count);

/* Incidents that are open, or closed before their engine had seen all of them; latest first. */
hw__db_status hw__db_unfinished(hw__db *db, hw__incident *out, size_t limit, size_t *count);
/* The engine has seen all of this closed incident. */
hw__db_status hw__db_finish_incident(hw__db *db, int64_t id);

/* This engine takes over an incident that an older engine processed: its history begins again, and its next result
 * replaces the old one. Incidents of this engine or a later one are left alone. *reworked says which it was. */
hw__db_status hw__db_rework_incident(hw__db *db, int64_t id, int64_t engine, bool *reworked);

/* One line of an incident's history. */
typedef struct {
  int64_t seq;
  double reading_s; /* of the reading that moved it */
  size_t readings;
  bool provisional, has_source, has_interval;
  hw_trust trust;
  double spill; /* NAN: not judged */
  char branch[HW_ID_SIZE];
  hw_source source;
  hw_box interval;
  hw_range duration_s;
} hw__track;

hw__db_status hw__db_put_track(hw__db *db, int64_t incident, const hw__track *track);
hw__db_status hw__db_tracks(hw__db *db, int64_t incident, int64_t after, hw__track *out, size_t limit, size_t *count);
/* The latest full result, as JSON text. *out is malloc'd; NULL with HW_DB_ABSENT. */
hw__db_status hw__db_put_result(hw__db *db, int64_t incident, int64_t seq, const char *json);
hw__db_status hw__db_result(hw__db *db, int64_t incident, char **out);

/* Things that happened, numbered in the order they became durable. X(name, as stored and shown) */
#define HW_EVENT_LIST(X)                                       \
  X(HW_EVENT_INCIDENT_OPENED, "incident_opened")               \
  X(HW_EVENT_INCIDENT_CLOSED, "incident_closed")               \
  X(HW_EVENT_ACKNOWLEDGED, "incident_acknowledged")            \
  X(HW_EVENT_INCIDENT_REWORKED, "incident_reworked")           \
  X(HW_EVENT_ESTIMATE, "estimate")                             \
  X(HW_EVENT_CANDIDATE, "candidate")                           \
  X(HW_EVENT_CANDIDATE_CHANGED, "candidate_changed")           \
  X(HW_EVENT_CANDIDATE_WITHDRAWN, "candidate_withdrawn")       \
  X(HW_EVENT_INTAKE_ALARM, "intake_alarm")                     \
  X(HW_EVENT_INTAKE_ALARM_CHANGED, "intake_alarm_changed")     \
  X(HW_EVENT_INTAKE_ALARM_WITHDRAWN, "intake_alarm_withdrawn") \
  X(HW_EVENT_SENSOR_SILENT, "sensor_silent")                   \
  X(HW_EVENT_SENSOR_HEARD, "sensor_heard")

typedef enum {
#define HW_EVENT_ENUM(name, text) name,
  HW_EVENT_LIST(HW_EVENT_ENUM)
#undef HW_EVENT_ENUM
} hw__event_kind;

const char *hw__event_text(hw__event_kind kind);

typedef struct {
  int64_t id;
  int64_t seq;
  int64_t river, incident;
  char kind[24];    /* its text; one that a newer version wrote is passed on as it is */
  char subject[96]; /* what within the incident; (kind, incident, seq, subject) is stored once */
  int64_t at_us;
  char *body; /* JSON text; malloc'd by hw__db_events */
} hw__event;

bool hw__event_is(const hw__event *event, hw__event_kind kind);
hw__db_status hw__db_put_event(hw__db *db, const hw__event *event);
/* Oldest first, id > after; estimates only when asked for. */
hw__db_status hw__db_events(hw__db *db, int64_t after, bool estimates, hw__event *out, size_t limit, size_t *count);
/* Removes the events of estimates before this one; what they said is in the results. */
hw__db_status hw__db_forget_estimates(hw__db *db, int64_t before);
/* The latest `limit`, without estimates, latest first, before that id (0: all). */
hw__db_status hw__db_latest_events(hw__db *db, int64_t before, hw__event *out, size_t limit, size_t *count);
/* Those of one incident, without its estimates, oldest first, id > after. */
hw__db_status hw__db_incident_events(hw__db *db, int64_t incident, int64_t after, hw__event *out, size_t limit,
                                     size_t *count);
hw__db_status hw__db_last_event(hw__db *db, int64_t *id);
/* The latest event of an incident and subject of this kind, its changes and withdrawals included (their names begin
 * like it). Its body is malloc'd. */
hw__db_status hw__db_last_event_of(hw__db *db, int64_t incident, hw__event_kind kind, const char *subject,
                                   hw__event *out);
/* Does this event withdraw an alarm that was raised? */
bool hw__event_withdraws(const hw__event *event);

/* A number stored under a name: how far a reader of the events has come, or whether a sensor's silence was reported.
 * Status: HW_DB_ABSENT before the first. */
hw__db_status hw__db_put_cursor(hw__db *db, const char *name, int64_t event);
hw__db_status hw__db_cursor(hw__db *db, const char *name, int64_t *event);

/* The tracker's state after record `seq`. *body is malloc'd. */
hw__db_status hw__db_put_snapshot(hw__db *db, int64_t seq, const void *body, size_t size);
hw__db_status hw__db_snapshot(hw__db *db, int64_t *seq, void **body, size_t *size);

/* --- removing old readings (retention.h) --- */

/* Readings in order, the oldest first. */
hw__db_status hw__db_oldest(hw__db *db, hw__log_record *out, size_t limit, size_t *count);
/* Incidents that keep their readings: those whose engine has not processed all of them, and those closed at
 * cutoff_us or later. */
hw__db_status hw__db_needed(hw__db *db, int64_t cutoff_us, hw__incident *out, size_t limit, size_t *count);
/* Remove readings up to this number (never the last one), and so many estimate events of incidents closed before
 * cutoff_us, which count as forgotten from then on. */
hw__db_status hw__db_remove(hw__db *db, int64_t upto, int64_t cutoff_us, size_t estimates, size_t *removed);
/* Status: HW_DB_FORGOTTEN once the incident's readings may be gone. */
hw__db_status hw__db_remembers(hw__db *db, const hw__incident *incident);

#endif

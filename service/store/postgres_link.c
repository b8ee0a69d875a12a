/* The connection to a PostgreSQL server: made, lost, made again.
 *
 * Everything lies in the schema "headwater" of the database. One service writes to it at a time: a writer holds
 * an advisory lock for as long as its session lives. The timeouts bound how long a server that fell silent is
 * waited for, whether its machine vanished (TCP's own) or it hangs while its machine is well (ANSWER_MS); the server
 * is told the same of us, so that the lock of a machine that vanished comes free.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/postgres.h"

static const char session[] =
    "SET search_path = headwater; SET client_min_messages = warning; SET client_encoding = 'UTF8';"
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;"
    "SET tcp_user_timeout = 20000; SET lock_timeout = 5000;"
    /* Every statement goes by an index, in its order, and is planned once: a table small today must not tempt the
     * planner to read or sort all of it, nor a page's LIMIT be taken for a tenth of the table. */
    "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;"
    "SET max_parallel_workers_per_gather = 0; SET jit = off; SET plan_cache_mode = force_generic_plan;"
    /* Acknowledged means durable, whatever the server's default is; stricter settings stay. */
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/* Longer than anything asked of it but a migration may take. */
enum { ANSWER_MS = 10000 };

/* Any number nobody else uses: "headwate". */
#define WRITER_LOCK "7522525836719780965"

/* One line of libpq's several. */
static void keep_reason(hw__postgres_db *db, const char *text) {
  snprintf(db->reason, sizeof db->reason, "%s", text ? text : "");
  db->reason[strcspn(db->reason, "\n")] = '\0';
}

/* By SQLSTATE, class or whole. */
static hw__db_status meaning(const char *state) {
  static const struct {
    const char *prefix;
    hw__db_status status;
  } known[] = {{"53100", HW_DB_FULL},    {"25006", HW_DB_READONLY}, {"42501", HW_DB_READONLY}, {"XX001", HW_DB_CORRUPT},
               {"XX002", HW_DB_CORRUPT}, {"23", HW_DB_CLASH},       {"55P03", HW_DB_BUSY},     {"40", HW_DB_BUSY},
               {"53300", HW_DB_BUSY},    {"53200", HW_DB_MEMORY},   {"08", HW_DB_GONE},        {"57P", HW_DB_GONE}};
  for (size_t i = 0; state && i < sizeof known / sizeof known[0]; i++) {
    if (strncmp(state, known[i].prefix, strlen(known[i].prefix)) == 0) {
      return known[i].status;
    }
  }
  return HW_DB_IO;
}

bool hw__pg_lost(const hw__postgres_db *db) {
  return PQstatus(db->link) != CONNECTION_OK;
}

hw__db_status hw__pg_settle(hw__postgres_db *db, PGresult *result) {
  const ExecStatusType code = PQresultStatus(result);
  hw__db_status status = HW_DB_OK;
  if (code != PGRES_COMMAND_OK && code != PGRES_TUPLES_OK && code != PGRES_PIPELINE_SYNC) {
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    status = hw__pg_lost(db) ? HW_DB_GONE : meaning(PQresultErrorField(result, PG_DIAG_SQLSTATE));
    keep_reason(db, words ? words : PQerrorMessage(db->link));
    if (status == HW_DB_IO) {
      hw__log(HW_LOG_ERROR, "postgresql", "reason", db->reason); /* no other word of ours tells it */
    }
  }
  PQclear(result);
  return status;
}

/* Until there is something to read, for so long. */
static bool readable(const hw__postgres_db *db, int64_t until_ms) {
  struct pollfd wait = {.fd = PQsocket(db->link), .events = POLLIN};
  int64_t left_ms = until_ms - hw__clock_ms();
  while (left_ms > 0) {
    if (poll(&wait, 1, (int)left_ms) > 0) {
      return true;
    }
    left_ms = until_ms - hw__clock_ms(); /* a signal ended it early */
  }
  return false;
}

PGresult *hw__pg_result(hw__postgres_db *db) {
  const int64_t until_ms = hw__clock_ms() + ANSWER_MS;
  while (!hw__pg_lost(db) && PQisBusy(db->link)) {
    if (!db->unbounded && !readable(db, until_ms)) {
      hw__log(HW_LOG_ERROR, "postgresql_hangs", "consequence", "the connection is closed");
      shutdown(PQsocket(db->link), SHUT_RDWR); /* the library finds its end, and with it a lost link */
    }
    if (db->unbounded || !PQconsumeInput(db->link)) {
      break;
    }
  }
  return PQgetResult(db->link);
}

PGresult *hw__pg_answer(hw__postgres_db *db, int sent) {
  PGresult *last = NULL, *each = NULL;
  while (sent && (each = hw__pg_result(db)) != NULL) {
    const bool failed = last && PQresultStatus(last) == PGRES_FATAL_ERROR; /* what follows it, failed for it */
    PQclear(failed ? each : last);
    last = failed ? last : each;
  }
  return last;
}

hw__db_status hw__pg_execute(hw__postgres_db *db, const char *sql) {
  return hw__pg_settle(db, hw__pg_answer(db, PQsendQuery(db->link, sql)));
}

hw__db_status hw__pg_number(hw__postgres_db *db, const char *sql, int64_t *out) {
  PGresult *result = hw__pg_answer(db, PQsendQuery(db->link, sql));
  if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1) {
    *out = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
  }
  return hw__pg_settle(db, result);
}

/* Waits as long as asked: the session of a writer just killed ends a moment after it. */
static hw__db_status take_lock(hw__postgres_db *db, int patience_ms) {
  const double until_s = hw__clock_s() + 1e-3 * patience_ms;
  for (;;) {
    int64_t taken = 0;
    const hw__db_status status = hw__pg_number(db, "SELECT pg_try_advisory_lock(" WRITER_LOCK ")::int", &taken);
    if (status != HW_DB_OK || taken) {
      return status;
    }
    if (hw__clock_s() > until_s) {
      keep_reason(db, "another headwater writes to it");
      return HW_DB_BUSY;
    }
    nanosleep(&(struct timespec){0, 50000000}, NULL);
  }
}

/* Whose schema is it? Triggers of its tables run with our rights: somebody else who may make schemas in this database
 * could have laid one out for us. Its owner has to be us, one of our own roles, or who may do everything here anyway.
 */
static hw__db_status check_owner(hw__postgres_db *db) {
  int64_t strange = 0;
  const hw__db_status status =
      hw__pg_number(db,
                    "SELECT count(*) FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner "
                    "WHERE n.nspname = 'headwater' AND NOT (r.rolsuper OR pg_has_role(n.nspowner, 'MEMBER') OR "
                    "r.oid = (SELECT datdba FROM pg_database WHERE datname = current_database()))",
                    &strange);
  if (status != HW_DB_OK || !strange) {
    return status;
  }
  keep_reason(db, "its schema headwater belongs to another user, expected this one, or the owner of the database");
  return HW_DB_READONLY;
}

/* Asked first: making what is there needs rights that using it does not. */
static hw__db_status make_schema(hw__postgres_db *db) {
  int64_t there = 0;
  hw__db_status status = check_owner(db);
  if (status == HW_DB_OK) {
    status = hw__pg_number(db, "SELECT (to_regclass('headwater.schema_version') IS NOT NULL)::int", &there);
  }
  return status != HW_DB_OK || there
             ? status
             : hw__pg_execute(db,
                              "BEGIN; CREATE SCHEMA IF NOT EXISTS headwater;"
                              "CREATE TABLE headwater.schema_version AS SELECT CAST(0 AS BIGINT) AS version; COMMIT");
}

static hw__db_status open_session(hw__postgres_db *db, int patience_ms) {
  hw__db_status status = hw__pg_execute(db, session);
  if (status == HW_DB_OK && db->writer) {
    status = take_lock(db, patience_ms);
    if (status == HW_DB_OK) {
      status = make_schema(db);
    }
  } else if (status == HW_DB_OK) {
    status = hw__pg_execute(db, "SET default_transaction_read_only = on");
  }
  return status;
}

static void close_link(hw__postgres_db *db) {
  for (int i = 0; i < SQL_STATEMENTS; i++) {
    PQclear(db->rows[i]);
    db->rows[i] = NULL;
    db->prepared[i] = false;
  }
  db->append_prepared = false;
  db->in_transaction = false;
  db->queued = 0;
  PQfinish(db->link);
  db->link = NULL;
}

hw__db_status hw__pg_connect(hw__postgres_db *db, int patience_ms) {
  if (hw__clock_s() < db->next_try_s) {
    return HW_DB_GONE; /* tried a moment ago: whoever waits is told at once */
  }
  close_link(db);
  /* What stands before the URL can be overridden by it, what stands behind cannot. */
  const char *const keys[] = {"connect_timeout",
                              "keepalives_idle",
                              "keepalives_interval",
                              "keepalives_count",
                              "tcp_user_timeout",
                              "application_name",
                              "dbname",
                              NULL};
  const char *const values[] = {"5", "10", "5", "3", "20000", "headwater", db->url, NULL};
  db->link = PQconnectdbParams(keys, values, 1);
  hw__db_status status = HW_DB_OK;
  if (hw__pg_lost(db)) {
    keep_reason(db, PQerrorMessage(db->link));
    status = HW_DB_GONE;
  } else {
    status = open_session(db, patience_ms);
  }
  if (status != HW_DB_OK) {
    close_link(db);
    db->next_try_s = hw__clock_s() + 0.2;
  }
  return status;
}

static const char *option(const PQconninfoOption *options, const char *keyword) {
  for (const PQconninfoOption *o = options; o && o->keyword; o++) {
    if (strcmp(o->keyword, keyword) == 0 && o->val) {
      return o->val;
    }
  }
  return "";
}

bool hw__pg_url_is_sound(const char *url) {
  PQconninfoOption *options = PQconninfoParse(url, NULL);
  /* An @ that was not the end of the password is in one of these. */
  const bool sound = options && !strchr(option(options, "host"), '@') && !strchr(option(options, "dbname"), '@');
  PQconninfoFree(options);
  return sound;
}

void hw__pg_name(const char *url, char *out, size_t size) {
  if (!hw__pg_url_is_sound(url)) {
    snprintf(out, size, "postgresql://...");
    return;
  }
  PQconninfoOption *options = PQconninfoParse(url, NULL);
  const char *port = option(options, "port");
  snprintf(out, size, "postgresql://%s%s%s/%s", option(options, "host"), port[0] ? ":" : "", port,
           option(options, "dbname"));
  PQconninfoFree(options);
}

/* --- words --- */

char *hw__pg_translate(const char *sql) {
  static const char *const words[][2] = {{"?", "$"},
                                         {"INTEGER", "BIGINT"},
                                         {"REAL", "DOUBLE PRECISION"},
                                         {"BLOB", "BYTEA"},
                                         {"TEXT", "TEXT COLLATE \"C\""},
                                         {" AUTOINCREMENT", ""},
                                         {" WITHOUT ROWID", ""}};
  enum { WORDS = sizeof words / sizeof words[0], LONGEST_GROWTH = 4 };
  char *out = malloc(LONGEST_GROWTH * strlen(sql) + 1);
  char *to = out;
  while (out && *sql) {
    size_t i = 0;
    while (i < WORDS && strncmp(sql, words[i][0], strlen(words[i][0])) != 0) {
      i++;
    }
    if (i < WORDS) {
      to = stpcpy(to, words[i][1]);
      sql += strlen(words[i][0]);
    } else {
      *to++ = *sql++;
    }
  }
  if (out) {
    *to = '\0';
  }
  return out;
}

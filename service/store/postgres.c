/* PostgreSQL behind the database interface, by libpq.
 *
 * Numbers travel in binary, so that a stored double comes back to the bit. Inside a transaction statements
 * without rows are only sent (libpq's pipeline) and their results read at the commit or before the next
 * question: what is written costs one round trip however many rows it has.
 */
#include "store/postgres.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUEUE_MOST = 128, PATIENCE_OPEN_MS = 5000, PATIENCE_AGAIN_MS = 1000 };

static const char *postgres_reason(hw__db *base) {
  return ((hw__postgres_db *)base)->reason;
}

static void postgres_close(hw__db *base) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  for (int i = 0; i < SQL_STATEMENTS; i++) {
    PQclear(db->rows[i]);
  }
  PQfinish(db->link);
  free(db->url);
  free(db);
}

static hw__db_status postgres_open(const char *where, bool writer, hw__db **out, char *reason, size_t size) {
  hw__postgres_db *db = calloc(1, sizeof *db);
  char *url = strdup(where);
  if (!db || !url) {
    free(db);
    free(url);
    return HW_DB_MEMORY;
  }
  *db = (hw__postgres_db){.base.driver = &hw__db_postgres, .url = url, .writer = writer};
  hw__db_status status = HW_DB_IO;
  if (hw__pg_url_is_sound(url)) {
    status = hw__pg_connect(db, PATIENCE_OPEN_MS);
  } else {
    snprintf(db->reason, sizeof db->reason,
             "not a URL of libpq; in a password @ is written %%40, / %%2F, : %%3A, ? %%3F, %% %%25");
  }
  if (status != HW_DB_OK) {
    snprintf(reason, size, "%s", db->reason);
    postgres_close(&db->base);
    return status;
  }
  *out = &db->base;
  return HW_DB_OK;
}

static hw__db_status postgres_version(hw__db *base, int *out) {
  int64_t version = 0;
  const hw__db_status status = hw__pg_number((hw__postgres_db *)base, "SELECT version FROM schema_version", &version);
  *out = status == HW_DB_OK ? (int)version : *out;
  return status;
}

static hw__db_status postgres_migrate(hw__db *base, const char *sql, int version) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  char *words = hw__pg_translate(sql);
  char *script = words ? malloc(strlen(words) + 128) : NULL;
  hw__db_status status = HW_DB_MEMORY;
  if (script) {
    /* Several statements in one message are one transaction. */
    sprintf(script, "%s UPDATE schema_version SET version = %d", words, version);
    db->unbounded = true; /* a large table may take minutes */
    status = hw__pg_execute(db, script);
    db->unbounded = false;
  }
  free(script);
  free(words);
  return status;
}

/* Is the link there, or there again? `attempt` counts how often that was asked for one piece of work. */
static hw__db_status reach(hw__postgres_db *db, int attempt) {
  if (!hw__pg_lost(db)) {
    return HW_DB_OK;
  }
  return db->in_transaction || attempt > 1 ? HW_DB_GONE : hw__pg_connect(db, PATIENCE_AGAIN_MS);
}

/* A link that turned out to be lost on its first use since long: the same once more, on a new one. */
static bool worth_another(const hw__postgres_db *db, hw__db_status status, int attempt) {
  return status == HW_DB_GONE && attempt == 0 && !db->in_transaction && hw__pg_lost(db);
}

static hw__db_status postgres_begin(hw__db *base, bool writing) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  hw__db_status status = HW_DB_OK;
  int attempt = 0;
  do {
    status = reach(db, attempt);
    if (status == HW_DB_OK) {
      status = hw__pg_execute(db, writing ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    }
  } while (worth_another(db, status, attempt++));
  db->in_transaction = status == HW_DB_OK;
  return status;
}

static void postgres_rollback(hw__db *base) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  if (db->in_transaction && !hw__pg_lost(db)) {
    char reason[sizeof db->reason];
    memcpy(reason, db->reason, sizeof reason); /* of what led here */
    hw__pg_drain(db);
    hw__pg_execute(db, "ROLLBACK");
    memcpy(db->reason, reason, sizeof reason);
  }
  db->in_transaction = false;
}

/* --- values --- */

void hw__pg_put_integer(char *out, int64_t x) {
  for (int i = 0; i < 8; i++) {
    out[i] = (char)((uint64_t)x >> (56 - 8 * i));
  }
}

void hw__pg_put_real(char *out, double x) {
  int64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  hw__pg_put_integer(out, bits);
}

static int64_t get_integer(const char *in, int size) {
  uint64_t x = size && (in[0] & 0x80) ? UINT64_MAX : 0;
  for (int i = 0; i < size; i++) {
    x = x << 8 | (unsigned char)in[i];
  }
  return (int64_t)x;
}

typedef struct {
  const char *bytes[HW_COLUMNS_MOST];
  int sizes[HW_COLUMNS_MOST], formats[HW_COLUMNS_MOST];
  char numbers[HW_COLUMNS_MOST][8];
} parameters;

static void encode(const hw__value *values, size_t count, parameters *p) {
  for (size_t i = 0; i < count; i++) {
    const hw__value *value = &values[i];
    p->formats[i] = 1;
    p->bytes[i] = p->numbers[i];
    p->sizes[i] = 8;
    if (value->kind == HW_VALUE_INTEGER) {
      hw__pg_put_integer(p->numbers[i], value->integer);
    } else if (value->kind == HW_VALUE_REAL && !isnan(value->real)) {
      hw__pg_put_real(p->numbers[i], value->real);
    } else if (value->kind == HW_VALUE_TEXT || value->kind == HW_VALUE_BLOB) {
      p->bytes[i] = value->bytes;
      p->sizes[i] = (int)value->size;
    } else {
      p->bytes[i] = NULL;
    }
  }
}

static hw__value decode(const PGresult *rows, int row, int column) {
  if (PQgetisnull(rows, row, column)) {
    return (hw__value){0};
  }
  const char *bytes = PQgetvalue(rows, row, column);
  const int size = PQgetlength(rows, row, column);
  switch (PQftype(rows, column)) {
    case PG_INT8:
    case PG_INT4:
      return of_integer(get_integer(bytes, size));
    case PG_BOOL:
      return of_integer(bytes[0] != 0);
    case PG_FLOAT8: {
      const int64_t bits = get_integer(bytes, size);
      double x = 0;
      memcpy(&x, &bits, sizeof x);
      return of_real(x);
    }
    case PG_BYTEA:
      return of_blob(bytes, (size_t)size);
    default:
      return (hw__value){.kind = HW_VALUE_TEXT, .bytes = bytes, .size = (size_t)size};
  }
}

/* --- statements --- */

static const char *statement_name(hw__sql which, char name[16]) {
  snprintf(name, 16, "s%d", (int)which);
  return name;
}

/* The kinds of the first values are the types of the parameters; of a NULL PostgreSQL finds it by itself. */
static hw__db_status prepare(hw__postgres_db *db, hw__sql which, const hw__value *values, size_t count) {
  static const Oid types_of[] = {[HW_VALUE_NULL] = 0,
                                 [HW_VALUE_INTEGER] = PG_INT8,
                                 [HW_VALUE_REAL] = PG_FLOAT8,
                                 [HW_VALUE_TEXT] = PG_TEXT,
                                 [HW_VALUE_BLOB] = PG_BYTEA};
  if (db->prepared[which]) {
    return HW_DB_OK;
  }
  hw__db_status status = hw__pg_drain(db);
  char *sql = hw__pg_translate(hw__sql_text(which));
  if (!sql) {
    return HW_DB_MEMORY;
  }
  if (status == HW_DB_OK) {
    Oid types[HW_COLUMNS_MOST];
    char name[16];
    for (size_t i = 0; i < count; i++) {
      types[i] = types_of[values[i].kind];
    }
    status = hw__pg_settle(
        db, hw__pg_answer(db, PQsendPrepare(db->link, statement_name(which, name), sql, (int)count, types)));
    db->prepared[which] = status == HW_DB_OK;
  }
  free(sql);
  return status;
}

static void postgres_finish(hw__db *base, hw__sql which) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  PQclear(db->rows[which]);
  db->rows[which] = NULL;
}

static hw__db_status ask(hw__postgres_db *db, hw__sql which, const hw__value *values, size_t count) {
  hw__db_status status = prepare(db, which, values, count);
  if (status == HW_DB_OK) {
    status = hw__pg_drain(db);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  parameters p;
  char name[16];
  encode(values, count, &p);
  PGresult *rows = hw__pg_answer(
      db, PQsendQueryPrepared(db->link, statement_name(which, name), (int)count, p.bytes, p.sizes, p.formats, 1));
  if (PQresultStatus(rows) != PGRES_TUPLES_OK && PQresultStatus(rows) != PGRES_COMMAND_OK) {
    return hw__pg_settle(db, rows);
  }
  db->rows[which] = rows;
  db->row[which] = 0;
  return HW_DB_OK;
}

static hw__db_status postgres_start(hw__db *base, hw__sql which, const hw__value *values, size_t count) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  hw__db_status status = HW_DB_OK;
  int attempt = 0;
  postgres_finish(base, which);
  do {
    status = reach(db, attempt);
    if (status == HW_DB_OK) {
      status = ask(db, which, values, count);
    }
  } while (worth_another(db, status, attempt++));
  return status;
}

static hw__db_status postgres_next(hw__db *base, hw__sql which, hw__value *row) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  const PGresult *rows = db->rows[which];
  if (db->row[which] >= PQntuples(rows)) {
    return HW_DB_ABSENT;
  }
  const int columns = PQnfields(rows);
  for (int i = 0; i < columns; i++) {
    row[i] = decode(rows, db->row[which], i);
  }
  db->row[which]++;
  return HW_DB_OK;
}

/* --- the queue --- */

hw__db_status hw__pg_drain(hw__postgres_db *db) {
  if (!db->queued) {
    return HW_DB_OK;
  }
  hw__db_status status = PQpipelineSync(db->link) ? HW_DB_OK : HW_DB_GONE;
  int silent = 0; /* every statement's results end in one NULL; two in a row: there is nothing more */
  for (bool synced = false; !synced && silent < 2;) {
    PGresult *result = hw__pg_result(db);
    silent = result ? 0 : silent + 1;
    synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    const bool undone = result && strcmp(PQcmdStatus(result), "ROLLBACK") == 0; /* the answer to a vain COMMIT */
    if (result && status == HW_DB_OK) {
      status = hw__pg_settle(db, result);
      status = undone && status == HW_DB_OK ? HW_DB_IO : status;
    } else {
      PQclear(result); /* what follows a failure failed for it */
    }
  }
  PQexitPipelineMode(db->link);
  db->queued = 0;
  return hw__pg_lost(db) ? HW_DB_GONE : status;
}

static hw__db_status queued(hw__postgres_db *db, int sent) {
  db->queued++; /* also of a failed one: draining leaves the pipeline */
  if (!sent) {
    hw__pg_drain(db);
    return hw__pg_lost(db) ? HW_DB_GONE : HW_DB_IO;
  }
  return db->queued >= QUEUE_MOST ? hw__pg_drain(db) : HW_DB_OK;
}

static hw__db_status postgres_commit(hw__db *base) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  hw__db_status status = HW_DB_GONE;
  if (!hw__pg_lost(db) && PQenterPipelineMode(db->link)) {
    status = queued(db, PQsendQueryParams(db->link, "COMMIT", 0, NULL, NULL, NULL, NULL, 1));
    if (status == HW_DB_OK) {
      status = hw__pg_drain(db);
    }
  }
  db->in_transaction = db->in_transaction && status != HW_DB_OK;
  return status;
}

static hw__db_status postgres_run(hw__db *base, hw__sql which, const hw__value *values, size_t count, size_t *changed) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  if (!db->in_transaction || changed) {
    const hw__db_status status = postgres_start(base, which, values, count);
    if (status == HW_DB_OK && changed) {
      *changed = (size_t)strtoull(PQcmdTuples(db->rows[which]), NULL, 10);
    }
    postgres_finish(base, which);
    return status;
  }
  hw__db_status status = hw__pg_lost(db) ? HW_DB_GONE : prepare(db, which, values, count);
  if (status != HW_DB_OK) {
    return status;
  }
  parameters p;
  char name[16];
  encode(values, count, &p);
  PQenterPipelineMode(db->link);
  return queued(db,
                PQsendQueryPrepared(db->link, statement_name(which, name), (int)count, p.bytes, p.sizes, p.formats, 1));
}

const hw__db_driver hw__db_postgres = {.open = postgres_open,
                                       .close = postgres_close,
                                       .name = hw__pg_name,
                                       .reason = postgres_reason,
                                       .version = postgres_version,
                                       .migrate = postgres_migrate,
                                       .begin = postgres_begin,
                                       .commit = postgres_commit,
                                       .rollback = postgres_rollback,
                                       .run = postgres_run,
                                       .start = postgres_start,
                                       .next = postgres_next,
                                       .finish = postgres_finish,
                                       .append = hw__pg_append};

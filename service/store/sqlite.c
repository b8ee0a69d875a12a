/* SQLite behind the database interface.
 *
 * Durability: WAL with synchronous=FULL, so COMMIT returns after the log is on the disk. The schema's
 * version is PRAGMA user_version. One service writes to a file at a time: SQLite itself would let two take turns, and
 * each would number readings the other has numbered. A writer holds FILE-lock for as long as it is open.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/head_file.h"

enum { WRITER_MS = 5000 }; /* one that is stopping may take a moment */

typedef struct {
  hw__db base;
  sqlite3 *handle;
  sqlite3_stmt *statements[SQL_STATEMENTS];
  sqlite3_stmt *begin, *commit;
  int lock;           /* of a writer; -1: none */
  char *path;         /* the file's own, behind symbolic links: what lies beside it is there for all who open it */
  hw__head_file head; /* of a writer */
} sqlite_db;

static hw__db_status meaning(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
      return HW_DB_OK;
    case SQLITE_FULL:
      return HW_DB_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return HW_DB_READONLY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return HW_DB_CORRUPT;
    case SQLITE_CONSTRAINT:
      return HW_DB_CLASH;
    case SQLITE_NOMEM:
      return HW_DB_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return HW_DB_BUSY;
    default:
      return HW_DB_IO;
  }
}

/* What the connection's last failure means. */
static hw__db_status fault(sqlite_db *db) {
  const hw__db_status status = meaning(sqlite3_extended_errcode(db->handle));
  return status == HW_DB_OK ? HW_DB_IO : status;
}

static const char *sqlite_reason(hw__db *base) {
  return sqlite3_errmsg(((sqlite_db *)base)->handle);
}

static void sqlite_name(const char *where, char *out, size_t size) {
  snprintf(out, size, "%s", where);
}

static void sqlite_close(hw__db *base) {
  sqlite_db *db = (sqlite_db *)base;
  for (int i = 0; i < SQL_STATEMENTS; i++) {
    sqlite3_finalize(db->statements[i]);
  }
  sqlite3_finalize(db->begin);
  sqlite3_finalize(db->commit);
  sqlite3_close(db->handle);
  if (db->lock >= 0) {
    close(db->lock);
  }
  hw__head_file_close(&db->head);
  free(db->path);
  free(db);
}

/* A file beside the database: closing a descriptor of the database itself would undo SQLite's own locks. Where it
 * cannot be made the disk is full or not writable, which the writer is about to be told. */
static hw__db_status lock_out_others(sqlite_db *db, const char *where) {
  char path[4096];
  snprintf(path, sizeof path, "%s-lock", where);
  db->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int64_t until_ms = hw__clock_ms() + WRITER_MS;
  while (db->lock >= 0 && flock(db->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (hw__clock_ms() > until_ms) {
      return HW_DB_BUSY;
    }
    hw__clock_nap_ms(50);
  }
  return HW_DB_OK;
}

/* SQLite's log and our lock lie beside the name a file was opened by: under two names it would have two of each. */
static size_t count_names(const char *where) {
  struct stat file;
  return stat(where, &file) == 0 && S_ISREG(file.st_mode) ? (size_t)file.st_nlink : 1;
}

static hw__db_status execute(sqlite_db *db, const char *sql) {
  return meaning(sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

/* A file may come from somewhere else, as a copy of a cluster or a backup: what it brings along beside its tables, code
 * that runs when a row is written or read, has no say. */
static hw__db_status leave_code_alone(sqlite_db *db) {
  static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_TRUSTED_SCHEMA};
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < sizeof off / sizeof off[0] && status == HW_DB_OK; i++) {
    status = meaning(sqlite3_db_config(db->handle, off[i], 0, (int *)NULL));
  }
  return status;
}

static hw__db_status sqlite_open(const char *where, bool writer, hw__db **out, char *reason, size_t size) {
  sqlite_db *db = calloc(1, sizeof *db);
  if (!db) {
    return HW_DB_MEMORY;
  }
  db->base.driver = &hw__db_sqlite;
  db->lock = db->head.descriptor = -1;
  const size_t names = writer ? count_names(where) : 1;
  if (names > 1) {
    snprintf(reason, size, "it has %zu names, hard links, expected one", names);
    sqlite_close(&db->base);
    return HW_DB_READONLY;
  }
  const int flags = (writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
  hw__db_status status = meaning(sqlite3_open_v2(where, &db->handle, flags, NULL));
  if (status == HW_DB_OK) {
    const char *own = sqlite3_db_filename(db->handle, "main");
    db->path = strdup(own && *own ? own : where);
    status = db->path ? HW_DB_OK : HW_DB_MEMORY;
  }
  if (status == HW_DB_OK) {
    sqlite3_busy_timeout(db->handle, 5000);
    status = leave_code_alone(db);
  }
  if (status == HW_DB_OK) {
    /* cell_size_check: meet a damaged page with an error, not with a wrong row. */
    status = execute(db, writer ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON;"
                                  "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 4000;"
                                  "PRAGMA cache_size = -65536; PRAGMA locking_mode = NORMAL"
                                : "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192");
  }
  if (status != HW_DB_OK) {
    const bool missing = !writer && access(where, F_OK) != 0;
    snprintf(reason, size, "%s", db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
    sqlite_close(&db->base);
    return missing ? HW_DB_NO_FILE : status;
  }
  const bool on_disk = strcmp(where, ":memory:") != 0;
  if (writer && on_disk && lock_out_others(db, db->path) != HW_DB_OK) {
    snprintf(reason, size, "another headwater writes to it");
    sqlite_close(&db->base);
    return HW_DB_BUSY;
  }
  if (writer && on_disk) {
    hw__head_file_open(&db->head, db->path);
  }
  *out = &db->base;
  return HW_DB_OK;
}

static hw__db_status sqlite_version(hw__db *base, int *out) {
  sqlite_db *db = (sqlite_db *)base;
  sqlite3_stmt *statement = NULL;
  hw__db_status status = HW_DB_OK;
  if (sqlite3_prepare_v2(db->handle, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    *out = sqlite3_column_int(statement, 0);
  } else {
    status = fault(db);
  }
  sqlite3_finalize(statement);
  return status;
}

static void sqlite_rollback(hw__db *base) {
  sqlite_db *db = (sqlite_db *)base;
  if (!sqlite3_get_autocommit(db->handle)) {
    execute(db, "ROLLBACK");
  }
}

static hw__db_status sqlite_migrate(hw__db *base, const char *sql, int version) {
  sqlite_db *db = (sqlite_db *)base;
  char stamp[64];
  snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d", version);
  hw__db_status status = execute(db, "BEGIN IMMEDIATE");
  if (status == HW_DB_OK) {
    status = execute(db, sql);
  }
  if (status == HW_DB_OK) {
    status = execute(db, stamp);
  }
  if (status == HW_DB_OK) {
    status = execute(db, "COMMIT");
  }
  if (status != HW_DB_OK) {
    sqlite_rollback(base);
  }
  return status;
}

/* The statement, reset and ready to bind; NULL when it cannot be prepared. */
static sqlite3_stmt *ready(sqlite_db *db, sqlite3_stmt **statement, const char *sql) {
  if (*statement) {
    sqlite3_reset(*statement);
  } else {
    sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  }
  return *statement;
}

static hw__db_status step_once(sqlite_db *db, sqlite3_stmt *statement) {
  if (!statement) {
    return fault(db);
  }
  const int code = sqlite3_step(statement);
  const hw__db_status status = code == SQLITE_DONE || code == SQLITE_ROW ? HW_DB_OK : fault(db);
  sqlite3_reset(statement);
  return status;
}

static hw__db_status sqlite_begin(hw__db *base, bool writing) {
  sqlite_db *db = (sqlite_db *)base;
  return writing ? step_once(db, ready(db, &db->begin, "BEGIN IMMEDIATE")) : execute(db, "BEGIN");
}

static hw__db_status sqlite_commit(hw__db *base) {
  sqlite_db *db = (sqlite_db *)base;
  return step_once(db, ready(db, &db->commit, "COMMIT"));
}

static void bind(sqlite3_stmt *statement, int at, const hw__value *value) {
  switch (value->kind) {
    case HW_VALUE_INTEGER:
      sqlite3_bind_int64(statement, at, value->integer);
      break;
    case HW_VALUE_REAL:
      sqlite3_bind_double(statement, at, value->real); /* NaN becomes NULL */
      break;
    case HW_VALUE_TEXT:
      sqlite3_bind_text64(statement, at, value->bytes, value->size, SQLITE_STATIC, SQLITE_UTF8);
      break;
    case HW_VALUE_BLOB:
      sqlite3_bind_blob64(statement, at, value->bytes, value->size, SQLITE_STATIC);
      break;
    case HW_VALUE_NULL:
      sqlite3_bind_null(statement, at);
      break;
  }
}

static hw__db_status sqlite_start(hw__db *base, hw__sql which, const hw__value *values, size_t count) {
  sqlite_db *db = (sqlite_db *)base;
  sqlite3_stmt *statement = ready(db, &db->statements[which], hw__sql_text(which));
  for (size_t i = 0; i < count && statement; i++) {
    bind(statement, (int)i + 1, &values[i]);
  }
  return statement ? HW_DB_OK : fault(db);
}

static hw__db_status sqlite_run(hw__db *base, hw__sql which, const hw__value *values, size_t count, size_t *changed) {
  sqlite_db *db = (sqlite_db *)base;
  hw__db_status status = sqlite_start(base, which, values, count);
  if (status == HW_DB_OK) {
    status = step_once(db, db->statements[which]);
  }
  if (status == HW_DB_OK && changed) {
    *changed = (size_t)sqlite3_changes(db->handle);
  }
  return status;
}

static hw__value column(sqlite3_stmt *statement, int at) {
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER:
      return of_integer(sqlite3_column_int64(statement, at));
    case SQLITE_FLOAT:
      return of_real(sqlite3_column_double(statement, at));
    case SQLITE_TEXT: {
      const char *text = (const char *)sqlite3_column_text(statement, at);
      return text ? (hw__value){.kind = HW_VALUE_TEXT,
                                .bytes = text,
                                .size = (size_t)sqlite3_column_bytes(statement, at)}
                  : (hw__value){0};
    }
    case SQLITE_BLOB: {
      const void *bytes = sqlite3_column_blob(statement, at);
      return of_blob(bytes, (size_t)sqlite3_column_bytes(statement, at));
    }
    default:
      return (hw__value){0};
  }
}

static hw__db_status sqlite_next(hw__db *base, hw__sql which, hw__value *row) {
  sqlite_db *db = (sqlite_db *)base;
  sqlite3_stmt *statement = db->statements[which];
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW) {
    return code == SQLITE_DONE ? HW_DB_ABSENT : fault(db);
  }
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; i++) {
    row[i] = column(statement, i);
  }
  return HW_DB_OK;
}

static void sqlite_finish(hw__db *base, hw__sql which) {
  sqlite3_reset(((sqlite_db *)base)->statements[which]);
}

/* Its last commits may go without a fault: no end of the chain is kept that could be missed. */
static hw__db_status sqlite_relax(hw__db *base) {
  sqlite_db *db = (sqlite_db *)base;
  hw__head_file_close(&db->head);
  return execute(db, "PRAGMA synchronous = NORMAL");
}

static bool sqlite_keep_head(hw__db *base, const hw__mark *head) {
  return hw__head_file_keep(&((sqlite_db *)base)->head, head);
}

static hw__db_status sqlite_last_head(hw__db *base, hw__mark *out) {
  return hw__head_file_read(((sqlite_db *)base)->path, out);
}

static bool sqlite_sync_head(hw__db *base, bool now) {
  hw__head_file *head = &((sqlite_db *)base)->head;
  if (now) {
    hw__head_file_sync(head);
  }
  return head->unsynced;
}

static hw__db_status sqlite_inspect(hw__db *base, void (*tell)(void *context, const char *sentence), void *context) {
  sqlite_db *db = (sqlite_db *)base;
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db->handle, "PRAGMA integrity_check(20)", -1, &statement, NULL);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    const char *sentence = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (sentence && strcmp(sentence, "ok") != 0) {
      tell(context, sentence);
    }
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? HW_DB_OK : fault(db);
}

static hw__db_status sqlite_copy(hw__db *base, const char *path) {
  sqlite3 *copy = NULL;
  int code = sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  sqlite3_backup *backup =
      code == SQLITE_OK ? sqlite3_backup_init(copy, "main", ((sqlite_db *)base)->handle, "main") : NULL;
  if (backup) {
    code = sqlite3_backup_step(backup, -1); /* all in one read transaction */
    sqlite3_backup_finish(backup);
  } else {
    code = code == SQLITE_OK ? sqlite3_errcode(copy) : code;
  }
  sqlite3_close(copy);
  return code == SQLITE_DONE ? HW_DB_OK : meaning(code) == HW_DB_OK ? HW_DB_IO : meaning(code);
}

const hw__db_driver hw__db_sqlite = {.open = sqlite_open,
                                     .close = sqlite_close,
                                     .name = sqlite_name,
                                     .reason = sqlite_reason,
                                     .version = sqlite_version,
                                     .migrate = sqlite_migrate,
                                     .begin = sqlite_begin,
                                     .commit = sqlite_commit,
                                     .rollback = sqlite_rollback,
                                     .run = sqlite_run,
                                     .start = sqlite_start,
                                     .next = sqlite_next,
                                     .finish = sqlite_finish,
                                     .relax = sqlite_relax,
                                     .inspect = sqlite_inspect,
                                     .keep_head = sqlite_keep_head,
                                     .last_head = sqlite_last_head,
                                     .sync_head = sqlite_sync_head,
                                     .copy = sqlite_copy};

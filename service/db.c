/* The connection: opening, migrating, statements, faults.
 *
 * Durability: WAL with synchronous=FULL, so COMMIT returns after the log is on the disk. The schema's
 * version is PRAGMA user_version; a migration is one string below, run in one transaction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db_schema.h"

static const char *const migrations[] = {
    /* 0 -> 1 */
    ("CREATE TABLE rivers(key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time_base INTEGER NOT NULL DEFAULT 0);"
     "CREATE TABLE sensors(key INTEGER PRIMARY KEY, river INTEGER NOT NULL, id TEXT NOT NULL, UNIQUE(river, id));"
     "CREATE TABLE readings(seq INTEGER PRIMARY KEY, river INTEGER NOT NULL, sensor INTEGER NOT NULL,"
     " time_s REAL NOT NULL, concentration_g_m3 REAL NOT NULL, below INTEGER NOT NULL, received_us INTEGER NOT NULL);"
     "CREATE UNIQUE INDEX readings_identity ON readings(sensor, time_s);"
     "CREATE INDEX readings_of_river ON readings(river, seq);"
     "CREATE TABLE commands(seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, river INTEGER NOT NULL,"
     " incident INTEGER NOT NULL, time_s REAL, method TEXT NOT NULL, received_us INTEGER NOT NULL);"
     "CREATE TABLE incidents(id INTEGER PRIMARY KEY, river INTEGER NOT NULL, sensor INTEGER NOT NULL,"
     " method TEXT NOT NULL, seed INTEGER NOT NULL, opened_s REAL NOT NULL, onset_s REAL NOT NULL,"
     " from_s REAL NOT NULL, origin_s REAL NOT NULL, opened_us INTEGER NOT NULL,"
     " closed_seq INTEGER NOT NULL DEFAULT 0, closed_s REAL, closed_us INTEGER, reason TEXT,"
     " result TEXT, result_seq INTEGER NOT NULL DEFAULT 0);"
     "CREATE INDEX incidents_open ON incidents(closed_seq) WHERE closed_seq = 0;"
     "CREATE TABLE estimates(incident INTEGER NOT NULL, seq INTEGER NOT NULL, reading_s REAL NOT NULL,"
     " readings INTEGER NOT NULL, provisional INTEGER NOT NULL, has_interval INTEGER NOT NULL, mass_g REAL NOT NULL,"
     " location_m REAL NOT NULL, time_s REAL NOT NULL, mass_lo REAL, mass_hi REAL, location_lo REAL,"
     " location_hi REAL, time_lo REAL, time_hi REAL, PRIMARY KEY(incident, seq)) WITHOUT ROWID;"
     "CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, seq INTEGER NOT NULL,"
     " river INTEGER NOT NULL, incident INTEGER NOT NULL, subject TEXT NOT NULL, at_us INTEGER NOT NULL,"
     " body TEXT NOT NULL, UNIQUE(incident, kind, subject, seq));"
     "CREATE TABLE snapshots(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL);"),
    /* 1 -> 2: how far the hooks have come in the events */
    "CREATE TABLE cursors(name TEXT PRIMARY KEY, event INTEGER NOT NULL);",
    /* 2 -> 3: has the engine seen all of a closed incident? */
    ("ALTER TABLE incidents ADD COLUMN finished INTEGER NOT NULL DEFAULT 0;"
     "CREATE INDEX incidents_unfinished ON incidents(id) WHERE finished = 0;"),
};
enum { SCHEMA_VERSION = sizeof migrations / sizeof migrations[0] };

const char *hw__db_text(hw_db_status status) {
  static const char *const texts[] = {
#define ROW(name, text) text,
      HW_DB_LIST(ROW)
#undef ROW
  };
  return (size_t)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown";
}

static hw_db_status meaning(int code) {
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
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return HW_DB_BUSY;
    default:
      return HW_DB_IO;
  }
}

hw_db_status hw__db_fault(hw_db *db) {
  const hw_db_status status = meaning(sqlite3_extended_errcode(db->handle));
  return status == HW_DB_OK ? HW_DB_IO : status;
}

static hw_db_status execute(hw_db *db, const char *sql) {
  return meaning(sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

static int user_version(hw_db *db) {
  sqlite3_stmt *statement = NULL;
  int version = -1;
  if (sqlite3_prepare_v2(db->handle, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    version = sqlite3_column_int(statement, 0);
  }
  sqlite3_finalize(statement);
  return version;
}

static hw_db_status migrate(hw_db *db) {
  int version = user_version(db);
  if (version < 0) {
    return hw__db_fault(db);
  }
  if (version > SCHEMA_VERSION) {
    return HW_DB_NEWER;
  }
  hw_db_status status = HW_DB_OK;
  for (; version < SCHEMA_VERSION && status == HW_DB_OK; version++) {
    char stamp[64];
    snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d", version + 1);
    status = execute(db, "BEGIN IMMEDIATE");
    status = status == HW_DB_OK ? execute(db, migrations[version]) : status;
    status = status == HW_DB_OK ? execute(db, stamp) : status;
    status = status == HW_DB_OK ? execute(db, "COMMIT") : status;
    if (status != HW_DB_OK) {
      hw__db_rollback(db);
    }
  }
  return status;
}

hw_db_status hw__db_open(const char *path, bool writer, hw_db **out, char *sentence, size_t size) {
  *out = NULL;
  hw_db *db = calloc(1, sizeof *db);
  if (!db) {
    snprintf(sentence, size, "out of memory");
    return HW_DB_IO;
  }
  const int flags = (writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
  hw_db_status status = meaning(sqlite3_open_v2(path, &db->handle, flags, NULL));
  if (status == HW_DB_OK) {
    sqlite3_busy_timeout(db->handle, 5000);
    /* cell_size_check: meet a damaged page with an error, not with a wrong row. */
    status = execute(db, writer ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON;"
                                  "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 4000;"
                                  "PRAGMA cache_size = -65536; PRAGMA locking_mode = NORMAL"
                                : "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192");
  }
  if (status == HW_DB_OK && writer) {
    status = migrate(db);
  }
  if (status != HW_DB_OK) {
    snprintf(sentence, size, "%s: %s (%s)", path, hw__db_text(status),
             db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
    hw__db_close(db);
    return status;
  }
  *out = db;
  return HW_DB_OK;
}

hw_db_status hw__db_relax(hw_db *db) {
  return execute(db, "PRAGMA synchronous = NORMAL");
}

void hw__db_close(hw_db *db) {
  if (db) {
    for (int i = 0; i < SQL_STATEMENTS; i++) {
      sqlite3_finalize(db->statements[i]);
    }
    sqlite3_close(db->handle);
    free(db);
  }
}

sqlite3_stmt *hw__db_statement(hw_db *db, hw_sql which) {
  static const char *const texts[] = {
#define ROW(name, sql) sql,
      HW_SQL_LIST(ROW)
#undef ROW
  };
  sqlite3_stmt **statement = &db->statements[which];
  if (*statement) {
    sqlite3_reset(*statement);
    return *statement;
  }
  sqlite3_prepare_v3(db->handle, texts[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  return *statement;
}

hw_db_status hw__db_run(hw_db *db, sqlite3_stmt *statement) {
  if (!statement) {
    return hw__db_fault(db);
  }
  const int code = sqlite3_step(statement);
  const hw_db_status status = code == SQLITE_DONE || code == SQLITE_ROW ? HW_DB_OK : hw__db_fault(db);
  sqlite3_reset(statement);
  return status;
}

hw_db_status hw__db_step(hw_db *db, sqlite3_stmt *statement) {
  const int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    return HW_DB_OK;
  }
  const hw_db_status status = code == SQLITE_DONE ? HW_DB_ABSENT : hw__db_fault(db);
  sqlite3_reset(statement);
  return status;
}

hw_db_status hw__db_begin(hw_db *db) {
  return hw__db_run(db, hw__db_statement(db, SQL_BEGIN));
}

hw_db_status hw__db_commit(hw_db *db) {
  return hw__db_run(db, hw__db_statement(db, SQL_COMMIT));
}

void hw__db_rollback(hw_db *db) {
  if (!sqlite3_get_autocommit(db->handle)) {
    sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
  }
}

static hw_db_status key_of(hw_db *db, hw_sql add, hw_sql get, int64_t river, const char *id, int64_t *key) {
  const hw_sql steps[] = {add, get};
  hw_db_status status = HW_DB_OK;
  for (int i = 0; i < 2 && status == HW_DB_OK; i++) {
    sqlite3_stmt *statement = hw__db_statement(db, steps[i]);
    if (!statement) {
      return hw__db_fault(db);
    }
    int at = 1;
    if (river) {
      sqlite3_bind_int64(statement, at++, river);
    }
    sqlite3_bind_text(statement, at, id, -1, SQLITE_STATIC);
    if (i == 0) {
      status = hw__db_run(db, statement);
    } else if ((status = hw__db_step(db, statement)) == HW_DB_OK) {
      *key = sqlite3_column_int64(statement, 0);
      sqlite3_reset(statement);
    }
  }
  return status;
}

hw_db_status hw__db_enrol(hw_db *db, hw_catalog *catalog) {
  hw_db_status status = hw__db_begin(db);
  for (size_t r = 0; r < hw__catalog_count(catalog) && status == HW_DB_OK; r++) {
    hw_site *site = hw__catalog_site(catalog, r);
    status = key_of(db, SQL_RIVER_ADD, SQL_RIVER_KEY, 0, site->id, &site->key);
    for (size_t s = 0; s < site->river.sensor_count && status == HW_DB_OK; s++) {
      int64_t key = 0;
      status = key_of(db, SQL_SENSOR_ADD, SQL_SENSOR_KEY, site->key, site->river.sensors[s].id, &key);
      if (status == HW_DB_OK && hw__catalog_set_key(catalog, r, s, key) != HW_OK) {
        status = HW_DB_IO;
      }
    }
  }
  status = status == HW_DB_OK ? hw__db_commit(db) : status;
  if (status != HW_DB_OK) {
    hw__db_rollback(db);
  }
  return status;
}

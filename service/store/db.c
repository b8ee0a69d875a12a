/* Opening and migrating a database whichever its engine, and what every statement shares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/verify.h"

/* A migration is one string, run in one transaction together with the new version. */
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
    /* 3 -> 4: an answer may have no source, says how far it is trusted, and names the engine that made it. In
     * readings, below is 2 for one at or above its number. */
    ("CREATE TABLE judged(incident INTEGER NOT NULL, seq INTEGER NOT NULL, reading_s REAL NOT NULL,"
     " readings INTEGER NOT NULL, provisional INTEGER NOT NULL, has_interval INTEGER NOT NULL, mass_g REAL,"
     " location_m REAL, time_s REAL, mass_lo REAL, mass_hi REAL, location_lo REAL, location_hi REAL, time_lo REAL,"
     " time_hi REAL, trust INTEGER NOT NULL DEFAULT 0, spill REAL, branch TEXT NOT NULL DEFAULT '', duration_s REAL, "
     "duration_lo REAL,"
     " duration_hi REAL, PRIMARY KEY(incident, seq)) WITHOUT ROWID;"
     "INSERT INTO judged(incident, seq, reading_s, readings, provisional, has_interval, mass_g, location_m, time_s,"
     " mass_lo, mass_hi, location_lo, location_hi, time_lo, time_hi) SELECT incident, seq, reading_s, readings,"
     " provisional, has_interval, mass_g, location_m, time_s, mass_lo, mass_hi, location_lo, location_hi, time_lo,"
     " time_hi FROM estimates;"
     "DROP TABLE estimates;"
     "ALTER TABLE judged RENAME TO estimates;"
     "ALTER TABLE incidents ADD COLUMN engine INTEGER NOT NULL DEFAULT 1;"
     /* gauges beside the sensors; in readings, below is 3 for a discharge */
     "CREATE TABLE places(key INTEGER PRIMARY KEY, river INTEGER NOT NULL, id TEXT NOT NULL,"
     " gauge INTEGER NOT NULL DEFAULT 0, UNIQUE(river, gauge, id));"
     "INSERT INTO places(key, river, id) SELECT key, river, id FROM sensors;"
     "DROP TABLE sensors;"
     "ALTER TABLE places RENAME TO sensors;"
     /* the note of whoever acknowledges an incident */
     "ALTER TABLE commands ADD COLUMN note TEXT NOT NULL DEFAULT '';"
     /* A checksum a record, the chain over them, and what was found to be wrong (chain.h). */
     "ALTER TABLE readings ADD COLUMN sum INTEGER;"
     "ALTER TABLE commands ADD COLUMN sum INTEGER;"
     "CREATE TABLE marks(mark INTEGER PRIMARY KEY, seq INTEGER NOT NULL, records INTEGER NOT NULL,"
     " hash INTEGER NOT NULL);"
     "CREATE INDEX marks_by_record ON marks(seq);"
     "CREATE TABLE faults(id INTEGER PRIMARY KEY, found_us INTEGER NOT NULL, first_seq INTEGER NOT NULL,"
     " last_seq INTEGER NOT NULL, records INTEGER NOT NULL, what TEXT NOT NULL);"),
};
enum { SCHEMA_VERSION = sizeof migrations / sizeof migrations[0] };

int hw__db_schema_version(void) {
  return SCHEMA_VERSION;
}

const char *hw__db_text(hw__db_status status) {
  static const char *const texts[] = {
#define ROW(name, text) text,
      HW_DB_LIST(ROW)
#undef ROW
  };
  return (size_t)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown";
}

const char *hw__sql_text(hw__sql which) {
  static const char *const texts[] = {
#define ROW(name, sql) sql,
      HW_SQL_LIST(ROW)
#undef ROW
#define ROW(name, sql, fault) sql,
          HW_CHECK_LIST(ROW)
#undef ROW
#define ROW(name, table, key, key_marks, limit, columns, marks, kinds)                                 \
  "SELECT " columns " FROM " table " WHERE (" key ") > (" key_marks ") ORDER BY " key " LIMIT " limit, \
      "INSERT INTO " table "(" columns ") VALUES(" marks ")",
              HW_TABLE_LIST(ROW)
#undef ROW
  };
  return texts[which];
}

/* --- opening --- */

static const hw__db_driver *driver_of(const char *store) {
  const bool postgres = strncmp(store, "postgresql://", 13) == 0 || strncmp(store, "postgres://", 11) == 0;
  return postgres ? &hw__db_postgres : &hw__db_sqlite;
}

static const char *place_of(const char *store) {
  return strncmp(store, "sqlite:", 7) == 0 ? store + 7 : store;
}

void hw__db_name(const char *store, char *out, size_t size) {
  driver_of(store)->name(place_of(store), out, size);
}

static hw__db_status bring_up_to_date(hw__db *db, bool writer) {
  int version = 0;
  hw__db_status status = db->driver->version(db, &version);
  if (status == HW_DB_OK && version > SCHEMA_VERSION) {
    return HW_DB_NEWER;
  }
  if (status == HW_DB_OK && version < SCHEMA_VERSION && !writer) {
    return HW_DB_OLDER;
  }
  for (; version < SCHEMA_VERSION && status == HW_DB_OK; version++) {
    status = db->driver->migrate(db, migrations[version], version + 1);
  }
  return status;
}

hw__db_status hw__db_open(const char *store, bool writer, hw__db **out, char *sentence, size_t size) {
  *out = NULL;
  const hw__db_driver *driver = driver_of(store);
  char reason[256] = "out of memory";
  hw__db *db = NULL;
  hw__db_status status = driver->open(place_of(store), writer, &db, reason, sizeof reason);
  if (status == HW_DB_OK) {
    status = bring_up_to_date(db, writer);
    if (status != HW_DB_OK) {
      snprintf(reason, sizeof reason, "%s", driver->reason(db));
      driver->close(db);
    }
  }
  if (status != HW_DB_OK) {
    char name[256];
    hw__db_name(store, name, sizeof name);
    /* for these the engine's own words add nothing */
    const bool told = status == HW_DB_NEWER || status == HW_DB_OLDER || status == HW_DB_NO_FILE;
    snprintf(sentence, size, told ? "%s: %s" : "%s: %s (%s)", name, hw__db_text(status), reason);
    return status;
  }
  *out = db;
  return HW_DB_OK;
}

hw__db_status hw__db_relax(hw__db *db) {
  db->chain.kept = false;
  return db->driver->relax ? db->driver->relax(db) : HW_DB_OK;
}

hw__db_status hw__db_copy(hw__db *db, const char *path) {
  return db->driver->copy ? db->driver->copy(db, path) : HW_DB_IO;
}

static void forget_bases(hw__db *db) {
  free(db->bases);
  db->bases = NULL;
  db->base_count = 0;
}

void hw__db_close(hw__db *db) {
  if (db) {
    forget_bases(db);
    hw__chain_forget(db);
    db->driver->close(db);
  }
}

bool hw__db_damaged(const hw__db *db) {
  return db->damaged;
}

hw__db_status hw__db_begin(hw__db *db) {
  return db->driver->begin(db, true);
}

hw__db_status hw__db_commit(hw__db *db) {
  hw__db_status status = hw__chain_seal(db);
  if (status == HW_DB_OK) {
    status = db->driver->commit(db);
  }
  if (status == HW_DB_OK) {
    hw__chain_committed(db);
  }
  return status;
}

void hw__db_rollback(hw__db *db) {
  forget_bases(db);
  hw__chain_forget(db);
  db->driver->rollback(db);
}

/* --- rows --- */

hw__db_status hw__sql_collect(hw__db *db, hw__sql which, const hw__collection *into, const hw__value *values,
                              size_t count) {
  hw__value row[HW_COLUMNS_MOST];
  size_t n = 0;
  hw__db_status status = db->driver->start(db, which, values, count);
  while (status == HW_DB_OK && n < into->limit && (status = db->driver->next(db, which, row)) == HW_DB_OK) {
    status = into->read(row, (char *)into->elements + n * into->element_size);
    n += status == HW_DB_OK;
  }
  db->driver->finish(db, which);
  db->damaged = db->damaged || status == HW_DB_CORRUPT;
  *into->count = n;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

hw__db_status hw__sql_one(hw__db *db, hw__sql which, hw__row_reader read, void *element, const hw__value *values,
                          size_t count) {
  size_t found = 0;
  const hw__collection one = {read, element, 0, 1, &found};
  const hw__db_status status = hw__sql_collect(db, which, &one, values, count);
  return status == HW_DB_OK && found == 0 ? HW_DB_ABSENT : status;
}

static hw__db_status read_integer(const hw__value *row, void *element) {
  *(int64_t *)element = hw__value_integer(row);
  return HW_DB_OK;
}

hw__db_status hw__sql_integer(hw__db *db, hw__sql which, int64_t *out, const hw__value *values, size_t count) {
  return hw__sql_one(db, which, read_integer, out, values, count);
}

int64_t hw__value_integer(const hw__value *value) {
  return value->kind == HW_VALUE_INTEGER ? value->integer : 0;
}

double hw__value_real(const hw__value *value) {
  return value->kind == HW_VALUE_REAL      ? value->real
         : value->kind == HW_VALUE_INTEGER ? (double)value->integer
                                           : (double)NAN;
}

void hw__value_copy(const hw__value *value, char *out, size_t size) {
  snprintf(out, size, "%s", value->kind == HW_VALUE_TEXT ? value->bytes : "");
}

char *hw__value_duplicate(const hw__value *value) {
  const bool has_bytes = value->kind == HW_VALUE_TEXT || value->kind == HW_VALUE_BLOB;
  const size_t size = has_bytes ? value->size : 0;
  char *copy = malloc(size + 1);
  if (copy) {
    if (size) {
      memcpy(copy, value->bytes, size);
    }
    copy[size] = '\0';
  }
  return copy;
}

/* --- names --- */

static hw__db_status key_of(hw__db *db, const char *river, int64_t *key) {
  const hw__db_status status = hw__sql_run(db, SQL_RIVER_ADD, HW_VALUES(of_text(river)));
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__sql_integer(db, SQL_RIVER_KEY, key, HW_VALUES(of_text(river)));
}

static hw__db_status enrol_place(hw__db *db, hw__catalog *catalog, hw__place place) {
  const hw__site *site = hw__catalog_site(catalog, place.site);
  const hw__value river = of_integer(site->key), id = of_text(hw__site_name(site, place));
  int64_t key = 0;
  hw__db_status status = hw__sql_run(db, SQL_SENSOR_ADD, HW_VALUES(river, id, of_integer(place.gauge)));
  if (status == HW_DB_OK) {
    status = hw__sql_integer(db, SQL_SENSOR_KEY, &key, HW_VALUES(river, id, of_integer(place.gauge)));
  }
  return status == HW_DB_OK && hw__catalog_set_key(catalog, place, key) != HW_OK ? HW_DB_MEMORY : status;
}

hw__db_status hw__db_enrol(hw__db *db, hw__catalog *catalog) {
  hw__db_status status = hw__db_begin(db);
  for (size_t r = 0; r < hw__catalog_count(catalog) && status == HW_DB_OK; r++) {
    hw__site *site = hw__catalog_site(catalog, r);
    status = key_of(db, site->id, &site->key);
    for (size_t s = 0; s < site->river.sensor_count && status == HW_DB_OK; s++) {
      status = enrol_place(db, catalog, (hw__place){r, s, false});
    }
    for (size_t g = 0; g < site->river.gauge_count && status == HW_DB_OK; g++) {
      status = enrol_place(db, catalog, (hw__place){r, g, true});
    }
  }
  if (status == HW_DB_OK) {
    status = hw__note_names(db);
  }
  if (status == HW_DB_OK) {
    status = hw__db_commit(db);
  }
  if (status != HW_DB_OK) {
    hw__db_rollback(db);
  }
  return status;
}

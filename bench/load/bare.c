/* The yardstick: SQLite alone, one thread, the service's own table and indexes, WAL and synchronous=FULL. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

double load_bare_sqlite(const char *folder, size_t group, double seconds) {
  char path[512];
  snprintf(path, sizeof path, "%s/bare-%zu.db", folder, group);
  sqlite3 *db = NULL;
  sqlite3_stmt *insert = NULL;
  if (sqlite3_open(path, &db) != SQLITE_OK ||
      sqlite3_exec(db,
                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA "
                   "cache_size = -65536;"
                   "CREATE TABLE readings(seq INTEGER PRIMARY KEY, river INTEGER, sensor INTEGER, time_s REAL, "
                   "concentration_g_m3 REAL,"
                   " below INTEGER, received_us INTEGER);"
                   "CREATE UNIQUE INDEX a ON readings(sensor, time_s); CREATE INDEX b ON readings(river, seq);",
                   NULL, NULL, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(db, "INSERT OR IGNORE INTO readings VALUES(?1, ?2, ?3, ?4, ?5, 0, 1)", -1, &insert, NULL) !=
          SQLITE_OK) {
    load_die("bare SQLite");
  }
  const double began = load_now_s();
  sqlite3_int64 row = 0;
  while (load_now_s() - began < seconds) {
    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (size_t i = 0; i < group; i++, row++) {
      const sqlite3_int64 sensor = row % (LOAD_RIVERS * LOAD_SENSORS);
      sqlite3_bind_int64(insert, 1, row + 1);
      sqlite3_bind_int64(insert, 2, sensor / LOAD_SENSORS);
      sqlite3_bind_int64(insert, 3, sensor);
      sqlite3_bind_double(insert, 4, (double)(row / (LOAD_RIVERS * LOAD_SENSORS)) * 60);
      sqlite3_bind_double(insert, 5, 1e-6);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  }
  const double took = load_now_s() - began;
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return (double)row / took;
}

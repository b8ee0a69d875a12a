/* A store of its own for every test, on SQLite or, where postgres.py says so, on PostgreSQL. */
#ifndef HW_TESTS_STORE_FIXTURE_H
#define HW_TESTS_STORE_FIXTURE_H

#include <libpq-fe.h>
#include <unistd.h>

#include "service_fixture.h"
#include "store/store.h"

/* Set by postgres.py: the same tests on PostgreSQL. */
static const char *postgres;

typedef struct {
  char folder[64], path[96]; /* path: of the database, or its URL */
  hw__catalog *catalog;
  hw__store *store;
} fixture;

static inline hw__db_status open_store(fixture *f) {
  char sentence[256];
  return hw__store_open(f->path, f->catalog, &f->store, sentence, sizeof sentence);
}

static inline void ask_postgres(const char *sql) {
  PGconn *link = PQconnectdb(postgres);
  PGresult *result = PQexec(link, sql);
  assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
  PQclear(result);
  PQfinish(link);
}

static inline int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  snprintf(f->folder, sizeof f->folder, "/tmp/headwater-store-XXXXXX");
  if (!f || !mkdtemp(f->folder)) {
    return 1;
  }
  if (postgres) {
    snprintf(f->path, sizeof f->path, "%s", postgres);
    ask_postgres("SET client_min_messages = error; DROP SCHEMA IF EXISTS headwater CASCADE");
  } else {
    snprintf(f->path, sizeof f->path, "%s/test.db", f->folder);
  }
  f->catalog = fixture_catalog(2);
  *state = f;
  return open_store(f) == HW_DB_OK ? 0 : 1;
}

static inline void remove_database(const char *database) {
  const char *const endings[] = {"", "-wal", "-shm", "-lock", "-head"};
  for (int i = 0; i < 5; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s%s", database, endings[i]);
    unlink(path);
  }
}

static inline int tear_down(void **state) {
  fixture *f = *state;
  hw__store_close(f->store);
  hw__catalog_free(f->catalog);
  remove_database(f->path);
  rmdir(f->folder);
  free(f);
  return 0;
}

static inline hw__checked_reading entry(size_t site, size_t sensor, double time_s, double c) {
  return (hw__checked_reading){.place = {site, sensor}, .time_s = time_s, .concentration_g_m3 = c};
}

static inline hw__db_status put(fixture *f, hw__checked_reading *entries, size_t count, hw__ingest *out) {
  *out = (hw__ingest){.catalog = f->catalog, .entries = entries, .count = count};
  return hw__store_ingest(f->store, out);
}

static inline void fixture_on_postgres(void) {
  postgres = getenv("HEADWATER_TEST_POSTGRES");
}

#endif

/* Inside the PostgreSQL driver: the connection (postgres_link.c) and the statements on it. */
#ifndef HW_STORE_POSTGRES_H
#define HW_STORE_POSTGRES_H

#include <libpq-fe.h>

#include "store/driver.h"

/* Types as the wire names them. */
enum {
  PG_BOOL = 16,
  PG_BYTEA = 17,
  PG_INT8 = 20,
  PG_INT4 = 23,
  PG_TEXT = 25,
  PG_FLOAT8 = 701,
  PG_FLOAT8_ARRAY = 1022,
  PG_INT8_ARRAY = 1016
};

typedef struct {
  hw__db base;
  char *url;
  bool writer;
  PGconn *link; /* NULL until connected */
  double next_try_s;
  bool in_transaction;
  bool unbounded;   /* an answer may take as long as it likes */
  size_t queued;    /* statements sent whose results are still to be read */
  char reason[256]; /* of the last failure */
  bool prepared[SQL_STATEMENTS], append_prepared;
  PGresult *rows[SQL_STATEMENTS];
  int row[SQL_STATEMENTS];
} hw__postgres_db;

/* Connect, or connect again when the link is lost (at most a few times a second): session settings, and for a
 * writer the lock that keeps other writers out, waited for `patience_ms`. */
hw__db_status hw__pg_connect(hw__postgres_db *db, int patience_ms);
bool hw__pg_lost(const hw__postgres_db *db);
/* What a result means; keeps the reason and clears the result. NULL: the link failed. */
hw__db_status hw__pg_settle(hw__postgres_db *db, PGresult *result);
/* Wait for the next result, at most for a while: then the link is lost. */
PGresult *hw__pg_result(hw__postgres_db *db);
/* All results of what was sent (0: it was not): the last, or the first that failed. */
PGresult *hw__pg_answer(hw__postgres_db *db, int sent);
/* SQL without parameters. */
hw__db_status hw__pg_execute(hw__postgres_db *db, const char *sql);
/* One number. */
hw__db_status hw__pg_number(hw__postgres_db *db, const char *sql, int64_t *out);
/* Can libpq read it, and is nothing of an unescaped password left in its host or name? */
bool hw__pg_url_is_sound(const char *url);
void hw__pg_name(const char *url, char *out, size_t size);
/* In PostgreSQL's words; malloc'd. */
char *hw__pg_translate(const char *sql);

/* Send what is queued and read all results: the first failure. */
hw__db_status hw__pg_drain(hw__postgres_db *db);
/* Numbers as the wire has them. */
void hw__pg_put_integer(char *out, int64_t x);
void hw__pg_put_real(char *out, double x);
hw__db_status hw__pg_append(hw__db *base, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                            const hw__stamp *stamps, int64_t received_us, int64_t *seq);

#endif

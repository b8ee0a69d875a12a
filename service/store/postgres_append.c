/* Many readings into PostgreSQL in one statement.
 *
 * The rows go as arrays, one per column; the last two, numbers and dates of rows the caller stamped, are empty where
 * it did not. What is stored already is looked up by the index, one of several equal
 * rows is taken, the rest numbered in the order given; back comes for each row the number that its sensor and time
 * got just now, if any, and whether the value kept is the one given.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "store/postgres.h"

static const char sql[] =
    "WITH given AS MATERIALIZED ("
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::float8[], $4::float8[], $5::bigint[],"
    " $6::bigint[], $7::bigint[], $8::bigint[])"
    " WITH ORDINALITY AS g(river, sensor, time_s, concentration_g_m3, below, sum, seq, received_us, place)"
    "), kept AS MATERIALIZED (" /* LIMIT keeps it a look-up per row */
    " SELECT g.place, r.concentration_g_m3, r.below FROM given AS g CROSS JOIN LATERAL"
    " (SELECT concentration_g_m3, below FROM readings WHERE sensor = g.sensor AND time_s = g.time_s LIMIT 1) AS r"
    "), fresh AS MATERIALIZED ("
    " SELECT DISTINCT ON (sensor, time_s) * FROM given WHERE place NOT IN (SELECT place FROM kept)"
    " ORDER BY sensor, time_s, place"
    "), added AS ("
    " INSERT INTO readings(" HW_SQL_READING_SUM
    ") SELECT coalesce(seq, $9 + row_number() OVER (ORDER BY place)),"
    " river, sensor, time_s, concentration_g_m3, below, coalesce(received_us, $10), sum FROM fresh"
    " RETURNING seq, sensor, time_s, concentration_g_m3, below"
    ") SELECT a.seq, coalesce(k.concentration_g_m3, a.concentration_g_m3) = g.concentration_g_m3"
    " AND coalesce(k.below, a.below) = g.below FROM given AS g LEFT JOIN kept AS k ON k.place = g.place"
    " LEFT JOIN added AS a ON a.sensor = g.sensor AND a.time_s = g.time_s ORDER BY g.place";

enum {
  COLUMNS = 8,
  STAMPS_AT = 6,
  PARAMETERS = 10,
  ROWS_MOST = 2048,
  HEAD_BYTES = 20,
  EMPTY_BYTES = 12,
  ELEMENT_BYTES = 12
};

static const Oid types[PARAMETERS] = {PG_INT8_ARRAY, PG_INT8_ARRAY, PG_FLOAT8_ARRAY, PG_FLOAT8_ARRAY, PG_INT8_ARRAY,
                                      PG_INT8_ARRAY, PG_INT8_ARRAY, PG_INT8_ARRAY,   PG_INT8,         PG_INT8};

/* Readings on their way, and what they are called. */
typedef struct {
  const hw__catalog *catalog;
  hw__checked_reading *entries;
  size_t count;
  const hw__stamp *stamps; /* one per entry, or NULL: numbered from *seq on, dated received_us */
  int64_t received_us;
  int64_t *seq;
} batch;

static void put_word(char *out, uint32_t x) {
  x = htonl(x);
  memcpy(out, &x, 4);
}

/* An array as the wire has it: dimensions, has NULLs, type, length, first index, then size and value of each. An empty
 * one has no dimension and ends after its type. */
static void put_head(char *out, bool real, size_t count) {
  const uint32_t words[] = {count ? 1 : 0, 0, real ? PG_FLOAT8 : PG_INT8, (uint32_t)count, 1};
  for (int i = 0; i < 5; i++) {
    put_word(out + 4 * i, words[i]);
  }
}

static char *element(char *array, size_t at) {
  put_word(array + HEAD_BYTES + ELEMENT_BYTES * at, 8);
  return array + HEAD_BYTES + ELEMENT_BYTES * at + 4;
}

/* Returned: how many rows it is. */
static size_t fill(char *arrays[COLUMNS], const batch *b) {
  size_t n = 0;
  for (size_t i = 0; i < b->count; i++) {
    const hw__checked_reading *entry = &b->entries[i];
    if (entry->fate == HW_FATE_ACCEPTED) {
      const hw__site *site = hw__catalog_site(b->catalog, entry->place.site);
      hw__pg_put_integer(element(arrays[0], n), site->key);
      hw__pg_put_integer(element(arrays[1], n), hw__site_key(site, entry->place));
      hw__pg_put_real(element(arrays[2], n), entry->time_s);
      hw__pg_put_real(element(arrays[3], n), entry->concentration_g_m3);
      hw__pg_put_integer(element(arrays[4], n), hw__censoring(entry));
      const hw__stamp stamp = b->stamps ? b->stamps[i] : (hw__stamp){0, b->received_us};
      hw__pg_put_integer(element(arrays[5], n), hw__reading_sum(site, entry, stamp.received_us));
      hw__pg_put_integer(element(arrays[6], n), stamp.seq);
      hw__pg_put_integer(element(arrays[7], n), stamp.received_us);
      n++;
    }
  }
  for (int c = 0; c < COLUMNS; c++) {
    put_head(arrays[c], c == 2 || c == 3, c < STAMPS_AT || b->stamps ? n : 0);
  }
  return n;
}

/* Of several rows with one sensor and time the number is that of the first. */
static void tell_fates(const PGresult *rows, const batch *b) {
  int row = 0;
  for (size_t i = 0; i < b->count; i++) {
    hw__checked_reading *entry = &b->entries[i];
    if (entry->fate == HW_FATE_ACCEPTED) {
      char own[8];
      hw__pg_put_integer(own, b->stamps ? b->stamps[i].seq : *b->seq + 1);
      const bool taken = !PQgetisnull(rows, row, 0) && memcmp(PQgetvalue(rows, row, 0), own, 8) == 0;
      const bool same = PQgetvalue(rows, row, 1)[0] != 0;
      entry->fate = taken ? HW_FATE_ACCEPTED : same ? HW_FATE_DUPLICATE : HW_FATE_CONFLICT;
      *b->seq += taken && !b->stamps;
      row++;
    }
  }
}

static hw__db_status append_some(hw__postgres_db *db, char *arrays[COLUMNS], const batch *b) {
  const size_t rows = fill(arrays, b);
  if (!rows) {
    return HW_DB_OK;
  }
  char last[8], received[8];
  hw__pg_put_integer(last, *b->seq);
  hw__pg_put_integer(received, b->received_us);
  const char *values[PARAMETERS] = {[COLUMNS] = last, [COLUMNS + 1] = received};
  int sizes[PARAMETERS] = {[COLUMNS] = 8, [COLUMNS + 1] = 8}, binary[PARAMETERS];
  for (int c = 0; c < PARAMETERS; c++) {
    binary[c] = 1;
    if (c < COLUMNS) {
      const bool empty = c >= STAMPS_AT && !b->stamps;
      values[c] = arrays[c];
      sizes[c] = empty ? EMPTY_BYTES : (int)(HEAD_BYTES + ELEMENT_BYTES * rows);
    }
  }
  PGresult *told = hw__pg_answer(db, PQsendQueryPrepared(db->link, "append", PARAMETERS, values, sizes, binary, 1));
  if (PQresultStatus(told) == PGRES_TUPLES_OK && (size_t)PQntuples(told) == rows) {
    tell_fates(told, b);
  }
  return hw__pg_settle(db, told);
}

hw__db_status hw__pg_append(hw__db *base, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                            const hw__stamp *stamps, int64_t received_us, int64_t *seq) {
  hw__postgres_db *db = (hw__postgres_db *)base;
  hw__db_status status = hw__pg_drain(db);
  if (status == HW_DB_OK && !db->append_prepared) {
    status = hw__pg_settle(db, hw__pg_answer(db, PQsendPrepare(db->link, "append", sql, PARAMETERS, types)));
    db->append_prepared = status == HW_DB_OK;
  }
  const size_t most = count < ROWS_MOST ? count : ROWS_MOST;
  const size_t bytes = HEAD_BYTES + ELEMENT_BYTES * most;
  char *memory = malloc(COLUMNS * bytes);
  if (!memory) {
    return HW_DB_MEMORY;
  }
  char *arrays[COLUMNS];
  for (size_t c = 0; c < COLUMNS; c++) {
    arrays[c] = memory + c * bytes;
  }
  for (size_t at = 0; at < count && status == HW_DB_OK; at += ROWS_MOST) {
    const batch some = {.catalog = catalog,
                        .entries = entries + at,
                        .count = count - at < ROWS_MOST ? count - at : ROWS_MOST,
                        .stamps = stamps ? stamps + at : NULL,
                        .received_us = received_us,
                        .seq = seq};
    status = append_some(db, arrays, &some);
  }
  free(memory);
  return status;
}

#include "store/chain.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/driver.h"

uint64_t hw__fnv_start(void) {
  return UINT64_C(0xcbf29ce484222325);
}

uint64_t hw__fnv(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* The same bytes on every machine. */
static uint64_t take_number(uint64_t hash, uint64_t x) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) {
    bytes[i] = (unsigned char)(x >> (8 * i));
  }
  return hw__fnv(hash, bytes, sizeof bytes);
}

/* One engine does not keep the sign of a zero, and a NaN is stored as NULL. */
static uint64_t take_value(uint64_t hash, const hw__value *value) {
  uint64_t bits = 0;
  const bool real = value->kind == HW_VALUE_REAL;
  const double x = real && value->real != 0 ? value->real : 0;
  if (value->kind == HW_VALUE_NULL || (real && x != x)) {
    return hw__fnv(hash, "-", 1);
  }
  if (value->kind == HW_VALUE_TEXT || value->kind == HW_VALUE_BLOB) {
    return take_number(hw__fnv(hash, value->bytes, value->size), value->size);
  }
  memcpy(&bits, &x, sizeof bits);
  return take_number(hash, real ? bits : (uint64_t)value->integer);
}

int64_t hw__row_sum(const hw__value *values, size_t count) {
  uint64_t hash = hw__fnv_start();
  for (size_t i = 0; i < count; i++) {
    hash = take_value(hash, &values[i]);
  }
  return (int64_t)((hash ^ hash >> 32) & UINT32_MAX);
}

void hw__mark_step(hw__mark *mark, int64_t seq, int64_t sum) {
  mark->hash = take_number(take_number(mark->hash, (uint64_t)seq), (uint64_t)sum);
  mark->seq = seq;
  mark->records++;
}

hw__db_status hw__read_mark(const hw__value *row, void *element) {
  *(hw__mark *)element = (hw__mark){.mark = hw__value_integer(&row[0]),
                                    .seq = hw__value_integer(&row[1]),
                                    .records = hw__value_integer(&row[2]),
                                    .hash = (uint64_t)hw__value_integer(&row[3])};
  return HW_DB_OK;
}

/* `how`: SQL_PUT_MARKS or SQL_MARK_MOVE. */
static hw__db_status put_mark(hw__db *db, hw__sql how, const hw__mark *mark) {
  return hw__sql_run(db, how,
                     HW_VALUES(of_integer(mark->mark), of_integer(mark->seq), of_integer(mark->records),
                               of_integer((int64_t)mark->hash)));
}

static hw__db_status read_link(const hw__value *row, void *element) {
  *(hw__chained *)element = (hw__chained){hw__value_integer(&row[HW_LINK_SEQ]), hw__value_integer(&row[HW_LINK_SUM])};
  return HW_DB_OK;
}

/* From a mark on, over the records behind it. */
static hw__db_status follow(hw__db *db, int64_t upto, hw__mark *mark) {
  enum { PAGE = HW_MARK_EVERY };
  hw__chained links[PAGE];
  size_t count = PAGE;
  hw__db_status status = HW_DB_OK;
  while (status == HW_DB_OK && count == PAGE) {
    const hw__collection page = {read_link, links, sizeof links[0], PAGE, &count};
    status =
        hw__sql_collect(db, SQL_LINKS, &page, HW_VALUES(of_integer(mark->seq), of_integer(upto), of_integer(PAGE)));
    for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
      hw__mark_step(mark, links[i].seq, links[i].sum);
    }
  }
  return status;
}

/* The end of the chain before record `seq`, or its beginning there. */
static hw__db_status know(hw__db *db, int64_t seq) {
  hw__chain *chain = &db->chain;
  hw__mark first = {0};
  hw__db_status status = hw__sql_one(db, SQL_MARK_LAST, hw__read_mark, &chain->last, HW_NO_VALUES);
  if (status == HW_DB_ABSENT) {
    chain->last = (hw__mark){.mark = 1, .seq = seq - 1, .hash = hw__fnv_start()};
    status = put_mark(db, SQL_PUT_MARKS, &chain->last);
    first = chain->last;
  } else if (status == HW_DB_OK) {
    status = hw__sql_one(db, SQL_MARK_FIRST, hw__read_mark, &first, HW_NO_VALUES);
  }
  chain->open = chain->last.records % HW_MARK_EVERY != 0 && chain->last.mark > first.mark;
  if (status == HW_DB_OK) {
    status = follow(db, seq - 1, &chain->last);
  }
  chain->known = status == HW_DB_OK;
  return status;
}

static hw__db_status save(hw__db *db) {
  hw__chain *chain = &db->chain;
  chain->last.mark += !chain->open;
  const hw__db_status status = put_mark(db, chain->open ? SQL_MARK_MOVE : SQL_PUT_MARKS, &chain->last);
  chain->open = chain->last.records % HW_MARK_EVERY != 0;
  chain->behind = status != HW_DB_OK;
  chain->saved_ms = hw__clock_ms();
  return status;
}

/* The head tells the end meanwhile. */
static bool may_wait(const hw__chain *chain) {
  return chain->kept && hw__clock_ms() - chain->saved_ms < HW_MARK_MS;
}

static int by_number(const void *a, const void *b) {
  const hw__chained *x = a, *y = b;
  return (x->seq > y->seq) - (x->seq < y->seq);
}

static void sort(hw__chained *links, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (links[i].seq < links[i - 1].seq) {
      qsort(links, count, sizeof *links, by_number);
      return;
    }
  }
}

hw__db_status hw__chain_seal(hw__db *db) {
  hw__chain *chain = &db->chain;
  if (!chain->count) {
    return HW_DB_OK;
  }
  sort(chain->added, chain->count);
  hw__db_status status = chain->known ? HW_DB_OK : know(db, chain->added[0].seq);
  for (size_t i = 0; i < chain->count && status == HW_DB_OK; i++) {
    hw__mark_step(&chain->last, chain->added[i].seq, chain->added[i].sum);
    chain->behind = true;
    if (chain->last.records % HW_MARK_EVERY == 0) {
      status = save(db);
    }
  }
  if (status == HW_DB_OK && chain->behind && !may_wait(chain)) {
    status = save(db);
  }
  chain->moved = true;
  chain->count = 0;
  return status;
}

hw__db_status hw__chain_add(hw__db *db, int64_t seq, int64_t sum) {
  hw__chain *chain = &db->chain;
  if (chain->count == chain->capacity) {
    const size_t wanted = chain->capacity ? 2 * chain->capacity : HW_MARK_EVERY;
    hw__chained *grown = realloc(chain->added, wanted * sizeof *grown);
    if (!grown) {
      return HW_DB_MEMORY;
    }
    chain->added = grown;
    chain->capacity = wanted;
  }
  chain->added[chain->count++] = (hw__chained){seq, sum};
  return HW_DB_OK;
}

void hw__chain_committed(hw__db *db) {
  if (db->chain.moved) {
    db->chain.kept = db->driver->keep_head && db->driver->keep_head(db, &db->chain.last);
  }
  db->chain.moved = false;
}

void hw__chain_forget(hw__db *db) {
  free(db->chain.added);
  db->chain = (hw__chain){0};
}

bool hw__db_head_waits(hw__db *db, bool now) {
  return db->driver->sync_head && db->driver->sync_head(db, now);
}

void hw__db_head_is_here(hw__db *db) {
  hw__mark last = {.hash = hw__fnv_start()};
  hw__db_status status = hw__sql_one(db, SQL_MARK_LAST, hw__read_mark, &last, HW_NO_VALUES);
  if (status == HW_DB_OK) {
    status = follow(db, INT64_MAX, &last);
  }
  if (db->driver->keep_head && (status == HW_DB_OK || status == HW_DB_ABSENT)) {
    db->driver->keep_head(db, &last);
  }
}

hw__db_status hw__chain_at(hw__db *db, int64_t seq, hw__mark *out) {
  const hw__db_status status = hw__sql_one(db, SQL_MARK_BEFORE, hw__read_mark, out, HW_VALUES(of_integer(seq)));
  return status == HW_DB_OK ? follow(db, seq, out) : status;
}

hw__db_status hw__chain_begin_at(hw__db *db, int64_t seq) {
  hw__mark begin;
  hw__db_status status = hw__chain_at(db, seq, &begin);
  if (status == HW_DB_ABSENT) {
    return HW_DB_OK; /* the removed records are older than the chain */
  }
  begin.seq = seq;
  if (status == HW_DB_OK) {
    status = hw__sql_run(db, SQL_MARKS_FORGET, HW_VALUES(of_integer(begin.mark)));
  }
  if (status == HW_DB_OK) {
    status = put_mark(db, SQL_MARK_MOVE, &begin);
  }
  /* what is known of the last mark may be wrong now; the next records write it again */
  db->chain.known = db->chain.kept = db->chain.behind = false;
  return status;
}

void hw__db_mark_end(hw__db *db) {
  if (db->chain.behind && db->driver->begin(db, true) == HW_DB_OK) {
    if (save(db) != HW_DB_OK || db->driver->commit(db) != HW_DB_OK) {
      hw__db_rollback(db);
    }
  }
}

/* A checksum for every record and a hash chain over the log: if what is read is not what was stored, it is reported.
 *
 * A record's sum is FNV-1a over its columns, 64 bits folded to 32, stored beside them. The chain takes a step a record,
 *
 *   hash = FNV-1a(hash before it; seq, sum),
 *
 * and a row of `marks` says after which record it had which value: one after every 1024 records, and one after the
 * last. A record that was changed has another sum; one that is missing, added or numbered anew leads to another hash.
 * The first mark is where the chain begins: 0 records on a new store, and retention moves it up, so that what is left
 * is still checked from its first record to its last. The head, the chain's end as it was acknowledged, is also kept
 * outside of what the database would lose together with its last records (driver.h: keep_head).
 *
 * Where a head is kept it vouches for the end after each commit. The mark after the last record would tell the same at
 * the price of another page a commit, so it is then written once a second at most, and when the store is closed.
 *
 * This guards against damage and loss. Whoever may write the database may also write sums that fit.
 * Check values: FNV-1a of "" is cbf29ce484222325, of "foobar" 85944171f73967e8 (Fowler, Noll and Vo).
 */
#ifndef HW_STORE_CHAIN_H
#define HW_STORE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_MARK_EVERY = 1024, HW_MARK_MS = 1000 };

/* The chain after one record. */
typedef struct {
  int64_t mark; /* number of the row */
  int64_t seq;  /* number of the last record by then; of the first mark: all records of the chain have higher numbers */
  int64_t records; /* records chained by then, including those removed since */
  uint64_t hash;
} hw__mark;

/* A record of the chain: its number and its checksum. */
typedef struct {
  int64_t seq, sum;
} hw__chained;

/* What a writer knows of the chain's end, and what its transaction adds. */
typedef struct {
  hw__mark last;
  bool known;         /* read from the store since the last failure */
  bool open;          /* true: the next record moves the last mark; false: it starts a new mark */
  bool moved;         /* records were added in this transaction */
  bool kept;          /* the end after the last commit was kept as the head */
  bool behind;        /* the last mark is behind the end: only the head has that */
  int64_t saved_ms;   /* when the last mark was written */
  hw__chained *added; /* not chained yet: they may come in any order and are chained by number */
  size_t count, capacity;
} hw__chain;

uint64_t hw__fnv(uint64_t hash, const void *bytes, size_t size);
/* The hash of no bytes, with which every hash begins. */
uint64_t hw__fnv_start(void);
/* One step. */
void hw__mark_step(hw__mark *mark, int64_t seq, int64_t sum);

#endif

/* Inside the database room: values go into a statement, values come out in rows; an engine is a driver.
 *
 * db.c, reading_log.c and results.c hold what the service asks for, in the words of statements.h.
 * sqlite.c and postgres.c each know one engine and nothing of rivers.
 */
#ifndef HW_STORE_DRIVER_H
#define HW_STORE_DRIVER_H

#include <string.h>

#include "store/chain.h"
#include "store/db.h"
#include "store/statements.h"

typedef enum { HW_VALUE_NULL, HW_VALUE_INTEGER, HW_VALUE_REAL, HW_VALUE_TEXT, HW_VALUE_BLOB } hw__value_kind;

/* One column or parameter. Borrowed bytes: of a parameter until the call returns, of a column until the next row.
 * Text ends in a NUL that `size` does not count. A NaN is stored as NULL. */
typedef struct {
  hw__value_kind kind;
  union {
    int64_t integer;
    double real;
    struct {
      const char *bytes;
      size_t size;
    };
  };
} hw__value;

static inline hw__value of_integer(int64_t x) {
  return (hw__value){.kind = HW_VALUE_INTEGER, .integer = x};
}
static inline hw__value of_real(double x) {
  return (hw__value){.kind = HW_VALUE_REAL, .real = x};
}
static inline hw__value of_text(const char *x) {
  return (hw__value){.kind = HW_VALUE_TEXT, .bytes = x, .size = strlen(x)};
}
static inline hw__value of_blob(const void *x, size_t size) {
  return (hw__value){.kind = HW_VALUE_BLOB, .bytes = x, .size = size};
}

/* The last two arguments of the calls below, written as a list of values. */
#define HW_VALUES(...) (const hw__value[]){__VA_ARGS__}, sizeof((const hw__value[]){__VA_ARGS__}) / sizeof(hw__value)
#define HW_NO_VALUES   NULL, 0
enum { HW_COLUMNS_MOST = 24 };

/* What an engine does. Required unless marked optional. */
typedef struct {
  /* Connect. On failure `reason` says why in the engine's words, without a password. */
  hw__db_status (*open)(const char *where, bool writer, hw__db **out, char *reason, size_t size);
  void (*close)(hw__db *db);
  /* What messages call this database; never with a password. */
  void (*name)(const char *where, char *out, size_t size);
  /* The engine's words for the last failure. */
  const char *(*reason)(hw__db *db);
  /* The schema's version; and running a migration and setting its version in one transaction. */
  hw__db_status (*version)(hw__db *db, int *out);
  hw__db_status (*migrate)(hw__db *db, const char *sql, int version);
  /* begin: to write, or to see one moment over several statements. rollback does nothing outside of a transaction. */
  hw__db_status (*begin)(hw__db *db, bool writing);
  hw__db_status (*commit)(hw__db *db);
  void (*rollback)(hw__db *db);
  /* A statement without rows. Inside a transaction its failure may show as late as at the commit, unless
   * `changed` (how many rows it touched) is asked for. */
  hw__db_status (*run)(hw__db *db, hw__sql which, const hw__value *values, size_t count, size_t *changed);
  /* A statement with rows: start, next until HW_DB_ABSENT, or finish early. */
  hw__db_status (*start)(hw__db *db, hw__sql which, const hw__value *values, size_t count);
  hw__db_status (*next)(hw__db *db, hw__sql which, hw__value *row);
  void (*finish)(hw__db *db, hw__sql which);
  /* Optional: hw__db_relax. */
  hw__db_status (*relax)(hw__db *db);
  /* Optional: hw__db_copy. */
  hw__db_status (*copy)(hw__db *db, const char *path);
  /* Optional: is the database whole as far as the engine can tell? `tell` gets a sentence for each fault. */
  hw__db_status (*inspect)(hw__db *db, void (*tell)(void *context, const char *sentence), void *context);
  /* Optional: keeps the chain's end where it survives a loss of the last commits. Called after every commit that
   * added records, before they are acknowledged. Returned: was it kept? last_head: HW_DB_ABSENT when none was. */
  bool (*keep_head)(hw__db *db, const hw__mark *head);
  hw__db_status (*last_head)(hw__db *db, hw__mark *out);
  /* Optional: is there a kept head that is not on the disk yet? `now`: sync it first. */
  bool (*sync_head)(hw__db *db, bool now);
  /* Optional: hw__db_append's rows at once instead of one by one, those whose fate is accepted so far; with stamps
   * hw__db_append_stamped's. */
  hw__db_status (*append)(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                          const hw__stamp *stamps, int64_t received_us, int64_t *seq);
} hw__db_driver;

extern const hw__db_driver hw__db_sqlite;
extern const hw__db_driver hw__db_postgres;

/* A driver's handle begins with it. */
struct hw__db {
  const hw__db_driver *driver;
  hw__time_base *bases; /* by river key, once settled; forgotten when a transaction fails */
  size_t base_count;
  bool damaged; /* a damaged page was found */
  hw__chain chain;
};

const char *hw__sql_text(hw__sql which);

static inline hw__db_status hw__sql_run(hw__db *db, hw__sql which, const hw__value *values, size_t count) {
  return db->driver->run(db, which, values, count, NULL);
}

/* Turns a row into an element of an array. Status: HW_DB_MEMORY */
typedef hw__db_status (*hw__row_reader)(const hw__value *row, void *element);
typedef struct {
  hw__row_reader read;
  void *elements;
  size_t element_size, limit;
  size_t *count;
} hw__collection;
/* Rows into an array, at most `limit`. */
hw__db_status hw__sql_collect(hw__db *db, hw__sql which, const hw__collection *into, const hw__value *values,
                              size_t count);
/* The first row into one element. Status: HW_DB_ABSENT when there is none. */
hw__db_status hw__sql_one(hw__db *db, hw__sql which, hw__row_reader read, void *element, const hw__value *values,
                          size_t count);
/* Its first column, a number. */
hw__db_status hw__sql_integer(hw__db *db, hw__sql which, int64_t *out, const hw__value *values, size_t count);

/* Rows of HW_SQL_READING and HW_SQL_INCIDENT. */
hw__db_status hw__read_reading(const hw__value *row, void *record);
hw__db_status hw__read_incident(const hw__value *row, void *incident);

/* --- the chain (chain.h) --- */

/* Of a record's columns but its number, in the order of the table. */
int64_t hw__row_sum(const hw__value *values, size_t count);
int64_t hw__reading_sum(const hw__site *site, const hw__checked_reading *entry, int64_t received_us);
/* A record was added in this transaction. */
hw__db_status hw__chain_add(hw__db *db, int64_t seq, int64_t sum);
/* Before a commit; after one; after a failure. */
hw__db_status hw__chain_seal(hw__db *db);
void hw__chain_committed(hw__db *db);
void hw__chain_forget(hw__db *db);
/* The chain after record `seq`, worked out from the mark before it. Status: HW_DB_ABSENT where there is no chain yet.
 */
hw__db_status hw__chain_at(hw__db *db, int64_t seq, hw__mark *out);
/* Records up to this number are about to be removed: the chain begins after them. */
hw__db_status hw__chain_begin_at(hw__db *db, int64_t seq);
/* A row of `marks`. */
hw__db_status hw__read_mark(const hw__value *row, void *mark);

/* Columns as C has them: NULL is 0, NaN or "". */
int64_t hw__value_integer(const hw__value *value);
double hw__value_real(const hw__value *value);
void hw__value_copy(const hw__value *value, char *out, size_t size);
/* malloc'd; NULL without memory. */
char *hw__value_duplicate(const hw__value *value);

#endif

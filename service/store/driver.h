/* Inside the database room: values go into a statement, values come out in rows; an engine is a driver.
 *
 * db.c, reading_log.c and results.c hold what the service asks for, in the words of statements.h.
 * sqlite.c and postgres.c each know one engine and nothing of rivers.
 */
#ifndef HW_STORE_DRIVER_H
#define HW_STORE_DRIVER_H

#include <string.h>

#include "store/db.h"
#include "store/statements.h"

typedef enum { HW_VALUE_NULL, HW_VALUE_INTEGER, HW_VALUE_REAL, HW_VALUE_TEXT, HW_VALUE_BLOB } hw_value_kind;

/* One column or parameter. Borrowed bytes: of a parameter until the call returns, of a column until the next row.
 * Text ends in a NUL that `size` does not count. A NaN is stored as NULL. */
typedef struct {
  hw_value_kind kind;
  union {
    int64_t integer;
    double real;
    struct {
      const char *bytes;
      size_t size;
    };
  };
} hw_value;

static inline hw_value of_integer(int64_t x) {
  return (hw_value){.kind = HW_VALUE_INTEGER, .integer = x};
}
static inline hw_value of_real(double x) {
  return (hw_value){.kind = HW_VALUE_REAL, .real = x};
}
static inline hw_value of_text(const char *x) {
  return (hw_value){.kind = HW_VALUE_TEXT, .bytes = x, .size = strlen(x)};
}
static inline hw_value of_blob(const void *x, size_t size) {
  return (hw_value){.kind = HW_VALUE_BLOB, .bytes = x, .size = size};
}

/* The last two arguments of the calls below, written as a list of values. */
#define HW_VALUES(...) (const hw_value[]){__VA_ARGS__}, sizeof((const hw_value[]){__VA_ARGS__}) / sizeof(hw_value)
#define HW_NO_VALUES   NULL, 0
enum { HW_COLUMNS_MOST = 20 };

/* What an engine does. Required unless marked optional. */
typedef struct {
  /* Connect. On failure `reason` says why in the engine's words, without a password. */
  hw_db_status (*open)(const char *where, bool writer, hw_db **out, char *reason, size_t size);
  void (*close)(hw_db *db);
  /* What messages call this database; never with a password. */
  void (*name)(const char *where, char *out, size_t size);
  /* The engine's words for the last failure. */
  const char *(*reason)(hw_db *db);
  /* The schema's version; run a migration and set the version it leads to, as one. */
  hw_db_status (*version)(hw_db *db, int *out);
  hw_db_status (*migrate)(hw_db *db, const char *sql, int version);
  /* begin: to write, or to see one moment over several statements. rollback does nothing outside of a transaction. */
  hw_db_status (*begin)(hw_db *db, bool writing);
  hw_db_status (*commit)(hw_db *db);
  void (*rollback)(hw_db *db);
  /* A statement without rows. Inside a transaction its failure may show as late as at the commit, unless
   * `changed` (how many rows it touched) is asked for. */
  hw_db_status (*run)(hw_db *db, hw_sql which, const hw_value *values, size_t count, size_t *changed);
  /* A statement with rows: start, next until HW_DB_ABSENT, or finish early. */
  hw_db_status (*start)(hw_db *db, hw_sql which, const hw_value *values, size_t count);
  hw_db_status (*next)(hw_db *db, hw_sql which, hw_value *row);
  void (*finish)(hw_db *db, hw_sql which);
  /* Optional: hw__db_relax. */
  hw_db_status (*relax)(hw_db *db);
  /* Optional: hw__db_copy. */
  hw_db_status (*copy)(hw_db *db, const char *path);
  /* Optional: hw__db_append's rows at once instead of one by one, those whose fate is accepted so far; with stamps
   * hw__db_append_stamped's. */
  hw_db_status (*append)(hw_db *db, const hw_catalog *catalog, hw_entry *entries, size_t count, const hw_stamp *stamps,
                         int64_t received_us, int64_t *seq);
} hw_db_driver;

extern const hw_db_driver hw__db_sqlite;
extern const hw_db_driver hw__db_postgres;

/* A driver's handle begins with it. */
struct hw_db {
  const hw_db_driver *driver;
  hw_time_base *bases; /* by river key, once settled; forgotten when a transaction fails */
  size_t base_count;
  bool damaged; /* it met a page that is none */
};

const char *hw__sql_text(hw_sql which);

static inline hw_db_status hw__sql_run(hw_db *db, hw_sql which, const hw_value *values, size_t count) {
  return db->driver->run(db, which, values, count, NULL);
}

/* How a row becomes an element of an array. Status: HW_DB_IO when memory ends. */
typedef hw_db_status (*hw_row_reader)(const hw_value *row, void *element);
typedef struct {
  hw_row_reader read;
  void *elements;
  size_t element_size, limit;
  size_t *count;
} hw_collection;
/* Rows into an array, at most `limit`. */
hw_db_status hw__sql_collect(hw_db *db, hw_sql which, const hw_collection *into, const hw_value *values, size_t count);
/* The first row into one element. Status: HW_DB_ABSENT when there is none. */
hw_db_status hw__sql_one(hw_db *db, hw_sql which, hw_row_reader read, void *element, const hw_value *values,
                         size_t count);
/* Its first column, a number. */
hw_db_status hw__sql_integer(hw_db *db, hw_sql which, int64_t *out, const hw_value *values, size_t count);

/* Rows of HW_SQL_READING and HW_SQL_INCIDENT. */
hw_db_status hw__read_reading(const hw_value *row, void *record);
hw_db_status hw__read_incident(const hw_value *row, void *incident);

/* Columns as C has them: NULL is 0, NaN or "". */
int64_t hw__value_integer(const hw_value *value);
double hw__value_real(const hw_value *value);
void hw__value_copy(const hw_value *value, char *out, size_t size);
/* malloc'd; NULL when memory ends. */
char *hw__value_duplicate(const hw_value *value);

#endif

/* The names and keys of rivers and sensors, and the kinds of time of the rivers: noted as two sums beside the chain. */
#include <stdio.h>

#include "store/verify.h"

enum { PAGE = HW_MARK_EVERY };

/* Two checksums: over the names and keys of rivers and sensors, and over the kinds of time that first readings
 * decided. The second is a plain sum, so that one more is quickly noted. */
typedef struct {
  uint64_t names, bases;
} name_sums;

static const char names_cursor[] = "names", bases_cursor[] = "bases";

static uint64_t base_sum(int64_t river, int64_t base) {
  return base == HW_TIME_UNSET ? 0 : (uint64_t)hw__row_sum(HW_VALUES(of_integer(river), of_integer(base)));
}

static void take_name(name_sums *sums, const hw__value *row, bool river) {
  const int64_t sum = hw__row_sum(row, river ? 2 : 4);
  sums->names = hw__fnv(sums->names, &sum, sizeof sum);
  sums->bases += river ? base_sum(hw__value_integer(&row[0]), hw__value_integer(&row[2])) : 0;
}

static hw__db_status sum_names(hw__db *db, name_sums *out) {
  static const hw__sql tables[] = {SQL_PAGE_RIVERS, SQL_PAGE_SENSORS};
  hw__db_status status = HW_DB_OK;
  *out = (name_sums){.names = hw__fnv_start()};
  for (int t = 0; t < 2 && status == HW_DB_OK; t++) {
    int64_t last = 0;
    size_t rows = PAGE;
    while (rows == PAGE && status == HW_DB_OK) {
      hw__value row[HW_COLUMNS_MOST];
      rows = 0;
      status = db->driver->start(db, tables[t], HW_VALUES(of_integer(last), of_integer(PAGE)));
      while (status == HW_DB_OK && (status = db->driver->next(db, tables[t], row)) == HW_DB_OK) {
        last = hw__value_integer(&row[0]);
        take_name(out, row, t == 0);
        rows++;
      }
      db->driver->finish(db, tables[t]);
      status = status == HW_DB_ABSENT ? HW_DB_OK : status;
    }
  }
  return status;
}

hw__db_status hw__note_names(hw__db *db) {
  name_sums sums;
  hw__db_status status = sum_names(db, &sums);
  if (status == HW_DB_OK) {
    status = hw__db_put_cursor(db, names_cursor, (int64_t)sums.names);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__db_put_cursor(db, bases_cursor, (int64_t)sums.bases);
}

hw__db_status hw__note_base(hw__db *db, int64_t river, hw__time_base base) {
  int64_t noted = 0;
  const hw__db_status status = hw__db_cursor(db, bases_cursor, &noted);
  if (status != HW_DB_OK) {
    return status == HW_DB_ABSENT ? HW_DB_OK : status;
  }
  return hw__db_put_cursor(db, bases_cursor, (int64_t)((uint64_t)noted + base_sum(river, (int64_t)base)));
}

/* *out: does what was noted under this name agree with what is there? */
static hw__db_status is_noted(hw__db *db, const char *cursor, uint64_t sum, bool *out) {
  int64_t noted = 0;
  const hw__db_status status = hw__db_cursor(db, cursor, &noted);
  *out = status == HW_DB_ABSENT || (uint64_t)noted == sum;
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

hw__db_status hw__verify_names(hw__db *db, const hw__fault_teller *teller) {
  name_sums sums;
  bool same_names = true, same_bases = true;
  hw__db_status status = sum_names(db, &sums);
  if (status == HW_DB_OK) {
    status = is_noted(db, names_cursor, sums.names, &same_names);
  }
  if (status == HW_DB_OK) {
    status = is_noted(db, bases_cursor, sums.bases, &same_bases);
  }
  if (status == HW_DB_OK && (!same_names || !same_bases)) {
    hw__fault fault = {.kind = HW_FAULT_NAMES};
    snprintf(fault.text, sizeof fault.text, "%s are not those that were stored",
             same_names ? "the rivers' kinds of time" : "the names or keys of rivers and sensors");
    teller->tell(teller->context, &fault);
  }
  return status;
}

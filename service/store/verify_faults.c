/* Faults of the log in the log of the process, and on record in the store. */
#include <jansson.h>
#include <stdio.h>

#include "base/log.h"
#include "headwater/io.h"
#include "store/verify.h"

enum { WHEN = 64 };

const char *hw__fault_text(hw__fault_kind kind) {
  static const char *const texts[] = {
#define ROW(name, text) text,
      HW_FAULT_LIST(ROW)
#undef ROW
  };
  return texts[kind];
}

void hw__log_fault(const hw__fault *fault) {
  hw__log_fields(HW_LOG_ERROR, "log_fault", "{s:s, s:I, s:I, s:I, s:s}", "kind", hw__fault_text(fault->kind), "first",
                 (json_int_t)fault->first, "last", (json_int_t)fault->last, "records", (json_int_t)fault->records,
                 "what", fault->text);
}

hw__db_status hw__keep_fault(hw__db *db, const hw__fault *fault, int64_t found_us) {
  return hw__sql_run(db, SQL_FAULT_ADD,
                     HW_VALUES(of_integer(found_us), of_integer(fault->first), of_integer(fault->last),
                               of_integer(fault->records), of_text(fault->text)));
}

hw__db_status hw__verify_earlier(hw__db *db, const hw__fault_teller *teller) {
  hw__value row[HW_COLUMNS_MOST];
  hw__db_status status = db->driver->start(db, SQL_PAGE_FAULTS, HW_VALUES(of_integer(0), of_integer(1000)));
  while (status == HW_DB_OK && (status = db->driver->next(db, SQL_PAGE_FAULTS, row)) == HW_DB_OK) {
    hw__fault fault = {.kind = HW_FAULT_EARLIER,
                       .first = hw__value_integer(&row[2]),
                       .last = hw__value_integer(&row[3]),
                       .records = hw__value_integer(&row[4])};
    char when[WHEN], text[300];
    hw_time_format((double)hw__value_integer(&row[1]) * 1e-6, when, sizeof when);
    hw__value_copy(&row[5], text, sizeof text);
    snprintf(fault.text, sizeof fault.text, "%s (found %s)", text, when);
    teller->tell(teller->context, &fault);
  }
  db->driver->finish(db, SQL_PAGE_FAULTS);
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

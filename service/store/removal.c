/* Letting go of old readings; retention.h says which. */
#include "store/driver.h"

/* Incidents closed before this moment (microseconds since 1970) have no readings any more. */
static const char kept_from[] = "kept from";

hw__db_status hw__db_oldest(hw__db *db, hw__log_record *out, size_t limit, size_t *count) {
  const hw__collection readings = {hw__read_reading, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_OLDEST, &readings, HW_VALUES(of_integer((int64_t)limit)));
}

hw__db_status hw__db_needed(hw__db *db, int64_t cutoff_us, hw__incident *out, size_t limit, size_t *count) {
  const hw__collection incidents = {hw__read_incident, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_NEEDED, &incidents, HW_VALUES(of_integer(cutoff_us), of_integer((int64_t)limit)));
}

hw__db_status hw__db_remove(hw__db *db, int64_t upto, int64_t cutoff_us, size_t estimates, size_t *removed) {
  int64_t before_us = 0;
  hw__db_status status = hw__db_cursor(db, kept_from, &before_us);
  status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  if (status == HW_DB_OK && before_us < cutoff_us) {
    status = hw__db_put_cursor(db, kept_from, cutoff_us);
  }
  if (status == HW_DB_OK) {
    status = hw__sql_run(db, SQL_FORGET_ESTIMATES, HW_VALUES(of_integer(cutoff_us), of_integer((int64_t)estimates)));
  }
  if (status == HW_DB_OK) {
    status = hw__chain_begin_at(db, upto);
  }
  const hw__value last[] = {of_integer(upto)};
  if (status != HW_DB_OK) {
    return status;
  }
  return db->driver->run(db, SQL_FORGET_READINGS, last, 1, removed);
}

hw__db_status hw__db_remembers(hw__db *db, const hw__incident *incident) {
  int64_t before_us = 0;
  const hw__db_status status = incident->closed_seq ? hw__db_cursor(db, kept_from, &before_us) : HW_DB_ABSENT;
  return status == HW_DB_OK && incident->closed_us < before_us ? HW_DB_FORGOTTEN
         : status == HW_DB_ABSENT                              ? HW_DB_OK
                                                               : status;
}

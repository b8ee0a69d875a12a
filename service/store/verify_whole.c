/* headwater verify: all of a store at once. */
#include <stdio.h>

#include "api/verify.h"
#include "store/verify.h"

enum { PAGE = 1024 };

typedef struct {
  const hw_verify_watcher *watch;
  hw_verify_tally *tally;
} audience;

static void tell(void *context, const hw__fault *fault) {
  const audience *a = context;
  a->tally->faults++;
  const hw_verify_fault told = {hw__fault_text(fault->kind), fault->first, fault->last, fault->records, fault->text};
  a->watch->tell(a->watch->context, &told);
}

static void tell_structure(void *context, const char *sentence) {
  hw__fault fault = {.kind = HW_FAULT_STRUCTURE};
  snprintf(fault.text, sizeof fault.text, "the file as such: %s", sentence);
  tell(context, &fault);
}

static bool go_on(const audience *a) {
  return a->watch->go_on(a->watch->context, a->tally->records);
}

/* One pass over everything. A database that cannot be read is reported, and the rest is still checked. */
static hw__db_status verify_all(hw__db *db, audience *a, bool *stopped) {
  const hw__fault_teller teller = {tell, a};
  int64_t mark = 0;
  bool more = true;
  hw__db_status status = hw__verify_earlier(db, &teller);
  if (status == HW_DB_OK) {
    status = hw__verify_names(db, &teller);
  }
  if (status == HW_DB_OK) {
    status = hw__verify_unchained(db, &teller, &a->tally->records, &a->tally->unchained);
  }
  while (status == HW_DB_OK && more && !*stopped) {
    status = hw__verify_block(db, &mark, &teller, &a->tally->records, &more);
    *stopped = !go_on(a);
  }
  if (status == HW_DB_OK && !*stopped) {
    status = hw__verify_end(db, &teller, &a->tally->records);
  }
  if ((status == HW_DB_OK || status == HW_DB_CORRUPT) && !*stopped && db->driver->inspect) {
    status = db->driver->inspect(db, tell_structure, a);
  }
  return status == HW_DB_CORRUPT && a->tally->faults ? HW_DB_OK : status; /* it was reported */
}

static hw_status finish(hw__db *db, const char *name, hw__db_status status, bool stopped, hw_error *error) {
  if (stopped) {
    snprintf(error->text, sizeof error->text, "stopped");
  } else if (status != HW_DB_OK) {
    snprintf(error->text, sizeof error->text, "%s: %s (%.200s)", name, hw__db_text(status), db->driver->reason(db));
  }
  hw__db_close(db);
  return status == HW_DB_OK && !stopped ? HW_OK : HW_EIO;
}

hw_status hw_verify(const char *store, const hw_verify_watcher *watch, hw_verify_tally *tally, hw_error *error) {
  hw__db *db = NULL;
  bool stopped = false;
  audience a = {watch, tally};
  *tally = (hw_verify_tally){0};
  hw__db_name(store, tally->name, sizeof tally->name);
  if (hw__db_open(store, false, &db, error->text, sizeof error->text) != HW_DB_OK) {
    return HW_EIO;
  }
  const hw__db_status status = verify_all(db, &a, &stopped);
  return finish(db, tally->name, status, stopped, error);
}

/* --- accepting --- */

typedef struct {
  int64_t seq, sum;
  bool reading, fits;
} link_row;

static hw__db_status read_link(const hw__value *row, void *element) {
  const int64_t sum = hw__link_sum(row);
  *(link_row *)element =
      (link_row){.seq = hw__value_integer(&row[HW_LINK_SEQ]),
                 .sum = sum,
                 .reading = hw__value_integer(&row[HW_LINK_KIND]) == HW_RECORD_READING,
                 .fits = row[HW_LINK_SUM].kind == HW_VALUE_INTEGER && row[HW_LINK_SUM].integer == sum};
  return HW_DB_OK;
}

static hw__db_status accept_page(hw__db *db, const link_row *page, size_t count) {
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    if (!page[i].fits) {
      status = hw__sql_run(db, page[i].reading ? SQL_READING_SUM_SET : SQL_COMMAND_SUM_SET,
                           HW_VALUES(of_integer(page[i].seq), of_integer(page[i].sum)));
    }
    if (status == HW_DB_OK) {
      status = hw__chain_add(db, page[i].seq, page[i].sum);
    }
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__chain_seal(db);
}

static hw__db_status accept_all(hw__db *db, audience *a, bool *stopped) {
  link_row page[PAGE];
  size_t count = PAGE;
  int64_t last = 0;
  hw__db_status status = hw__sql_run(db, SQL_MARKS_CLEAR, HW_NO_VALUES);
  if (status == HW_DB_OK) {
    status = hw__sql_run(db, SQL_FAULTS_FORGET, HW_NO_VALUES);
  }
  while (status == HW_DB_OK && count == PAGE && !*stopped) {
    const hw__collection links = {read_link, page, sizeof page[0], PAGE, &count};
    status =
        hw__sql_collect(db, SQL_LINKS, &links, HW_VALUES(of_integer(last), of_integer(INT64_MAX), of_integer(PAGE)));
    if (status == HW_DB_OK) {
      status = accept_page(db, page, count);
    }
    last = count ? page[count - 1].seq : last;
    a->tally->records += count;
    *stopped = !go_on(a);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__note_names(db);
}

hw_status hw_verify_accept(const char *store, const hw_verify_watcher *watch, hw_verify_tally *tally, hw_error *error) {
  hw__db *db = NULL;
  bool stopped = false;
  audience a = {watch, tally};
  *tally = (hw_verify_tally){0};
  hw__db_name(store, tally->name, sizeof tally->name);
  if (hw__db_open(store, true, &db, error->text, sizeof error->text) != HW_DB_OK) {
    return HW_EIO;
  }
  hw__db_status status = hw__db_begin(db);
  if (status == HW_DB_OK) {
    status = accept_all(db, &a, &stopped);
  }
  if (status == HW_DB_OK && !stopped) {
    status = hw__db_commit(db);
    if (status == HW_DB_OK) {
      hw__db_head_is_here(db);
    }
  }
  if (status != HW_DB_OK || stopped) {
    hw__db_rollback(db);
  }
  return finish(db, tally->name, status, stopped, error);
}

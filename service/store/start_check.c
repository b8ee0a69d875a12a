/* What a start finds wrong with the log, and what becomes of it. */
#include <time.h>

#include "base/clock.h"
#include "base/metrics.h"
#include "store/store_inside.h"

static void tell_fault(const hw__fault *fault) {
  hw__log_fault(fault);
  hw__metric_add(HW_METRIC_LOG_FAULTS, 1);
}

hw__db_status hw__store_keep_fault(hw__store *store, const hw__fault *fault) {
  tell_fault(fault);
  return hw__keep_fault(store->writer, fault, hw__clock_us(CLOCK_REALTIME));
}

enum { START_FAULTS_MOST = 16 };

typedef struct {
  hw__fault faults[START_FAULTS_MOST];
  size_t count;
} findings;

static void note(void *context, const hw__fault *fault) {
  findings *found = context;
  if (found->count < START_FAULTS_MOST) {
    found->faults[found->count++] = *fault;
  }
}

/* What only a start can see is kept; the rest every later check finds again. */
static hw__db_status keep_findings(hw__store *store, const findings *found) {
  bool lost = false;
  hw__db_status status = hw__db_begin(store->writer);
  for (size_t i = 0; i < found->count && status == HW_DB_OK; i++) {
    const hw__fault *fault = &found->faults[i];
    lost = lost || fault->kind == HW_FAULT_LOST;
    if (fault->kind == HW_FAULT_LOST || fault->kind == HW_FAULT_NAMES) {
      status = hw__store_keep_fault(store, fault);
    } else {
      tell_fault(fault);
    }
  }
  if (status == HW_DB_OK) {
    status = hw__db_commit(store->writer);
  }
  if (status == HW_DB_OK && lost) {
    hw__db_head_is_here(store->writer);
  } else if (status != HW_DB_OK) {
    hw__db_rollback(store->writer);
  }
  return status;
}

hw__db_status hw__store_look_over(hw__store *store) {
  findings found = {.count = 0};
  const hw__fault_teller teller = {note, &found};
  uint64_t records = 0;
  hw__db_status status = hw__verify_names(store->writer, &teller);
  if (status == HW_DB_OK) {
    status = hw__verify_last_block(store->writer, &teller);
  }
  if (status == HW_DB_OK) {
    status = hw__verify_end(store->writer, &teller, &records);
  }
  return status == HW_DB_OK && found.count ? keep_findings(store, &found) : status;
}

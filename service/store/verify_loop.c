#include "store/verify_loop.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/rest.h"
#include "store/verify.h"

enum { PAUSE_MS = 20, TOLD_MOST = 100 };

struct hw__verify_loop {
  hw__store *store;
  double hours;
  const atomic_bool *stopping;
  pthread_t thread;
};

typedef struct {
  uint64_t records, faults;
} pass;

static void tell(void *context, const hw__fault *fault) {
  pass *p = context;
  hw__metric_add(HW_METRIC_LOG_FAULTS, 1);
  if (++p->faults <= TOLD_MOST) {
    hw__log_fault(fault);
  }
}

/* Returned: there is more. */
static bool check_block(hw__verify_loop *loop, pass *p, int64_t *mark) {
  const hw__fault_teller teller = {tell, p};
  const uint64_t before = p->records;
  bool more = false;
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(loop->store, &db);
  if (status == HW_DB_OK) {
    status = hw__verify_block(db, mark, &teller, &p->records, &more);
  }
  if (db) {
    hw__store_return(loop->store, db);
  }
  if (status != HW_DB_OK) {
    hw__log(HW_LOG_WARNING, "log_not_verified", "reason", hw__db_text(status));
  }
  hw__metric_add(HW_METRIC_LOG_VERIFIED, p->records - before);
  return status == HW_DB_OK && more;
}

static void check_all(hw__verify_loop *loop) {
  pass p = {0};
  int64_t mark = 0;
  const double began_s = hw__clock_s();
  while (!atomic_load(loop->stopping) && check_block(loop, &p, &mark)) {
    hw__clock_nap_ms(PAUSE_MS);
  }
  if (!atomic_load(loop->stopping)) {
    hw__log_fields(p.faults ? HW_LOG_ERROR : HW_LOG_INFO, "log_verified", "{s:I, s:I, s:f}", "records",
                   (json_int_t)p.records, "faults", (json_int_t)p.faults, "seconds", hw__clock_s() - began_s);
  }
}

static void *verify_loop(void *argument) {
  hw__verify_loop *loop = argument;
  while (!atomic_load(loop->stopping)) {
    check_all(loop);
    const double until_s = hw__clock_s() + 3600 * loop->hours;
    while (!atomic_load(loop->stopping) && hw__clock_s() < until_s) {
      hw__rest(loop->stopping, 1000);
    }
  }
  return NULL;
}

hw_status hw__verify_loop_start(hw__store *store, double hours, const atomic_bool *stopping, hw__verify_loop **out) {
  *out = NULL;
  hw__verify_loop *loop = malloc(sizeof *loop);
  if (!loop) {
    return HW_ENOMEM;
  }
  *loop = (hw__verify_loop){.store = store, .hours = hours, .stopping = stopping};
  if (pthread_create(&loop->thread, NULL, verify_loop, loop) != 0) {
    free(loop);
    return HW_ENOMEM;
  }
  *out = loop;
  return HW_OK;
}

void hw__verify_loop_stop(hw__verify_loop *loop) {
  if (loop) {
    pthread_join(loop->thread, NULL);
    free(loop);
  }
}

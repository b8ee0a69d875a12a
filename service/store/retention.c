#include "store/retention.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/rest.h"

enum { STEP = 2000, PASS_S = 60, NEEDED_MAX = 4096 };
/* NATS counts in nanoseconds, with 63 bits of them. */
static const double most_days = 1e5;

struct hw__retention {
  hw__store *store;
  double days;
  const atomic_bool *stopping;
  bool waits_for_clock; /* and it was told */
  hw__log_record page[STEP];
  hw__incident needed[NEEDED_MAX];
  pthread_t thread;
};

static bool stopping(const hw__retention *retention) {
  return atomic_load(retention->stopping);
}

/* First record this incident was worked out from. */
static hw__db_status first_of(hw__db *db, const hw__incident *incident, int64_t *seq) {
  const hw__lead_in what = {incident->river, incident->from_s, 0, incident->id};
  hw__log_record first;
  size_t count = 0;
  const hw__db_status status = hw__db_lead_in(db, &what, &first, 1, &count);
  *seq = count ? first.seq : incident->id;
  return status;
}

/* Records up to *out may go as far as detection and incidents are concerned. */
static hw__db_status find_limit(hw__retention *retention, hw__db *db, int64_t cutoff_us, int64_t *out) {
  void *body = NULL;
  size_t size = 0, count = 0;
  int64_t limit = 0;
  hw__db_status status = hw__db_snapshot(db, &limit, &body, &size);
  free(body);
  if (status == HW_DB_OK) {
    status = hw__db_needed(db, cutoff_us, retention->needed, NEEDED_MAX, &count);
  }
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    int64_t first = 0;
    status = first_of(db, &retention->needed[i], &first);
    limit = first - 1 < limit ? first - 1 : limit;
  }
  *out = count < NEEDED_MAX ? limit : 0; /* more than we can look through: nothing goes */
  return status;
}

/* A record is not older than the next one: a stamp from ahead of its time keeps nobody. */
static int64_t received_us(const hw__log_record *record) {
  return record[0].received_us < record[1].received_us ? record[0].received_us : record[1].received_us;
}

/* The oldest readings that may go, at most a step. *more: there may be further ones. */
static hw__db_status find_step(hw__retention *retention, hw__db *db, int64_t cutoff_us, int64_t limit, int64_t *upto,
                               bool *more) {
  size_t count = 0;
  const hw__db_status status = hw__db_oldest(db, retention->page, STEP, &count);
  *upto = 0;
  *more = count == STEP;
  /* The last of the page stays: it may be the last there is. */
  for (size_t i = 0; status == HW_DB_OK && i + 1 < count && received_us(&retention->page[i]) < cutoff_us; i++) {
    *upto = retention->page[i].seq <= limit ? retention->page[i].seq : *upto;
  }
  *more = *more && *upto == retention->page[count - 2].seq;
  return status;
}

typedef struct {
  int64_t upto, cutoff_us;
  size_t removed;
} removal;

static hw__db_status run_removal(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  removal *r = context;
  return hw__db_remove(db, r->upto, r->cutoff_us, STEP, &r->removed);
}

/* What was received long ago by a wrong clock was received just now. */
static void tell_of_clock(hw__retention *retention) {
  if (!retention->waits_for_clock) {
    hw__log(HW_LOG_WARNING, "retention_waits", "reason",
            "the clock was set, or stands apart from the stored readings: nothing is let go of until it has stood for "
            "an hour");
  }
  retention->waits_for_clock = true;
}

/* Returned: there is more to let go of now. */
static bool step(hw__retention *retention) {
  hw__store *store = retention->store;
  const hw__guarded_clock clock = hw__store_clock(store);
  if (!hw__guarded_clock_settled(&clock)) {
    tell_of_clock(retention);
    return false;
  }
  retention->waits_for_clock = false;
  const int64_t cutoff_us = clock.now_us - (int64_t)(retention->days * 86400e6);
  int64_t limit = 0;
  removal r = {.cutoff_us = cutoff_us};
  bool more = false;
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(store, &db);
  if (status == HW_DB_OK) {
    status = find_limit(retention, db, cutoff_us, &limit);
  }
  if (status == HW_DB_OK) {
    status = find_step(retention, db, cutoff_us, limit, &r.upto, &more);
  }
  if (db) {
    hw__store_return(store, db);
  }
  if (status == HW_DB_OK && r.upto > 0) {
    status = hw__store_write(store, run_removal, &r);
    hw__metric_add(HW_METRIC_REMOVED, status == HW_DB_OK ? r.removed : 0);
  }
  if (status != HW_DB_OK && status != HW_DB_ABSENT && status != HW_DB_STOPPING) {
    hw__log(HW_LOG_WARNING, "old_readings_not_removed", "reason", hw__db_text(status));
  }
  return status == HW_DB_OK && more;
}

static void *retention_loop(void *argument) {
  hw__retention *retention = argument;
  while (!stopping(retention)) {
    const bool more = step(retention);
    hw__rest(retention->stopping, more ? 100 : PASS_S * 1000);
  }
  return NULL;
}

hw_status hw__retention_check(double days, hw_error *error) {
  if (days >= 1 && days <= most_days) {
    return HW_OK;
  }
  snprintf(error->text, sizeof error->text, "--keep %g: expected 1 to %g days", days, most_days);
  return HW_EDOMAIN;
}

hw_status hw__retention_start(hw__store *store, double days, const atomic_bool *stop, hw__retention **out,
                              hw_error *error) {
  *out = NULL;
  const hw_status status = hw__retention_check(days, error);
  if (status != HW_OK) {
    return status;
  }
  hw__retention *retention = calloc(1, sizeof *retention);
  if (!retention) {
    return HW_ENOMEM;
  }
  retention->store = store;
  retention->days = days;
  retention->stopping = stop;
  if (pthread_create(&retention->thread, NULL, retention_loop, retention) != 0) {
    free(retention);
    return HW_ENOMEM;
  }
  *out = retention;
  return HW_OK;
}

void hw__retention_stop(hw__retention *retention) {
  if (retention) {
    pthread_join(retention->thread, NULL);
    free(retention);
  }
}

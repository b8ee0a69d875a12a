#include "incidents/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "incidents/outcome.h"

enum { PAGE = 64, FAR_BEHIND_PAGES = 160 };

hw_status hw__work_create(hw_store *store, const hw_site *site, const hw_solver_options *options,
                          const hw_incident *incident, hw_work **out) {
  *out = NULL;
  hw_work *work = calloc(1, sizeof *work);
  if (!work) {
    return HW_ENOMEM;
  }
  work->store = store;
  work->site = site;
  work->options = *options;
  work->incident = *incident;
  pthread_mutex_init(&work->lock, NULL);
  work->candidate_told = calloc(site->river.candidate_count + 1, sizeof *work->candidate_told);
  work->intake_told = calloc(site->river.intake_count + 1, sizeof *work->intake_told);
  if (!work->candidate_told || !work->intake_told) {
    hw__work_free(work);
    return HW_ENOMEM;
  }
  *out = work;
  return HW_OK;
}

void hw__work_free(hw_work *work) {
  if (work) {
    hw_run_free(work->run);
    free(work->candidate_told);
    free(work->intake_told);
    pthread_mutex_destroy(&work->lock);
    free(work);
  }
}

void hw__work_drop(hw_work *work) {
  hw_run_free(work->run);
  work->run = NULL;
  work->failure = NULL;
  work->led_in = false;
  work->cursor = 0;
}

/* What was stored and said before: neither is done twice. */
static void recall(hw_work *work, hw_db *db) {
  const hw_river *river = &work->site->river;
  hw_incident stored;
  if (hw__db_incident(db, work->incident.id, &stored) == HW_DB_OK) {
    work->stored_seq = stored.result_seq;
    work->incident.origin_s = stored.origin_s;
  }
  hw_time_base base = HW_TIME_UNSET;
  hw__db_time_base(db, work->site->key, &base);
  work->calendar = base == HW_TIME_CALENDAR;
  for (size_t i = 0; i < river->candidate_count; i++) {
    hw__db_has_event(db, "candidate", work->incident.id, river->candidates[i].id, &work->candidate_told[i]);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    hw__db_has_event(db, "intake_alarm", work->incident.id, river->intakes[i].id, &work->intake_told[i]);
  }
}

static void begin(hw_work *work, hw_db *db) {
  recall(work, db);
  work->led_in = false;
  work->cursor = 0;
  work->readings = 0;
  work->time_count = 0;
  work->busy_s = 0;
  const hw_problem problem = {.river = &work->site->river};
  /* One thread each: incidents share the cores among themselves. */
  const hw_options options = {
      .seed = work->incident.seed, .level = work->options.level, .threads = 1, .per_sensor = true, .steady = true};
  const hw_status status = hw_run_create(hw_method_find(work->incident.method), &problem, &options, &work->run);
  if (status != HW_OK) {
    work->failure = hw_status_text(status);
    hw__log(HW_LOG_WARNING, "method_unusable", "reason", work->failure);
  }
}

static bool observe(hw_work *work, const hw_record *record) {
  hw_reading reading = {.time_s = record->time_s - work->incident.origin_s,
                        .concentration_g_m3 = record->concentration_g_m3,
                        .below_limit = record->below_limit};
  const hw_site *site = work->site;
  for (reading.sensor = 0; reading.sensor < site->river.sensor_count; reading.sensor++) {
    if (site->sensor_keys[reading.sensor] == record->sensor) {
      break;
    }
  }
  if (reading.sensor == site->river.sensor_count) {
    return false; /* a sensor the river file no longer has */
  }
  const double started = hw__clock_s();
  const hw_status status = hw_run_observe(work->run, &reading);
  const double took_s = hw__clock_s() - started;
  work->busy_s += took_s;
  work->times_us[work->time_count++ % HW_WORK_TIMES] = took_s * 1e6;
  hw__metric_add(HW_METRIC_ENGINE_READINGS, 1);
  hw__metric_add(HW_METRIC_ENGINE_US, (uint64_t)(took_s * 1e6));
  hw__metric_add(HW_METRIC_ENGINE_FAILURES, status != HW_OK);
  work->readings += status == HW_OK;
  return status == HW_OK;
}

/* The next page of the incident's own readings. */
static hw_db_status pull(hw_work *work, hw_db *db, int64_t upto, hw_record *page, size_t *count) {
  *count = 0;
  if (!work->led_in) {
    const hw_lead_in what = {work->site->key, work->incident.from_s, work->cursor, work->incident.id};
    const hw_db_status status = hw__db_lead_in(db, &what, page, PAGE, count);
    if (status != HW_DB_OK || *count) {
      return status;
    }
    work->led_in = true;
    work->cursor = work->incident.id - 1;
  }
  return hw__db_river_log(db, work->site->key, work->cursor, upto, page, PAGE, count);
}

static hw_db_status run_finish(hw_db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__db_finish_incident(db, *(const int64_t *)context);
}

bool hw__work_advance(hw_work *work, int64_t upto) {
  hw_record page[PAGE];
  size_t count = 0;
  hw_db *db = hw__store_reader(work->store);
  if (!db) {
    return false;
  }
  if (!work->run && !work->failure) {
    begin(work, db);
  }
  const hw_db_status status = pull(work, db, upto, page, &count);
  hw__store_return(work->store, db);
  if (status != HW_DB_OK) {
    hw__log(HW_LOG_ERROR, "readings_not_readable", "reason", hw__db_text(status));
    return false;
  }
  hw_outcome outcome = {0};
  bool any_due = false;
  for (size_t i = 0; i < count; i++) {
    work->cursor = page[i].seq;
    if (hw__incident_passes_over(&work->incident, &page[i]) || (page[i].seq <= work->stored_seq && work->failure)) {
      continue;
    }
    const bool moved = work->run && observe(work, &page[i]);
    const bool due = page[i].seq >= work->incident.id && page[i].seq > work->stored_seq;
    any_due = any_due || due;
    /* Far behind, the page's last estimate stands for all: catching up comes first. */
    if (due && (i + 1 == count || work->full_pages < FAR_BEHIND_PAGES) && (moved || work->failure)) {
      hw__outcome_add(&outcome, work, &page[i]);
    } else {
      hw__metric_add(HW_METRIC_ESTIMATES_SKIPPED, due);
    }
  }
  work->full_pages = count < PAGE ? 0 : work->full_pages + any_due;
  if (work->led_in && count < PAGE && work->cursor < upto) {
    work->cursor = upto; /* nothing of this river in between */
  }
  const bool more = count == PAGE || !work->led_in;
  hw__outcome_store(&outcome, work);
  if ((work->run || work->failure) && work->incident.closed_seq && work->led_in &&
      work->cursor >= work->incident.closed_seq) {
    work->finished = hw__store_write(work->store, run_finish, &work->incident.id) == HW_DB_OK;
  }
  return more && (work->run || work->failure);
}

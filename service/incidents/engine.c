#include "incidents/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "incidents/alarms.h"
#include "incidents/search_window.h"

enum { PAGE = 64, FAR_BEHIND = 10000 };

/* Answers may take seconds. After this time the results so far are stored, and others may look at the run. */
static const double moment_s = 0.3;

hw_status hw__engine_create(hw__store *store, const hw__site *site, const hw__solver_options *options,
                            const hw__incident *incident, hw__engine **out) {
  *out = NULL;
  hw__engine *engine = calloc(1, sizeof *engine);
  if (!engine) {
    return HW_ENOMEM;
  }
  engine->store = store;
  engine->site = site;
  engine->options = *options;
  engine->incident = *incident;
  pthread_mutex_init(&engine->lock, NULL);
  engine->candidates = calloc(site->river.candidate_count + 1, sizeof *engine->candidates);
  engine->intakes = calloc(site->river.intake_count + 1, sizeof *engine->intakes);
  if (!engine->candidates || !engine->intakes) {
    hw__engine_free(engine);
    return HW_ENOMEM;
  }
  *out = engine;
  return HW_OK;
}

void hw__engine_free(hw__engine *engine) {
  if (engine) {
    hw_run_free(engine->run);
    hw__engine_flow_free(&engine->flow);
    free(engine->candidates);
    free(engine->intakes);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
  }
}

void hw__engine_drop(hw__engine *engine) {
  hw_run_free(engine->run);
  engine->run = NULL;
  engine->failure = NULL;
  engine->led_in = false;
  engine->cursor = 0;
}

typedef struct {
  const hw__engine *engine;
  int64_t result_seq, now_us, former;
} rework_job;

/* The incident's log says why its history begins again. */
static hw__db_status run_rework(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const rework_job *job = context;
  const hw__incident *incident = &job->engine->incident;
  bool reworked = false;
  hw__db_status status = hw__db_rework_incident(db, incident->id, HW_ENGINE, &reworked);
  if (status != HW_DB_OK || !reworked) {
    return status;
  }
  char body[96];
  snprintf(body, sizeof body, "{\"engine\": %d, \"former_engine\": %lld}", HW_ENGINE, (long long)job->former);
  hw__event event = {
      .seq = job->result_seq, .river = incident->river, .incident = incident->id, .at_us = job->now_us, .body = body};
  snprintf(event.kind, sizeof event.kind, "%s", hw__event_text(HW_EVENT_INCIDENT_REWORKED));
  return hw__db_put_event(db, &event);
}

/* Results of another version of the engine are not continued: an open incident is processed again from its first
 * reading. */
static void take_over(hw__engine *engine, const hw__incident *stored) {
  rework_job job = {engine, stored->result_seq, hw__store_now_us(engine->store), stored->engine};
  const hw__db_status status = hw__store_write(engine->store, run_rework, &job);
  if (status == HW_DB_OK) {
    engine->stored_seq = 0;
    hw__logf(HW_LOG_INFO, "incident_reworked", "incident", "%lld", (long long)stored->id);
  } else if (status != HW_DB_STOPPING) {
    hw__log(HW_LOG_ERROR, "incident_not_reworked", "reason", hw__db_text(status));
  }
}

/* What was stored and reported before, so that neither is done twice. */
static void recall(hw__engine *engine, hw__db *db) {
  hw__incident stored;
  if (hw__db_incident(db, engine->incident.id, &stored) == HW_DB_OK) {
    engine->stored_seq = stored.result_seq;
    engine->incident.origin_s = stored.origin_s;
    if (engine->followed && stored.engine < HW_ENGINE) {
      take_over(engine, &stored);
    }
  }
  hw__time_base base = HW_TIME_UNSET;
  hw__db_time_base(db, engine->site->key, &base);
  engine->calendar = base == HW_TIME_CALENDAR;
  hw__alarms_recall(engine, db);
}

/* A new run for the river with the discharges received so far. */
static void start_run(hw__engine *engine) {
  hw_run_free(engine->run);
  engine->run = NULL;
  engine->readings = 0;
  if (engine->calendar &&
      hw__search_excludes(&engine->site->river, engine->incident.onset_s, engine->excluded, sizeof engine->excluded)) {
    engine->failure = engine->excluded;
    hw__log(HW_LOG_WARNING, "search_box_out_of_date", "reason", engine->failure);
    return;
  }
  const hw_problem problem = {.river = hw__engine_flow_river(&engine->flow, &engine->site->river)};
  /* One thread each: incidents share the cores among themselves. */
  const hw_options options = {
      .seed = engine->incident.seed, .level = engine->options.level, .threads = 1, .per_sensor = true, .steady = true};
  const hw_status status =
      problem.river ? hw_run_create(hw_method_find(engine->incident.method), &problem, &options, &engine->run)
                    : HW_ENOMEM;
  if (status != HW_OK) {
    engine->failure = hw_status_text(status);
    hw__log(HW_LOG_WARNING, "method_unusable", "reason", engine->failure);
  }
}

static void begin(hw__engine *engine, hw__db *db) {
  recall(engine, db);
  engine->led_in = false;
  engine->cursor = 0;
  engine->time_count = 0;
  engine->busy_s = 0;
  if (hw__engine_flow_begin(&engine->flow, &engine->site->river) != HW_OK) {
    hw__log(HW_LOG_ERROR, "flow_not_followed", "reason", "out of memory");
  }
  start_run(engine);
}

static bool observe(hw__engine *engine, const hw__log_record *record) {
  hw_reading reading = {.time_s = record->time_s - engine->incident.origin_s,
                        .concentration_g_m3 = record->concentration_g_m3,
                        .below_limit = record->below_limit,
                        .above_limit = record->above_limit};
  const hw__site *site = engine->site;
  for (reading.sensor = 0; reading.sensor < site->river.sensor_count; reading.sensor++) {
    if (site->sensor_keys[reading.sensor] == record->sensor) {
      break;
    }
  }
  if (reading.sensor == site->river.sensor_count) {
    return false; /* a sensor the river file no longer has */
  }
  const double started = hw__clock_s();
  const hw_status status = hw_run_observe(engine->run, &reading);
  const double took_s = hw__clock_s() - started;
  engine->busy_s += took_s;
  engine->times_us[engine->time_count++ % HW_ENGINE_TIMES] = took_s * 1e6;
  hw__metric_add(HW_METRIC_ENGINE_READINGS, 1);
  hw__metric_add(HW_METRIC_ENGINE_US, (uint64_t)(took_s * 1e6));
  hw__metric_add(HW_METRIC_ENGINE_FAILURES, status != HW_OK);
  engine->readings += status == HW_OK;
  return status == HW_OK;
}

/* The next page of the incident's own readings, from a place in its log on: the lead-in first. */
static hw__db_status pull(const hw__engine *engine, hw__db *db, bool *led_in, int64_t *cursor, int64_t upto,
                          hw__log_record *page, size_t *count) {
  *count = 0;
  if (!*led_in) {
    const hw__lead_in what = {engine->site->key, engine->incident.from_s, *cursor, engine->incident.id};
    const hw__db_status status = hw__db_lead_in(db, &what, page, PAGE, count);
    if (status != HW_DB_OK || *count) {
      return status;
    }
    *led_in = true;
    *cursor = engine->incident.id - 1;
  }
  return hw__db_river_log(db, engine->site->key, *cursor, upto, page, PAGE, count);
}

/* Gives a new run all readings up to the engine's place in the log. */
static hw__db_status observe_again(hw__engine *engine) {
  hw__log_record page[PAGE];
  size_t count = PAGE;
  bool led_in = false;
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(engine->store, &db);
  for (int64_t cursor = 0; status == HW_DB_OK && count > 0;) {
    status = pull(engine, db, &led_in, &cursor, engine->cursor, page, &count);
    for (size_t i = 0; status == HW_DB_OK && i < count; i++) {
      cursor = page[i].seq;
      if (page[i].kind == HW_RECORD_READING && !hw__incident_passes_over(&engine->incident, engine->site, &page[i])) {
        observe(engine, &page[i]);
      }
    }
  }
  if (db) {
    hw__store_return(engine->store, db);
  }
  return status;
}

bool hw__engine_settle(hw__engine *engine) {
  if (!engine->flow.changed || !engine->run || !engine->led_in) {
    return true;
  }
  start_run(engine);
  const hw__db_status status = engine->run ? observe_again(engine) : HW_DB_OK;
  if (status != HW_DB_OK) {
    hw__log(HW_LOG_ERROR, "readings_not_readable", "reason", hw__db_text(status));
    hw__engine_drop(engine);
  }
  return status == HW_DB_OK;
}

/* Returned: true when the record changes the run's answer. */
static bool take(hw__engine *engine, const hw__log_record *record) {
  if (record->kind == HW_RECORD_DISCHARGE) {
    return hw__engine_flow_take(&engine->flow, engine->site, record, engine->incident.origin_s);
  }
  return engine->flow.changed || observe(engine, record); /* a run that is to be created again will see it then */
}

static hw__db_status run_finish(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__db_finish_incident(db, *(const int64_t *)context);
}

/* An incident that a person opened is answered from its lead-in at once, without waiting for a reading. Returned:
 * false when the log could not be read. */
static bool answer_lead_in(hw__engine *engine, hw__outcome *outcome) {
  const hw__incident *incident = &engine->incident;
  const hw__log_record opening = {
      .seq = incident->id, .time_s = incident->opened_s, .received_us = incident->opened_us};
  if (incident->sensor || engine->stored_seq >= incident->id || (!engine->readings && !engine->failure)) {
    return true;
  }
  const bool settled = hw__engine_settle(engine);
  if (settled) {
    hw__outcome_add(outcome, engine, &opening);
  }
  return settled;
}

bool hw__engine_advance(hw__engine *engine, int64_t upto) {
  hw__log_record page[PAGE];
  size_t count = 0;
  const bool was_led_in = engine->led_in;
  hw__db *db = hw__store_reader(engine->store);
  if (!db) {
    return false;
  }
  if (!engine->run && !engine->failure) {
    begin(engine, db);
  }
  const hw__db_status status = pull(engine, db, &engine->led_in, &engine->cursor, upto, page, &count);
  hw__store_return(engine->store, db);
  if (status != HW_DB_OK) {
    hw__log(HW_LOG_ERROR, "readings_not_readable", "reason", hw__db_text(status));
    return false;
  }
  hw__outcome outcome = {0};
  const double started = hw__clock_s();
  size_t taken = 0, any_due = 0;
  bool whole = was_led_in || !engine->led_in || answer_lead_in(engine, &outcome);
  while (taken < count && whole) {
    const hw__log_record *record = &page[taken++];
    engine->cursor = record->seq;
    if (hw__incident_passes_over(&engine->incident, engine->site, record) ||
        (record->seq <= engine->stored_seq && engine->failure)) {
      continue;
    }
    const bool moved = engine->run && take(engine, record);
    const bool due = record->seq >= engine->incident.id && record->seq > engine->stored_seq;
    any_due += due;
    /* When far behind, only the page's last estimate is stored: catching up comes first. */
    if (due && (taken == count || engine->behind < FAR_BEHIND) && (moved || engine->failure)) {
      whole = hw__engine_settle(engine);
      if (whole) {
        hw__outcome_add(&outcome, engine, record);
        whole = taken == count || hw__clock_s() - started < moment_s;
      }
    } else {
      hw__metric_add(HW_METRIC_ESTIMATES_SKIPPED, due);
    }
  }
  engine->behind = whole && count < PAGE ? 0 : engine->behind + any_due;
  if (whole && engine->led_in && count < PAGE && engine->cursor < upto) {
    engine->cursor = upto; /* nothing of this river in between */
  }
  const bool more = !whole || count == PAGE || !engine->led_in;
  hw__outcome_store(&outcome, engine);
  if ((engine->run || engine->failure) && engine->incident.closed_seq && engine->led_in &&
      engine->cursor >= engine->incident.closed_seq) {
    engine->finished = hw__store_write(engine->store, run_finish, &engine->incident.id) == HW_DB_OK;
  }
  return more && (engine->run || engine->failure);
}

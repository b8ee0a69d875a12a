#include "incidents/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "incidents/alarms.h"

enum { FIRST_EVENTS = 8 };

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void fill_times(const hw__engine *engine, hw_result *result) {
  double sorted[HW_ENGINE_TIMES];
  const size_t count = engine->time_count < HW_ENGINE_TIMES ? engine->time_count : HW_ENGINE_TIMES;
  memcpy(sorted, engine->times_us, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, ascending);
  result->seconds = engine->busy_s;
  result->reading_us_median = count ? sorted[count / 2] : 0;
  result->reading_us_p99 = count ? sorted[count * 99 / 100] : 0;
}

hw_result hw__outcome_result(const hw__engine *engine) {
  hw_result result = {.river = &engine->site->river,
                      .method = engine->incident.method,
                      .seed = engine->incident.seed,
                      .failure = engine->failure,
                      .counts = {.rows = engine->readings, .readings = engine->readings},
                      .calendar = engine->calendar,
                      .origin_unix_s = engine->calendar ? engine->incident.origin_s : 0};
  if (engine->failure) {
    result.warnings = &engine->failure;
    result.warning_count = 1;
  }
  fill_times(engine, &result);
  return result;
}

static char *result_json(const hw__engine *engine, const hw_estimate *estimate) {
  hw_result result = hw__outcome_result(engine);
  hw_estimate refusal;
  hw_estimate_init(&refusal);
  refusal.trust = HW_TRUST_NONE;
  refusal.trust_reason = engine->failure;
  refusal.has_source = false;
  result.estimate = estimate ? estimate : engine->failure ? &refusal : NULL;
  char *text = NULL;
  return hw_result_json(&result, true, &text) == HW_OK ? text : NULL;
}

void hw__outcome_event(hw__outcome *outcome, const hw__engine *engine, const hw__log_record *record,
                       hw__event_kind kind, const char *subject, json_t *body) {
  char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
  json_decref(body);
  if (!text || !hw__grow(&outcome->events, outcome->event_count, &outcome->event_capacity, sizeof *outcome->events,
                         FIRST_EVENTS)) {
    hw__logf(HW_LOG_ERROR, "event_not_stored", "event", "%s %s", hw__event_text(kind), subject);
    free(text);
    return;
  }
  hw__event *event = &outcome->events[outcome->event_count++];
  *event = (hw__event){.seq = record->seq,
                       .river = engine->incident.river,
                       .incident = engine->incident.id,
                       .at_us = record->received_us,
                       .body = text};
  snprintf(event->kind, sizeof event->kind, "%s", hw__event_text(kind));
  snprintf(event->subject, sizeof event->subject, "%s", subject);
}

static void keep_track(hw__outcome *outcome, const hw_river *river, const hw__log_record *record,
                       const hw_estimate *e) {
  if (outcome->track_count < HW_OUTCOME_TRACKS) {
    hw__track *track = &outcome->tracks[outcome->track_count++];
    *track = (hw__track){.seq = record->seq,
                         .reading_s = record->time_s,
                         .readings = e->readings,
                         .provisional = e->provisional,
                         .has_source = e->has_source,
                         .has_interval = e->has_interval,
                         .trust = e->trust,
                         .spill = e->spill,
                         .source = e->source,
                         .interval = e->interval,
                         .duration_s = e->duration_s};
    const bool named = e->has_source && e->source.branch < river->branch_count;
    snprintf(track->branch, sizeof track->branch, "%s", named ? river->branches[e->source.branch].id : "");
  }
}

void hw__outcome_add(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record) {
  hw_estimate estimate;
  const bool have = engine->run && hw_run_estimate(engine->run, &estimate) == HW_OK;
  if (!have && !engine->failure) {
    hw__metric_add(HW_METRIC_ENGINE_FAILURES, 1);
    return;
  }
  char *json = result_json(engine, have ? &estimate : NULL);
  if (!json) {
    return;
  }
  free(outcome->result);
  outcome->result = json;
  outcome->seq = record->seq;
  if (have) {
    keep_track(outcome, &engine->site->river, record, &estimate);
    hw__alarms_tell(outcome, engine, record, &estimate);
    hw__metric_add(HW_METRIC_ESTIMATES, 1);
  }
}

typedef struct {
  const hw__outcome *outcome;
  const hw__engine *engine;
  hw__event estimate;
} store_job;

static hw__db_status run_store(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const store_job *job = context;
  const hw__outcome *outcome = job->outcome;
  const int64_t id = job->engine->incident.id;
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < outcome->track_count && status == HW_DB_OK; i++) {
    status = hw__db_put_track(db, id, &outcome->tracks[i]);
  }
  if (status == HW_DB_OK) {
    status = hw__db_put_result(db, id, outcome->seq, outcome->result);
  }
  if (status == HW_DB_OK) {
    status = hw__db_put_event(db, &job->estimate);
  }
  for (size_t i = 0; i < outcome->event_count && status == HW_DB_OK; i++) {
    status = hw__db_put_event(db, &outcome->events[i]);
  }
  return status;
}

void hw__outcome_store(hw__outcome *outcome, hw__engine *engine) {
  if (outcome->result) {
    store_job job = {
        outcome, engine, {.seq = outcome->seq, .river = engine->incident.river, .incident = engine->incident.id}};
    snprintf(job.estimate.kind, sizeof job.estimate.kind, "%s", hw__event_text(HW_EVENT_ESTIMATE));
    job.estimate.at_us = hw__store_now_us(engine->store);
    job.estimate.body = outcome->result;
    const hw__db_status status = hw__store_write(engine->store, run_store, &job);
    if (status == HW_DB_OK) {
      engine->stored_seq = outcome->seq;
    } else if (status != HW_DB_STOPPING) {
      /* The run is ahead of what is stored: go back, so that what was not stored is computed again. */
      hw__log(HW_LOG_ERROR, "estimate_not_stored", "reason", hw__db_text(status));
      hw__engine_drop(engine);
    }
  }
  free(outcome->result);
  for (size_t i = 0; i < outcome->event_count; i++) {
    free(outcome->events[i].body);
  }
  free(outcome->events);
}

#include "incidents/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void fill_times(const hw_work *work, hw_result *result) {
  double sorted[HW_WORK_TIMES];
  const size_t count = work->time_count < HW_WORK_TIMES ? work->time_count : HW_WORK_TIMES;
  memcpy(sorted, work->times_us, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, ascending);
  result->seconds = work->busy_s;
  result->reading_us_median = count ? sorted[count / 2] : 0;
  result->reading_us_p99 = count ? sorted[count * 99 / 100] : 0;
}

hw_result hw__outcome_result(const hw_work *work) {
  hw_result result = {.river = &work->site->river,
                      .method = work->incident.method,
                      .seed = work->incident.seed,
                      .failure = work->failure,
                      .counts = {.rows = work->readings, .readings = work->readings},
                      .calendar = work->calendar,
                      .origin_unix_s = work->calendar ? work->incident.origin_s : 0};
  if (work->failure) {
    result.warnings = &work->failure;
    result.warning_count = 1;
  }
  fill_times(work, &result);
  return result;
}

static char *result_json(const hw_work *work, const hw_estimate *estimate) {
  hw_result result = hw__outcome_result(work);
  result.estimate = estimate;
  char *text = NULL;
  return hw_result_json(&result, true, &text) == HW_OK ? text : NULL;
}

static void add_event(hw_outcome *outcome, const hw_work *work, const hw_record *record, const char *kind,
                      const char *subject, json_t *body) {
  char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
  json_decref(body);
  if (!text || outcome->event_count == HW_OUTCOME_EVENTS) {
    free(text);
    return;
  }
  hw_event *event = &outcome->events[outcome->event_count++];
  *event = (hw_event){.seq = record->seq,
                      .river = work->incident.river,
                      .incident = work->incident.id,
                      .at_us = record->received_us,
                      .body = text};
  snprintf(event->kind, sizeof event->kind, "%s", kind);
  snprintf(event->subject, sizeof event->subject, "%s", subject);
}

static void tell_candidates(hw_outcome *outcome, hw_work *work, const hw_record *record, const hw_estimate *e) {
  for (size_t i = 0; i < e->suspicion_count; i++) {
    const hw_suspicion *s = &e->suspicions[i];
    if (s->candidate < 0 || work->candidate_told[s->candidate] ||
        !(s->probability >= work->options.candidate_probability)) {
      continue;
    }
    const hw_candidate *c = &work->site->river.candidates[s->candidate];
    work->candidate_told[s->candidate] = true;
    add_event(outcome, work, record, "candidate", c->id,
              json_pack("{s:s, s:s, s:o, s:b}", "candidate", c->id, "name", c->name, "probability",
                        hw__real(s->probability), "provisional", e->provisional));
  }
}

static void tell_intakes(hw_outcome *outcome, hw_work *work, const hw_record *record, const hw_estimate *e) {
  for (size_t i = 0; i < e->arrival_count; i++) {
    const hw_arrival *a = &e->arrivals[i];
    if (work->intake_told[a->intake] || !(a->exceeds_alarm >= work->options.intake_probability)) {
      continue;
    }
    const hw_intake *intake = &work->site->river.intakes[a->intake];
    work->intake_told[a->intake] = true;
    add_event(
        outcome, work, record, "intake_alarm", intake->id,
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "intake", intake->id, "name", intake->name, "exceeds_alarm",
                  hw__real(a->exceeds_alarm), "first_s", hw__real(a->first_s.mid + work->incident.origin_s), "peak_s",
                  hw__real(a->peak_s.mid + work->incident.origin_s), "peak_g_m3", hw__real(a->peak_g_m3.mid),
                  "provisional", e->provisional));
  }
}

static void keep_track(hw_outcome *outcome, const hw_record *record, const hw_estimate *e) {
  if (outcome->track_count < HW_OUTCOME_TRACKS) {
    outcome->tracks[outcome->track_count++] = (hw_track){.seq = record->seq,
                                                         .reading_s = record->time_s,
                                                         .readings = e->readings,
                                                         .provisional = e->provisional,
                                                         .has_interval = e->has_interval,
                                                         .source = e->source,
                                                         .interval = e->interval};
  }
}

void hw__outcome_add(hw_outcome *outcome, hw_work *work, const hw_record *record) {
  hw_estimate estimate;
  const bool have = work->run && hw_run_estimate(work->run, &estimate) == HW_OK;
  if (!have && !work->failure) {
    hw__metric_add(HW_METRIC_ENGINE_FAILURES, 1);
    return;
  }
  char *json = result_json(work, have ? &estimate : NULL);
  if (!json) {
    return;
  }
  free(outcome->result);
  outcome->result = json;
  outcome->seq = record->seq;
  if (have) {
    keep_track(outcome, record, &estimate);
    tell_candidates(outcome, work, record, &estimate);
    tell_intakes(outcome, work, record, &estimate);
    hw__metric_add(HW_METRIC_ESTIMATES, 1);
  }
}

typedef struct {
  const hw_outcome *outcome;
  const hw_work *work;
  hw_event estimate;
} store_job;

static hw_db_status run_store(hw_db *db, int64_t *seq, void *context) {
  (void)seq;
  const store_job *job = context;
  const hw_outcome *outcome = job->outcome;
  const int64_t id = job->work->incident.id;
  hw_db_status status = HW_DB_OK;
  for (size_t i = 0; i < outcome->track_count && status == HW_DB_OK; i++) {
    status = hw__db_put_track(db, id, &outcome->tracks[i]);
  }
  status = status == HW_DB_OK ? hw__db_put_result(db, id, outcome->seq, outcome->result) : status;
  status = status == HW_DB_OK ? hw__db_put_event(db, &job->estimate) : status;
  for (size_t i = 0; i < outcome->event_count && status == HW_DB_OK; i++) {
    status = hw__db_put_event(db, &outcome->events[i]);
  }
  return status;
}

void hw__outcome_store(hw_outcome *outcome, hw_work *work) {
  if (outcome->result) {
    store_job job = {
        outcome, work, {.seq = outcome->seq, .river = work->incident.river, .incident = work->incident.id}};
    snprintf(job.estimate.kind, sizeof job.estimate.kind, "estimate");
    job.estimate.at_us = hw__store_now_us(work->store);
    job.estimate.body = outcome->result;
    const hw_db_status status = hw__store_write(work->store, run_store, &job);
    if (status == HW_DB_OK) {
      work->stored_seq = outcome->seq;
    } else if (status != HW_DB_STOPPING) {
      /* The run is ahead of what is stored: go back, so that what was not stored is made again. */
      hw__log(HW_LOG_ERROR, "estimate_not_stored", "reason", hw__db_text(status));
      hw__work_drop(work);
    }
  }
  free(outcome->result);
  for (size_t i = 0; i < outcome->event_count; i++) {
    free(outcome->events[i].body);
  }
}

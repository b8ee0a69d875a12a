/* What an engine's estimates leave behind: history, the latest result, events. */
#ifndef HW_INCIDENTS_OUTCOME_H
#define HW_INCIDENTS_OUTCOME_H

#include <jansson.h>

#include "incidents/engine.h"

enum { HW_OUTCOME_TRACKS = 64 };

/* Collected over a page of readings, then stored in one job. */
typedef struct {
  hw__track tracks[HW_OUTCOME_TRACKS];
  size_t track_count;
  hw__event *events; /* as many as there are intakes and candidates to tell of; they and their bodies malloc'd */
  size_t event_count, event_capacity;
  char *result; /* the latest, as JSON; malloc'd */
  int64_t seq;
} hw__outcome;

/* What surrounds an estimate of this incident: river, method, clock, times. */
hw_result hw__outcome_result(const hw__engine *engine);
/* Take the run's estimate after this reading. */
void hw__outcome_add(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record);
/* Something that happened with this reading; the body is taken. */
void hw__outcome_event(hw__outcome *outcome, const hw__engine *engine, const hw__log_record *record,
                       hw__event_kind kind, const char *subject, json_t *body);
/* Make it durable and release it. */
void hw__outcome_store(hw__outcome *outcome, hw__engine *engine);

#endif

#include "incidents/processing.h"

#include <stdio.h>

void hw__processing_fill_defaults(hw_processing_options *o) {
  o->method = o->method ? o->method : HW_DEFAULT_METHOD;
  o->seed = o->seed ? o->seed : HW_DEFAULT_SEED;
  o->candidate_probability = o->candidate_probability > 0 ? o->candidate_probability : HW_DEFAULT_CANDIDATE_PROBABILITY;
  o->intake_probability = o->intake_probability > 0 ? o->intake_probability : HW_DEFAULT_INTAKE_PROBABILITY;
  o->lead_in_s = o->lead_in_s > 0 ? o->lead_in_s : HW_DEFAULT_LEAD_IN_S;
  o->quiet_s = o->quiet_s > 0 ? o->quiet_s : HW_DEFAULT_QUIET_S;
}

hw_status hw__processing_check(const hw_processing_options *options, hw_error *error) {
  if (!hw_method_find(options->method)) {
    snprintf(error->text, sizeof error->text, "--method %s: no such method (see headwater methods)", options->method);
    return HW_EDOMAIN;
  }
  return HW_OK;
}

hw_status hw__processing_start(hw__store *store, const hw__catalog *catalog, const hw_processing_options *options,
                               size_t threads, bool watch_only, hw__processing *out, hw_error *error) {
  const hw__solver_options solving = {.threads = threads,
                                      .level = options->level,
                                      .candidate_probability = options->candidate_probability,
                                      .intake_probability = options->intake_probability};
  hw__tracker_options tracking = {
      .seed = options->seed, .lead_in_s = options->lead_in_s, .quiet_s = options->quiet_s, .watch_only = watch_only};
  snprintf(tracking.method, sizeof tracking.method, "%s", options->method);
  if (hw__solver_start(store, catalog, &solving, &out->solver) != HW_OK) {
    snprintf(error->text, sizeof error->text, "no threads for the engines");
    return HW_EIO;
  }
  const hw__tracker_listener listener = {hw__solver_opened, hw__solver_closed, hw__solver_advanced, out->solver};
  hw__db_status status = watch_only ? HW_DB_OK : hw__solver_resume(out->solver);
  if (status == HW_DB_OK) {
    status = hw__tracker_start(store, catalog, &tracking, &listener, &out->tracker);
  }
  if (status != HW_DB_OK) {
    snprintf(error->text, sizeof error->text, "%s", hw__db_text(status));
    return HW_EIO;
  }
  if (!watch_only) {
    hw__solver_follow(out->solver, out->tracker);
  }
  return HW_OK;
}

void hw__processing_stop(hw__processing *processing) {
  if (processing->solver) {
    hw__solver_follow(processing->solver, NULL);
  }
  hw__tracker_stop(processing->tracker);
  hw__solver_stop(processing->solver);
  *processing = (hw__processing){0};
}

/* headwater.estimate/1. Every key is always there; null where not known. */
#include "io/result_json.h"

#include <math.h>
#include <string.h>

#include "headwater/version.h"

/* NULL on a river without branches. */
static const char *branch_id(const hw_river *river, size_t branch) {
  return branch < river->branch_count ? river->branches[branch].id : NULL;
}

void hw__json_open_source(hw__json *json, const char *key, const hw_result *result, const hw_source *source) {
  hw__json_open(json, key, '{');
  hw__json_number(json, "mass_g", source->mass_g);
  hw__json_text(json, "branch", branch_id(result->river, source->branch));
  hw__json_number(json, "location_m", source->location_m);
  hw__json_number(json, "time_s", source->time_s);
  char instant[40];
  if (result->calendar) {
    hw_time_format(result->origin_unix_s + source->time_s, instant, sizeof instant);
  }
  hw__json_text(json, "time", result->calendar ? instant : NULL);
}

static void add_estimate(hw__json *json, const hw_result *result, const hw_source *source, double duration_s,
                         double rate_g_s) {
  hw__json_open_source(json, "estimate", result, source);
  hw__json_number(json, "duration_s", duration_s);
  hw__json_number(json, "rate_g_s", rate_g_s);
  hw__json_close(json, '}');
}

static void add_interval(hw__json *json, double level, const hw_box *interval, const hw_range *duration_s) {
  const double mass[] = {interval->lo.mass_g, interval->hi.mass_g};
  const double location[] = {interval->lo.location_m, interval->hi.location_m};
  const double time[] = {interval->lo.time_s, interval->hi.time_s};
  const double duration[] = {duration_s->lo, duration_s->hi};
  hw__json_open(json, "interval", '{');
  hw__json_number(json, "level", level);
  hw__json_numbers(json, "mass_g", mass, 2);
  hw__json_numbers(json, "location_m", location, 2);
  hw__json_numbers(json, "time_s", time, 2);
  if (isfinite(duration_s->lo) && isfinite(duration_s->hi)) {
    hw__json_numbers(json, "duration_s", duration, 2);
  } else {
    hw__json_null(json, "duration_s");
  }
  hw__json_close(json, '}');
}

static void add_region(hw__json *json, const hw_river *river, const hw_region *regions, size_t count) {
  hw__json_open(json, "region", '[');
  for (size_t i = 0; i < count; i++) {
    const double place[] = {regions[i].lo_m, regions[i].hi_m};
    hw__json_open(json, NULL, '{');
    hw__json_text(json, "branch", branch_id(river, regions[i].branch));
    hw__json_numbers(json, "location_m", place, 2);
    hw__json_number(json, "probability", regions[i].probability);
    hw__json_close(json, '}');
  }
  hw__json_close(json, ']');
}

/* Where: the stretches and branches of a method that knows them, null for one that does not. */
static void add_where(hw__json *json, const hw_river *river, const hw_estimate *e) {
  if (!e || e->trust == HW_TRUST_UNJUDGED) {
    hw__json_null(json, "region");
    hw__json_null(json, "branches");
    return;
  }
  add_region(json, river, e->regions, e->region_count);
  hw__json_open(json, "branches", '[');
  for (size_t i = 0; i < e->branch_count; i++) {
    hw__json_open(json, NULL, '{');
    hw__json_text(json, "id", branch_id(river, e->branches[i].branch));
    hw__json_number(json, "probability", e->branches[i].probability);
    hw__json_close(json, '}');
  }
  hw__json_close(json, ']');
}

static void add_candidates(hw__json *json, const hw_river *river, const hw_suspicion *rows, size_t count) {
  hw__json_open(json, "candidates", '[');
  for (size_t i = 0; i < count; i++) {
    hw__json_open(json, NULL, '{');
    hw__json_text(json, "id", rows[i].candidate < 0 ? NULL : river->candidates[rows[i].candidate].id);
    hw__json_number(json, "probability", rows[i].probability);
    hw__json_close(json, '}');
  }
  hw__json_close(json, ']');
}

static void add_release(hw__json *json, const hw_result *result, const hw_release *r) {
  const hw_estimate *e = result->estimate;
  hw__json_open(json, NULL, '{');
  hw__json_number(json, "probability", r->probability);
  add_estimate(json, result, &r->source, r->duration_s.mid, NAN);
  if (r->has_interval) {
    add_interval(json, e->level, &r->interval, &r->duration_s);
  } else {
    hw__json_null(json, "interval");
  }
  if (e->trust == HW_TRUST_UNJUDGED) {
    hw__json_null(json, "region");
  } else {
    add_region(json, result->river, r->regions, r->region_count);
  }
  add_candidates(json, result->river, r->suspicions, r->suspicion_count);
  hw__json_close(json, '}');
}

/* One or more where there is a source: a method that looks for one release only has that one. */
static void add_releases(hw__json *json, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  hw__json_open(json, "releases", '[');
  for (size_t i = 0; e && i < e->release_count; i++) {
    add_release(json, result, &e->releases[i]);
  }
  if (e && e->has_source && e->release_count == 0) {
    const hw_release only = {.probability = e->spill,
                             .source = e->source,
                             .has_interval = e->has_interval,
                             .interval = e->interval,
                             .duration_s = e->duration_s,
                             .regions = e->regions,
                             .region_count = e->region_count,
                             .suspicions = e->suspicions,
                             .suspicion_count = e->suspicion_count};
    add_release(json, result, &only);
  }
  hw__json_close(json, ']');
}

static void add_range(hw__json *json, const char *key, const hw_range *range) {
  if (!isfinite(range->lo) && !isfinite(range->mid) && !isfinite(range->hi)) {
    hw__json_null(json, key);
    return;
  }
  const double values[] = {range->lo, range->mid, range->hi};
  hw__json_numbers(json, key, values, 3);
}

static void add_hydraulics(hw__json *json, const hw_estimate *e) {
  if (!e || !e->has_hydraulics) {
    hw__json_null(json, "hydraulics");
    return;
  }
  hw__json_open(json, "hydraulics", '{');
  add_range(json, "velocity_m_s", &e->velocity_m_s);
  add_range(json, "dispersion_m2_s", &e->dispersion_m2_s);
  hw__json_close(json, '}');
}

static void add_arrivals(hw__json *json, const hw_river *river, const hw_estimate *e) {
  hw__json_open(json, "arrivals", '[');
  for (size_t i = 0; e && i < e->arrival_count; i++) {
    const hw_arrival *a = &e->arrivals[i];
    hw__json_open(json, NULL, '{');
    hw__json_text(json, "id", river->intakes[a->intake].id);
    hw__json_text(json, "branch", branch_id(river, river->intakes[a->intake].branch));
    add_range(json, "first_s", &a->first_s);
    add_range(json, "peak_s", &a->peak_s);
    add_range(json, "last_s", &a->last_s);
    add_range(json, "peak_g_m3", &a->peak_g_m3);
    hw__json_number(json, "exceeds_alarm", a->exceeds_alarm);
    hw__json_close(json, '}');
  }
  hw__json_close(json, ']');
}

static void add_cost(hw__json *json, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  hw__json_open(json, "cost", '{');
  hw__json_count(json, "model_evaluations", e ? e->cost.model_evaluations : 0);
  hw__json_count(json, "gradient_evaluations", e ? e->cost.gradient_evaluations : 0);
  hw__json_number(json, "seconds", result->seconds);
  hw__json_number(json, "reading_us_median", result->reading_us_median);
  hw__json_number(json, "reading_us_p99", result->reading_us_p99);
  hw__json_count(json, "state_bytes", e ? e->cost.state_bytes : 0);
  hw__json_close(json, '}');
}

static void add_warnings(hw__json *json, const hw_result *result) {
  hw__json_open(json, "warnings", '[');
  for (size_t i = 0; i < result->warning_count; i++) {
    hw__json_text(json, NULL, result->warnings[i]);
  }
  for (size_t i = 0; result->estimate && i < result->estimate->warning_count; i++) {
    hw__json_text(json, NULL, result->estimate->warnings[i]);
  }
  hw__json_close(json, ']');
}

/* How far the method trusts its own answer. */
static void add_judgement(hw__json *json, const hw_estimate *e) {
  hw__json_bool(json, "provisional", !e || e->provisional);
  hw__json_number(json, "spill", e ? e->spill : NAN);
  hw__json_text(json, "trust", e ? hw_trust_text(e->trust) : NULL);
  hw__json_text(json, "trust_reason", e ? e->trust_reason : NULL);
}

/* What was released, where and when. */
static void add_answer(hw__json *json, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  if (e && e->has_source) {
    add_estimate(json, result, &e->source, e->duration_s.mid, e->rate_g_s);
  } else {
    hw__json_null(json, "estimate");
  }
  if (e && e->has_source && e->has_interval) {
    add_interval(json, e->level, &e->interval, &e->duration_s);
  } else {
    hw__json_null(json, "interval");
  }
  hw__json_number(json, "still_flowing", e ? e->still_flowing : NAN);
  add_where(json, result->river, e);
  add_releases(json, result);
}

void hw__json_result(hw__json *json, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  hw__json_text(json, "schema", "headwater.estimate/1");
  hw__json_text(json, "version", HW_VERSION);
  hw__json_text(json, "river", result->river->name);
  hw__json_text(json, "substance", result->river->substance.name[0] ? result->river->substance.name : NULL);
  hw__json_text(json, "method", result->method);
  hw__json_count(json, "seed", result->seed);
  hw__json_count(json, "readings", e ? e->readings : 0);
  add_judgement(json, e);
  hw__json_open(json, "skipped", '{');
  hw__json_count(json, "missing", result->counts.missing);
  hw__json_count(json, "duplicate", result->counts.duplicate);
  hw__json_close(json, '}');
  hw__json_count(json, "out_of_order", result->counts.out_of_order);
  add_answer(json, result);
  add_hydraulics(json, e);
  add_candidates(json, result->river, e ? e->suspicions : NULL, e ? e->suspicion_count : 0);
  add_arrivals(json, result->river, e);
  hw__json_number(json, "loss", e ? e->loss : NAN);
  hw__json_text(json, "stop", e ? hw_stop_text(e->stop) : NULL);
  add_cost(json, result);
  add_warnings(json, result);
}

hw_status hw_result_json(const hw_result *result, bool one_line, char **out) {
  hw__json json = {.indented = !one_line, .flat = 1};
  hw__json_open(&json, NULL, '{');
  hw__json_result(&json, result);
  hw__json_close(&json, '}');
  return hw__text_finish(&json.text, out);
}

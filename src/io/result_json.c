/* headwater.estimate/1 and headwater.comparison/1. Every key is always there; null where not known. */
#include <math.h>
#include <string.h>

#include "headwater/headwater.h"
#include "io/json_out.h"

static void add_source(hw__json *json, const char *key, const hw_result *result, const hw_source *source) {
  hw__json_open(json, key, '{');
  hw__json_number(json, "mass_g", source->mass_g);
  hw__json_number(json, "location_m", source->location_m);
  hw__json_number(json, "time_s", source->time_s);
  char instant[40];
  if (result->calendar) {
    hw_time_format(result->origin_unix_s + source->time_s, instant, sizeof instant);
  }
  hw__json_text(json, "time", result->calendar ? instant : NULL);
  hw__json_close(json, '}');
}

static void add_interval(hw__json *json, const hw_estimate *e) {
  if (!e || !e->has_interval) {
    hw__json_null(json, "interval");
    return;
  }
  const double mass[] = {e->interval.lo.mass_g, e->interval.hi.mass_g};
  const double location[] = {e->interval.lo.location_m, e->interval.hi.location_m};
  const double time[] = {e->interval.lo.time_s, e->interval.hi.time_s};
  hw__json_open(json, "interval", '{');
  hw__json_number(json, "level", e->level);
  hw__json_numbers(json, "mass_g", mass, 2);
  hw__json_numbers(json, "location_m", location, 2);
  hw__json_numbers(json, "time_s", time, 2);
  hw__json_close(json, '}');
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

static void add_candidates(hw__json *json, const hw_river *river, const hw_estimate *e) {
  hw__json_open(json, "candidates", '[');
  for (size_t i = 0; e && i < e->suspicion_count; i++) {
    const hw_suspicion *s = &e->suspicions[i];
    hw__json_open(json, NULL, '{');
    hw__json_text(json, "id", s->candidate < 0 ? NULL : river->candidates[s->candidate].id);
    hw__json_number(json, "probability", s->probability);
    hw__json_close(json, '}');
  }
  hw__json_close(json, ']');
}

static void add_arrivals(hw__json *json, const hw_river *river, const hw_estimate *e) {
  hw__json_open(json, "arrivals", '[');
  for (size_t i = 0; e && i < e->arrival_count; i++) {
    const hw_arrival *a = &e->arrivals[i];
    hw__json_open(json, NULL, '{');
    hw__json_text(json, "id", river->intakes[a->intake].id);
    add_range(json, "first_s", &a->first_s);
    add_range(json, "peak_s", &a->peak_s);
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

/* The keys of one estimate, without the braces around them. */
static void add_result(hw__json *json, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  hw__json_text(json, "schema", "headwater.estimate/1");
  hw__json_text(json, "version", HW_VERSION);
  hw__json_text(json, "river", result->river->name);
  hw__json_text(json, "method", result->method);
  hw__json_count(json, "seed", result->seed);
  hw__json_count(json, "readings", e ? e->readings : 0);
  hw__json_bool(json, "provisional", !e || e->provisional);
  hw__json_open(json, "skipped", '{');
  hw__json_count(json, "missing", result->counts.missing);
  hw__json_count(json, "duplicate", result->counts.duplicate);
  hw__json_close(json, '}');
  hw__json_count(json, "out_of_order", result->counts.out_of_order);
  if (e) {
    add_source(json, "estimate", result, &e->source);
  } else {
    hw__json_null(json, "estimate");
  }
  add_interval(json, e);
  add_hydraulics(json, e);
  add_candidates(json, result->river, e);
  add_arrivals(json, result->river, e);
  hw__json_number(json, "loss", e ? e->loss : NAN);
  hw__json_text(json, "stop", e ? hw_stop_text(e->stop) : NULL);
  add_cost(json, result);
  add_warnings(json, result);
}

hw_status hw_result_json(const hw_result *result, bool one_line, char **out) {
  hw__json json = {.indented = !one_line, .flat = 1};
  hw__json_open(&json, NULL, '{');
  add_result(&json, result);
  hw__json_close(&json, '}');
  return hw__text_finish(&json.text, out);
}

static void add_triple(hw__json *json, const char *key, const hw_source *values) {
  hw__json_open(json, key, '{');
  hw__json_number(json, "mass_g", values->mass_g);
  hw__json_number(json, "location_m", values->location_m);
  hw__json_number(json, "time_s", values->time_s);
  hw__json_close(json, '}');
}

static double relative(double found, double truth) {
  return fabs(found - truth) / fabs(truth);
}

hw_source hw_relative_error(const hw_source *found, const hw_source *truth) {
  return (hw_source){relative(found->mass_g, truth->mass_g), relative(found->location_m, truth->location_m),
                     relative(found->time_s, truth->time_s)};
}

hw_status hw_comparison_json(const hw_result *results, size_t count, const hw_source *truth, char **out) {
  hw__json json = {.indented = true, .flat = 3};
  hw__json_open(&json, NULL, '{');
  hw__json_text(&json, "schema", "headwater.comparison/1");
  if (truth && count) {
    add_source(&json, "truth", &results[0], truth);
  } else {
    hw__json_null(&json, "truth");
  }
  hw__json_open(&json, "results", '[');
  for (size_t i = 0; i < count; i++) {
    hw__json_open(&json, NULL, '{');
    add_result(&json, &results[i]);
    if (truth && results[i].estimate) {
      const hw_source *found = &results[i].estimate->source;
      const hw_source share = hw_relative_error(found, truth);
      const hw_source error = {found->mass_g - truth->mass_g, found->location_m - truth->location_m,
                               found->time_s - truth->time_s};
      add_triple(&json, "relative_error", &share);
      add_triple(&json, "error", &error);
    } else {
      hw__json_null(&json, "relative_error");
      hw__json_null(&json, "error");
    }
    hw__json_text(&json, "failure", results[i].failure);
    hw__json_close(&json, '}');
  }
  hw__json_close(&json, ']');
  hw__json_close(&json, '}');
  return hw__text_finish(&json.text, out);
}

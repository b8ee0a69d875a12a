/* headwater.comparison/1: the estimates of several methods, each with its distance from the truth. */
#include <math.h>

#include "io/result_json.h"

static void add_triple(hw__json *json, const char *key, const hw_source *values) {
  hw__json_open(json, key, '{');
  hw__json_number(json, "mass_g", values->mass_g);
  hw__json_number(json, "location_m", values->location_m);
  hw__json_number(json, "time_s", values->time_s);
  hw__json_close(json, '}');
}

static void add_errors(hw__json *json, const hw_result *result, const hw_source *truth) {
  if (!truth || !result->estimate || !result->estimate->has_source) {
    hw__json_null(json, "relative_error");
    hw__json_null(json, "error");
    return;
  }
  const hw_source *found = &result->estimate->source;
  const hw_source share = hw_relative_error(result->river, found, truth);
  const hw_source error = hw_source_error(found, truth);
  add_triple(json, "relative_error", &share);
  add_triple(json, "error", &error);
}

hw_status hw_comparison_json(const hw_result *results, size_t count, const hw_source *truth, char **out) {
  hw__json json = {.indented = true, .flat = 3};
  hw__json_open(&json, NULL, '{');
  hw__json_text(&json, "schema", "headwater.comparison/1");
  if (truth && count) {
    hw__json_open_source(&json, "truth", &results[0], truth);
    hw__json_close(&json, '}');
  } else {
    hw__json_null(&json, "truth");
  }
  hw__json_open(&json, "results", '[');
  for (size_t i = 0; i < count; i++) {
    hw__json_open(&json, NULL, '{');
    hw__json_result(&json, &results[i]);
    add_errors(&json, &results[i], truth);
    if (results[i].estimate) {
      hw__json_bool(&json, "converged", hw_stop_converged(results[i].estimate->stop));
    } else {
      hw__json_null(&json, "converged");
    }
    hw__json_text(&json, "failure", results[i].failure);
    hw__json_close(&json, '}');
  }
  hw__json_close(&json, ']');
  hw__json_close(&json, '}');
  return hw__text_finish(&json.text, out);
}

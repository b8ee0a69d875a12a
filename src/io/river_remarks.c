/* What a river file leaves to defaults, and what in it is odd. */
#include <stdio.h>

#include "io/river_yaml.h"
#include "river/network.h"

/* A default that replaces a measurement is always mentioned. */
static void remark_defaults(const hw__yaml *yaml, const yaml_node_t *root, const hw_river *river) {
  const yaml_node_t *sensors = hw__yaml_value(yaml, root, "sensors");
  const bool decay = hw__yaml_value(yaml, root, "substance") ||
                     hw__yaml_value(yaml, hw__yaml_value(yaml, root, "hydraulics"), "decay_per_s");
  size_t silent = 0;
  for (size_t i = 0; i < river->sensor_count; i++) {
    const yaml_node_t *sensor = hw__yaml_node(yaml, sensors->data.sequence.items.start[i]);
    silent += hw__yaml_value(yaml, sensor, "noise_relative") == NULL;
  }
  char noise[80] = "", time[80] = "";
  if (silent) {
    snprintf(noise, sizeof noise, "%snoise_relative 0.05 for %zu of %zu sensors", decay ? "" : ", ", silent,
             river->sensor_count);
  }
  if (!hw__yaml_value(yaml, hw__yaml_value(yaml, root, "search"), "time_s")) {
    snprintf(time, sizeof time, "%ssearch time_s %.0f to %.0f s", silent || !decay ? ", " : "", river->search.lo.time_s,
             river->search.hi.time_s);
  }
  if (silent || !decay || time[0]) {
    hw__yaml_warn(yaml, root, "not given, so taken: %s%s%s", decay ? "" : "a conservative pollutant (no substance)",
                  noise, time);
  }
}

/* Can this sensor see a release from anywhere that is searched? */
static bool sees_search(const hw_river *river, const hw_sensor *s) {
  if (!river->branch_count) {
    return s->location_m > river->search.lo.location_m;
  }
  for (size_t i = 0; i < river->branch_count; i++) {
    const hw_branch *b = &river->branches[i];
    double enters_m = b->search_lo_m;
    if (b->search_lo_m <= b->search_hi_m && (i == s->branch || hw__branch_enters(river, i, s->branch, &enters_m)) &&
        enters_m < s->location_m) {
      return true;
    }
  }
  return false;
}

static bool is_searched(const hw_river *river, const hw_candidate *c) {
  const bool network = river->branch_count > 0;
  const double lo_m = network ? river->branches[c->branch].search_lo_m : river->search.lo.location_m;
  const double hi_m = network ? river->branches[c->branch].search_hi_m : river->search.hi.location_m;
  return !(c->location_m + c->extent_m < lo_m || c->location_m - c->extent_m > hi_m);
}

/* What is odd but usable. */
void hw__river_remark(const hw__yaml *yaml, const yaml_node_t *root, const hw_river *river) {
  remark_defaults(yaml, root, river);
  const yaml_node_t *sensors = hw__yaml_value(yaml, root, "sensors");
  for (size_t i = 0; i < river->sensor_count; i++) {
    const hw_sensor *s = &river->sensors[i];
    const yaml_node_t *at = hw__yaml_node(yaml, sensors->data.sequence.items.start[i]);
    if (!sees_search(river, s) && river->branch_count) {
      hw__yaml_warn(yaml, at,
                    "sensor %s at %g m of branch %s lies upstream of all that is searched: it cannot see the "
                    "spill",
                    s->id, s->location_m, river->branches[s->branch].id);
    } else if (!sees_search(river, s)) {
      hw__yaml_warn(yaml, at,
                    "sensor %s at %g m lies upstream of the whole search box, which begins at %g m: it cannot see the "
                    "spill",
                    s->id, s->location_m, river->search.lo.location_m);
    }
  }
  const yaml_node_t *candidates = hw__yaml_value(yaml, root, "candidates");
  for (size_t i = 0; i < river->candidate_count; i++) {
    const hw_candidate *c = &river->candidates[i];
    if (!is_searched(river, c)) {
      hw__yaml_warn(yaml, hw__yaml_node(yaml, candidates->data.sequence.items.start[i]),
                    "candidate %s at %g m lies outside the search box", c->id, c->location_m);
    }
  }
}

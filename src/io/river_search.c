/* The search box out of YAML: three sides, the times as numbers or as instants, or as a normal distribution. */
#include <stddef.h>

#include "io/river_yaml.h"
#include "io/time.h"

/* Where nothing is said of the time: from two days before the first reading to a week after it. */
static const double two_days_s = 172800, a_week_s = 604800;

static const char or_instant[] = " or an instant with its offset such as 2026-03-01T08:15:00Z";

static bool is_instant(const yaml_node_t *node, double *out) {
  return node->type == YAML_SCALAR_NODE &&
         hw__time_parse((hw__slice){(const char *)node->data.scalar.value, node->data.scalar.length}, out);
}

hw_status hw__river_take_pair(hw__yaml *yaml, const yaml_node_t *node, const char *of, const char *what, double out[2],
                              bool *is_calendar) {
  char found[80];
  size_t count = 0;
  if (node->type != YAML_SEQUENCE_NODE || hw__yaml_expect_list(yaml, node, what, &count) != HW_OK || count != 2) {
    return hw__yaml_fail(yaml, node, "%s %s is %s, expected [lo, hi]", of, what, hw__yaml_found(node, found));
  }
  bool calendar[2] = {false, false};
  for (int i = 0; i < 2; i++) {
    const yaml_node_t *item = hw__yaml_node(yaml, node->data.sequence.items.start[i]);
    if (hw__yaml_number(item, &out[i])) {
      continue;
    }
    calendar[i] = is_calendar && is_instant(item, &out[i]);
    if (!calendar[i]) {
      return hw__yaml_fail(yaml, item, "%s %s has %s, expected a number%s", of, what, hw__yaml_found(item, found),
                           is_calendar ? or_instant : "");
    }
  }
  if (calendar[0] != calendar[1]) {
    return hw__yaml_fail(yaml, node, "%s %s mixes a number and an instant, expected two of one kind", of, what);
  }
  if (out[0] > out[1]) {
    return hw__yaml_fail(yaml, node, "%s %s is [%g, %g], expected the lower end first", of, what, out[0], out[1]);
  }
  if (is_calendar) {
    *is_calendar = calendar[0];
  }
  return HW_OK;
}

static hw_status take_mass(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  double side[2] = {0, 0};
  hw_box *box = &((hw_river *)target)->search;
  const hw_status status = hw__river_take_pair(yaml, node, "search", what, side, NULL);
  if (status != HW_OK) {
    return status;
  }
  if (!(side[0] >= 0) || !(side[1] > 0)) {
    return hw__yaml_fail(yaml, node, "%s %s is [%g, %g], expected 0 or more, then a positive number", "search", what,
                         side[0], side[1]);
  }
  box->lo.mass_g = side[0];
  box->hi.mass_g = side[1];
  return HW_OK;
}

static hw_status take_location(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  double side[2] = {0, 0};
  hw_box *box = &((hw_river *)target)->search;
  const hw_status status = hw__river_take_pair(yaml, node, "search", what, side, NULL);
  if (status == HW_OK) {
    box->lo.location_m = side[0];
    box->hi.location_m = side[1];
  }
  return status;
}

static hw_status take_median(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  char found[80];
  if (hw__yaml_number(node, &river->when.median_s)) {
    return HW_OK;
  }
  river->search_is_calendar = is_instant(node, &river->when.median_s);
  return river->search_is_calendar ? HW_OK
                                   : hw__yaml_fail(yaml, node, "search time_s %s is %s, expected a number%s", what,
                                                   hw__yaml_found(node, found), or_instant);
}

/* A distribution has no ends, but the box needs them: they are set four standard deviations away. */
static hw_status take_when(hw__yaml *yaml, const yaml_node_t *node, hw_river *river) {
  static const hw__yaml_field fields[] = {
      {"median", take_median, 0, true},
      {"sd_s", hw__yaml_take_positive, offsetof(hw_river, when.sd_s), true},
  };
  const hw_status status = hw__yaml_mapping(yaml, node, "search time_s", FIELDS(fields), river);
  if (status == HW_OK) {
    river->search.lo.time_s = river->when.median_s - 4 * river->when.sd_s;
    river->search.hi.time_s = river->when.median_s + 4 * river->when.sd_s;
  }
  return status;
}

static hw_status take_time(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  double side[2] = {0, 0};
  hw_river *river = target;
  if (node->type == YAML_MAPPING_NODE) {
    return take_when(yaml, node, river);
  }
  const hw_status status = hw__river_take_pair(yaml, node, "search", what, side, &river->search_is_calendar);
  if (status == HW_OK) {
    river->search.lo.time_s = side[0];
    river->search.hi.time_s = side[1];
  }
  return status;
}

hw_status hw__river_take_search(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"mass_g", take_mass, 0, true},
      {"location_m", take_location, 0, false}, /* or locations; hw__river_settle_search checks it */
      {"locations", hw__river_take_locations, 0, false},
      {"time_s", take_time, 0, false},
  };
  hw_box *box = &((hw_river *)target)->search;
  box->lo.time_s = -two_days_s;
  box->hi.time_s = a_week_s;
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

/* When a candidate could have discharged: windows of time, of the search box's kind. */
#include <stdlib.h>

#include "core/text.h"
#include "io/river_yaml.h"

enum { LONGEST_LOG = 10000 };

hw_status hw__river_take_active(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_candidate *candidate = target;
  size_t count = 0;
  hw_status status = hw__yaml_expect_list(yaml, node, what, &count);
  if (status != HW_OK) {
    return status;
  }
  if (count == 0 || count > LONGEST_LOG) {
    return hw__yaml_fail(yaml, node, "active is a list of %zu, expected 1 to %d windows [from, to]", count,
                         LONGEST_LOG);
  }
  candidate->active = calloc(count, sizeof *candidate->active);
  if (!candidate->active) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  candidate->active_count = count;
  for (size_t i = 0; status == HW_OK && i < count; i++) {
    const yaml_node_t *window = hw__yaml_node(yaml, node->data.sequence.items.start[i]);
    double span[2] = {0, 0};
    bool calendar = false;
    status = hw__river_take_pair(yaml, window, "active", "window", span, &calendar);
    candidate->active[i] = (hw_span){span[0], span[1]};
  }
  return status;
}

hw_status hw__river_take_trust(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  const hw_status status = hw__yaml_take_positive(yaml, node, what, target);
  if (status == HW_OK && *(double *)target > 1) {
    return hw__yaml_fail(yaml, node, "active_trust is %g, expected a probability, at most 1", *(double *)target);
  }
  return status;
}

static hw_status take_none_prior(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  const hw_status status = hw__yaml_take_not_negative(yaml, node, what, target);
  if (status == HW_OK && !(*(double *)target < 1)) {
    return hw__yaml_fail(yaml, node, "none_of_these has prior %g, expected a probability below 1", *(double *)target);
  }
  return status;
}

hw_status hw__river_take_none(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {{"prior", take_none_prior, 0, true}};
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

/* Windows given as instants could never overlap a search box in plain seconds, nor the other way round. */
static hw_status check_kind(hw__yaml *yaml, const yaml_node_t *active, const hw_river *river) {
  for (size_t i = 0; i < (size_t)(active->data.sequence.items.top - active->data.sequence.items.start); i++) {
    const yaml_node_t *window = hw__yaml_node(yaml, active->data.sequence.items.start[i]);
    double number = 0;
    const bool calendar = !hw__yaml_number(hw__yaml_node(yaml, window->data.sequence.items.start[0]), &number);
    if (calendar != river->search_is_calendar) {
      return hw__yaml_fail(yaml, window, "active window has %s, expected %s as in search time_s",
                           calendar ? "instants" : "numbers", calendar ? "numbers" : "instants");
    }
  }
  return HW_OK;
}

hw_status hw__river_check_active(hw__yaml *yaml, const yaml_node_t *root, const hw_river *river) {
  const yaml_node_t *candidates = hw__yaml_value(yaml, root, "candidates");
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < river->candidate_count; i++) {
    const yaml_node_t *candidate = hw__yaml_node(yaml, candidates->data.sequence.items.start[i]);
    if (river->candidates[i].active_count > 0) {
      status = check_kind(yaml, hw__yaml_value(yaml, candidate, "active"), river);
    }
  }
  return status;
}

/* Where on a network the source is looked for: a stretch of each branch, or of those that are named. */
#include <math.h>

#include "io/river_yaml.h"
#include "river/network.h"

hw_status hw__river_take_locations(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  char found[80];
  (void)target;
  return node->type == YAML_MAPPING_NODE
             ? HW_OK
             : hw__yaml_fail(yaml, node, "search %s is %s, expected branches and their [lo, hi]", what,
                             hw__yaml_found(node, found));
}

/* All of every branch; the one that joins nothing as far as its reaches or, without any, its sensors. */
static void search_everywhere(hw_river *river) {
  for (size_t i = 0; i < river->branch_count; i++) {
    hw_branch *b = &river->branches[i];
    b->search_lo_m = b->head_m;
    b->search_hi_m = hw__branch_end(river, i);
    if (isinf(b->search_hi_m)) {
      b->search_hi_m = b->head_m;
      for (size_t k = 0; k < river->sensor_count; k++) {
        const hw_sensor *s = &river->sensors[k];
        b->search_hi_m = s->branch == i ? fmax(b->search_hi_m, s->location_m) : b->search_hi_m;
      }
    }
  }
}

static hw_status search_named(hw__yaml *yaml, const yaml_node_t *locations, hw_river *river) {
  for (size_t i = 0; i < river->branch_count; i++) {
    river->branches[i].search_lo_m = INFINITY;
    river->branches[i].search_hi_m = -INFINITY;
  }
  for (const yaml_node_pair_t *pair = locations->data.mapping.pairs.start; pair < locations->data.mapping.pairs.top;
       pair++) {
    const yaml_node_t *name = hw__yaml_node(yaml, pair->key), *value = hw__yaml_node(yaml, pair->value);
    double side[2] = {0, 0};
    size_t branch = 0;
    char id[HW_ID_SIZE];
    hw_error sentence;
    hw_status status = hw__yaml_take_id(yaml, name, "a branch in search locations", id);
    if (status == HW_OK) {
      status = hw__river_name_branch(yaml, name, river, &branch);
    }
    if (status == HW_OK) {
      status = hw__river_take_pair(yaml, value, "search locations", id, side, NULL);
    }
    if (status != HW_OK) {
      return status;
    }
    hw_branch *b = &river->branches[branch];
    if (!isinf(b->search_lo_m)) {
      return hw__yaml_fail(yaml, name, "branch %s a second time in search locations, expected it once", id);
    }
    for (int end = 0; end < 2; end++) {
      if (hw__place_check(river, branch, side[end], "search", end ? "to" : "from", &sentence) != HW_OK) {
        return hw__yaml_fail(yaml, value, "%s", sentence.text);
      }
    }
    b->search_lo_m = side[0];
    b->search_hi_m = side[1];
  }
  return HW_OK;
}

hw_status hw__river_settle_search(hw__yaml *yaml, const yaml_node_t *search, hw_river *river) {
  const yaml_node_t *one = hw__yaml_value(yaml, search, "location_m");
  const yaml_node_t *many = hw__yaml_value(yaml, search, "locations");
  if (river->branch_count == 0) {
    return many   ? hw__yaml_fail(yaml, many, "search locations, but the river has no branches; expected location_m")
           : !one ? hw__yaml_fail(yaml, search, "no location_m in search, expected one")
                  : HW_OK;
  }
  if (one) {
    return hw__yaml_fail(yaml, one, "search location_m beside branches, expected locations: {BRANCH: [lo, hi]}");
  }
  search_everywhere(river);
  const hw_status status = many ? search_named(yaml, many, river) : HW_OK;
  hw_box *box = &river->search;
  box->lo.location_m = INFINITY;
  box->hi.location_m = -INFINITY;
  for (size_t i = 0; status == HW_OK && i < river->branch_count; i++) {
    box->lo.location_m = fmin(box->lo.location_m, river->branches[i].search_lo_m);
    box->hi.location_m = fmax(box->hi.location_m, river->branches[i].search_hi_m);
  }
  if (status == HW_OK && !(box->lo.location_m <= box->hi.location_m)) {
    return hw__yaml_fail(yaml, many, "search locations names no branch, expected at least one");
  }
  return status;
}

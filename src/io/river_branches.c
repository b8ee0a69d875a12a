/* Branches and gauges out of YAML. Names of branches are resolved once the whole file was read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/river_yaml.h"
#include "river/continuity.h"
#include "river/network.h"

hw_status hw__river_take_branch_later(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  char id[HW_ID_SIZE];
  (void)target;
  return hw__yaml_take_id(yaml, node, what, id);
}

static hw_status take_joins(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"branch", hw__river_take_branch_later, 0, true},
      {"at_m", hw__yaml_take_number, offsetof(hw_branch, joins_at_m), true},
  };
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

static hw_status take_branch_reaches(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_branch *branch = target;
  return hw__river_take_items(yaml, node, what, "the reach", sizeof(hw_reach), hw__river_take_reach,
                              (void **)&branch->reaches, &branch->reach_count);
}

static hw_status take_branch(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"id", hw__yaml_take_id, offsetof(hw_branch, id), true},
      {"name", hw__yaml_take_name, offsetof(hw_branch, name), false},
      {"head_m", hw__yaml_take_number, offsetof(hw_branch, head_m), true},
      {"joins", take_joins, 0, false},
      {"reaches", take_branch_reaches, 0, false},
      {"centerline", hw__river_take_path, offsetof(hw_branch, centerline), false},
  };
  ((hw_branch *)target)->joins = HW_OUTLET;
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

hw_status hw__river_take_branches(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  const hw_status status = hw__river_take_items(yaml, node, what, "the branch", sizeof(hw_branch), take_branch,
                                                (void **)&river->branches, &river->branch_count);
  if (status == HW_OK && river->branch_count == 0) {
    return hw__yaml_fail(yaml, node, "branches is an empty list, expected at least one branch");
  }
  if (status != HW_OK) {
    return status;
  }
  return hw__river_check_unique(yaml, node, "branch", river->branches[0].id, sizeof(hw_branch), river->branch_count);
}

static hw_status take_gauge(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"id", hw__yaml_take_id, offsetof(hw_gauge, id), true},
      {"branch", hw__river_take_branch_later, 0, false},
      {"location_m", hw__yaml_take_number, offsetof(hw_gauge, location_m), true},
  };
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

hw_status hw__river_take_gauges(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  const hw_status status = hw__river_take_items(yaml, node, what, "the gauge", sizeof(hw_gauge), take_gauge,
                                                (void **)&river->gauges, &river->gauge_count);
  if (status != HW_OK) {
    return status;
  }
  return hw__river_check_unique(yaml, node, "gauge", river->gauges[0].id, sizeof(hw_gauge), river->gauge_count);
}

hw_status hw__river_name_branch(hw__yaml *yaml, const yaml_node_t *node, const hw_river *river, size_t *branch) {
  char found[80], expected[200] = "";
  if (river->branch_count == 0) {
    return hw__yaml_fail(yaml, node, "branch %s, but the river has no branches; expected the key left out",
                         hw__yaml_found(node, found));
  }
  *branch = hw_river_branch(river, (const char *)node->data.scalar.value);
  if (*branch != HW_OUTLET) {
    return HW_OK;
  }
  size_t length = 0;
  for (size_t i = 0; i < river->branch_count && length < sizeof expected; i++) {
    length +=
        (size_t)snprintf(expected + length, sizeof expected - length, "%s%s", i ? ", " : "", river->branches[i].id);
  }
  return hw__yaml_fail(yaml, node, "unknown branch %s, expected one of %s%s", hw__yaml_found(node, found), expected,
                       length < sizeof expected ? "" : "...");
}

static const yaml_node_t *item_at(const hw__yaml *yaml, const yaml_node_t *list, size_t i) {
  return hw__yaml_node(yaml, list->data.sequence.items.start[i]);
}

/* Everything with a place in one list: its branch by name, and the place on that branch. */
typedef struct {
  const char *key, *what;
  char *first; /* an item begins with its id */
  size_t count, size, branch_offset, location_offset;
} place_list;

static hw_status settle_places(hw__yaml *yaml, const yaml_node_t *root, const hw_river *river, const place_list *list) {
  const yaml_node_t *node = hw__yaml_value(yaml, root, list->key);
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < list->count; i++) {
    char *item = list->first + i * list->size;
    size_t *branch = (size_t *)(void *)(item + list->branch_offset);
    const double location_m = *(double *)(void *)(item + list->location_offset);
    const yaml_node_t *at = item_at(yaml, node, i);
    const yaml_node_t *name = hw__yaml_value(yaml, at, "branch");
    hw_error sentence;
    *branch = hw_river_outlet(river);
    if (name) {
      status = hw__river_name_branch(yaml, name, river, branch);
    }
    if (status == HW_OK && hw__place_check(river, *branch, location_m, list->what, item, &sentence) != HW_OK) {
      status = hw__yaml_fail(yaml, hw__yaml_value(yaml, at, "location_m"), "%s", sentence.text);
    }
  }
  return status;
}

static hw_status settle_all_places(hw__yaml *yaml, const yaml_node_t *root, hw_river *river) {
  const place_list lists[] = {
      {"sensors", "sensor", (char *)river->sensors, river->sensor_count, sizeof(hw_sensor), offsetof(hw_sensor, branch),
       offsetof(hw_sensor, location_m)},
      {"candidates", "candidate", (char *)river->candidates, river->candidate_count, sizeof(hw_candidate),
       offsetof(hw_candidate, branch), offsetof(hw_candidate, location_m)},
      {"intakes", "intake", (char *)river->intakes, river->intake_count, sizeof(hw_intake), offsetof(hw_intake, branch),
       offsetof(hw_intake, location_m)},
      {"gauges", "gauge", (char *)river->gauges, river->gauge_count, sizeof(hw_gauge), offsetof(hw_gauge, branch),
       offsetof(hw_gauge, location_m)},
  };
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < sizeof lists / sizeof lists[0]; i++) {
    status = settle_places(yaml, root, river, &lists[i]);
  }
  return status;
}

/* Resolves which branch joins which; after that each branch can be checked against the others. */
static hw_status settle_joins(hw__yaml *yaml, const yaml_node_t *list, hw_river *river) {
  /* A lone branch is a river without branches: what its reaches leave out comes from the hydraulics. */
  const bool inherits = river->hydraulics.area_m2 > 0 || river->hydraulics.discharge_m3_s > 0;
  const bool continues = river->branch_count > 1 || !inherits;
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < river->branch_count; i++) {
    const yaml_node_t *joins = hw__yaml_value(yaml, item_at(yaml, list, i), "joins");
    if (joins) {
      status = hw__river_name_branch(yaml, hw__yaml_value(yaml, joins, "branch"), river, &river->branches[i].joins);
    }
  }
  for (size_t i = 0; status == HW_OK && i < river->branch_count; i++) {
    hw_branch *b = &river->branches[i];
    const yaml_node_t *item = item_at(yaml, list, i);
    if (b->reach_count) {
      status = hw__river_inherit(yaml, hw__yaml_value(yaml, item, "reaches"), &river->hydraulics, b->reaches,
                                 b->reach_count, continues);
    }
    hw_error sentence;
    if (status == HW_OK && hw__branch_check(river, i, &sentence) != HW_OK) {
      const yaml_node_t *joins = hw__yaml_value(yaml, item, "joins");
      status = hw__yaml_fail(yaml, joins ? joins : item, "%s", sentence.text);
    }
  }
  return status;
}

typedef struct {
  const hw__yaml *yaml;
  const yaml_node_t *list;
} branch_lines;

static void warn_branch(void *context, size_t branch, const char *sentence) {
  const branch_lines *lines = context;
  hw__yaml_warn(lines->yaml, item_at(lines->yaml, lines->list, branch), "%s", sentence);
}

/* Discharges that the file leaves out. `*known`: every one is known; a river of which nothing is said stays as it is.
 */
static hw_status settle_discharges(hw__yaml *yaml, const yaml_node_t *list, hw_river *river, bool *known) {
  branch_lines lines = {yaml, list};
  size_t lacking = HW_OUTLET;
  bool reaches = false;
  const hw_status status = hw__river_continue(river, warn_branch, &lines, &lacking);
  for (size_t i = 0; i < river->branch_count; i++) {
    reaches = reaches || river->branches[i].reach_count > 0;
  }
  *known = lacking == HW_OUTLET;
  if (status == HW_OK && !*known && reaches) {
    return hw__yaml_fail(yaml, item_at(yaml, list, lacking),
                         "no discharge for branch %s: none in its reaches or in hydraulics, and none follows from the "
                         "other branches; expected discharge_m3_s or area_m2",
                         river->branches[lacking].id);
  }
  return status;
}

/* What holds for a network as a whole. */
static hw_status settle_network(hw__yaml *yaml, const yaml_node_t *root, hw_river *river, bool *known) {
  const yaml_node_t *list = hw__yaml_value(yaml, root, "branches");
  const yaml_node_t *reaches = hw__yaml_value(yaml, root, "reaches");
  const yaml_node_t *hydraulics = hw__yaml_value(yaml, root, "hydraulics");
  if (reaches) {
    return hw__yaml_fail(yaml, reaches, "reaches beside branches, expected them in the branches");
  }
  hw_status status = settle_joins(yaml, list, river);
  if (status == HW_OK && river->branch_count > 1 && river->hydraulics.dispersion_m2_s.certainty == HW_UNKNOWN) {
    const yaml_node_t *given = hydraulics ? hw__yaml_value(yaml, hydraulics, "dispersion_m2_s") : NULL;
    return hw__yaml_fail(yaml,
                         given        ? given
                         : hydraulics ? hydraulics
                                      : list,
                         "dispersion_m2_s is unknown, and the model for that knows one river without branches; "
                         "expected a number or {median: M, factor: F}");
  }
  if (status == HW_OK) {
    status = settle_discharges(yaml, list, river, known);
  }
  return status;
}

hw_status hw__river_settle_branches(hw__yaml *yaml, const yaml_node_t *root, hw_river *river) {
  const yaml_node_t *hydraulics = hw__yaml_value(yaml, root, "hydraulics");
  bool known = river->hydraulics.area_m2 > 0 || river->hydraulics.discharge_m3_s > 0;
  const hw_status status = river->branch_count ? settle_network(yaml, root, river, &known) : HW_OK;
  if (status != HW_OK) {
    return status;
  }
  if (!known) {
    hw__yaml_warn(yaml, hydraulics,
                  "neither area_m2 nor discharge_m3_s in hydraulics: the mass cannot be worked out from them");
  }
  return settle_all_places(yaml, root, river);
}

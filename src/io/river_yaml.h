#ifndef HW_IO_RIVER_YAML_H
#define HW_IO_RIVER_YAML_H

#include "io/yaml_walk.h"

/* Fills an initialised river from the open document and checks it; what it allocated stays in the river
 * also on failure. */
hw_status hw__river_read(hw__yaml *yaml, hw_river *river);

/* Its parts. target is the river. */
hw_status hw__river_take_search(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* target is a candidate. */
hw_status hw__river_take_active(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* target is the prior probability of "none of these". */
hw_status hw__river_take_trust(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__river_take_none(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* Once all is read: windows and search box must count time alike. */
hw_status hw__river_check_active(hw__yaml *yaml, const yaml_node_t *root, const hw_river *river);
/* [lo, hi] as numbers or, where is_calendar is not NULL, as instants. Messages begin "OF WHAT is". */
hw_status hw__river_take_pair(hw__yaml *yaml, const yaml_node_t *node, const char *of, const char *what, double out[2],
                              bool *is_calendar);
hw_status hw__river_take_branches(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__river_take_gauges(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__river_take_reach(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* A file name, counted from the river file's own folder; target is a char *. */
hw_status hw__river_take_path(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* A branch's id, whose meaning waits until all branches are known. */
hw_status hw__river_take_branch_later(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);

/* A list of one kind of item into a fresh array. */
hw_status hw__river_take_items(hw__yaml *yaml, const yaml_node_t *node, const char *list, const char *item, size_t size,
                               hw__yaml_take take, void **array, size_t *array_count);
/* Ids are at the front of their structs. */
hw_status hw__river_check_unique(hw__yaml *yaml, const yaml_node_t *node, const char *item, const char *ids,
                                 size_t size, size_t count);
/* A reach inherits what it does not give from the river, and must be complete then; area and discharge may be
 * missing where they follow from continuity later. */
hw_status hw__river_inherit(hw__yaml *yaml, const yaml_node_t *list, const hw_hydraulics *h, hw_reach *reaches,
                            size_t count, bool discharge_follows);

/* The branch that a node names. Status: HW_EINPUT with a sentence when there is none of that name */
hw_status hw__river_name_branch(hw__yaml *yaml, const yaml_node_t *node, const hw_river *river, size_t *branch);
/* Once every key was read: resolves which branch joins which and what lies on which branch, computes discharges by
 * continuity, and settles the search box. */
hw_status hw__river_settle_branches(hw__yaml *yaml, const yaml_node_t *root, hw_river *river);
hw_status hw__river_take_locations(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__river_settle_search(hw__yaml *yaml, const yaml_node_t *search, hw_river *river);
hw_status hw__river_take_substance(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* Once discharges are known: the substance enters the river's numbers, and its guideline stands in for alarm levels. */
hw_status hw__river_settle_substance(hw__yaml *yaml, const yaml_node_t *root, hw_river *river);
void hw__river_remark(const hw__yaml *yaml, const yaml_node_t *root, const hw_river *river);

#endif

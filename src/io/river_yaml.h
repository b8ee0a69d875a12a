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
hw_status hw__river_take_none(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
/* Once all is read: windows and search box must count time alike. */
hw_status hw__river_check_active(hw__yaml *yaml, const yaml_node_t *root, const hw_river *river);
/* [lo, hi] as numbers or, where is_calendar is not NULL, as instants. Complaints begin "OF WHAT is". */
hw_status hw__river_take_pair(hw__yaml *yaml, const yaml_node_t *node, const char *of, const char *what, double out[2],
                              bool *is_calendar);
void hw__river_remark(const hw__yaml *yaml, const yaml_node_t *root, const hw_river *river);

#endif

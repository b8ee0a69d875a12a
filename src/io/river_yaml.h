#ifndef HW_IO_RIVER_YAML_H
#define HW_IO_RIVER_YAML_H

#include "io/yaml_walk.h"

/* Fills an initialised river from the open document and checks it; what it allocated stays in the river
 * also on failure. */
hw_status hw__river_read(hw__yaml *yaml, hw_river *river);

/* Its parts. target is the river. */
hw_status hw__river_take_search(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
void hw__river_remark(const hw__yaml *yaml, const yaml_node_t *root, const hw_river *river);

#define FIELDS(table) table, sizeof table / sizeof table[0]

#endif

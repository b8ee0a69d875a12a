#ifndef HW_IO_RIVER_YAML_H
#define HW_IO_RIVER_YAML_H

#include "io/yaml_walk.h"

/* Fills an initialised river from the open document and checks it; what it allocated stays in the river
 * also on failure. */
hw_status hw__river_read(hw__yaml *yaml, hw_river *river);

#endif

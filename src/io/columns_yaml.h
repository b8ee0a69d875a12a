#ifndef HW_IO_COLUMNS_YAML_H
#define HW_IO_COLUMNS_YAML_H

#include "io/columns_words.h"
#include "io/yaml_walk.h"

/* A taker for the river's table: `import:` into an hw_columns *. */
hw_status hw__columns_take(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);

#endif

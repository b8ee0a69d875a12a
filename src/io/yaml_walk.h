/* Walking a YAML document by a table of expected keys. Every complaint names file and line.
 *
 * Aliases are references to one node of the document, never copies, and the walk is as deep as the
 * tables below it: a "billion laughs" file costs nothing. */
#ifndef HW_IO_YAML_WALK_H
#define HW_IO_YAML_WALK_H

#include <stdint.h>
#include <yaml.h>

#include "headwater/io.h"
#include "io/number.h"

typedef struct {
  const char *name;   /* of the file */
  const char *wanted; /* "a river" */
  yaml_document_t document;
  hw_warn warn;
  void *warn_context;
  hw_error *error;
} hw__yaml;

/* Reads one node into *target. */
typedef hw_status (*hw__yaml_take)(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);

typedef struct {
  const char *key;
  hw__yaml_take take;
  size_t offset; /* of the target inside the struct the mapping fills */
  bool required;
} hw__yaml_field;

#define FIELDS(table) table, sizeof table / sizeof table[0]

/* Text to document. Status: HW_EINPUT for what is no YAML, several documents, or nothing at all. */
hw_status hw__yaml_open(hw__yaml *yaml, const char *text, size_t size);
void hw__yaml_close(hw__yaml *yaml);

/* One complaint about a node, and one remark; both put FILE:LINE in front. */
hw_status hw__yaml_fail(const hw__yaml *yaml, const yaml_node_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void hw__yaml_warn(const hw__yaml *yaml, const yaml_node_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const yaml_node_t *hw__yaml_node(const hw__yaml *yaml, int index);
/* "a list", "text 'abc'": what a complaint says was found. */
const char *hw__yaml_found(const yaml_node_t *node, char out[80]);
/* The value under a key, or NULL. */
const yaml_node_t *hw__yaml_value(const hw__yaml *yaml, const yaml_node_t *mapping, const char *key);

/* Fills the struct at base from a mapping. Unknown, repeated and missing keys are complaints. */
hw_status hw__yaml_mapping(hw__yaml *yaml, const yaml_node_t *node, const char *what, const hw__yaml_field *fields,
                           size_t field_count, void *base);
hw_status hw__yaml_expect_list(hw__yaml *yaml, const yaml_node_t *node, const char *what, size_t *count);

/* Plain scalar as a number that is 0 or of a size in nature; false for quoted text and everything else. */
bool hw__yaml_number(const yaml_node_t *node, double *out);

/* Takers for the tables. */
hw_status hw__yaml_take_number(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__yaml_take_positive(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__yaml_take_not_negative(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__yaml_take_factor(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__yaml_take_id(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);
hw_status hw__yaml_take_name(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target);

#endif

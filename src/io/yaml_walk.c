#include "io/yaml_walk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

enum { MOST_FIELDS = 32, MOST_DEPTH = 32, MOST_ANCHORS = 1000 };

/* Numbers beyond nature end as no numbers: squares and quotients of theirs overflow. hw__yaml_found says these bounds
 * too. */
static const double least_size = 1e-30, most_size = 1e15;

/* The parser's complaint in our words; its byte offset becomes a line where it has no mark. */
static hw_status parser_fault(const hw__yaml *yaml, const yaml_parser_t *parser, const char *text, size_t size) {
  if (parser->error == YAML_MEMORY_ERROR) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  size_t line = parser->problem_mark.line + 1;
  if (parser->error == YAML_READER_ERROR) {
    line = 1;
    for (size_t i = 0; i < parser->problem_offset && i < size; i++) {
      line += text[i] == '\n';
    }
    return hw__fail(yaml->error, HW_EINPUT, "%s:%zu: bytes that are no text (%s), expected %s in YAML", yaml->name,
                    line, parser->problem ? parser->problem : "unreadable", yaml->wanted);
  }
  return hw__fail(yaml->error, HW_EINPUT, "%s:%zu: %s%s%s, expected %s in YAML", yaml->name, line,
                  parser->context ? parser->context : "", parser->context ? ": " : "",
                  parser->problem ? parser->problem : "unreadable", yaml->wanted);
}

static bool has_anchor(const yaml_event_t *event) {
  return (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor) ||
         (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor) ||
         (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor);
}

/* The parser's time grows with the square of the depth, 200 kB of `[` took 97 s, and with that of the number of
 * anchors. So the text is scanned first, up to the first node that is nested too deep, or has an anchor too many. Other
 * faults are left to the parser itself. */
static hw_status check_effort(const hw__yaml *yaml, const char *text, size_t size) {
  yaml_parser_t parser;
  yaml_event_t event;
  if (!yaml_parser_initialize(&parser)) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
  hw_status status = HW_OK;
  int depth = 0, anchors = 0;
  bool goes_on = true;
  while (goes_on && status == HW_OK && yaml_parser_parse(&parser, &event)) {
    depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
    depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
    if (depth > MOST_DEPTH) {
      status = hw__fail(yaml->error, HW_EINPUT, "%s:%zu: lists within lists within lists, expected %s in YAML",
                        yaml->name, event.start_mark.line + 1, yaml->wanted);
    }
    anchors += has_anchor(&event);
    if (anchors > MOST_ANCHORS) {
      status = hw__fail(yaml->error, HW_EINPUT, "%s:%zu: more than %d anchors, expected fewer", yaml->name,
                        event.start_mark.line + 1, MOST_ANCHORS);
    }
    goes_on = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return status;
}

hw_status hw__yaml_open(hw__yaml *yaml, const char *text, size_t size) {
  const hw_status bearable = check_effort(yaml, text, size);
  if (bearable != HW_OK) {
    return bearable;
  }
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
  hw_status status = HW_OK;
  yaml_document_t second;
  bool has_first = false;
  if (!yaml_parser_load(&parser, &yaml->document)) {
    status = parser_fault(yaml, &parser, text, size);
  } else {
    has_first = true;
    if (!yaml_document_get_root_node(&yaml->document)) {
      status = hw__fail(yaml->error, HW_EINPUT, "%s:1: an empty file, expected %s in YAML", yaml->name, yaml->wanted);
    } else if (!yaml_parser_load(&parser, &second)) {
      status = parser_fault(yaml, &parser, text, size);
    } else {
      const yaml_node_t *root = yaml_document_get_root_node(&second);
      if (root) {
        status = hw__yaml_fail(yaml, root, "a second YAML document, expected one in one file");
      }
      yaml_document_delete(&second);
    }
  }
  yaml_parser_delete(&parser);
  if (status != HW_OK && has_first) {
    yaml_document_delete(&yaml->document);
  }
  return status;
}

void hw__yaml_close(hw__yaml *yaml) {
  yaml_document_delete(&yaml->document);
}

static size_t line_of(const yaml_node_t *node) {
  return node ? node->start_mark.line + 1 : 1;
}

hw_status hw__yaml_fail(const hw__yaml *yaml, const yaml_node_t *node, const char *format, ...) {
  char sentence[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  return hw__fail(yaml->error, HW_EINPUT, "%s:%zu: %s", yaml->name, line_of(node), sentence);
}

void hw__yaml_warn(const hw__yaml *yaml, const yaml_node_t *node, const char *format, ...) {
  if (!yaml->warn) {
    return;
  }
  char sentence[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  char whole[512];
  snprintf(whole, sizeof whole, "%s:%zu: %s", yaml->name, line_of(node), sentence);
  yaml->warn(yaml->warn_context, whole);
}

const yaml_node_t *hw__yaml_node(const hw__yaml *yaml, int index) {
  /* libyaml's accessor takes no const document but changes nothing. */
  union {
    const yaml_document_t *in;
    yaml_document_t *out;
  } document = {.in = &yaml->document};
  return yaml_document_get_node(document.out, index);
}

static hw__slice scalar_text(const yaml_node_t *node) {
  return (hw__slice){(const char *)node->data.scalar.value, node->data.scalar.length};
}

static bool plain_number(const yaml_node_t *node, double *out) {
  return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
         hw__number_parse(scalar_text(node), out);
}

static bool is_natural(double x) {
  return x == 0 || (fabs(x) >= least_size && fabs(x) <= most_size);
}

const char *hw__yaml_found(const yaml_node_t *node, char out[80]) {
  char shown[HW__EXCERPT_SIZE];
  if (node->type == YAML_SEQUENCE_NODE) {
    snprintf(out, 80, "a list");
  } else if (node->type == YAML_MAPPING_NODE) {
    snprintf(out, 80, "a mapping");
  } else if (node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0) {
    snprintf(out, 80, "nothing");
  } else {
    double value;
    hw__excerpt(scalar_text(node), shown);
    if (plain_number(node, &value) && !is_natural(value)) {
      snprintf(out, 80, "'%.30s', not of a size from 1e-30 to 1e15", shown);
    } else {
      snprintf(out, 80, "'%s'", shown);
    }
  }
  return out;
}

const yaml_node_t *hw__yaml_value(const hw__yaml *yaml, const yaml_node_t *mapping, const char *key) {
  if (!mapping || mapping->type != YAML_MAPPING_NODE) {
    return NULL;
  }
  for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
       pair++) {
    const yaml_node_t *name = hw__yaml_node(yaml, pair->key);
    if (name->type == YAML_SCALAR_NODE && hw__slice_is(scalar_text(name), key)) {
      return hw__yaml_node(yaml, pair->value);
    }
  }
  return NULL;
}

static hw_status unknown_key(const hw__yaml *yaml, const yaml_node_t *key, const char *what,
                             const hw__yaml_field *fields, size_t count) {
  char expected[320] = "", found[80];
  size_t length = 0;
  for (size_t i = 0; i < count && length < sizeof expected; i++) {
    length += (size_t)snprintf(expected + length, sizeof expected - length, "%s%s", i ? ", " : "", fields[i].key);
  }
  return hw__yaml_fail(yaml, key, "unknown key %s in %s, expected one of %s", hw__yaml_found(key, found), what,
                       expected);
}

hw_status hw__yaml_mapping(hw__yaml *yaml, const yaml_node_t *node, const char *what, const hw__yaml_field *fields,
                           size_t field_count, void *base) {
  char found[80];
  bool given[MOST_FIELDS] = {false};
  if (node->type != YAML_MAPPING_NODE) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected keys and values", what, hw__yaml_found(node, found));
  }
  for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
    const yaml_node_t *key = hw__yaml_node(yaml, pair->key);
    size_t i = 0;
    while (i < field_count && !(key->type == YAML_SCALAR_NODE && hw__slice_is(scalar_text(key), fields[i].key))) {
      i++;
    }
    if (i == field_count) {
      return unknown_key(yaml, key, what, fields, field_count);
    }
    if (given[i]) {
      return hw__yaml_fail(yaml, key, "key %s a second time in %s, expected it once", fields[i].key, what);
    }
    given[i] = true;
    const hw_status status =
        fields[i].take(yaml, hw__yaml_node(yaml, pair->value), fields[i].key, (char *)base + fields[i].offset);
    if (status != HW_OK) {
      return status;
    }
  }
  for (size_t i = 0; i < field_count; i++) {
    if (fields[i].required && !given[i]) {
      return hw__yaml_fail(yaml, node, "no %s in %s, expected one", fields[i].key, what);
    }
  }
  return HW_OK;
}

hw_status hw__yaml_expect_list(hw__yaml *yaml, const yaml_node_t *node, const char *what, size_t *count) {
  char found[80];
  if (node->type != YAML_SEQUENCE_NODE) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected a list", what, hw__yaml_found(node, found));
  }
  *count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
  return HW_OK;
}

bool hw__yaml_number(const yaml_node_t *node, double *out) {
  return plain_number(node, out) && is_natural(*out);
}

/* A finite number, with the wording of what was wanted. */
static hw_status take_bounded(hw__yaml *yaml, const yaml_node_t *node, const char *what, bool (*fits)(double),
                              const char *wanted, void *target) {
  char found[80];
  double value;
  if (!hw__yaml_number(node, &value) || !fits(value)) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected %s", what, hw__yaml_found(node, found), wanted);
  }
  *(double *)target = value;
  return HW_OK;
}

static bool is_any(double x) {
  return x == x;
}

static bool is_positive(double x) {
  return x > 0;
}

static bool is_not_negative(double x) {
  return x >= 0;
}

static bool is_factor(double x) {
  return x >= 1;
}

hw_status hw__yaml_take_number(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  return take_bounded(yaml, node, what, is_any, "a number", target);
}

hw_status hw__yaml_take_positive(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  return take_bounded(yaml, node, what, is_positive, "a positive number", target);
}

hw_status hw__yaml_take_not_negative(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  return take_bounded(yaml, node, what, is_not_negative, "a number of 0 or more", target);
}

hw_status hw__yaml_take_factor(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  return take_bounded(yaml, node, what, is_factor, "a number of 1 or more", target);
}

static hw_status take_text(hw__yaml *yaml, const yaml_node_t *node, const char *what, size_t size, char *out) {
  char found[80];
  if (node->type != YAML_SCALAR_NODE || node->data.scalar.length == 0) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected text", what, hw__yaml_found(node, found));
  }
  const hw__slice text = scalar_text(node);
  if (text.size >= size) {
    return hw__yaml_fail(yaml, node, "%s is %zu bytes long, expected at most %zu", what, text.size, size - 1);
  }
  for (size_t i = 0; i < text.size; i++) {
    if ((unsigned char)text.text[i] < 0x20 || text.text[i] == 0x7f) {
      return hw__yaml_fail(yaml, node, "%s has a control character, expected printable text", what);
    }
  }
  memcpy(out, text.text, text.size);
  out[text.size] = '\0';
  return HW_OK;
}

hw_status hw__yaml_take_id(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  return take_text(yaml, node, what, HW_ID_SIZE, target);
}

hw_status hw__yaml_take_name(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  return take_text(yaml, node, what, HW_NAME_SIZE, target);
}

/* The mapping out of YAML: the table below is the format. Meaning: docs/import.md. */
#include "io/columns_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

enum { LONGEST_LIST = 1000, LARGEST_FILE = 1 << 20, MOST_PAIRS = 32 };

/* One of the words, or a complaint that lists them. */
static hw_status take_word(hw__yaml *yaml, const yaml_node_t *node, const char *what, const hw__word *words, int *out) {
  char found[80], expected[120] = "";
  size_t length = 0;
  for (const hw__word *w = words; w->word; w++) {
    if (node->type == YAML_SCALAR_NODE && strcmp((const char *)node->data.scalar.value, w->word) == 0) {
      *out = w->value;
      return HW_OK;
    }
    length += (size_t)snprintf(expected + length, sizeof expected - length, "%s'%s'", length ? ", " : "", w->word);
  }
  return hw__yaml_fail(yaml, node, "%s is %s, expected one of %s", what, hw__yaml_found(node, found), expected);
}

static hw_status take_encoding(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  int value = 0;
  const hw_status status = take_word(yaml, node, what, hw__encoding_words, &value);
  *(hw_encoding *)target = status == HW_OK ? (hw_encoding)value : HW_ENCODING_OPEN;
  return status;
}

static hw_status take_character(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  int value = 0;
  const hw_status status =
      take_word(yaml, node, what, strcmp(what, "decimal") == 0 ? hw__decimal_words : hw__separator_words, &value);
  *(char *)target = status == HW_OK ? (char)value : 0;
  return status;
}

static hw_status take_time_form(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  int value = 0;
  const hw_status status = take_word(yaml, node, what, hw__time_words, &value);
  *(hw_time_form *)target = status == HW_OK ? (hw_time_form)value : HW_TIME_OPEN;
  return status;
}

static hw_status take_twice(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  int value = 0;
  const hw_status status = take_word(yaml, node, what, hw__twice_words, &value);
  *(hw_twice *)target = status == HW_OK ? (hw_twice)value : HW_TWICE_REFUSED;
  return status;
}

static hw_status take_line(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  double value;
  char found[80];
  if (!hw__yaml_number(node, &value) || !(value >= 0 && value <= 1000) || value != (double)(size_t)value) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected a number of lines", what, hw__yaml_found(node, found));
  }
  *(size_t *)target = (size_t)value;
  return HW_OK;
}

static hw_status take_unit(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  char name[HW_NAME_SIZE] = "";
  const hw_status status = hw__yaml_take_name(yaml, node, what, name);
  if (status == HW_OK && hw__unit_per_g_m3(name) == 0) {
    return hw__yaml_fail(yaml, node, "unit is '%.40s', expected one of g/m3, mg/l, ppm, ug/l, mg/m3, ppb, ng/l", name);
  }
  if (status == HW_OK) {
    snprintf(target, HW_WORD_SIZE, "%.*s", HW_WORD_SIZE - 1, name);
  }
  return status;
}

/* A column's name, or two of them: the date's and the clock's. */
static hw_status take_time(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  char(*names)[HW_COLUMN_SIZE] = target;
  if (node->type != YAML_SEQUENCE_NODE) {
    return hw__yaml_take_name(yaml, node, what, names[0]);
  }
  size_t count;
  hw_status status = hw__yaml_expect_list(yaml, node, what, &count);
  if (status == HW_OK && (count < 1 || count > 2)) {
    return hw__yaml_fail(yaml, node, "%s names %zu columns, expected one, or a date's and a clock's", what, count);
  }
  for (size_t i = 0; status == HW_OK && i < count; i++) {
    status = hw__yaml_take_name(yaml, hw__yaml_node(yaml, node->data.sequence.items.start[i]), what, names[i]);
  }
  return status;
}

/* A list of short texts; a number counts as its text. Empty text is allowed, for a flag that is blank. */
static hw_status take_texts(hw__yaml *yaml, const yaml_node_t *node, const char *what, char (**out)[HW_WORD_SIZE],
                            size_t *out_count) {
  size_t count;
  const hw_status status = hw__yaml_expect_list(yaml, node, what, &count);
  if (status != HW_OK) {
    return status;
  }
  if (count > LONGEST_LIST) {
    return hw__yaml_fail(yaml, node, "%s is a list of %zu, expected at most %d", what, count, LONGEST_LIST);
  }
  char(*list)[HW_WORD_SIZE] = calloc(count + 1, sizeof *list);
  if (!list) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  *out = list;
  *out_count = count;
  for (size_t i = 0; i < count; i++) {
    const yaml_node_t *item = hw__yaml_node(yaml, node->data.sequence.items.start[i]);
    char found[80];
    if (item->type != YAML_SCALAR_NODE || item->data.scalar.length >= HW_WORD_SIZE) {
      return hw__yaml_fail(yaml, item, "%s holds %s, expected texts of at most %d bytes", what,
                           hw__yaml_found(item, found), HW_WORD_SIZE - 1);
    }
    for (size_t k = 0; k < item->data.scalar.length; k++) {
      if (item->data.scalar.value[k] < 0x20) {
        return hw__yaml_fail(yaml, item, "%s has a control character, expected printable text", what);
      }
    }
    memcpy(list[i], item->data.scalar.value, item->data.scalar.length);
  }
  return HW_OK;
}

static hw_status take_missing(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_columns *columns = target;
  return take_texts(yaml, node, what, &columns->missing, &columns->missing_count);
}

static hw_status take_good(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_columns *columns = target;
  return take_texts(yaml, node, what, &columns->good, &columns->good_count);
}

/* {id: name, ...} */
static hw_status take_sensor_names(hw__yaml *yaml, const yaml_node_t *node, const char *what, hw_column_sensor **out,
                                   size_t *out_count) {
  char found[80];
  if (node->type != YAML_MAPPING_NODE) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected {sensor: name, ...}", what, hw__yaml_found(node, found));
  }
  const yaml_node_pair_t *pair = node->data.mapping.pairs.start, *top = node->data.mapping.pairs.top;
  const size_t count = (size_t)(top - pair);
  if (count < 1 || count > LONGEST_LIST) {
    return hw__yaml_fail(yaml, node, "%s names %zu sensors, expected 1 to %d", what, count, LONGEST_LIST);
  }
  hw_column_sensor *list = calloc(count, sizeof *list);
  if (!list) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  *out = list;
  *out_count = count;
  for (size_t i = 0; i < count; i++, pair++) {
    hw_status status = hw__yaml_take_id(yaml, hw__yaml_node(yaml, pair->key), what, list[i].id);
    if (status == HW_OK) {
      status = hw__yaml_take_name(yaml, hw__yaml_node(yaml, pair->value), what, list[i].name);
    }
    if (status != HW_OK) {
      return status;
    }
  }
  return HW_OK;
}

static hw_status take_sensors(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_columns *columns = target;
  return take_sensor_names(yaml, node, what, &columns->sensors, &columns->sensor_count);
}

static hw_status take_names(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_columns *columns = target;
  return take_sensor_names(yaml, node, what, &columns->names, &columns->name_count);
}

static const hw__yaml_field fields[] = {
    {"encoding", take_encoding, offsetof(hw_columns, encoding), false},
    {"separator", take_character, offsetof(hw_columns, separator), false},
    {"decimal", take_character, offsetof(hw_columns, decimal), false},
    {"header", take_line, offsetof(hw_columns, header), false},
    {"skip", take_line, offsetof(hw_columns, skip), false},
    {"time", take_time, offsetof(hw_columns, time), false},
    {"time_as", take_time_form, offsetof(hw_columns, time_form), false},
    {"timezone", hw__yaml_take_name, offsetof(hw_columns, timezone), false},
    {"timezone_from", hw__yaml_take_name, offsetof(hw_columns, timezone_from), false},
    {"twice", take_twice, offsetof(hw_columns, twice), false},
    {"sensor", hw__yaml_take_name, offsetof(hw_columns, sensor), false},
    {"value", hw__yaml_take_name, offsetof(hw_columns, value), false},
    {"sensors", take_sensors, 0, false},
    {"unit", take_unit, offsetof(hw_columns, unit), false},
    {"names", take_names, 0, false},
    {"missing", take_missing, 0, false},
    {"quality", hw__yaml_take_name, offsetof(hw_columns, quality), false},
    {"good", take_good, 0, false},
};

/* Keys that contradict each other. */
static hw_status check(const hw__yaml *yaml, const yaml_node_t *node, const hw_columns *c) {
  if (c->sensor_count && (c->sensor[0] || c->value[0])) {
    return hw__yaml_fail(yaml, node, "both sensors and %s, expected sensor and value or one column a sensor",
                         c->sensor[0] ? "sensor" : "value");
  }
  if (c->quality[0] && !c->good_count) {
    return hw__yaml_fail(yaml, node, "quality without good, expected good: and a list of the flags to keep");
  }
  if (!c->quality[0] && c->good_count) {
    return hw__yaml_fail(yaml, node, "good without quality, expected quality: and the column with the flags");
  }
  if (c->skip && !c->header) {
    return hw__yaml_fail(yaml, node, "skip without header, expected header: and the number of the line with the names");
  }
  if (c->decimal == ',' && c->separator == ',') {
    return hw__yaml_fail(yaml, node, "a comma both as separator and in numbers, expected one of the two");
  }
  return HW_OK;
}

hw_status hw__columns_take(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_columns *columns = calloc(1, sizeof *columns);
  if (!columns) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  hw_status status = hw__yaml_mapping(yaml, node, what, FIELDS(fields), columns);
  if (status == HW_OK) {
    status = check(yaml, node, columns);
  }
  if (status != HW_OK) {
    hw_columns_free(columns);
    return status;
  }
  *(hw_columns **)target = columns;
  return HW_OK;
}

/* `time=Datum,unit=ug/l` as a flow mapping. Names that contain commas must be written as YAML. */
static bool lengthen(const char *text, size_t size, char **out, size_t *out_size) {
  char *flow = malloc(2 * size + 6 * MOST_PAIRS + 8);
  if (!flow) {
    return false;
  }
  size_t length = 0;
  bool key = true;
  flow[length++] = '{';
  flow[length++] = '"';
  for (size_t i = 0; i < size; i++) {
    const bool turn = key ? text[i] == '=' : text[i] == ',';
    if (turn) {
      const char *between = key ? "\": \"" : "\", \"";
      memcpy(flow + length, between, 4);
      length += 4;
      key = !key;
    } else {
      if (text[i] == '"' || text[i] == '\\') {
        flow[length++] = '\\';
      }
      flow[length++] = text[i];
    }
  }
  flow[length++] = '"';
  flow[length++] = '}';
  *out = flow;
  *out_size = length;
  return true;
}

static bool is_short(const char *text, size_t size) {
  const char *equals = memchr(text, '=', size);
  const char *colon = memchr(text, ':', size);
  size_t marks = 0;
  for (size_t i = 0; i < size; i++) {
    marks += text[i] == '=' || text[i] == ',';
  }
  return equals && !memchr(text, '\n', size) && text[0] != '{' && (!colon || equals < colon) && marks < MOST_PAIRS;
}

hw_status hw_columns_parse(const char *name, const char *text, size_t size, hw_columns **out, hw_error *error) {
  *out = NULL;
  hw__yaml yaml = {.name = name, .error = error, .wanted = "a mapping of columns"};
  char *flow = NULL;
  if (is_short(text, size)) {
    if (!lengthen(text, size, &flow, &size)) {
      return hw__fail(error, HW_ENOMEM, "%s: %s", name, hw_status_text(HW_ENOMEM));
    }
    text = flow;
  }
  hw_status status = hw__yaml_open(&yaml, text, size);
  if (status == HW_OK) {
    const yaml_node_t *root = yaml_document_get_root_node(&yaml.document);
    const yaml_node_t *inner = hw__yaml_value(&yaml, root, "import");
    hw_columns *columns = NULL;
    status = hw__columns_take(&yaml, inner ? inner : root, "import", &columns);
    hw__yaml_close(&yaml);
    *out = columns;
  }
  free(flow);
  return status;
}

hw_status hw_columns_load(const char *path, hw_columns **out, hw_error *error) {
  *out = NULL;
  FILE *file = fopen(path, "rb");
  char *text = file ? malloc(LARGEST_FILE) : NULL;
  hw_status status;
  if (!file) {
    return hw__fail_file(error, path, "a mapping of columns");
  }
  if (!text) {
    status = hw__fail(error, HW_ENOMEM, "%s: %s", path, hw_status_text(HW_ENOMEM));
  } else {
    const size_t size = fread(text, 1, LARGEST_FILE, file);
    status = ferror(file) ? hw__fail_file(error, path, "a mapping of columns")
                          : hw_columns_parse(path, text, size, out, error);
  }
  free(text);
  fclose(file);
  return status;
}

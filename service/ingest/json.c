/* Readings as JSON objects: in an array, or alone. The keys are the names of the CSV
 * columns. A body that is not JSON at all is one rejected row, the line where it broke.
 *
 * An array is taken apart here and its elements are parsed one by one: a tree of the whole would take eighty times the
 * memory of its text. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "ingest/ingest.h"

/* true or false, as such or as a text; null and nothing are false. Returned: is it one of these? */
static bool take_flag(const json_t *value, bool *out) {
  const char *text = json_string_value(value);
  *out = json_is_true(value) || (text && strcmp(text, "true") == 0);
  return *out || json_is_false(value) || json_is_null(value) || (text && strcmp(text, "false") == 0);
}

static hw_status take(hw__ingest *ingest, size_t line, const json_t *object, const char *sensor) {
  if (!json_is_object(object)) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "not an object, expected {\"sensor\": ...}");
  }
  hw__raw_row row = {.per_g_m3 = 1};
  row.river = json_string_value(json_object_get(object, "river"));
  const char *key;
  json_t *value;
  const json_t *discharge = NULL;
  void *at = json_object_iter((json_t *)object);
  for (; at; at = json_object_iter_next((json_t *)object, at)) {
    key = json_object_iter_key(at);
    value = json_object_iter_value(at);
    if (!row.has_time && hw_row_names_time(key, &row.calendar, &row.unit_s)) {
      row.time = json_string_value(value);
      row.time_value = json_number_value(value);
      row.has_time = json_is_string(value) || (json_is_number(value) && !row.calendar);
    } else if (!row.has_value && hw_row_names_value(key, &row.per_g_m3)) {
      row.value = json_string_value(value);
      row.value_number = json_number_value(value);
      row.has_value = !json_is_null(value);
      if (row.has_value && !json_is_string(value) && !json_is_number(value)) {
        return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "%.40s is not a number, <limit or >limit", key);
      }
    } else if (hw_row_names_discharge(key)) {
      discharge = value;
    } else if (strcmp(key, "below_limit") == 0 || strcmp(key, "above_limit") == 0) {
      if (!take_flag(value, *key == 'b' ? &row.below_limit : &row.above_limit)) {
        return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "%s is neither true nor false", key);
      }
    }
  }
  if (!row.has_value && discharge && !json_is_null(discharge)) {
    row.discharge = row.has_value = true;
    row.value = json_string_value(discharge);
    row.value_number = json_number_value(discharge);
    if (!row.value && !json_is_number(discharge)) {
      return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "discharge_m3_s is not a number");
    }
  }
  const char *gauge = row.discharge ? json_string_value(json_object_get(object, "gauge")) : NULL;
  row.sensor = sensor ? sensor : gauge ? gauge : json_string_value(json_object_get(object, "sensor"));
  return hw__ingest_row(ingest, line, &row);
}

enum { OBJECT_BYTES = 64 << 10 }; /* no reading is longer; this limits the memory that one takes */

static const size_t how = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;

static hw_status reject_large(hw__ingest *ingest, size_t line, size_t size) {
  return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "an object of %zu bytes, expected at most %d", size,
                           OBJECT_BYTES);
}

hw_status hw__ingest_object(hw__ingest *ingest, size_t line, const char *text, size_t size, const char *sensor) {
  json_error_t fault;
  json_t *object;
  if (size > OBJECT_BYTES) {
    return reject_large(ingest, line, size);
  }
  hw_status status = hw__json_load(text, size, how, &object, &fault);
  if (status == HW_EINPUT) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "not JSON: %.120s", fault.text);
  }
  if (status == HW_OK) {
    status = take(ingest, line, object, sensor);
  }
  json_decref(object);
  return status;
}

static const char *skip_space(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at) && *at) {
    at++;
  }
  return at;
}

/* The comma or bracket behind the element that begins here; NULL where the text ends before it. */
static const char *element_end(const char *at, const char *end) {
  size_t depth = 0;
  bool quoted = false;
  for (; at < end; at++) {
    if (quoted) {
      quoted = *at != '"';
      at += *at == '\\';
    } else if (*at == '"') {
      quoted = true;
    } else if (*at == '[' || *at == '{') {
      depth++;
    } else if (depth > 0) {
      depth -= *at == ']' || *at == '}';
    } else if (*at == ',' || *at == ']' || *at == '}') {
      return at;
    }
  }
  return NULL;
}

/* Where a body is not JSON, and why. */
typedef struct {
  const char *at;
  int line; /* from there on; 1 is the same line */
  char text[JSON_ERROR_TEXT_LENGTH];
} breach;

static hw_status break_off(breach *b, const char *at, int line, const char *text) {
  b->at = at;
  b->line = line;
  snprintf(b->text, sizeof b->text, "%s", text);
  return HW_EINPUT;
}

static hw_status take_element(hw__ingest *ingest, size_t number, const char *at, size_t size, breach *b) {
  json_error_t fault;
  json_t *element;
  if (size > OBJECT_BYTES) {
    return reject_large(ingest, number, size);
  }
  hw_status status = hw__json_load(at, size, how, &element, &fault);
  if (status == HW_EINPUT) {
    return break_off(b, at, fault.line, fault.text);
  }
  if (status == HW_OK) {
    status = take(ingest, number, element, NULL);
  }
  json_decref(element);
  return status;
}

/* From behind the opening bracket. */
static hw_status take_array(hw__ingest *ingest, const char *at, const char *end, breach *b) {
  at = skip_space(at, end);
  const char *stop = at;
  hw_status status = HW_OK;
  if (at == end || *at != ']') {
    for (size_t number = 1; status == HW_OK; number++) {
      stop = element_end(at, end);
      if (!stop) {
        return break_off(b, end, 1, "']' expected near end of file");
      }
      status = take_element(ingest, number, at, (size_t)(stop - at), b);
      if (*stop != ',') {
        break;
      }
      at = stop + 1;
    }
  }
  if (status == HW_OK && (*stop != ']' || skip_space(stop + 1, end) != end)) {
    return break_off(b, stop, 1, *stop == ']' ? "end of file expected" : "']' expected near '}'");
  }
  return status;
}

hw_status hw__ingest_json(hw__ingest *ingest, const char *body, size_t size) {
  const char *end = body + size, *at = skip_space(body, end);
  breach b = {0};
  const hw_status status =
      at < end && *at == '[' ? take_array(ingest, at + 1, end, &b) : take_element(ingest, 1, body, size, &b);
  if (status != HW_EINPUT) {
    return status;
  }
  size_t line = b.line > 0 ? (size_t)b.line : 1;
  for (at = body; at < b.at; at++) {
    line += *at == '\n';
  }
  hw__ingest_clear(ingest);
  return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "not JSON: %.120s", b.text);
}

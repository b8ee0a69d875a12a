/* Readings as JSON objects: one per line, in an array, or alone. The keys are the names of the CSV
 * columns. A body that is not JSON at all is one rejected row, the line where it broke. */
#include <jansson.h>
#include <string.h>

#include "ingest/ingest.h"

static hw_status take(hw__ingest *ingest, size_t line, const json_t *object, const char *sensor) {
  if (!json_is_object(object)) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "not an object, expected {\"sensor\": ...}");
  }
  hw__raw_row row = {.per_g_m3 = 1};
  row.river = json_string_value(json_object_get(object, "river"));
  const char *named = json_string_value(json_object_get(object, "sensor"));
  row.sensor = sensor ? sensor : named;
  const char *key;
  json_t *value;
  void *at = json_object_iter((json_t *)object);
  for (; at; at = json_object_iter_next((json_t *)object, at)) {
    key = json_object_iter_key(at);
    value = json_object_iter_value(at);
    if (hw__ingest_time_unit(key) && !row.has_time) {
      row.time_unit = hw__ingest_time_unit(key);
      row.time = json_string_value(value);
      row.time_value = json_number_value(value);
      row.has_time = json_is_string(value) || (json_is_number(value) && row.time_unit != 'i');
    } else if (hw__ingest_value_unit(key) > 0 && !row.has_value) {
      row.per_g_m3 = hw__ingest_value_unit(key);
      row.value = json_string_value(value);
      row.value_number = json_number_value(value);
      row.has_value = !json_is_null(value);
      if (row.has_value && !json_is_string(value) && !json_is_number(value)) {
        return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "%.40s is not a number or <limit", key);
      }
    } else if (strcmp(key, "below_limit") == 0) {
      row.below_limit = json_is_true(value);
    }
  }
  return hw__ingest_row(ingest, line, &row);
}

hw_status hw__ingest_object(hw__ingest *ingest, size_t line, const char *text, size_t size, const char *sensor) {
  json_error_t fault;
  json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
  if (!object) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "not JSON: %.120s", fault.text);
  }
  const hw_status status = take(ingest, line, object, sensor);
  json_decref(object);
  return status;
}

hw_status hw__ingest_ndjson(hw__ingest *ingest, const char *body, size_t size) {
  const char *at = body, *end = body + size;
  hw_status status = HW_OK;
  for (size_t line = 1; at < end && status == HW_OK; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    while (length && (at[length - 1] == '\r' || at[length - 1] == ' ')) {
      length--;
    }
    if (length) {
      status = hw__ingest_object(ingest, line, at, length, NULL);
    }
    at = stop ? stop + 1 : end;
  }
  return status;
}

hw_status hw__ingest_json(hw__ingest *ingest, const char *body, size_t size) {
  json_error_t fault;
  json_t *root = json_loadb(body, size, JSON_REJECT_DUPLICATES, &fault);
  if (!root) {
    return hw__ingest_reject(ingest, fault.line > 0 ? (size_t)fault.line : 1, HW_FATE_MALFORMED, "not JSON: %.120s",
                             fault.text);
  }
  hw_status status = HW_OK;
  if (json_is_array(root)) {
    for (size_t i = 0; i < json_array_size(root) && status == HW_OK; i++) {
      status = take(ingest, i + 1, json_array_get(root, i), NULL);
    }
  } else {
    status = take(ingest, 1, root, NULL);
  }
  json_decref(root);
  return status;
}

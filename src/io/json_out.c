#include "io/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"

static bool reserve(hw__text *text, size_t more) {
  if (text->failed) {
    return false;
  }
  if (text->size + more + 1 <= text->capacity) {
    return true;
  }
  const size_t capacity = 2 * (text->size + more + 1) + 512;
  char *larger = realloc(text->text, capacity);
  if (!larger) {
    text->failed = true;
    return false;
  }
  text->text = larger;
  text->capacity = capacity;
  return true;
}

void hw__text_add(hw__text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int needed = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (needed < 0) {
    text->failed = true;
  } else if (reserve(text, (size_t)needed)) {
    vsnprintf(text->text + text->size, text->capacity - text->size, format, arguments);
    text->size += (size_t)needed;
  }
  va_end(arguments);
}

hw_status hw__text_finish(hw__text *text, char **out) {
  if (!text->text) {
    reserve(text, 0);
  }
  if (text->failed || !text->text) {
    free(text->text);
    *text = (hw__text){0};
    return HW_ENOMEM;
  }
  text->text[text->size] = '\0';
  *out = text->text;
  *text = (hw__text){0};
  return HW_OK;
}

static void add_quoted(hw__text *text, const char *value) {
  hw__text_add(text, "\"");
  for (const char *p = value; *p; p++) {
    const unsigned char c = (unsigned char)*p;
    if (c == '"' || c == '\\') {
      hw__text_add(text, "\\%c", c);
    } else if (c < 0x20) {
      hw__text_add(text, "\\u%04x", c);
    } else if (reserve(text, 1)) {
      text->text[text->size++] = (char)c;
    }
  }
  hw__text_add(text, "\"");
}

static void break_line(hw__json *json) {
  if (json->indented && json->depth <= json->flat) {
    hw__text_add(&json->text, "\n%*s", 2 * json->depth, "");
  } else if (json->comma) {
    hw__text_add(&json->text, " ");
  }
}

/* Comma, line and key before a value. */
static void lead_in(hw__json *json, const char *key) {
  if (json->comma) {
    hw__text_add(&json->text, ",");
  }
  if (json->depth > 0) {
    break_line(json);
  }
  if (key) {
    add_quoted(&json->text, key);
    hw__text_add(&json->text, ": ");
  }
  json->comma = true;
}

void hw__json_open(hw__json *json, const char *key, char bracket) {
  lead_in(json, key);
  hw__text_add(&json->text, "%c", bracket);
  json->depth++;
  json->comma = false;
}

void hw__json_close(hw__json *json, char bracket) {
  json->depth--;
  if (json->comma && json->indented && json->depth < json->flat) {
    hw__text_add(&json->text, "\n%*s", 2 * json->depth, "");
  }
  hw__text_add(&json->text, "%c", bracket);
  json->comma = true;
}

void hw__json_text(hw__json *json, const char *key, const char *value) {
  lead_in(json, key);
  if (value) {
    add_quoted(&json->text, value);
  } else {
    hw__text_add(&json->text, "null");
  }
}

void hw__json_number(hw__json *json, const char *key, double value) {
  lead_in(json, key);
  char digits[32] = "null";
  if (isfinite(value)) {
    hw__number_format(value, digits, sizeof digits);
  }
  hw__text_add(&json->text, "%s", digits);
}

void hw__json_count(hw__json *json, const char *key, uint64_t value) {
  lead_in(json, key);
  hw__text_add(&json->text, "%" PRIu64, value);
}

void hw__json_bool(hw__json *json, const char *key, bool value) {
  lead_in(json, key);
  hw__text_add(&json->text, "%s", value ? "true" : "false");
}

void hw__json_null(hw__json *json, const char *key) {
  hw__json_text(json, key, NULL);
}

void hw__json_numbers(hw__json *json, const char *key, const double *values, size_t count) {
  hw__json_open(json, key, '[');
  for (size_t i = 0; i < count; i++) {
    hw__json_number(json, NULL, values[i]);
  }
  hw__json_close(json, ']');
}

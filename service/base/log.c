#include "base/log.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "headwater/io.h"

/* Takes the reference. */
static void write_line(hw__log_level level, const char *event, json_t *fields) {
  static const char *const names[] = {"error", "warning", "info"};
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char when[48];
  const long milliseconds = now.tv_nsec / 1000000;
  hw_time_format((double)now.tv_sec + (double)milliseconds * 1e-3, when, sizeof when);
  json_t *line = json_pack("{s:s, s:s, s:s}", "time", when, "level", names[level], "event", event);
  if (line && fields) {
    json_object_update(line, fields);
  }
  char *text = line ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
  if (text) {
    fprintf(stderr, "%s\n", text);
  }
  free(text);
  json_decref(line);
  json_decref(fields);
}

void hw__log(hw__log_level level, const char *event, const char *key, const char *value) {
  json_t *text = key ? json_string(value) : NULL;
  write_line(level, event, key ? json_pack("{s:o}", key, text ? text : json_string("(not UTF-8)")) : NULL);
}

void hw__log_fields(hw__log_level level, const char *event, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(level, event, json_vpack_ex(NULL, 0, format, arguments));
  va_end(arguments);
}

void hw__logf(hw__log_level level, const char *event, const char *key, const char *format, ...) {
  char value[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  hw__log(level, event, key, value);
}

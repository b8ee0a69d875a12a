#include "log.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "headwater/io.h"

static hw_log_level most = HW_LOG_INFO;

void hw__log_level(hw_log_level level) {
  most = level;
}

void hw__log(hw_log_level level, const char *event, const char *key, const char *value) {
  static const char *const names[] = {"error", "warning", "info", "debug"};
  if (level > most) {
    return;
  }
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char when[48];
  const long milliseconds = now.tv_nsec / 1000000;
  hw_time_format((double)now.tv_sec + (double)milliseconds * 1e-3, when, sizeof when);
  json_t *line = json_pack("{s:s, s:s, s:s}", "time", when, "level", names[level], "event", event);
  if (line && key) {
    json_t *text = json_string(value);
    json_object_set_new(line, key, text ? text : json_string("(not UTF-8)"));
  }
  char *text = line ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
  if (text) {
    fprintf(stderr, "%s\n", text);
  }
  free(text);
  json_decref(line);
}

void hw__logf(hw_log_level level, const char *event, const char *key, const char *format, ...) {
  char value[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  hw__log(level, event, key, value);
}

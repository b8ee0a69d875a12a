/* Influx line protocol, line by line, in place: a line is copied once into a buffer, cut into fields there, and handed
 * on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest.h"

enum { LINE_MAX_BYTES = 4096 };

/* The next line of a body, without its line ending, zero-terminated in `out`.
 * Returned: false at the end; *fault names what is wrong with the line, or is NULL. */
typedef struct {
  const char *at, *end;
  size_t number;
  char text[LINE_MAX_BYTES];
  const char *fault;
} line_reader;

static bool next_line(line_reader *reader) {
  if (reader->at >= reader->end) {
    return false;
  }
  const char *start = reader->at;
  const char *stop = memchr(start, '\n', (size_t)(reader->end - start));
  reader->at = stop ? stop + 1 : reader->end;
  size_t length = (size_t)((stop ? stop : reader->end) - start);
  if (length && start[length - 1] == '\r') {
    length--;
  }
  reader->number++;
  reader->fault = length >= LINE_MAX_BYTES      ? "line too long, expected at most 4095 bytes"
                  : memchr(start, '\0', length) ? "a zero byte, expected text"
                                                : NULL;
  length = reader->fault ? 0 : length;
  memcpy(reader->text, start, length);
  reader->text[length] = '\0';
  return true;
}

static char *trim(char *text) {
  text += strspn(text, " \t");
  size_t length = strlen(text);
  while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
    text[--length] = '\0';
  }
  return text;
}

/* Cut at the next unescaped `stop`, removing backslashes; quotes shield spaces and commas in field
 * values. Returned: the piece; *at moves behind the stop, *found is the stop met or 0. */
static char *cut(char **at, const char *stops, char *found) {
  char *start = *at;
  char *write = start;
  char *read = start;
  bool quoted = false;
  for (; *read && (quoted || !strchr(stops, *read)); read++) {
    if (*read == '"') {
      quoted = !quoted;
      continue;
    }
    if (*read == '\\' && read[1]) {
      read++;
    }
    *write++ = *read;
  }
  *found = *read;
  *at = *read ? read + 1 : read;
  *write = '\0';
  return start;
}

static double stamp_seconds(long long ticks, double tick_ns) {
  if (tick_ns > 1e9) {
    return (double)ticks * (tick_ns / 1e9);
  }
  /* Whole seconds and the rest apart, so that nanoseconds do not cost the second its precision. */
  const long long per_second = (long long)(1e9 / tick_ns);
  const long long whole = ticks / per_second;
  return (double)whole + (double)(ticks % per_second) / (double)per_second;
}

/* A whole number ends in i or u. */
static char *whole(char *value) {
  const size_t length = strlen(value);
  if (length && strchr("iu", value[length - 1])) {
    value[length - 1] = '\0';
  }
  return value;
}

/* Influx's words for a boolean. Returned: is it one? */
static bool read_flag(const char *text, bool *out) {
  static const char *const words[] = {"t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(text, words[i]) == 0) {
      *out = i < sizeof words / sizeof words[0] / 2;
      return true;
    }
  }
  return false;
}

/* "measurement,river=a,sensor=b concentration_g_m3=0.02,below_limit=true 1700000000000000000" */
static bool parse_influx(char *line, hw__raw_row *row, double tick_ns) {
  char stop = 0;
  char *at = line;
  const char *gauge = NULL;
  char *discharge = NULL;
  const char *measurement = cut(&at, ", ", &stop);
  if (!*measurement) {
    return false;
  }
  while (stop == ',') {
    const char *name = cut(&at, "=, ", &stop);
    if (stop != '=') {
      return false;
    }
    const char *value = cut(&at, ", ", &stop);
    if (strcmp(name, "river") == 0) {
      row->river = value;
    } else if (strcmp(name, "sensor") == 0) {
      row->sensor = value;
    } else if (strcmp(name, "gauge") == 0) {
      gauge = value;
    }
  }
  do {
    const char *name = cut(&at, "=, ", &stop);
    if (stop != '=') {
      return false;
    }
    char *value = cut(&at, ", ", &stop);
    if (strcmp(name, "below_limit") == 0 || strcmp(name, "above_limit") == 0) {
      if (!read_flag(value, *name == 'b' ? &row->below_limit : &row->above_limit)) {
        return false;
      }
    } else if (hw_row_names_value(name, &row->per_g_m3)) {
      row->value = whole(value);
      row->has_value = true;
    } else if (hw_row_names_discharge(name)) {
      discharge = whole(value);
    }
  } while (stop == ',');
  if (!row->has_value && discharge) {
    row->discharge = row->has_value = true;
    row->value = discharge;
    row->sensor = gauge ? gauge : row->sensor;
  }
  const char *stamp = trim(at);
  if (*stamp) {
    char *end;
    const long long ticks = strtoll(stamp, &end, 10);
    if (*end || end == stamp) {
      return false;
    }
    row->has_time = true;
    row->time_value = stamp_seconds(ticks, tick_ns);
  }
  return true;
}

hw_status hw__ingest_line_protocol(hw__ingest *ingest, const char *body, size_t size) {
  line_reader lines = {.at = body, .end = body + size};
  const double tick_ns = ingest->nanoseconds > 0 ? ingest->nanoseconds : 1;
  hw_status status = HW_OK;
  while (status == HW_OK && next_line(&lines)) {
    char *text = trim(lines.text);
    if (!lines.fault && (!*text || *text == '#')) {
      continue;
    }
    hw__raw_row row = {.calendar = true, .per_g_m3 = 1};
    if (lines.fault || !parse_influx(text, &row, tick_ns)) {
      status = hw__ingest_reject(ingest, lines.number, HW_FATE_MALFORMED, "%s",
                                 lines.fault ? lines.fault : "expected measurement,tags fields timestamp");
      continue;
    }
    status = hw__ingest_row(ingest, lines.number, &row);
  }
  return status;
}

/* What every format shares: numbers, units, names, and the fate of a row. */
#include "ingest/ingest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"

/* A cubic metre of water weighs 1e6 g: no dissolved load exceeds it. */
static const double absurd_g_m3 = 1e6;
/* No river carries so much: the Amazon in flood has 4e5. */
static const double absurd_m3_s = 1e6;
/* Relative times beyond three centuries and dates before 1900 or after 2200 are mistakes of unit. */
static const double absurd_relative_s = 1e10;
static const double earliest_unix_s = -2208988800.0;
static const double latest_unix_s = 7258118400.0;

hw_status hw__ingest_reject(hw__ingest *ingest, size_t line, hw__fate fate, const char *format, ...) {
  ingest->tally[fate]++;
  if (ingest->reject_count >= HW_REJECTS_REPORTED) {
    return HW_OK;
  }
  if (!hw__grow(&ingest->rejects, ingest->reject_count, &ingest->reject_capacity, sizeof *ingest->rejects, 16)) {
    return HW_ENOMEM;
  }
  hw__reject *reject = &ingest->rejects[ingest->reject_count++];
  *reject = (hw__reject){.line = line, .fate = fate};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reject->reason, sizeof reject->reason, format, arguments);
  va_end(arguments);
  return HW_OK;
}

/* Returned: seconds, and whether they count from 1970. */
static bool row_time(const hw__raw_row *row, double *time_s, bool *calendar) {
  *calendar = row->calendar;
  if (row->time && *calendar) {
    return hw_time_parse(row->time, time_s) == HW_OK;
  }
  double value = row->time_value;
  if (row->time && hw_number_parse(row->time, &value) != HW_OK) {
    return false;
  }
  *time_s = *calendar ? value : value * row->unit_s;
  return isfinite(*time_s);
}

static bool row_value(const hw__raw_row *row, hw__checked_reading *out) {
  double value = row->value_number;
  out->below_limit = row->below_limit;
  out->above_limit = row->above_limit;
  if (row->value) {
    const char sign = row->value[0];
    const bool signed_value = !row->discharge && (sign == '<' || sign == '>');
    out->below_limit = signed_value ? sign == '<' : row->below_limit;
    out->above_limit = signed_value ? sign == '>' : row->above_limit;
    if (hw_number_parse(row->value + signed_value, &value) != HW_OK) {
      return false;
    }
  }
  out->concentration_g_m3 = row->discharge ? value : value / row->per_g_m3;
  return isfinite(out->concentration_g_m3) && !(out->below_limit && out->above_limit);
}

enum { FIRST = 128 }; /* entries to begin with; then they double */

static hw_status append(hw__ingest *ingest, const hw__checked_reading *entry) {
  const size_t before = ingest->capacity, more = (before ? before : FIRST) * sizeof *entry;
  if (ingest->count == before && !hw__budget_take(ingest->budget, more)) {
    return HW_ENOMEM;
  }
  if (!hw__grow(&ingest->entries, ingest->count, &ingest->capacity, sizeof *ingest->entries, FIRST)) {
    hw__budget_give(ingest->budget, more);
    return HW_ENOMEM;
  }
  ingest->entries[ingest->count++] = *entry;
  return HW_OK;
}

/* A clean river read by a noisy sensor gives values on both sides of zero, and their scatter is
 * information; only what no noise explains is refused. */
static double noise_around_zero(const hw_sensor *sensor) {
  return fmax(1e-4, fmax(10 * sensor->noise_absolute_g_m3, 3 * sensor->detection_limit_g_m3));
}

/* Can a river have this value? Returned: the fate of one that it cannot have, with a sentence in `reason`. Accepted
 * values get no sentence, which would cost more than reading them. */
static hw__fate judge_concentration(const hw__site *site, const hw__checked_reading *entry, char *reason, size_t size) {
  const double c = entry->concentration_g_m3;
  const double lowest = -noise_around_zero(&site->river.sensors[entry->place.sensor]);
  if (c < lowest) {
    snprintf(reason, size, "concentration %g g/m3, expected zero or more (%g within this sensor's noise)", c, lowest);
    return HW_FATE_NEGATIVE;
  }
  if ((entry->below_limit || entry->above_limit) && c < 0) {
    snprintf(reason, size, "%s a limit of %g g/m3, expected zero or more", entry->below_limit ? "below" : "above", c);
    return HW_FATE_NEGATIVE;
  }
  if (c > absurd_g_m3) {
    snprintf(reason, size, "concentration %g g/m3, expected at most %g", c, absurd_g_m3);
    return HW_FATE_ABSURD;
  }
  return HW_FATE_ACCEPTED;
}

static hw__fate judge_discharge(const hw__checked_reading *entry, char *reason, size_t size) {
  const double q = entry->concentration_g_m3;
  if (!(q > 0)) {
    snprintf(reason, size, "discharge %g m3/s, expected a positive number", q);
    return HW_FATE_NEGATIVE;
  }
  if (q > absurd_m3_s) {
    snprintf(reason, size, "discharge %g m3/s, expected at most %g", q, absurd_m3_s);
    return HW_FATE_ABSURD;
  }
  return HW_FATE_ACCEPTED;
}

hw_status hw__ingest_entry(hw__ingest *ingest, const hw__checked_reading *entry) {
  const hw__site *site = hw__catalog_site(ingest->catalog, entry->place.site);
  const size_t line = entry->line;
  const double t = entry->time_s;
  char reason[sizeof ingest->rejects->reason];
  const hw__fate fate = entry->place.gauge ? judge_discharge(entry, reason, sizeof reason)
                                           : judge_concentration(site, entry, reason, sizeof reason);
  if (fate != HW_FATE_ACCEPTED) {
    return hw__ingest_reject(ingest, line, fate, "%s", reason);
  }
  const bool dated = entry->calendar || site->river.search_is_calendar;
  if (dated ? (t < earliest_unix_s || t > latest_unix_s) : fabs(t) > absurd_relative_s) {
    return hw__ingest_reject(ingest, line, HW_FATE_ABSURD, "time %g s, out of any range", t);
  }
  if (dated && t > ingest->now_unix_s + ingest->future_s && t <= ingest->possible_s + ingest->future_s) {
    ingest->undecided = true;
    return HW_OK;
  }
  if (dated && t > ingest->now_unix_s + ingest->future_s) {
    char when[40];
    hw_time_format(t, when, sizeof when);
    return hw__ingest_reject(ingest, line, HW_FATE_FUTURE, "dated %s, %.0f s from now, expected at most %.0f s", when,
                             t - ingest->now_unix_s, ingest->future_s);
  }
  return append(ingest, entry);
}

hw_status hw__ingest_row(hw__ingest *ingest, size_t line, const hw__raw_row *row) {
  const char *river = row->river && *row->river ? row->river : ingest->river;
  const char *kind = row->discharge ? "gauge" : "sensor";
  if (!row->sensor || !*row->sensor) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "no %s, expected its id", kind);
  }
  hw__checked_reading entry = {.line = line};
  switch (
      (row->discharge ? hw__catalog_gauge : hw__catalog_sensor)(ingest->catalog, river, row->sensor, &entry.place)) {
    case HW_OK:
      break;
    case HW_EDOMAIN:
      return hw__ingest_reject(ingest, line, HW_FATE_UNKNOWN, "%s '%.64s' is in several rivers, expected one named",
                               kind, row->sensor);
    default:
      return hw__ingest_reject(ingest, line, HW_FATE_UNKNOWN, "no %s '%.64s'%s%.64s", kind, row->sensor,
                               river && *river ? " in river " : "", river ? river : "");
  }
  if (!row->has_time || !row_time(row, &entry.time_s, &entry.calendar)) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED, "time '%.40s', expected %s", row->time ? row->time : "",
                             row->calendar ? "ISO 8601 with Z or an offset" : "a number");
  }
  if (!row->has_value || (row->value && !*row->value)) {
    ingest->tally[HW_FATE_MISSING]++;
    return HW_OK;
  }
  if (!row_value(row, &entry)) {
    return hw__ingest_reject(ingest, line, HW_FATE_MALFORMED,
                             row->discharge ? "discharge '%.40s', expected a number"
                                            : "concentration '%.40s', expected a number, <limit or >limit",
                             row->value ? row->value : "");
  }
  return hw__ingest_entry(ingest, &entry);
}

hw__body_kind hw__ingest_kind(const char *content_type) {
  static const struct {
    const char *type;
    hw__body_kind kind;
  } kinds[] = {{"text/csv", HW_BODY_CSV},
               {"application/csv", HW_BODY_CSV},
               {"application/x-ndjson", HW_BODY_NDJSON},
               {"application/ndjson", HW_BODY_NDJSON},
               {"application/jsonl", HW_BODY_NDJSON},
               {"application/json", HW_BODY_JSON},
               {"text/plain", HW_BODY_LINE},
               {"application/x-influx-line-protocol", HW_BODY_LINE}};
  const size_t length = content_type ? strcspn(content_type, "; \t") : 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strlen(kinds[i].type) == length && strncasecmp(kinds[i].type, content_type, length) == 0) {
      return kinds[i].kind;
    }
  }
  return HW_BODY_UNKNOWN;
}

hw_status hw__ingest_body(hw__ingest *ingest, hw__body_kind kind, const char *body, size_t size) {
  switch (kind) {
    case HW_BODY_CSV:
      return hw__ingest_rows(ingest, HW_ROWS_CSV, body, size);
    case HW_BODY_NDJSON:
      return hw__ingest_rows(ingest, HW_ROWS_NDJSON, body, size);
    case HW_BODY_JSON:
      return hw__ingest_json(ingest, body, size);
    case HW_BODY_LINE:
      return hw__ingest_line_protocol(ingest, body, size);
    default:
      return HW_EDOMAIN;
  }
}

hw_status hw__ingest_payload(hw__ingest *ingest, const char *sensor, const char *payload, size_t size) {
  while (size && strchr(" \t\r\n", payload[size - 1]) && payload[size - 1]) {
    size--;
  }
  if (size && payload[0] == '{') {
    return hw__ingest_object(ingest, 1, payload, size, sensor);
  }
  char value[96];
  if (size >= sizeof value || memchr(payload, '\0', size)) {
    return hw__ingest_reject(ingest, 1, HW_FATE_MALFORMED, "a payload of %zu bytes, expected VALUE TIME or an object",
                             size);
  }
  memcpy(value, payload, size);
  value[size] = '\0';
  char *time = value + strcspn(value, " \t");
  if (*time) {
    *time++ = '\0';
    time += strspn(time, " \t");
  }
  const bool dated = strchr(time, 'T') != NULL;
  hw__place place;
  const bool gauge = hw__catalog_sensor(ingest->catalog, ingest->river, sensor, &place) == HW_ENAME &&
                     hw__catalog_gauge(ingest->catalog, ingest->river, sensor, &place) == HW_OK;
  const hw__raw_row row = {.sensor = sensor,
                           .discharge = gauge,
                           .time = time,
                           .calendar = dated,
                           .unit_s = 1,
                           .has_time = *time != '\0',
                           .value = value,
                           .has_value = true,
                           .per_g_m3 = 1};
  return hw__ingest_row(ingest, 1, &row);
}

void hw__ingest_clear(hw__ingest *ingest) {
  hw__budget_give(ingest->budget, ingest->capacity * sizeof *ingest->entries);
  free(ingest->entries);
  free(ingest->rejects);
  ingest->entries = NULL;
  ingest->rejects = NULL;
  ingest->count = ingest->capacity = ingest->reject_count = ingest->reject_capacity = 0;
  ingest->undecided = false;
  memset(ingest->tally, 0, sizeof ingest->tally);
}

/* The discharges of a river's gauges: columns time (as in readings), gauge, discharge_m3_s, in any order of rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/fields.h"
#include "io/flow_file.h"
#include "io/lines.h"
#include "io/row.h"
#include "io/time.h"
#include "river/flow_doubt.h"

enum { MOST_ROWS = 5000000 };

typedef struct {
  hw_flow flow;
  uint64_t line;
} row;

typedef struct {
  hw__lines lines;
  const char *name;
  const hw_river *river;
  hw_error *error;
  char separator;
  size_t time, gauge, discharge, columns; /* where each stands in a row */
  const hw__column *time_column;
  row *rows;
  size_t count, capacity;
} reader;

static hw_status complain(const reader *r, const char *what, hw__slice found, const char *expected) {
  char shown[HW__EXCERPT_SIZE];
  return hw__fail(r->error, HW_EINPUT, "%s:%zu: %s '%s', expected %s", r->name, (size_t)r->lines.line, what,
                  hw__excerpt(found, shown), expected);
}

static hw_status take_header(reader *r, hw__slice line) {
  r->separator = memchr(line.text, '\t', line.size) && !memchr(line.text, ',', line.size) ? '\t' : ',';
  r->time = r->gauge = r->discharge = SIZE_MAX;
  hw__fields fields = hw__fields_of(line, r->separator, true);
  hw__slice name;
  bool doubled;
  while (fields.more) {
    if (!hw__fields_take(&fields, &name, &doubled)) {
      return complain(r, "a quote that is not closed in the header", line, "column names");
    }
    const hw__column *column = hw__column_find(name);
    if (column && column->role == HW__TIME && r->time == SIZE_MAX) {
      r->time = r->columns;
      r->time_column = column;
    } else if (hw__slice_is(name, "gauge")) {
      r->gauge = r->columns;
    } else if (hw__slice_is(name, "discharge_m3_s")) {
      r->discharge = r->columns;
    }
    r->columns++;
  }
  if (r->time == SIZE_MAX || r->gauge == SIZE_MAX || r->discharge == SIZE_MAX) {
    return complain(r, "header", line, "a time column (time, time_s, time_min or time_h), gauge and discharge_m3_s");
  }
  if (r->time_column->calendar != r->river->search_is_calendar) {
    return hw__fail(
        r->error, HW_EINPUT, "%s:%zu: times as %s where the river's search.time_s is %s, expected one clock", r->name,
        (size_t)r->lines.line, r->time_column->name, r->river->search_is_calendar ? "on the calendar" : "in seconds");
  }
  return HW_OK;
}

static size_t find_gauge(const hw_river *river, hw__slice id) {
  size_t i = 0;
  while (i < river->gauge_count && !hw__slice_is(id, river->gauges[i].id)) {
    i++;
  }
  return i;
}

static hw_status take_row(reader *r, hw__slice line, row *out) {
  hw__fields fields = hw__fields_of(line, r->separator, true);
  hw__slice time = {0}, gauge = {0}, discharge = {0}, field;
  size_t column = 0;
  bool doubled;
  for (; fields.more; column++) {
    if (!hw__fields_take(&fields, &field, &doubled)) {
      return complain(r, "a quote that is not closed in", line, "text in a pair of quotes");
    }
    *(column == r->time ? &time : column == r->gauge ? &gauge : column == r->discharge ? &discharge : &field) = field;
  }
  if (column != r->columns) {
    return hw__fail(r->error, HW_EINPUT, "%s:%zu: a row of %zu fields, expected %zu as in the header", r->name,
                    (size_t)r->lines.line, column, r->columns);
  }
  out->line = r->lines.line;
  hw_flow *flow = &out->flow;
  flow->gauge = find_gauge(r->river, gauge);
  if (flow->gauge == r->river->gauge_count) {
    return complain(r, "gauge", gauge, "one of the river's gauges");
  }
  if (r->time_column->calendar ? !hw__time_parse(time, &flow->time_s) : !hw__number_parse(time, &flow->time_s)) {
    return complain(r, r->time_column->name, time,
                    r->time_column->calendar ? "an instant with its offset such as 2026-03-01T08:15:00Z" : "a number");
  }
  flow->time_s = flow->time_s * r->time_column->multiply / r->time_column->divide;
  if (discharge.size == 0) {
    return complain(r, "discharge_m3_s", discharge, "a positive number; leave the row out where the gauge was silent");
  }
  if (!hw__number_parse(discharge, &flow->discharge_m3_s) || !(flow->discharge_m3_s > 0)) {
    return complain(r, "discharge_m3_s", discharge, "a positive number");
  }
  return HW_OK;
}

static hw_status keep(reader *r, const row *one) {
  if (r->count == MOST_ROWS) {
    return hw__fail(r->error, HW_EINPUT, "%s:%zu: more than %d rows, expected fewer", r->name, (size_t)r->lines.line,
                    MOST_ROWS);
  }
  if (r->count == r->capacity) {
    r->capacity = r->capacity ? 2 * r->capacity : 256;
    row *larger = realloc(r->rows, r->capacity * sizeof *larger);
    if (!larger) {
      return hw__fail(r->error, HW_ENOMEM, "%s: %s", r->name, hw_status_text(HW_ENOMEM));
    }
    r->rows = larger;
  }
  r->rows[r->count++] = *one;
  return HW_OK;
}

static bool is_blank(hw__slice line) {
  const hw__slice rest = hw__slice_trim(line);
  return rest.size == 0 || rest.text[0] == '#';
}

static hw_status read_rows(reader *r) {
  hw__slice line;
  bool header = false;
  hw_status status;
  while ((status = hw__lines_next(&r->lines, &line)) == HW_OK) {
    row one = {0};
    if (is_blank(line)) {
      continue;
    }
    status = header ? take_row(r, line, &one) : take_header(r, line);
    if (status == HW_OK && header) {
      status = keep(r, &one);
    }
    if (status != HW_OK) {
      return status;
    }
    header = true;
  }
  if (status != HW_EEND) {
    return hw__lines_fault(&r->lines, r->name, status, r->error);
  }
  return header ? HW_OK : hw__fail(r->error, HW_EINPUT, "%s:1: an empty file, expected discharges", r->name);
}

static int by_time(const void *a, const void *b) {
  const row *x = a, *y = b;
  if (x->flow.time_s != y->flow.time_s) {
    return x->flow.time_s < y->flow.time_s ? -1 : 1;
  }
  return x->line < y->line ? -1 : x->line > y->line;
}

/* What is odd: long silences, an instant with two discharges, and gauges of which nothing is known. */
static void remark(const reader *r, hw_warn warn, void *context) {
  char whole[512];
  for (size_t g = 0; warn && g < r->river->gauge_count; g++) {
    const row *before = NULL;
    for (size_t i = 0; i < r->count; i++) {
      const row *now = &r->rows[i];
      if (now->flow.gauge != g) {
        continue;
      }
      if (before && now->flow.time_s - before->flow.time_s > HW__FLOW_SILENCE_S) {
        snprintf(whole, sizeof whole,
                 "%s:%zu: gauge %s is silent for the %.3g h before this row: its discharge is taken to change evenly",
                 r->name, (size_t)now->line, r->river->gauges[g].id, (now->flow.time_s - before->flow.time_s) / 3600);
        warn(context, whole);
      }
      if (before && now->flow.time_s == before->flow.time_s &&
          now->flow.discharge_m3_s != before->flow.discharge_m3_s) {
        snprintf(whole, sizeof whole,
                 "%s:%zu: gauge %s has another discharge for the time of line %zu: this one is taken", r->name,
                 (size_t)now->line, r->river->gauges[g].id, (size_t)before->line);
        warn(context, whole);
      }
      before = now;
    }
    if (!before) {
      snprintf(whole, sizeof whole, "%s:1: gauge %s has no row: it is not used", r->name, r->river->gauges[g].id);
      warn(context, whole);
    }
  }
}

hw_status hw__flow_load(hw_river *river, hw_warn warn, void *context, hw_error *error) {
  reader r = {.name = river->flow_file, .river = river, .error = error};
  if (river->gauge_count == 0) {
    return hw__fail(error, HW_EINPUT, "%s:1: a flow file, but the river has no gauges; expected them under gauges",
                    r.name);
  }
  hw_status status = hw__lines_of_file(r.name, "the river's flow file", &r.lines, error);
  if (status != HW_OK) {
    return status;
  }
  status = hw__lines_open(&r.lines);
  if (status == HW_OK) {
    status = hw__lines_mark(&r.lines);
  }
  if (status == HW_OK) {
    status = read_rows(&r);
  } else {
    status = hw__lines_fault(&r.lines, r.name, status, error);
  }
  hw_flow *flow = status == HW_OK ? calloc(r.count + 1, sizeof *flow) : NULL;
  if (status == HW_OK && !flow) {
    status = hw__fail(error, HW_ENOMEM, "%s: %s", r.name, hw_status_text(HW_ENOMEM));
  }
  if (flow) {
    qsort(r.rows, r.count, r.count ? sizeof *r.rows : 1, by_time);
    for (size_t i = 0; i < r.count; i++) {
      flow[i] = r.rows[i].flow;
    }
    remark(&r, warn, context);
    river->flow = flow;
    river->flow_count = r.count;
  }
  hw__lines_close(&r.lines);
  free(r.rows);
  return status;
}

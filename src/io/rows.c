#include "headwater/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/import.h"

struct hw_rows {
  hw__lines lines;
  bool ndjson;
  bool has_header, hopeless; /* CSV; without a header nothing can be read */
  hw__header header;
  const hw_river *river; /* NULL: our own way only */
  hw_columns *columns;   /* of a table that is not written our way */
  hw__foreign *foreign;
  char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE];
};

static hw__import import_of(hw_rows *rows) {
  return (hw__import){.lines = &rows->lines, .name = "body", .river = rows->river};
}

hw_status hw_rows_create(const char *text, size_t size, hw_rows_format format, const hw_river *river, hw_rows **out) {
  *out = NULL;
  hw_rows *rows = calloc(1, sizeof *rows);
  if (!rows) {
    return HW_ENOMEM;
  }
  rows->lines = (hw__lines){.fd = -1, .data = size ? text : "", .end = size, .finished = true};
  rows->ndjson = format == HW_ROWS_NDJSON;
  rows->river = river && river->import ? river : NULL;
  hw_status status = hw__lines_open(&rows->lines);
  if (status == HW_OK) {
    const hw__import import = import_of(rows);
    status = hw__import_begin(&import);
  }
  if (status != HW_OK) {
    hw_rows_free(rows);
    return status;
  }
  *out = rows;
  return HW_OK;
}

/* The next line with something on it. */
static hw_status next_line(hw_rows *rows, hw__slice *line, hw_error *error) {
  for (;;) {
    hw__slice raw = {0};
    const hw_status status = hw__lines_next(&rows->lines, &raw);
    if (status == HW_EDOMAIN) {
      return hw__fail(error, HW_EINPUT, "line too long, expected at most %d bytes", HW__LONGEST_LINE);
    }
    if (status != HW_OK) {
      return status;
    }
    const hw__slice text = hw__slice_trim(raw);
    const bool comment =
        rows->foreign ? hw__foreign_comment(raw, rows->columns->separator) : text.size && text.text[0] == '#';
    if (text.size && !comment) {
      *line = rows->ndjson ? text : raw;
      return HW_OK;
    }
  }
}

static hw_status read_row(const hw__row *row, hw_row *out, hw_error *error) {
  hw_row found = {.river = row->river.text,
                  .river_size = row->river.size,
                  .sensor = row->sensor.text,
                  .sensor_size = row->sensor.size};
  if (!row->time.text) {
    return hw__fail(error, HW_EINPUT, "no time, expected one of time, time_s, time_min, time_h");
  }
  found.calendar = row->time_column->calendar;
  hw_status status = hw__row_time(row, &found.reading.time_s, error);
  found.discharge = hw__row_is_discharge(row) || (row->value.size == 0 && row->sensor.size == 0 && row->gauge.size);
  found.missing = row->value.size == 0 && row->discharge.size == 0;
  if (found.discharge) {
    const hw__slice gauge = hw__row_gauge(row);
    found.sensor = gauge.text;
    found.sensor_size = gauge.size;
  }
  if (status == HW_OK && found.discharge && !found.missing) {
    status = hw__row_discharge(row, &found.discharge_m3_s, error);
  } else if (status == HW_OK && !found.missing) {
    status = hw__row_value(row, &found.reading, error);
  }
  if (status == HW_OK) {
    *out = found;
  }
  return status;
}

/* The names of a CSV: ours, or those of the river's mapping. */
static hw_status read_header(hw_rows *rows, hw_error *error) {
  bool foreign = false;
  hw_status status = rows->river ? hw__import_is_foreign(&rows->lines, &foreign) : HW_OK;
  hw__slice line = {0};
  if (status == HW_OK && foreign) {
    const hw__import import = import_of(rows);
    hw_error whole = {""};
    status = hw__import_open(&import, &rows->columns, &rows->foreign, &whole);
    const char *sentence = strstr(whole.text, ": "); /* behind body:LINE */
    hw__fail(error, status, "%s", sentence ? sentence + 2 : whole.text);
  } else if (status == HW_OK) {
    status = next_line(rows, &line, error);
    if (status == HW_OK) {
      status = hw__csv_header(line, true, &rows->header, error);
    }
  }
  rows->has_header = status == HW_OK;
  rows->hopeless = status != HW_OK;
  return status == HW_EEMPTY ? HW_EINPUT : status;
}

/* One row of a table that is not written our way; a line may hold several. */
static hw_status next_foreign(hw_rows *rows, hw__row *out, hw_error *error) {
  hw_status status = HW_OK;
  while (status == HW_OK && !hw__foreign_pending(rows->foreign)) {
    hw__slice line = {0};
    status = next_line(rows, &line, error);
    if (status == HW_OK) {
      status = hw__foreign_line(rows->foreign, line, error);
    }
  }
  if (status != HW_OK) {
    return status;
  }
  return hw__foreign_row(rows->foreign, rows->scratch, out, error);
}

hw_status hw_rows_next(hw_rows *rows, hw_row *out, hw_error *error) {
  hw__slice line = {0};
  hw__row row;
  hw_status status = rows->hopeless ? HW_EEND : HW_OK;
  if (status == HW_OK && !rows->ndjson && !rows->has_header) {
    status = read_header(rows, error);
  }
  if (status == HW_OK && rows->foreign) {
    status = next_foreign(rows, &row, error);
  } else if (status == HW_OK) {
    status = next_line(rows, &line, error);
    status = status != HW_OK ? status
             : rows->ndjson  ? hw__ndjson_row(line, rows->scratch, &row, error)
                             : hw__csv_row(&rows->header, line, rows->scratch, &row, error);
  }
  if (status != HW_OK) {
    return status;
  }
  return read_row(&row, out, error);
}

bool hw_row_names_time(const char *name, bool *calendar, double *unit_s) {
  const hw__column *column = hw__column_find((hw__slice){name, strlen(name)});
  if (!column || column->role != HW__TIME) {
    return false;
  }
  *calendar = column->calendar;
  *unit_s = column->multiply;
  return true;
}

bool hw_row_names_value(const char *name, double *per_g_m3) {
  const hw__column *column = hw__column_find((hw__slice){name, strlen(name)});
  if (!column || column->role != HW__VALUE) {
    return false;
  }
  *per_g_m3 = column->divide;
  return true;
}

bool hw_row_names_discharge(const char *name) {
  const hw__column *column = hw__column_find((hw__slice){name, strlen(name)});
  return column && column->role == HW__DISCHARGE;
}

uint64_t hw_rows_line(const hw_rows *rows) {
  return rows->lines.line;
}

void hw_rows_free(hw_rows *rows) {
  if (rows) {
    hw__lines_close(&rows->lines);
    hw__foreign_free(rows->foreign);
    hw_columns_free(rows->columns);
    free(rows);
  }
}

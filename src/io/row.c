/* The contents of a row: a time and a value, in the units that their columns name. */
#include <math.h>

#include "core/text.h"
#include "io/row.h"
#include "io/time.h"

/* A larger number is a mistake, and methods that square it would overflow. The limits are a million times the
 * density of water, and thirty thousand years. */
static const double most_g_m3 = 1e12, most_s = 1e12;

hw_status hw__row_time(const hw__row *row, double *out, hw_error *error) {
  char shown[HW__EXCERPT_SIZE];
  const hw__column *column = row->time_column;
  double value;
  if (column->calendar) {
    if (!hw__time_parse(row->time, &value)) {
      return hw__fail(error, HW_EINPUT, "time '%s', expected ISO 8601 with an offset such as 2026-03-01T08:15:00Z",
                      hw__excerpt(row->time, shown));
    }
    *out = value;
    return HW_OK;
  }
  if (!hw__number_parse(row->time, &value)) {
    return hw__fail(error, HW_EINPUT, "%s '%s', expected a number", column->name, hw__excerpt(row->time, shown));
  }
  if (!(fabs(value * column->multiply) <= most_s)) {
    return hw__fail(error, HW_EINPUT, "%s %g, expected a time of at most %g s", column->name, value, most_s);
  }
  *out = value * column->multiply;
  return HW_OK;
}

hw_status hw__row_value(const hw__row *row, hw_reading *reading, hw_error *error) {
  hw__slice text = row->value;
  reading->below_limit = text.text[0] == '<';
  reading->above_limit = text.text[0] == '>';
  if (reading->below_limit || reading->above_limit) {
    text = hw__slice_trim((hw__slice){text.text + 1, text.size - 1});
  } else {
    reading->below_limit = row->below_limit;
    reading->above_limit = row->above_limit;
  }
  const bool limit = reading->below_limit || reading->above_limit;
  double value;
  if (!hw__number_parse(text, &value) || (limit && !(value >= 0)) || (reading->below_limit && reading->above_limit)) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(error, HW_EINPUT, "%s '%s', expected a number, '<' or '>' and a limit, or nothing",
                    row->value_column->name, hw__excerpt(row->value, shown));
  }
  if (!(fabs(value / row->value_column->divide) <= most_g_m3)) {
    return hw__fail(error, HW_EINPUT, "%s %g, expected at most %g g/m3", row->value_column->name, value, most_g_m3);
  }
  reading->concentration_g_m3 = value / row->value_column->divide;
  return HW_OK;
}

bool hw__row_is_discharge(const hw__row *row) {
  return row->value.size == 0 && row->discharge.size > 0;
}

hw__slice hw__row_gauge(const hw__row *row) {
  return row->gauge.size ? row->gauge : row->sensor;
}

hw_status hw__row_discharge(const hw__row *row, double *out, hw_error *error) {
  if (!hw__number_parse(row->discharge, out)) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(error, HW_EINPUT, "discharge_m3_s '%s', expected a number", hw__excerpt(row->discharge, shown));
  }
  return HW_OK;
}

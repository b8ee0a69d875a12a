/* CSV: a header names the columns, `#` outside quotes starts a comment, fields may be quoted with "..."
 * and "" inside for one quote. A tab-separated header is taken as well. */
#include <stdint.h>
#include <string.h>

#include "core/text.h"
#include "io/fields.h"
#include "io/reader.h"

static const hw__column columns[] = {
    {"time", HW__TIME, true, 1, 1},
    {"time_s", HW__TIME, false, 1, 1},
    {"time_min", HW__TIME, false, 60, 1},
    {"time_h", HW__TIME, false, 3600, 1},
    {"sensor", HW__SENSOR, false, 1, 1},
    {"concentration_g_m3", HW__VALUE, false, 1, 1},
    {"concentration_mg_l", HW__VALUE, false, 1, 1},
    {"concentration_ug_l", HW__VALUE, false, 1, 1000},
    {"concentration_ng_l", HW__VALUE, false, 1, 1e6},
    {"river", HW__RIVER, false, 1, 1},
    {"below_limit", HW__BELOW_LIMIT, false, 1, 1},
    {"above_limit", HW__ABOVE_LIMIT, false, 1, 1},
};

const hw__column *hw__column_find(hw__slice name) {
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    if (hw__slice_is(name, columns[i].name)) {
      return &columns[i];
    }
  }
  return NULL;
}

static hw_status name_column(const hw__column *column, hw__slice name, size_t index, hw__header *header,
                             bool found[HW__ROLES], hw_error *error) {
  if (!column || column->role >= HW__BELOW_LIMIT) { /* in CSV limits are written <0.02 and >0.3 */
    return HW_OK;
  }
  if (found[column->role]) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(error, HW_EINPUT, "a second %s column %s, expected one",
                    column->role == HW__TIME     ? "time"
                    : column->role == HW__SENSOR ? "sensor"
                    : column->role == HW__RIVER  ? "river"
                                                 : "concentration",
                    hw__excerpt(name, shown));
  }
  found[column->role] = true;
  if (column->role == HW__RIVER) {
    header->river = index;
    return HW_OK;
  }
  if (column->role == HW__TIME) {
    header->time = index;
    header->time_column = column;
  } else if (column->role == HW__SENSOR) {
    header->sensor = index;
  } else {
    header->value = index;
    header->value_column = column;
  }
  header->last = index;
  return HW_OK;
}

hw_status hw__csv_header(hw__slice line, hw__header *out, hw_error *error) {
  hw__header header = {
      .delimiter = memchr(line.text, '\t', line.size) && !memchr(line.text, ',', line.size) ? '\t' : ',',
      .river = SIZE_MAX};
  bool found[HW__ROLES] = {false};
  hw__fields c = hw__fields_of(line, header.delimiter, true);
  while (c.more) {
    hw__slice name;
    bool doubled;
    if (header.count == HW__MOST_COLUMNS) {
      return hw__fail(error, HW_EINPUT, "more than %d columns, expected time, sensor and concentration among a few",
                      HW__MOST_COLUMNS);
    }
    if (!hw__fields_take(&c, &name, &doubled)) {
      return hw__fail(error, HW_EINPUT, "a quote that is not closed in the header, expected column names");
    }
    const hw_status status = name_column(hw__column_find(name), name, header.count, &header, found, error);
    if (status != HW_OK) {
      return status;
    }
    header.count++;
  }
  char shown[HW__EXCERPT_SIZE];
  hw__excerpt(line, shown);
  if (!found[HW__TIME]) {
    return hw__fail(error, HW_EEMPTY, "header '%s' has no time column, expected one of time, time_s, time_min, time_h",
                    shown);
  }
  if (!found[HW__SENSOR]) {
    return hw__fail(error, HW_EEMPTY, "header '%s' has no sensor column, expected one named sensor", shown);
  }
  if (!found[HW__VALUE]) {
    return hw__fail(error, HW_EEMPTY,
                    "header '%s' has no concentration column, expected one of concentration_g_m3, concentration_mg_l, "
                    "concentration_ug_l, concentration_ng_l",
                    shown);
  }
  *out = header;
  return HW_OK;
}

hw_status hw__csv_row(const hw__header *header, hw__slice line, char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE],
                      hw__row *out, hw_error *error) {
  hw__row row = {.time_column = header->time_column, .value_column = header->value_column};
  hw__fields c = hw__fields_of(line, header->delimiter, true);
  size_t count = 0;
  while (c.more) {
    hw__slice field;
    bool doubled;
    if (!hw__fields_take(&c, &field, &doubled)) {
      return hw__fail(error, HW_EINPUT, "a quote that is not closed in field %zu, expected text in a pair of quotes",
                      count + 1);
    }
    hw__slice *wanted = count == header->time     ? &row.time
                        : count == header->sensor ? &row.sensor
                        : count == header->value  ? &row.value
                        : count == header->river  ? &row.river
                                                  : NULL;
    if (wanted) {
      if (doubled && !hw__fields_undouble(&field,
                                          scratch[wanted == &row.time     ? 0
                                                  : wanted == &row.sensor ? 1
                                                  : wanted == &row.value  ? 2
                                                                          : 3],
                                          HW__SCRATCH_SIZE)) {
        return hw__fail(error, HW_EINPUT, "field %zu is %zu characters long, expected a time, sensor or concentration",
                        count + 1, field.size);
      }
      *wanted = field;
    }
    count++;
  }
  /* A comment may hide the extra columns, not ours. */
  const bool whole = count == header->count || (c.comment && count > header->last && count < header->count);
  if (!whole) {
    return hw__fail(error, HW_EINPUT, "a row of %zu field%s, expected %zu as in the header", count,
                    count == 1 ? "" : "s", header->count);
  }
  *out = row;
  return HW_OK;
}

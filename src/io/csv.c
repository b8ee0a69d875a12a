/* CSV: a header names the columns, `#` outside quotes starts a comment, fields may be quoted with "..."
 * and "" inside for one quote. A tab-separated header is taken as well. */
#include <stdint.h>
#include <string.h>

#include "core/text.h"
#include "io/fields.h"
#include "io/row.h"

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
    {"gauge", HW__GAUGE, false, 1, 1},
    {"discharge_m3_s", HW__DISCHARGE, false, 1, 1},
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

/* Where in the header the index of a column of this role stands; NULL where CSV has none: limits are written <0.02 and
 * >0.3. */
static size_t *slot_of(hw__header *header, hw__role role) {
  switch (role) {
    case HW__TIME:
      return &header->time;
    case HW__SENSOR:
      return &header->sensor;
    case HW__VALUE:
      return &header->value;
    case HW__RIVER:
      return &header->river;
    case HW__GAUGE:
      return &header->gauge;
    case HW__DISCHARGE:
      return &header->discharge;
    default:
      return NULL;
  }
}

static hw_status name_column(const hw__column *column, hw__slice name, size_t index, hw__header *header,
                             hw_error *error) {
  size_t *slot = column ? slot_of(header, column->role) : NULL;
  if (!slot) {
    return HW_OK;
  }
  if (*slot != SIZE_MAX) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(error, HW_EINPUT, "a second %s column %s, expected one",
                    column->role == HW__TIME        ? "time"
                    : column->role == HW__SENSOR    ? "sensor"
                    : column->role == HW__RIVER     ? "river"
                    : column->role == HW__GAUGE     ? "gauge"
                    : column->role == HW__DISCHARGE ? "discharge"
                                                    : "concentration",
                    hw__excerpt(name, shown));
  }
  *slot = index;
  if (column->role == HW__TIME) {
    header->time_column = column;
  } else if (column->role == HW__VALUE) {
    header->value_column = column;
  }
  if (column->role == HW__TIME || column->role == HW__SENSOR || column->role == HW__VALUE) {
    header->last = index;
  }
  return HW_OK;
}

/* Are all columns there that a reading needs, or a discharge? */
static hw_status check_header(hw__header *header, bool discharges, hw__slice line, hw_error *error) {
  char shown[HW__EXCERPT_SIZE];
  hw__excerpt(line, shown);
  const bool flow = discharges && header->discharge != SIZE_MAX && header->value == SIZE_MAX;
  if (header->time == SIZE_MAX) {
    return hw__fail(error, HW_EEMPTY, "header '%s' has no time column, expected one of time, time_s, time_min, time_h",
                    shown);
  }
  if (header->sensor == SIZE_MAX && !(flow && header->gauge != SIZE_MAX)) {
    return hw__fail(error, HW_EEMPTY, "header '%s' has no sensor column, expected one named sensor", shown);
  }
  if (header->value == SIZE_MAX && !flow) {
    return hw__fail(error, HW_EEMPTY,
                    "header '%s' has no concentration column, expected one of concentration_g_m3, concentration_mg_l, "
                    "concentration_ug_l, concentration_ng_l",
                    shown);
  }
  if (flow) {
    header->last = header->gauge != SIZE_MAX ? header->gauge : header->sensor;
    header->last = header->discharge > header->last ? header->discharge : header->last;
    header->last = header->time > header->last ? header->time : header->last;
  }
  return HW_OK;
}

hw_status hw__csv_header(hw__slice line, bool discharges, hw__header *out, hw_error *error) {
  hw__header header = {
      .delimiter = memchr(line.text, '\t', line.size) && !memchr(line.text, ',', line.size) ? '\t' : ',',
      .time = SIZE_MAX,
      .sensor = SIZE_MAX,
      .value = SIZE_MAX,
      .river = SIZE_MAX,
      .gauge = SIZE_MAX,
      .discharge = SIZE_MAX};
  const hw__column *flags = NULL;
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
    const hw__column *column = hw__column_find(name);
    const hw_status status = name_column(column, name, header.count, &header, error);
    if (status != HW_OK) {
      return status;
    }
    flags = column && !slot_of(&header, column->role) ? column : flags;
    header.count++;
  }
  const hw_status status = check_header(&header, discharges, line, error);
  if (status == HW_OK && flags) { /* passed over, its limits would be taken for readings */
    return hw__fail(error, HW_EINPUT, "a column %s, expected limits written as <0.02 or >0.3 in a table", flags->name);
  }
  if (status == HW_OK) {
    *out = header;
  }
  return status;
}

/* Where the text of this column goes, and which scratch is its own; NULL: an extra. */
static hw__slice *target_of(const hw__header *header, size_t column, hw__row *row, size_t *scratch) {
  const struct {
    size_t column;
    hw__slice *slice;
  } ours[HW__ROW_TEXTS] = {{header->time, &row->time},   {header->sensor, &row->sensor},
                           {header->value, &row->value}, {header->river, &row->river},
                           {header->gauge, &row->gauge}, {header->discharge, &row->discharge}};
  for (*scratch = 0; *scratch < HW__ROW_TEXTS; ++*scratch) {
    if (ours[*scratch].column == column) {
      return ours[*scratch].slice;
    }
  }
  return NULL;
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
    size_t own = 0;
    hw__slice *wanted = target_of(header, count, &row, &own);
    if (wanted) {
      if (doubled && !hw__fields_undouble(&field, scratch[own], HW__SCRATCH_SIZE)) {
        return hw__fail(error, HW_EINPUT, "field %zu is %zu characters long, expected a time, sensor or concentration",
                        count + 1, field.size);
      }
      *wanted = field;
    }
    count++;
  }
  /* A comment may cut off extra columns, but none of ours. */
  const bool whole = count == header->count || (c.comment && count > header->last && count < header->count);
  if (!whole) {
    return hw__fail(error, HW_EINPUT, "a row of %zu field%s, expected %zu as in the header", count,
                    count == 1 ? "" : "s", header->count);
  }
  *out = row;
  return HW_OK;
}

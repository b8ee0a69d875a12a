/* CSV: a header names the columns, `#` outside quotes starts a comment, fields may be quoted with "..."
 * and "" inside for one quote. A tab-separated header is taken as well. */
#include <string.h>

#include "core/text.h"
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
};

const hw__column *hw__column_find(hw__slice name) {
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    if (hw__slice_is(name, columns[i].name)) {
      return &columns[i];
    }
  }
  return NULL;
}

/* What splitting a line goes by. */
typedef struct {
  const char *next, *end;
  char delimiter;
  bool more;    /* another field follows, be it empty */
  bool comment; /* the line was cut by a comment */
} cursor;

/* A quoted field; *next stands behind its opening quote. The text between the quotes, "" still doubled. */
static bool take_quoted(cursor *c, hw__slice *out, bool *doubled) {
  const char *begin = c->next;
  for (const char *p = begin; p < c->end; p++) {
    if (*p != '"') {
      continue;
    }
    if (p + 1 < c->end && p[1] == '"') {
      *doubled = true;
      p++;
      continue;
    }
    *out = (hw__slice){begin, (size_t)(p - begin)};
    c->next = p + 1;
    return true;
  }
  return false;
}

/* The next field. False when a quote is not closed or text follows it. */
static bool take_field(cursor *c, hw__slice *out, bool *doubled) {
  *doubled = false;
  const char *p = c->next;
  while (p < c->end && (*p == ' ' || (*p == '\t' && c->delimiter != '\t'))) {
    p++;
  }
  bool quoted = false;
  if (p < c->end && *p == '"') {
    quoted = true;
    c->next = p + 1;
    if (!take_quoted(c, out, doubled)) {
      return false;
    }
    p = c->next;
  }
  const char *begin = p;
  while (p < c->end && *p != c->delimiter && *p != '#') {
    p++;
  }
  const hw__slice plain = hw__slice_trim((hw__slice){begin, (size_t)(p - begin)});
  if (quoted && plain.size) {
    return false;
  }
  if (!quoted) {
    *out = plain;
  }
  c->comment = p < c->end && *p == '#';
  c->more = p < c->end && *p == c->delimiter;
  c->next = p + (c->more ? 1 : 0);
  return true;
}

static hw_status name_column(const hw__column *column, hw__slice name, size_t index, hw__header *header, bool found[4],
                             hw_error *error) {
  if (!column) {
    return HW_OK;
  }
  if (found[column->role]) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(error, HW_EINPUT, "a second %s column %s, expected one",
                    column->role == HW__TIME     ? "time"
                    : column->role == HW__SENSOR ? "sensor"
                                                 : "concentration",
                    hw__excerpt(name, shown));
  }
  found[column->role] = true;
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
  hw__header header = {.delimiter =
                           memchr(line.text, '\t', line.size) && !memchr(line.text, ',', line.size) ? '\t' : ','};
  bool found[4] = {false};
  cursor c = {line.text, line.text + line.size, header.delimiter, true, false};
  while (c.more) {
    hw__slice name;
    bool doubled;
    if (header.count == HW__MOST_COLUMNS) {
      return hw__fail(error, HW_EINPUT, "more than %d columns, expected time, sensor and concentration among a few",
                      HW__MOST_COLUMNS);
    }
    if (!take_field(&c, &name, &doubled)) {
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
    return hw__fail(error, HW_EINPUT, "header '%s' has no time column, expected one of time, time_s, time_min, time_h",
                    shown);
  }
  if (!found[HW__SENSOR]) {
    return hw__fail(error, HW_EINPUT, "header '%s' has no sensor column, expected one named sensor", shown);
  }
  if (!found[HW__VALUE]) {
    return hw__fail(error, HW_EINPUT,
                    "header '%s' has no concentration column, expected one of concentration_g_m3, concentration_mg_l, "
                    "concentration_ug_l",
                    shown);
  }
  *out = header;
  return HW_OK;
}

/* "" becomes ". */
static bool undouble(hw__slice *field, char scratch[HW__SCRATCH_SIZE]) {
  if (field->size > HW__SCRATCH_SIZE) {
    return false;
  }
  size_t size = 0;
  for (size_t i = 0; i < field->size; i++) {
    scratch[size++] = field->text[i];
    i += field->text[i] == '"';
  }
  *field = (hw__slice){scratch, size};
  return true;
}

hw_status hw__csv_row(const hw__header *header, hw__slice line, char scratch[3][HW__SCRATCH_SIZE], hw__row *out,
                      hw_error *error) {
  hw__row row = {.time_column = header->time_column, .value_column = header->value_column};
  cursor c = {line.text, line.text + line.size, header->delimiter, true, false};
  size_t count = 0;
  while (c.more) {
    hw__slice field;
    bool doubled;
    if (!take_field(&c, &field, &doubled)) {
      return hw__fail(error, HW_EINPUT, "a quote that is not closed in field %zu, expected text in a pair of quotes",
                      count + 1);
    }
    hw__slice *wanted = count == header->time     ? &row.time
                        : count == header->sensor ? &row.sensor
                        : count == header->value  ? &row.value
                                                  : NULL;
    if (wanted) {
      if (doubled && !undouble(&field, scratch[wanted == &row.time ? 0 : wanted == &row.sensor ? 1 : 2])) {
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

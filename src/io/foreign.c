#include "io/foreign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/columns_words.h"
#include "io/date.h"
#include "io/fields.h"
#include "io/foreign_time.h"
#include "io/guess.h"
#include "io/plain.h"

enum { NOWHERE = -1 };

struct hw__foreign {
  const hw_columns *columns;
  hw__foreign_clock *clock;
  ptrdiff_t time[2], zone, sensor, quality; /* places of the columns; NOWHERE: none */
  size_t value_count;                       /* 1, or one a sensor */
  size_t *values;
  hw__column *value_columns; /* with the table's own names, so that messages use them too */
  size_t last;               /* the largest place of all */
  hw__slice *cells;          /* of the line in hand, up to last */
  bool *doubled;
  size_t next; /* value that comes next; value_count: none */
  size_t pass; /* lines that may still come between repeated names and their rows */
  bool lost;   /* names met again were not understood: nobody knows which column is which until the next */
};

bool hw__foreign_comment(hw__slice line, char separator) {
  const hw__slice text = hw__slice_trim(line);
  return text.size > 0 && text.text[0] == '#' && !(text.size > 1 && text.text[1] == separator);
}

/* Place of a named column. */
static hw_status find(hw__slice header, char separator, const char *name, const char *role, ptrdiff_t *out,
                      hw_error *sentence) {
  hw__fields fields = hw__fields_of(header, separator, false);
  ptrdiff_t found = NOWHERE;
  char scratch[HW_COLUMN_SIZE];
  for (ptrdiff_t at = 0; fields.more && at < HW__MOST_COLUMNS; at++) {
    hw__slice field;
    bool doubled;
    if (!hw__fields_take(&fields, &field, &doubled)) {
      return hw__fail(sentence, HW_EINPUT, "a quote that is not closed in the header, expected column names");
    }
    if (doubled && !hw__fields_undouble(&field, scratch, sizeof scratch)) {
      continue;
    }
    if (!hw__column_is(hw__slice_trim(field), name)) {
      continue;
    }
    if (found != NOWHERE) {
      return hw__fail(sentence, HW_EINPUT, "column '%.60s' twice in the header, expected one for the %s", name, role);
    }
    found = at;
  }
  char shown[HW__EXCERPT_SIZE];
  if (found == NOWHERE) {
    return hw__fail(sentence, HW_EINPUT, "no column '%.60s' for the %s in the header '%s'", name, role,
                    hw__excerpt(header, shown));
  }
  *out = found;
  return HW_OK;
}

/* The same where the mapping names one. */
static hw_status find_optional(hw__slice header, char separator, const char *name, const char *role, ptrdiff_t *out,
                               hw_error *sentence) {
  *out = NOWHERE;
  return name[0] ? find(header, separator, name, role, out, sentence) : HW_OK;
}

static hw_status find_values(hw__foreign *f, hw__slice header, hw_error *sentence) {
  const hw_columns *c = f->columns;
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < f->value_count; i++) {
    const char *name = c->sensor_count ? c->sensors[i].name : c->value;
    ptrdiff_t at = 0;
    status = find(header, c->separator, name, "concentration", &at, sentence);
    f->values[i] = (size_t)at;
    f->value_columns[i] = (hw__column){name, HW__VALUE, false, 1, hw__unit_per_g_m3(c->unit)};
    f->last = (size_t)at > f->last ? (size_t)at : f->last;
  }
  return status;
}

static hw_status resolve(hw__foreign *f, hw__slice header, hw_error *sentence) {
  const hw_columns *c = f->columns;
  struct {
    const char *name, *role;
    ptrdiff_t *place;
  } wanted[] = {{c->time[0], "time", &f->time[0]},
                {c->time[1], "clock", &f->time[1]},
                {c->timezone_from, "time zone", &f->zone},
                {c->sensor, "sensor", &f->sensor},
                {c->quality, "quality", &f->quality}};
  hw_status status = HW_OK;
  f->last = 0;
  for (size_t i = 0; status == HW_OK && i < sizeof wanted / sizeof wanted[0]; i++) {
    status = find_optional(header, c->separator, wanted[i].name, wanted[i].role, wanted[i].place, sentence);
    if (status == HW_OK && *wanted[i].place > (ptrdiff_t)f->last) {
      f->last = (size_t)*wanted[i].place;
    }
  }
  if (status == HW_OK && (f->time[0] == NOWHERE || (f->sensor == NOWHERE && !c->sensor_count))) {
    status = hw__fail(sentence, HW_EINPUT, "the column of the %s has no name, expected one in the header",
                      f->time[0] == NOWHERE ? "time" : "sensor");
  }
  if (status != HW_OK) {
    return status;
  }
  return find_values(f, header, sentence);
}

hw_status hw__foreign_create(const hw_columns *columns, const hw_river *river, hw__slice header, hw__foreign **out,
                             hw_error *sentence) {
  *out = NULL;
  hw__foreign *f = calloc(1, sizeof *f);
  if (!f) {
    return hw__fail(sentence, HW_ENOMEM, "%s", hw_status_text(HW_ENOMEM));
  }
  f->columns = columns;
  f->value_count = columns->sensor_count ? columns->sensor_count : 1;
  f->next = f->value_count;
  f->values = calloc(f->value_count, sizeof *f->values);
  f->value_columns = calloc(f->value_count, sizeof *f->value_columns);
  f->cells = calloc(HW__MOST_COLUMNS, sizeof *f->cells);
  f->doubled = calloc(HW__MOST_COLUMNS, sizeof *f->doubled);
  hw_status status = f->values && f->value_columns && f->cells && f->doubled
                         ? HW_OK
                         : hw__fail(sentence, HW_ENOMEM, "%s", hw_status_text(HW_ENOMEM));
  if (status == HW_OK) {
    status = resolve(f, header, sentence);
  }
  if (status == HW_OK) {
    status = hw__foreign_clock_create(columns, river, &f->clock, sentence);
  }
  if (status != HW_OK) {
    hw__foreign_free(f);
    return status;
  }
  *out = f;
  return HW_OK;
}

void hw__foreign_free(hw__foreign *f) {
  if (f) {
    hw__foreign_clock_free(f->clock);
    free(f->values);
    free(f->value_columns);
    free(f->cells);
    free(f->doubled);
    free(f);
  }
}

/* The names again: agencies put one table per site after the other, each with its own columns. */
static hw_status begin_anew(hw__foreign *f, hw__slice line, hw_error *sentence) {
  hw_error why;
  const hw__foreign before = *f;
  const hw_status status = resolve(f, line, &why);
  if (status != HW_OK) {
    *f = before; /* where names are looked for */
  }
  f->lost = status != HW_OK;
  f->pass = f->columns->skip;
  return status == HW_OK ? HW_OK
                         : hw__fail(sentence, status,
                                    "another table begins: %s; a name that begins with * stands for "
                                    "all that end like it, as in \"*_00060\"",
                                    why.text);
}

/* A line of units or widths under repeated names. */
static bool is_passed(hw__foreign *f) {
  const hw__slice text = f->cells[(size_t)f->time[0]];
  hw__date date;
  double value;
  if (f->pass == 0) {
    return false;
  }
  f->pass--;
  return !hw__date_parse(text, f->columns->time_form, &date) && !hw__guess_number(text, f->columns->decimal, &value);
}

hw_status hw__foreign_line(hw__foreign *f, hw__slice line, hw_error *sentence) {
  hw__fields fields = hw__fields_of(line, f->columns->separator, false);
  size_t count = 0;
  bool any = false;
  while (fields.more && count <= f->last) {
    if (!hw__fields_take(&fields, &f->cells[count], &f->doubled[count])) {
      return hw__fail(sentence, HW_EINPUT, "a quote that is not closed in field %zu, expected text in a pair of quotes",
                      count + 1);
    }
    f->cells[count] = hw__slice_trim(f->cells[count]);
    any = any || f->cells[count].size > 0;
    count++;
  }
  f->next = f->value_count;
  if (!any) { /* spreadsheets often end in rows that contain only separators */
    return HW_OK;
  }
  if ((size_t)f->time[0] < count && hw__slice_is(f->cells[(size_t)f->time[0]], f->columns->time[0])) {
    return begin_anew(f, line, sentence);
  }
  if (f->lost) {
    return hw__fail(sentence, HW_EINPUT, "a row under names that were not understood, expected names of columns first");
  }
  if (count <= f->last) {
    return hw__fail(sentence, HW_EINPUT, "a row of %zu field%s, expected at least %zu as in the header", count,
                    count == 1 ? "" : "s", f->last + 1);
  }
  f->next = is_passed(f) ? f->value_count : 0;
  return HW_OK;
}

bool hw__foreign_pending(const hw__foreign *f) {
  return f->next < f->value_count;
}

/* A cell with its quotes as they are meant, in scratch where they had to be changed. */
static hw_status cell(const hw__foreign *f, size_t at, char scratch[HW__SCRATCH_SIZE], hw__slice *out,
                      hw_error *sentence) {
  *out = f->cells[at];
  if (f->doubled[at] && !hw__fields_undouble(out, scratch, HW__SCRATCH_SIZE)) {
    return hw__fail(sentence, HW_EINPUT, "field %zu is %zu characters long, expected a time, sensor or concentration",
                    at + 1, out->size);
  }
  return HW_OK;
}

static bool listed(char (*list)[HW_WORD_SIZE], size_t count, hw__slice text) {
  for (size_t i = 0; i < count; i++) {
    if (hw__slice_is(text, list[i])) {
      return true;
    }
  }
  return false;
}

/* Does this field stand for no reading by the mapping? */
static bool is_missing(const hw_columns *columns, hw__slice text) {
  if (text.size == 0 || listed(columns->missing, columns->missing_count, text)) {
    return true;
  }
  double value, meant;
  if (!columns->missing_count || !hw__number_parse(text, &value)) {
    return false;
  }
  for (size_t i = 0; i < columns->missing_count; i++) { /* -999 is also -999.00 */
    const char *word = columns->missing[i];
    if (hw__number_parse((hw__slice){word, strlen(word)}, &meant) && meant == value) {
      return true;
    }
  }
  return false;
}

/* With a decimal point, as our grammar requires. */
static hw_status take_value(const hw__foreign *f, size_t at, char scratch[HW__SCRATCH_SIZE], hw__row *row,
                            hw_error *sentence) {
  hw__slice text = {0};
  const hw_status status = cell(f, f->values[at], scratch, &text, sentence);
  if (status != HW_OK) {
    return status;
  }
  row->value_column = &f->value_columns[at];
  char shown[HW__EXCERPT_SIZE];
  const hw_columns *c = f->columns;
  const bool plain = hw__plain(text, c->decimal, scratch, &row->value);
  const bool bad = f->quality != NOWHERE && !listed(c->good, c->good_count, f->cells[(size_t)f->quality]);
  if (bad || listed(c->missing, c->missing_count, text) || is_missing(c, plain ? row->value : text)) {
    row->value = (hw__slice){"", 0};
    return HW_OK;
  }
  if (hw__stands_for_nothing(text, c->decimal)) {
    return hw__fail(sentence, HW_EINPUT, "%.60s '%s', which seems to stand for no reading; add: missing: [\"%s\"]",
                    row->value_column->name, hw__excerpt(text, shown), shown);
  }
  if (!plain) {
    return hw__fail(sentence, HW_EINPUT, "%.60s '%s', expected a number with a decimal %s", row->value_column->name,
                    hw__excerpt(text, shown), c->decimal == ',' ? "comma" : "point");
  }
  return HW_OK;
}

static hw_status take_sensor(const hw__foreign *f, size_t at, char scratch[HW__SCRATCH_SIZE], hw__row *row,
                             hw_error *sentence) {
  const hw_columns *c = f->columns;
  if (c->sensor_count) {
    row->sensor = (hw__slice){c->sensors[at].id, strlen(c->sensors[at].id)};
    return HW_OK;
  }
  const hw_status status = cell(f, (size_t)f->sensor, scratch, &row->sensor, sentence);
  for (size_t i = 0; status == HW_OK && i < c->name_count; i++) {
    if (hw__slice_is(row->sensor, c->names[i].name)) {
      row->sensor = (hw__slice){c->names[i].id, strlen(c->names[i].id)};
      break;
    }
  }
  return status;
}

hw_status hw__foreign_row(hw__foreign *f, char scratch[3][HW__SCRATCH_SIZE], hw__row *out, hw_error *sentence) {
  hw__row row = {0};
  const size_t at = f->next++;
  hw_status status = take_sensor(f, at, scratch[1], &row, sentence);
  if (status == HW_OK) {
    status = take_value(f, at, scratch[2], &row, sentence);
  }
  if (status == HW_OK) {
    const hw__foreign_time time = {.date = f->cells[(size_t)f->time[0]],
                                   .clock = f->time[1] == NOWHERE ? (hw__slice){0} : f->cells[(size_t)f->time[1]],
                                   .zone = f->zone == NOWHERE ? (hw__slice){0} : f->cells[(size_t)f->zone],
                                   .sensor = row.sensor};
    status = hw__foreign_clock_read(f->clock, &time, scratch[0], &row, sentence);
  }
  if (status != HW_OK) {
    f->next = f->value_count; /* the rest of the line has the same fault */
    return status;
  }
  *out = row;
  return HW_OK;
}

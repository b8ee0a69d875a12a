/* Which columns hold concentrations, and of which sensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/columns_words.h"
#include "io/guess.h"

static const char value_words[] = "conc|konz|rhod|rwt|dye|tracer|fluor|messwert|value|result|reading";
static const char tracer_words[] = "rhod|rwt|dye|tracer|fluoresc|uranin";
static const char sensor_words[] = "sensor|station|site|location|messstelle|gauge|probe|logger";
static const char flag_words[] = "qual|flag|_cd|qc";

enum { MOST_VALUES = 256 };

/* The numbers in a column, and the texts among them that are neither a number nor a missing value; the first of
 * these, and its line. */
typedef struct {
  size_t numbers, texts;
  hw__slice text;
  size_t line;
} tally;

static tally tally_of(const hw__guess *guess, size_t column) {
  tally t = {0};
  double value;
  for (size_t row = 0; row < hw__guess_rows(guess); row++) {
    const hw__slice text = hw__guess_cell(guess, row, column);
    const bool number = hw__guess_number(text, guess->columns->decimal, &value);
    t.numbers += number;
    if (text.size && !number && !hw__guess_is_missing(guess, text)) {
      t.line = t.texts ? t.line : guess->table.lines[guess->table.first + row].line;
      t.text = t.texts ? t.text : text;
      t.texts++;
    }
  }
  return t;
}

static bool is_numeric(const hw__guess *guess, size_t column) {
  const tally t = tally_of(guess, column);
  return t.numbers > t.texts;
}

static bool is_time(const hw__guess *guess, size_t column) {
  const hw_columns *c = guess->columns;
  const hw__slice name = hw__guess_name(guess, column);
  return (c->time[0][0] && hw__slice_is(name, c->time[0])) || (c->time[1][0] && hw__slice_is(name, c->time[1])) ||
         (c->timezone_from[0] && hw__slice_is(name, c->timezone_from));
}

/* Columns that may be concentrations: those with a unit of one, else those that are called so. */
static size_t find_values(const hw__guess *guess, size_t values[MOST_VALUES]) {
  size_t count = 0;
  for (int pass = 0; pass < 2 && count == 0; pass++) {
    for (size_t i = 0; i < hw__guess_width(guess) && count < MOST_VALUES; i++) {
      const bool wanted =
          pass == 0 ? hw__guess_unit_of(guess, i) != NULL : hw__guess_speaks_of(hw__guess_name(guess, i), value_words);
      if (wanted && !is_time(guess, i) && is_numeric(guess, i)) {
        values[count++] = i;
      }
    }
  }
  return count;
}

/* A sonde measures oxygen in mg/l beside the tracer: of several columns the one that is called after a tracer. */
static size_t prefer_tracer(hw__guess *guess, size_t values[MOST_VALUES], size_t count) {
  size_t tracers = 0, tracer = 0;
  for (size_t i = 0; i < count; i++) {
    if (hw__guess_speaks_of(hw__guess_name(guess, values[i]), tracer_words)) {
      tracer = values[i];
      tracers++;
    }
  }
  if (count < 2 || tracers != 1) {
    return count;
  }
  char shown[HW__EXCERPT_SIZE], other[HW__EXCERPT_SIZE];
  hw__guess_tell(guess, "'%s' taken for the tracer, '%s' passed over; value: would say otherwise",
                 hw__excerpt(hw__guess_name(guess, tracer), shown),
                 hw__excerpt(hw__guess_name(guess, values[values[0] == tracer]), other));
  values[0] = tracer;
  return 1;
}

/* No column was found: the message offers the columns of numbers. */
static void doubt_values(hw__guess *guess) {
  hw_error offered = {""};
  size_t length = 0, count = 0;
  char shown[HW__EXCERPT_SIZE];
  for (size_t i = 0; i < hw__guess_width(guess) && count < 4; i++) {
    const hw__slice name = hw__guess_name(guess, i);
    const bool counts = hw__slice_is(name, "#") || hw__guess_speaks_of(name, "site|station|record|serial");
    if (!is_time(guess, i) && is_numeric(guess, i) && !counts) {
      const int wrote = snprintf(offered.text + length, sizeof offered.text - length, "%s'%s'",
                                 count ? ", " : ", such as ", hw__excerpt(name, shown));
      length += wrote > 0 ? (size_t)wrote : 0;
      count++;
    }
  }
  hw__guess_doubt(guess, "no column of concentrations found; add: value: and the name of one%s", offered.text);
}

static bool is_river_sensor(const hw__guess *guess, hw__slice text) {
  for (size_t i = 0; guess->river && i < guess->river->sensor_count; i++) {
    if (hw__slice_is(text, guess->river->sensors[i].id)) {
      return true;
    }
  }
  return false;
}

/* A column in which every cell is a sensor of the river. */
static bool holds_sensors(const hw__guess *guess, size_t column) {
  size_t seen = 0;
  for (size_t row = 0; row < hw__guess_rows(guess); row++) {
    const hw__slice text = hw__guess_cell(guess, row, column);
    if (text.size && !is_river_sensor(guess, text)) {
      return false;
    }
    seen += text.size > 0;
  }
  return seen > 0;
}

static bool is_known_by(const hw_columns *c, hw__slice text) {
  for (size_t i = 0; i < c->name_count; i++) {
    if (hw__slice_is(text, c->names[i].name)) {
      return true;
    }
  }
  return false;
}

/* The table's own name for a sensor. It is clear where the river has only one sensor; otherwise the mapping must say
 * which one it is. */
static void settle_names(hw__guess *guess, size_t column) {
  hw_columns *c = guess->columns;
  char shown[HW__EXCERPT_SIZE];
  hw__slice strange = {0}; /* the first */
  size_t strangers = 0;
  for (size_t row = 0; guess->river && row < hw__guess_rows(guess); row++) {
    const hw__slice text = hw__guess_cell(guess, row, column);
    const bool again = strangers && strange.size == text.size && memcmp(strange.text, text.text, text.size) == 0;
    if (text.size && !again && !is_river_sensor(guess, text) && !is_known_by(c, text)) {
      strange = strangers ? strange : text;
      strangers++;
    }
  }
  if (!guess->river || strangers == 0) {
    return;
  }
  if (strangers == 1 && guess->river->sensor_count == 1 && !c->name_count) {
    c->names = calloc(1, sizeof *c->names);
    if (c->names) {
      c->name_count = 1;
      snprintf(c->names[0].id, sizeof c->names[0].id, "%s", guess->river->sensors[0].id);
      hw__guess_copy(c->names[0].name, HW_COLUMN_SIZE, strange);
      hw__guess_tell(guess, "'%s' taken for the river's one sensor, %s", hw__excerpt(strange, shown), c->names[0].id);
      return;
    }
  }
  hw__guess_doubt(guess, "'%s' is no sensor of the river; add: names: {ID: \"%.*s\"}", hw__excerpt(strange, shown),
                  (int)strange.size, strange.text);
}

/* The column that says whose reading a row is, or -1. */
static ptrdiff_t find_sensor_column(const hw__guess *guess) {
  ptrdiff_t named = -1;
  for (size_t i = 0; i < hw__guess_width(guess); i++) {
    if (is_time(guess, i)) {
      continue;
    }
    if (holds_sensors(guess, i)) {
      return (ptrdiff_t)i;
    }
    const hw__slice name = hw__guess_name(guess, i);
    if (named < 0 && hw__guess_speaks_of(name, sensor_words) && !hw__guess_unit_of(guess, i) &&
        hw__guess_cell(guess, 0, i).size) {
      named = (ptrdiff_t)i;
    }
  }
  return named;
}

/* Is the id a word of the name? */
static bool names_sensor(hw__slice name, const char *id) {
  const size_t size = strlen(id);
  for (size_t at = 0; size && at + size <= name.size; at++) {
    if (memcmp(name.text + at, id, size) != 0) {
      continue;
    }
    const char before = at ? name.text[at - 1] : ' ', after = at + size < name.size ? name.text[at + size] : ' ';
    const bool word = !((before | 32) >= 'a' && (before | 32) <= 'z') && !(before >= '0' && before <= '9') &&
                      !((after | 32) >= 'a' && (after | 32) <= 'z') && !(after >= '0' && after <= '9');
    if (word) {
      return true;
    }
  }
  return false;
}

static void add_sensor(hw__guess *guess, const char *id, size_t column) {
  hw_columns *c = guess->columns;
  char shown[HW__EXCERPT_SIZE], other[HW__EXCERPT_SIZE];
  for (size_t i = 0; i < c->sensor_count; i++) {
    if (strcmp(c->sensors[i].id, id) == 0) {
      const hw__slice taken = {c->sensors[i].name, strlen(c->sensors[i].name)};
      hw__guess_doubt(guess, "columns '%s' and '%s' may both be sensor %s; add: sensors: {%s: \"%s\"}",
                      hw__excerpt(taken, shown), hw__excerpt(hw__guess_name(guess, column), other), id, id,
                      c->sensors[i].name);
      return;
    }
  }
  hw_column_sensor *larger = realloc(c->sensors, (c->sensor_count + 1) * sizeof *larger);
  if (!larger) {
    hw__guess_doubt(guess, "%s", hw_status_text(HW_ENOMEM));
    return;
  }
  c->sensors = larger;
  hw_column_sensor *sensor = &larger[c->sensor_count++];
  snprintf(sensor->id, sizeof sensor->id, "%s", id);
  hw__guess_copy(sensor->name, sizeof sensor->name, hw__guess_name(guess, column));
  hw__guess_tell(guess, "sensor %s from '%s'", id, hw__excerpt(hw__guess_name(guess, column), shown));
}

/* The river's sensor that a column is called after, or NULL. */
static const char *sensor_of(const hw__guess *guess, size_t column) {
  for (size_t s = 0; s < guess->river->sensor_count; s++) {
    if (names_sensor(hw__guess_name(guess, column), guess->river->sensors[s].id)) {
      return guess->river->sensors[s].id;
    }
  }
  return NULL;
}

/* A wide table: the names of its columns name sensors. */
static void choose_sensors(hw__guess *guess, const size_t *values, size_t count) {
  const hw_river *river = guess->river;
  const hw__slice first = hw__guess_name(guess, values[0]);
  char shown[HW__EXCERPT_SIZE];
  if (!river) {
    hw__guess_doubt(guess, "whose concentration '%s' is shows only with --river; or add: sensors: {ID: \"%.*s\"}",
                    hw__excerpt(first, shown), (int)first.size, first.text);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const char *id = sensor_of(guess, values[i]);
    if (id) {
      add_sensor(guess, id, values[i]);
    }
  }
  if (!guess->columns->sensor_count && count == 1 && river->sensor_count == 1) {
    add_sensor(guess, river->sensors[0].id, values[0]);
  }
  if (!guess->columns->sensor_count) {
    hw__guess_doubt(guess, "no column says whose readings these are; add: sensors: {%s: \"%.*s\"}",
                    river->sensors[0].id, (int)first.size, first.text);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (!sensor_of(guess, values[i]) && count > 1) {
      hw__guess_tell(guess, "'%s' names no sensor of the river and is not used",
                     hw__excerpt(hw__guess_name(guess, values[i]), shown));
    }
  }
}

static void choose_value(hw__guess *guess, const size_t *values, size_t count) {
  char a[HW__EXCERPT_SIZE], b[HW__EXCERPT_SIZE];
  if (count > 1) {
    hw__guess_doubt(guess, "columns '%s' and '%s' may both be the concentration; add: value: and the name of one",
                    hw__excerpt(hw__guess_name(guess, values[0]), a), hw__excerpt(hw__guess_name(guess, values[1]), b));
    return;
  }
  hw__guess_copy(guess->columns->value, HW_COLUMN_SIZE, hw__guess_name(guess, values[0]));
  hw__guess_tell(guess, "concentration from '%s'", hw__excerpt(hw__guess_name(guess, values[0]), a));
}

static void choose_columns(hw__guess *guess) {
  hw_columns *c = guess->columns;
  if (c->sensor_count || (c->sensor[0] && c->value[0])) {
    return;
  }
  char shown[HW__EXCERPT_SIZE];
  size_t values[MOST_VALUES];
  size_t count = find_values(guess, values);
  if (c->value[0]) {
    const ptrdiff_t at = hw__guess_find(guess, c->value);
    values[0] = at < 0 ? 0 : (size_t)at;
    count = at < 0 ? 0 : 1;
  }
  if (count == 0 && c->value[0]) {
    hw__guess_doubt(guess, "no column '%.60s' for the concentration, expected one of the header's names", c->value);
    return;
  }
  if (count == 0) {
    doubt_values(guess);
    return;
  }
  ptrdiff_t sensor = c->sensor[0] ? hw__guess_find(guess, c->sensor) : find_sensor_column(guess);
  if (sensor >= 0 && !c->sensor[0]) {
    hw__guess_copy(c->sensor, HW_COLUMN_SIZE, hw__guess_name(guess, (size_t)sensor));
    hw__guess_tell(guess, "sensors from '%s'", hw__excerpt(hw__guess_name(guess, (size_t)sensor), shown));
  }
  if (!c->sensor[0]) {
    count = guess->river && guess->river->sensor_count == 1 ? prefer_tracer(guess, values, count) : count;
    choose_sensors(guess, values, count);
    if (c->sensor_count) {
      c->value[0] = '\0';
    }
  } else if (!c->value[0]) {
    count = prefer_tracer(guess, values, count);
    choose_value(guess, values, count);
  }
}

/* Texts among the concentrations that the mapping does not list as missing values. */
static void doubt_texts(hw__guess *guess) {
  const hw_columns *c = guess->columns;
  const size_t count = c->sensor_count ? c->sensor_count : c->value[0] ? 1 : 0;
  for (size_t i = 0; i < count; i++) {
    const ptrdiff_t at = hw__guess_find(guess, c->sensor_count ? c->sensors[i].name : c->value);
    const tally t = at < 0 ? (tally){0} : tally_of(guess, (size_t)at);
    char shown[HW__EXCERPT_SIZE], name[HW__EXCERPT_SIZE];
    if (t.texts && t.numbers) {
      hw__guess_doubt(
          guess, "'%s' holds '%s' on line %zu, expected a number; if it stands for no reading add: missing: [\"%s\"]",
          hw__excerpt(hw__guess_name(guess, (size_t)at), name), hw__excerpt(t.text, shown), t.line, shown);
    }
  }
}

void hw__guess_value(hw__guess *guess) {
  hw_columns *c = guess->columns;
  char shown[HW__EXCERPT_SIZE];
  choose_columns(guess);
  const ptrdiff_t sensor = c->sensor[0] ? hw__guess_find(guess, c->sensor) : -1;
  if (sensor >= 0) {
    settle_names(guess, (size_t)sensor);
  }
  hw__guess_unit(guess);
  doubt_texts(guess);
  for (size_t i = 0; !c->quality[0] && i < hw__guess_width(guess); i++) {
    const hw__slice name = hw__guess_name(guess, i);
    if (hw__guess_speaks_of(name, flag_words) && !hw__guess_speaks_of(name, "agency") && !is_time(guess, i)) {
      hw__guess_tell(guess, "'%s' looks like flags and is not used; quality: and good: would",
                     hw__excerpt(name, shown));
    }
  }
}

/* Which columns hold concentrations, in what unit, and of which sensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/columns_words.h"
#include "io/guess.h"

static const char value_words[] = "conc|konz|rhod|rwt|dye|tracer|fluor|messwert|value|result|reading";
static const char sensor_words[] = "sensor|station|site|location|messstelle|gauge|probe|logger";
static const char flag_words[] = "qual|flag|_cd|qc";

enum { MOST_VALUES = 256 };

/* Texts that stand for nothing wherever they are met. */
static bool is_nothing(hw__slice text) {
  static const char *const words[] = {"NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "--", "---", "-", "***"};
  double value;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (hw__slice_is(text, words[i])) {
      return true;
    }
  }
  return hw__number_parse(text, &value) && (value == -999 || value == -9999 || value == -99999);
}

static bool is_given_missing(const hw_columns *c, hw__slice text) {
  for (size_t i = 0; i < c->missing_count; i++) {
    if (hw__slice_is(text, c->missing[i])) {
      return true;
    }
  }
  return false;
}

static bool is_numeric(const hw__guess *guess, size_t column) {
  size_t numbers = 0;
  double value;
  for (size_t row = 0; row < hw__guess_rows(guess); row++) {
    const hw__slice text = hw__guess_cell(guess, row, column);
    const bool number = hw__guess_number(text, guess->columns->decimal, &value);
    if (text.size && !number && !is_nothing(text) && !is_given_missing(guess->columns, text)) {
      return false;
    }
    numbers += number;
  }
  return numbers > 0;
}

/* The unit that a text speaks of, as our word; NULL for none. Between characters that are no letters or digits. */
static const char *unit_in(hw__slice text) {
  static const struct {
    const char *written, *word;
  } units[] = {
      {"ng/l", "ng/l"}, {"ng_l", "ng/l"}, {"\xc2\xb5g/l", "ug/l"}, {"\xce\xbcg/l", "ug/l"},   {"ug/l", "ug/l"},
      {"ug_l", "ug/l"}, {"ppb", "ppb"},   {"mg/m3", "mg/m3"},      {"mg/m\xc2\xb3", "mg/m3"}, {"mg_m3", "mg/m3"},
      {"mg/l", "mg/l"}, {"mg_l", "mg/l"}, {"ppm", "ppm"},          {"g/m3", "g/m3"},          {"g/m\xc2\xb3", "g/m3"},
      {"g_m3", "g/m3"}};
  char folded[HW_COLUMN_SIZE];
  const size_t length = text.size < sizeof folded - 1 ? text.size : sizeof folded - 1;
  for (size_t i = 0; i < length; i++) {
    folded[i] = text.text[i] >= 'A' && text.text[i] <= 'Z' ? (char)(text.text[i] | 32) : text.text[i];
  }
  folded[length] = '\0';
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const char *at = strstr(folded, units[i].written);
    if (at) {
      const char before = at > folded ? at[-1] : ' ', after = at[strlen(units[i].written)];
      const bool bounded = !(before >= 'a' && before <= 'z') && !(after >= 'a' && after <= 'z');
      if (bounded) {
        return units[i].word;
      }
    }
  }
  return NULL;
}

/* Unit of a column by its name or by a line of units under the names. */
static const char *unit_of(const hw__guess *guess, size_t column) {
  const char *unit = unit_in(hw__guess_name(guess, column));
  for (size_t i = guess->table.header + 1; !unit && i < guess->table.first; i++) {
    const hw__table_line *line = &guess->table.lines[i];
    unit = column < line->count ? unit_in(line->cells[column]) : NULL;
  }
  return unit;
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
          pass == 0 ? unit_of(guess, i) != NULL : hw__guess_speaks_of(hw__guess_name(guess, i), value_words);
      if (wanted && !is_time(guess, i) && is_numeric(guess, i)) {
        values[count++] = i;
      }
    }
  }
  return count;
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

/* A table's own name for a sensor: fine where the river has but one, else somebody must say which it is. */
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
  if (strangers == 0) {
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
  hw__guess_doubt(guess, "'%s' is no sensor of the river; add: names: {ID: \"%s\"}", hw__excerpt(strange, shown),
                  shown);
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
    if (named < 0 && hw__guess_speaks_of(name, sensor_words) && !unit_of(guess, i) &&
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
  char shown[HW__EXCERPT_SIZE];
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

/* A wide table: the names of its columns name sensors. */
static void choose_sensors(hw__guess *guess, const size_t *values, size_t count) {
  const hw_river *river = guess->river;
  char shown[HW__EXCERPT_SIZE];
  hw__excerpt(hw__guess_name(guess, values[0]), shown);
  if (!river) {
    hw__guess_doubt(guess, "whose concentration '%s' is shows only with --river; or add: sensors: {ID: \"%s\"}", shown,
                    shown);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t s = 0; s < river->sensor_count; s++) {
      if (names_sensor(hw__guess_name(guess, values[i]), river->sensors[s].id)) {
        add_sensor(guess, river->sensors[s].id, values[i]);
        break;
      }
    }
  }
  if (!guess->columns->sensor_count && count == 1 && river->sensor_count == 1) {
    add_sensor(guess, river->sensors[0].id, values[0]);
  }
  if (!guess->columns->sensor_count) {
    hw__guess_doubt(guess, "no column says whose readings these are; add: sensors: {%s: \"%s\"}", river->sensors[0].id,
                    shown);
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
  if (count == 0) {
    hw__guess_doubt(guess,
                    c->value[0] ? "no column '%.60s' for the concentration, expected one of the header's names"
                                : "no column of concentrations found; add: value:%.0s and the name of one",
                    c->value);
    return;
  }
  ptrdiff_t sensor = c->sensor[0] ? hw__guess_find(guess, c->sensor) : find_sensor_column(guess);
  if (sensor >= 0 && !c->sensor[0]) {
    hw__guess_copy(c->sensor, HW_COLUMN_SIZE, hw__guess_name(guess, (size_t)sensor));
    hw__guess_tell(guess, "sensors from '%s'", hw__excerpt(hw__guess_name(guess, (size_t)sensor), shown));
  }
  if (!c->sensor[0]) {
    choose_sensors(guess, values, count);
    if (c->sensor_count) {
      c->value[0] = '\0';
    }
  } else if (!c->value[0]) {
    choose_value(guess, values, count);
  }
}

static ptrdiff_t value_at(const hw__guess *guess, size_t i) {
  const hw_columns *c = guess->columns;
  return hw__guess_find(guess, c->sensor_count ? c->sensors[i].name : c->value);
}

/* The unit that a column of its own gives to every row, or NULL. */
static const char *unit_in_rows(const hw__guess *guess, ptrdiff_t *column) {
  for (size_t i = 0; i < hw__guess_width(guess); i++) {
    const char *unit = unit_in(hw__guess_cell(guess, 0, i));
    for (size_t row = 1; unit && row < hw__guess_rows(guess); row++) {
      const char *other = unit_in(hw__guess_cell(guess, row, i));
      unit = other && strcmp(unit, other) == 0 ? unit : NULL;
    }
    if (unit) {
      *column = (ptrdiff_t)i;
      return unit;
    }
  }
  return NULL;
}

static void choose_unit(hw__guess *guess) {
  hw_columns *c = guess->columns;
  const size_t count = c->sensor_count ? c->sensor_count : c->value[0] ? 1 : 0;
  char shown[HW__EXCERPT_SIZE];
  ptrdiff_t column = -1;
  const char *common = c->unit[0] ? NULL : unit_in_rows(guess, &column);
  if (common) {
    snprintf(c->unit, sizeof c->unit, "%s", common);
    hw__guess_tell(guess, "concentrations in %s, by '%s'", common,
                   hw__excerpt(hw__guess_name(guess, (size_t)column), shown));
  }
  for (size_t i = 0; i < count && !c->unit[0]; i++) {
    const ptrdiff_t at = value_at(guess, i);
    const char *unit = at < 0 ? NULL : unit_of(guess, (size_t)at);
    const ptrdiff_t next = i + 1 < count ? value_at(guess, i + 1) : -1;
    const char *other = next < 0 ? unit : unit_of(guess, (size_t)next);
    if (at >= 0 && (!unit || !other || strcmp(unit, other) != 0)) {
      hw__guess_doubt(guess, "'%s' does not say its unit; add: unit: ug/l, mg/l, ng/l, ppb or ppm",
                      hw__excerpt(hw__guess_name(guess, (size_t)at), shown));
      return;
    }
    if (unit && i + 1 == count) {
      snprintf(c->unit, sizeof c->unit, "%s", unit);
      hw__guess_tell(guess, "concentrations in %s", unit);
    }
  }
}

/* Texts among the values that stand for no reading. */
static void choose_missing(hw__guess *guess) {
  hw_columns *c = guess->columns;
  const size_t count = c->sensor_count ? c->sensor_count : c->value[0] ? 1 : 0;
  char shown[HW__EXCERPT_SIZE];
  const bool given = c->missing_count > 0;
  for (size_t i = 0; i < count && !given; i++) {
    const ptrdiff_t at = value_at(guess, i);
    for (size_t row = 0; at >= 0 && row < hw__guess_rows(guess); row++) {
      const hw__slice text = hw__guess_cell(guess, row, (size_t)at);
      if (!is_nothing(text) || is_given_missing(c, text)) {
        continue;
      }
      char(*larger)[HW_WORD_SIZE] = realloc(c->missing, (c->missing_count + 1) * sizeof *larger);
      if (larger) {
        c->missing = larger;
        hw__guess_copy(larger[c->missing_count++], HW_WORD_SIZE, text);
        hw__guess_tell(guess, "'%s' taken as missing", hw__excerpt(text, shown));
      }
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
  choose_unit(guess);
  choose_missing(guess);
  for (size_t i = 0; !c->quality[0] && i < hw__guess_width(guess); i++) {
    const hw__slice name = hw__guess_name(guess, i);
    if (hw__guess_speaks_of(name, flag_words) && !hw__guess_speaks_of(name, "agency") && !is_time(guess, i)) {
      hw__guess_tell(guess, "'%s' looks like flags and is not used; quality: and good: would",
                     hw__excerpt(name, shown));
    }
  }
}

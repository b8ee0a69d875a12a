/* In what unit the concentrations are, and which texts among them stand for no reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/guess.h"
#include "io/plain.h"

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

const char *hw__guess_unit_of(const hw__guess *guess, size_t column) {
  const char *unit = unit_in(hw__guess_name(guess, column));
  for (size_t i = guess->table.header + 1; !unit && i < guess->table.first; i++) {
    const hw__table_line *line = &guess->table.lines[i];
    unit = column < line->count ? unit_in(line->cells[column]) : NULL;
  }
  return unit;
}

static bool is_given_missing(const hw_columns *c, hw__slice text) {
  for (size_t i = 0; i < c->missing_count; i++) {
    if (hw__slice_is(text, c->missing[i])) {
      return true;
    }
  }
  return false;
}

bool hw__guess_is_missing(const hw__guess *guess, hw__slice text) {
  return hw__stands_for_nothing(text, guess->columns->decimal) || is_given_missing(guess->columns, text);
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
    const char *unit = at < 0 ? NULL : hw__guess_unit_of(guess, (size_t)at);
    const ptrdiff_t next = i + 1 < count ? value_at(guess, i + 1) : -1;
    const char *other = next < 0 ? unit : hw__guess_unit_of(guess, (size_t)next);
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
      if (!hw__stands_for_nothing(text, c->decimal) || is_given_missing(c, text)) {
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

void hw__guess_unit(hw__guess *guess) {
  choose_unit(guess);
  choose_missing(guess);
}

/* Which column the time is, how it is written, and in what zone. */
#include <stdio.h>
#include <string.h>

#include "io/columns_words.h"
#include "io/date.h"
#include "io/guess.h"
#include "io/zone.h"

static const char time_words[] = "time|date|datum|zeit|stamp|heure|fecha|hora|uhr";

/* What all cells of a column have in common. */
typedef struct {
  bool form[HW_TIME_MDY + 1]; /* reads as a date in this order */
  bool clock;                 /* with a clock behind each date */
  bool offset;                /* and an offset behind that */
  bool clock_alone;
  bool number;
  double lowest, highest;
} look;

/* Does the name of a column, or a line under the names, contain one of the words? */
static bool speaks(const hw__guess *guess, size_t column, const char *words) {
  bool found = hw__guess_speaks_of(hw__guess_name(guess, column), words);
  for (size_t i = guess->table.header + 1; !found && i < guess->table.first; i++) {
    const hw__table_line *line = &guess->table.lines[i];
    found = column < line->count && hw__guess_speaks_of(line->cells[column], words);
  }
  return found;
}

/* Digits without separators are a time only where the name says so. */
typedef struct {
  bool date, clock;
} digits_allowed;

static digits_allowed allow_digits(const hw__guess *guess, size_t column, hw__slice text) {
  const bool date = speaks(guess, column, "yymmdd|mmddyy|ddmmyy|yyyymm|mmjj|jjmm"),
             clock = speaks(guess, column, "hhmm");
  const bool long_enough = text.size == 8 || text.size == 12 || text.size >= 14;
  return (digits_allowed){date || (long_enough && speaks(guess, column, time_words)), clock};
}

static look look_at(const hw__guess *guess, size_t column) {
  look l = {.form = {false, true, true, true}, .clock = true, .offset = true, .clock_alone = true, .number = true};
  size_t seen = 0;
  for (size_t row = 0; row < hw__guess_rows(guess); row++) {
    const hw__slice text = hw__guess_cell(guess, row, column);
    if (!text.size) {
      continue;
    }
    hw__date date = {0};
    double value = 0;
    bool any = false;
    const digits_allowed digits = allow_digits(guess, column, text);
    for (int form = HW_TIME_YMD; form <= HW_TIME_MDY; form++) {
      const bool reads = hw__date_parse(text, (hw_time_form)form, &date) ||
                         (digits.date && hw__date_parse_digits(text, (hw_time_form)form, &date));
      any = any || reads;
      l.form[form] = l.form[form] && reads;
      l.clock = l.clock && !(reads && !date.has_clock);
      l.offset = l.offset && !(reads && !date.has_offset);
    }
    l.clock = l.clock && any;
    l.offset = l.offset && any;
    l.clock_alone = l.clock_alone && (hw__clock_parse(text, &value) ||
                                      (digits.clock && !digits.date && hw__clock_parse_digits(text, &value)));
    l.number = l.number && hw__guess_number(text, guess->columns->decimal, &value);
    if (l.number) {
      l.lowest = seen == 0 || value < l.lowest ? value : l.lowest;
      l.highest = seen == 0 || value > l.highest ? value : l.highest;
    }
    seen++;
  }
  return seen ? l : (look){{false}, false, false, false, false, 0, 0};
}

static bool is_date(const look *l) {
  return l->form[HW_TIME_YMD] || l->form[HW_TIME_DMY] || l->form[HW_TIME_MDY];
}

/* Columns of one kind: how many, the first, and the one that also sounds like a time where only one does. */
typedef struct {
  size_t count, first, second;
} found;

typedef bool (*kind)(const look *l);

static bool is_instant(const look *l) {
  return is_date(l) && l->clock;
}

static bool is_exact_instant(const look *l) {
  return is_date(l) && l->clock && l->offset;
}

static bool is_bare_date(const look *l) {
  return is_date(l) && !l->clock;
}

static bool is_clock(const look *l) {
  return l->clock_alone;
}

static bool is_number(const look *l) {
  return l->number;
}

static found search(const hw__guess *guess, kind wanted, bool by_name) {
  found f = {0};
  for (size_t i = 0; i < hw__guess_width(guess); i++) {
    const look l = look_at(guess, i);
    if (wanted(&l) && (!by_name || hw__guess_speaks_of(hw__guess_name(guess, i), time_words))) {
      if (f.count == 0) {
        f.first = i;
      } else if (f.count == 1) {
        f.second = i;
      }
      f.count++;
    }
  }
  return f;
}

/* "GMT-05:00" or "UTC" in the name of the column. */
static bool zone_in_name(hw__slice name, char out[HW_COLUMN_SIZE]) {
  for (size_t at = 0; at + 3 <= name.size; at++) {
    if (memcmp(name.text + at, "GMT", 3) != 0 && memcmp(name.text + at, "UTC", 3) != 0) {
      continue;
    }
    double offset_s;
    for (size_t size = 9; size >= 3; size--) {
      const hw__slice zone = {name.text + at, size};
      if (at + size <= name.size && hw__zone_offset_named(zone, &offset_s)) {
        hw__guess_copy(out, HW_COLUMN_SIZE, zone);
        return true;
      }
    }
  }
  return false;
}

/* Of several columns of times, the one whose cells include their offset. */
static found search_zoned(const hw__guess *guess, kind wanted) {
  found f = {0};
  char zone[HW_COLUMN_SIZE];
  for (size_t i = 0; i < hw__guess_width(guess); i++) {
    const look l = look_at(guess, i);
    if (wanted(&l) && zone_in_name(hw__guess_name(guess, i), zone)) {
      f.first = i;
      f.count++;
    }
  }
  return f;
}

/* One of its kind, or the one whose name says so. */
static found search_one(const hw__guess *guess, kind wanted) {
  const found all = search(guess, wanted, false);
  if (all.count < 2) {
    return all;
  }
  const found named = search(guess, wanted, true), zoned = search_zoned(guess, wanted);
  return named.count == 1 ? named : zoned.count == 1 ? zoned : all;
}

static bool take_column(hw__guess *guess, const found *f, const char *what, char out[HW_COLUMN_SIZE]) {
  char a[HW__EXCERPT_SIZE], b[HW__EXCERPT_SIZE];
  if (f->count > 1) {
    hw__guess_doubt(guess, "columns '%s' and '%s' both hold %s; add: time: and the name of one",
                    hw__excerpt(hw__guess_name(guess, f->first), a), hw__excerpt(hw__guess_name(guess, f->second), b),
                    what);
    return false;
  }
  hw__guess_copy(out, HW_COLUMN_SIZE, hw__guess_name(guess, f->first));
  return true;
}

/* False when none was found or several were. */
static bool choose_columns(hw__guess *guess) {
  hw_columns *c = guess->columns;
  found f = search_one(guess, is_exact_instant);
  if (f.count != 1) {
    f = search_one(guess, is_instant);
  }
  if (f.count) {
    return take_column(guess, &f, "times", c->time[0]);
  }
  const found date = search_one(guess, is_bare_date), clock = search_one(guess, is_clock);
  if (date.count && clock.count) {
    return take_column(guess, &date, "dates", c->time[0]) && take_column(guess, &clock, "clocks", c->time[1]);
  }
  f = search(guess, is_number, true);
  if (f.count) {
    return take_column(guess, &f, "times in numbers", c->time[0]);
  }
  hw__guess_doubt(guess, "no column of times found; add: time: and the name of one");
  return false;
}

/* Times in numbers: the name says the unit, or their size does. */
static hw_time_form form_of_numbers(hw__slice name, const look *l) {
  static const struct {
    const char *words;
    hw_time_form form;
  } units[] = {{"excel|serial", HW_TIME_EXCEL},
               {"unix|epoch", HW_TIME_UNIX},
               {"(s)|[s]|_s|sec|sek", HW_TIME_SECONDS},
               {"(min)|[min]|_min|minute", HW_TIME_MINUTES},
               {"(h)|[h]|_h|hour|stunde", HW_TIME_HOURS}};
  const bool since_1970 = l->lowest > 631152000.0 && l->highest < 4102444800.0; /* from 1990 on to 2100 */
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (hw__guess_speaks_of(name, units[i].words)) {
      return units[i].form == HW_TIME_SECONDS && since_1970 ? HW_TIME_UNIX : units[i].form;
    }
  }
  /* Numbers in this range are days from 1982 to 2064; minutes since the start of an incident are never that large. */
  return l->lowest > 30000 && l->highest < 60000 ? HW_TIME_EXCEL : since_1970 ? HW_TIME_UNIX : HW_TIME_OPEN;
}

/* The name or a line under it may give the order, if the rows agree; otherwise the rows show it, or a point between
 * day and month does. */
static hw_time_form form_of_dates(const hw__guess *guess, size_t column, const look *l) {
  static const struct {
    const char *words;
    hw_time_form form;
  } orders[] = {{"yyyymm|yyyy-mm|yyyy/mm|yymmdd|jjjjmm", HW_TIME_YMD},
                {"mm/dd|mm-dd|m/d/y|mmddyy", HW_TIME_MDY},
                {"dd/mm|dd-mm|dd.mm|tt.mm|d/m/y|ddmmyy|ttmmjj", HW_TIME_DMY}};
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    if (l->form[orders[i].form] && speaks(guess, column, orders[i].words)) {
      return orders[i].form;
    }
  }
  if (l->form[HW_TIME_YMD]) {
    return HW_TIME_YMD;
  }
  if (l->form[HW_TIME_DMY] != l->form[HW_TIME_MDY]) {
    return l->form[HW_TIME_DMY] ? HW_TIME_DMY : HW_TIME_MDY;
  }
  const hw__slice text = hw__guess_cell(guess, 0, column);
  return text.size > 2 && (text.text[1] == '.' || text.text[2] == '.') ? HW_TIME_DMY : HW_TIME_OPEN;
}

static void choose_form(hw__guess *guess, size_t column, const look *l) {
  hw_columns *c = guess->columns;
  char shown[HW__EXCERPT_SIZE];
  const hw__slice name = hw__guess_name(guess, column);
  if (c->time_form != HW_TIME_OPEN) {
    return;
  }
  c->time_form = is_date(l) ? form_of_dates(guess, column, l) : l->number ? form_of_numbers(name, l) : HW_TIME_OPEN;
  if (c->time_form != HW_TIME_OPEN) {
    hw__guess_tell(guess, "time from '%s'%s%s%s, written as %s", hw__excerpt(name, shown),
                   c->time[1][0] ? " and '" : "", c->time[1], c->time[1][0] ? "'" : "",
                   hw__word_of(hw__time_words, (int)c->time_form));
  } else if (is_date(l)) {
    hw__guess_doubt(guess, "'%s' may be day or month first; add: time_as: dmy or mdy", hw__excerpt(name, shown));
  } else {
    hw__guess_doubt(guess, "'%s' holds times in an unknown way; add: time_as: s, min, h, excel, unix, ymd, dmy or mdy",
                    hw__excerpt(name, shown));
  }
}

/* A column in which every cell is a zone. */
static bool zone_in_column(const hw__guess *guess, size_t column) {
  double offset_s;
  size_t seen = 0;
  for (size_t row = 0; row < hw__guess_rows(guess); row++) {
    const hw__slice text = hw__guess_cell(guess, row, column);
    if (text.size && !((text.text[0] | 32) >= 'a' && (text.text[0] | 32) <= 'z') && text.text[0] != '+' &&
        text.text[0] != '-') {
      return false;
    }
    if (!hw__zone_offset_named(text, &offset_s)) {
      return false;
    }
    seen++;
  }
  return seen > 0;
}

/* Zones in the rows take precedence over the one given for times without a zone. */
static void choose_zone(hw__guess *guess, size_t column, const look *l) {
  hw_columns *c = guess->columns;
  char shown[HW__EXCERPT_SIZE];
  const bool own_clock = c->time_form == HW_TIME_UNIX || c->time_form >= HW_TIME_SECONDS;
  if (own_clock || c->time_form == HW_TIME_OPEN || c->timezone_from[0] || (is_date(l) && l->offset)) {
    return;
  }
  for (size_t i = 0; i < hw__guess_width(guess); i++) {
    if (zone_in_column(guess, i)) {
      hw__guess_copy(c->timezone_from, HW_COLUMN_SIZE, hw__guess_name(guess, i));
      hw__guess_tell(guess, "time zones from '%s'", hw__excerpt(hw__guess_name(guess, i), shown));
      return;
    }
  }
  char named[HW_COLUMN_SIZE] = "";
  const ptrdiff_t clock = c->time[1][0] ? hw__guess_find(guess, c->time[1]) : -1;
  if (!zone_in_name(hw__guess_name(guess, column), named) && clock >= 0) {
    zone_in_name(hw__guess_name(guess, (size_t)clock), named);
  }
  if (c->timezone[0]) {
    if (named[0] && strcmp(named, c->timezone) != 0) {
      hw__guess_tell(guess, "times in %s as given, though the name of their column says %s", c->timezone, named);
    }
    return;
  }
  if (named[0]) {
    snprintf(c->timezone, sizeof c->timezone, "%s", named);
    hw__guess_tell(guess, "times in %s, by the name of their column", c->timezone);
    return;
  }
  hw__guess_doubt(guess, "times without an offset; add: timezone: and one such as Europe/Berlin (or --timezone)");
}

/* Rows above the names would be skipped without a word. They may be another table before this one, or the names may
 * be at the end. */
static void doubt_rows_above(hw__guess *guess, size_t column) {
  const hw_columns *c = guess->columns;
  for (size_t i = 0; i < guess->table.header; i++) {
    const hw__table_line *line = &guess->table.lines[i];
    hw__date date;
    double clock_s;
    const ptrdiff_t beside = c->time[1][0] ? hw__guess_find(guess, c->time[1]) : -1;
    if (column < line->count && hw__date_parse(line->cells[column], c->time_form, &date) &&
        (beside < 0 || ((size_t)beside < line->count && hw__clock_parse(line->cells[beside], &clock_s)))) {
      hw__guess_doubt(guess, "line %zu above the names looks like a row; expected one table, or the same names again",
                      line->line);
      return;
    }
  }
}

void hw__guess_time(hw__guess *guess) {
  hw_columns *c = guess->columns;
  if (!c->time[0][0] && !choose_columns(guess)) {
    return;
  }
  const ptrdiff_t column = hw__guess_find(guess, c->time[0]);
  if (column < 0) {
    hw__guess_doubt(guess, "no column '%.60s' for the time, expected one of the header's names", c->time[0]);
    return;
  }
  const look l = look_at(guess, (size_t)column);
  choose_form(guess, (size_t)column, &l);
  choose_zone(guess, (size_t)column, &l);
  doubt_rows_above(guess, (size_t)column);
}

/* Separator, names, first row, decimal mark. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/date.h"
#include "io/fields.h"
#include "io/foreign.h"
#include "io/guess.h"

enum { MOST_WIDTH = 256 };

void hw__table_free(hw__table *table) {
  for (size_t i = 0; i < table->count; i++) {
    free(table->lines[i].cells);
  }
  free(table->lines);
  *table = (hw__table){0};
}

/* Fields of a line by this separator; 0 when its quotes do not close or nothing stands between them. */
static size_t split(hw__slice line, char separator, hw__slice cells[MOST_WIDTH]) {
  hw__fields fields = hw__fields_of(line, separator, false);
  size_t count = 0;
  bool any = false;
  while (fields.more && count < MOST_WIDTH) {
    bool doubled;
    if (!hw__fields_take(&fields, &cells[count], &doubled)) {
      return 0;
    }
    cells[count] = hw__slice_trim(cells[count]);
    any = any || cells[count].size > 0;
    count++;
  }
  return any ? count : 0;
}

/* The next line of the head, without its end; false after the last. */
static bool next_line(hw__slice *head, hw__slice *line) {
  if (!head->size) {
    return false;
  }
  const char *newline = memchr(head->text, '\n', head->size);
  const size_t size = newline ? (size_t)(newline - head->text) : head->size;
  *line = (hw__slice){head->text, size};
  if (size && line->text[size - 1] == '\r') {
    line->size--;
  }
  const size_t taken = size + (newline ? 1 : 0);
  head->text += taken;
  head->size -= taken;
  return true;
}

static bool is_number(hw__slice text) {
  double value;
  return hw__guess_number(text, '.', &value) || hw__guess_number(text, ',', &value);
}

/* Something that only a row of data holds. */
static bool is_datum(hw__slice text) {
  hw__date date;
  double seconds;
  return is_number(text) || hw__date_parse(text, HW_TIME_YMD, &date) || hw__date_parse(text, HW_TIME_DMY, &date) ||
         hw__date_parse(text, HW_TIME_MDY, &date) || hw__clock_parse(text, &seconds);
}

static size_t data_of(const hw__slice *cells, size_t count) {
  size_t data = 0;
  for (size_t i = 0; i < count; i++) {
    data += is_datum(cells[i]);
  }
  return data;
}

/* How good a separator is: the number of data columns in the last row, times the number of rows with the same width. */
static size_t score(hw__slice head, char separator) {
  hw__slice line, cells[MOST_WIDTH];
  size_t width[HW__GUESS_LINES], data[HW__GUESS_LINES], count = 0;
  while (count < HW__GUESS_LINES && next_line(&head, &line)) {
    if (hw__slice_trim(line).size && !hw__foreign_comment(line, separator)) {
      width[count] = split(line, separator, cells);
      data[count] = data_of(cells, width[count]);
      count += width[count] > 0;
    }
  }
  while (count && data[count - 1] == 0) { /* what comes after the rows */
    count--;
  }
  if (count < 2 || width[count - 1] < 2) {
    return 0;
  }
  size_t alike = 0, names = 0;
  for (size_t i = 0; i < count; i++) {
    alike += width[i] == width[count - 1] && data[i] > 0;
    names += width[i] == width[count - 1] && data[i] == 0;
  }
  return names ? alike * data[count - 1] : 0;
}

static char find_separator(hw__slice head) {
  static const char marks[] = "\t;|,";
  size_t best = 0;
  char found = 0;
  for (const char *mark = marks; *mark; mark++) {
    const size_t points = score(head, *mark);
    if (points > best) {
      best = points;
      found = *mark;
    }
  }
  return found;
}

static hw_status keep_line(hw__table *table, hw__slice line, size_t number, char separator) {
  hw__slice cells[MOST_WIDTH];
  const size_t count = split(line, separator, cells);
  if (count == 0) {
    return HW_OK;
  }
  hw__table_line *kept = &table->lines[table->count];
  *kept = (hw__table_line){malloc((count + 1) * sizeof *kept->cells), count, number};
  if (!kept->cells) {
    return HW_ENOMEM;
  }
  memcpy(kept->cells, cells, count * sizeof *cells);
  table->count++;
  return HW_OK;
}

static hw_status keep_lines(hw__guess *guess, hw__slice head, size_t number) {
  hw__table *table = &guess->table;
  table->lines = calloc(HW__GUESS_LINES, sizeof *table->lines);
  hw_status status = table->lines ? HW_OK : HW_ENOMEM;
  hw__slice line;
  for (; status == HW_OK && table->count < HW__GUESS_LINES && next_line(&head, &line); number++) {
    if (hw__slice_trim(line).size && !hw__foreign_comment(line, guess->columns->separator)) {
      status = keep_line(table, line, number, guess->columns->separator);
    }
  }
  return status;
}

static size_t filled(const hw__table_line *line) {
  size_t count = 0;
  for (size_t i = 0; i < line->count; i++) {
    count += line->cells[i].size > 0;
  }
  return count;
}

static void cut(hw__table *table, size_t count) {
  while (table->count > count) {
    free(table->lines[--table->count].cells);
  }
}

/* The same names once more, though perhaps not all of them: one table per site, one after the other. */
static bool names_again(const hw__table_line *names, const hw__table_line *line) {
  size_t same = 0;
  for (size_t i = 0; i < names->count && i < line->count; i++) {
    const hw__slice a = names->cells[i], b = line->cells[i];
    same += a.size && a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
  }
  return 2 * same >= names->count && data_of(line->cells, line->count) == 0;
}

/* Only the first table is looked at. */
static void cut_at_names(hw__table *table) {
  for (size_t i = table->first; i < table->count; i++) {
    if (names_again(&table->lines[table->header], &table->lines[i])) {
      cut(table, i);
    }
  }
}

/* Rows under the names at `header`, up to where another table begins. */
static void use_names(hw__table *table, size_t header) {
  table->header = header;
  table->first = header + 1;
  while (table->first < table->count &&
         data_of(table->lines[table->first].cells, table->lines[table->first].count) == 0) {
    table->first++;
  }
  cut_at_names(table);
}

/* Rows begin where data begin and go on to the end. Of the lines before them that are as wide, the names are the one
 * with the fewest gaps; of several the first, for units stand below names. */
static bool find_rows(hw__table *table) {
  while (table->count && data_of(table->lines[table->count - 1].cells, table->lines[table->count - 1].count) == 0) {
    cut(table, table->count - 1);
  }
  if (table->count < 2) {
    return false;
  }
  const size_t width = table->lines[table->count - 1].count;
  size_t first = table->count - 1;
  while (first > 0 && data_of(table->lines[first - 1].cells, table->lines[first - 1].count) > 0 &&
         table->lines[first - 1].count == width) {
    first--;
  }
  size_t header = first;
  for (size_t i = first; i > 0 && table->lines[i - 1].count == width && data_of(table->lines[i - 1].cells, width) == 0;
       i--) {
    if (header == first || filled(&table->lines[i - 1]) >= filled(&table->lines[header])) {
      header = i - 1;
    }
  }
  if (header == first) {
    return false;
  }
  for (size_t i = 0; i < header; i++) {
    if (names_again(&table->lines[header], &table->lines[i])) {
      header = i;
    }
  }
  use_names(table, header);
  return true;
}

/* Names where the mapping says they are. */
static bool use_header(hw__guess *guess) {
  hw__table *table = &guess->table;
  for (size_t i = 0; i < table->count; i++) {
    if (table->lines[i].line == guess->columns->header) {
      table->header = i;
      table->first = i + 1;
      while (table->first < table->count &&
             table->lines[table->first].line <= guess->columns->header + guess->columns->skip) {
        table->first++;
      }
      cut_at_names(table);
      return true;
    }
  }
  return false;
}

/* Names are on the line where the mapping's time column is. */
static bool use_named(hw__guess *guess) {
  hw__table *table = &guess->table;
  for (size_t i = 0; i < table->count; i++) {
    for (size_t k = 0; k < table->lines[i].count; k++) {
      if (hw__slice_is(table->lines[i].cells[k], guess->columns->time[0])) {
        use_names(table, i);
        return table->first < table->count;
      }
    }
  }
  return false;
}

static const char *separator_name(char separator) {
  return separator == '\t' ? "tabs" : separator == ';' ? "semicolons" : separator == '|' ? "bars" : "commas";
}

hw_status hw__guess_table(hw__guess *guess, hw__slice head, size_t first_line) {
  hw_columns *c = guess->columns;
  const bool given = c->separator != 0;
  if (!given) {
    c->separator = find_separator(head);
    if (!c->separator) {
      hw__guess_doubt(guess, "no table of names and rows found, expected readings as CSV or NDJSON");
      return HW_OK;
    }
  }
  const hw_status status = keep_lines(guess, head, first_line);
  if (status != HW_OK) {
    return status;
  }
  if (c->header) {
    if (!use_header(guess)) {
      hw__guess_doubt(guess, "no names on line %zu, expected header: and the number of their line", c->header);
    }
    return HW_OK;
  }
  if (!(c->time[0][0] && use_named(guess)) && !find_rows(&guess->table)) {
    hw__guess_doubt(guess, "no line with names above the rows found; add: header: and its number");
    return HW_OK;
  }
  c->header = guess->table.lines[guess->table.header].line;
  c->skip = guess->table.lines[guess->table.first].line - c->header - 1;
  if (!given) {
    hw__guess_tell(guess, "%zu columns between %s", hw__guess_width(guess), separator_name(c->separator));
  }
  if (c->skip) {
    hw__guess_tell(guess, "%zu line%s between the names and the rows passed over", c->skip, c->skip == 1 ? "" : "s");
  }
  return HW_OK;
}

void hw__guess_decimal(hw__guess *guess) {
  hw_columns *c = guess->columns;
  if (c->decimal || c->separator == ',') {
    c->decimal = c->decimal ? c->decimal : '.';
    return;
  }
  size_t commas = 0, points = 0;
  bool thousands = true; /* every comma might separate thousands */
  for (size_t row = 0; row < hw__guess_rows(guess); row++) {
    for (size_t i = 0; i < hw__guess_width(guess); i++) {
      const hw__slice text = hw__guess_cell(guess, row, i);
      const char *comma = memchr(text.text, ',', text.size);
      double value;
      if (comma && hw__guess_number(text, ',', &value)) {
        commas++;
        thousands = thousands && text.text + text.size - comma == 4 && text.text[0] != '0';
      } else if (memchr(text.text, '.', text.size) && hw__guess_number(text, '.', &value)) {
        points++;
      }
    }
  }
  if (commas && (points || thousands)) {
    hw__guess_doubt(guess, "numbers with commas%s; add: decimal: \",\" or \".\"",
                    points ? " and numbers with points" : " before three digits, which may be thousands");
  }
  c->decimal = commas ? ',' : '.';
  if (commas) {
    hw__guess_tell(guess, "numbers with a decimal comma");
  }
}

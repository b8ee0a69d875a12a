/* Completes a mapping from the table itself. Every choice is reported, and where a table can be understood in two
 * ways neither is chosen. */
#ifndef HW_IO_GUESS_H
#define HW_IO_GUESS_H

#include "headwater/io.h"
#include "io/number.h"

/* The head of a table, split. */
typedef struct {
  hw__slice *cells; /* blanks taken off */
  size_t count;
  size_t line; /* its number in the file, from 1 */
} hw__table_line;

typedef struct {
  hw__table_line *lines;
  size_t count;
  size_t header, first; /* indices of the names and of the first row */
} hw__table;

typedef struct {
  const char *name;      /* of the file */
  const hw_river *river; /* NULL: not known */
  hw_columns *columns;   /* given in part; filled in */
  hw__table table;
  hw_warn tell, doubt; /* sentences on what was taken, and on what could not be */
  void *context;
  size_t doubts;
  hw_error *error; /* the first doubt */
} hw__guess;

enum { HW__GUESS_LINES = 120 };

/* Completes guess->columns from the head, the lines from number first_line on. Without columns->header the line with
 * the names is looked for. Status: HW_EINPUT when something stays in doubt, HW_ENOMEM */
hw_status hw__guess_columns(hw__guess *guess, hw__slice head, size_t first_line);

/* Its parts, in this order. */
hw_status hw__guess_table(hw__guess *guess, hw__slice head, size_t first_line);
void hw__guess_decimal(hw__guess *guess);
void hw__guess_time(hw__guess *guess);
void hw__guess_value(hw__guess *guess);
void hw__guess_unit(hw__guess *guess);
void hw__table_free(hw__table *table);

/* For the parts. Both put the line with the names in front of the sentence. */
void hw__guess_tell(hw__guess *guess, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hw__guess_doubt(hw__guess *guess, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t hw__guess_width(const hw__guess *guess);
/* A column's name; the cell of row `row` (from 0) under it, empty beyond the end. */
hw__slice hw__guess_name(const hw__guess *guess, size_t column);
size_t hw__guess_rows(const hw__guess *guess);
hw__slice hw__guess_cell(const hw__guess *guess, size_t row, size_t column);
/* Place of the column of this name, or -1. */
ptrdiff_t hw__guess_find(const hw__guess *guess, const char *name);
void hw__guess_copy(char *out, size_t size, hw__slice text);

/* Unit of a column by its name or by a line of units under the names, as our word; NULL: none. */
const char *hw__guess_unit_of(const hw__guess *guess, size_t column);
/* A text that stands for no reading, by the mapping or by custom. */
bool hw__guess_is_missing(const hw__guess *guess, hw__slice text);

/* A number with this decimal mark, `<` or `>` before it allowed. */
bool hw__guess_number(hw__slice text, char decimal, double *out);
/* Does the text contain one of the words, which are separated by |? Case does not matter. */
bool hw__guess_speaks_of(hw__slice text, const char *words);

#endif

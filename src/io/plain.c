#include "io/plain.h"

#include <string.h>

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Length of a mark between thousands at this place, 0 for none: a blank, also one that does not break, an apostrophe,
 * or the mark that is not the decimal one. */
static size_t group_mark(hw__slice text, char decimal, bool *foreign) {
  static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\xaf", "'", "\xe2\x80\x99"};
  for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
    const size_t size = strlen(blanks[i]);
    if (text.size >= size && memcmp(text.text, blanks[i], size) == 0) {
      return size;
    }
  }
  *foreign = text.text[0] == (decimal == ',' ? '.' : ',');
  return *foreign ? 1 : 0;
}

bool hw__plain(hw__slice text, char decimal, char scratch[HW__PLAIN_SIZE], hw__slice *out) {
  size_t wrote = 0, run = 0, foreign_marks = 0; /* run: digits since the last mark */
  bool whole = true, grouped = false;           /* before the decimal mark; behind a mark between thousands */
  for (size_t i = 0; i < text.size;) {
    const char c = text.text[i];
    bool foreign = false;
    const size_t mark = whole && run ? group_mark((hw__slice){text.text + i, text.size - i}, decimal, &foreign) : 0;
    if (wrote == HW__PLAIN_SIZE) {
      return false;
    }
    if (mark) {
      if (grouped ? run != 3 : run > 3) {
        return false;
      }
      grouped = true;
      foreign_marks += foreign;
      run = 0;
      i += mark;
      continue;
    }
    if (whole && !is_digit(c) && run) { /* the decimal mark, an exponent */
      whole = false;
      if (grouped && run != 3) {
        return false;
      }
    }
    run += is_digit(c);
    scratch[wrote++] = c == ',' && decimal == ',' ? '.' : c;
    i++;
  }
  const bool doubtful = foreign_marks == 1 && whole; /* 1.234 or 1,234 */
  if (doubtful || (whole && grouped && run != 3) || (decimal == ',' && !grouped && memchr(text.text, '.', text.size))) {
    return false;
  }
  *out = (hw__slice){scratch, wrote};
  return true;
}

bool hw__stands_for_nothing(hw__slice text, char decimal) {
  static const char *const words[] = {"NA", "N/A", "n/a", "NaN",   "nan",  "NAN", "NULL", "null",
                                      "--", "---", "-",   "- - -", "#N/A", "#NV", "***",  "n.a."};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (hw__slice_is(text, words[i])) {
      return true;
    }
  }
  char scratch[HW__PLAIN_SIZE];
  double value;
  hw__slice plain;
  return hw__plain(text, decimal, scratch, &plain) && hw__number_parse(plain, &value) &&
         (value == -999 || value == -9999 || value == -99999);
}

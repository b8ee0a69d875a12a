#include "io/guess.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/columns_words.h"
#include "io/plain.h"

/* FILE:LINE of the names, and the sentence. */
static void say(hw__guess *guess, const char *format, va_list arguments, hw_error *out) {
  const hw__table *t = &guess->table;
  const int length =
      snprintf(out->text, sizeof out->text, "%s:%zu: ", guess->name, t->count ? t->lines[t->header].line : (size_t)1);
  if (length > 0 && (size_t)length < sizeof out->text) {
    vsnprintf(out->text + length, sizeof out->text - (size_t)length, format, arguments);
  }
}

void hw__guess_tell(hw__guess *guess, const char *format, ...) {
  hw_error sentence;
  va_list arguments;
  va_start(arguments, format);
  say(guess, format, arguments, &sentence);
  va_end(arguments);
  if (guess->tell) {
    guess->tell(guess->context, sentence.text);
  } else { /* nobody would be told of the guess, so none is made */
    hw__guess_doubt(guess, "%s", "a mapping that leaves something open, expected all of it");
  }
}

void hw__guess_doubt(hw__guess *guess, const char *format, ...) {
  hw_error sentence;
  va_list arguments;
  va_start(arguments, format);
  say(guess, format, arguments, &sentence);
  va_end(arguments);
  if (guess->doubts++ == 0 && guess->error) {
    *guess->error = sentence;
    const size_t length = strlen(sentence.text);
    if (!guess->doubt) { /* whoever has not asked for a mapping may not know that there is one */
      snprintf(guess->error->text + length, sizeof sentence.text - length, "; see 'headwater columns'");
    }
  }
  if (guess->doubt) {
    guess->doubt(guess->context, sentence.text);
  }
}

size_t hw__guess_width(const hw__guess *guess) {
  return guess->table.lines[guess->table.header].count;
}

hw__slice hw__guess_name(const hw__guess *guess, size_t column) {
  return guess->table.lines[guess->table.header].cells[column];
}

size_t hw__guess_rows(const hw__guess *guess) {
  return guess->table.count - guess->table.first;
}

hw__slice hw__guess_cell(const hw__guess *guess, size_t row, size_t column) {
  const size_t at = guess->table.first + row;
  const hw__table_line *line = at < guess->table.count ? &guess->table.lines[at] : NULL; /* there may be names alone */
  return line && column < line->count ? line->cells[column] : (hw__slice){"", 0};
}

ptrdiff_t hw__guess_find(const hw__guess *guess, const char *name) {
  for (size_t i = 0; i < hw__guess_width(guess); i++) {
    if (hw__column_is(hw__guess_name(guess, i), name)) {
      return (ptrdiff_t)i;
    }
  }
  return -1;
}

void hw__guess_copy(char *out, size_t size, hw__slice text) {
  const size_t length = text.size < size ? text.size : size - 1;
  memcpy(out, text.text, length);
  out[length] = '\0';
}

bool hw__guess_number(hw__slice text, char decimal, double *out) {
  char scratch[HW__PLAIN_SIZE];
  if (text.size && (text.text[0] == '<' || text.text[0] == '>')) {
    text = hw__slice_trim((hw__slice){text.text + 1, text.size - 1});
  }
  return hw__plain(text, decimal, scratch, &text) && hw__number_parse(text, out);
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool contains(hw__slice text, const char *word, size_t size) {
  for (size_t at = 0; at + size <= text.size; at++) {
    size_t same = 0;
    while (same < size && lower(text.text[at + same]) == word[same]) {
      same++;
    }
    if (same == size) {
      return true;
    }
  }
  return false;
}

bool hw__guess_speaks_of(hw__slice text, const char *words) {
  for (const char *word = words; *word;) {
    const size_t size = strcspn(word, "|");
    if (size && contains(text, word, size)) {
      return true;
    }
    word += size + (word[size] == '|');
  }
  return false;
}

hw_status hw__guess_columns(hw__guess *guess, hw__slice head, size_t first_line) {
  hw_status status = hw__guess_table(guess, head, first_line);
  if (status == HW_OK && guess->doubts == 0) {
    hw__guess_decimal(guess);
    hw__guess_time(guess);
    hw__guess_value(guess);
  }
  hw__table_free(&guess->table);
  return status == HW_OK && guess->doubts ? HW_EINPUT : status;
}

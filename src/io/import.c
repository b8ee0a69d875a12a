#include "io/import.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/columns_words.h"
#include "io/guess.h"

enum { MOST_COMMENTS = 400 };

/* The first line with something on it that is no comment; *index lines are before it. */
static bool first_line(hw__slice head, hw__slice *line, size_t *index) {
  *index = 0;
  while (head.size) {
    const char *newline = memchr(head.text, '\n', head.size);
    const size_t size = newline ? (size_t)(newline - head.text) : head.size;
    const hw__slice text = hw__slice_trim((hw__slice){head.text, size});
    if (text.size && text.text[0] != '#' && text.text[0] != '\r') {
      *line = (hw__slice){head.text, size};
      return true;
    }
    head.text += size + (newline ? 1 : 0);
    head.size -= size + (newline ? 1 : 0);
    ++*index;
  }
  return false;
}

/* Reads as many lines as are needed to see that one, and no more, because a live pipe may have no more. */
static hw_status look(hw__lines *lines, hw__slice *line, size_t *index, bool *found) {
  *found = false;
  hw_status status = HW_OK;
  for (size_t count = 1; status == HW_OK && !*found && count <= MOST_COMMENTS; count++) {
    hw__slice head;
    status = hw__lines_head(lines, count, &head);
    *found = status == HW_OK && first_line(head, line, index);
  }
  return status;
}

static bool looks_like_text(hw__slice line) {
  for (size_t i = 0; i < line.size; i++) {
    const unsigned char c = (unsigned char)line.text[i];
    if (c < 0x20 && c != '\t' && c != '\r') {
      return false;
    }
  }
  return line.size <= HW__LONGEST_LINE;
}

hw_status hw__import_begin(const hw__import *import) {
  hw__lines *lines = import->lines;
  hw__slice head;
  hw_status status = hw__lines_mark(lines);
  if (status != HW_OK || lines->encoding != HW_ENCODING_OPEN) {
    return status;
  }
  status = hw__lines_head(lines, 1, &head);
  const hw_encoding shown = status == HW_OK ? hw__encoding_unmarked(head) : HW_ENCODING_OPEN;
  const hw_columns *mapping = import->options && import->options->columns ? import->options->columns
                              : import->river                             ? import->river->import
                                                                          : NULL;
  const bool said = mapping && mapping->encoding == shown, heard = import->options && import->options->tell;
  if (shown == HW_ENCODING_OPEN || !(said || heard)) {
    return status;
  }
  if (!said) {
    hw_error sentence;
    hw__fail(&sentence, HW_OK, "%s:1: zeros between the letters and no byte-order mark, taken as %s", import->name,
             hw__word_of(hw__encoding_words, (int)shown));
    import->options->tell(import->options->context, sentence.text);
  }
  return hw__lines_decode(lines, shown);
}

hw_status hw__import_is_foreign(hw__lines *lines, bool *foreign) {
  hw__slice line = {0};
  size_t index;
  bool found;
  const hw_status status = look(lines, &line, &index, &found);
  *foreign = false;
  if (status != HW_OK || !found || !looks_like_text(line)) {
    return status; /* whatever is wrong with it, our own reader reports it */
  }
  if (line.size && line.text[line.size - 1] == '\r') {
    line.size--;
  }
  hw__header header;
  const hw_status ours = hw__csv_header(line, true, &header, NULL);
  /* A faulty line with our own column names is left to our own reader, which reports the fault. */
  const bool named = hw__guess_speaks_of(line, "concentration_");
  *foreign = hw__slice_trim(line).text[0] != '{' && (ours == HW_EEMPTY || (ours != HW_OK && !named));
  return HW_OK;
}

/* Nothing is open, so even a live pipe can be read from the line with the names on. */
static bool is_complete(const hw_columns *c) {
  const bool clock = c->time_form == HW_TIME_UNIX || c->time_form >= HW_TIME_SECONDS || c->timezone[0] ||
                     c->timezone_from[0] || c->time_form == HW_TIME_YMD;
  return c->separator && c->decimal && c->header && c->time[0][0] && c->time_form != HW_TIME_OPEN && clock &&
         c->unit[0] && (c->sensor_count || (c->sensor[0] && c->value[0]));
}

/* Excel's own line: sep=; */
static hw_status take_separator(const hw__import *import, hw_columns *columns) {
  hw__slice head;
  hw_status status = hw__lines_head(import->lines, 1, &head);
  if (status == HW_OK && head.size >= 5 && memcmp(head.text, "sep=", 4) == 0 && strchr(",;|\t", head.text[4])) {
    columns->separator = columns->separator ? columns->separator : head.text[4];
    status = hw__lines_next(import->lines, &head);
  }
  return status;
}

/* Text that is not UTF-8 and has no byte-order mark is read as Windows-1252. */
static hw_status settle_encoding(const hw__import *import, hw_columns *columns) {
  hw__slice head;
  if (import->lines->encoding != HW_ENCODING_OPEN) {
    columns->encoding = import->lines->encoding;
    return HW_OK;
  }
  hw_status status = HW_OK;
  if (columns->encoding == HW_ENCODING_OPEN) {
    status = hw__lines_head(import->lines, 1, &head);
    const bool more = status == HW_OK && !is_complete(columns);
    status = more ? hw__lines_head(import->lines, HW__GUESS_LINES, &head) : status;
    if (status != HW_OK || hw__encoding_is_utf8(head)) {
      return status;
    }
    columns->encoding = HW_WINDOWS1252;
    if (import->options && import->options->tell) {
      hw_error sentence;
      hw__fail(&sentence, HW_OK, "%s:1: letters that are no UTF-8, taken as windows-1252", import->name);
      import->options->tell(import->options->context, sentence.text);
    }
  }
  return hw__lines_decode(import->lines, columns->encoding);
}

static hw_status complete(const hw__import *import, hw_columns *columns, hw_error *error) {
  hw__slice line, head = {0};
  size_t index = 0;
  bool found;
  hw_status status = look(import->lines, &line, &index, &found);
  if (status == HW_OK) {
    status = hw__lines_head(import->lines, index + HW__GUESS_LINES, &head);
  }
  if (status != HW_OK) {
    return hw__lines_fault(import->lines, import->name, status, error);
  }
  hw__guess guess = {.name = import->name,
                     .river = import->river,
                     .columns = columns,
                     .tell = import->options ? import->options->tell : NULL,
                     .context = import->options ? import->options->context : NULL,
                     .doubt = import->doubt,
                     .error = error};
  status = hw__guess_columns(&guess, head, (size_t)import->lines->line + 1);
  return status == HW_ENOMEM ? hw__fail(error, status, "%s: %s", import->name, hw_status_text(status)) : status;
}

/* The mapping given, completed from the table's head. Of the lines only a leading `sep=;` is taken. *out is to be
 * released, also with doubts. */
static hw_status complete_columns(const hw__import *import, hw_columns **out, hw_error *error) {
  static const hw_columns open = {0};
  const hw_columns *given = import->options && import->options->columns ? import->options->columns
                            : import->river && import->river->import    ? import->river->import
                                                                        : &open;
  hw_columns *columns = NULL;
  hw_status status = hw_columns_copy(given, &columns);
  if (status == HW_OK && import->options && import->options->timezone) {
    const char *zone = import->options->timezone;
    hw__guess_copy(columns->timezone, sizeof columns->timezone, (hw__slice){zone, strlen(zone)});
  }
  if (status == HW_OK) {
    status = settle_encoding(import, columns);
  }
  if (status == HW_OK) {
    status = take_separator(import, columns);
  }
  if (status != HW_OK) {
    hw__lines_fault(import->lines, import->name, status, error);
  } else if (!is_complete(columns)) {
    status = complete(import, columns, error);
  }
  *out = columns;
  return status;
}

hw_status hw__import_open(const hw__import *import, hw_columns **columns, hw__foreign **foreign, hw_error *error) {
  hw__lines *lines = import->lines;
  hw_status status = complete_columns(import, columns, error);
  while (status == HW_OK && lines->line < (*columns)->header + (*columns)->skip) {
    hw__slice line;
    status = hw__lines_next(lines, &line);
    if (status != HW_OK) {
      return status == HW_EEND ? hw__fail(error, HW_EINPUT, "%s:%llu: no names on line %zu, expected them there",
                                          import->name, (unsigned long long)lines->line, (*columns)->header)
                               : hw__lines_fault(lines, import->name, status, error);
    }
    hw_error sentence;
    if (lines->line == (*columns)->header) {
      status = hw__foreign_create(*columns, import->river, line, foreign, &sentence);
    }
    if (status != HW_OK) {
      hw__fail(error, status, "%s:%llu: %s", import->name, (unsigned long long)lines->line, sentence.text);
    }
  }
  return status;
}

static hw_status propose(const hw__import *import, hw_columns **out, hw_error *error) {
  bool foreign = true;
  hw_status status = HW_OK;
  if (!import->options || !import->options->columns) {
    status = hw__import_is_foreign(import->lines, &foreign);
  }
  if (status != HW_OK) {
    return hw__lines_fault(import->lines, import->name, status, error);
  }
  if (foreign) {
    return complete_columns(import, out, error);
  }
  if (import->options && import->options->tell) {
    hw_error sentence;
    hw__fail(&sentence, HW_OK, "%s: written headwater's way, nothing to map", import->name);
    import->options->tell(import->options->context, sentence.text);
  }
  return HW_OK;
}

hw_status hw_columns_propose(const char *path, const hw_river *river, const hw_reader_options *options, hw_warn doubt,
                             hw_columns **out, hw_error *error) {
  *out = NULL;
  hw__lines lines;
  hw_status status = hw__lines_of_file(path, "a file of readings", &lines, error);
  if (status != HW_OK) {
    return status;
  }
  const char *name = hw__lines_name(path);
  const hw__import import = {&lines, name, river, options, doubt};
  status = hw__lines_open(&lines);
  if (status == HW_OK) {
    status = hw__import_begin(&import);
  }
  hw__slice line = {0};
  size_t index;
  bool found = false;
  if (status == HW_OK) {
    status = look(&lines, &line, &index, &found);
  }
  if (status != HW_OK) {
    hw__lines_fault(&lines, name, status, error);
  } else if (!found || !looks_like_text(line)) {
    status = hw__fail(error, HW_EINPUT, "%s:1: %s", name,
                      found ? hw__encoding_binary(line) : "an empty file, expected a table as text");
  } else {
    status = propose(&import, out, error);
  }
  hw__lines_close(&lines);
  return status;
}

/* A mapping of columns as the lines one would write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/columns_words.h"

/* What inside quotes YAML would take for the end of a line or for a mark. */
static const struct {
  const char *bytes, *escape;
} escapes[] = {{"\"", "\\\""},          {"\\", "\\\\"},          {"\xc2\x85", "\\N"},
               {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}, {"\xef\xbb\xbf", "\\uFEFF"}};

/* One character of a text in quotes; how many bytes it was. */
static size_t write_character(FILE *out, const char *text) {
  for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
    const size_t size = strlen(escapes[i].bytes);
    if (strncmp(text, escapes[i].bytes, size) == 0) {
      fputs(escapes[i].escape, out);
      return size;
    }
  }
  putc(*text, out);
  return 1;
}

/* In double quotes unless it is plainly a word. */
static void write_text(FILE *out, const char *text) {
  bool plain = text[0] != '\0' && ((text[0] | 32) >= 'a' && (text[0] | 32) <= 'z');
  for (const char *p = text; *p; p++) {
    const bool letter = ((*p | 32) >= 'a' && (*p | 32) <= 'z') || (*p >= '0' && *p <= '9') || strchr("_-./ ()", *p);
    plain = plain && letter;
  }
  plain = plain && text[strlen(text) - 1] != ' ';
  static const char *const meant[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
    plain = plain && strcmp(text, meant[i]) != 0;
  }
  if (plain) {
    fputs(text, out);
    return;
  }
  putc('"', out);
  for (const char *p = text; *p;) {
    p += write_character(out, p);
  }
  putc('"', out);
}

static void write_line(FILE *out, const char *key, const char *text) {
  if (text && text[0]) {
    fprintf(out, "  %s: ", key);
    write_text(out, text);
    putc('\n', out);
  }
}

static void write_texts(FILE *out, const char *key, char (*list)[HW_WORD_SIZE], size_t count) {
  if (count) {
    fprintf(out, "  %s: [", key);
    for (size_t i = 0; i < count; i++) {
      fputs(i ? ", " : "", out);
      write_text(out, list[i]);
    }
    fputs("]\n", out);
  }
}

static void write_sensors(FILE *out, const char *key, const hw_column_sensor *list, size_t count) {
  if (count) {
    fprintf(out, "  %s:\n", key);
    for (size_t i = 0; i < count; i++) {
      fputs("    ", out);
      write_text(out, list[i].id);
      fputs(": ", out);
      write_text(out, list[i].name);
      putc('\n', out);
    }
  }
}

hw_status hw_columns_write(const hw_columns *c, char **out) {
  size_t size;
  char *text = NULL;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) {
    return HW_ENOMEM;
  }
  fputs("import:\n", stream);
  write_line(stream, "encoding", hw__word_of(hw__encoding_words, (int)c->encoding));
  write_line(stream, "separator", hw__word_of(hw__separator_words, c->separator));
  write_line(stream, "decimal", hw__word_of(hw__decimal_words, c->decimal));
  if (c->header) {
    fprintf(stream, "  header: %zu\n", c->header);
  }
  if (c->skip) {
    fprintf(stream, "  skip: %zu\n", c->skip);
  }
  if (c->time[1][0]) {
    fputs("  time: [", stream);
    write_text(stream, c->time[0]);
    fputs(", ", stream);
    write_text(stream, c->time[1]);
    fputs("]\n", stream);
  } else {
    write_line(stream, "time", c->time[0]);
  }
  write_line(stream, "time_as", hw__word_of(hw__time_words, (int)c->time_form));
  write_line(stream, "timezone", c->timezone);
  write_line(stream, "timezone_from", c->timezone_from);
  write_line(stream, "twice", hw__word_of(hw__twice_words, (int)c->twice));
  write_line(stream, "sensor", c->sensor);
  write_line(stream, "value", c->value);
  write_sensors(stream, "sensors", c->sensors, c->sensor_count);
  write_line(stream, "unit", c->unit);
  write_sensors(stream, "names", c->names, c->name_count);
  write_texts(stream, "missing", c->missing, c->missing_count);
  write_line(stream, "quality", c->quality);
  write_texts(stream, "good", c->good, c->good_count);
  if (fclose(stream) != 0) {
    free(text);
    return HW_ENOMEM;
  }
  *out = text;
  return HW_OK;
}

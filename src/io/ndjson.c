/* NDJSON: one flat object a line. Only the keys of readings are looked at; other keys may hold any JSON
 * value, nested ones included, and are skipped. A hand-written pass over the line, because readings
 * come by the gigabyte and a tree per line would cost more than all the rest. */
#include <string.h>

#include "core/text.h"
#include "io/row.h"

enum { DEEPEST = 64 };

typedef struct {
  const char *next, *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->next < c->end && (*c->next == ' ' || *c->next == '\t')) {
    c->next++;
  }
}

static bool take(cursor *c, char wanted) {
  skip_blanks(c);
  if (c->next < c->end && *c->next == wanted) {
    c->next++;
    return true;
  }
  return false;
}

/* A string, without its quotes and with its escapes as they stand. */
static bool take_string(cursor *c, hw__slice *out, bool *escaped) {
  *escaped = false;
  if (!take(c, '"')) {
    return false;
  }
  const char *begin = c->next;
  for (const char *p = begin; p < c->end; p++) {
    if (*p == '"') {
      *out = (hw__slice){begin, (size_t)(p - begin)};
      c->next = p + 1;
      return true;
    }
    if (*p == '\\') {
      *escaped = true;
      p++;
    }
  }
  return false;
}

/* A number, true, false or null: everything up to what may end it. */
static bool take_word(cursor *c, hw__slice *out) {
  const char *begin = c->next;
  while (c->next < c->end && !strchr(",}] \t\"{[:", *c->next)) {
    c->next++;
  }
  *out = (hw__slice){begin, (size_t)(c->next - begin)};
  return out->size > 0;
}

/* Steps over an object or array with everything in it. */
static bool skip_nested(cursor *c) {
  size_t depth = 0;
  do {
    skip_blanks(c);
    if (c->next >= c->end || depth > DEEPEST) {
      return false;
    }
    hw__slice ignored;
    bool escaped;
    switch (*c->next) {
      case '{':
      case '[':
        depth++;
        c->next++;
        break;
      case '}':
      case ']':
        depth--;
        c->next++;
        break;
      case '"':
        if (!take_string(c, &ignored, &escaped)) {
          return false;
        }
        break;
      default:
        c->next++;
    }
  } while (depth > 0);
  return true;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* \uXXXX as UTF-8; surrogate pairs are not ids anybody uses, and are refused. */
static bool unescape_unicode(const char *p, const char *end, char *out, size_t *size) {
  unsigned code = 0;
  for (int i = 0; i < 4; i++) {
    const int digit = p + i < end ? hex_digit(p[i]) : -1;
    if (digit < 0) {
      return false;
    }
    code = code * 16 + (unsigned)digit;
  }
  if (code == 0 || (code >= 0xd800 && code <= 0xdfff)) {
    return false;
  }
  size_t n = *size;
  if (code < 0x80) {
    out[n++] = (char)code;
  } else if (code < 0x800) {
    out[n++] = (char)(0xc0 | (code >> 6));
    out[n++] = (char)(0x80 | (code & 0x3f));
  } else {
    out[n++] = (char)(0xe0 | (code >> 12));
    out[n++] = (char)(0x80 | ((code >> 6) & 0x3f));
    out[n++] = (char)(0x80 | (code & 0x3f));
  }
  *size = n;
  return true;
}

static bool unescape(hw__slice *text, char scratch[HW__SCRATCH_SIZE]) {
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const char *end = text->text + text->size;
  size_t size = 0;
  if (text->size > HW__SCRATCH_SIZE) {
    return false;
  }
  for (const char *p = text->text; p < end; p++) {
    if (*p != '\\') {
      scratch[size++] = *p;
      continue;
    }
    p++;
    const char *name = p < end && *p ? strchr(names, *p) : NULL;
    if (name) {
      scratch[size++] = meanings[name - names];
    } else if (p < end && *p == 'u' && unescape_unicode(p + 1, end, scratch, &size)) {
      p += 4;
    } else {
      return false;
    }
  }
  *text = (hw__slice){scratch, size};
  return true;
}

/* One value: text of a string or word; a nested value is stepped over and gives no text. */
static bool take_value(cursor *c, hw__slice *out, bool *escaped) {
  skip_blanks(c);
  *escaped = false;
  *out = (hw__slice){NULL, 0};
  if (c->next >= c->end) {
    return false;
  }
  if (*c->next == '"') {
    return take_string(c, out, escaped);
  }
  if (*c->next == '{' || *c->next == '[') {
    return skip_nested(c);
  }
  if (!take_word(c, out)) {
    return false;
  }
  if (hw__slice_is(*out, "null")) {
    out->size = 0;
  }
  return true;
}

static hw_status keep(const hw__column *column, hw__slice value, bool escaped,
                      char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE], hw__row *row, hw_error *error) {
  if (column->role >= HW__BELOW_LIMIT) {
    const bool flag = value.text && hw__slice_is(value, "true");
    if (!flag && !(value.text && (value.size == 0 || hw__slice_is(value, "false")))) {
      return hw__fail(error, HW_EINPUT, "%s is neither true nor false", column->name);
    }
    *(column->role == HW__BELOW_LIMIT ? &row->below_limit : &row->above_limit) = flag;
    return HW_OK;
  }
  hw__slice *wanted = column->role == HW__TIME        ? &row->time
                      : column->role == HW__SENSOR    ? &row->sensor
                      : column->role == HW__RIVER     ? &row->river
                      : column->role == HW__GAUGE     ? &row->gauge
                      : column->role == HW__DISCHARGE ? &row->discharge
                                                      : &row->value;
  if (wanted->text) {
    return hw__fail(error, HW_EINPUT, "a second %s in one object, expected one time, sensor and concentration",
                    column->name);
  }
  if (!value.text) {
    return hw__fail(error, HW_EINPUT, "%s holds an object or array, expected a number or text", column->name);
  }
  if (escaped && !unescape(&value, scratch[column->role - HW__TIME])) {
    return hw__fail(error, HW_EINPUT, "%s has an escape that is not JSON's or is too long, expected a short text",
                    column->name);
  }
  *wanted = hw__slice_trim(value);
  if (column->role == HW__TIME) {
    row->time_column = column;
  } else if (column->role == HW__VALUE) {
    row->value_column = column;
  }
  return HW_OK;
}

hw_status hw__ndjson_row(hw__slice line, char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE], hw__row *out, hw_error *error) {
  hw__row row = {0};
  cursor c = {line.text, line.text + line.size};
  bool good = take(&c, '{');
  bool more = good && !take(&c, '}');
  while (good && more) {
    hw__slice key, value;
    bool key_escaped, value_escaped;
    good = take_string(&c, &key, &key_escaped) && take(&c, ':') && take_value(&c, &value, &value_escaped);
    const hw__column *column = good && !key_escaped ? hw__column_find(key) : NULL;
    if (column) {
      const hw_status status = keep(column, value, value_escaped, scratch, &row, error);
      if (status != HW_OK) {
        return status;
      }
    }
    more = take(&c, ',');
    good = good && (more || take(&c, '}'));
  }
  skip_blanks(&c);
  if (!good || c.next != c.end) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(error, HW_EINPUT, "'%s' is not one JSON object, expected {\"time_s\": ..., \"sensor\": ..., ...}",
                    hw__excerpt(line, shown));
  }
  *out = row;
  return HW_OK;
}

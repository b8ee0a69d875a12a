#include "io/fields.h"

hw__fields hw__fields_of(hw__slice line, char separator, bool comments) {
  return (hw__fields){
      .next = line.text, .end = line.text + line.size, .separator = separator, .comments = comments, .more = true};
}

/* A quoted field; *next stands behind its opening quote. The text between the quotes, "" still doubled. */
static bool take_quoted(hw__fields *c, hw__slice *out, bool *doubled) {
  const char *begin = c->next;
  for (const char *p = begin; p < c->end; p++) {
    if (*p != '"') {
      continue;
    }
    if (p + 1 < c->end && p[1] == '"') {
      *doubled = true;
      p++;
      continue;
    }
    *out = (hw__slice){begin, (size_t)(p - begin)};
    c->next = p + 1;
    return true;
  }
  return false;
}

bool hw__fields_take(hw__fields *c, hw__slice *out, bool *doubled) {
  *doubled = false;
  const char *p = c->next;
  while (p < c->end && (*p == ' ' || (*p == '\t' && c->separator != '\t'))) {
    p++;
  }
  bool quoted = false;
  if (p < c->end && *p == '"') {
    quoted = true;
    c->next = p + 1;
    if (!take_quoted(c, out, doubled)) {
      return false;
    }
    p = c->next;
  }
  const char *begin = p;
  while (p < c->end && *p != c->separator && !(*p == '#' && c->comments)) {
    p++;
  }
  const hw__slice plain = hw__slice_trim((hw__slice){begin, (size_t)(p - begin)});
  if (quoted && plain.size) {
    return false;
  }
  if (!quoted) {
    *out = plain;
  }
  c->comment = p < c->end && *p == '#' && c->comments;
  c->more = p < c->end && *p == c->separator;
  c->next = p + (c->more ? 1 : 0);
  return true;
}

bool hw__fields_undouble(hw__slice *field, char *scratch, size_t size) {
  if (field->size > size) {
    return false;
  }
  size_t length = 0;
  for (size_t i = 0; i < field->size; i++) {
    scratch[length++] = field->text[i];
    i += field->text[i] == '"';
  }
  *field = (hw__slice){scratch, length};
  return true;
}

/* A line split at its separator: fields may be quoted with "..." and "" inside for one quote. */
#ifndef HW_IO_FIELDS_H
#define HW_IO_FIELDS_H

#include "io/number.h"

typedef struct {
  const char *next, *end;
  char separator;
  bool comments; /* `#` outside quotes ends the line */
  bool more;     /* another field follows, perhaps an empty one */
  bool comment;  /* the line was cut by a comment */
} hw__fields;

hw__fields hw__fields_of(hw__slice line, char separator, bool comments);
/* The next field, blanks at its ends taken off. *doubled: it holds "" that stand for ".
 * False when a quote is not closed or text follows it. */
bool hw__fields_take(hw__fields *fields, hw__slice *out, bool *doubled);
/* "" becomes ", into scratch of this size. False when it does not fit. */
bool hw__fields_undouble(hw__slice *field, char *scratch, size_t size);

#endif

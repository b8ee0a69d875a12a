/* JSON, written piece by piece into a growing text. Commas and nesting are handled here; a failed allocation is
 * remembered and reported once at the end. */
#ifndef HW_IO_JSON_OUT_H
#define HW_IO_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headwater/status.h"

typedef struct {
  char *text; /* NULL before the first piece */
  size_t size, capacity;
  bool failed;
} hw__text;

void hw__text_add(hw__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Hands the text over, to be freed by its new owner. Status: HW_ENOMEM when any piece failed. */
hw_status hw__text_finish(hw__text *text, char **out);

typedef struct {
  hw__text text;
  bool comma;      /* something stands before the next piece */
  bool indented;   /* over lines, two blanks a level */
  int depth, flat; /* levels below `flat` stay on one line */
} hw__json;

/* key is NULL inside arrays. */
void hw__json_open(hw__json *json, const char *key, char bracket);
void hw__json_close(hw__json *json, char bracket);
void hw__json_text(hw__json *json, const char *key, const char *value); /* NULL: null */
void hw__json_number(hw__json *json, const char *key, double value);    /* not finite: null */
void hw__json_count(hw__json *json, const char *key, uint64_t value);
void hw__json_bool(hw__json *json, const char *key, bool value);
void hw__json_null(hw__json *json, const char *key);
void hw__json_numbers(hw__json *json, const char *key, const double *values, size_t count);

#endif

#include "core/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hw_status hw__fail(hw_error *error, hw_status status, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}

hw_status hw__fail_file(hw_error *error, const char *path, const char *expected) {
  const int code = errno;
  const bool slip = code == ENOENT || code == ENOTDIR || code == EISDIR;
  return hw__fail(error, slip ? HW_EINPUT : HW_EIO, "%s: %s, expected %s", path, strerror(code), expected);
}

/* By text; those alike by their place in the list. */
static int in_order(const void *left, const void *right) {
  const char *a = *(const char *const *)left, *b = *(const char *const *)right;
  const int by_text = strcmp(a, b);
  return by_text ? by_text : (a > b) - (a < b);
}

hw_status hw__text_repeated(const char *first, size_t stride, size_t count, size_t *at) {
  const char **sorted = calloc(count + 1, sizeof *sorted);
  if (!sorted) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < count; i++) {
    sorted[i] = first + i * stride;
  }
  qsort(sorted, count, sizeof *sorted, in_order);
  size_t found = count;
  for (size_t i = 1; i < count; i++) {
    const size_t place = (size_t)(sorted[i] - first) / stride;
    found = place < found && strcmp(sorted[i], sorted[i - 1]) == 0 ? place : found;
  }
  free((void *)sorted);
  *at = found;
  return HW_OK;
}

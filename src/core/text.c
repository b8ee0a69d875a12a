#include "core/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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

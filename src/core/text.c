#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>

hw_status hw__fail(hw_error *error, hw_status status, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}

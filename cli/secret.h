/* Passwords out of the environment: the list of processes does not show them, and programs we start do not find them.
 */
#ifndef HW_CLI_SECRET_H
#define HW_CLI_SECRET_H

#include <stdio.h>
#include <stdlib.h>

/* Taken out of the environment. NULL: not set. */
static inline const char *cli_take_secret(const char *name, char *out, size_t size) {
  const char *value = getenv(name);
  if (!value) {
    return NULL;
  }
  snprintf(out, size, "%s", value);
  unsetenv(name);
  return out;
}

#endif

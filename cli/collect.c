#include "cli/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"

int cli_method_list(const char *list, const hw_method *methods[CLI_MOST_METHODS], size_t *count) {
  *count = 0;
  if (!list) {
    size_t all;
    const hw_method *const *table = hw_methods(&all);
    for (; *count < all && *count < CLI_MOST_METHODS; (*count)++) {
      methods[*count] = table[*count];
    }
    return -1;
  }
  char copy[1024];
  if (strlen(list) >= sizeof copy) {
    return cli_fail(EXIT_USAGE, "--methods of %zu characters, expected names and commas", strlen(list));
  }
  memcpy(copy, list, strlen(list) + 1);
  char *rest = NULL;
  for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    const hw_method *method = cli_method(name);
    if (!method) {
      return EXIT_USAGE;
    }
    if (*count == CLI_MOST_METHODS) {
      return cli_fail(EXIT_USAGE, "--methods names more than %d methods", CLI_MOST_METHODS);
    }
    methods[(*count)++] = method;
  }
  return *count ? -1 : cli_fail(EXIT_USAGE, "--methods '%s', expected names and commas", list);
}

/* Room for one more. False after the fault was told. */
static bool make_room(hw_reading **readings, size_t count, size_t *room) {
  if (count < *room) {
    return true;
  }
  const size_t larger = *room ? 2 * *room : 1024;
  hw_reading *grown = realloc(*readings, larger * sizeof **readings);
  if (!grown) {
    cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
    return false;
  }
  *readings = grown;
  *room = larger;
  return true;
}

int cli_collect(cli_session *session, size_t most, hw_reading **out, size_t *count) {
  hw_reading *readings = NULL, reading;
  size_t room = 0, n = 0;
  hw_error error;
  hw_status status;
  int code = -1;
  while (code < 0 && (status = hw_reader_next(session->reader, &reading, &error)) != HW_EEND) {
    if (status != HW_OK) {
      code = cli_fail(cli_exit_code(status), "%s", error.text);
    } else if (n == most) {
      code = cli_fail(EXIT_INPUT, "%s:%llu: more than %zu readings, expected fewer: this verb keeps them all",
                      session->readings_path, (unsigned long long)hw_reader_line(session->reader), most);
    } else if (!make_room(&readings, n, &room)) {
      code = EXIT_MACHINE;
    } else {
      readings[n++] = reading;
    }
  }
  if (code < 0 && n == 0) {
    code = cli_fail(EXIT_INPUT, "%s:%llu: no readings, expected at least one", session->readings_path,
                    (unsigned long long)hw_reader_line(session->reader));
  }
  if (code >= 0) {
    free(readings);
    return code;
  }
  *out = readings;
  *count = n;
  return -1;
}

void cli_print_json_text(const char *text) {
  putchar('"');
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') {
      printf("\\%c", *c);
    } else if ((unsigned char)*c < 0x20) {
      printf("\\u%04x", (unsigned)*c);
    } else {
      putchar(*c);
    }
  }
  putchar('"');
}

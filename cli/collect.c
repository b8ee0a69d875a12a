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

int cli_collect(cli_session *session, size_t most, hw_reading **out, size_t *count) {
  hw_error error = {""};
  const hw_status status = hw_reader_rest(session->reader, most, out, count, &error);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s", *error.text ? error.text : hw_status_text(status));
  }
  return *count ? -1 : cli_explain_empty(session);
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

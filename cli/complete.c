#include "cli/complete.h"

#include <stdio.h>
#include <string.h>

/* The values that can be listed: a fixed choice, or the methods. */
static void print_values(const cli_option *option) {
  if (option->kind == OPTION_CHOICE) {
    for (size_t i = 0; option->choices[i]; i++) {
      printf("%s%s", i ? " " : "\t", option->choices[i]);
    }
  } else if (strncmp(option->name, "method", 6) == 0) {
    size_t count;
    const hw_method *const *methods = hw_methods(&count);
    for (size_t i = 0; i < count; i++) {
      printf("%s%s", i ? " " : "\t", methods[i]->name);
    }
  } else if (option->kind != OPTION_FLAG) {
    printf("\t%s", option->argument);
  }
}

int cli_complete_options(const cli_usage *usage) {
  for (size_t i = 0; i < usage->option_count; i++) {
    const cli_option *option = &usage->options[i];
    printf("--%s\t%s", option->name, option->help);
    print_values(option);
    printf("\n");
  }
  printf("--help\tthis verb's help\n");
  return cli_finish(EXIT_DONE);
}

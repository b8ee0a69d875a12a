#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/session.h"

static int run(int argc, char **argv) {
  const char *format = "text";
  const cli_option options[] = {
      {"format", OPTION_CHOICE, &format, "text|json", "how to print the list; default text", cli_formats},
  };
  static const char *const positional[] = {NULL};
  const cli_usage usage = {
      &cli_verb_methods, "[options]", "Lists the methods 'identify' and 'compare' can use, one a line.",
      positional,        options,     sizeof options / sizeof options[0]};
  const int code = cli_parse(&usage, argc, argv, NULL, NULL);
  if (code >= 0) {
    return code;
  }
  size_t count;
  const hw_method *const *methods = hw_methods(&count);
  const bool json = strcmp(format, "json") == 0;
  cli_print(json ? "[" : "");
  for (size_t i = 0; i < count; i++) {
    const hw_method *m = methods[i];
    /* Names and summaries are the program's own and hold nothing that JSON would escape. */
    if (json) {
      printf("%s\n {\"name\": \"%s\", \"summary\": \"%s\", \"needs_hydraulics\": %s, \"samples\": %s}", i ? "," : "",
             m->name, m->summary, m->traits & HW_NEEDS_HYDRAULICS ? "true" : "false", m->samples ? "true" : "false");
    } else {
      printf("%-10s %s\n", m->name, m->summary);
    }
  }
  cli_print(json ? "\n]\n" : "");
  return cli_finish(EXIT_DONE);
}

const cli_verb cli_verb_methods = {"methods", "the methods' names and one line each", run};

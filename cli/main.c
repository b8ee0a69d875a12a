/* headwater: where a river spill came from, when, how much, and how sure. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const cli_verb *const verbs[] = {
#define ROW(name) &cli_verb_##name,
    CLI_VERB_LIST(ROW)
#undef ROW
};

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static int print_help(void) {
  printf(
      "headwater: where a river spill came from, when, how much, and how sure\n\n"
      "usage: headwater VERB [operands] [options]\n\n");
  for (size_t i = 0; i < VERB_COUNT; i++) {
    printf("  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
  }
  printf(
      "\n'headwater VERB --help' explains a verb; 'headwater --version' tells the version.\n"
      "Exit codes: 0 done, 1 the input is at fault, 2 the command line is, 3 the machine is.\n");
  return cli_finish(EXIT_DONE);
}

static int print_verbs(void) {
  for (size_t i = 0; i < VERB_COUNT; i++) {
    printf("%s\t%s\n", verbs[i]->name, verbs[i]->summary);
  }
  return cli_finish(EXIT_DONE);
}

static int unknown_verb(const char *typed) {
  const char *names[VERB_COUNT];
  for (size_t i = 0; i < VERB_COUNT; i++) {
    names[i] = verbs[i]->name;
  }
  const char *nearest = cli_nearest(typed, names, VERB_COUNT);
  return cli_fail(EXIT_USAGE, "no verb '%s', expected one of those in 'headwater --help'%s%s%s", typed,
                  nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    return cli_fail(EXIT_USAGE, "no verb given, expected one of those in 'headwater --help'");
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    return print_help();
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("headwater %s\n", HW_VERSION);
    return cli_finish(EXIT_DONE);
  }
  if (strcmp(argv[1], "--complete") == 0) {
    return print_verbs();
  }
  for (size_t i = 0; i < VERB_COUNT; i++) {
    if (strcmp(verbs[i]->name, argv[1]) == 0) {
      return verbs[i]->run(argc - 1, argv + 1);
    }
  }
  return unknown_verb(argv[1]);
}

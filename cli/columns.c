/* columns: looks at a table of readings and prints the mapping that describes it. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/session.h"

typedef struct {
  cli_import import;
  const char *river;
} columns_request;

static void tell(void *context, const char *sentence) {
  (void)context;
  cli_note("%s", sentence);
}

/* Doubts are part of the proposal, so that it is clear what to add. */
static void doubt(void *context, const char *sentence) {
  (void)context;
  printf("# %s\n", sentence);
}

static int propose(const char *path, const hw_river *river, const hw_columns *given, const cli_import *import) {
  const hw_reader_options options = {.columns = given, .timezone = import->timezone, .tell = tell};
  hw_columns *columns = NULL;
  hw_error error;
  const hw_status status = hw_columns_propose(path, river, &options, doubt, &columns, &error);
  char *text = NULL;
  if (columns && hw_columns_write(columns, &text) == HW_OK) {
    cli_print(text);
  }
  free(text);
  hw_columns_free(columns);
  return status == HW_OK ? cli_finish(EXIT_DONE) : cli_finish(cli_fail(cli_exit_code(status), "%s", error.text));
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"FILE", NULL};
  columns_request request = {0};
  const cli_option options[] = {
      {"river", OPTION_TEXT, &request.river, "RIVER", "the river file, whose sensors the table's columns may name",
       NULL},
      {"columns", OPTION_TEXT, &request.import.columns, "MAPPING",
       "a mapping that is already known: a file, or time=NAME,unit=ug/l,...", NULL},
      {"timezone", OPTION_TEXT, &request.import.timezone, "ZONE",
       "time zone of times without an offset: Europe/Berlin, UTC, +01:00", NULL},
  };
  const cli_usage usage = {
      &cli_verb_columns,
      "FILE [options]",
      "Looks at a table of readings from another program, and proposes which column is which: lines for the river\n"
      "file, or for a mapping file that --columns takes. Standard error explains each choice. Where a choice is not\n"
      "certain, a comment above the proposal gives the line to add, and the exit code is 1.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[1];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (code >= 0) {
    return code;
  }
  hw_columns *given = NULL;
  code = cli_import_columns(&request.import, &given);
  cli_session session = {0};
  hw_river_init(&session.river);
  if (code < 0 && request.river) {
    code = cli_session_open(&session, request.river, NULL);
  }
  if (code < 0) {
    code = propose(operands[0], request.river ? &session.river : NULL, given, &request.import);
  }
  cli_session_close(&session);
  hw_columns_free(given);
  return code;
}

const cli_verb cli_verb_columns = {"columns", "which column of a table is which", run};

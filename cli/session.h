/* What the verbs that work on a river and its readings have in common. */
#ifndef HW_CLI_SESSION_H
#define HW_CLI_SESSION_H

#include "cli/options.h"
#include "cli/timing.h"

/* The engine people get when they name no method. */
#define CLI_DEFAULT_METHOD "posterior"
/* The method used instead in a library that was built without it. */
#define CLI_FALLBACK_METHOD "atgd"

extern const char *const cli_formats[];  /* text, json */
extern const char *const cli_variants[]; /* resolved, corrected, printed */

/* Sentences to show beside a result. */
typedef struct {
  char **sentences;
  size_t count;
} cli_notes;

typedef struct {
  const char *river_path, *readings_path;
  hw_river river;
  hw_reader *reader;
  cli_notes notes;
  cli_notes taken; /* what was taken for what in readings that are not written our way */
} cli_session;

/* How readings that are not written our way are to be read: --columns and --timezone, NULL where not given. */
typedef struct {
  const char *columns; /* a mapping in short or as YAML, or a file with one */
  const char *timezone;
} cli_import;

/* Its rows of an option table. */
/* clang-format off */
#define CLI_IMPORT_ROWS(import)                                                                                   \
  {"columns", OPTION_TEXT, &(import).columns, "MAPPING",                                                          \
   "which column is which: a file, or time=NAME,...; see 'headwater columns'", NULL},                             \
  {"timezone", OPTION_TEXT, &(import).timezone, "ZONE",                                                           \
   "time zone of times without an offset: Europe/Berlin, UTC, +01:00", NULL}
/* clang-format on */

/* The columns as given, NULL for none; to be freed. -1, or the exit code after the fault was reported. */
int cli_import_columns(const cli_import *import, hw_columns **out);

/* Loads the river and opens the readings (readings_path NULL: none). Warnings become notes; what was taken for what in
 * readings that are not written our way is told at once.
 * Returned: -1, or the exit code after the fault was reported; cli_session_close either way. */
int cli_session_open(cli_session *session, const char *river_path, const char *readings_path);
int cli_session_open_as(cli_session *session, const char *river_path, const char *readings_path,
                        const cli_import *import);
void cli_session_close(cli_session *session);

/* The method of this name (NULL: the default); NULL after a fault was reported. */
const hw_method *cli_method(const char *name);
/* Reports which part of the hydraulics is missing, and which method needs it. Returned: the exit code. */
int cli_explain_hydraulics(const cli_session *session, const char *who);
/* Whether the river is one without tributaries, and steady: what the paper's own measures stand on. */
bool cli_is_one_steady_river(const hw_river *river);
/* Reports that `who` stands on such a river. Returned: -1, or the exit code. */
int cli_require_steady_river(const cli_session *session, const char *who);
/* Reports why a run could not be created. Returned: the exit code. */
int cli_explain_create(hw_status status, const hw_method *method, const cli_session *session);

/* Reports that there are no readings. Returned: the exit code. */
int cli_explain_empty(const cli_session *session);
/* Hands every reading to `take`, with a bar of progress on a terminal; `take` returns -1 to go on, or an exit code.
 * Returned: -1 after the last reading, or the exit code after the fault was reported, that there is no reading
 * included. */
int cli_each_reading(cli_session *session, int (*take)(void *context, const hw_reading *reading), void *context);

/* Options of the methods, shared by identify and compare. */
typedef struct {
  hw_options options;
  const char *variant, *line_search;
  cli_source start;
  cli_import import;
} cli_method_options;

/* The rows of the option table for them; `rows` has room for CLI_METHOD_ROWS. */
enum { CLI_METHOD_ROWS = 16 };
void cli_method_rows(cli_method_options *target, cli_option rows[CLI_METHOD_ROWS]);
/* After parsing: checks that need the river. -1 or an exit code. */
int cli_method_settle(cli_method_options *target, const cli_session *session);

/* One method at work, with its clock. */
typedef struct {
  const hw_method *method;
  hw_run *run;
  cli_timing timing;
} cli_worker;

/* The result of a worker as far as it has come. estimate must outlive the result. */
hw_result cli_result(const cli_session *session, const cli_worker *worker, const hw_options *options,
                     const hw_estimate *estimate);
/* Counts of the reader as sentences: a cut-off file, an interruption. */
void cli_note_readings(cli_session *session);

#endif

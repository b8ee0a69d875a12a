/* export and import: a store as one stream of text, and back. */
#include "move.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "store.h"

typedef struct {
  const char *store;
  const char *path; /* "-": standard input or output */
} move_request;

/* -1 to go on; else the exit code. */
static int parse(const cli_verb *verb, const char *about, int argc, char **argv, move_request *request) {
  static const char *const positional[] = {"[FILE]", NULL};
  *request = (move_request){.store = HW_DEFAULT_STORE, .path = "-"};
  const cli_option options[] = {
      {"store", OPTION_TEXT, &request->store, "STORE",
       "a database FILE (default " HW_DEFAULT_STORE ") or postgresql://...", NULL},
  };
  const cli_usage usage = {verb,    "[FILE] [--store STORE]",          about, positional,
                           options, sizeof options / sizeof options[0]};
  const char *path;
  const int code = cli_parse(&usage, argc, argv, &path, NULL);
  if (code >= 0) {
    return code;
  }
  request->path = path ? path : request->path;
  cli_catch_interrupt();
  return -1;
}

static bool go_on(void *context, uint64_t bytes, uint64_t rows) {
  cli_progress_update(context, cli_now_s(), bytes, rows);
  return !cli_interrupted;
}

static int finish(hw_status status, const hw_error *error) {
  if (status == HW_OK) {
    return cli_finish(EXIT_DONE);
  }
  return cli_interrupted ? EXIT_INTERRUPTED : cli_fail(cli_exit_code(status), "%s", error->text);
}

/* Into a file beside it first: a FILE is there whole or not at all. */
static hw_status export_to_file(const move_request *request, const hw_move_watcher *watch, uint64_t *rows,
                                hw_error *error) {
  char part[4096];
  if ((size_t)snprintf(part, sizeof part, "%s.part", request->path) >= sizeof part) {
    snprintf(error->text, sizeof error->text, "%.100s...: a name too long", request->path);
    return HW_EIO;
  }
  FILE *out = fopen(part, "we");
  if (!out) {
    snprintf(error->text, sizeof error->text, "%.400s: %s", part, strerror(errno));
    return HW_EIO;
  }
  hw_status status = hw_export(request->store, out, watch, rows, error);
  const bool kept = status == HW_OK && fsync(fileno(out)) == 0;
  if ((fclose(out) != 0 || !kept || rename(part, request->path) != 0) && status == HW_OK) {
    snprintf(error->text, sizeof error->text, "%.400s: %s", request->path, strerror(errno));
    status = HW_EIO;
  }
  if (status != HW_OK) {
    unlink(part);
  }
  return status;
}

static int run_export(int argc, char **argv) {
  move_request request;
  const int code =
      parse(&cli_verb_export,
            "Writes everything in a store of 'headwater serve' as text, one JSON value a line: rivers, readings,\n"
            "incidents, estimates, events. The service may run at the same time. FILE: default standard output.",
            argc, argv, &request);
  if (code >= 0) {
    return code;
  }
  cli_progress progress;
  cli_progress_start(&progress, "-");
  progress.unit = "rows";
  const hw_move_watcher watch = {go_on, &progress};
  hw_error error = {{0}};
  uint64_t rows = 0;
  const bool plain = strcmp(request.path, "-") == 0;
  const hw_status status =
      plain ? hw_export(request.store, stdout, &watch, &rows, &error) : export_to_file(&request, &watch, &rows, &error);
  cli_progress_end(&progress);
  return finish(status, &error);
}

static int run_import(int argc, char **argv) {
  move_request request;
  const int code =
      parse(&cli_verb_import,
            "Reads what 'headwater export' wrote into an empty store, all of it or nothing; a service started on\n"
            "it continues where the other one stopped. FILE: default standard input.",
            argc, argv, &request);
  if (code >= 0) {
    return code;
  }
  const bool plain = strcmp(request.path, "-") == 0;
  FILE *in = plain ? stdin : fopen(request.path, "re");
  if (!in) {
    return cli_fail(EXIT_MACHINE, "%s: %s, expected what 'headwater export' wrote", request.path, strerror(errno));
  }
  cli_progress progress;
  cli_progress_start(&progress, request.path);
  progress.unit = "rows";
  const hw_move_watcher watch = {go_on, &progress};
  hw_error error = {{0}};
  uint64_t rows = 0;
  const hw_status status = hw_import(request.store, plain ? "standard input" : request.path, in, &watch, &rows, &error);
  cli_progress_end(&progress);
  if (!plain) {
    fclose(in);
  }
  return finish(status, &error);
}

const cli_verb cli_verb_export = {"export", "all data of the service as text", run_export};
const cli_verb cli_verb_import = {"import", "load exported data into an empty store", run_import};

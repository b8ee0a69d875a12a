/* verify: has anything been changed or lost in a store? */
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "store.h"

typedef struct {
  const char *store, *format;
  bool accept;
  cli_progress progress;
  uint64_t told;
} request;

static bool go_on(void *context, uint64_t records) {
  request *r = context;
  cli_progress_update(&r->progress, cli_now_s(), 0, records);
  return !cli_interrupted;
}

static void tell_text(const hw_verify_fault *fault) {
  char line[600];
  snprintf(line, sizeof line, "%s: %s\n", fault->kind, fault->sentence);
  cli_print(line);
}

static void tell_json(const request *r, const hw_verify_fault *fault) {
  char numbers[160];
  cli_print(r->told ? ",\n  " : "\n  ");
  snprintf(numbers, sizeof numbers,
           "{\"kind\": \"%s\", \"first\": %" PRId64 ", \"last\": %" PRId64 ", \"records\": %" PRId64 ", \"what\": ",
           fault->kind, fault->first, fault->last, fault->records);
  cli_print(numbers);
  cli_print_json_text(fault->sentence);
  cli_print("}");
}

static void tell(void *context, const hw_verify_fault *fault) {
  request *r = context;
  if (strcmp(r->format, "json") == 0) {
    tell_json(r, fault);
  } else {
    tell_text(fault);
  }
  r->told++;
}

static void sum_up_text(const request *r, const hw_verify_tally *tally) {
  char line[512];
  if (r->accept) {
    snprintf(line, sizeof line, "%s: %" PRIu64 " records accepted as they are\n", tally->name, tally->records);
  } else {
    snprintf(line, sizeof line, "%s: %" PRIu64 " records compared with their checksums, %s\n", tally->name,
             tally->records, tally->faults ? "see above" : "nothing changed or missing");
  }
  cli_print(line);
  if (tally->unchained) {
    snprintf(line, sizeof line,
             "%" PRIu64 " more were stored by an earlier version, without checksums; --accept adds them\n",
             tally->unchained);
    cli_print(line);
  }
}

static void sum_up_json(const hw_verify_tally *tally) {
  char numbers[200];
  snprintf(numbers, sizeof numbers,
           "%s], \"records\": %" PRIu64 ", \"unchained\": %" PRIu64 ", \"store\": ", tally->faults ? "\n " : "",
           tally->records, tally->unchained);
  cli_print(numbers);
  cli_print_json_text(tally->name);
  cli_print("}\n");
}

static int check(request *r) {
  const hw_verify_watcher watch = {tell, go_on, r};
  const bool json = strcmp(r->format, "json") == 0;
  hw_verify_tally tally;
  hw_error error = {{0}};
  if (json) {
    cli_print("{\"schema\": \"headwater.verify/1\", \"faults\": [");
  }
  cli_progress_start(&r->progress, "-");
  r->progress.unit = "records";
  const hw_status status = (r->accept ? hw_verify_accept : hw_verify)(r->store, &watch, &tally, &error);
  cli_progress_end(&r->progress);
  if (status != HW_OK) {
    return cli_interrupted ? EXIT_INTERRUPTED : cli_fail(cli_exit_code(status), "%s", error.text);
  }
  if (json) {
    sum_up_json(&tally);
  } else {
    sum_up_text(r, &tally);
  }
  const int code = cli_finish(EXIT_DONE);
  if (code == EXIT_DONE && tally.faults) {
    return cli_fail(EXIT_INPUT, "%s: %" PRIu64 " fault%s, expected none", tally.name, tally.faults,
                    tally.faults == 1 ? "" : "s");
  }
  return code;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"[STORE]", NULL};
  request r = {.store = HW_DEFAULT_STORE, .format = "text"};
  const cli_option options[] = {
      {"accept", OPTION_FLAG, &r.accept, NULL,
       "accept the log as it is now (after a restore or a repair; no service may run)", NULL},
      {"format", OPTION_CHOICE, &r.format, "text|json", "format of the answer; default text", cli_formats},
  };
  const cli_usage usage = {
      &cli_verb_verify,
      "[STORE] [options]",
      "Compares all records of a store with their checksums, and the log with the hash chained over it, and\n"
      "reports what was changed, what is missing, and whether acknowledged records are lost at the end.\n"
      "STORE is a database FILE (default " HW_DEFAULT_STORE
      ") or postgresql://...; a service may use it at the same\n"
      "time. The exit code is 1 when something is wrong.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *store;
  const int code = cli_parse(&usage, argc, argv, &store, NULL);
  if (code >= 0) {
    return code;
  }
  r.store = store ? store : r.store;
  cli_catch_interrupt();
  return check(&r);
}

const cli_verb cli_verb_verify = {"verify", "check a store against its checksums", run};

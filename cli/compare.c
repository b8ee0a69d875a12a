/* compare: all methods on the same readings, in one pass over them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/progress.h"

typedef struct {
  cli_method_options method_options;
  const char *methods, *format;
  cli_source truth;
} compare_request;

typedef struct {
  cli_worker workers[CLI_MOST_METHODS];
  const char *failures[CLI_MOST_METHODS]; /* NULL: at work */
  hw_estimate estimates[CLI_MOST_METHODS];
  size_t count;
} contest;

static int choose(const char *list, contest *all) {
  const hw_method *methods[CLI_MOST_METHODS];
  const int code = cli_method_list(list, methods, &all->count);
  for (size_t i = 0; code < 0 && i < all->count; i++) {
    all->workers[i].method = methods[i];
  }
  return code;
}

static int start(const cli_session *session, const hw_options *options, contest *all) {
  const hw_problem problem = {.river = &session->river};
  for (size_t i = 0; i < all->count; i++) {
    cli_worker *worker = &all->workers[i];
    const hw_status status = hw_run_create(worker->method, &problem, options, &worker->run);
    if (status == HW_EHYDRAULICS) {
      all->failures[i] = "needs hydraulics";
    } else if (status != HW_OK) {
      return cli_explain_create(status, worker->method, session);
    }
  }
  return -1;
}

/* One reading to every method that is still at work. */
static int observe(void *context, const hw_reading *reading) {
  contest *all = context;
  for (size_t i = 0; i < all->count; i++) {
    if (all->failures[i]) {
      continue;
    }
    const double begin_s = cli_now_s();
    const hw_status observed = hw_run_observe(all->workers[i].run, reading);
    cli_timing_add(&all->workers[i].timing, cli_now_s() - begin_s);
    if (observed != HW_OK) {
      all->failures[i] = hw_status_text(observed);
    }
  }
  return -1;
}

/* The batch baselines do all their work here. */
static void estimate_all(const cli_session *session, contest *all) {
  cli_progress progress;
  cli_progress_start(&progress, session->readings_path);
  for (size_t i = 0; i < all->count; i++) {
    if (all->failures[i]) {
      continue;
    }
    cli_worker *worker = &all->workers[i];
    cli_progress_say(&progress, worker->method->name);
    const double begin_s = cli_now_s();
    const hw_status status = hw_run_estimate(worker->run, &all->estimates[i]);
    worker->timing.total_s += cli_now_s() - begin_s;
    if (status != HW_OK) {
      all->failures[i] = hw_status_text(status);
    }
  }
  cli_progress_end(&progress);
}

static int print_results(const cli_session *session, const compare_request *request, const contest *all,
                         const hw_source *truth) {
  hw_result results[CLI_MOST_METHODS];
  for (size_t i = 0; i < all->count; i++) {
    const bool found = !all->failures[i];
    results[i] =
        cli_result(session, &all->workers[i], &request->method_options.options, found ? &all->estimates[i] : NULL);
    results[i].failure = all->failures[i];
  }
  const bool json = strcmp(request->format, "json") == 0;
  char *text = NULL;
  if ((json ? hw_comparison_json(results, all->count, truth, &text)
            : hw_comparison_text(results, all->count, truth, &text)) != HW_OK) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  cli_print(text);
  cli_print(json ? "\n" : "");
  free(text);
  for (size_t i = 0; !json && i < session->notes.count; i++) {
    printf("note: %s\n", session->notes.sentences[i]);
  }
  return cli_finish(cli_interrupted ? EXIT_INTERRUPTED : EXIT_DONE);
}

static int compare(cli_session *session, compare_request *request, contest *all) {
  hw_source truth = {0};
  if (request->truth.given && !cli_resolve_source(&session->river, session->river_path, &request->truth, &truth)) {
    return EXIT_USAGE;
  }
  int code = cli_method_settle(&request->method_options, session);
  if (code < 0) {
    code = start(session, &request->method_options.options, all);
  }
  if (code < 0) {
    code = cli_each_reading(session, observe, all);
  }
  if (code >= 0) {
    return code;
  }
  cli_note_readings(session);
  estimate_all(session, all);
  return print_results(session, request, all, request->truth.given ? &truth : NULL);
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", "READINGS", NULL};
  compare_request request = {.format = "text"};
  cli_option options[3 + CLI_METHOD_ROWS] = {
      {"methods", OPTION_TEXT, &request.methods, "A,B,...", "methods to compare; default all", NULL},
      {"truth", OPTION_SOURCE, &request.truth, "M,L,T", "MASS_G,[BRANCH:]LOCATION_M,TIME_S if known: adds errors",
       NULL},
      {"format", OPTION_CHOICE, &request.format, "text|json", "format of the table; default text", cli_formats},
  };
  cli_method_rows(&request.method_options, options + 3);
  const cli_usage usage = {&cli_verb_compare,
                           "RIVER READINGS [options]",
                           "Runs every method on the same readings and prints one table. A method that needs velocity\n"
                           "and dispersion where the river file leaves them unknown says \"needs hydraulics\".",
                           positional,
                           options,
                           sizeof options / sizeof options[0]};
  const char *operands[2];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (code >= 0) {
    return code;
  }
  contest *all = calloc(1, sizeof *all);
  if (!all) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  code = choose(request.methods, all);
  if (code < 0) {
    cli_session session;
    code = cli_session_open_as(&session, operands[0], operands[1], &request.method_options.import);
    if (code < 0) {
      code = compare(&session, &request, all);
    }
    for (size_t i = 0; i < all->count; i++) {
      hw_run_free(all->workers[i].run);
    }
    cli_session_close(&session);
  }
  free(all);
  return code;
}

const cli_verb cli_verb_compare = {"compare", "all methods on the same readings, one table", run};

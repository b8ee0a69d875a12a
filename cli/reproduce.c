/* reproduce: the paper's tables and figures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "experiments/reproduce/reproduce.h"

typedef struct {
  const char *data, *out, *markdown;
  uint64_t seed;
  size_t readings, threads;
} reproduce_request;

/* On a terminal a line that rewrites itself; in a log one line per tenth. */
static void tell(void *context, const char *what, size_t done, size_t of) {
  cli_progress *progress = context;
  char words[120];
  snprintf(words, sizeof words, "%s: %zu of %zu runs", what, done, of);
  if (progress->on) {
    cli_progress_say(progress, words);
  } else if (done == of || done * 10 / of != (done - 1) * 10 / of) {
    fprintf(stderr, "%s\n", words);
  }
}

static int reproduce(const reproduce_request *request) {
  if (mkdir(request->out, 0777) != 0 && errno != EEXIST) {
    return cli_fail(EXIT_MACHINE, "%s: %s, expected a folder that can be made", request->out, strerror(errno));
  }
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  cli_progress progress;
  cli_progress_start(&progress, "-");
  const hw_reproduce_options options = {.data_dir = request->data,
                                        .out_dir = request->out,
                                        .markdown = request->markdown,
                                        .seed = request->seed,
                                        .readings = request->readings,
                                        .threads = request->threads ? request->threads
                                                   : cores > 0      ? (size_t)cores
                                                                    : 1,
                                        .tell = tell,
                                        .context = &progress};
  hw_error error;
  bool real_data = false;
  const hw_status status = hw_reproduce(&options, stdout, &real_data, &error);
  cli_progress_end(&progress);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s", error.text);
  }
  if (!real_data) {
    cli_warn("%s/truckee/readings.csv: not there, expected the field data; Tables 1 to 3 are left out", request->data);
  }
  printf("\nThe page is %s/index.html\n", request->out);
  return cli_finish(EXIT_DONE);
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {NULL};
  reproduce_request request = {
      .data = "../shared/data", .out = "reproduce-output", .seed = 1, .readings = HW_PAPER_READINGS};
  const cli_option options[] = {
      {"data", OPTION_TEXT, &request.data, "DIR", "folder of the field data; default ../shared/data", NULL},
      {"out", OPTION_TEXT, &request.out, "DIR", "where the page and its pictures go; default reproduce-output", NULL},
      {"markdown", OPTION_TEXT, &request.markdown, "FILE", "write the text and tables there too", NULL},
      {"readings", OPTION_COUNT, &request.readings, "N", "artificial readings, 10 to 1364; default 1000, the paper's",
       NULL},
      {"seed", OPTION_SEED, &request.seed, "N", "of everything random; default 1", NULL},
      {"threads", OPTION_COUNT, &request.threads, "N", "default one per core; results do not depend on it", NULL},
  };
  const cli_usage usage = {
      &cli_verb_reproduce,
      "[--data DIR] [--out DIR] [options]",
      "Regenerates the paper's Figures 3 to 6 and Tables 1 to 3, for its pseudo-code as printed and as\n"
      "resolved, and judges its claims by the numbers: one self-contained HTML page. Takes minutes.\n"
      "Needs gnuplot for the pictures.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const int code = cli_parse(&usage, argc, argv, NULL, NULL);
  if (code >= 0) {
    return code;
  }
  if (request.readings < 10 || request.readings > HW_MOST_ARTIFICIAL) {
    return cli_fail(EXIT_USAGE, "--readings '%zu', expected 10 to %d", request.readings, HW_MOST_ARTIFICIAL);
  }
  return reproduce(&request);
}

const cli_verb cli_verb_reproduce = {"reproduce", "the paper's tables and figures", run};

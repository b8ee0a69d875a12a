/* reproduce: the paper's tables and figures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "experiments/reproduce/published.h"
#include "experiments/reproduce/reproduce.h"

typedef struct {
  const char *data, *out, *markdown, *variant, *only;
  uint64_t seed;
  size_t readings, seeds, threads;
} reproduce_request;

typedef struct {
  cli_progress bar;
  int tenths; /* told in a log */
} progress_told;

/* On a terminal a bar; in a log one line per tenth. */
static void tell(void *context, const char *what, double share) {
  progress_told *told = context;
  if (told->bar.on) {
    cli_progress_share(&told->bar, share, what);
  } else if ((int)(10 * share) > told->tenths) {
    told->tenths = (int)(10 * share);
    fprintf(stderr, "%d0 %%: %s\n", told->tenths, what);
  }
}

static int reproduce(const reproduce_request *request) {
  if (mkdir(request->out, 0777) != 0 && errno != EEXIST) {
    return cli_fail(EXIT_MACHINE, "%s: %s, expected a folder that can be made", request->out, strerror(errno));
  }
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  progress_told progress = {.tenths = 0};
  cli_progress_start(&progress.bar, "-");
  const hw_reproduce_options options = {.data_dir = request->data,
                                        .out_dir = request->out,
                                        .markdown = request->markdown,
                                        .seed = request->seed,
                                        .readings = request->readings,
                                        .seeds = request->seeds,
                                        .only = request->only,
                                        .threads = request->threads ? request->threads
                                                   : cores > 0      ? (size_t)cores
                                                                    : 1,
                                        .tell = tell,
                                        .context = &progress};
  hw_error error;
  bool real_data = false;
  const hw_status status = hw_reproduce(&options, stdout, &real_data, &error);
  cli_progress_end(&progress.bar);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s", error.text);
  }
  if (!real_data) {
    cli_warn("%s/truckee/readings.csv: not there, expected the field data; Tables 1 to 3 are left out", request->data);
  }
  printf("\nThe page is %s/index.html\n", request->out);
  return cli_finish(EXIT_DONE);
}

/* Table 1's rows of TGD and ATGD by what the authors' program does (published.h). */
static int print_published(const reproduce_request *request) {
  static const char *const labels[] = {"TGD", "ATGD"};
  hw_river river;
  hw_reading *readings = NULL;
  size_t count = 0, steps;
  hw_error error;
  hw_status status = hw_paper_river(&river);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "reproduce: %s", hw_status_text(status));
  }
  status = hw_paper_real(&river, request->data, &readings, &count, &error);
  if (status == HW_OK) {
    printf("Table 1 as the authors' program computes it: not what the paper says, and not causal.\n");
  }
  for (size_t i = 0; status == HW_OK && i < sizeof labels / sizeof labels[0]; i++) {
    hw_source found;
    status = hw_published_learner(&river, readings, count, i == 1, &found, &steps);
    if (status == HW_OK) {
      printf("%-5s (%.2f, %.2f, %.2f) after %zu steps\n", labels[i], found.mass_g, found.location_m, found.time_s / 60,
             steps);
    } else {
      snprintf(error.text, sizeof error.text, "reproduce: %s", hw_status_text(status));
    }
  }
  free(readings);
  hw_river_free(&river);
  return status == HW_OK ? cli_finish(EXIT_DONE) : cli_fail(cli_exit_code(status), "%s", error.text);
}

static int run(int argc, char **argv) {
  static const char *const variants[] = {"all", "published", NULL};
  static const char *const positional[] = {NULL};
  reproduce_request request = {.data = "../shared/data",
                               .out = "reproduce-output",
                               .variant = variants[0],
                               .seed = 1,
                               .readings = HW_PAPER_READINGS,
                               .seeds = 20};
  const cli_option options[] = {
      {"data", OPTION_TEXT, &request.data, "DIR", "folder of the field data; default ../shared/data", NULL},
      {"out", OPTION_TEXT, &request.out, "DIR", "where the page and its pictures go; default reproduce-output", NULL},
      {"markdown", OPTION_TEXT, &request.markdown, "FILE", "write the text and tables there too", NULL},
      {"variant", OPTION_CHOICE, &request.variant, "all|published",
       "published: only Table 1's TGD and ATGD rows, computed as the authors' program does", variants},
      {"only", OPTION_TEXT, &request.only, "A,B,...", "only these sections; default all", NULL},
      {"readings", OPTION_COUNT, &request.readings, "N", "artificial readings, 10 to 1364; default 1000, the paper's",
       NULL},
      {"seeds", OPTION_COUNT, &request.seeds, "N", "number of seeds behind every verdict, 2 to 200; default 20", NULL},
      {"seed", OPTION_SEED, &request.seed, "N", "seed of the random numbers; default 1", NULL},
      {"threads", OPTION_THREADS, &request.threads, "N",
       "number of threads; default one per core; results do not depend on it", NULL},
  };
  const cli_usage usage = {
      &cli_verb_reproduce,
      "[--data DIR] [--out DIR] [options]",
      "Regenerates the paper's Figures 3 to 6 and Tables 1 to 3, for its pseudo-code as printed, with its\n"
      "slips corrected, and resolved, and judges its claims over many seeds: one self-contained HTML page.\n"
      "Takes minutes. Needs gnuplot for the pictures.",
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
  if (request.seeds < 2 || request.seeds > HW_MOST_SEEDS) {
    return cli_fail(EXIT_USAGE, "--seeds '%zu', expected 2 to %d", request.seeds, HW_MOST_SEEDS);
  }
  for (const char *at = request.only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    if (!hw_is_section(at)) {
      return cli_fail(EXIT_USAGE, "--only '%s', expected some of %s", request.only, hw_section_names);
    }
  }
  return request.variant == variants[0] ? reproduce(&request) : print_published(&request);
}

const cli_verb cli_verb_reproduce = {"reproduce", "the paper's tables and figures", run};

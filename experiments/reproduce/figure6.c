/* Figures 6a and 6b: cumulative regret of the multi-start learners for 5 to 30 starts. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/reproduce.h"

enum { SIZES = 6, SEEDS = 5, VARIANTS = 2, METHODS = 2, TRIALS = METHODS * VARIANTS * SIZES * SEEDS };
static const char *const methods[METHODS] = {"mtgd", "mptgd"};
static const char *const labels[METHODS] = {"MTGD", "MPTGD"};

/* Mean over seeds of the cumulative regret after reading n. */
static double mean_at(const hw_regret_row *rows, size_t method, size_t variant, size_t size, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < SEEDS; k++) {
    sum += rows[n * TRIALS + ((method * VARIANTS + variant) * SIZES + size) * SEEDS + k].cumulative;
  }
  return sum / SEEDS;
}

static hw_status draw(hw_reproduction *r, const hw_regret_row *rows, size_t count, size_t method) {
  enum { LINES = VARIANTS * SIZES };
  char names[LINES][32], title[80], file[16], alt[120];
  hw_series series[LINES];
  double *y = calloc(LINES * count, sizeof *y);
  if (!y) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < LINES; i++) {
    const size_t variant = i / SIZES, size = i % SIZES;
    snprintf(names[i], sizeof names[i], "I = %zu %s", 5 * (size + 1), variant ? "printed" : "resolved");
    for (size_t n = 0; n < count; n++) {
      y[i * count + n] = mean_at(rows, method, variant, size, n);
    }
    series[i] =
        (hw_series){.label = names[i], .count = count, .y = y + i * count, .dashed = variant == 1, .colour = (int)size};
  }
  snprintf(title, sizeof title, "Figure 6%c: cumulative regret of %s by number of starts", method ? 'b' : 'a',
           labels[method]);
  snprintf(file, sizeof file, "figure6%c", method ? 'b' : 'a');
  snprintf(alt, sizeof alt, "Cumulative regret of %s for 5 to 30 starts", labels[method]);
  const hw_chart chart = {.title = title,
                          .x_label = "readings",
                          .y_label = "(ug/l)^2, mean of five seeds",
                          .log_y = true,
                          .series = series,
                          .series_count = LINES};
  const hw_status status = hw_show_chart(r, &chart, file, alt);
  free(y);
  return status;
}

static void judge(hw_reproduction *r, const hw_regret_row *rows, size_t count, size_t method) {
  static const char *const items[METHODS] = {"Fig. 6a", "Fig. 6b"};
  hw_page_table_begin(r->page);
  hw_page_row(r->page, "starts I\tresolved\tprinted");
  for (size_t size = 0; size < SIZES; size++) {
    hw_page_row(r->page, "%zu\t%.4g\t%.4g", 5 * (size + 1), mean_at(rows, method, 0, size, count - 1),
                mean_at(rows, method, 1, size, count - 1));
  }
  hw_page_table_end(r->page);
  for (size_t variant = 0; variant < VARIANTS; variant++) {
    const double few = mean_at(rows, method, variant, 0, count - 1),
                 many = mean_at(rows, method, variant, SIZES - 1, count - 1);
    char claim[120];
    size_t steps = 0;
    for (size_t size = 1; size < SIZES; size++) {
      steps += mean_at(rows, method, variant, size, count - 1) <= mean_at(rows, method, variant, size - 1, count - 1);
    }
    snprintf(claim, sizeof claim, "cumulative regret of %s falls from 5 to 30 starts, %s", labels[method],
             variant ? "printed" : "resolved");
    hw_page_finding(r->page, items[method], claim, many < few ? HW_HOLDS : HW_FAILS,
                    "%.3g with 5, %.3g with 30 starts (falls in %zu of 5 steps)", few, many, steps);
  }
}

hw_status hw_reproduce_figure6(hw_reproduction *r) {
  static hw_trial trials[TRIALS];
  for (size_t i = 0; i < TRIALS; i++) {
    const size_t variant = i / (SIZES * SEEDS) % VARIANTS;
    trials[i] = (hw_trial){.method = methods[i / (VARIANTS * SIZES * SEEDS)]};
    trials[i].options = hw_learner_options(r, variant ? HW_PRINTED : HW_RESOLVED);
    trials[i].options.no_moment_start = true;
    trials[i].options.starts = 5 * (i / SEEDS % SIZES + 1);
    trials[i].options.seed = r->options->seed + i % SEEDS;
  }
  const hw_trial_setting setting = hw_setting_of(r, false, "Figure 6");
  hw_regret_row *rows = NULL;
  hw_status status = hw_trials_run(&setting, trials, TRIALS);
  if (status == HW_OK) {
    status = hw_trials_regret(&setting, trials, TRIALS, setting.count, &rows);
  }
  hw_trials_free(trials, TRIALS);
  for (size_t method = 0; status == HW_OK && method < METHODS; method++) {
    hw_page_heading(r->page, method ? "Figure 6b: number of starts, MPTGD" : "Figure 6a: number of starts, MTGD");
    status = draw(r, rows, setting.count, method);
    judge(r, rows, setting.count, method);
  }
  if (status == HW_OK) {
    hw_page_text(r->page,
                 "Means over five seeds, because a single draw of starting points says little. The moment start is off "
                 "here: with it one path is right after a few readings and the number of starts hardly matters.");
  }
  free(rows);
  return status;
}

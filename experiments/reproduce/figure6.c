/* Figures 6a and 6b: cumulative regret of the multi-start learners for 5 to 30 starts. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/reproduce.h"

enum { SIZES = 6, METHODS = 2, COLUMNS = METHODS * HW_VARIANTS * SIZES };
static const size_t methods[METHODS] = {HW_MTGD, HW_MPTGD};

typedef struct {
  size_t count, seeds;
  hw_regret_row *rows; /* COLUMNS x seeds of them a reading */
} curves;

static double value_of(const curves *c, size_t method, size_t variant, size_t size, size_t seed, size_t n) {
  const size_t column = (method * HW_VARIANTS + variant) * SIZES + size;
  return c->rows[n * COLUMNS * c->seeds + column * c->seeds + seed].cumulative;
}

static double median_at(const curves *c, size_t method, size_t variant, size_t size, size_t n) {
  double values[HW_MOST_SEEDS];
  for (size_t seed = 0; seed < c->seeds; seed++) {
    values[seed] = value_of(c, method, variant, size, seed, n);
  }
  return hw_quantile(values, c->seeds, 0.5);
}

static hw_status draw(hw_reproduction *r, const curves *c, size_t method) {
  enum { LINES = HW_VARIANTS * SIZES };
  char names[LINES][32], title[80], file[16], alt[120];
  hw_series series[LINES];
  double *y = calloc(LINES * c->count, sizeof *y);
  if (!y) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < LINES; i++) {
    const size_t variant = HW_VARIANTS - 1 - i / SIZES, size = i % SIZES;
    snprintf(names[i], sizeof names[i], "I = %zu %s", 5 * (size + 1), hw_variant_labels[variant]);
    for (size_t n = 0; n < c->count; n++) {
      y[i * c->count + n] = median_at(c, method, variant, size, n);
    }
    series[i] = (hw_series){
        .label = names[i], .count = c->count, .y = y + i * c->count, .dash = (int)(i / SIZES) + 1, .colour = (int)size};
  }
  snprintf(title, sizeof title, "Figure 6%c: cumulative regret of %s by number of starts", method ? 'b' : 'a',
           hw_learner_labels[methods[method]]);
  snprintf(file, sizeof file, "figure6%c", method ? 'b' : 'a');
  snprintf(alt, sizeof alt, "Cumulative regret of %s for 5 to 30 starts", hw_learner_labels[methods[method]]);
  const hw_chart chart = {.title = title,
                          .x_label = "readings",
                          .y_label = "(ug/l)^2, median of the seeds",
                          .log_y = true,
                          .series = series,
                          .series_count = LINES};
  const hw_status status = hw_show_chart(r, &chart, file, alt);
  free(y);
  return status;
}

static void judge(hw_reproduction *r, const curves *c, size_t method) {
  const size_t last = c->count - 1;
  hw_page_table_begin(r->page);
  hw_page_row(r->page, "starts I\tprinted\tcorrected\tresolved");
  for (size_t size = 0; size < SIZES; size++) {
    hw_page_row(r->page, "%zu\t%.4g\t%.4g\t%.4g", 5 * (size + 1), median_at(c, method, 0, size, last),
                median_at(c, method, 1, size, last), median_at(c, method, 2, size, last));
  }
  hw_page_table_end(r->page);
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    hw_tally tally = {0};
    char claim[120];
    for (size_t seed = 0; seed < c->seeds; seed++) {
      hw_tally_lower(&tally, value_of(c, method, v, SIZES - 1, seed, last), value_of(c, method, v, 0, seed, last));
    }
    snprintf(claim, sizeof claim, "cumulative regret of %s falls from 5 to 30 starts, %s",
             hw_learner_labels[methods[method]], hw_variant_labels[v]);
    hw_judge(r->page, method ? "Fig. 6b" : "Fig. 6a", claim, &tally, "median %.3g with 5, %.3g with 30",
             median_at(c, method, v, 0, last), median_at(c, method, v, SIZES - 1, last));
  }
}

hw_status hw_reproduce_figure6(hw_reproduction *r) {
  const hw_trial_setting setting = hw_thinned_setting_of(r, "Figure 6");
  curves c = {.count = setting.count, .seeds = r->options->seeds};
  const size_t count = COLUMNS * c.seeds;
  hw_trial *trials = calloc(count, sizeof *trials);
  hw_status status = trials ? HW_OK : HW_ENOMEM;
  for (size_t i = 0; trials && i < count; i++) {
    const size_t column = i / c.seeds;
    trials[i].method = hw_learners[methods[column / (HW_VARIANTS * SIZES)]];
    trials[i].options = hw_learner_options(r, hw_variants[column / SIZES % HW_VARIANTS], i % c.seeds);
    trials[i].options.no_moment_start = true;
    trials[i].options.starts = 5 * (column % SIZES + 1);
  }
  if (status == HW_OK) {
    status = hw_trials_run(&setting, trials, count);
  }
  if (status == HW_OK) {
    status = hw_trials_regret(&setting, trials, count, 1, false, &c.rows);
  }
  if (trials) {
    hw_trials_free(trials, count);
  }
  free(trials);
  for (size_t method = 0; status == HW_OK && method < METHODS; method++) {
    hw_page_heading(r->page, method ? "Figure 6b: number of starts, MPTGD" : "Figure 6a: number of starts, MTGD");
    status = draw(r, &c, method);
    judge(r, &c, method);
  }
  if (status == HW_OK) {
    hw_page_text(r->page,
                 "Over %zu of the artificial readings, evenly; medians of %zu seeds, because a single draw of starting "
                 "points says little. The moment start is off "
                 "here: with it one path is right after a few readings and the number of starts hardly matters.",
                 c.count, c.seeds);
  }
  free(c.rows);
  return status;
}

/* Figures 3a and 3b: local and cumulative regret of the five learners on the artificial readings, over many seeds. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/reproduce.h"

/* The three variants, and resolved without the moment start, which shows what jumps and starts do by themselves. */
enum { GROUPS = HW_VARIANTS + 1, NO_MOMENT = HW_VARIANTS, COLUMNS = GROUPS * HW_LEARNERS };

typedef struct {
  size_t count, seeds;
  hw_regret_row *small; /* printed and corrected, window 1 */
  hw_regret_row *whole; /* resolved with and without the moment start, window of the whole record */
} curves;

/* Columns of either table: group by group, learner by learner, seed by seed. */
static const hw_regret_row *row_of(const curves *c, size_t group, size_t learner, size_t seed, size_t n) {
  const bool pseudo_code = group < HW_VARIANTS - 1;
  const size_t per_table = 2 * HW_LEARNERS * c->seeds;
  const size_t column = ((pseudo_code ? group : group - (HW_VARIANTS - 1)) * HW_LEARNERS + learner) * c->seeds + seed;
  return &(pseudo_code ? c->small : c->whole)[n * per_table + column];
}

static double value_of(const curves *c, size_t group, size_t learner, size_t seed, size_t n, bool local) {
  const hw_regret_row *row = row_of(c, group, learner, seed, n);
  return local ? row->local : row->cumulative;
}

static double quantile_of(const curves *c, size_t group, size_t learner, size_t n, bool local, double share) {
  double values[HW_MOST_SEEDS];
  for (size_t seed = 0; seed < c->seeds; seed++) {
    values[seed] = value_of(c, group, learner, seed, n, local);
  }
  return hw_quantile(values, c->seeds, share);
}

static hw_status draw(hw_reproduction *r, const curves *c, bool local) {
  enum { LINES = HW_VARIANTS * HW_LEARNERS };
  char labels[LINES][32];
  hw_series series[LINES];
  double *y = calloc(LINES * c->count, sizeof *y);
  if (!y) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < LINES; i++) {
    const size_t group = HW_VARIANTS - 1 - i / HW_LEARNERS, learner = i % HW_LEARNERS;
    snprintf(labels[i], sizeof labels[i], "%s %s", hw_learner_labels[learner], hw_variant_labels[group]);
    for (size_t n = 0; n < c->count; n++) {
      y[i * c->count + n] = quantile_of(c, group, learner, n, local, 0.5);
    }
    series[i] = (hw_series){.label = labels[i],
                            .count = c->count,
                            .y = y + i * c->count,
                            .dash = (int)(i / HW_LEARNERS) + 1,
                            .colour = (int)learner};
  }
  const hw_chart chart = {.title = local ? "Figure 3a: local regret" : "Figure 3b: cumulative regret",
                          .x_label = "readings",
                          .y_label = local ? "(ug/l)^4, median of the seeds" : "(ug/l)^2, median of the seeds",
                          .log_y = true,
                          .series = series,
                          .series_count = LINES};
  const hw_status status =
      hw_show_chart(r, &chart, local ? "figure3a" : "figure3b",
                    local ? "Local regret over the readings, five learners, resolved, corrected and printed"
                          : "Cumulative regret over the readings, five learners, resolved, corrected and printed");
  free(y);
  return status;
}

static void tabulate(hw_reproduction *r, const curves *c, bool local) {
  const size_t last = c->count - 1;
  hw_page_table_begin(r->page);
  hw_page_row(r->page, "learner\tprinted\tcorrected\tresolved\tresolved without moment start");
  for (size_t i = 0; i < HW_LEARNERS; i++) {
    char cells[GROUPS][64];
    for (size_t g = 0; g < GROUPS; g++) {
      snprintf(cells[g], sizeof cells[g], "%.3g (%.3g to %.3g)", quantile_of(c, g, i, last, local, 0.5),
               quantile_of(c, g, i, last, local, 0.1), quantile_of(c, g, i, last, local, 0.9));
    }
    hw_page_row(r->page, "%s\t%s\t%s\t%s\t%s", hw_learner_labels[i], cells[0], cells[1], cells[2], cells[NO_MOMENT]);
  }
  hw_page_table_end(r->page);
}

/* Is `better` below `worse` after the last reading, seed by seed? */
static void judge_pair(hw_reproduction *r, const curves *c, size_t group, size_t better, size_t worse, bool local,
                       const char *because) {
  hw_tally tally = {0};
  char claim[160];
  const size_t last = c->count - 1;
  for (size_t seed = 0; seed < c->seeds; seed++) {
    hw_tally_lower(&tally, value_of(c, group, better, seed, last, local), value_of(c, group, worse, seed, last, local));
  }
  snprintf(claim, sizeof claim, "%s: %s below %s, %s", because, hw_learner_labels[better], hw_learner_labels[worse],
           group == NO_MOMENT ? "resolved without moment start" : hw_variant_labels[group]);
  hw_judge(r->page, local ? "Fig. 3a" : "Fig. 3b", claim, &tally, "median %.3g against %.3g",
           quantile_of(c, group, better, last, local, 0.5), quantile_of(c, group, worse, last, local, 0.5));
}

static void judge_best(hw_reproduction *r, const curves *c, size_t group) {
  hw_tally tally = {0};
  char claim[120];
  const size_t last = c->count - 1;
  for (size_t seed = 0; seed < c->seeds; seed++) {
    double others = value_of(c, group, HW_TGD, seed, last, false);
    for (size_t i = HW_ATGD; i < HW_MPTGD; i++) {
      const double other = value_of(c, group, i, seed, last, false);
      others = other < others ? other : others;
    }
    hw_tally_lower(&tally, value_of(c, group, HW_MPTGD, seed, last, false), others);
  }
  snprintf(claim, sizeof claim, "MPTGD has the least cumulative regret of all, %s", hw_variant_labels[group]);
  hw_judge(r->page, "Fig. 3b", claim, &tally, "%s", "");
}

static void judge(hw_reproduction *r, const curves *c) {
  for (size_t g = 0; g < HW_VARIANTS; g++) {
    judge_pair(r, c, g, HW_ATGD, HW_TGD, true, "vector steps lower the local regret");
  }
  for (size_t g = 0; g < GROUPS; g++) {
    judge_pair(r, c, g, HW_ATGD, HW_TGD, false, "vector steps lower the regret");
    judge_pair(r, c, g, HW_APTGD, HW_ATGD, false, "perturbing lowers the regret");
    judge_pair(r, c, g, HW_MPTGD, HW_MTGD, false, "perturbing lowers the regret");
    judge_pair(r, c, g, HW_MTGD, HW_ATGD, false, "many starts lower the regret");
    judge_pair(r, c, g, HW_MPTGD, HW_APTGD, false, "many starts lower the regret");
  }
  for (size_t g = 0; g < HW_VARIANTS; g++) {
    judge_best(r, c, g);
  }
}

static hw_status tell(hw_reproduction *r, const curves *c) {
  hw_page_heading(r->page, "Figure 3a: local regret");
  hw_status status = draw(r, c, true);
  tabulate(r, c, true);
  hw_page_text(
      r->page,
      "After %zu readings: median over %zu seeds, and in brackets the tenth and ninetieth percentile. A small local "
      "regret is not a good answer: on a plateau, where the model does not overlap the data, the gradient vanishes and "
      "the local regret stands still while nothing is learned. The paper's scale (\"within 2e-5\") depends on its step "
      "and units, which it does not give; it counts at what a learner stood at after it saw the reading.",
      c->count, c->seeds);
  hw_page_heading(r->page, "Figure 3b: cumulative regret");
  if (status == HW_OK) {
    status = draw(r, c, false);
  }
  tabulate(r, c, false);
  hw_page_text(r->page,
               "The last column takes the moment start away, which isolates what perturbation and many starts do by "
               "themselves: without either, a start on a plateau stays there until the readings of another sensor "
               "reach it.");
  judge(r, c);
  return status;
}

static void prepare(const hw_reproduction *r, size_t seeds, hw_trial *trials) {
  for (size_t i = 0; i < COLUMNS * seeds; i++) {
    const size_t group = i / seeds / HW_LEARNERS;
    trials[i] = (hw_trial){.method = hw_learners[i / seeds % HW_LEARNERS]};
    trials[i].options = hw_learner_options(r, hw_variants[group < HW_VARIANTS ? group : HW_VARIANTS - 1], i % seeds);
    trials[i].options.no_moment_start = group == NO_MOMENT;
  }
}

static void note_times(hw_reproduction *r, const curves *c, const hw_trial *trials) {
  for (size_t i = 0; i < HW_VARIANTS * HW_LEARNERS; i++) {
    char label[96];
    snprintf(label, sizeof label, "%s %s, %zu artificial readings", hw_learner_labels[i % HW_LEARNERS],
             hw_variant_labels[i / HW_LEARNERS], c->count);
    hw_note_seconds(r, label, trials[i * c->seeds].seconds);
  }
}

hw_status hw_reproduce_figure3(hw_reproduction *r) {
  const hw_trial_setting setting = hw_setting_of(r, false, "Figure 3");
  curves c = {.count = setting.count, .seeds = r->options->seeds};
  const size_t half = COLUMNS / 2 * c.seeds;
  hw_trial *trials = calloc(2 * half, sizeof *trials);
  hw_status status = HW_ENOMEM;
  if (trials) {
    prepare(r, c.seeds, trials);
    status = hw_trials_run(&setting, trials, 2 * half);
  }
  if (status == HW_OK) {
    status = hw_trials_regret(&setting, trials, half, 1, false, &c.small);
  }
  if (status == HW_OK) {
    status = hw_trials_regret(&setting, trials + half, half, setting.count, false, &c.whole);
  }
  if (status == HW_OK) {
    note_times(r, &c, trials);
    status = tell(r, &c);
  }
  if (trials) {
    hw_trials_free(trials, 2 * half);
  }
  free(trials);
  free(c.small);
  free(c.whole);
  return status;
}

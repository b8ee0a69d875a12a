/* Figure 4: local regret after all readings when every reading may cost only so many gradients. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/reproduce.h"

/* TGD is allowed more, so that learners that spend gradients on trials find their equal. */
static const size_t budgets[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
enum { BUDGETS = 6, TGD_BUDGETS = sizeof budgets / sizeof budgets[0] };
/* Columns of one variant: TGD's nine budgets, then six of each other learner. */
enum { COLUMNS = TGD_BUDGETS + (HW_LEARNERS - 1) * BUDGETS, TRIALS = HW_VARIANTS * COLUMNS };
/* Small enough that a solve ends by its budget, not because it is satisfied. */
static const double never_satisfied = 1e-12;

typedef struct {
  double gradients; /* measured, per reading and path */
  double local;     /* after the last reading */
} outcome;

typedef struct {
  size_t seeds;
  outcome *all; /* seed by seed, TRIALS each */
} outcomes;

static size_t index_of(size_t variant, size_t learner, size_t budget) {
  return variant * COLUMNS + (learner ? TGD_BUDGETS + (learner - 1) * BUDGETS : 0) + budget;
}

static size_t budgets_of(size_t learner) {
  return learner ? BUDGETS : TGD_BUDGETS;
}

static const outcome *outcome_of(const outcomes *o, size_t seed, size_t variant, size_t learner, size_t budget) {
  return &o->all[seed * TRIALS + index_of(variant, learner, budget)];
}

static double median_of(const outcomes *o, size_t variant, size_t learner, size_t budget, bool gradients) {
  double values[HW_MOST_SEEDS];
  for (size_t seed = 0; seed < o->seeds; seed++) {
    const outcome *one = outcome_of(o, seed, variant, learner, budget);
    values[seed] = gradients ? one->gradients : one->local;
  }
  return hw_quantile(values, o->seeds, 0.5);
}

static hw_status draw(hw_reproduction *r, const outcomes *o) {
  enum { LINES = HW_VARIANTS * HW_LEARNERS };
  char labels[LINES][32];
  double x[LINES][TGD_BUDGETS], y[LINES][TGD_BUDGETS];
  hw_series series[LINES];
  for (size_t i = 0; i < LINES; i++) {
    const size_t variant = HW_VARIANTS - 1 - i / HW_LEARNERS, learner = i % HW_LEARNERS;
    snprintf(labels[i], sizeof labels[i], "%s %s", hw_learner_labels[learner], hw_variant_labels[variant]);
    for (size_t b = 0; b < budgets_of(learner); b++) {
      x[i][b] = median_of(o, variant, learner, b, true);
      y[i][b] = median_of(o, variant, learner, b, false);
    }
    series[i] = (hw_series){.label = labels[i],
                            .count = budgets_of(learner),
                            .x = x[i],
                            .y = y[i],
                            .dash = (int)(i / HW_LEARNERS) + 1,
                            .colour = (int)learner};
  }
  const hw_chart chart = {.title = "Figure 4: local regret after the last reading at a fixed number of gradients",
                          .x_label = "gradients per reading and path, measured",
                          .y_label = "(ug/l)^4, median of the seeds",
                          .log_x = true,
                          .log_y = true,
                          .marks = true,
                          .series = series,
                          .series_count = LINES};
  return hw_show_chart(r, &chart, "figure4",
                       "Local regret against gradients per reading, five learners, resolved, corrected and printed");
}

/* The smallest of TGD's budgets that is at least what the learner spent, or TGD_BUDGETS. */
static size_t equal_budget(const outcomes *o, size_t seed, size_t variant, size_t learner, size_t budget) {
  const double spent = outcome_of(o, seed, variant, learner, budget)->gradients;
  size_t t = 0;
  while (t < TGD_BUDGETS && (double)budgets[t] < spent * 0.99) {
    t++;
  }
  return t;
}

/* The mean over budgets of ln(local regret over that of another), and how many budgets could be compared. A regret of
 * nothing at all is as good as one of 1e-300. */
static double mean_ratio(const outcomes *o, size_t seed, size_t variant, size_t learner, size_t other, size_t *pairs) {
  double sum = 0;
  *pairs = 0;
  for (size_t b = 0; b < BUDGETS; b++) {
    const size_t at = other == HW_TGD ? equal_budget(o, seed, variant, learner, b) : b;
    if (at < budgets_of(other)) {
      sum += log(fmax(outcome_of(o, seed, variant, learner, b)->local, 1e-300) /
                 fmax(outcome_of(o, seed, variant, other, at)->local, 1e-300));
      (*pairs)++;
    }
  }
  return *pairs ? exp(sum / (double)*pairs) : NAN;
}

/* Is the learner's regret `sign` of the other's (-1 lower, 1 higher) in the mean over the budgets? */
static void judge(hw_reproduction *r, const outcomes *o, size_t variant, size_t learner, size_t other, int sign) {
  hw_tally tally = {0};
  double ratios[HW_MOST_SEEDS];
  size_t count = 0;
  char claim[160];
  snprintf(claim, sizeof claim,
           sign < 0 ? "at equal gradients %s has a lower local regret than %s, %s"
                    : "perturbed, %s has a higher local regret than %s, %s",
           hw_learner_labels[learner], hw_learner_labels[other], hw_variant_labels[variant]);
  for (size_t seed = 0; seed < o->seeds; seed++) {
    size_t pairs;
    const double ratio = mean_ratio(o, seed, variant, learner, other, &pairs);
    if (pairs) {
      ratios[count++] = ratio;
      hw_tally_lower(&tally, sign < 0 ? ratio : 1 / ratio, 1);
    }
  }
  if (count == 0) {
    hw_page_finding(r->page, "Fig. 4", claim, HW_UNDECIDED, "spends more than %zu gradients everywhere",
                    budgets[TGD_BUDGETS - 1]);
  } else {
    hw_judge(r->page, "Fig. 4", claim, &tally, "median ratio %.3g", hw_quantile(ratios, count, 0.5));
  }
}

static void tabulate(hw_reproduction *r, const outcomes *o) {
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    hw_page_text(r->page, "%c%s: median local regret (gradients per reading and path, measured)",
                 hw_variant_labels[v][0] - 'a' + 'A', hw_variant_labels[v] + 1);
    hw_page_table_begin(r->page);
    hw_page_row(r->page, "allowed per solve\tTGD\tATGD\tAPTGD\tMTGD\tMPTGD");
    for (size_t b = 0; b < TGD_BUDGETS; b++) {
      char cells[HW_LEARNERS][40] = {{0}};
      for (size_t i = 0; i < HW_LEARNERS && b < budgets_of(i); i++) {
        snprintf(cells[i], sizeof cells[i], "%.3g (%.1f)", median_of(o, v, i, b, false), median_of(o, v, i, b, true));
      }
      hw_page_row(r->page, "%zu\t%s\t%s\t%s\t%s\t%s", budgets[b], cells[0], cells[1], cells[2], cells[3], cells[4]);
    }
    hw_page_table_end(r->page);
  }
}

static hw_status run_seed(const hw_reproduction *r, const hw_trial_setting *setting, size_t seed, outcome *out) {
  static hw_trial trials[TRIALS];
  for (size_t i = 0; i < HW_VARIANTS * HW_LEARNERS; i++) {
    const size_t variant = i / HW_LEARNERS, learner = i % HW_LEARNERS;
    for (size_t b = 0; b < budgets_of(learner); b++) {
      hw_trial *t = &trials[index_of(variant, learner, b)];
      *t = (hw_trial){.method = hw_learners[learner]};
      t->options = hw_learner_options(r, hw_variants[variant], seed);
      t->options.iterations = budgets[b];
      t->options.tolerance = never_satisfied;
      t->options.starts = 30;
    }
  }
  hw_status status = hw_trials_run(setting, trials, TRIALS);
  for (size_t v = 0; status == HW_OK && v < HW_VARIANTS; v++) {
    hw_regret_row *rows = NULL;
    const size_t window = hw_window_of(hw_variants[v], setting->count);
    status = hw_trials_regret(setting, trials + v * COLUMNS, COLUMNS, window, true, &rows);
    for (size_t i = 0; status == HW_OK && i < COLUMNS; i++) {
      const hw_trial *t = &trials[v * COLUMNS + i];
      const size_t paths = i >= index_of(0, HW_MTGD, 0) ? t->options.starts : 1;
      out[v * COLUMNS + i].local = rows[(setting->count - 1) * COLUMNS + i].local;
      out[v * COLUMNS + i].gradients = (double)t->cost.gradient_evaluations / (double)(setting->count * paths);
    }
    free(rows);
  }
  hw_trials_free(trials, TRIALS);
  return status;
}

static hw_status tell(hw_reproduction *r, const outcomes *o) {
  hw_page_heading(r->page, "Figure 4: local regret at a fixed number of gradients");
  const hw_status status = draw(r, o);
  tabulate(r, o);
  hw_page_text(
      r->page,
      "Over %zu of the artificial readings, evenly; medians of %zu seeds. Every learner is compared with TGD allowed "
      "at least as many gradients, seed by seed, by the mean over the "
      "budgets "
      "of the logarithm of the ratio; less than a hundredth apart is a tie. The axis is measured, not nominal: a "
      "perturbed learner also spends gradients on its trials (up to three of 20 steps), and a learner on a plateau "
      "stops "
      "for lack of a gradient.",
      r->thinned_count, o->seeds);
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    for (size_t i = HW_ATGD; i < HW_LEARNERS; i++) {
      judge(r, o, v, i, HW_TGD, -1);
    }
    judge(r, o, v, HW_APTGD, HW_ATGD, 1);
    judge(r, o, v, HW_MPTGD, HW_MTGD, 1);
  }
  return status;
}

hw_status hw_reproduce_figure4(hw_reproduction *r) {
  hw_trial_setting setting = hw_thinned_setting_of(r, "Figure 4");
  outcomes o = {.seeds = r->options->seeds};
  o.all = calloc(o.seeds * TRIALS, sizeof *o.all);
  hw_status status = o.all ? HW_OK : HW_ENOMEM;
  for (size_t seed = 0; status == HW_OK && seed < o.seeds; seed++) {
    const double width = (r->share_to - r->share_from) / (double)o.seeds;
    setting.share_from = r->share_from + width * (double)seed;
    setting.share_to = setting.share_from + width;
    status = run_seed(r, &setting, seed, o.all + seed * TRIALS);
  }
  if (status == HW_OK) {
    status = tell(r, &o);
  }
  free(o.all);
  return status;
}

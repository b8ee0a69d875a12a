/* Figure 4: local regret after all readings when every reading may cost only so many gradients. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/reproduce.h"

/* TGD is allowed more, so that learners that spend gradients on trials find their equal. */
static const size_t budgets[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
enum { BUDGETS = 6, TGD_BUDGETS = sizeof budgets / sizeof budgets[0], VARIANTS = 2 };
/* Columns of one variant: TGD's nine budgets, then six of each other learner. */
enum { COLUMNS = TGD_BUDGETS + (HW_LEARNERS - 1) * BUDGETS, TRIALS = VARIANTS * COLUMNS };
/* Small enough that a solve ends by its budget, not because it is satisfied. */
static const double never_satisfied = 1e-12;

typedef struct {
  double gradients; /* measured, per reading and path */
  double local;     /* after the last reading */
} outcome;

static size_t index_of(size_t variant, size_t learner, size_t budget) {
  return variant * COLUMNS + (learner ? TGD_BUDGETS + (learner - 1) * BUDGETS : 0) + budget;
}

static size_t budgets_of(size_t learner) {
  return learner ? BUDGETS : TGD_BUDGETS;
}

static hw_status draw(hw_reproduction *r, const outcome *outcomes) {
  enum { LINES = VARIANTS * HW_LEARNERS };
  char labels[LINES][32];
  double x[LINES][TGD_BUDGETS], y[LINES][TGD_BUDGETS];
  hw_series series[LINES];
  for (size_t i = 0; i < LINES; i++) {
    const size_t variant = i / HW_LEARNERS, learner = i % HW_LEARNERS;
    snprintf(labels[i], sizeof labels[i], "%s %s", hw_learner_labels[learner], variant ? "printed" : "resolved");
    for (size_t b = 0; b < budgets_of(learner); b++) {
      x[i][b] = outcomes[index_of(variant, learner, b)].gradients;
      y[i][b] = outcomes[index_of(variant, learner, b)].local;
    }
    series[i] = (hw_series){.label = labels[i],
                            .count = budgets_of(learner),
                            .x = x[i],
                            .y = y[i],
                            .dashed = variant == 1,
                            .colour = (int)learner};
  }
  const hw_chart chart = {.title = "Figure 4: local regret after the last reading at a fixed number of gradients",
                          .x_label = "gradients per reading and path, measured",
                          .y_label = "(ug/l)^4",
                          .log_x = true,
                          .log_y = true,
                          .marks = true,
                          .series = series,
                          .series_count = LINES};
  return hw_show_chart(r, &chart, "figure4",
                       "Local regret against gradients per reading, five learners, resolved and printed");
}

/* Against TGD with at least as many gradients: how often is the learner's local regret the lower one? */
static size_t count_better(const outcome *outcomes, size_t variant, size_t learner, size_t *compared) {
  size_t better = 0;
  *compared = 0;
  for (size_t b = 0; b < BUDGETS; b++) {
    const outcome *o = &outcomes[index_of(variant, learner, b)];
    size_t t = 0;
    while (t < TGD_BUDGETS && (double)budgets[t] < o->gradients * 0.99) {
      t++;
    }
    if (t < TGD_BUDGETS) {
      (*compared)++;
      better += o->local < outcomes[index_of(variant, 0, t)].local;
    }
  }
  return better;
}

static void judge(hw_reproduction *r, const outcome *outcomes) {
  for (size_t variant = 0; variant < VARIANTS; variant++) {
    size_t better = 0, compared = 0;
    char evidence[400];
    size_t length = 0;
    for (size_t learner = 1; learner < HW_LEARNERS; learner++) {
      size_t pairs;
      const size_t won = count_better(outcomes, variant, learner, &pairs);
      better += won;
      compared += pairs;
      if (pairs) {
        length += (size_t)snprintf(evidence + length, sizeof evidence - length, "%s%s lower in %zu of %zu budgets",
                                   length ? ", " : "", hw_learner_labels[learner], won, pairs);
      } else {
        length += (size_t)snprintf(evidence + length, sizeof evidence - length, "%s%s spends more than %zu everywhere",
                                   length ? ", " : "", hw_learner_labels[learner], budgets[TGD_BUDGETS - 1]);
      }
    }
    hw_page_finding(r->page, "Fig. 4",
                    variant ? "at equal gradient budgets the proposed learners beat TGD, printed"
                            : "at equal gradient budgets the proposed learners beat TGD, resolved",
                    better == compared      ? HW_HOLDS
                    : 2 * better > compared ? HW_PARTLY
                                            : HW_FAILS,
                    "%s", evidence);
  }
}

static void tabulate(hw_reproduction *r, const outcome *outcomes) {
  for (size_t variant = 0; variant < VARIANTS; variant++) {
    hw_page_text(r->page, "%s: local regret (gradients per reading and path, measured)",
                 variant ? "Printed" : "Resolved");
    hw_page_table_begin(r->page);
    hw_page_row(r->page, "allowed per solve\tTGD\tATGD\tAPTGD\tMTGD\tMPTGD");
    for (size_t b = 0; b < TGD_BUDGETS; b++) {
      const outcome *o[HW_LEARNERS];
      if (b >= BUDGETS) {
        const outcome *tgd = &outcomes[index_of(variant, 0, b)];
        hw_page_row(r->page, "%zu\t%.3g (%.1f)\t\t\t\t", budgets[b], tgd->local, tgd->gradients);
        continue;
      }
      for (size_t i = 0; i < HW_LEARNERS; i++) {
        o[i] = &outcomes[index_of(variant, i, b)];
      }
      hw_page_row(r->page, "%zu\t%.3g (%.1f)\t%.3g (%.1f)\t%.3g (%.1f)\t%.3g (%.1f)\t%.3g (%.1f)", budgets[b],
                  o[0]->local, o[0]->gradients, o[1]->local, o[1]->gradients, o[2]->local, o[2]->gradients, o[3]->local,
                  o[3]->gradients, o[4]->local, o[4]->gradients);
    }
    hw_page_table_end(r->page);
  }
}

static hw_status collect(const hw_trial_setting *setting, const hw_trial *trials, outcome *outcomes) {
  for (size_t variant = 0; variant < VARIANTS; variant++) {
    const size_t from = index_of(variant, 0, 0), count = COLUMNS;
    hw_regret_row *rows = NULL;
    const hw_status status = hw_trials_regret(setting, trials + from, count, variant ? 1 : setting->count, &rows);
    if (status != HW_OK) {
      return status;
    }
    for (size_t i = 0; i < count; i++) {
      const hw_trial *t = &trials[from + i];
      const size_t paths = i >= index_of(0, 3, 0) ? t->options.starts : 1;
      outcomes[from + i].local = rows[(setting->count - 1) * count + i].local;
      outcomes[from + i].gradients = (double)t->cost.gradient_evaluations / (double)(setting->count * paths);
    }
    free(rows);
  }
  return HW_OK;
}

hw_status hw_reproduce_figure4(hw_reproduction *r) {
  static hw_trial trials[TRIALS];
  outcome outcomes[TRIALS];
  for (size_t variant = 0; variant < VARIANTS; variant++) {
    for (size_t learner = 0; learner < HW_LEARNERS; learner++) {
      for (size_t b = 0; b < budgets_of(learner); b++) {
        hw_trial *t = &trials[index_of(variant, learner, b)];
        *t = (hw_trial){.method = hw_learners[learner]};
        t->options = hw_learner_options(r, variant ? HW_PRINTED : HW_RESOLVED);
        t->options.iterations = budgets[b];
        t->options.tolerance = never_satisfied;
        t->options.starts = 30;
      }
    }
  }
  const hw_trial_setting setting = hw_setting_of(r, false, "Figure 4");
  hw_status status = hw_trials_run(&setting, trials, TRIALS);
  if (status == HW_OK) {
    status = collect(&setting, trials, outcomes);
  }
  hw_trials_free(trials, TRIALS);
  if (status != HW_OK) {
    return status;
  }
  hw_page_heading(r->page, "Figure 4: local regret at a fixed number of gradients");
  status = draw(r, outcomes);
  tabulate(r, outcomes);
  hw_page_text(
      r->page,
      "Every learner is compared with TGD allowed at least as many gradients. The axis is measured, not nominal: a "
      "perturbed learner also spends gradients on its trials (up to three of 20 steps), and a learner on a plateau "
      "stops "
      "for lack of a gradient.");
  judge(r, outcomes);
  return status;
}

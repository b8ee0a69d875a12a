/* Figures 3a and 3b: local and cumulative regret of the five learners on the artificial readings. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/reproduce.h"

/* Printed, resolved, and resolved without the moment start, five learners each. */
enum { GROUPS = 3, TRIALS = GROUPS * HW_LEARNERS, PRINTED = 0, RESOLVED = HW_LEARNERS, NO_MOMENT = 2 * HW_LEARNERS };
enum { TGD, ATGD, APTGD, MTGD, MPTGD };
/* Jumps and starts are drawn by chance, and one draw may decide the early readings: curves are means over this many. */
enum { SEEDS = 8 };

typedef struct {
  size_t count;
  hw_regret_row *printed;  /* five columns, window 1 */
  hw_regret_row *resolved; /* ten columns, window of the whole record, means over SEEDS */
} curves;

static const hw_regret_row *row_of(const curves *c, size_t trial, size_t n) {
  return trial < RESOLVED ? &c->printed[n * HW_LEARNERS + trial]
                          : &c->resolved[n * (TRIALS - HW_LEARNERS) + trial - RESOLVED];
}

static double value_of(const curves *c, size_t trial, size_t n, bool local) {
  const hw_regret_row *row = row_of(c, trial, n);
  return local ? row->local : row->cumulative;
}

static hw_status draw(hw_reproduction *r, const curves *c, bool local) {
  enum { LINES = 2 * HW_LEARNERS };
  char labels[LINES][32];
  hw_series series[LINES];
  double *y = calloc(LINES * c->count, sizeof *y);
  if (!y) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < LINES; i++) {
    const bool printed = i >= HW_LEARNERS;
    const size_t trial = printed ? i - HW_LEARNERS : RESOLVED + i;
    snprintf(labels[i], sizeof labels[i], "%s %s", hw_learner_labels[i % HW_LEARNERS],
             printed ? "printed" : "resolved");
    for (size_t n = 0; n < c->count; n++) {
      y[i * c->count + n] = value_of(c, trial, n, local);
    }
    series[i] = (hw_series){.label = labels[i],
                            .count = c->count,
                            .y = y + i * c->count,
                            .dashed = printed,
                            .colour = (int)(i % HW_LEARNERS)};
  }
  const hw_chart chart = {.title = local ? "Figure 3a: local regret" : "Figure 3b: cumulative regret",
                          .x_label = "readings",
                          .y_label = local ? "(ug/l)^4" : "(ug/l)^2",
                          .log_y = true,
                          .series = series,
                          .series_count = LINES};
  const hw_status status =
      hw_show_chart(r, &chart, local ? "figure3a" : "figure3b",
                    local ? "Local regret over the readings, five learners, resolved and printed"
                          : "Cumulative regret over the readings, five learners, resolved and printed");
  free(y);
  return status;
}

/* Linear or better: the average per reading does not rise over the second half of the record. */
static bool at_most_linear(const curves *c, size_t trial, bool local) {
  const size_t half = c->count / 2;
  return value_of(c, trial, c->count - 1, local) / (double)c->count <=
         1.01 * value_of(c, trial, half - 1, local) / (double)half;
}

static size_t count_linear(const curves *c, size_t from, bool local) {
  size_t linear = 0;
  for (size_t i = 0; i < HW_LEARNERS; i++) {
    linear += at_most_linear(c, from + i, local);
  }
  return linear;
}

static void tabulate(hw_reproduction *r, const curves *c, bool local) {
  const size_t last = c->count - 1, half = c->count / 2 - 1;
  hw_page_table_begin(r->page);
  hw_page_row(r->page,
              "learner\tprinted, at %zu\tprinted, at %zu\tresolved, at %zu\tresolved, at %zu\tresolved without moment "
              "start, at %zu",
              half + 1, last + 1, half + 1, last + 1, last + 1);
  for (size_t i = 0; i < HW_LEARNERS; i++) {
    hw_page_row(r->page, "%s\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g", hw_learner_labels[i],
                value_of(c, PRINTED + i, half, local), value_of(c, PRINTED + i, last, local),
                value_of(c, RESOLVED + i, half, local), value_of(c, RESOLVED + i, last, local),
                value_of(c, NO_MOMENT + i, last, local));
  }
  hw_page_table_end(r->page);
}

static hw_verdict verdict(size_t held, size_t of) {
  return held == of ? HW_HOLDS : held ? HW_PARTLY : HW_FAILS;
}

/* Those that grow faster than linearly, by how much from the middle to the end. */
static void list_faster(const curves *c, size_t from, bool local, char *out, size_t size) {
  size_t length = 0;
  out[0] = '\0';
  for (size_t i = 0; i < HW_LEARNERS && length < size; i++) {
    if (!at_most_linear(c, from + i, local)) {
      const double middle = value_of(c, from + i, c->count / 2 - 1, local);
      length += (size_t)snprintf(out + length, size - length, "; %s grows %.3g-fold over the second half",
                                 hw_learner_labels[i], value_of(c, from + i, c->count - 1, local) / middle);
    }
  }
}

static void judge_linear(hw_reproduction *r, const curves *c) {
  static const struct {
    const char *item, *claim;
    size_t from;
    bool local;
  } claims[] = {{"Fig. 3a", "local regret grows at most linearly, resolved", RESOLVED, true},
                {"Fig. 3a", "local regret grows at most linearly, printed", PRINTED, true},
                {"Fig. 3b", "cumulative regret grows at most linearly, resolved", RESOLVED, false},
                {"Fig. 3b", "cumulative regret grows at most linearly, printed", PRINTED, false}};
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    char faster[400];
    const size_t linear = count_linear(c, claims[i].from, claims[i].local);
    list_faster(c, claims[i].from, claims[i].local, faster, sizeof faster);
    hw_page_finding(r->page, claims[i].item, claims[i].claim, verdict(linear, HW_LEARNERS),
                    "%zu of 5 learners: the average per reading does not rise over the second half%s", linear, faster);
  }
}

static void judge_order(hw_reproduction *r, const curves *c) {
  static const struct {
    const char *name;
    size_t from;
  } groups[] = {
      {"resolved, r = 0.4", RESOLVED}, {"resolved without moment start, r = 0.4", NO_MOMENT}, {"printed", PRINTED}};
  for (size_t g = 0; g < GROUPS; g++) {
    double at[HW_LEARNERS];
    char claim[160];
    for (size_t i = 0; i < HW_LEARNERS; i++) {
      at[i] = value_of(c, groups[g].from + i, c->count - 1, false);
    }
    snprintf(claim, sizeof claim, "perturbed learners beat unperturbed ones in cumulative regret, %s", groups[g].name);
    hw_page_finding(r->page, "Fig. 3b", claim, verdict((size_t)((at[APTGD] < at[ATGD]) + (at[MPTGD] < at[MTGD])), 2),
                    "APTGD %.3g against ATGD %.3g; MPTGD %.3g against MTGD %.3g", at[APTGD], at[ATGD], at[MPTGD],
                    at[MTGD]);
    snprintf(claim, sizeof claim, "multi-start lowers cumulative regret, %s", groups[g].name);
    hw_page_finding(r->page, "Fig. 3b", claim, verdict((size_t)((at[MTGD] < at[ATGD]) + (at[MPTGD] < at[APTGD])), 2),
                    "MTGD %.3g against ATGD %.3g; MPTGD %.3g against APTGD %.3g", at[MTGD], at[ATGD], at[MPTGD],
                    at[APTGD]);
  }
}

static hw_status tell(hw_reproduction *r, const curves *c) {
  hw_loss_constants k;
  hw_status status = hw_regret_constants(&r->river, r->artificial, r->artificial_count, &k);
  if (status != HW_OK) {
    return status;
  }
  const double bound_1 = 1e12 * hw_regret_bound(&k, 0, 1, c->count),
               bound_n = 1e12 * hw_regret_bound(&k, 0, c->count, c->count);
  hw_page_heading(r->page, "Figure 3a: local regret");
  status = draw(r, c, true);
  tabulate(r, c, true);
  hw_page_text(
      r->page,
      "A small local regret is not a good answer: on a plateau, where the model does not overlap the data, the "
      "gradient "
      "vanishes and the local regret stands still while nothing is learned. That is where printed TGD, ATGD and APTGD "
      "spend "
      "their first readings, starting at the paper's (1500, -10000, -205), below the first sensor. The paper's scale "
      "(\"within 2e-5\") depends on its step and units, which it does not give.");
  hw_page_text(
      r->page,
      "Theorem 3.2's bound with the estimated kappa = %.3g (ug/l)^2 per box width: %.3g for w = 1 and %.3g for a "
      "window of "
      "all %zu readings. It holds with many orders of magnitude to spare. Its best window, 2 kappa / delta, is above "
      "%zu for "
      "any tolerance below %.2g: the paper runs w = 1 where its own theorem asks for the longest window there is.",
      k.lipschitz * 1e6, bound_1, bound_n, c->count, c->count, 2 * k.lipschitz * 1e6 / (double)c->count);
  hw_page_heading(r->page, "Figure 3b: cumulative regret");
  if (status == HW_OK) {
    status = draw(r, c, false);
  }
  tabulate(r, c, false);
  hw_page_text(
      r->page,
      "Resolved: means over %d seeds; jumps and starts are drawn by chance, and a lucky draw among the first readings "
      "decides. The last column takes the moment start away, which isolates what perturbation and multi-start do by "
      "themselves: "
      "without either, a start on a plateau stays there until the readings of another sensor reach it.",
      SEEDS);
  judge_linear(r, c);
  judge_order(r, c);
  return status;
}

static void prepare(const hw_reproduction *r, size_t from, size_t count, uint64_t seed, hw_trial *trials) {
  for (size_t i = 0; i < count; i++) {
    const size_t trial = from + i;
    trials[i] = (hw_trial){.method = hw_learners[trial % HW_LEARNERS]};
    trials[i].options = hw_learner_options(r, trial < RESOLVED ? HW_PRINTED : HW_RESOLVED);
    trials[i].options.no_moment_start = trial >= NO_MOMENT;
    trials[i].options.seed += seed;
  }
}

static void note_times(hw_reproduction *r, size_t readings, const hw_trial *trials, const char *variant) {
  for (size_t i = 0; i < HW_LEARNERS; i++) {
    char label[96];
    snprintf(label, sizeof label, "%s %s, %zu artificial readings", hw_learner_labels[i], variant, readings);
    hw_note_seconds(r, label, trials[i].seconds);
  }
}

static hw_status run_printed(hw_reproduction *r, const hw_trial_setting *setting, curves *c) {
  hw_trial trials[HW_LEARNERS];
  prepare(r, PRINTED, HW_LEARNERS, 0, trials);
  hw_status status = hw_trials_run(setting, trials, HW_LEARNERS);
  if (status == HW_OK) {
    status = hw_trials_regret(setting, trials, HW_LEARNERS, 1, &c->printed);
  }
  note_times(r, setting->count, trials, "printed");
  hw_trials_free(trials, HW_LEARNERS);
  return status;
}

static hw_status run_resolved(hw_reproduction *r, const hw_trial_setting *setting, curves *c) {
  enum { COLUMNS = TRIALS - RESOLVED };
  hw_status status = HW_OK;
  c->resolved = calloc(setting->count * COLUMNS, sizeof *c->resolved);
  for (uint64_t seed = 0; status == HW_OK && seed < SEEDS; seed++) {
    hw_trial trials[COLUMNS];
    hw_regret_row *rows = NULL;
    prepare(r, RESOLVED, COLUMNS, seed, trials);
    status = c->resolved ? hw_trials_run(setting, trials, COLUMNS) : HW_ENOMEM;
    if (status == HW_OK) {
      status = hw_trials_regret(setting, trials, COLUMNS, setting->count, &rows);
    }
    for (size_t i = 0; status == HW_OK && i < setting->count * COLUMNS; i++) {
      c->resolved[i].local += rows[i].local / SEEDS;
      c->resolved[i].cumulative += rows[i].cumulative / SEEDS;
    }
    if (seed == 0) {
      note_times(r, setting->count, trials, "resolved");
    }
    hw_trials_free(trials, COLUMNS);
    free(rows);
  }
  return status;
}

hw_status hw_reproduce_figure3(hw_reproduction *r) {
  const hw_trial_setting setting = hw_setting_of(r, false, "Figure 3");
  curves c = {.count = setting.count};
  hw_status status = run_printed(r, &setting, &c);
  if (status == HW_OK) {
    status = run_resolved(r, &setting, &c);
  }
  if (status == HW_OK) {
    status = tell(r, &c);
  }
  free(c.printed);
  free(c.resolved);
  return status;
}

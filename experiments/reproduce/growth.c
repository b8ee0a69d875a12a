/* "O(N)": how regret grows with the number of readings, tested where it could fail.
 *
 * Over the artificial record as it came nothing can be learned about growth: the pulses pass, and then every learner
 * stands still. So each seed shuffles the record, which makes every reading like every other, and the exponent
 *
 *   p = log2(R(N) / R(N/2))
 *
 * says how regret grows: 1 is linear, less is better. Beside the learners stands one that never moves. Losses are
 * bounded (Assumption 2.3), so its regret is O(N) as well: O(N) alone promises no learning at all, p < 1 does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/reproduce/reproduce.h"

/* The five learners, and one that never moves. */
enum { PLAYERS = HW_LEARNERS + 1, IDLE = HW_LEARNERS, MOST_COUNT = 500 };
/* The exponent's 95 % interval must end below this to be called linear. */
static const double linear_margin = 1.1;

typedef struct {
  double p[HW_VARIANTS][PLAYERS][2][HW_MOST_SEEDS]; /* local and cumulative */
  double over_bound[HW_VARIANTS][PLAYERS];          /* largest local regret over the bound of Theorem 3.2 (i) */
  size_t count;
} growth;

static void shuffle(hw_reading *readings, size_t count, uint64_t seed) {
  enum { STREAM = 78 };
  hw_rng rng;
  hw_rng_seed(&rng, seed, STREAM);
  for (size_t i = count; i > 1; i--) {
    const size_t k = (size_t)(hw_rng_uniform(&rng) * (double)i);
    const hw_reading swapped = readings[i - 1];
    readings[i - 1] = readings[k];
    readings[k] = swapped;
  }
}

/* Regrets this small are rounding beside a loss of the readings themselves, and grow no more. */
static double exponent(double half, double whole, double floor) {
  return whole <= floor ? 0 : log2(whole / fmax(half, floor));
}

static void keep(growth *g, const hw_trial_setting *setting, const hw_regret_row *rows, size_t variant, size_t seed,
                 double bound) {
  const hw_regret_row *half = rows + (setting->count / 2 - 1) * PLAYERS, *end = rows + (setting->count - 1) * PLAYERS;
  for (size_t i = 0; i < PLAYERS; i++) {
    g->p[variant][i][0][seed] = exponent(half[i].local, end[i].local, 1e-12);
    g->p[variant][i][1][seed] = exponent(half[i].cumulative, end[i].cumulative, 1e-12);
    g->over_bound[variant][i] = fmax(g->over_bound[variant][i], end[i].local / bound);
  }
}

static hw_status run_seed(const hw_reproduction *r, hw_trial_setting *setting, const hw_loss_constants *k, size_t seed,
                          growth *g) {
  hw_status status = HW_OK;
  for (size_t v = 0; status == HW_OK && v < HW_VARIANTS; v++) {
    hw_trial trials[PLAYERS] = {{0}};
    hw_regret_row *rows = NULL;
    const size_t window = hw_window_of(hw_variants[v], setting->count);
    for (size_t i = 0; i < HW_LEARNERS; i++) {
      trials[i].method = hw_learners[i];
      trials[i].options = hw_learner_options(r, hw_variants[v], seed);
    }
    trials[IDLE].played = calloc(setting->count, sizeof *trials[IDLE].played);
    for (size_t n = 0; trials[IDLE].played && n < setting->count; n++) {
      trials[IDLE].played[n] = trials[0].options.start;
    }
    status = trials[IDLE].played ? hw_trials_run(setting, trials, HW_LEARNERS) : HW_ENOMEM;
    if (status == HW_OK) {
      status = hw_trials_regret(setting, trials, PLAYERS, window, false, &rows);
    }
    if (status == HW_OK) {
      keep(g, setting, rows, v, seed, 1e12 * hw_regret_bound(k, 0, window, setting->count));
    }
    hw_trials_free(trials, PLAYERS);
    free(rows);
  }
  return status;
}

/* Mean and Student's 95 % interval of the exponents. */
static void sum_up(const double *p, size_t seeds, double out[3]) {
  hw_source each[HW_MOST_SEEDS], mean;
  hw_box interval;
  for (size_t i = 0; i < seeds; i++) {
    each[i] = (hw_source){p[i], 0, 0};
  }
  out[0] = out[1] = out[2] = p[0];
  if (hw_plan_interval(each, seeds, 0.95, &mean, &interval, NULL) == HW_OK) {
    out[0] = mean.mass_g;
    out[1] = interval.lo.mass_g;
    out[2] = interval.hi.mass_g;
  }
}

static void judge(hw_reproduction *r, const growth *g, size_t variant, bool cumulative) {
  char claim[120], evidence[500];
  size_t length = 0, linear = 0, beyond = 0;
  for (size_t i = 0; i < HW_LEARNERS; i++) {
    double p[3];
    sum_up(g->p[variant][i][cumulative], r->options->seeds, p);
    linear += p[2] < linear_margin;
    beyond += p[1] > 1;
    length += (size_t)snprintf(evidence + length, sizeof evidence - length, "%s%s %.2f (%.2f to %.2f)",
                               i ? ", " : "exponents ", hw_learner_labels[i], p[0], p[1], p[2]);
  }
  snprintf(claim, sizeof claim, "%s regret grows at most linearly, %s", cumulative ? "cumulative" : "local",
           hw_variant_labels[variant]);
  hw_page_finding(r->page, cumulative ? "Fig. 3b" : "Fig. 3a", claim,
                  linear == HW_LEARNERS ? HW_HOLDS
                  : beyond == 0         ? HW_UNDECIDED
                  : linear              ? HW_PARTLY
                                        : HW_FAILS,
                  "%s", evidence);
}

static void tell(hw_reproduction *r, const growth *g, const hw_loss_constants *k) {
  hw_page_heading(r->page, "\"O(N)\": how regret grows");
  hw_page_table_begin(r->page);
  hw_page_row(r->page,
              "player\tlocal, printed\tcorrected\tresolved\tcumulative, printed\tcorrected\tresolved\tlargest share of "
              "eq. 6");
  for (size_t i = 0; i < PLAYERS; i++) {
    char cells[2 * HW_VARIANTS][48];
    double share = 0;
    for (size_t c = 0; c < 2 * HW_VARIANTS; c++) {
      double p[3];
      sum_up(g->p[c % HW_VARIANTS][i][c / HW_VARIANTS], r->options->seeds, p);
      snprintf(cells[c], sizeof cells[c], "%.2f (%.2f to %.2f)", p[0], p[1], p[2]);
      share = fmax(share, g->over_bound[c % HW_VARIANTS][i]);
    }
    hw_page_row(r->page, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1e", i == IDLE ? "never moves" : hw_learner_labels[i], cells[0],
                cells[1], cells[2], cells[3], cells[4], cells[5], share);
  }
  hw_page_table_end(r->page);
  hw_page_text(
      r->page,
      "The exponent of growth, log2 of regret after %zu readings over regret after %zu: mean and 95 %% interval over "
      "%zu "
      "seeds, each with the artificial record in another random order (as it came, the pulses pass and then every "
      "learner stands still, so that nothing could be refuted). Linear growth is 1. A claim holds when the interval "
      "ends "
      "below %.1f, fails when it begins above 1. A player that never moves has an exponent of 1 too, because losses "
      "are "
      "bounded: O(N) by itself promises no learning. Theorem 3.2 (i), eq. 6, with the estimated kappa = %.3g (ug/l)^2 "
      "per "
      "box width is a number that a measurement could exceed; the last column says how far from that it is.",
      g->count, g->count / 2, r->options->seeds, linear_margin, k->lipschitz * 1e6);
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    judge(r, g, v, false);
  }
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    judge(r, g, v, true);
  }
}

hw_status hw_reproduce_growth(hw_reproduction *r) {
  hw_trial_setting setting = hw_setting_of(r, false, "Growth of regret");
  setting.count = setting.count < MOST_COUNT ? setting.count : MOST_COUNT;
  growth *g = calloc(1, sizeof *g);
  hw_reading *record = calloc(r->artificial_count, sizeof *record);
  hw_loss_constants k = {0};
  hw_status status = g && record ? hw_regret_constants(&r->river, r->artificial, r->artificial_count, &k) : HW_ENOMEM;
  setting.readings = record;
  for (size_t seed = 0; status == HW_OK && seed < r->options->seeds; seed++) {
    const double width = (r->share_to - r->share_from) / (double)r->options->seeds;
    setting.share_from = r->share_from + width * (double)seed;
    setting.share_to = setting.share_from + width;
    memcpy(record, r->artificial, r->artificial_count * sizeof *record);
    shuffle(record, r->artificial_count, r->options->seed + seed);
    status = run_seed(r, &setting, &k, seed, g);
  }
  if (status == HW_OK) {
    g->count = setting.count;
    tell(r, g, &k);
  }
  free(record);
  free(g);
  return status;
}

/* What each ingredient is worth: from the pseudo-code with its slips mended to the resolved learners, one at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reproduce/tables.h"

typedef struct {
  const char *label;
  size_t learner;
  hw_options options; /* beside the learner's own */
} recipe;

/* Added to the pseudo-code, then taken from the whole. */
static const recipe recipes[] = {
    {"printed ATGD", HW_ATGD, {.variant = HW_PRINTED, .window = 1}},
    {"corrected ATGD", HW_ATGD, {.variant = HW_CORRECTED, .window = 1}},
    {"corrected ATGD, window of the whole record", HW_ATGD, {.variant = HW_CORRECTED, .window = HW_MOST_ARTIFICIAL}},
    {"resolved descent without phase, curvature, moment start",
     HW_ATGD,
     {.without = HW_WITHOUT_PHASE | HW_WITHOUT_CURVATURE, .no_moment_start = true}},
    {"with phase coordinates", HW_ATGD, {.without = HW_WITHOUT_CURVATURE, .no_moment_start = true}},
    {"with curvature", HW_ATGD, {.without = HW_WITHOUT_PHASE, .no_moment_start = true}},
    {"with both", HW_ATGD, {.no_moment_start = true}},
    {"with both and small jumps (r = 0.05)", HW_APTGD, {.no_moment_start = true, .perturbation = 0.05}},
    {"with both and large jumps (r = 0.4)", HW_APTGD, {.no_moment_start = true}},
    {"with both and moment start: resolved ATGD", HW_ATGD, {0}},
    {"all of them: resolved APTGD", HW_APTGD, {0}},
    {"all but the window (w = 1)", HW_APTGD, {.window = 1}},
    {"all but phase coordinates", HW_APTGD, {.without = HW_WITHOUT_PHASE}},
    {"all but curvature", HW_APTGD, {.without = HW_WITHOUT_CURVATURE}},
};
enum { RECIPES = sizeof recipes / sizeof recipes[0] };

static hw_options options_of(const hw_reproduction *r, const recipe *c, size_t seed) {
  const hw_options drawn = hw_learner_options(r, c->options.variant, seed);
  hw_options o = c->options;
  o.seed = drawn.seed;
  o.has_start = true;
  o.start = drawn.start;
  o.window = o.window ? o.window : drawn.window;
  return o;
}

/* How many of a recipe's trials end within 1 % of the least loss there is; on clean readings that loss is 0, and a
 * millionth of the mean square reading counts as there. */
static size_t count_arrived(const hw_trial *trials, size_t seeds, double least, double floor) {
  size_t arrived = 0;
  for (size_t i = 0; i < seeds; i++) {
    arrived += trials[i].status == HW_OK && trials[i].loss <= 1.01 * least + floor;
  }
  return arrived;
}

static double median_gradients(const hw_trial *trials, size_t seeds, size_t readings) {
  double values[HW_MOST_SEEDS];
  for (size_t i = 0; i < seeds; i++) {
    values[i] = (double)trials[i].cost.gradient_evaluations / (double)readings;
  }
  return hw_quantile(values, seeds, 0.5);
}

static hw_status run_all(hw_reproduction *r, bool real, hw_trial *trials) {
  const size_t seeds = r->options->seeds;
  hw_trial_setting setting = hw_setting_of(r, real, "Ablation");
  setting.final_only = true;
  for (size_t i = 0; i < RECIPES * seeds; i++) {
    const recipe *c = &recipes[i / seeds];
    trials[i] = (hw_trial){.method = hw_learners[c->learner], .options = options_of(r, c, i % seeds)};
  }
  return hw_trials_run(&setting, trials, RECIPES * seeds);
}

static double mean_square(const hw_reading *readings, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += readings[i].concentration_g_m3 * readings[i].concentration_g_m3 / (double)count;
  }
  return sum;
}

static hw_status tell(hw_reproduction *r, const hw_trial *clean, const hw_trial *real) {
  const size_t seeds = r->options->seeds;
  const double floor = 1e-6 * mean_square(r->artificial, r->artificial_count);
  double least = NAN;
  if (r->real_count) {
    hw_source best;
    const hw_status status = hw_real_optimum(r, &best);
    if (status != HW_OK) {
      return status;
    }
    least = hw_real_loss(r, &best) / 1e6;
  }
  hw_page_heading(r->page, "Ablation: what each ingredient is worth");
  hw_page_table_begin(r->page);
  hw_page_row(r->page, "learner\tarrived, artificial\tgradients a reading\tarrived, real\tgradients a reading");
  for (size_t c = 0; c < RECIPES; c++) {
    char on_real[2][32] = {"", ""};
    if (r->real_count) {
      snprintf(on_real[0], sizeof on_real[0], "%zu of %zu", count_arrived(real + c * seeds, seeds, least, 0), seeds);
      snprintf(on_real[1], sizeof on_real[1], "%.1f", median_gradients(real + c * seeds, seeds, r->real_count));
    }
    hw_page_row(r->page, "%s\t%zu of %zu\t%.1f\t%s\t%s", recipes[c].label,
                count_arrived(clean + c * seeds, seeds, 0, floor), seeds,
                median_gradients(clean + c * seeds, seeds, r->artificial_count), on_real[0], on_real[1]);
  }
  hw_page_table_end(r->page);
  hw_page_text(
      r->page,
      "Single paths over %zu seeds: the first from the paper's start, the others from anywhere in the box. "
      "Arrived: the loss over all readings is within 1 %% of the least there is, on the artificial (clean) readings "
      "within a millionth of their mean square. Gradients: the median, measured.",
      seeds);
  return HW_OK;
}

hw_status hw_reproduce_ablation(hw_reproduction *r) {
  const size_t count = RECIPES * r->options->seeds;
  hw_trial *clean = calloc(count, sizeof *clean), *real = calloc(count, sizeof *real);
  hw_status status = clean && real ? run_all(r, false, clean) : HW_ENOMEM;
  if (status == HW_OK && r->real_count) {
    status = run_all(r, true, real);
  }
  if (status == HW_OK) {
    status = tell(r, clean, real);
  }
  free(clean);
  free(real);
  return status;
}

/* Beyond the paper: the posterior engine, the offline baselines and the gradient-free learner on Table 1's readings. */
#include <stdio.h>

#include "experiments/reproduce/tables.h"

static const char *const others[] = {"posterior", "de", "annealing", "genetic", "mcmc", "backward", "bandit"};
enum { OTHERS = sizeof others / sizeof others[0] };

/* The posterior engine on the river as one would know it without the paper's figures: the folder's own files. */
static void put_field_river(hw_reproduction *r, const char *file, const char *variant) {
  char path[1024], more[160], claim[120];
  hw_river river;
  hw_error unused;
  snprintf(path, sizeof path, "%s/truckee/%s", r->options->data_dir, file);
  if (hw_river_load(path, NULL, NULL, &river, &unused) != HW_OK) {
    return; /* a folder without it: one row fewer */
  }
  hw_trial trial = {.method = "posterior", .options = {.seed = r->options->seed}};
  hw_trial_setting setting = hw_setting_of(r, true, "Beyond the paper");
  setting.river = &river;
  setting.final_only = true;
  setting.share_from = setting.share_to;
  if (river.sensor_count == r->river.sensor_count && hw_trials_run(&setting, &trial, 1) == HW_OK &&
      trial.status == HW_OK) {
    const hw_source *truth = &hw_paper_truth, *lo = &trial.interval.lo, *hi = &trial.interval.hi;
    const bool place = lo->location_m <= truth->location_m && truth->location_m <= hi->location_m;
    const bool time = lo->time_s <= truth->time_s && truth->time_s <= hi->time_s;
    hw_say_interval(&trial.interval, more, sizeof more);
    hw_put_row(r, "posterior", variant, &trial.found, false, more);
    snprintf(claim, sizeof claim, "posterior, %s: the 90 %% intervals cover the true place and time", variant);
    hw_page_finding(r->page, "beyond", claim,
                    place && time   ? HW_HOLDS
                    : place || time ? HW_PARTLY
                                    : HW_FAILS,
                    "%s", more);
  }
  hw_river_free(&river);
}

hw_status hw_reproduce_beyond(hw_reproduction *r) {
  if (r->real_count == 0) {
    return HW_OK;
  }
  hw_trial trials[OTHERS] = {{0}};
  for (size_t i = 0; i < OTHERS; i++) {
    trials[i] = (hw_trial){.method = others[i], .options = {.seed = r->options->seed}};
  }
  hw_trial_setting setting = hw_setting_of(r, true, "Beyond the paper");
  setting.final_only = true;
  const hw_status status = hw_trials_run(&setting, trials, OTHERS);
  if (status != HW_OK) {
    return status;
  }
  hw_page_heading(r->page, "Beyond the paper: other methods on the same readings");
  hw_put_head(r, "method", "cost or interval");
  for (size_t i = 0; i < OTHERS; i++) {
    hw_put_trial(r, others[i], "the paper's hydraulics", &trials[i]);
  }
  put_field_river(r, "river-measured.yaml", "velocity within 15 %");
  put_field_river(r, "river-unknown.yaml", "hydraulics unknown");
  hw_put_row(r, "true source", "", &hw_paper_truth, true, "");
  hw_page_table_end(r->page);
  hw_page_text(
      r->page,
      "posterior and mcmc weigh readings by their declared noise (5 %% of the concentration) instead of counting all "
      "alike, under hydraulics that are wrong by a tenth. Told that the hydraulics are not known, the posterior engine "
      "works with the pulses' shapes instead.");
  return HW_OK;
}

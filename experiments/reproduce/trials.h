/* Many runs of many methods over the same readings, shared out over a few threads, and their regrets.
 * Every trial has its own run and seed, so results do not depend on the number of threads. */
#ifndef HW_REPRODUCE_TRIALS_H
#define HW_REPRODUCE_TRIALS_H

#include "headwater/headwater.h"

typedef struct {
  const char *method;
  hw_options options;
  /* Filled by hw_trials_run: */
  hw_status status;  /* HW_EHYDRAULICS and the like; the rest is not filled then */
  hw_source *played; /* what it stood at before each reading; freed by hw_trials_free */
  hw_source found;   /* after the last */
  bool has_interval;
  hw_box interval;
  double loss; /* (g/m3)^2 */
  hw_cost cost;
  double seconds;
} hw_trial;

/* Told how far the whole is, 0 to 1; may be called from any one thread at a time. */
typedef void (*hw_tell)(void *context, const char *what, double share);

typedef struct {
  const hw_river *river;
  const hw_reading *readings;
  size_t count;
  size_t threads;
  bool final_only; /* estimate once, after the last reading, and keep no `played` (batch baselines) */
  hw_tell tell;
  void *context;
  const char *what;
  double share_from, share_to; /* the part of the whole that the trials are */
} hw_trial_setting;

/* Status: HW_ENOMEM; a trial's own failure is in the trial */
hw_status hw_trials_run(const hw_trial_setting *setting, hw_trial *trials, size_t count);
void hw_trials_free(hw_trial *trials, size_t count);

/* Regrets of the trials after every reading, rows[reading * count + trial], in (ug/l)^2 and (ug/l)^4; to be freed.
 * local_only: without the optimum in hindsight, which is most of the work; `cumulative` is not filled then. */
hw_status hw_trials_regret(const hw_trial_setting *setting, const hw_trial *trials, size_t count, size_t window,
                           bool local_only, hw_regret_row **rows);

#endif

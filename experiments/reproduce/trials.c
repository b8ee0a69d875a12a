#include "experiments/reproduce/trials.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  const hw_trial_setting *setting;
  hw_trial *trials;
  size_t count, next, done;
  pthread_mutex_t lock;
} work;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep(hw_trial *trial, const hw_estimate *estimate) {
  trial->found = estimate->source;
  trial->has_interval = estimate->has_interval;
  trial->interval = estimate->interval;
  trial->loss = estimate->loss;
  trial->cost = estimate->cost;
}

static hw_source first_point(const hw_river *river, const hw_options *options) {
  const hw_source *lo = &river->search.lo, *hi = &river->search.hi;
  const hw_source centre = {0.5 * (lo->mass_g + hi->mass_g), 0.5 * (lo->location_m + hi->location_m),
                            0.5 * (lo->time_s + hi->time_s)};
  return options->has_start ? options->start : centre;
}

static hw_status follow(const hw_trial_setting *setting, hw_trial *trial, hw_run *run) {
  hw_status status = HW_OK;
  hw_source at = first_point(setting->river, &trial->options);
  for (size_t n = 0; status == HW_OK && n < setting->count; n++) {
    hw_estimate estimate;
    if (trial->played) {
      trial->played[n] = at;
    }
    status = hw_run_observe(run, &setting->readings[n]);
    if (status == HW_OK && (!setting->final_only || n + 1 == setting->count)) {
      status = hw_run_estimate(run, &estimate);
    } else {
      continue;
    }
    if (status == HW_OK) {
      at = estimate.source;
      keep(trial, &estimate);
    }
  }
  return status;
}

static void run_one(const hw_trial_setting *setting, hw_trial *trial) {
  const hw_problem problem = {.river = setting->river};
  const hw_method *method = hw_method_find(trial->method);
  hw_run *run = NULL;
  const double begin_s = now_s();
  trial->status = method ? hw_run_create(method, &problem, &trial->options, &run) : HW_ENAME;
  if (trial->status == HW_OK && !setting->final_only) {
    trial->played = calloc(setting->count, sizeof *trial->played);
    trial->status = trial->played ? HW_OK : HW_ENOMEM;
  }
  if (trial->status == HW_OK) {
    trial->status = follow(setting, trial, run);
  }
  hw_run_free(run);
  trial->seconds = now_s() - begin_s;
}

static void *labour(void *context) {
  work *w = context;
  for (;;) {
    pthread_mutex_lock(&w->lock);
    const size_t i = w->next++;
    pthread_mutex_unlock(&w->lock);
    if (i >= w->count) {
      return NULL;
    }
    run_one(w->setting, &w->trials[i]);
    pthread_mutex_lock(&w->lock);
    w->done++;
    if (w->setting->tell) {
      const hw_trial_setting *s = w->setting;
      s->tell(s->context, s->what, s->share_from + (s->share_to - s->share_from) * (double)w->done / (double)w->count);
    }
    pthread_mutex_unlock(&w->lock);
  }
}

hw_status hw_trials_run(const hw_trial_setting *setting, hw_trial *trials, size_t count) {
  enum { MOST_THREADS = 64 };
  pthread_t threads[MOST_THREADS];
  work w = {.setting = setting, .trials = trials, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
  size_t started = 0;
  for (size_t i = 0; i < count; i++) {
    trials[i].options.threads = 1;
  }
  while (started + 1 < setting->threads && started < MOST_THREADS &&
         pthread_create(&threads[started], NULL, labour, &w) == 0) {
    started++;
  }
  labour(&w);
  for (size_t i = 0; i < started; i++) {
    pthread_join(threads[i], NULL);
  }
  for (size_t i = 0; i < count; i++) {
    if (trials[i].status == HW_ENOMEM) {
      return HW_ENOMEM;
    }
  }
  return HW_OK;
}

void hw_trials_free(hw_trial *trials, size_t count) {
  for (size_t i = 0; i < count; i++) {
    free(trials[i].played);
    trials[i].played = NULL;
  }
}

hw_status hw_trials_regret(const hw_trial_setting *setting, const hw_trial *trials, size_t count, size_t window,
                           bool local_only, hw_regret_row **out) {
  const hw_regret_options options = {
      .readings = setting->count, .learners = count, .window = window, .local_only = local_only};
  hw_regret *regret = NULL;
  hw_regret_row *rows = calloc(setting->count * count, sizeof *rows);
  hw_source *played = calloc(count, sizeof *played);
  hw_status status = rows && played ? hw_regret_create(setting->river, &options, &regret) : HW_ENOMEM;
  for (size_t n = 0; status == HW_OK && n < setting->count; n++) {
    for (size_t i = 0; i < count; i++) {
      played[i] = trials[i].played[n];
    }
    status = hw_regret_add(regret, &setting->readings[n], played, rows + n * count);
  }
  for (size_t i = 0; status == HW_OK && i < setting->count * count; i++) {
    rows[i].suffered *= 1e6;
    rows[i].cumulative *= 1e6;
    rows[i].local *= 1e12;
  }
  hw_regret_free(regret);
  free(played);
  if (status != HW_OK) {
    free(rows);
    return status;
  }
  *out = rows;
  return HW_OK;
}

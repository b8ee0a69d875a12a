#include "online/learner.h"

#include <math.h>
#include <stdlib.h>

#include "loss/box.h"
#include "online/across.h"

/* Choosing between paths looks back this far at least, also when the window is shorter. */
enum { LEAST_KEPT = 1000 };

/* Steps of one path of many per reading, before the best goes on alone. */
enum { PATH_ITERATIONS = 40 };

/* Paths this close, in box widths and in their share of the loss, are in the same minimum. */
static const double meeting_distance = 1e-3;

/* A sensor's own source must leave less than this share of its mean square reading unexplained. */
static const double most_unexplained = 0.5;

static void destroy_one(hw__learner *learner) {
  if (!learner) {
    return;
  }
  hw__pool_free(learner->pool);
  free(learner->live);
  free(learner->paths);
  hw__packed_free(&learner->all);
  hw__packed_free(&learner->recent);
  hw__window_free(&learner->kept);
  free(learner->sensor_m);
  hw_transport_free(learner->transport);
  free(learner);
}

/* Path 0 starts where the user says, or in the middle; the others anywhere in the box. */
static void place_paths(hw__learner *learner, uint64_t stream) {
  learner->live_count = learner->path_count;
  for (size_t i = 0; i < learner->path_count; i++) {
    hw__path *path = &learner->paths[i];
    learner->live[i] = i;
    path->misfit = (hw__misfit){.transport = learner->transport, .sensor_m = learner->sensor_m};
    hw_rng_seed(&path->rng, learner->options.seed, stream * 1000003 + i);
    if (i > 0) {
      path->x = hw__box_draw(&learner->box, &path->rng);
    } else if (learner->options.has_start) {
      path->x = hw__box_clamp(&learner->box, &learner->options.start);
    } else {
      path->x = hw__box_centre(&learner->box);
    }
  }
}

static hw_status create_one(const hw__recipe *recipe, const hw_problem *problem, const hw_options *options,
                            uint64_t stream, hw__learner **out) {
  *out = NULL;
  const hw_river *river = problem->river;
  hw__learner *learner = calloc(1, sizeof *learner);
  if (!learner) {
    return HW_ENOMEM;
  }
  learner->recipe = recipe;
  learner->options = *options;
  learner->box = river->search;
  learner->sensor_count = river->sensor_count;
  learner->path_count = recipe->multi_start ? options->starts : 1;
  learner->path_iterations = options->iterations;
  if (recipe->multi_start && learner->path_iterations > PATH_ITERATIONS) {
    learner->path_iterations = PATH_ITERATIONS;
  }
  const size_t keep = options->window > LEAST_KEPT ? options->window : LEAST_KEPT;
  hw_status status = hw_transport_create(river, NULL, &learner->transport);
  if (status == HW_OK) {
    status = hw__window_create(keep, &learner->kept);
  }
  if (status == HW_OK) {
    status = hw__packed_create(options->window, river->sensor_count, &learner->recent);
  }
  if (status == HW_OK) {
    status = hw__packed_create(keep, river->sensor_count, &learner->all);
  }
  if (status == HW_OK && learner->path_count > 1) {
    status = hw__pool_create(options->threads, &learner->pool);
  }
  learner->sensor_m = calloc(river->sensor_count, sizeof *learner->sensor_m);
  learner->paths = calloc(learner->path_count, sizeof *learner->paths);
  learner->live = calloc(learner->path_count, sizeof *learner->live);
  if (status == HW_OK && (!learner->sensor_m || !learner->paths || !learner->live)) {
    status = HW_ENOMEM;
  }
  if (status != HW_OK) {
    destroy_one(learner);
    return status;
  }
  for (size_t m = 0; m < river->sensor_count; m++) {
    learner->sensor_m[m] = river->sensors[m].location_m;
  }
  place_paths(learner, stream);
  *out = learner;
  return HW_OK;
}

double hw__learner_solve(const hw__learner *learner, hw__path *path, size_t iterations) {
  const hw__limits limits = {learner->options.tolerance, iterations, learner->options.without};
  hw__solution solution = {.x = path->x};
  hw__solve(&path->misfit, learner->packed, &learner->box, &limits, &solution);
  path->x = solution.x;
  path->stop = solution.stop;
  return solution.value;
}

void hw__advance_plain(const hw__learner *learner, hw__path *path) {
  hw__learner_solve(learner, path, learner->path_iterations);
}

/* Once the readings have a shape, path 0 also tries the source their moments suggest and keeps the better of the
 * two ends. Again whenever the pulse has half as many more readings or is half as high again, because the moments
 * of a rising limb, or of the noise before it, are poor. Without this most starts sit on a plateau where no model
 * overlaps the data. */
static void moment_start(hw__learner *learner) {
  const hw__moment pulse = hw__moment_pulse(&learner->all), *tried = &learner->moment_tried;
  const bool grown = 2 * pulse.count >= 3 * tried->count || pulse.largest >= 1.5 * tried->largest;
  if (pulse.count == 0 || !grown || learner->options.no_moment_start) {
    return;
  }
  hw__path *path = &learner->paths[0];
  hw__path trial = *path;
  learner->moment_tried = pulse;
  if (!hw__moment_start(&trial.misfit, &learner->all, &learner->box, &trial.x)) {
    return;
  }
  const size_t fair = learner->path_iterations > HW__TRIAL_ITERATIONS ? learner->path_iterations : HW__TRIAL_ITERATIONS;
  const double here = hw__learner_solve(learner, path, fair);
  trial.misfit = path->misfit;
  const double there = hw__learner_solve(learner, &trial, fair);
  path->misfit = trial.misfit;
  if (there < here) {
    path->x = trial.x;
    path->stop = trial.stop;
  }
}

/* The paper's choice between paths takes the square of the mean misfit, so that an estimate may be wrong
 * everywhere as long as its errors cancel. Only the printed variant does. */
static double squared_mean(const hw__learner *learner, hw__path *path) {
  const double mean = hw__misfit_mean(&path->misfit, &learner->all, &path->x);
  return mean * mean;
}

static void advance_path(void *context, size_t i) {
  hw__learner *learner = context;
  hw__path *path = &learner->paths[learner->live[i]];
  const hw_variant variant = learner->options.variant;
  (variant == HW_RESOLVED ? learner->recipe->resolved : learner->recipe->printed)(learner, path);
  if (learner->path_count > 1) {
    path->criterion =
        variant == HW_PRINTED ? squared_mean(learner, path) : hw__misfit_value(&path->misfit, &learner->all, &path->x);
  }
}

static bool have_met(const hw__learner *learner, const hw__path *a, const hw__path *b) {
  double width[3], x[3], y[3];
  hw__box_widths(&learner->box, width);
  hw__source_to(&a->x, x);
  hw__source_to(&b->x, y);
  for (int j = 0; j < 3; j++) {
    if (!(fabs(x[j] - y[j]) <= meeting_distance * width[j])) {
      return false;
    }
  }
  return fabs(a->criterion - b->criterion) <= meeting_distance * a->criterion;
}

/* Paths that have come to the same minimum would go on alike for ever: the first of them goes on for all. */
static void merge_paths(hw__learner *learner) {
  size_t kept = 0;
  for (size_t i = 0; i < learner->live_count; i++) {
    const size_t candidate = learner->live[i];
    bool met = false;
    for (size_t k = 0; k < kept && !met; k++) {
      met = have_met(learner, &learner->paths[learner->live[k]], &learner->paths[candidate]);
    }
    if (!met) {
      learner->live[kept++] = candidate;
    }
  }
  learner->live_count = kept;
}

static void choose_best(hw__learner *learner) {
  learner->best = learner->live[0];
  for (size_t i = 1; i < learner->live_count; i++) {
    if (learner->paths[learner->live[i]].criterion < learner->paths[learner->best].criterion) {
      learner->best = learner->live[i];
    }
  }
}

/* The path in the lead is the answer, so it goes all the way down. The others come as far as their iterations take them
 * and go on from there with the next reading: far from the answer, or with too few readings to tell, a
 * minimum reached to the last digit is thrown away with the next one. */
static void finish_best(hw__learner *learner) {
  hw__path *best = &learner->paths[learner->best];
  if (best->stop == HW_STOP_ITERATIONS && learner->options.iterations > learner->path_iterations) {
    hw__learner_solve(learner, best, learner->options.iterations - learner->path_iterations);
    best->criterion = hw__misfit_value(&best->misfit, &learner->all, &best->x);
  }
}

static void observe_one(hw__learner *learner, const hw_reading *reading) {
  hw__window_add(&learner->kept, reading);
  learner->seen++;
  hw__packed_fill(&learner->all, &learner->kept, learner->kept.capacity);
  learner->packed = &learner->all;
  if (learner->kept.count > learner->options.window) {
    hw__packed_fill(&learner->recent, &learner->kept, learner->options.window);
    learner->packed = &learner->recent;
  }
  if (learner->options.variant == HW_RESOLVED && learner->recipe->moment_start) {
    moment_start(learner);
  }
  if (learner->options.variant != HW_RESOLVED && learner->recipe->measure) {
    learner->recipe->measure(learner);
  }
  if (!learner->pool) {
    advance_path(learner, 0);
    return;
  }
  hw__pool_run(learner->pool, learner->live_count, advance_path, learner);
  if (learner->options.variant == HW_RESOLVED) {
    merge_paths(learner);
  }
  choose_best(learner);
  if (learner->options.variant == HW_RESOLVED) {
    finish_best(learner);
  }
}

static size_t state_bytes(const hw__learner *learner) {
  const size_t doubles = 4 * (learner->recent.capacity + learner->all.capacity);
  return sizeof *learner + learner->kept.capacity * sizeof(hw_reading) + doubles * sizeof(double) +
         learner->path_count * sizeof(hw__path);
}

static void add_cost(const hw__learner *learner, hw_cost *cost) {
  for (size_t i = 0; i < learner->path_count; i++) {
    cost->model_evaluations += learner->paths[i].misfit.model_evaluations;
    cost->gradient_evaluations += learner->paths[i].misfit.gradient_evaluations;
  }
  cost->state_bytes += state_bytes(learner);
}

/* The pooled learner and, where asked for, one per sensor. */
typedef struct {
  hw__learner *pooled;
  size_t sensor_count; /* 0: no learners per sensor */
  hw__learner **alone;
} team;

hw_status hw__learner_create(const hw__recipe *recipe, const hw_problem *problem, const hw_options *options,
                             void **state) {
  *state = NULL;
  team *t = calloc(1, sizeof *t);
  if (!t) {
    return HW_ENOMEM;
  }
  hw_status status = create_one(recipe, problem, options, 0, &t->pooled);
  if (status == HW_OK && options->per_sensor && problem->river->sensor_count > 1) {
    t->sensor_count = problem->river->sensor_count;
    t->alone = calloc(t->sensor_count, sizeof *t->alone);
    status = t->alone ? HW_OK : HW_ENOMEM;
    for (size_t m = 0; status == HW_OK && m < t->sensor_count; m++) {
      status = create_one(recipe, problem, options, m + 1, &t->alone[m]);
    }
  }
  if (status != HW_OK) {
    hw__learner_destroy(t);
    return status;
  }
  *state = t;
  return HW_OK;
}

hw_status hw__learner_observe(void *state, const hw_reading *reading) {
  team *t = state;
  observe_one(t->pooled, reading);
  if (t->alone) {
    observe_one(t->alone[reading->sensor], reading);
  }
  return HW_OK;
}

/* A sensor speaks once its readings have a shape and its best source explains most of them; noise explains little. */
static bool has_a_say(const hw__learner *one) {
  if (one->options.variant != HW_RESOLVED) {
    return one->seen > 0;
  }
  hw__misfit free_of_charge = {.transport = one->transport, .sensor_m = one->sensor_m};
  return one->moment_tried.count > 0 && hw__misfit_value(&free_of_charge, &one->all, &one->paths[one->best].x) <
                                            most_unexplained * one->all.mean_square;
}

hw_status hw__learner_estimate(void *state, hw_estimate *out) {
  team *t = state;
  hw__learner *pooled = t->pooled;
  hw__path *best = &pooled->paths[pooled->best];
  hw__misfit free_of_charge = {.transport = pooled->transport, .sensor_m = pooled->sensor_m};
  out->source = best->x;
  out->stop = best->stop;
  out->level = pooled->options.level;
  out->loss = hw__misfit_value(&free_of_charge, &pooled->all, &best->x);
  add_cost(pooled, &out->cost);
  hw__across across = {0};
  for (size_t m = 0; m < t->sensor_count; m++) {
    const hw__learner *one = t->alone[m];
    add_cost(one, &out->cost);
    if (has_a_say(one)) {
      hw__across_add(&across, &one->paths[one->best].x);
    }
  }
  out->has_interval = hw__across_interval(&across, pooled->options.level, &out->interval);
  if (out->has_interval) { /* Student does not know the box */
    out->interval.lo = hw__box_clamp(&pooled->box, &out->interval.lo);
    out->interval.hi = hw__box_clamp(&pooled->box, &out->interval.hi);
  }
  return HW_OK;
}

void hw__learner_destroy(void *state) {
  team *t = state;
  if (!t) {
    return;
  }
  destroy_one(t->pooled);
  for (size_t m = 0; t->alone && m < t->sensor_count; m++) {
    destroy_one(t->alone[m]);
  }
  free(t->alone);
  free(t);
}

/* Simulated annealing on the misfit, by GSL (gsl_siman_solve), as Jha and Datta (2012) use it for
 * pollution sources.
 *
 * Energy: the misfit divided by that of "no release at all", so that temperatures mean the same on every
 * river. Cooling: geometric from 0.1 to 1e-7 over the whole budget, 20 moves at each temperature. Moves:
 * all coordinates at once, uniform within a radius drawn log-uniformly between 1e-4 and 0.5 box widths,
 * because GSL keeps one step size while the basin shrinks by orders of magnitude. The best point met is
 * the answer.
 *
 * GSL asks for one of its own generators; it gets hw_rng through a table on the stack, so nothing is
 * allocated, global or time-seeded.
 */
#include <gsl/gsl_rng.h>
#include <gsl/gsl_siman.h>
#include <math.h>
#include <string.h>

#include "headwater/method.h"
#include "offline/batch.h"

enum { MOVES_PER_TEMPERATURE = 20 };
static const double hottest = 0.1, coldest = 1e-7, widest = 0.5, narrowest = 1e-4;

/* What GSL carries around and copies byte by byte. */
typedef struct {
  double unit[3];
  hw__batch *batch;
  double scale; /* 1 / misfit of no release */
} place;

static void seed_ours(void *state, unsigned long seed) {
  hw_rng_seed(state, seed, 0);
}

static unsigned long bits_ours(void *state) {
  return (unsigned long)(hw_rng_bits(state) >> 32);
}

static double uniform_ours(void *state) {
  return hw_rng_uniform(state);
}

static double energy(void *at) {
  place *p = at;
  return hw__batch_loss(p->batch, p->unit) * p->scale;
}

static void move(const gsl_rng *rng, void *at, double step_size) {
  place *p = at;
  const double radius = step_size * pow(narrowest / widest, gsl_rng_uniform(rng));
  for (size_t d = 0; d < 3; d++) {
    p->unit[d] = hw__unit_reflect(p->unit[d] + radius * (2 * gsl_rng_uniform(rng) - 1));
  }
}

static hw_status solve(hw__batch *batch, hw__batch_answer *out) {
  static const gsl_rng_type ours = {"hw_rng", 0xffffffffUL, 0, sizeof(hw_rng), seed_ours, bits_ours, uniform_ours};
  hw_rng rng;
  hw_rng_seed(&rng, batch->seed, 0);
  const gsl_rng wrapped = {&ours, &rng};
  const double mean_square = hw__batch_mean_square(batch);
  place at = {.unit = {0.5, 0.5, 0.5}, .batch = batch, .scale = mean_square > 0 ? 1 / mean_square : 1};
  /* One evaluation for the start, then temperatures times moves; at least one temperature. */
  const double temperatures = fmax(1, floor(((double)batch->budget - 1) / MOVES_PER_TEMPERATURE));
  const gsl_siman_params_t schedule = {
      .n_tries = 1,
      .iters_fixed_T = MOVES_PER_TEMPERATURE,
      .step_size = widest,
      .k = 1,
      .t_initial = hottest,
      .mu_t = pow(hottest / coldest, 1 / temperatures),
      .t_min = coldest * (1 + 1e-9), /* the last temperature is met once, whatever pow rounds to */
  };
  /* Without a distance: GSL asks for one and never uses it. */
  gsl_siman_solve(&wrapped, &at, energy, move, NULL, NULL, NULL, NULL, NULL, sizeof at, schedule);
  memcpy(out->unit, at.unit, sizeof out->unit);
  out->stop = HW_STOP_BUDGET;
  return HW_OK;
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__batch_create(problem, options, solve, state);
}

const hw_method hw_method_annealing = {
    .name = "annealing",
    .summary = "offline: simulated annealing on the misfit",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create,
    .observe = hw__batch_observe,
    .estimate = hw__batch_estimate,
    .destroy = hw__batch_destroy,
};

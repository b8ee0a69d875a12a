/* Markov chain Monte Carlo over (mass, place, time) by the affine-invariant ensemble sampler
 * (Goodman and Weare, Comm. Appl. Math. Comp. Sci. 5, 2010; the sampler of emcee).
 *
 *   A walker x at a time moves to y = w + z (x - w), w another walker of the other half,
 *   z from g(z) ~ 1/sqrt(z) on [1/2, 2]; accepted with probability min(1, z^(d-1) p(y)/p(x)).
 *
 * Affine invariance suits the ridge l - v t = const, which defeats a plain random walk. Density: flat in
 * the search box, Gaussian noise of sd sqrt(absolute^2 + (relative c)^2) as the river file declares; a
 * sensor without an absolute part gets 1 % of its highest reading, else a zero reading would be exact. A
 * non-detect counts as a reading at its limit when the prediction is above it.
 *
 * Start: the best of a tenth of the budget drawn over the box. Burn-in: half of what is left, the
 * log-density multiplied by a factor that rises geometrically to 1, so that walkers in a lesser mode can
 * leave it. The rest is kept: its medians are the estimate, its quantiles the interval.
 */
#include <math.h>
#include <stdlib.h>

#include "headwater/method.h"
#include "offline/batch.h"

enum { WALKERS = 32, HALF = WALKERS / 2, LEAST_BUDGET = 8 * WALKERS };
static const double stretch_most = 2.0, floor_share = 0.01, coolest = 1e-3;

typedef struct {
  double unit[3];
  double log_density;
} walker;

typedef struct {
  hw__batch *batch;
  double *weight;   /* 1 / (2 sd^2) per reading */
  double *trail[3]; /* positions kept, per dimension */
  size_t kept, room;
  hw_rng rng;
  walker walkers[WALKERS];
} chain;

static void weigh_readings(const hw__batch *b, double *weight) {
  for (size_t sensor = 0; sensor < b->sensor_count; sensor++) {
    const hw_sensor *s = &b->problem.river->sensors[sensor];
    double highest = 0;
    for (size_t i = 0; i < b->count; i++) {
      if (b->readings[i].sensor == sensor) {
        highest = fmax(highest, b->readings[i].concentration_g_m3);
      }
    }
    const double fallback = highest > 0 ? floor_share * highest : 1;
    const double absolute = s->noise_absolute_g_m3 > 0 ? s->noise_absolute_g_m3 : fallback;
    for (size_t i = 0; i < b->count; i++) {
      if (b->readings[i].sensor == sensor) {
        const double sd = hypot(absolute, s->noise_relative * b->readings[i].concentration_g_m3);
        weight[i] = 0.5 / (sd * sd);
      }
    }
  }
}

static double log_density(chain *c, const double *unit) {
  for (size_t d = 0; d < 3; d++) {
    if (!(unit[d] >= 0 && unit[d] <= 1)) {
      return -INFINITY;
    }
  }
  const hw_source source = hw__batch_source(c->batch, unit);
  hw__batch_predict(c->batch, &source);
  double sum = 0;
  for (size_t i = 0; i < c->batch->count; i++) {
    const double residual = hw__batch_residual(c->batch, i);
    sum -= c->weight[i] * residual * residual;
  }
  return sum;
}

/* The best WALKERS of `draws` points drawn over the box. */
static void place_walkers(chain *c, size_t draws) {
  for (size_t i = 0; i < draws; i++) {
    walker w;
    for (size_t d = 0; d < 3; d++) {
      w.unit[d] = hw_rng_uniform(&c->rng);
    }
    w.log_density = log_density(c, w.unit);
    if (i < WALKERS) {
      c->walkers[i] = w;
      continue;
    }
    walker *worst = c->walkers;
    for (size_t k = 1; k < WALKERS; k++) {
      worst = c->walkers[k].log_density < worst->log_density ? &c->walkers[k] : worst;
    }
    if (w.log_density > worst->log_density) {
      *worst = w;
    }
  }
}

/* One stretch move of every walker, against the half it does not belong to. */
static void sweep(chain *c, double warmth) {
  for (size_t i = 0; i < WALKERS; i++) {
    walker *w = &c->walkers[i];
    const size_t other_half = i < HALF ? HALF : 0;
    const walker *anchor = &c->walkers[other_half + (size_t)(hw_rng_uniform(&c->rng) * HALF)];
    const double root =
        (sqrt(stretch_most) - 1 / sqrt(stretch_most)) * hw_rng_uniform(&c->rng) + 1 / sqrt(stretch_most);
    const double z = root * root;
    walker y;
    for (size_t d = 0; d < 3; d++) {
      y.unit[d] = anchor->unit[d] + z * (w->unit[d] - anchor->unit[d]);
    }
    y.log_density = log_density(c, y.unit);
    const double log_ratio = 2 * log(z) + warmth * (y.log_density - w->log_density);
    if (log(1 - hw_rng_uniform(&c->rng)) < log_ratio) {
      *w = y;
    }
  }
}

static void keep_walkers(chain *c) {
  for (size_t i = 0; i < WALKERS && c->kept < c->room; i++, c->kept++) {
    for (size_t d = 0; d < 3; d++) {
      c->trail[d][c->kept] = c->walkers[i].unit[d];
    }
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The chain has forgotten its start: the means of its two halves agree within a third of its spread. */
static bool halves_agree(const chain *c) {
  const size_t half = c->kept / 2;
  for (size_t d = 0; d < 3; d++) {
    double mean[2] = {0, 0}, square = 0;
    for (size_t i = 0; i < 2 * half; i++) {
      mean[i >= half] += c->trail[d][i] / (double)half;
      square += c->trail[d][i] * c->trail[d][i] / (2.0 * (double)half);
    }
    const double middle = 0.5 * (mean[0] + mean[1]), sd = sqrt(fmax(square - middle * middle, 0));
    if (fabs(mean[1] - mean[0]) > sd / 3) {
      return false;
    }
  }
  return true;
}

static void summarise(chain *c, hw__batch_answer *out) {
  out->stop = halves_agree(c) ? HW_STOP_COMPLETE : HW_STOP_BUDGET;
  const double tail = (1 - c->batch->level) / 2;
  const double last = (double)(c->kept - 1);
  for (size_t d = 0; d < 3; d++) {
    qsort(c->trail[d], c->kept, sizeof *c->trail[d], ascending);
    out->unit[d] = c->trail[d][c->kept / 2];
    out->unit_lo[d] = c->trail[d][(size_t)(tail * last)];
    out->unit_hi[d] = c->trail[d][(size_t)ceil((1 - tail) * last)];
  }
  out->has_interval = true;
}

static void run_chain(chain *c, size_t budget) {
  const size_t draws = budget / 10 > WALKERS ? budget / 10 : WALKERS;
  place_walkers(c, draws);
  const size_t sweeps = (budget - draws) / WALKERS, burn_in = sweeps / 2;
  for (size_t i = 0; i < burn_in; i++) {
    sweep(c, pow(coolest, 1 - (double)(i + 1) / (double)burn_in));
  }
  for (size_t i = burn_in; i < sweeps; i++) {
    sweep(c, 1);
    keep_walkers(c);
  }
}

static hw_status solve(hw__batch *batch, hw__batch_answer *out) {
  const size_t budget = batch->budget > LEAST_BUDGET ? batch->budget : LEAST_BUDGET;
  chain *c = calloc(1, sizeof *c);
  double *memory = calloc(batch->count + 3 * budget, sizeof *memory);
  if (!c || !memory) {
    free(c);
    free(memory);
    return HW_ENOMEM;
  }
  c->batch = batch;
  c->weight = memory;
  c->room = budget;
  for (size_t d = 0; d < 3; d++) {
    c->trail[d] = memory + batch->count + d * budget;
  }
  hw_rng_seed(&c->rng, batch->seed, 0);
  weigh_readings(batch, c->weight);
  run_chain(c, budget);
  summarise(c, out);
  free(memory);
  free(c);
  return HW_OK;
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__batch_create(problem, options, solve, state);
}

const hw_method hw_method_mcmc = {
    .name = "mcmc",
    .summary = "offline: affine-invariant ensemble sampler, with intervals",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create,
    .observe = hw__batch_observe,
    .estimate = hw__batch_estimate,
    .destroy = hw__batch_destroy,
};

/* BANDIT: MTGD without derivatives, the paper's future work (its section 6).
 *
 * Only values of the loss can be asked for. A path at x draws a direction u and asks for two points,
 *
 *   F(x + u), F(x - u):   slope g = (F+ - F-) / 2,  curvature h = F+ - 2 F(x) + F-,
 *
 * and moves to the best of these and, where h > 0, the point x - (g / h) u that they suggest. Directions
 * are drawn from a Gaussian whose covariance learns from the moves that helped (the rule of Igel,
 * Suttorp and Hansen's (1+1)-CMA-ES, GECCO 2006): along the ridge l - v t = const a plain random direction
 * would be useless. A path that explains nothing of the readings has no slope to feel and is redrawn from
 * the box.
 *
 * That takes two or three values a move and several moves a reading; with one or two values a reading: feedback.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/rng.h"
#include "online/query.h"

enum { MOVES_PER_READING = 8, DIM = HW__QUERY_DIM };
static const double first_scale = 0.1, largest_scale = 0.3, smallest_scale = 1e-9, reopened_scale = 1e-3;
static const double path_rate = 0.4, covariance_rate = 2.0 / 15; /* 2/(d+2), 2/(d^2+6) of the paper above */
static const double farthest = 3, grow = 0.5, shrink = 0.15, explains_nothing = 0.98;

typedef struct {
  hw_rng rng;
  double unit[DIM]; /* where it stands, 0..1 */
  double value;     /* F there */
  double scale;     /* length of the directions drawn */
  double covariance[DIM][DIM];
  double trend[DIM]; /* of the moves that helped */
} path;

typedef struct {
  hw__query query;
  double level;
  size_t path_count, best;
  path *paths;
} bandit;

static void forget(path *p) {
  memset(p->covariance, 0, sizeof p->covariance);
  memset(p->trend, 0, sizeof p->trend);
  for (int j = 0; j < DIM; j++) {
    p->covariance[j][j] = 1;
  }
  p->scale = first_scale;
}

static void draw_place(path *p) {
  for (int j = 0; j < DIM; j++) {
    p->unit[j] = hw_rng_uniform(&p->rng);
  }
  forget(p);
}

/* A direction from the learned Gaussian: the covariance's Cholesky factor times three normals. */
static void draw_direction(path *p, double u[DIM]) {
  double factor[DIM][DIM] = {{0}}, z[DIM];
  for (int j = 0; j < DIM; j++) {
    z[j] = hw_rng_normal(&p->rng);
  }
  for (int i = 0; i < DIM; i++) {
    u[i] = 0;
    for (int k = 0; k <= i; k++) {
      double sum = p->covariance[i][k];
      for (int m = 0; m < k; m++) {
        sum -= factor[i][m] * factor[k][m];
      }
      factor[i][k] = i == k ? sqrt(fmax(sum, 1e-30)) : sum / factor[k][k];
      u[i] += p->scale * factor[i][k] * z[k];
    }
  }
}

static double try_point(bandit *b, const path *p, const double u[DIM], double along, double out[DIM]) {
  for (int j = 0; j < DIM; j++) {
    out[j] = fmin(fmax(p->unit[j] + along * u[j], 0), 1);
  }
  return hw__query_loss(&b->query, out);
}

static void learn(path *p, const double before[DIM]) {
  for (int j = 0; j < DIM; j++) {
    const double moved = (p->unit[j] - before[j]) / p->scale;
    p->trend[j] = (1 - path_rate) * p->trend[j] + sqrt(path_rate * (2 - path_rate)) * moved;
  }
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++) {
      p->covariance[i][j] = (1 - covariance_rate) * p->covariance[i][j] + covariance_rate * p->trend[i] * p->trend[j];
    }
  }
}

/* Two points asked for, and a third where they suggest one. */
static void move(bandit *b, path *p) {
  double u[DIM], point[3][DIM], value[3];
  draw_direction(p, u);
  value[0] = try_point(b, p, u, 1, point[0]);
  value[1] = try_point(b, p, u, -1, point[1]);
  const double slope = 0.5 * (value[0] - value[1]), curvature = value[0] - 2 * p->value + value[1];
  const double along = curvature > 0 ? fmin(fmax(-slope / curvature, -farthest), farthest) : 0;
  value[2] = along != 0 ? try_point(b, p, u, along, point[2]) : INFINITY;
  size_t best = value[1] < value[0] ? 1 : 0;
  best = value[2] < value[best] ? 2 : best;
  if (value[best] < p->value) {
    double before[DIM];
    memcpy(before, p->unit, sizeof before);
    memcpy(p->unit, point[best], sizeof p->unit);
    p->value = value[best];
    learn(p, before);
    p->scale = fmin(p->scale * exp(best == 2 ? 0 : grow), largest_scale);
  } else {
    p->scale = fmax(p->scale * exp(-shrink), smallest_scale);
  }
}

static void advance(bandit *b, path *p, double nothing) {
  p->value = hw__query_loss(&b->query, p->unit);
  if (!(p->value < explains_nothing * nothing)) {
    path elsewhere = *p;
    draw_place(&elsewhere);
    elsewhere.value = hw__query_loss(&b->query, elsewhere.unit);
    *p = elsewhere.value < p->value ? elsewhere : *p;
    p->rng = elsewhere.rng;
  }
  /* A new reading moves the minimum: a scale that has shrunk to nothing must be able to follow. */
  p->scale = fmax(p->scale, reopened_scale);
  for (int i = 0; i < MOVES_PER_READING; i++) {
    move(b, p);
  }
}

static hw_status observe(void *state, const hw_reading *reading) {
  bandit *b = state;
  hw__query_add(&b->query, reading);
  const double nothing = b->query.packed.mean_square;
  b->best = 0;
  for (size_t i = 0; i < b->path_count; i++) {
    advance(b, &b->paths[i], nothing);
    b->best = b->paths[i].value < b->paths[b->best].value ? i : b->best;
  }
  return HW_OK;
}

static void destroy(void *state) {
  bandit *b = state;
  if (b) {
    hw__query_close(&b->query);
    free(b->paths);
    free(b);
  }
}

static void place_paths(bandit *b, const hw_options *options) {
  for (size_t i = 0; i < b->path_count; i++) {
    hw_rng_seed(&b->paths[i].rng, options->seed, i);
    draw_place(&b->paths[i]);
  }
  if (options->has_start) {
    hw__query_unit(&b->query, &options->start, b->paths[0].unit);
  }
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  bandit *b = calloc(1, sizeof *b);
  if (!b) {
    return HW_ENOMEM;
  }
  b->level = options->level;
  b->path_count = options->starts;
  b->paths = calloc(b->path_count, sizeof *b->paths);
  const hw_status status = b->paths ? hw__query_open(problem, options, &b->query) : HW_ENOMEM;
  if (status != HW_OK) {
    destroy(b);
    return status;
  }
  place_paths(b, options);
  *state = b;
  return HW_OK;
}

static hw_status estimate(void *state, hw_estimate *out) {
  bandit *b = state;
  const path *p = &b->paths[b->best];
  out->source = hw__query_source(&b->query, p->unit);
  out->loss = p->value;
  out->level = b->level;
  out->stop = p->scale <= reopened_scale ? HW_STOP_SMALL_STEP : HW_STOP_ITERATIONS;
  out->cost.model_evaluations = b->query.misfit.model_evaluations;
  out->cost.state_bytes = sizeof *b + b->path_count * sizeof *b->paths + hw__query_bytes(&b->query);
  return HW_OK;
}

const hw_method hw_method_bandit = {
    .name = "bandit",
    .summary = "MTGD from values alone, for forward models without derivatives",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create,
    .observe = observe,
    .estimate = estimate,
    .destroy = destroy,
};

/* BANDIT1 and BANDIT2: gradient descent from one or two values of the loss a reading, the paper's future work as its
 * last section words it: only the value at the decision made is seen, and a gradient is estimated from that.
 *
 *   one point    g = (3 / rho) F(x + rho u) u                        Flaxman, Kalai and McMahan (SODA 2005)
 *   two points   g = (3 / (2 rho)) (F(x + rho u) - F(x - rho u)) u   Agarwal, Dekel and Xiao (COLT 2010)
 *
 * u is uniform on the unit sphere, x steps by -eta g and stays in the box; steps and radii shrink as the works above
 * have them. Coordinates are box widths, losses mean squares of the readings. A single value says so little (its noise
 * is F / rho) that one point needs many thousands of readings; `bandit`, which asks for more, is the method to use.
 */
#include <math.h>
#include <stdlib.h>

#include "headwater/rng.h"
#include "online/query.h"

enum { DIM = HW__QUERY_DIM };
static const double largest_step = 0.1; /* in box widths: from far away the estimate is worth no more */

/* How a step and a radius shrink with the readings: first x n^-power. */
typedef struct {
  double radius, radius_power, step, step_power;
} schedule;
static const schedule one_point = {0.1, 0.25, 3e-3, 0.75}, two_points = {1e-3, 0, 5e-3, 0.5};

typedef struct {
  hw__query query;
  hw_rng rng;
  bool two;
  double level, value;
  double unit[DIM];
  size_t seen;
} learner;

/* Uniform on the sphere: three normals, normalised. */
static void draw_direction(hw_rng *rng, double u[DIM]) {
  double length;
  do {
    length = 0;
    for (int j = 0; j < DIM; j++) {
      u[j] = hw_rng_normal(rng);
      length += u[j] * u[j];
    }
  } while (!(length > 0));
  for (int j = 0; j < DIM; j++) {
    u[j] /= sqrt(length);
  }
}

static double ask(learner *l, const double u[DIM], double along) {
  double point[DIM];
  for (int j = 0; j < DIM; j++) {
    point[j] = fmin(fmax(l->unit[j] + along * u[j], 0), 1);
  }
  return hw__query_loss(&l->query, point);
}

static hw_status observe(void *state, const hw_reading *reading) {
  learner *l = state;
  hw__query_add(&l->query, reading);
  const schedule *s = l->two ? &two_points : &one_point;
  const double n = (double)++l->seen, radius = s->radius * pow(n, -s->radius_power);
  const double scale = l->query.packed.mean_square > 0 ? 1 / l->query.packed.mean_square : 1;
  double u[DIM];
  draw_direction(&l->rng, u);
  const double plus = ask(l, u, radius), minus = l->two ? ask(l, u, -radius) : 0;
  const double slope = DIM * scale * (plus - minus) / (l->two ? 2 * radius : radius);
  const double along = fmin(fmax(s->step * pow(n, -s->step_power) * slope, -largest_step), largest_step);
  l->value = l->two ? 0.5 * (plus + minus) : plus;
  for (int j = 0; j < DIM && isfinite(along); j++) {
    l->unit[j] = fmin(fmax(l->unit[j] - along * u[j], 0), 1);
  }
  return HW_OK;
}

static void destroy(void *state) {
  learner *l = state;
  if (l) {
    hw__query_close(&l->query);
    free(l);
  }
}

static hw_status create(const hw_problem *problem, const hw_options *options, bool two, void **state) {
  learner *l = calloc(1, sizeof *l);
  if (!l) {
    return HW_ENOMEM;
  }
  const hw_status status = hw__query_open(problem, options, &l->query);
  if (status != HW_OK) {
    destroy(l);
    return status;
  }
  l->two = two;
  l->level = options->level;
  hw_rng_seed(&l->rng, options->seed, 0);
  for (int j = 0; j < DIM; j++) {
    l->unit[j] = 0.5;
  }
  if (options->has_start) {
    hw__query_unit(&l->query, &options->start, l->unit);
  }
  *state = l;
  return HW_OK;
}

static hw_status create_one(const hw_problem *problem, const hw_options *options, void **state) {
  return create(problem, options, false, state);
}

static hw_status create_two(const hw_problem *problem, const hw_options *options, void **state) {
  return create(problem, options, true, state);
}

static hw_status estimate(void *state, hw_estimate *out) {
  const learner *l = state;
  out->source = hw__query_source(&l->query, l->unit);
  out->loss = isfinite(l->value) ? l->value : NAN; /* where it was asked last: no further value is spent on it */
  out->level = l->level;
  out->stop = HW_STOP_BUDGET;
  out->cost.model_evaluations = l->query.misfit.model_evaluations;
  out->cost.state_bytes = sizeof *l + hw__query_bytes(&l->query);
  return HW_OK;
}

const hw_method hw_method_bandit1 = {
    .name = "bandit1",
    .summary = "gradient descent from one value of the loss a reading",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create_one,
    .observe = observe,
    .estimate = estimate,
    .destroy = destroy,
};

const hw_method hw_method_bandit2 = {
    .name = "bandit2",
    .summary = "gradient descent from two values of the loss a reading",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create_two,
    .observe = observe,
    .estimate = estimate,
    .destroy = destroy,
};

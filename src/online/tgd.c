/* TGD: time-smoothed online gradient descent with one fixed step (Algorithm 6), the baseline.
 *
 * A single step size needs a single unit, so coordinates are counted in box widths and the loss in mean
 * squares of the readings. The step is small enough never to climb on the rivers of make study-online. */
#include <math.h>
#include "headwater/method.h"
#include "loss/box.h"
#include "online/learner.h"
#include "online/printed.h"

static const double fixed_step = 2e-3;

static void advance(const hw__learner *learner, hw__path *path) {
  const hw__packed *packed = learner->packed;
  const double scale = packed->mean_square > 0 ? 1 / packed->mean_square : 1;
  const double tolerance = learner->options.tolerance / (double)packed->count;
  double width[3], eta[3];
  hw__box_widths(&learner->box, width);
  for (int j = 0; j < 3; j++) {
    eta[j] = fixed_step * scale * width[j] * width[j];
  }
  path->stop = HW_STOP_ITERATIONS;
  for (size_t i = 0; i < learner->options.iterations && path->stop == HW_STOP_ITERATIONS; i++) {
    hw__slope slope;
    double pg[3], x[3], square = 0;
    hw__misfit_slope(&path->misfit, packed, &path->x, &slope);
    hw__box_projected_gradient(&learner->box, &path->x, slope.gradient, eta, pg);
    hw__source_to(&path->x, x);
    for (int j = 0; j < 3; j++) {
      square += pg[j] * width[j] * scale * pg[j] * width[j] * scale;
      x[j] -= eta[j] * pg[j];
    }
    const hw_source next = hw__source_from(x);
    if (!hw__source_finite(&next)) {
      path->stop = HW_STOP_NONFINITE;
    } else if (sqrt(square) <= tolerance) {
      path->stop = HW_STOP_GRADIENT;
    } else {
      path->x = hw__box_clamp(&learner->box, &next);
    }
  }
}

static const hw__recipe recipe = {.resolved = advance, .printed = hw__printed_tgd, .multi_start = false};

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__learner_create(&recipe, problem, options, state);
}

const hw_method hw_method_tgd = {
    .name = "tgd",
    .summary = "one fixed step for all dimensions; the paper's baseline (Algorithm 6)",
    .traits = HW_NEEDS_HYDRAULICS,
    .create = create,
    .observe = hw__learner_observe,
    .estimate = hw__learner_estimate,
    .destroy = hw__learner_destroy,
};

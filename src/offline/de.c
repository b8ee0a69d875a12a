/* Differential evolution on the mean square misfit over mass, place and time, as Wang et al. (2018) use
 * it for river spills. The engine is evolve.c. */
#include "headwater/method.h"
#include "offline/batch.h"
#include "offline/evolve.h"

static hw_status solve(hw__batch *batch, hw__batch_answer *out) {
  const hw__evolve_task task = {
      .value = hw__batch_loss, .context = batch, .dimensions = 3, .evaluations = batch->budget, .seed = batch->seed};
  return hw__evolve(&task, out->unit, &out->stop);
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__batch_create(problem, options, solve, state);
}

const hw_method hw_method_de = {
    .name = "de",
    .summary = "offline: differential evolution on the misfit",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create,
    .observe = hw__batch_observe,
    .estimate = hw__batch_estimate,
    .destroy = hw__batch_destroy,
};

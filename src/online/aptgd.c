/* APTGD: ATGD that jumps out of poor stationary points (Algorithm 5; perturb.h). */
#include "headwater/method.h"
#include "online/learner.h"
#include "online/perturb.h"
#include "online/printed.h"

static const hw__recipe recipe = {.resolved = hw__advance_perturbed,
                                  .printed = hw__printed_aptgd,
                                  .measure = hw__printed_measure_curvature,
                                  .multi_start = false,
                                  .moment_start = true};

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__learner_create(&recipe, problem, options, state);
}

const hw_method hw_method_aptgd = {
    .name = "aptgd",
    .summary = "ATGD with random jumps out of poor stationary points (Algorithm 5)",
    .traits = HW_NEEDS_HYDRAULICS,
    .create = create,
    .observe = hw__learner_observe,
    .estimate = hw__learner_estimate,
    .destroy = hw__learner_destroy,
};

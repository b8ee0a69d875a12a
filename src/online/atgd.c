/* ATGD: adaptive time-smoothed online gradient descent (Algorithm 1). Each reading: start from the estimate
 * before it, one descent on the window (solve.h), a vector step instead of Algorithm 3, Armijo with the
 * usual minus instead of Algorithm 2. */
#include "headwater/method.h"
#include "online/learner.h"
#include "online/printed.h"

static const hw__recipe recipe = {.resolved = hw__advance_plain,
                                  .printed = hw__printed_atgd,
                                  .measure = hw__printed_measure_slopes,
                                  .multi_start = false,
                                  .moment_start = true};

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__learner_create(&recipe, problem, options, state);
}

const hw_method hw_method_atgd = {
    .name = "atgd",
    .summary = "adaptive step per dimension, one path (the paper's Algorithm 1)",
    .traits = HW_NEEDS_HYDRAULICS,
    .create = create,
    .observe = hw__learner_observe,
    .estimate = hw__learner_estimate,
    .destroy = hw__learner_destroy,
};

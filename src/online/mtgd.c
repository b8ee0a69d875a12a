/* MTGD: ATGD from many starting points (Algorithm 7); the answer is the path with the least mean square
 * over the readings so far. One of the paths begins at the moment start. */
#include "headwater/method.h"
#include "online/learner.h"
#include "online/printed.h"

static const hw__recipe recipe = {.resolved = hw__advance_plain,
                                  .printed = hw__printed_mtgd,
                                  .measure = hw__printed_measure_slopes,
                                  .multi_start = true,
                                  .moment_start = true};

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__learner_create(&recipe, problem, options, state);
}

const hw_method hw_method_mtgd = {
    .name = "mtgd",
    .summary = "ATGD from many starting points (Algorithm 7)",
    .traits = HW_NEEDS_HYDRAULICS,
    .create = create,
    .observe = hw__learner_observe,
    .estimate = hw__learner_estimate,
    .destroy = hw__learner_destroy,
};

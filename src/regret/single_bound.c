/* Assumption 4.6, the error bound of every reading's own loss Psi^n, by the paper's three steps.
 *
 * The loss of one reading has a Hessian 2 grad C grad C' + 2 r Hess C, of rank one where the reading is met exactly (r
 * = 0), and every reading that some source of the box explains is met exactly at its minimum. So Step 2 finds no
 * positive smallest eigenvalue there and the assumption's own test cannot be passed. What the assumption is used for,
 * an inequality between gradient and loss, is looked at directly beside it: `admitted_mu`.
 */
#include <math.h>
#include <stdlib.h>

#include "headwater/method.h"
#include "regret/error_bound.h"

/* Step 1: the minimum of one reading's loss that Algorithm 5 finds from x. The assumption asks for any minimum near x,
 * so its jumps stay near too. */
static const double jump = 0.01;

static hw_status minimum_from(const hw__bound_check *c, const hw_source *x, const hw_reading *reading, hw_source *out) {
  const hw_problem problem = {.river = c->river};
  const hw_options options = {.seed = c->options.seed,
                              .window = 1,
                              .has_start = true,
                              .start = *x,
                              .perturbation = jump,
                              .no_moment_start = true};
  hw_estimate estimate;
  hw_run *run = NULL;
  hw_status status = hw_run_create(hw_method_find("aptgd"), &problem, &options, &run);
  if (status == HW_OK) {
    status = hw_run_observe(run, reading);
  }
  if (status == HW_OK) {
    status = hw_run_estimate(run, &estimate);
  }
  if (status == HW_OK) {
    *out = estimate.source;
  }
  hw_run_free(run);
  return status;
}

/* Steps 2 and 3 for the reading in c->single. */
static void judge(hw__bound_check *c, const hw_source *x, const hw_source *lowest, double *distance,
                  hw_error_bound *out) {
  double loss, least_loss;
  const double gradient = hw__bound_gradient(c, &c->single, x, &loss);
  hw__bound_gradient(c, &c->single, lowest, &least_loss);
  *distance = hw__bound_distance(c, x, lowest);
  if (loss > least_loss) {
    out->admitted_mu = fmin(out->admitted_mu, out->lipschitz * gradient / (loss - least_loss));
  }
  const double eigenvalue = hw__bound_least_eigenvalue(c, &c->single, lowest);
  if (!(eigenvalue > 0)) {
    return;
  }
  const double mu = out->lipschitz * eigenvalue;
  out->definite++;
  if (hw__bound_share_positive(c, &c->single, lowest, mu * c->options.threshold) == 1) {
    out->definite_nearby++;
    out->close += *distance <= mu * c->options.threshold / out->lipschitz;
  }
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

hw_status hw__bound_check_singles(hw__bound_check *c, hw_error_bound *out) {
  hw_loss_constants constants = {0};
  hw_status status = hw_regret_constants(c->river, c->readings, c->count, &constants);
  double *distance = calloc(c->count, sizeof *distance);
  if (status == HW_OK && !distance) {
    status = HW_ENOMEM;
  }
  out->admitted_mu = INFINITY;
  out->lipschitz = constants.lipschitz * c->scale;
  out->constants = (hw_loss_constants){constants.lipschitz * c->scale, constants.smoothness * c->scale,
                                       constants.hessian_lipschitz * c->scale, constants.largest * c->scale};
  for (size_t i = 0; status == HW_OK && i < c->count; i++) {
    hw_source lowest;
    hw__window_add(&c->one, &c->readings[i]);
    hw__packed_fill(&c->single, &c->one, 1);
    status = minimum_from(c, &c->played[i], &c->readings[i], &lowest);
    if (status == HW_OK) {
      judge(c, &c->played[i], &lowest, &distance[i], out);
    }
  }
  if (status == HW_OK) {
    qsort(distance, c->count, sizeof *distance, by_size);
    out->median_distance = distance[c->count / 2];
    out->readings = c->count;
    out->single_holds = out->close == c->count;
  }
  free(distance);
  return status;
}

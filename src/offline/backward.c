/* Backward probability with linear regression (Wang, Zhao, Lei and Wang, Environmental Pollution, 2018).
 *
 * Run backwards from a sensor, the transport equation gives the probability p_i(l, t) that water read at
 * sensor and time i was at l at time t. For an instantaneous release the readings are proportional to
 * that probability, c_i = (s / A) p_i, only at the true place and time: so place and time are where the
 * linear correlation of readings and probabilities is highest, and the mass is the slope of the line
 * through the origin there (clipped to the box). The correlation is maximised by differential evolution,
 * as in the paper's reference.
 *
 * p_i is the forward response to one gram, by the adjointness of the equation; non-detects count as zero.
 */
#include <math.h>

#include "headwater/method.h"
#include "offline/batch.h"
#include "offline/evolve.h"

static double reading_value(const hw__kept *r) {
  return r->below_limit ? 0 : r->concentration_g_m3;
}

/* Backward probabilities of all readings for this place and time, up to one common factor. */
static void trace_back(hw__batch *b, const double *place_time) {
  const double unit[3] = {0, place_time[0], place_time[1]};
  hw_source gram = hw__batch_source(b, unit);
  gram.mass_g = 1;
  hw__batch_predict(b, &gram);
}

/* 1 - r, r Pearson's correlation; 1 where nothing arrives and r has no value. */
static double decorrelation(void *context, const double *place_time) {
  hw__batch *b = context;
  trace_back(b, place_time);
  const double n = (double)b->count;
  double mean_p = 0, mean_c = 0;
  for (size_t i = 0; i < b->count; i++) {
    mean_p += b->predicted[i] / n;
    mean_c += reading_value(&b->readings[i]) / n;
  }
  double pp = 0, cc = 0, pc = 0;
  for (size_t i = 0; i < b->count; i++) {
    const double p = b->predicted[i] - mean_p, c = reading_value(&b->readings[i]) - mean_c;
    pp += p * p;
    cc += c * c;
    pc += p * c;
  }
  const double r = pc / sqrt(pp * cc);
  return isfinite(r) ? 1 - r : 1;
}

/* Mass from the line through the origin, as a coordinate of the unit cube. */
static double regressed_mass(const hw__batch *b) {
  double pp = 0, pc = 0;
  for (size_t i = 0; i < b->count; i++) {
    pp += b->predicted[i] * b->predicted[i];
    pc += b->predicted[i] * reading_value(&b->readings[i]);
  }
  const double lo = b->box.lo.mass_g, width = b->box.hi.mass_g - lo;
  const double mass_g = pc / pp;
  return isfinite(mass_g) && width > 0 ? fmin(fmax((mass_g - lo) / width, 0), 1) : 0;
}

static hw_status solve(hw__batch *batch, hw__batch_answer *out) {
  const hw__evolve_task task = {
      .value = decorrelation, .context = batch, .dimensions = 2, .evaluations = batch->budget, .seed = batch->seed};
  const hw_status status = hw__evolve(&task, &out->unit[1], &out->stop);
  if (status == HW_OK) {
    trace_back(batch, &out->unit[1]);
    out->unit[0] = regressed_mass(batch);
  }
  return status;
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__batch_create(problem, options, solve, state);
}

const hw_method hw_method_backward = {
    .name = "backward",
    .summary = "offline: backward probability with linear regression",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create,
    .observe = hw__batch_observe,
    .estimate = hw__batch_estimate,
    .destroy = hw__batch_destroy,
};

/* Readings kept for the offline baselines, and the misfit over them: see batch.h. */
#include "offline/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hw_status hw__batch_create(const hw_problem *problem, const hw_options *options, hw__solver solve, void **state) {
  const hw_river *river = problem->river;
  hw__batch *b = calloc(1, sizeof *b);
  if (!b) {
    return HW_ENOMEM;
  }
  b->solve = solve;
  b->problem = *problem;
  b->box = river->search;
  b->seed = options->seed;
  b->level = options->level;
  b->budget = options->evaluations ? options->evaluations : HW__BATCH_EVALUATIONS;
  b->stride = 1;
  b->sensor_count = river->sensor_count;
  b->legs = calloc(river->sensor_count, sizeof *b->legs);
  b->seen = calloc(river->sensor_count, sizeof *b->seen);
  b->rank = calloc(river->sensor_count, sizeof *b->rank);
  b->readings = calloc(HW__BATCH_CAPACITY, sizeof *b->readings);
  b->predicted = calloc(HW__BATCH_CAPACITY, sizeof *b->predicted);
  hw_status status = b->legs && b->seen && b->rank && b->readings && b->predicted ? HW_OK : HW_ENOMEM;
  if (status == HW_OK && !problem->forward) {
    status = hw_transport_create(river, NULL, &b->transport);
  }
  if (status != HW_OK) {
    hw__batch_destroy(b);
    return status;
  }
  *state = b;
  return HW_OK;
}

void hw__batch_destroy(void *state) {
  hw__batch *b = state;
  if (b) {
    hw_transport_free(b->transport);
    free(b->legs);
    free(b->seen);
    free(b->rank);
    free(b->readings);
    free(b->predicted);
    free(b);
  }
}

/* Keep every second reading of each sensor, in their order, the first of each among them. */
static void thin_out(hw__batch *b) {
  memset(b->rank, 0, b->sensor_count * sizeof *b->rank);
  size_t kept = 0;
  for (size_t i = 0; i < b->count; i++) {
    if (b->rank[b->readings[i].sensor]++ % 2 == 0) {
      b->readings[kept++] = b->readings[i];
    }
  }
  b->count = kept;
  b->stride *= 2;
}

hw_status hw__batch_observe(void *state, const hw_reading *reading) {
  hw__batch *b = state;
  if (b->seen[reading->sensor] % b->stride == 0) {
    const double background = b->problem.river->sensors[reading->sensor].background_g_m3;
    b->readings[b->count++] = (hw__kept){
        .sensor = reading->sensor,
        .time_s = reading->time_s,
        .concentration_g_m3 = reading->concentration_g_m3 - (isfinite(background) ? background : 0),
        .below_limit = reading->below_limit,
    };
    b->solved = false;
  }
  b->seen[reading->sensor]++;
  if (b->count == HW__BATCH_CAPACITY) {
    thin_out(b);
  }
  return HW_OK;
}

hw_source hw__batch_source(const hw__batch *b, const double *unit) {
  const hw_source *lo = &b->box.lo, *hi = &b->box.hi;
  return (hw_source){
      .mass_g = lo->mass_g + unit[0] * (hi->mass_g - lo->mass_g),
      .location_m = lo->location_m + unit[1] * (hi->location_m - lo->location_m),
      .time_s = lo->time_s + unit[2] * (hi->time_s - lo->time_s),
  };
}

double hw__unit_reflect(double u) {
  const double folded = fmod(fabs(u), 2);
  return folded > 1 ? 2 - folded : folded;
}

void hw__batch_predict(hw__batch *b, const hw_source *source) {
  b->spent++;
  b->model_evaluations += b->count;
  if (b->problem.forward) {
    for (size_t i = 0; i < b->count; i++) {
      const double x_m = b->problem.river->sensors[b->readings[i].sensor].location_m;
      b->predicted[i] = b->problem.forward(b->problem.forward_context, source, x_m, b->readings[i].time_s);
    }
    return;
  }
  for (size_t i = 0; i < b->sensor_count; i++) {
    b->legs[i] = hw_transport_leg(b->transport, source->location_m, b->problem.river->sensors[i].location_m);
  }
  for (size_t i = 0; i < b->count; i++) {
    const hw__kept *r = &b->readings[i];
    b->predicted[i] = source->mass_g * hw_leg_response(&b->legs[r->sensor], r->time_s - source->time_s);
  }
}

double hw__batch_residual(const hw__batch *b, size_t i) {
  const double residual = b->predicted[i] - b->readings[i].concentration_g_m3;
  return b->readings[i].below_limit ? fmax(residual, 0) : residual;
}

double hw__batch_loss(void *batch, const double *unit) {
  hw__batch *b = batch;
  const hw_source source = hw__batch_source(b, unit);
  hw__batch_predict(b, &source);
  double sum = 0;
  for (size_t i = 0; i < b->count; i++) {
    const double residual = hw__batch_residual(b, i);
    sum += residual * residual;
  }
  return sum / (double)b->count;
}

double hw__batch_mean_square(const hw__batch *b) {
  double sum = 0;
  for (size_t i = 0; i < b->count; i++) {
    const hw__kept *r = &b->readings[i];
    sum += r->below_limit ? 0 : r->concentration_g_m3 * r->concentration_g_m3;
  }
  return sum / (double)b->count;
}

/* A minimum, as far as its neighbours a thousandth of the box away can tell. Judging is no part of the method's cost.
 */
static bool settled(hw__batch *b, const double *unit) {
  const uint64_t evaluations = b->model_evaluations;
  const double value = hw__batch_loss(b, unit);
  bool lowest = true;
  for (size_t d = 0; d < 3; d++) {
    for (int side = -1; side <= 1; side += 2) {
      double trial[3] = {unit[0], unit[1], unit[2]};
      trial[d] = fmin(fmax(unit[d] + 1e-3 * side, 0), 1);
      lowest = lowest && hw__batch_loss(b, trial) >= 0.99 * value;
    }
  }
  b->model_evaluations = evaluations;
  return lowest;
}

/* Of what was read next to nothing: the plain beside the pulse, on which all neighbours are alike. Judging costs
 * nothing here either. */
static bool explains_nothing(hw__batch *b, const double *unit) {
  const uint64_t evaluations = b->model_evaluations;
  const bool nothing = !(hw__batch_loss(b, unit) < 0.99 * hw__batch_mean_square(b));
  b->model_evaluations = evaluations;
  return nothing;
}

hw_status hw__batch_estimate(void *state, hw_estimate *out) {
  hw__batch *b = state;
  if (!b->solved) {
    hw__batch_answer answer = {.stop = HW_STOP_NONE};
    b->spent = 0;
    const hw_status status = b->solve(b, &answer);
    if (status != HW_OK) {
      return status;
    }
    if (answer.stop == HW_STOP_BUDGET && !answer.has_interval && settled(b, answer.unit)) {
      answer.stop = HW_STOP_COMPLETE;
    }
    if (answer.stop == HW_STOP_COMPLETE && explains_nothing(b, answer.unit)) {
      answer.stop = HW_STOP_BUDGET;
    }
    b->answer = answer;
    b->solved = true;
  }
  const hw__batch_answer *s = &b->answer;
  out->source = hw__batch_source(b, s->unit);
  out->loss = hw__batch_loss(b, s->unit);
  out->stop = s->stop;
  out->level = b->level;
  out->has_interval = s->has_interval;
  if (s->has_interval) {
    out->interval = (hw_box){hw__batch_source(b, s->unit_lo), hw__batch_source(b, s->unit_hi)};
  }
  out->cost.model_evaluations = b->model_evaluations;
  out->cost.state_bytes = sizeof *b + b->sensor_count * (sizeof *b->legs + sizeof *b->seen + sizeof *b->rank) +
                          HW__BATCH_CAPACITY * (sizeof *b->readings + sizeof *b->predicted);
  return HW_OK;
}

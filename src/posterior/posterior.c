/* The method `posterior`: the river file decides which of its models answers. With the dispersion known or doubtful,
 * the advection-dispersion equation, on one line of water (ade.h) or on a network and in changing flow (network.h);
 * with the dispersion unknown, the field model that learned from real rivers how pulses widen (field/field.h). */
#include <stdlib.h>

#include "field/field.h"
#include "method/methods.h"
#include "posterior/ade.h"
#include "posterior/network.h"

typedef struct {
  hw_status (*create)(const hw_problem *problem, const hw_options *options, void **state);
  hw_status (*observe)(void *state, const hw_reading *reading);
  hw_status (*estimate)(void *state, hw_estimate *out);
  void (*destroy)(void *state);
  hw_status (*samples)(void *state, hw_sample *out, size_t capacity, size_t *count);
  hw_status (*predict)(void *state, const hw_prediction *prediction);
} model;

static const model on_a_line = {hw__ade_create,  hw__ade_observe, hw__ade_estimate,
                                hw__ade_destroy, hw__ade_samples, hw__ade_predict};
static const model on_a_network = {hw__network_create,  hw__network_observe, hw__network_estimate,
                                   hw__network_destroy, hw__network_samples, hw__network_predict};
static const model field_model = {hw__field_create,  hw__field_observe, hw__field_estimate,
                                  hw__field_destroy, hw__field_samples, hw__field_predict};

typedef struct {
  const model *model;
  void *state;
} engine;

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  *state = NULL;
  engine *e = calloc(1, sizeof *e);
  if (!e) {
    return HW_ENOMEM;
  }
  const bool unknown = problem->river->hydraulics.dispersion_m2_s.certainty == HW_UNKNOWN;
  if (unknown && problem->river->branch_count > 0) {
    free(e);
    return HW_EUNSUPPORTED; /* the field model knows one line of water */
  }
  const bool otherwise = problem->river->branch_count > 0 || problem->river->flow_count > 0;
  e->model = unknown ? &field_model : otherwise ? &on_a_network : &on_a_line;
  const hw_status status = e->model->create(problem, options, &e->state);
  if (status != HW_OK) {
    free(e);
    return status;
  }
  *state = e;
  return HW_OK;
}

static hw_status observe(void *state, const hw_reading *reading) {
  engine *e = state;
  return e->model->observe(e->state, reading);
}

static hw_status estimate(void *state, hw_estimate *out) {
  engine *e = state;
  return e->model->estimate(e->state, out);
}

static void destroy(void *state) {
  engine *e = state;
  if (e) {
    e->model->destroy(e->state);
    free(e);
  }
}

static hw_status samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  engine *e = state;
  return e->model->samples(e->state, out, capacity, count);
}

static hw_status predict(void *state, const hw_prediction *prediction) {
  engine *e = state;
  return e->model->predict(e->state, prediction);
}

const hw_method hw_method_posterior = {
    .name = "posterior",
    .summary = "every mass, place and time with its probability, after every reading",
    .traits = HW_KNOWS_BRANCHES,
    .create = create,
    .observe = observe,
    .estimate = estimate,
    .destroy = destroy,
    .samples = samples,
    .predict = predict,
};

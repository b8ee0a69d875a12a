#include "online/query.h"

#include <math.h>
#include <stdlib.h>

#include "loss/box.h"

hw_status hw__query_open(const hw_problem *problem, const hw_options *options, hw__query *out) {
  out->problem = *problem;
  out->box = problem->river->search;
  out->sensor_m = calloc(problem->river->sensor_count, sizeof *out->sensor_m);
  hw_status status = out->sensor_m ? hw__window_create(options->window, &out->window) : HW_ENOMEM;
  if (status == HW_OK) {
    status = hw__packed_create(options->window, problem->river->sensor_count, &out->packed);
  }
  if (status == HW_OK && !problem->forward) {
    status = hw_transport_create(problem->river, NULL, &out->transport);
  }
  for (size_t m = 0; status == HW_OK && m < problem->river->sensor_count; m++) {
    out->sensor_m[m] = problem->river->sensors[m].location_m;
  }
  out->misfit = (hw__misfit){.transport = out->transport, .sensor_m = out->sensor_m};
  return status;
}

void hw__query_close(hw__query *query) {
  hw__window_free(&query->window);
  hw__packed_free(&query->packed);
  free(query->sensor_m);
  hw_transport_free(query->transport);
}

void hw__query_add(hw__query *query, const hw_reading *reading) {
  hw__window_add(&query->window, reading);
  hw__packed_fill(&query->packed, &query->window, query->window.capacity);
}

hw_source hw__query_source(const hw__query *query, const double unit[HW__QUERY_DIM]) {
  double lo[HW__QUERY_DIM], width[HW__QUERY_DIM];
  hw__source_to(&query->box.lo, lo);
  hw__box_widths(&query->box, width);
  for (int j = 0; j < HW__QUERY_DIM; j++) {
    lo[j] += unit[j] * width[j];
  }
  const hw_source x = hw__source_from(lo);
  return hw__box_clamp(&query->box, &x);
}

void hw__query_unit(const hw__query *query, const hw_source *x, double unit[HW__QUERY_DIM]) {
  double width[HW__QUERY_DIM], lo[HW__QUERY_DIM], at[HW__QUERY_DIM];
  hw__box_widths(&query->box, width);
  hw__source_to(&query->box.lo, lo);
  hw__source_to(x, at);
  for (int j = 0; j < HW__QUERY_DIM; j++) {
    unit[j] = width[j] > 0 ? fmin(fmax((at[j] - lo[j]) / width[j], 0), 1) : 0;
  }
}

static double users_loss(hw__query *query, const hw_source *x) {
  double sum = 0;
  for (size_t i = 0; i < query->window.count; i++) {
    const hw_reading *r = hw__window_at(&query->window, i);
    const double place_m = query->problem.river->sensors[r->sensor].location_m;
    const double off =
        query->problem.forward(query->problem.forward_context, x, place_m, r->time_s) - r->concentration_g_m3;
    sum += r->below_limit && off < 0 ? 0 : off * off;
  }
  query->misfit.model_evaluations += query->window.count;
  return sum / (double)query->window.count;
}

double hw__query_loss(hw__query *query, const double unit[HW__QUERY_DIM]) {
  const hw_source x = hw__query_source(query, unit);
  const double value =
      query->problem.forward ? users_loss(query, &x) : hw__misfit_value(&query->misfit, &query->packed, &x);
  return isfinite(value) ? value : INFINITY;
}

size_t hw__query_bytes(const hw__query *query) {
  return query->window.capacity * (sizeof *query->window.ring + 4 * sizeof(double));
}

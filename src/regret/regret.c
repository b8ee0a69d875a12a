/* Regret, reading by reading: see headwater/regret.h. */
#include "headwater/regret.h"

#include <math.h>
#include <stdlib.h>

#include "loss/box.h"
#include "loss/solve.h"
#include "regret/grid.h"

enum { MOST_READINGS = 10000000, GRID_MINIMA = 3, POLISH_ITERATIONS = 400 };
/* A hundred times finer than the learners' own, so that the optimum is exact in their eyes. */
static const double polish_tolerance = 1e-9;

struct hw_regret {
  hw_regret_options options;
  hw_box box;
  size_t sensor_count;
  hw_transport *transport;
  double *sensor_m;
  hw__misfit misfit;
  hw__window readings;
  hw__packed all, recent, newest;
  hw__grid *grid;
  hw_source best;
  double least; /* the summed loss at best */
  double *suffered;
  double *local;
};

void hw_regret_free(hw_regret *r) {
  if (!r) {
    return;
  }
  hw__grid_free(r->grid);
  hw__packed_free(&r->all);
  hw__packed_free(&r->recent);
  hw__packed_free(&r->newest);
  hw__window_free(&r->readings);
  hw_transport_free(r->transport);
  free(r->sensor_m);
  free(r->suffered);
  free(r->local);
  free(r);
}

static hw_status allocate(hw_regret *r, const hw_river *river) {
  const size_t window = r->options.window < r->options.readings ? r->options.window : r->options.readings;
  hw_status status = hw_transport_create(river, NULL, &r->transport);
  if (status == HW_OK) {
    status = hw__window_create(r->options.readings, &r->readings);
  }
  if (status == HW_OK) {
    status = hw__packed_create(r->options.readings, river->sensor_count, &r->all);
  }
  if (status == HW_OK) {
    status = hw__packed_create(window, river->sensor_count, &r->recent);
  }
  if (status == HW_OK) {
    status = hw__packed_create(1, river->sensor_count, &r->newest);
  }
  if (status == HW_OK) {
    status = hw__grid_create(river, r->transport, &r->grid);
  }
  r->sensor_m = calloc(river->sensor_count, sizeof *r->sensor_m);
  r->suffered = calloc(r->options.learners + 1, sizeof *r->suffered);
  r->local = calloc(r->options.learners + 1, sizeof *r->local);
  if (status == HW_OK && (!r->sensor_m || !r->suffered || !r->local)) {
    status = HW_ENOMEM;
  }
  return status;
}

hw_status hw_regret_create(const hw_river *river, const hw_regret_options *options, hw_regret **out) {
  *out = NULL;
  hw_regret *r = calloc(1, sizeof *r);
  if (!r) {
    return HW_ENOMEM;
  }
  r->options = *options;
  r->options.window = options->window ? options->window : 1000;
  r->options.step = options->step != 0 ? options->step : HW_REGRET_STEP;
  const bool ok = options->readings >= 1 && options->readings <= MOST_READINGS && options->learners <= MOST_READINGS &&
                  r->options.step > 0 && isfinite(r->options.step);
  const hw_status status = ok ? allocate(r, river) : HW_EDOMAIN;
  if (status != HW_OK) {
    hw_regret_free(r);
    return status;
  }
  r->box = river->search;
  r->sensor_count = river->sensor_count;
  for (size_t m = 0; m < river->sensor_count; m++) {
    r->sensor_m[m] = river->sensors[m].location_m;
  }
  r->misfit = (hw__misfit){.transport = r->transport, .sensor_m = r->sensor_m};
  r->best = hw__box_centre(&r->box);
  r->least = NAN;
  *out = r;
  return HW_OK;
}

/* The squared norm of the projected gradient of F at x, in box widths. */
static double stationarity(hw_regret *r, const hw__packed *packed, const hw_source *x) {
  double width[3], eta[3], projected[3], square = 0;
  hw__slope slope;
  hw__box_widths(&r->box, width);
  for (int j = 0; j < 3; j++) {
    eta[j] = r->options.step * width[j] * width[j];
  }
  hw__misfit_slope(&r->misfit, packed, x, &slope);
  hw__box_projected_gradient(&r->box, x, slope.gradient, eta, projected);
  for (int j = 0; j < 3; j++) {
    square += projected[j] * width[j] * projected[j] * width[j];
  }
  return square;
}

static void polish(hw_regret *r, const hw_source *start) {
  const hw__limits limits = {.tolerance = polish_tolerance, .iterations = POLISH_ITERATIONS};
  hw__solution solution = {.x = *start};
  hw__solve(&r->misfit, &r->all, &r->box, &limits, &solution);
  const double sum = solution.value * (double)r->all.count;
  if (sum < r->least) {
    r->least = sum;
    r->best = solution.x;
  }
}

/* Yesterday's optimum and today's best cells, each polished; the best of all stays. */
static void look_back(hw_regret *r) {
  hw_source start[GRID_MINIMA];
  const size_t starts = hw__grid_minima(r->grid, start, GRID_MINIMA);
  const hw_source before = r->best;
  r->least = INFINITY;
  polish(r, &before);
  for (size_t i = 0; i < starts; i++) {
    polish(r, &start[i]);
  }
}

hw_status hw_regret_add(hw_regret *r, const hw_reading *reading, const hw_source *played, hw_regret_row *rows) {
  bool ok = reading->sensor < r->sensor_count && isfinite(reading->time_s) && isfinite(reading->concentration_g_m3) &&
            r->readings.count < r->options.readings;
  for (size_t i = 0; ok && i < r->options.learners; i++) {
    ok = hw__source_finite(&played[i]);
  }
  if (!ok) {
    return HW_EDOMAIN;
  }
  hw__window_add(&r->readings, reading);
  if (!r->options.local_only) {
    hw__grid_add(r->grid, reading);
    hw__packed_fill(&r->all, &r->readings, r->all.capacity);
  }
  hw__packed_fill(&r->recent, &r->readings, r->recent.capacity);
  hw__packed_fill(&r->newest, &r->readings, 1);
  if (!r->options.local_only) {
    look_back(r);
  }
  for (size_t i = 0; i < r->options.learners; i++) {
    r->suffered[i] += hw__misfit_value(&r->misfit, &r->newest, &played[i]);
    r->local[i] += stationarity(r, &r->recent, &played[i]);
    rows[i] = (hw_regret_row){r->suffered[i], r->suffered[i] - r->least, r->local[i]};
  }
  return HW_OK;
}

hw_status hw_regret_hindsight(const hw_regret *r, hw_source *best, double *sum) {
  if (r->readings.count == 0) {
    return HW_EEMPTY;
  }
  if (r->options.local_only) {
    return HW_EUNSUPPORTED;
  }
  *best = r->best;
  *sum = r->least;
  return HW_OK;
}

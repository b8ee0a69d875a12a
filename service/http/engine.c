/* What only the engine itself can tell: samples, bands, the plume. Asked while the incident's run is
 * held, so these do no more than read it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/show.h"

enum { SAMPLES_MAX = 20000, GRID_MAX = 200, POINTS_MAX = 2000 };

typedef struct {
  const hw__request *request;
  size_t samples, grid;
  bool along;      /* the plume: over places at one time; else over times at one place */
  double fixed;    /* that place or time */
  double from, to; /* of the other */
  size_t count;
  const char *branch; /* its id; NULL: not said */
  hw__reply reply;
} question;

static hw__reply answer(hw__request *request, question *q, void (*look)(void *, const hw__solver_view *)) {
  q->request = request;
  q->reply = hw__reply_error(409, "no estimate yet");
  const hw__db_status status =
      hw__solver_look(request->service->processing.solver, hw__captured_incident(request), look, q);
  if (status != HW_DB_OK) {
    free(q->reply.text);
    return status == HW_DB_ABSENT ? hw__reply_error(404, "no incident '%.40s'", request->captured[0])
                                  : hw__reply_db(status);
  }
  return q->reply;
}

static void settle(question *q, hw__reply reply) {
  free(q->reply.text);
  q->reply = reply;
}

/* Where the question is about: *out is the branch asked for, else `fallback`. Returned: false when there is none such.
 */
static bool branch_of(const question *q, const hw_river *river, size_t fallback, size_t *out) {
  *out = q->branch ? hw_river_branch(river, q->branch) : fallback;
  return !q->branch || *out < river->branch_count;
}

static hw__reply no_branch(const question *q) {
  return hw__reply_error(404, "no branch '%.64s' on this river", q->branch);
}

/* The branch that holds most of the samples' weight. */
static size_t likeliest_branch(const hw_river *river, const hw_sample *samples, size_t count) {
  double *weights = river->branch_count ? calloc(river->branch_count, sizeof *weights) : NULL;
  size_t best = 0;
  for (size_t i = 0; weights && i < count; i++) {
    const size_t branch = samples[i].source.branch < river->branch_count ? samples[i].source.branch : 0;
    weights[branch] += samples[i].weight;
    best = weights[branch] > weights[best] ? branch : best;
  }
  free(weights);
  return best;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A window that holds nearly all samples: outliers must not shrink the picture to a dot. */
static void window(const hw_sample *samples, size_t count, bool location, double *sorted, double *lo, double *hi) {
  for (size_t i = 0; i < count; i++) {
    sorted[i] = location ? samples[i].source.location_m : samples[i].source.time_s;
  }
  qsort(sorted, count, sizeof *sorted, by_value);
  *lo = sorted[count / 200];
  *hi = sorted[count - 1 - count / 200];
  const double margin = fmax(0.05 * (*hi - *lo), 1); /* a metre or a second at least */
  *lo -= margin;
  *hi += margin;
}

static json_t *density(const hw_sample *samples, size_t count, size_t cells) {
  double *sorted = malloc(count * sizeof *sorted);
  double *grid = calloc(cells * cells, sizeof *grid);
  json_t *root = NULL;
  if (sorted && grid) {
    double l0, l1, t0, t1;
    window(samples, count, true, sorted, &l0, &l1);
    window(samples, count, false, sorted, &t0, &t1);
    for (size_t i = 0; i < count; i++) {
      const double x = (samples[i].source.location_m - l0) / (l1 - l0), y = (samples[i].source.time_s - t0) / (t1 - t0);
      if (x >= 0 && x < 1 && y >= 0 && y < 1) {
        grid[(size_t)(y * (double)cells) * cells + (size_t)(x * (double)cells)] += samples[i].weight;
      }
    }
    json_t *rows = json_array();
    for (size_t r = 0; r < cells; r++) {
      json_t *row = json_array();
      for (size_t c = 0; c < cells; c++) {
        json_array_append_new(row, hw__real(grid[r * cells + c]));
      }
      json_array_append_new(rows, row);
    }
    root = json_pack("{s:[f, f], s:[f, f], s:I, s:o}", "location_m", l0, l1, "time_s", t0, t1, "cells",
                     (json_int_t)cells, "probability", rows);
  }
  free(sorted);
  free(grid);
  return root ? root : json_null();
}

/* Those of one branch come first. Returned: how many. */
static size_t gather_branch(hw_sample *samples, size_t count, size_t branch) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (samples[i].source.branch == branch) {
      const hw_sample swap = samples[kept];
      samples[kept++] = samples[i];
      samples[i] = swap;
    }
  }
  return kept;
}

static json_t *show_samples(const hw_sample *samples, size_t count, size_t most) {
  json_t *list = json_array();
  const size_t step = most && count > most ? (count + most - 1) / most : 1;
  for (size_t i = 0; i < count && most; i += step) {
    const hw_sample *s = &samples[i];
    json_array_append_new(list,
                          json_pack("[o, o, o, o, o, o]", hw__real(s->source.mass_g), hw__real(s->source.location_m),
                                    hw__real(s->source.time_s), hw__real(s->velocity_m_s), hw__real(s->dispersion_m2_s),
                                    hw__real(s->weight)));
  }
  return list;
}

static void look_posterior(void *context, const hw__solver_view *view) {
  question *q = context;
  hw_sample *samples = malloc(SAMPLES_MAX * sizeof *samples);
  size_t count = 0;
  const hw_status status = view->run && samples ? hw_run_samples(view->run, samples, SAMPLES_MAX, &count) : HW_EEMPTY;
  if (status == HW_EUNSUPPORTED) {
    settle(q, hw__reply_error(409, "method %s has no samples", view->incident->method));
  } else if (status == HW_OK && count > 0) {
    const hw_river *river = &view->site->river;
    size_t branch;
    if (!branch_of(q, river, likeliest_branch(river, samples, count), &branch)) {
      settle(q, no_branch(q));
    } else {
      const size_t here = gather_branch(samples, count, branch);
      settle(q,
             hw__reply_json(
                 200, json_pack("{s:I, s:o, s:o, s:[s, s, s, s, s, s], s:o, s:o}", "incident",
                                (json_int_t)view->incident->id, "origin_s", hw__real(view->incident->origin_s),
                                "branch", river->branch_count ? json_string(river->branches[branch].id) : json_null(),
                                "columns", "mass_g", "location_m", "time_s", "velocity_m_s", "dispersion_m2_s",
                                "weight", "samples", show_samples(samples, here, q->samples), "grid",
                                here ? density(samples, here, q->grid) : json_null())));
    }
  }
  free(samples);
}

hw__reply hw__get_posterior(hw__request *request) {
  double samples, grid;
  if (!hw__query_number(request, "samples", 500, &samples) || !(samples >= 0) || samples > SAMPLES_MAX ||
      !hw__query_number(request, "grid", 40, &grid) || !(grid >= 2) || grid > GRID_MAX) {
    return hw__reply_error(400, "samples: expected 0 to %d; grid: 2 to %d", SAMPLES_MAX, GRID_MAX);
  }
  question q = {.samples = (size_t)samples, .grid = (size_t)grid, .branch = hw__query(request, "branch")};
  return answer(request, &q, look_posterior);
}

/* Bands over time at one place, or over places at one time. */
static hw_status predict(const question *q, const hw__solver_view *view, size_t branch, double *axis, hw_range *bands) {
  const double origin_s = view->incident->origin_s;
  const double step = q->count > 1 ? (q->to - q->from) / (double)(q->count - 1) : 0;
  hw_status status = HW_OK;
  if (!q->along) {
    for (size_t i = 0; i < q->count; i++) {
      axis[i] = q->from + step * (double)i - origin_s;
    }
    const hw_prediction all = {q->fixed, axis, q->count, bands, branch};
    status = hw_run_predict(view->run, &all);
    for (size_t i = 0; i < q->count; i++) {
      axis[i] += origin_s;
    }
    return status;
  }
  const double time_s = q->fixed - origin_s;
  for (size_t i = 0; i < q->count && status == HW_OK; i++) {
    axis[i] = q->from + step * (double)i;
    const hw_prediction one = {axis[i], &time_s, 1, &bands[i], branch};
    status = hw_run_predict(view->run, &one);
  }
  return status;
}

static void look_bands(void *context, const hw__solver_view *view) {
  question *q = context;
  double *axis = calloc(q->count, sizeof *axis);
  hw_range *bands = calloc(q->count, sizeof *bands);
  size_t branch;
  const bool known = branch_of(q, &view->site->river, hw_river_outlet(&view->site->river), &branch);
  const hw_status status = known && view->run && axis && bands ? predict(q, view, branch, axis, bands) : HW_EEMPTY;
  if (!known) {
    settle(q, no_branch(q));
  } else if (status == HW_EUNSUPPORTED) {
    settle(q, hw__reply_error(409, "method %s makes no forecast", view->incident->method));
  } else if (status == HW_OK) {
    json_t *along = json_array(), *list = json_array();
    for (size_t i = 0; i < q->count; i++) {
      json_array_append_new(along, hw__real(axis[i]));
      json_array_append_new(list, hw__range_json(&bands[i]));
    }
    settle(q, hw__reply_json(200, json_pack("{s:I, s:o, s:o, s:o}", "incident", (json_int_t)view->incident->id,
                                            q->along ? "time_s" : "x_m", hw__real(q->fixed),
                                            q->along ? "x_m" : "time_s", along, "concentration_g_m3", list)));
  }
  free(axis);
  free(bands);
}

static bool read_count(const hw__request *request, size_t *out) {
  double count;
  const bool ok = hw__query_number(request, "count", 200, &count) && count >= 1 && count <= POINTS_MAX;
  *out = ok ? (size_t)count : 0;
  return ok;
}

/* ?branch=ID &x_m=PLACE &from=T &to=T &count=N */
hw__reply hw__get_forecast(hw__request *request) {
  question q = {.branch = hw__query(request, "branch")};
  if (!hw__query_number(request, "x_m", NAN, &q.fixed) || !isfinite(q.fixed) ||
      !hw__query_time(request, "from", NAN, &q.from) || !isfinite(q.from) ||
      !hw__query_time(request, "to", NAN, &q.to) || !isfinite(q.to) || !read_count(request, &q.count)) {
    return hw__reply_error(400, "expected x_m, from, to (seconds or ISO 8601) and count of 1 to %d", POINTS_MAX);
  }
  return answer(request, &q, look_bands);
}

/* ?branch=ID &time=T &from_m=X &to_m=X &count=N */
hw__reply hw__get_plume(hw__request *request) {
  question q = {.along = true, .branch = hw__query(request, "branch")};
  if (!hw__query_time(request, "time", NAN, &q.fixed) || !isfinite(q.fixed) ||
      !hw__query_number(request, "from_m", NAN, &q.from) || !isfinite(q.from) ||
      !hw__query_number(request, "to_m", NAN, &q.to) || !isfinite(q.to) || !read_count(request, &q.count)) {
    return hw__reply_error(400, "expected time, from_m, to_m and count of 1 to %d", POINTS_MAX);
  }
  return answer(request, &q, look_bands);
}

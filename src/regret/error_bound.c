/* Example 4.5 checked at Algorithm 5's answer: see headwater/regret.h.
 *
 * The paper's recipe: mu is the smallest eigenvalue of the Hessian there; where the Hessian is positive definite at
 * points sampled within mu theta too, the local error bound holds with high probability. What strong convexity with
 * constant mu gives is <grad F, x - x*> >= mu d^2 and so d <= |grad F| / mu. The paper prints mu |grad F|, which has
 * the wrong unit; both neighbourhoods are looked at.
 *
 * The check is about where a descent ends. At any other point, a posterior's mean for one, the gradient is not small
 * and the Hessian says nothing about a minimum.
 *
 * Check values, the 82 Truckee readings with the paper's hydraulics: eigenvalues 0.86, 4.5 and 1470.
 */
#include "regret/error_bound.h"

#include <math.h>
#include <stdlib.h>

#include "headwater/method.h"
#include "loss/box.h"
#include "loss/solve.h"
#include "regret/bend.h"

enum { RADII = 21, POLISH_ITERATIONS = 2000 };
static const double rounding = 1e-10, default_threshold = 0.01, polish_tolerance = 1e-10, failure = 0.1;

static void close_check(hw__bound_check *c) {
  hw__packed_free(&c->packed);
  hw__packed_free(&c->single);
  hw__window_free(&c->window);
  hw__window_free(&c->one);
  free(c->played);
}

static hw_status open_check(hw__bound_check *c) {
  hw_status status = hw__window_create(c->count, &c->window);
  if (status == HW_OK) {
    status = hw__window_create(1, &c->one);
  }
  if (status == HW_OK) {
    status = hw__packed_create(c->count, c->river->sensor_count, &c->packed);
  }
  if (status == HW_OK) {
    status = hw__packed_create(1, c->river->sensor_count, &c->single);
  }
  c->played = calloc(c->count + 1, sizeof *c->played);
  if (status != HW_OK || !c->played) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < c->count; i++) {
    hw__window_add(&c->window, &c->readings[i]);
  }
  hw__packed_fill(&c->packed, &c->window, c->count);
  c->box = c->river->search;
  hw__box_widths(&c->box, c->width);
  c->scale = c->packed.mean_square > 0 ? 1 / c->packed.mean_square : 1;
  return HW_OK;
}

/* Uniform within `radius` box widths of x (rejection from the cube), clamped to the box. */
static hw_source nearby(hw__bound_check *c, const hw_source *x, double radius) {
  double u[3], square, v[3];
  do {
    square = 0;
    for (int j = 0; j < 3; j++) {
      u[j] = 2 * hw_rng_uniform(&c->rng) - 1;
      square += u[j] * u[j];
    }
  } while (square > 1);
  hw__source_to(x, v);
  for (int j = 0; j < 3; j++) {
    v[j] += radius * u[j] * c->width[j];
  }
  const hw_source moved = hw__source_from(v);
  return hw__box_clamp(&c->box, &moved);
}

double hw__bound_least_eigenvalue(hw__bound_check *c, const hw__packed *packed, const hw_source *x) {
  double hessian[3][3], eigenvalue[3];
  hw__bend_hessian(&c->misfit, packed, c->width, c->scale, x, hessian);
  hw__bend_eigenvalues(hessian, eigenvalue);
  return eigenvalue[0] > rounding * eigenvalue[2] ? eigenvalue[0] : 0;
}

double hw__bound_share_positive(hw__bound_check *c, const hw__packed *packed, const hw_source *x, double radius) {
  size_t positive = 0;
  for (size_t i = 0; i < c->options.samples; i++) {
    const hw_source y = nearby(c, x, radius);
    positive += hw__bound_least_eigenvalue(c, packed, &y) > 0;
  }
  return (double)positive / (double)c->options.samples;
}

double hw__bound_gradient(hw__bound_check *c, const hw__packed *packed, const hw_source *x, double *value) {
  hw__slope slope;
  double square = 0;
  hw__misfit_slope(&c->misfit, packed, x, &slope);
  for (int j = 0; j < 3; j++) {
    const double g = slope.gradient[j] * c->width[j] * c->scale;
    square += g * g;
  }
  if (value) {
    *value = slope.value * c->scale;
  }
  return sqrt(square);
}

double hw__bound_distance(const hw__bound_check *c, const hw_source *x, const hw_source *y) {
  double a[3], b[3], square = 0;
  hw__source_to(x, a);
  hw__source_to(y, b);
  for (int j = 0; j < 3; j++) {
    const double d = c->width[j] > 0 ? (a[j] - b[j]) / c->width[j] : 0;
    square += d * d;
  }
  return sqrt(square);
}

/* Algorithm 5 over the readings, as it goes. */
static hw_status follow(hw__bound_check *c) {
  const hw_problem problem = {.river = c->river};
  const hw_options options = {.seed = c->options.seed, .window = c->count};
  hw_run *run = NULL;
  hw_status status = hw_run_create(hw_method_find("aptgd"), &problem, &options, &run);
  c->played[0] = hw__box_centre(&c->box);
  for (size_t i = 0; status == HW_OK && i < c->count; i++) {
    hw_estimate estimate;
    status = hw_run_observe(run, &c->readings[i]);
    if (status == HW_OK) {
      status = hw_run_estimate(run, &estimate);
    }
    if (status == HW_OK) {
      c->played[i + 1] = estimate.source;
    }
  }
  hw_run_free(run);
  return status;
}

static hw_error_region region(hw__bound_check *c, const hw_source *x, double mu, double rate, double gradient) {
  hw_error_region r = {.distance = rate * gradient, .radius = rate * c->options.threshold};
  r.share_positive = mu > 0 ? hw__bound_share_positive(c, &c->packed, x, r.radius) : 0;
  r.holds = mu > 0 && r.share_positive == 1;
  return r;
}

static void check_mean_loss(hw__bound_check *c, hw_error_bound *out) {
  double hessian[3][3];
  const hw_source *x = &out->at;
  hw__bend_hessian(&c->misfit, &c->packed, c->width, c->scale, x, hessian);
  hw__bend_eigenvalues(hessian, out->eigenvalue);
  out->gradient = hw__bound_gradient(c, &c->packed, x, NULL);
  const hw__limits limits = {.tolerance = polish_tolerance, .iterations = POLISH_ITERATIONS};
  hw__solution bottom = {.x = *x};
  hw__solve(&c->misfit, &c->packed, &c->box, &limits, &bottom);
  out->distance = hw__bound_distance(c, x, &bottom.x);
  const double mu = out->eigenvalue[0];
  out->printed = region(c, x, mu, fmax(mu, 0), out->gradient);
  out->implied = region(c, x, mu, mu > 0 ? 1 / mu : 0, out->gradient);
  for (int i = 0; mu > 0 && i < RADII && out->convex_radius == 0; i++) {
    const double radius = ldexp(1, -i);
    out->convex_radius = hw__bound_share_positive(c, &c->packed, x, radius) == 1 ? radius : 0;
  }
}

/* Theorems 4.3 and 4.7 in numbers. */
static void add_bounds(const hw__bound_check *c, hw_error_bound *out) {
  const double delta = c->options.threshold, mu = out->eigenvalue[0];
  out->escape = hw_regret_escape_bound(&out->constants, delta, out->constants.largest, failure, c->count);
  out->regret = hw_regret_cumulative_bound(out->lipschitz, mu, delta, 1, c->count);
}

hw_status hw_error_bound_check(const hw_river *river, const hw_reading *readings, size_t count,
                               const hw_error_bound_options *options, hw_error_bound *out) {
  if (count == 0) {
    return HW_EEMPTY;
  }
  hw__bound_check c = {.river = river, .readings = readings, .count = count};
  c.options = options ? *options : (hw_error_bound_options){0};
  c.options.threshold = c.options.threshold != 0 ? c.options.threshold : default_threshold;
  c.options.samples = c.options.samples ? c.options.samples : 1000;
  if (c.options.at && !hw__source_finite(c.options.at)) {
    return HW_EDOMAIN;
  }
  hw_rng_seed(&c.rng, c.options.seed ? c.options.seed : 1, 0);
  hw_transport *transport = NULL;
  double *sensor_m = calloc(river->sensor_count, sizeof *sensor_m);
  hw_status status = sensor_m ? hw_transport_create(river, NULL, &transport) : HW_ENOMEM;
  if (status == HW_OK) {
    status = open_check(&c);
  }
  if (status == HW_OK) {
    for (size_t m = 0; m < river->sensor_count; m++) {
      sensor_m[m] = river->sensors[m].location_m;
    }
    c.misfit = (hw__misfit){.transport = transport, .sensor_m = sensor_m};
    status = follow(&c);
  }
  if (status == HW_OK) {
    hw_error_bound found = {.at = c.options.at ? *c.options.at : c.played[count]};
    check_mean_loss(&c, &found);
    status = hw__bound_check_singles(&c, &found);
    if (status == HW_OK) {
      hw__bound_sort_points(&c, &found);
      add_bounds(&c, &found);
      *out = found;
    }
  }
  close_check(&c);
  hw_transport_free(transport);
  free(sensor_m);
  return status;
}

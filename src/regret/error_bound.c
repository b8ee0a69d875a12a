/* Example 4.4 and Assumption 4.5 checked at an estimate: see headwater/regret.h.
 *
 * The paper's recipe: mu is the smallest eigenvalue of the Hessian at the estimate; where the Hessian is
 * positive definite at points sampled within mu theta, the local error bound holds with high probability.
 * For a single reading (w = 1) the Hessian is 2 grad C grad C' + 2 r Hess C, of rank one where the reading
 * is met exactly: it has no positive smallest eigenvalue, so the assumption's own test cannot be passed.
 * What it is used for, |grad Psi| >= mu Psi, is looked at directly beside it.
 */
#include <math.h>
#include <stdlib.h>

#include "headwater/regret.h"
#include "headwater/rng.h"
#include "loss/box.h"
#include "loss/misfit.h"
#include "regret/bend.h"

enum { RADII = 21, SINGLE_POINTS = 16 };
static const double worth_looking = 1e-3, rounding = 1e-10, default_threshold = 0.01;

typedef struct {
  hw__misfit misfit;
  hw__window window, one;
  hw__view view, single;
  hw_box box;
  double width[3];
  double scale; /* of the loss */
  hw_error_bound_options options;
  hw_rng rng;
} check;

static void close_check(check *c) {
  hw__view_free(&c->view);
  hw__view_free(&c->single);
  hw__window_free(&c->window);
  hw__window_free(&c->one);
}

static hw_status open_check(check *c, const hw_river *river, const hw_reading *readings, size_t count) {
  hw_status status = hw__window_create(count, &c->window);
  if (status == HW_OK) {
    status = hw__window_create(1, &c->one);
  }
  if (status == HW_OK) {
    status = hw__view_create(count, river->sensor_count, &c->view);
  }
  if (status == HW_OK) {
    status = hw__view_create(1, river->sensor_count, &c->single);
  }
  if (status != HW_OK) {
    return status;
  }
  for (size_t i = 0; i < count; i++) {
    hw__window_add(&c->window, &readings[i]);
  }
  hw__view_pack(&c->view, &c->window, count);
  c->box = river->search;
  hw__box_widths(&c->box, c->width);
  c->scale = c->view.mean_square > 0 ? 1 / c->view.mean_square : 1;
  return HW_OK;
}

/* Uniform within `radius` box widths of x (rejection from the cube), clamped to the box. */
static hw_source nearby(check *c, const hw_source *x, double radius) {
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

/* Positive definite beyond rounding: a Hessian of rank one must not pass by chance. */
static bool is_definite(check *c, const hw__view *view, const hw_source *x) {
  double hessian[3][3], eigenvalue[3];
  hw__bend_hessian(&c->misfit, view, c->width, c->scale, x, hessian);
  hw__bend_eigenvalues(hessian, eigenvalue);
  return eigenvalue[0] > rounding * eigenvalue[2];
}

static double share_positive(check *c, const hw_source *x, double radius) {
  size_t positive = 0;
  for (size_t i = 0; i < c->options.samples; i++) {
    const hw_source y = nearby(c, x, radius);
    positive += is_definite(c, &c->view, &y);
  }
  return (double)positive / (double)c->options.samples;
}

static void check_mean_loss(check *c, const hw_source *x, hw_error_bound *out) {
  double hessian[3][3];
  hw__bend_hessian(&c->misfit, &c->view, c->width, c->scale, x, hessian);
  hw__bend_eigenvalues(hessian, out->eigenvalue);
  const double mu = out->eigenvalue[0];
  out->radius = fmax(mu, 0) * c->options.threshold;
  out->share_positive = mu > 0 ? share_positive(c, x, out->radius) : 0;
  out->holds = mu > 0 && out->share_positive == 1;
  out->convex_radius = 0;
  for (int i = 0; mu > 0 && i < RADII && out->convex_radius == 0; i++) {
    const double radius = ldexp(1, -i);
    out->convex_radius = share_positive(c, x, radius) == 1 ? radius : 0;
  }
}

/* Every reading that the estimate says anything about, on its own. */
static void check_single_losses(check *c, const hw_source *x, const hw_reading *readings, size_t count,
                                hw_error_bound *out) {
  double largest = 0;
  size_t pairs = 0, bounded = 0;
  const double mu = out->eigenvalue[0];
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < count; i++) {
      const hw_leg leg = hw_transport_leg(c->misfit.transport, x->location_m, c->misfit.sensor_m[readings[i].sensor]);
      const double prediction = x->mass_g * hw_leg_response(&leg, readings[i].time_s - x->time_s);
      if (pass == 0) {
        largest = fmax(largest, prediction);
        continue;
      }
      if (!(prediction > worth_looking * largest)) {
        continue;
      }
      hw__window_add(&c->one, &readings[i]);
      hw__view_pack(&c->single, &c->one, 1);
      out->readings++;
      out->definite += is_definite(c, &c->single, x);
      for (int k = 0; k < SINGLE_POINTS; k++) {
        const hw_source y = nearby(c, x, out->radius);
        hw__slope slope;
        double square = 0;
        hw__misfit_slope(&c->misfit, &c->single, &y, &slope);
        for (int j = 0; j < 3; j++) {
          square += slope.gradient[j] * c->width[j] * slope.gradient[j] * c->width[j];
        }
        pairs++;
        bounded += sqrt(square) >= mu * slope.value;
      }
    }
  }
  out->share_gradient_bound = pairs ? (double)bounded / (double)pairs : 0;
  out->single_holds = out->readings > 0 && out->definite == out->readings;
}

hw_status hw_error_bound_check(const hw_river *river, const hw_reading *readings, size_t count,
                               const hw_source *estimate, const hw_error_bound_options *options, hw_error_bound *out) {
  if (count == 0) {
    return HW_EEMPTY;
  }
  if (!hw__source_finite(estimate)) {
    return HW_EDOMAIN;
  }
  check c = {.options = options ? *options : (hw_error_bound_options){0}};
  c.options.threshold = c.options.threshold != 0 ? c.options.threshold : default_threshold;
  c.options.samples = c.options.samples ? c.options.samples : 1000;
  hw_rng_seed(&c.rng, c.options.seed ? c.options.seed : 1, 0);
  hw_transport *transport = NULL;
  double *sensor_m = calloc(river->sensor_count, sizeof *sensor_m);
  hw_status status = sensor_m ? hw_transport_create(river, NULL, &transport) : HW_ENOMEM;
  if (status == HW_OK) {
    status = open_check(&c, river, readings, count);
  }
  if (status == HW_OK) {
    for (size_t m = 0; m < river->sensor_count; m++) {
      sensor_m[m] = river->sensors[m].location_m;
    }
    c.misfit = (hw__misfit){.transport = transport, .sensor_m = sensor_m};
    hw_error_bound found = {0};
    check_mean_loss(&c, estimate, &found);
    check_single_losses(&c, estimate, readings, count, &found);
    *out = found;
  }
  close_check(&c);
  hw_transport_free(transport);
  free(sensor_m);
  return status;
}

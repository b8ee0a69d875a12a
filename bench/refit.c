#include "refit.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>

typedef struct {
  const hw_transport *transport;
  const hw_river *river;
  const hw_reading *readings;
  size_t n;
  double lo[3], width[3];
  double scale; /* residuals are divided by the root mean square reading */
} job;

static job make_job(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n) {
  const hw_box *b = &river->search;
  job j = {transport, river, readings, n, {b->lo.mass_g, b->lo.location_m, b->lo.time_s}, {0}, 0};
  j.width[0] = b->hi.mass_g - b->lo.mass_g;
  j.width[1] = b->hi.location_m - b->lo.location_m;
  j.width[2] = b->hi.time_s - b->lo.time_s;
  double squares = 0;
  for (size_t i = 0; i < n; i++) {
    squares += readings[i].concentration_g_m3 * readings[i].concentration_g_m3;
  }
  j.scale = squares > 0 ? sqrt(squares / (double)n) : 1;
  return j;
}

static hw_source source_at(const job *j, const double z[3]) {
  return (hw_source){j->lo[0] + z[0] * j->width[0], j->lo[1] + z[1] * j->width[1], j->lo[2] + z[2] * j->width[2]};
}

static void evaluate(const job *j, const hw_source *x, size_t i, hw_derivatives *d) {
  const hw_reading *r = &j->readings[i];
  const hw_leg leg = hw_transport_leg(j->transport, x->location_m, j->river->sensors[r->sensor].location_m);
  hw_leg_derivatives(&leg, x->mass_g, r->time_s - x->time_s, false, d);
}

double refit_loss(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                  const hw_source *x) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    double c = 0;
    hw_transport_concentration(transport, x, river->sensors[readings[i].sensor].location_m, readings[i].time_s, &c);
    const double e = c - readings[i].concentration_g_m3;
    sum += e * e;
  }
  return sum / (double)n;
}

static int residuals(const gsl_vector *z, void *context, gsl_vector *out) {
  const job *j = context;
  const double at[3] = {gsl_vector_get(z, 0), gsl_vector_get(z, 1), gsl_vector_get(z, 2)};
  const hw_source x = source_at(j, at);
  for (size_t i = 0; i < j->n; i++) {
    const hw_reading *r = &j->readings[i];
    const hw_leg leg = hw_transport_leg(j->transport, x.location_m, j->river->sensors[r->sensor].location_m);
    const double c = x.mass_g * hw_leg_response(&leg, r->time_s - x.time_s);
    gsl_vector_set(out, i, (c - r->concentration_g_m3) / j->scale);
  }
  return GSL_SUCCESS;
}

static int jacobian(const gsl_vector *z, void *context, gsl_matrix *out) {
  const job *j = context;
  const double at[3] = {gsl_vector_get(z, 0), gsl_vector_get(z, 1), gsl_vector_get(z, 2)};
  const hw_source x = source_at(j, at);
  for (size_t i = 0; i < j->n; i++) {
    hw_derivatives d;
    evaluate(j, &x, i, &d);
    for (size_t k = 0; k < 3; k++) {
      gsl_matrix_set(out, i, k, d.gradient[k] * j->width[k] / j->scale);
    }
  }
  return GSL_SUCCESS;
}

double refit_gsl(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                 double enough, hw_source *x) {
  job j = make_job(transport, river, readings, n);
  gsl_multifit_nlinear_fdf fdf = {.f = residuals, .df = jacobian, .n = n, .p = 3, .params = &j};
  gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
  gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, n, 3);
  const double start[3] = {(x->mass_g - j.lo[0]) / j.width[0], (x->location_m - j.lo[1]) / j.width[1],
                           (x->time_s - j.lo[2]) / j.width[2]};
  const gsl_vector_const_view z = gsl_vector_const_view_array(start, 3);
  gsl_multifit_nlinear_init(&z.vector, &fdf, w);
  double loss = HUGE_VAL;
  for (int i = 0; i < 100; i++) {
    int info = 0;
    double norm2 = 0;
    const int moved = gsl_multifit_nlinear_iterate(w);
    const gsl_vector *f = gsl_multifit_nlinear_residual(w);
    for (size_t k = 0; k < n; k++) {
      norm2 += gsl_vector_get(f, k) * gsl_vector_get(f, k);
    }
    loss = norm2 / (double)n * j.scale * j.scale;
    if (moved != GSL_SUCCESS || loss <= enough || gsl_multifit_nlinear_test(1e-8, 1e-8, 0, &info, w) == GSL_SUCCESS) {
      break;
    }
  }
  const gsl_vector *end = gsl_multifit_nlinear_position(w);
  const double at[3] = {gsl_vector_get(end, 0), gsl_vector_get(end, 1), gsl_vector_get(end, 2)};
  *x = source_at(&j, at);
  gsl_multifit_nlinear_free(w);
  return loss;
}

static double objective(unsigned dimensions, const double *z, double *gradient, void *context) {
  const job *j = context;
  const hw_source x = source_at(j, z);
  double sum = 0, slope[3] = {0};
  for (size_t i = 0; i < j->n; i++) {
    hw_derivatives d;
    evaluate(j, &x, i, &d);
    const double e = (d.value - j->readings[i].concentration_g_m3) / j->scale;
    sum += e * e;
    for (unsigned k = 0; k < 3; k++) {
      slope[k] += 2 * e * d.gradient[k] / j->scale * j->width[k];
    }
  }
  for (unsigned k = 0; gradient && k < dimensions; k++) {
    gradient[k] = slope[k] / (double)j->n;
  }
  return sum / (double)j->n;
}

double refit_nlopt(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                   double enough, int evaluations, hw_source *x) {
  job j = make_job(transport, river, readings, n);
  nlopt_opt global = nlopt_create(NLOPT_G_MLSL_LDS, 3), local = nlopt_create(NLOPT_LD_LBFGS, 3);
  double z[3] = {0.5, 0.5, 0.5}, least = HUGE_VAL;
  nlopt_set_lower_bounds1(global, 0);
  nlopt_set_upper_bounds1(global, 1);
  nlopt_set_min_objective(global, objective, &j);
  nlopt_set_ftol_rel(local, 1e-6);
  nlopt_set_local_optimizer(global, local);
  nlopt_set_stopval(global, enough / (j.scale * j.scale));
  nlopt_set_maxeval(global, evaluations);
  nlopt_optimize(global, z, &least);
  nlopt_destroy(local);
  nlopt_destroy(global);
  *x = source_at(&j, z);
  return least * j.scale * j.scale;
}

double refit_nlopt_starts(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                          int starts, double enough, hw_source *x) {
  job j = make_job(transport, river, readings, n);
  double least = HUGE_VAL;
  hw_rng rng;
  hw_rng_seed(&rng, 1, n);
  nlopt_opt local = nlopt_create(NLOPT_LD_LBFGS, 3);
  nlopt_set_lower_bounds1(local, 0);
  nlopt_set_upper_bounds1(local, 1);
  nlopt_set_min_objective(local, objective, &j);
  nlopt_set_ftol_rel(local, 1e-6);
  nlopt_set_maxeval(local, 500);
  for (int i = 0; i < starts || (i < REFIT_MOST_STARTS && least * j.scale * j.scale > enough); i++) {
    double z[3] = {hw_rng_uniform(&rng), hw_rng_uniform(&rng), hw_rng_uniform(&rng)}, found = HUGE_VAL;
    if (nlopt_optimize(local, z, &found) > 0 && found < least) {
      least = found;
      *x = source_at(&j, z);
    }
  }
  nlopt_destroy(local);
  return least * j.scale * j.scale;
}

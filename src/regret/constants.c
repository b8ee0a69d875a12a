/* The constants of Proposition 2.6 estimated by sampling, and the bounds built on them.
 *
 * Psi of one reading bends only where the plume is near the sensor at the reading's time. So for a choice
 * of readings, release times and offsets (in standard deviations of the pulse) the place that puts the
 * plume there is worked out, and gradient and Hessian are taken at the box's smallest and largest mass.
 */
#include <math.h>
#include <stdlib.h>

#include "headwater/regret.h"
#include "loss/box.h"
#include "loss/misfit.h"
#include "regret/bend.h"
#include "river/along.h"

enum { READINGS = 64, RELEASES = 24, OFFSETS = 33 };
static const double most_offset_sd = 4;

typedef struct {
  hw__misfit misfit;
  const hw_river *river;
  double width[3];
  hw__packed *packed; /* the one reading */
} probe;

static void matrix_difference(const double a[3][3], const double b[3][3], double out[3][3]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[i][j] = a[i][j] - b[i][j];
    }
  }
}

static double spectral_norm(const double matrix[3][3]) {
  double eigenvalue[3];
  hw__bend_eigenvalues(matrix, eigenvalue);
  return fmax(fabs(eigenvalue[0]), fabs(eigenvalue[2]));
}

static void look(probe *p, const hw_source *x, double hessian[3][3], hw_loss_constants *c) {
  hw__slope slope;
  double square = 0;
  hw__misfit_slope(&p->misfit, p->packed, x, &slope);
  for (int j = 0; j < 3; j++) {
    square += slope.gradient[j] * p->width[j] * slope.gradient[j] * p->width[j];
  }
  hw__bend_hessian(&p->misfit, p->packed, p->width, 1, x, hessian);
  c->largest = fmax(c->largest, slope.value);
  c->lipschitz = fmax(c->lipschitz, sqrt(square));
  c->smoothness = fmax(c->smoothness, spectral_norm(hessian));
}

/* The line of places that a plume released at time_s may have passed from; neighbours give the Hessian's slope. */
static void look_along(probe *p, const hw_reading *reading, double time_s, double mass_g, hw_loss_constants *c) {
  const hw_box *box = &p->river->search;
  const double age_s = reading->time_s - time_s;
  const double sensor_m = p->river->sensors[reading->sensor].location_m;
  const double theta_s = hw__transport_theta(p->misfit.transport, sensor_m);
  double before[3][3], hessian[3][3], change[3][3], place_before = NAN;
  if (!(age_s > 0)) {
    return;
  }
  const double middle_m = hw__transport_place(p->misfit.transport, theta_s - age_s);
  const double sd_s = sqrt(age_s / hw_transport_leg(p->misfit.transport, middle_m, sensor_m).sharpness_per_s);
  for (int i = 0; i < OFFSETS; i++) {
    const double offset_s = sd_s * most_offset_sd * (2.0 * i / (OFFSETS - 1) - 1);
    const double place_m = hw__transport_place(p->misfit.transport, theta_s - age_s + offset_s);
    if (!(place_m >= box->lo.location_m && place_m <= box->hi.location_m)) {
      place_before = NAN;
      continue;
    }
    const hw_source x = {mass_g, place_m, time_s};
    look(p, &x, hessian, c);
    if (isfinite(place_before) && p->width[1] > 0) {
      matrix_difference(hessian, before, change);
      c->hessian_lipschitz =
          fmax(c->hessian_lipschitz, spectral_norm(change) / (fabs(place_m - place_before) / p->width[1]));
    }
    place_before = place_m;
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 3; k++) {
        before[j][k] = hessian[j][k];
      }
    }
  }
}

static void look_at_reading(probe *p, const hw_reading *reading, hw_loss_constants *c) {
  const hw_box *box = &p->river->search;
  for (int i = 0; i < RELEASES; i++) {
    const double time_s = box->lo.time_s + p->width[2] * i / (RELEASES - 1);
    look_along(p, reading, time_s, box->lo.mass_g, c);
    look_along(p, reading, time_s, box->hi.mass_g, c);
  }
}

hw_status hw_regret_constants(const hw_river *river, const hw_reading *readings, size_t count, hw_loss_constants *out) {
  if (count == 0) {
    return HW_EEMPTY;
  }
  hw_transport *transport = NULL;
  hw__window window = {0};
  hw__packed packed = {0};
  double *sensor_m = calloc(river->sensor_count, sizeof *sensor_m);
  hw_status status = sensor_m ? hw_transport_create(river, NULL, &transport) : HW_ENOMEM;
  if (status == HW_OK) {
    status = hw__window_create(1, &window);
  }
  if (status == HW_OK) {
    status = hw__packed_create(1, river->sensor_count, &packed);
  }
  if (status == HW_OK) {
    hw_loss_constants found = {0};
    for (size_t m = 0; m < river->sensor_count; m++) {
      sensor_m[m] = river->sensors[m].location_m;
    }
    probe p = {.misfit = {.transport = transport, .sensor_m = sensor_m}, .river = river, .packed = &packed};
    hw__box_widths(&river->search, p.width);
    const size_t looked_at = count < READINGS ? count : READINGS;
    for (size_t i = 0; i < looked_at; i++) {
      const hw_reading *reading = &readings[i * count / looked_at];
      hw__window_add(&window, reading);
      hw__packed_fill(&packed, &window, 1);
      look_at_reading(&p, reading, &found);
    }
    *out = found;
  }
  hw__packed_free(&packed);
  hw__window_free(&window);
  hw_transport_free(transport);
  free(sensor_m);
  return status;
}

double hw_regret_bound(const hw_loss_constants *constants, double delta, size_t window, size_t readings) {
  double sum = 0;
  for (size_t n = 1; n <= readings; n++) {
    const double term = delta + 2 * constants->lipschitz / (double)(n < window ? n : window);
    sum += term * term;
  }
  return sum;
}

size_t hw_regret_best_window(const hw_loss_constants *constants, double delta, size_t readings) {
  const double best = 2 * constants->lipschitz / delta;
  return !(best > 1) ? 1 : best >= (double)readings ? readings : (size_t)(best + 0.5);
}

static double bracket(const hw_loss_constants *constants, double eta_least, double eta_most) {
  const double beta = constants->smoothness, plain = beta > 0 ? 1 / beta : 0;
  const double least = eta_least > 0 ? eta_least : plain, most = eta_most > 0 ? eta_most : plain;
  return least - 0.5 * beta * most * most;
}

double hw_regret_gradient_bound(const hw_loss_constants *constants, double delta, size_t window, size_t readings,
                                double eta_least, double eta_most) {
  const double eta = bracket(constants, eta_least, eta_most);
  return eta > 0 && delta > 0 ? 2 * constants->largest * (double)readings / (delta * delta * eta * (double)window)
                              : INFINITY;
}

double hw_regret_readings_within(const hw_loss_constants *constants, double delta, size_t window, double steps,
                                 double eta_least, double eta_most) {
  return steps / hw_regret_gradient_bound(constants, delta, window, 1, eta_least, eta_most);
}

double hw_regret_escape_bound(const hw_loss_constants *constants, double delta, double gap, double failure,
                              size_t readings) {
  const double work = constants->smoothness * gap / (delta * delta);
  const double logarithm = log(3 * work / failure); /* d = 3 */
  return work * pow(fmax(logarithm, 0), 4) * (double)readings;
}

hw_cumulative_bound hw_regret_cumulative_bound(double lipschitz, double mu, double delta, size_t window,
                                               size_t readings) {
  const double n = (double)readings;
  return (hw_cumulative_bound){.printed = mu * delta / lipschitz * n,
                               .inverted = lipschitz * delta / mu * n,
                               .complete = lipschitz * (delta + 2 * lipschitz / (double)window) / mu * n};
}

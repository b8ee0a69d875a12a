/* Section 4's kinds of points: second-order stationary (Definition 4.1) and the three cases of a strict saddle function
 * (Proposition 4.2), at what Algorithm 5 stood at and at points drawn from the box.
 *
 * The proposition says that one of the three holds everywhere. On a plateau, where no model overlaps the readings, the
 * gradient vanishes, the Hessian does too, and no minimum is near: none of the three.
 */
#include <math.h>

#include "loss/box.h"
#include "loss/solve.h"
#include "regret/bend.h"
#include "regret/error_bound.h"

enum { MOST_ITERATES = 200, DESCENT = 500 };
static const double descent_tolerance = 1e-8;

typedef struct {
  double theta, tau, zeta;
} levels;

/* Is the minimum that a descent ends in near, and a strict one? */
static bool is_close(hw__bound_check *c, const hw__packed *packed, const hw_source *x, double zeta) {
  const hw__limits limits = {.tolerance = descent_tolerance, .iterations = DESCENT};
  hw__solution bottom = {.x = *x};
  hw__solve(&c->misfit, packed, &c->box, &limits, &bottom);
  return hw__bound_distance(c, x, &bottom.x) <= zeta && hw__bound_least_eigenvalue(c, packed, &bottom.x) > 0;
}

static void sort_point(hw__bound_check *c, const hw__packed *packed, const hw_source *x, const levels *l,
                       hw_stationary *out) {
  double hessian[3][3], eigenvalue[3];
  const double gradient = hw__bound_gradient(c, packed, x, NULL);
  hw__bend_hessian(&c->misfit, packed, c->width, c->scale, x, hessian);
  hw__bend_eigenvalues(hessian, eigenvalue);
  const bool flat = gradient <= l->theta;
  out->points++;
  out->first_order += flat;
  out->second_order += flat && eigenvalue[0] >= -l->tau;
  if (gradient >= l->theta) {
    out->steep++;
  } else if (eigenvalue[0] <= -l->tau) {
    out->saddle++;
  } else if (is_close(c, packed, x, l->zeta)) {
    out->close++;
  } else {
    out->none++;
  }
}

/* F of the first n readings at x^{n+1}, for some n: the readings are packed anew and all of them again at the end. */
static void sort_iterates(hw__bound_check *c, const levels *l, hw_stationary *out) {
  const size_t looked_at = c->count < MOST_ITERATES ? c->count : MOST_ITERATES;
  c->window.count = c->window.next = 0;
  for (size_t n = 1, done = 0; n <= c->count; n++) {
    hw__window_add(&c->window, &c->readings[n - 1]);
    if (n * looked_at / c->count > done) {
      done = n * looked_at / c->count;
      hw__packed_fill(&c->packed, &c->window, c->packed.capacity);
      sort_point(c, &c->packed, &c->played[n], l, out);
    }
  }
}

void hw__bound_sort_points(hw__bound_check *c, hw_error_bound *out) {
  const double mu = out->eigenvalue[0], theta = c->options.threshold;
  const levels l = {theta, sqrt(out->constants.hessian_lipschitz * theta), mu > 0 ? theta / mu : theta};
  sort_iterates(c, &l, &out->iterates);
  for (size_t i = 0; i < c->options.samples; i++) {
    const hw_source x = hw__box_draw(&c->box, &c->rng);
    sort_point(c, &c->packed, &x, &l, &out->anywhere);
  }
}

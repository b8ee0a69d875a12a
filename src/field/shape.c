#include "field/shape.h"

#include <gsl/gsl_sf_erf.h>
#include <math.h>

static double log_emg(double x, double tau) {
  return 0.5 / (tau * tau) - x / tau + gsl_sf_log_erfc((1 / tau - x) / M_SQRT2);
}

/* Ternary search: the curve is log-concave, so it has one peak. */
static double find_peak(double tau) {
  double lo = -3, hi = 3 + 3 * tau;
  for (int i = 0; i < 120; i++) {
    const double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
    if (log_emg(a, tau) < log_emg(b, tau)) {
      lo = a;
    } else {
      hi = b;
    }
  }
  return (lo + hi) / 2;
}

/* Where the curve crosses `level` between `below` (curve under the level) and `above`. */
static double find_crossing(double tau, double level, double below, double above) {
  for (int i = 0; i < 80; i++) {
    const double middle = (below + above) / 2;
    if (log_emg(middle, tau) < level) {
      below = middle;
    } else {
      above = middle;
    }
  }
  return (below + above) / 2;
}

static void build(double skew, hw__shape *out) {
  const double tau = exp(skew);
  const double peak = find_peak(tau);
  const double top = log_emg(peak, tau);
  const double rise = find_crossing(tau, top + log(0.5), -12, peak);
  const double fall = find_crossing(tau, top + log(0.5), peak + 12 + 12 * tau, peak);
  const double front = find_crossing(tau, top + log(0.1), -12, peak);
  const double phi = (rise + fall) / 2;
  out->skew = skew;
  out->lead_in_sigma = phi - front;
  out->peak_y = (peak - phi) / out->lead_in_sigma;
  /* The area of f over x is 2 tau: it is a probability density times that. */
  out->area = 2 * tau / exp(top) / out->lead_in_sigma;
  for (int i = 0; i < HW__SHAPE_POINTS; i++) {
    const double y = HW__SHAPE_FROM + (double)i / HW__SHAPE_PER_LEAD;
    out->value[i] = (float)exp(log_emg(phi + y * out->lead_in_sigma, tau) - top);
  }
}

void hw__shapes_build(hw__shapes *out) {
  for (int k = 0; k < HW__SHAPES; k++) {
    build(-1.5 + 4.25 * k / (HW__SHAPES - 1), &out->shape[k]);
  }
}

/* Where the table crosses `share` between the point `below` and the point `above` at the peak. */
static double crossing_y(const hw__shape *shape, double share, int below, int above) {
  if (!(share > (double)shape->value[below])) {
    return HW__SHAPE_FROM + (double)below / HW__SHAPE_PER_LEAD;
  }
  if (share >= (double)shape->value[above]) {
    return shape->peak_y;
  }
  while (above - below > 1 || below - above > 1) {
    const int middle = (below + above) / 2;
    if ((double)shape->value[middle] < share) {
      below = middle;
    } else {
      above = middle;
    }
  }
  const double a = (double)shape->value[below], b = (double)shape->value[above];
  return HW__SHAPE_FROM + (below + (share - a) / (b - a) * (above - below)) / HW__SHAPE_PER_LEAD;
}

static double peak_point(const hw__shape *shape) {
  return (shape->peak_y - HW__SHAPE_FROM) * HW__SHAPE_PER_LEAD;
}

double hw__shape_front(const hw__shape *shape, double share) {
  return crossing_y(shape, share, 0, (int)peak_point(shape));
}

double hw__shape_tail(const hw__shape *shape, double share) {
  return crossing_y(shape, share, HW__SHAPE_POINTS - 1, (int)ceil(peak_point(shape)));
}

#include "posterior/nondetect.h"

#include <math.h>

/* Below it the asymptotic series are right to rounding, and the plain formulas cancel: at z = -5000 r (z + r), which is
 * 1, comes out as anything between 0 and 2500. */
static const double far_out = -30;

double hw__log_upper_tail(double z) {
  if (z < 20) {
    return log(0.5 * erfc(z / M_SQRT2));
  }
  const double q = 1 / (z * z);
  return -0.5 * z * z - log(z * sqrt(2 * M_PI)) + log1p(-q * (1 - q * (3 - q * (15 - 105 * q))));
}

/* ln Phi and phi / Phi from the functions themselves. */
static double exact(double z, double *slope) {
  const double f = hw__log_upper_tail(-z), q = 1 / (z * z);
  *slope = z < far_out ? -z * (1 + q * (1 - q * (2 - 10 * q))) : exp(-0.5 * z * z - f) / sqrt(2 * M_PI);
  return f;
}

double hw__tail_curvature(double z, double r) {
  const double q = 1 / (z * z);
  return z < far_out ? 1 - q * (1 - 6 * q) : fmax(r * (z + r), 0);
}

void hw__tails_build(hw__tails *out) {
  for (int i = 0; i < HW__TAIL_KNOTS; i++) {
    out->value[i] = exact(HW__TAIL_FROM + (double)i / HW__TAIL_PER_UNIT, &out->slope[i]);
  }
}

/* The cubic through two values and slopes a knot's width apart, at u in [0, 1]. */
static double cubic(double u, double a, double b, double slope_a, double slope_b) {
  const double rise = b - a, v = 1 - u;
  return a + u * rise + u * v * (v * (slope_a - rise) - u * (slope_b - rise));
}

double hw__tails_at(const hw__tails *tails, double z, double *slope) {
  const double place = (z - HW__TAIL_FROM) * HW__TAIL_PER_UNIT;
  if (!(place >= 0 && place < HW__TAIL_KNOTS - 1)) {
    return exact(z, slope);
  }
  const int i = (int)place;
  const double step = 1.0 / HW__TAIL_PER_UNIT, u = place - i;
  const double za = HW__TAIL_FROM + i * step, zb = za + step;
  const double ra = tails->slope[i], rb = tails->slope[i + 1];
  *slope = cubic(u, ra, rb, -step * ra * (za + ra), -step * rb * (zb + rb));
  return cubic(u, tails->value[i], tails->value[i + 1], step * ra, step * rb);
}

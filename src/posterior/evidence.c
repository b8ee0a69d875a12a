/* With mu = H / Lambda the integral is
 *
 *   H mu / 2 + ln(2 pi / Lambda) / 2 + ln[Phi((hi - mu) sqrt Lambda) - Phi((lo - mu) sqrt Lambda)],
 *
 * written with upper tails so that nothing cancels when the box cuts off all but a far tail. When the box is so narrow
 * that the integrand is exponential across it (before any plume: Lambda near 0) that form is used instead.
 */
#include "posterior/evidence.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double hw__log_upper_tail(double z) {
  if (z < 20) {
    return log(0.5 * erfc(z / M_SQRT2));
  }
  const double q = 1 / (z * z);
  return -0.5 * z * z - log(z * sqrt(2 * M_PI)) + log1p(-q * (1 - q * (3 - q * (15 - 105 * q))));
}

/* Box widths, in standard deviations, below which the integrand is taken as exponential: error width^2 / 24. */
static const double narrow = 1e-2;

/* ln of (e^x - e^-x) / (2 x), even in x. */
static double log_sinh_ratio(double x) {
  const double a = fabs(x);
  return a < 1e-4 ? a * a / 6 : a + log1p(-exp(-2 * a)) - log(2 * a);
}

double hw__mass_evidence(double lambda, double h, double lo, double hi) {
  if (!(hi > lo)) {
    return h * lo - 0.5 * lambda * lo * lo;
  }
  const double root = sqrt(lambda);
  if (root * (hi - lo) < narrow) {
    const double middle = 0.5 * (lo + hi), half = 0.5 * (hi - lo);
    return h * middle - 0.5 * lambda * middle * middle + log(2 * half) + log_sinh_ratio((h - lambda * middle) * half);
  }
  const double mu = h / lambda;
  double near = (lo - mu) * root, far = (hi - mu) * root;
  double log_mass;
  if (near > 0 || far < 0) { /* all of the box lies in one tail */
    if (far < 0) {
      const double swap = -far;
      far = -near;
      near = swap;
    }
    const double log_near = hw__log_upper_tail(near);
    log_mass = log_near + log1p(-exp(hw__log_upper_tail(far) - log_near));
  } else {
    log_mass = log1p(-0.5 * erfc(-near / M_SQRT2) - 0.5 * erfc(far / M_SQRT2));
  }
  return 0.5 * h * mu + 0.5 * log(2 * M_PI / lambda) + log_mass;
}

/* Quantile of a density proportional to e^(k s) on [0, span]. */
static double exponential_quantile(double k, double span, double u) {
  const double x = k * span;
  if (fabs(x) < 1e-6) {
    return u * span;
  }
  return x > 0 ? span + log(u + (1 - u) * exp(-x)) / k : log1p(-u * -expm1(x)) / k;
}

static double clamp(double x, double lo, double hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

double hw__mass_quantile(double lambda, double h, double lo, double hi, double u) {
  const double root = sqrt(lambda), span = hi - lo;
  if (!(span > 0)) {
    return lo;
  }
  if (root * span < narrow) {
    return clamp(lo + exponential_quantile(h - lambda * 0.5 * (lo + hi), span, u), lo, hi);
  }
  const double mu = h / lambda, a = (lo - mu) * root, b = (hi - mu) * root;
  if (a > 30) { /* so far out the tail is exponential */
    return clamp(lo + exponential_quantile(-a * root, span, u), lo, hi);
  }
  if (b < -30) {
    return clamp(lo + exponential_quantile(-b * root, span, u), lo, hi);
  }
  double z;
  if (a > 0) {
    const double upper = gsl_cdf_ugaussian_Q(a);
    z = gsl_cdf_ugaussian_Qinv(upper - u * (upper - gsl_cdf_ugaussian_Q(b)));
  } else {
    const double lower = gsl_cdf_ugaussian_P(a);
    z = gsl_cdf_ugaussian_Pinv(lower + u * (gsl_cdf_ugaussian_P(b) - lower));
  }
  return clamp(mu + z / root, lo, hi);
}

#include "posterior/gain.h"

#include <math.h>

#include "core/normal.h"

/* A pulse that lies further than this (chi-square) from what the gain allows is not looked at: the sensor may be wrong.
 */
static const double too_far = 40;
/* The density drawn from is a little wider than the product of the Gaussians. */
static const double wider = 1.15;

double hw__draw_gain(const hw__fit *fit, const double y[HW__PULSE_SIZE], double sd, hw_rng *rng, double *ln_gain) {
  const hw__quadratic *q = &fit->near;
  double precision = 1 / (sd * sd), middle = 0, chi = INFINITY;
  if (fit->seen) {
    double pull = q->slope[HW__LN_AREA];
    for (size_t a = 0; a < q->size; a++) {
      pull += q->curvature[HW__LN_AREA][a] * (q->at[a] - y[a]);
    }
    precision += q->curvature[HW__LN_AREA][HW__LN_AREA];
    middle = pull / precision;
    chi = middle * middle / (sd * sd);
    for (size_t a = 0; a < q->size; a++) {
      const double off = q->at[a] - y[a] - (a == HW__LN_AREA ? middle : 0);
      chi += 2 * q->slope[a] * off;
      for (size_t b = 0; b < q->size; b++) {
        chi += off * q->curvature[a][b] * (q->at[b] - y[b] - (b == HW__LN_AREA ? middle : 0));
      }
    }
  }
  const double z = hw__normal(rng);
  if (!(chi < too_far)) { /* from the prior itself */
    *ln_gain = sd * z;
    return 0;
  }
  *ln_gain = middle + wider * z / sqrt(precision);
  const double off = *ln_gain / sd;
  return 0.5 * (z * z - off * off - log(precision)) + log(wider / sd);
}

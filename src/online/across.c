#include "online/across.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "loss/box.h"

void hw__across_add(hw__across *across, const hw_source *x) {
  double v[3];
  hw__source_to(x, v);
  across->count++;
  for (int j = 0; j < 3; j++) {
    const double before = v[j] - across->mean[j];
    across->mean[j] += before / (double)across->count;
    across->square[j] += before * (v[j] - across->mean[j]);
  }
}

bool hw__across_interval(const hw__across *across, double level, hw_box *out) {
  if (across->count < 2) {
    return false;
  }
  const double m = (double)across->count;
  const double t = gsl_cdf_tdist_Pinv(0.5 + 0.5 * level, m - 1);
  double lo[3], hi[3];
  for (int j = 0; j < 3; j++) {
    const double half = t * sqrt(across->square[j] / (m - 1) / m);
    lo[j] = across->mean[j] - half;
    hi[j] = across->mean[j] + half;
  }
  out->lo = hw__source_from(lo);
  out->hi = hw__source_from(hi);
  return true;
}

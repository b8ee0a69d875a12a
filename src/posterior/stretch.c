#include "posterior/stretch.h"

#include <math.h>

void hw__stretch_pulse(const hw__stretch *s, double travel, double variance, double y[HW__PULSE_SIZE]) {
  const double whole = variance + s->duration * s->duration / 12;
  y[HW__PASSAGE] = s->release_s + travel + 0.5 * s->duration;
  y[HW__LN_VARIANCE] = log(whole);
  y[HW__LN_AREA] = s->ln_area;
  y[HW__LN_SKEW] = 0.5 * log(variance) - log(travel) - s->shape;
  y[HW__LN_SHARE] = log(variance / whole);
}

void hw__stretch_predict(const hw__stretch *s, const double n[HW__STEP], double *travel, double *variance,
                         double y[HW__PULSE_SIZE]) {
  *travel = s->travel_before + s->travel * exp(-n[HW__STEP_V]);
  *variance = s->variance_before + s->variance * exp(n[HW__STEP_D] - 3 * n[HW__STEP_V]);
  hw__stretch_pulse(s, *travel, *variance, y);
  y[HW__LN_AREA] += n[HW__STEP_GAIN];
}

void hw__stretch_begin(const hw__fit *fit, const hw__stretch *s, const hw__step_prior *prior, double n[HW__STEP]) {
  const double seen = fit->near.at[HW__PASSAGE] - 0.5 * s->duration;
  const double took = seen - s->release_s - s->travel_before, most = 4 * prior->sd[HW__STEP_V];
  if (prior->sd[HW__STEP_V] > 0 && took > 0) {
    n[HW__STEP_V] = prior->mean[HW__STEP_V] + fmin(fmax(log(s->travel / took) - prior->mean[HW__STEP_V], -most), most);
  }
}

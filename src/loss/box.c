#include "loss/box.h"

#include <math.h>

void hw__source_to(const hw_source *x, double v[3]) {
  v[0] = x->mass_g;
  v[1] = x->location_m;
  v[2] = x->time_s;
}

hw_source hw__source_from(const double v[3]) {
  return (hw_source){v[0], v[1], v[2]};
}

bool hw__source_finite(const hw_source *x) {
  return isfinite(x->mass_g) && isfinite(x->location_m) && isfinite(x->time_s);
}

void hw__box_widths(const hw_box *box, double width[3]) {
  width[0] = box->hi.mass_g - box->lo.mass_g;
  width[1] = box->hi.location_m - box->lo.location_m;
  width[2] = box->hi.time_s - box->lo.time_s;
}

hw_source hw__box_centre(const hw_box *box) {
  return (hw_source){0.5 * (box->lo.mass_g + box->hi.mass_g), 0.5 * (box->lo.location_m + box->hi.location_m),
                     0.5 * (box->lo.time_s + box->hi.time_s)};
}

static double clamp(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

hw_source hw__box_clamp(const hw_box *box, const hw_source *x) {
  return (hw_source){clamp(x->mass_g, box->lo.mass_g, box->hi.mass_g),
                     clamp(x->location_m, box->lo.location_m, box->hi.location_m),
                     clamp(x->time_s, box->lo.time_s, box->hi.time_s)};
}

hw_source hw__box_draw(const hw_box *box, hw_rng *rng) {
  double width[3], x[3];
  hw__box_widths(box, width);
  hw__source_to(&box->lo, x);
  for (int j = 0; j < 3; j++) {
    x[j] += width[j] * hw_rng_uniform(rng);
  }
  return hw__source_from(x);
}

void hw__box_projected_gradient(const hw_box *box, const hw_source *x, const double gradient[3], const double eta[3],
                                double out[3]) {
  double at[3], moved[3];
  hw__source_to(x, at);
  for (int j = 0; j < 3; j++) {
    moved[j] = at[j] - eta[j] * gradient[j];
  }
  const hw_source free_point = hw__source_from(moved);
  const hw_source inside = hw__box_clamp(box, &free_point);
  hw__source_to(&inside, moved);
  for (int j = 0; j < 3; j++) {
    out[j] = eta[j] > 0 ? (at[j] - moved[j]) / eta[j] : 0;
  }
}

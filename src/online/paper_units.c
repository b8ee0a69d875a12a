#include "online/paper_units.h"

#include <math.h>

#include "loss/box.h"
#include "loss/lipschitz.h"

const double hw__paper_minute_s = 60, hw__paper_loss_scale = 1e6;

static hw_source to_si(const double x[3]) {
  return (hw_source){x[0], x[1], x[2] * hw__paper_minute_s};
}

hw__paper hw__paper_begin(const hw__learner *learner, hw__path *path, double x[3]) {
  hw__paper p = {learner, path, learner->box};
  p.box.lo.time_s /= hw__paper_minute_s;
  p.box.hi.time_s /= hw__paper_minute_s;
  hw__source_to(&path->x, x);
  x[2] /= hw__paper_minute_s;
  return p;
}

void hw__paper_end(const hw__paper *p, const double x[3], hw_stop stop) {
  const hw_source end = to_si(x);
  if (hw__source_finite(&end)) {
    p->path->x = hw__box_clamp(&p->learner->box, &end);
  } else {
    stop = HW_STOP_NONFINITE;
  }
  p->path->stop = stop;
}

double hw__paper_loss(const hw__paper *p, const double x[3]) {
  const hw_source si = to_si(x);
  return hw__paper_loss_scale * hw__misfit_value(&p->path->misfit, p->learner->packed, &si);
}

void hw__paper_gradient(const hw__paper *p, const double x[3], double g[3]) {
  const hw_source si = to_si(x);
  hw__slope s;
  hw__misfit_slope(&p->path->misfit, p->learner->packed, &si, &s);
  g[0] = hw__paper_loss_scale * s.gradient[0];
  g[1] = hw__paper_loss_scale * s.gradient[1];
  g[2] = hw__paper_loss_scale * s.gradient[2] * hw__paper_minute_s;
}

void hw__paper_projected(const hw__paper *p, const double x[3], const double g[3], const double eta[3], double out[3]) {
  const hw_source at = hw__source_from(x);
  hw__box_projected_gradient(&p->box, &at, g, eta, out);
}

void hw__paper_measure(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, bool curvature,
                       hw__steepness *out) {
  const double unit[3] = {1, 1, hw__paper_minute_s};
  *out = (hw__steepness){{0}, 0, 0};
  hw__lipschitz_slopes(misfit, packed, box, HW__PAPER_GRID, out->slope);
  for (int j = 0; j < 3; j++) {
    out->slope[j] *= hw__paper_loss_scale * unit[j];
  }
  if (curvature) {
    hw__lipschitz_curvature(misfit, packed, box, HW__PAPER_GRID, unit, hw__paper_loss_scale, &out->smoothness,
                            &out->hessian);
  }
}

bool hw__paper_move(double x[3], const double step[3], const double direction[3]) {
  double moved[3];
  for (int j = 0; j < 3; j++) {
    moved[j] = x[j] - step[j] * direction[j];
    if (!isfinite(moved[j])) {
      return false;
    }
  }
  for (int j = 0; j < 3; j++) {
    x[j] = moved[j];
  }
  return true;
}

double hw__norm(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double hw__norm_of_product(const double a[3], const double b[3]) {
  const double v[3] = {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
  return hw__norm(v);
}

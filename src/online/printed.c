#include "online/printed.h"

#include <math.h>

#include "loss/box.h"
#include "loss/lipschitz.h"
#include "online/perturb.h"

/* The paper's settings: Section 5 and Table 1. */
static const double tau = 0.5, beta_plain = 8e-6, beta_perturbed = 2e-6, tgd_step = 10;
static const double failure_probability = 0.1, jin_c = 1; /* epsilon and c of Algorithm 5; the paper names no values */
enum { GRID = 5, MOST_BACKTRACKS = 60 };

static const double minute_s = 60, loss_scale = 1e6; /* (g/m3)^2 to (microgram/l)^2 */

/* The window's loss in the paper's units; coordinates are double[3] in gram, metre, minute. */
typedef struct {
  const hw__learner *learner;
  hw__path *path;
  hw_box box; /* its times are minutes */
} paper;

static hw_source to_si(const double x[3]) {
  return (hw_source){x[0], x[1], x[2] * minute_s};
}

static paper in_paper_units(const hw__learner *learner, hw__path *path, double x[3]) {
  paper p = {learner, path, learner->box};
  p.box.lo.time_s /= minute_s;
  p.box.hi.time_s /= minute_s;
  hw__source_to(&path->x, x);
  x[2] /= minute_s;
  return p;
}

static double loss(const paper *p, const double x[3]) {
  const hw_source si = to_si(x);
  return loss_scale * hw__misfit_value(&p->path->misfit, p->learner->view, &si);
}

static void gradient(const paper *p, const double x[3], double g[3]) {
  const hw_source si = to_si(x);
  hw__slope s;
  hw__misfit_slope(&p->path->misfit, p->learner->view, &si, &s);
  g[0] = loss_scale * s.gradient[0];
  g[1] = loss_scale * s.gradient[1];
  g[2] = loss_scale * s.gradient[2] * minute_s;
}

static double norm(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double norm_of_product(const double a[3], const double b[3]) {
  const double v[3] = {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
  return norm(v);
}

static void projected(const paper *p, const double x[3], const double g[3], const double eta[3], double out[3]) {
  const hw_source at = hw__source_from(x);
  hw__box_projected_gradient(&p->box, &at, g, eta, out);
}

/* x - step o direction; false, and x as it was, when that is not finite. */
static bool move(double x[3], const double step[3], const double direction[3]) {
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

static void finish(const paper *p, const double x[3], hw_stop stop) {
  const hw_source end = to_si(x);
  if (hw__source_finite(&end)) {
    p->path->x = hw__box_clamp(&p->learner->box, &end);
  } else {
    stop = HW_STOP_NONFINITE;
  }
  p->path->stop = stop;
}

/* Algorithm 3 as its formula has it: steps proportional to the moduli (its text says inversely). */
static void moduli(const paper *p, double kappa[3]) {
  hw__lipschitz_slopes(&p->path->misfit, p->learner->view, &p->learner->box, GRID, kappa);
  kappa[0] *= loss_scale;
  kappa[1] *= loss_scale;
  kappa[2] *= loss_scale * minute_s;
}

static double least(const double v[3]) {
  return fmin(v[0], fmin(v[1], v[2]));
}

static double most(const double v[3]) {
  return fmax(v[0], fmax(v[1], v[2]));
}

/* Condition (i): min eta / max eta^2 far above beta / 2; "far" read as a hundred times. */
static void initial_steps(const paper *p, double beta, double eta[3]) {
  double kappa[3];
  moduli(p, kappa);
  const double scale = most(kappa) > 0 ? least(kappa) / (50 * beta * most(kappa) * most(kappa)) : 0;
  for (int j = 0; j < 3; j++) {
    eta[j] = scale * kappa[j];
  }
}

/* Algorithm 2 as printed: normalised trial, plus beta, step halved until the inequality fails. */
static void line_search(const paper *p, const double x[3], const double g[3], double beta, double eta[3]) {
  const double f = loss(p, x);
  for (int tries = 0; tries < MOST_BACKTRACKS; tries++) {
    double pg[3], trial[3] = {x[0], x[1], x[2]};
    projected(p, x, g, eta, pg);
    const double length = norm(pg);
    if (!(length > 0)) {
      return;
    }
    const double direction[3] = {pg[0] / length, pg[1] / length, pg[2] / length};
    if (!move(trial, eta, direction) || loss(p, trial) <= f + beta * norm_of_product(eta, pg)) {
      return;
    }
    for (int j = 0; j < 3; j++) {
      eta[j] *= tau;
    }
  }
}

void hw__printed_tgd(const hw__learner *learner, hw__path *path) {
  double x[3];
  const paper p = in_paper_units(learner, path, x);
  const double eta[3] = {tgd_step, tgd_step, tgd_step};
  const double tolerance = learner->options.tolerance / (double)learner->options.window;
  for (size_t i = 0; i < learner->options.iterations; i++) {
    double g[3], pg[3];
    gradient(&p, x, g);
    projected(&p, x, g, eta, pg);
    if (norm(pg) <= tolerance) {
      finish(&p, x, HW_STOP_GRADIENT);
      return;
    }
    if (!move(x, eta, pg)) {
      finish(&p, x, HW_STOP_NONFINITE);
      return;
    }
  }
  finish(&p, x, HW_STOP_ITERATIONS);
}

/* Algorithms 1 and 7 differ in when the line search runs: before every step, or once per reading. */
static void descend(const hw__learner *learner, hw__path *path, bool search_every_step) {
  double x[3], eta[3];
  const paper p = in_paper_units(learner, path, x);
  initial_steps(&p, beta_plain, eta);
  for (size_t i = 0; i < learner->options.iterations; i++) {
    double g[3], pg[3];
    gradient(&p, x, g);
    if (i == 0 && !search_every_step) {
      line_search(&p, x, g, beta_plain, eta);
    }
    projected(&p, x, g, eta, pg);
    if (!(norm(pg) > learner->options.tolerance)) {
      finish(&p, x, HW_STOP_GRADIENT);
      return;
    }
    if (search_every_step) {
      line_search(&p, x, g, beta_plain, eta);
      projected(&p, x, g, eta, pg);
    }
    if (!move(x, eta, pg)) {
      finish(&p, x, HW_STOP_NONFINITE);
      return;
    }
  }
  finish(&p, x, HW_STOP_ITERATIONS);
}

void hw__printed_atgd(const hw__learner *learner, hw__path *path) {
  descend(learner, path, true);
}

void hw__printed_mtgd(const hw__learner *learner, hw__path *path) {
  descend(learner, path, false);
}

bool hw__printed_constants(hw__misfit *misfit, const hw__view *view, const hw_box *box, double delta, double loss_at,
                           hw__jin_constants *out) {
  static const double unit[3] = {1, 1, minute_s};
  double smoothness, hessian;
  hw__lipschitz_curvature(misfit, view, box, GRID, unit, loss_scale, &smoothness, &hessian);
  if (!(smoothness > 0) || !(hessian > 0)) {
    return false;
  }
  const double inside = 3 * smoothness * loss_at / (jin_c * delta * delta * failure_probability);
  const double chi = 3 * fmax(inside > 0 ? log(inside) : 0, 4);
  *out = (hw__jin_constants){.smoothness = smoothness,
                             .chi = chi,
                             .radius = sqrt(jin_c) / (chi * chi) * delta / smoothness,
                             .gradient_threshold = sqrt(jin_c) / (chi * chi) * delta,
                             .loss_threshold = jin_c / (chi * chi * chi) * sqrt(delta * delta * delta / hessian),
                             .time_threshold = ceil(chi / (jin_c * jin_c) * smoothness / sqrt(hessian * delta))};
  return true;
}

/* Algorithms 5 and 8. Each pass of the t-loop begins by setting x back, so no pass gets further than one step,
 * and the loop ends only at the cap (or, when the first gradient is small already, at t_thres). */
static void perturbed(const hw__learner *learner, hw__path *path, bool use_gradient_threshold) {
  double start[3], kappa[3];
  hw__jin_constants c;
  const paper p = in_paper_units(learner, path, start);
  moduli(&p, kappa);
  if (!hw__printed_constants(&path->misfit, learner->view, &learner->box, learner->options.tolerance, loss(&p, start),
                             &c) ||
      !(most(kappa) > 0)) {
    path->stop = HW_STOP_GRADIENT; /* a flat loss: nothing to do and nothing to divide by */
    return;
  }
  const double small = use_gradient_threshold ? c.gradient_threshold : learner->options.tolerance;
  double noise_time = -c.time_threshold - 1;
  double x[3] = {start[0], start[1], start[2]};
  for (size_t t = 0; t < learner->options.iterations; t++) {
    double eta[3], g[3], pg[3];
    for (int j = 0; j < 3; j++) {
      x[j] = start[j];
      eta[j] = jin_c / c.smoothness * kappa[j] / most(kappa);
    }
    gradient(&p, x, g);
    line_search(&p, x, g, beta_perturbed, eta);
    projected(&p, x, g, eta, pg);
    if (norm(pg) <= small && (double)t - noise_time > c.time_threshold) {
      double ball[3];
      noise_time = (double)t;
      hw__draw_ball(&path->rng, ball);
      for (int j = 0; j < 3; j++) {
        x[j] += c.radius * ball[j];
      }
      gradient(&p, x, g);
      projected(&p, x, g, eta, pg);
    }
    if ((double)t - noise_time == c.time_threshold && loss(&p, x) - loss(&p, start) > -c.loss_threshold) {
      finish(&p, start, HW_STOP_COMPLETE);
      return;
    }
    if (!move(x, eta, pg)) {
      finish(&p, start, HW_STOP_NONFINITE);
      return;
    }
  }
  finish(&p, x, HW_STOP_ITERATIONS);
}

void hw__printed_aptgd(const hw__learner *learner, hw__path *path) {
  perturbed(learner, path, true);
}

void hw__printed_mptgd(const hw__learner *learner, hw__path *path) {
  perturbed(learner, path, false);
}

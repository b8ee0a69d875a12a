#include "online/printed.h"

#include <math.h>

#include "online/line_search.h"
#include "online/paper_units.h"
#include "online/perturb.h"

/* The paper's settings: Section 5 and Table 1. */
static const double beta_plain = 8e-6, beta_perturbed = 2e-6, tgd_step = 10;
static const double failure_probability = 0.1, jin_c = 1; /* epsilon and c of Algorithm 5; the paper names no values */

static double least(const double v[3]) {
  return fmin(v[0], fmin(v[1], v[2]));
}

static double most(const double v[3]) {
  return fmax(v[0], fmax(v[1], v[2]));
}

static bool is_printed(const hw__learner *learner) {
  return learner->options.variant == HW_PRINTED;
}

/* Algorithm 3's condition (ii), up to a common factor: proportional to the moduli as its formula has it, or inverse to
 * them as its text has it. A coordinate without a slope gets no step. */
static void proportions(const hw__paper *p, double share[3]) {
  const double *slope = p->learner->steepness.slope;
  for (int j = 0; j < 3; j++) {
    share[j] = is_printed(p->learner) ? slope[j] : slope[j] > 0 ? 1 / slope[j] : 0;
  }
}

/* The smallest step that is one. */
static double least_positive(const double v[3]) {
  double found = most(v);
  for (int j = 0; j < 3; j++) {
    found = v[j] > 0 ? fmin(found, v[j]) : found;
  }
  return found;
}

void hw__printed_measure_slopes(hw__learner *learner) {
  hw__paper_measure(&learner->paths[0].misfit, learner->packed, &learner->box, false, &learner->steepness);
}

/* The constants of Algorithm 5 are among its inputs, so what they cost is not counted. */
void hw__printed_measure_curvature(hw__learner *learner) {
  hw__misfit free_of_charge = learner->paths[0].misfit;
  hw__paper_measure(&free_of_charge, learner->packed, &learner->box, true, &learner->steepness);
}

/* Condition (i): min eta / max eta^2 far above beta / 2; "far" read as a hundred times. */
static void initial_steps(const hw__paper *p, double beta, double eta[3]) {
  double share[3];
  proportions(p, share);
  const double smallest = is_printed(p->learner) ? least(share) : least_positive(share);
  const double scale = most(share) > 0 ? smallest / (50 * beta * most(share) * most(share)) : 0;
  for (int j = 0; j < 3; j++) {
    eta[j] = scale * share[j];
  }
}

void hw__printed_tgd(const hw__learner *learner, hw__path *path) {
  double x[3];
  const hw__paper p = hw__paper_begin(learner, path, x);
  const double eta[3] = {tgd_step, tgd_step, tgd_step};
  const double tolerance = learner->options.tolerance / (double)learner->options.window;
  for (size_t i = 0; i < learner->options.iterations; i++) {
    double g[3], pg[3];
    hw__paper_gradient(&p, x, g);
    hw__paper_projected(&p, x, g, eta, pg);
    if (hw__norm(pg) <= tolerance) {
      hw__paper_end(&p, x, HW_STOP_GRADIENT);
      return;
    }
    if (!hw__paper_move(x, eta, pg)) {
      hw__paper_end(&p, x, HW_STOP_NONFINITE);
      return;
    }
  }
  hw__paper_end(&p, x, HW_STOP_ITERATIONS);
}

/* Algorithms 1 and 7 differ in when the line search runs: before every step, or once per reading. */
static void descend(const hw__learner *learner, hw__path *path, bool search_every_step) {
  double x[3], eta[3];
  const hw__paper p = hw__paper_begin(learner, path, x);
  initial_steps(&p, beta_plain, eta);
  for (size_t i = 0; i < learner->options.iterations; i++) {
    double g[3], pg[3];
    bool found = true;
    hw__paper_gradient(&p, x, g);
    if (i == 0 && !search_every_step) {
      found = hw__line_search(&p, x, g, beta_plain, eta);
    }
    hw__paper_projected(&p, x, g, eta, pg);
    if (!(hw__norm(pg) > learner->options.tolerance)) {
      hw__paper_end(&p, x, HW_STOP_GRADIENT);
      return;
    }
    if (search_every_step) {
      found = hw__line_search(&p, x, g, beta_plain, eta);
      hw__paper_projected(&p, x, g, eta, pg);
    }
    if (!found) {
      hw__paper_end(&p, x, HW_STOP_BACKTRACKS);
      return;
    }
    if (!hw__paper_move(x, eta, pg)) {
      hw__paper_end(&p, x, HW_STOP_NONFINITE);
      return;
    }
  }
  hw__paper_end(&p, x, HW_STOP_ITERATIONS);
}

void hw__printed_atgd(const hw__learner *learner, hw__path *path) {
  descend(learner, path, true);
}

void hw__printed_mtgd(const hw__learner *learner, hw__path *path) {
  descend(learner, path, false);
}

bool hw__printed_constants(const hw__steepness *steepness, double delta, double loss_at, hw__jin_constants *out) {
  const double smoothness = steepness->smoothness, hessian = steepness->hessian;
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

/* Corrected, a quarter of the iterations there are is waited at most: the printed 3.7e5 would never be seen to pass. */
static double waiting_time(const hw__learner *learner, const hw__jin_constants *c) {
  return is_printed(learner) ? c->time_threshold
                             : fmin(c->time_threshold, ceil((double)learner->options.iterations / 4));
}

/* As printed a pass of the t-loop that did not perturb is repeated by all that follow, up to the one at t_thres: they
 * are not computed again, but counted as what the text asks for. The number of passes to leave out after pass t. */
static size_t repeated_passes(const hw__learner *learner, size_t t, double noise_time, double waiting) {
  const double end = fmin((double)learner->options.iterations, noise_time + waiting);
  return is_printed(learner) && noise_time < (double)t && end > (double)t + 1 ? (size_t)(end - (double)t) - 1 : 0;
}

/* Algorithms 5 and 8. As printed each pass of the t-loop begins by setting x back, so no pass gets further than one
 * step, and the loop ends only at the cap (or, when the first gradient is small already, at t_thres). */
static void perturbed(const hw__learner *learner, hw__path *path, bool use_gradient_threshold) {
  double start[3], share[3];
  hw__jin_constants c;
  const hw__paper p = hw__paper_begin(learner, path, start);
  proportions(&p, share);
  if (!hw__printed_constants(&learner->steepness, learner->options.tolerance, hw__paper_loss(&p, start), &c) ||
      !(most(share) > 0)) {
    path->stop = HW_STOP_GRADIENT; /* a flat loss: nothing to do and nothing to divide by */
    return;
  }
  const double small = use_gradient_threshold ? c.gradient_threshold : learner->options.tolerance;
  const double waiting = waiting_time(learner, &c);
  double noise_time = -waiting - 1;
  double x[3] = {start[0], start[1], start[2]}, home[3] = {start[0], start[1], start[2]};
  for (size_t t = 0; t < learner->options.iterations; t++) {
    double eta[3], g[3], pg[3];
    const hw__misfit before = path->misfit;
    for (int j = 0; j < 3; j++) {
      x[j] = is_printed(learner) ? start[j] : x[j];
      eta[j] = jin_c / c.smoothness * share[j] / most(share);
    }
    hw__paper_gradient(&p, x, g);
    hw__line_search(&p, x, g, beta_perturbed, eta);
    hw__paper_projected(&p, x, g, eta, pg);
    if (hw__norm(pg) <= small && (double)t - noise_time > waiting) {
      double ball[3];
      noise_time = (double)t;
      hw__draw_ball(&path->rng, ball);
      for (int j = 0; j < 3; j++) {
        home[j] = x[j];
        x[j] += c.radius * ball[j];
      }
      hw__paper_gradient(&p, x, g);
      hw__paper_projected(&p, x, g, eta, pg);
    }
    if ((double)t - noise_time == waiting && hw__paper_loss(&p, x) - hw__paper_loss(&p, home) > -c.loss_threshold) {
      hw__paper_end(&p, home, HW_STOP_COMPLETE);
      return;
    }
    if (!hw__paper_move(x, eta, pg)) {
      hw__paper_end(&p, home, HW_STOP_NONFINITE);
      return;
    }
    const size_t repeated = repeated_passes(learner, t, noise_time, waiting);
    path->misfit.model_evaluations += repeated * (path->misfit.model_evaluations - before.model_evaluations);
    path->misfit.gradient_evaluations += repeated * (path->misfit.gradient_evaluations - before.gradient_evaluations);
    t += repeated;
  }
  hw__paper_end(&p, x, HW_STOP_ITERATIONS);
}

void hw__printed_aptgd(const hw__learner *learner, hw__path *path) {
  perturbed(learner, path, true);
}

void hw__printed_mptgd(const hw__learner *learner, hw__path *path) {
  perturbed(learner, path, false);
}

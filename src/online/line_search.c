#include "online/line_search.h"

#include <math.h>

static const double tau = 0.5, usual_armijo = 1e-4;
enum { MOST_BACKTRACKS = 60, GOLDEN_STEPS = 40 };

static void scale(double eta[3], double by) {
  for (int j = 0; j < 3; j++) {
    eta[j] *= by;
  }
}

/* Algorithm 2 to the letter: the trial takes the normalised gradient, the step afterwards the raw one, and with + beta
 * a loss that grows is accepted. */
static bool printed(const hw__paper *p, const double x[3], const double g[3], double beta, double eta[3]) {
  const double f = hw__paper_loss(p, x);
  for (int tries = 0; tries < MOST_BACKTRACKS; tries++) {
    double pg[3], trial[3] = {x[0], x[1], x[2]};
    hw__paper_projected(p, x, g, eta, pg);
    const double length = hw__norm(pg);
    if (!(length > 0)) {
      return true;
    }
    const double direction[3] = {pg[0] / length, pg[1] / length, pg[2] / length};
    if (!hw__paper_move(trial, eta, direction) || hw__paper_loss(p, trial) <= f + beta * hw__norm_of_product(eta, pg)) {
      return true;
    }
    scale(eta, tau);
  }
  return true; /* the text knows no other end */
}

/* What a step must bring, by rule: beta times its length (Algorithm 2 with the sign mended), a share of what the
 * gradient promises (Armijo), or anything at all. */
static double asked_for(hw_line_search rule, double beta, const double eta[3], const double g[3], const double pg[3]) {
  if (rule == HW_SEARCH_GENERIC) {
    return 0;
  }
  if (rule == HW_SEARCH_ALGORITHM_2) {
    return beta * hw__norm_of_product(eta, pg);
  }
  return usual_armijo * (g[0] * eta[0] * pg[0] + g[1] * eta[1] * pg[1] + g[2] * eta[2] * pg[2]);
}

/* Tried is what will be stepped: x - eta o projected gradient, which lies in the box. */
static bool backtrack(const hw__paper *p, const double x[3], const double g[3], double beta, hw_line_search rule,
                      double eta[3]) {
  const double f = hw__paper_loss(p, x);
  for (int tries = 0; tries < MOST_BACKTRACKS; tries++) {
    double pg[3], trial[3] = {x[0], x[1], x[2]};
    hw__paper_projected(p, x, g, eta, pg);
    if (!(hw__norm(pg) > 0)) {
      return true;
    }
    if (hw__paper_move(trial, eta, pg) && hw__paper_loss(p, trial) < f - asked_for(rule, beta, eta, g, pg)) {
      return true;
    }
    scale(eta, tau);
  }
  return false;
}

static double loss_after(const hw__paper *p, const double x[3], const double g[3], const double eta[3], double share) {
  double shorter[3] = {eta[0], eta[1], eta[2]}, pg[3], trial[3] = {x[0], x[1], x[2]};
  scale(shorter, share);
  hw__paper_projected(p, x, g, shorter, pg);
  return hw__paper_move(trial, shorter, pg) ? hw__paper_loss(p, trial) : INFINITY;
}

/* The least loss along the step, by golden section over the step's logarithm: it may have to shrink by many orders. */
static bool exact(const hw__paper *p, const double x[3], const double g[3], double eta[3]) {
  const double golden = 0.6180339887498949;
  double lo = MOST_BACKTRACKS * log(tau), hi = 0;
  double left = hi - golden * (hi - lo), right = lo + golden * (hi - lo);
  double at_left = loss_after(p, x, g, eta, exp(left)), at_right = loss_after(p, x, g, eta, exp(right));
  for (int i = 0; i < GOLDEN_STEPS; i++) {
    if (at_left <= at_right) {
      hi = right;
      right = left;
      at_right = at_left;
      left = hi - golden * (hi - lo);
      at_left = loss_after(p, x, g, eta, exp(left));
    } else {
      lo = left;
      left = right;
      at_left = at_right;
      right = lo + golden * (hi - lo);
      at_right = loss_after(p, x, g, eta, exp(right));
    }
  }
  scale(eta, exp(0.5 * (lo + hi)));
  return loss_after(p, x, g, eta, 1) < hw__paper_loss(p, x);
}

bool hw__line_search(const hw__paper *p, const double x[3], const double g[3], double beta, double eta[3]) {
  const hw_options *o = &p->learner->options;
  switch (o->line_search) {
    case HW_SEARCH_CONSTANT:
      return true;
    case HW_SEARCH_EXACT:
      return exact(p, x, g, eta);
    case HW_SEARCH_ALGORITHM_2:
      if (o->variant == HW_PRINTED) {
        return printed(p, x, g, beta, eta);
      }
      break;
    default:
      break;
  }
  return backtrack(p, x, g, beta, o->line_search, eta);
}

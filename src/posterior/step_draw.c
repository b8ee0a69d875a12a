#include "posterior/step_draw.h"

#include <math.h>

/* Lower Cholesky factor of a positive matrix over the free rows. */
static bool root_of(double m[HW__STEP][HW__STEP], double root[HW__STEP][HW__STEP], size_t n) {
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b <= a; b++) {
      double sum = m[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= root[a][k] * root[b][k];
      }
      if (a == b && !(sum > 0)) {
        return false;
      }
      root[a][b] = a == b ? sqrt(sum) : sum / root[b][b];
    }
  }
  return true;
}

static void solve(double root[HW__STEP][HW__STEP], size_t n, double *b) {
  for (size_t a = 0; a < n; a++) {
    for (size_t k = 0; k < a; k++) {
      b[a] -= root[a][k] * b[k];
    }
    b[a] /= root[a][a];
  }
  for (size_t a = n; a-- > 0;) {
    for (size_t k = a + 1; k < n; k++) {
      b[a] -= root[k][a] * b[k];
    }
    b[a] /= root[a][a];
  }
}

/* A pulse that lies further than this (chi-square, three degrees of freedom) from what the step allows is not looked
 * at: the sensor may be wrong. */
static const double too_far = 40;
/* The density drawn from is a little wider than the product of the Gaussians. */
static const double wider = 1.15;

/* A Gaussian of the free parts of a step. */
typedef struct {
  size_t count, part[HW__STEP];
  double root[HW__STEP][HW__STEP]; /* of its precision, lower */
} step_density;

/* Precision and pull at n: the station's own pulse against the curve there, and the prior. Returned: their chi-square.
 */
static double pull_at(const hw__fit *fit, const hw__stretch *s, const hw__step_prior *prior, const double n[HW__STEP],
                      step_density *d, double rhs[HW__STEP]) {
  const hw__quadratic *q = &fit->near;
  double travel, variance, y[HW__PULSE_SIZE], m[HW__STEP][HW__STEP] = {{0}}, pull[HW__PULSE_SIZE], chi = 0;
  hw__stretch_predict(s, n, &travel, &variance, y);
  const double share = 1 - s->variance_before / variance, took = travel - s->travel_before;
  const double whole = share * exp(y[HW__LN_SHARE]), other = share - whole;
  const double slope[HW__PULSE_SIZE][HW__STEP] = {{-took, 0, 0},
                                                  {-3 * whole, whole, 0},
                                                  {0, 0, 1},
                                                  {-1.5 * share + took / travel, 0.5 * share, 0},
                                                  {-3 * other, other, 0}};
  for (size_t a = 0; a < q->size; a++) {
    pull[a] = q->slope[a];
    for (size_t b = 0; b < q->size; b++) {
      pull[a] += q->curvature[a][b] * (q->at[b] - y[b]);
    }
    chi += (pull[a] + q->slope[a]) * (q->at[a] - y[a]);
  }
  for (size_t i = 0; i < d->count; i++) {
    const size_t k = d->part[i];
    const double per_sd2 = 1 / (prior->sd[k] * prior->sd[k]), away = n[k] - prior->mean[k];
    rhs[i] = -away * per_sd2;
    chi += away * away * per_sd2;
    m[i][i] += per_sd2;
    for (size_t a = 0; a < q->size; a++) {
      rhs[i] += slope[a][k] * pull[a];
      for (size_t b = 0; b < q->size; b++) {
        for (size_t j = 0; j <= i; j++) {
          m[i][j] += slope[a][k] * q->curvature[a][b] * slope[b][d->part[j]];
        }
      }
    }
  }
  return root_of(m, d->root, d->count) ? chi : INFINITY;
}

double hw__draw_step(const hw__fit *fit, const hw__stretch *s, const hw__step_prior *prior, hw_rng *rng,
                     double n[HW__STEP]) {
  step_density d = {0};
  for (size_t k = 0; k < HW__STEP; k++) {
    n[k] = prior->mean[k];
    if (prior->sd[k] > 0) {
      d.part[d.count++] = k;
    }
  }
  if (d.count == 0) {
    return 0;
  }
  double chi = INFINITY, rhs[HW__STEP];
  if (fit->seen) {
    hw__stretch_begin(fit, s, prior, n);
    for (int round = 0; round < 3; round++) { /* Gauss and Newton */
      chi = pull_at(fit, s, prior, n, &d, rhs);
      if (round == 2 || !isfinite(chi)) {
        break;
      }
      solve(d.root, d.count, rhs);
      for (size_t i = 0; i < d.count; i++) {
        n[d.part[i]] += rhs[i];
      }
    }
  }
  double z[HW__STEP], drawn[HW__STEP] = {0}, ratio = 0;
  for (size_t i = 0; i < d.count; i++) {
    z[i] = hw_rng_normal(rng);
  }
  if (!(chi < too_far)) { /* from the prior itself */
    for (size_t i = 0; i < d.count; i++) {
      n[d.part[i]] = prior->mean[d.part[i]] + prior->sd[d.part[i]] * z[i];
    }
    return 0;
  }
  for (size_t a = d.count; a-- > 0;) { /* root^T drawn = z */
    double sum = z[a] * wider;
    for (size_t k = a + 1; k < d.count; k++) {
      sum -= d.root[k][a] * drawn[k];
    }
    drawn[a] = sum / d.root[a][a];
    ratio += 0.5 * z[a] * z[a] - log(d.root[a][a] / wider);
  }
  for (size_t i = 0; i < d.count; i++) {
    const size_t k = d.part[i];
    n[k] += drawn[i];
    const double off = (n[k] - prior->mean[k]) / prior->sd[k];
    ratio += -0.5 * off * off - log(prior->sd[k]);
  }
  return ratio;
}

#include "posterior/filter.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

hw__plume hw__filter_advance(const hw__plume *from, const hw__stretch *s, const hw__step_prior *prior,
                             const double carry[2], const double about[2]) {
  const double took = s->travel * exp(-about[0]), spread = s->variance * exp(about[1] - 3 * about[0]);
  const double mean[2] = {prior->mean[HW__STEP_V], prior->mean[HW__STEP_D]}, faster = mean[0] - about[0];
  const double more = mean[1] - about[1] - 3 * faster; /* far from `about` the line would cross zero */
  hw__plume to = {.mean = {from->mean[HW__TRAVEL] + took * fmax(1 - faster, 0.1),
                           from->mean[HW__VARIANCE] + spread * fmax(1 + more, 0.1), mean[0], mean[1]}};
  /* Rows: how each part follows from the old state and from the new local factors. */
  const double by_faster[HW__STATE] = {-took, -3 * spread, 1, 0}, by_spreading[HW__STATE] = {0, spread, 0, 1};
  double f[HW__STATE][HW__STATE] = {{0}};
  f[HW__TRAVEL][HW__TRAVEL] = f[HW__VARIANCE][HW__VARIANCE] = 1;
  for (size_t a = 0; a < HW__STATE; a++) {
    f[a][HW__OWN_FASTER] += by_faster[a] * carry[0];
    f[a][HW__OWN_SPREADING] += by_spreading[a] * carry[1];
  }
  double half[HW__STATE][HW__STATE];
  for (size_t a = 0; a < HW__STATE; a++) {
    for (size_t b = 0; b < HW__STATE; b++) {
      half[a][b] = 0;
      for (size_t k = 0; k < HW__STATE; k++) {
        half[a][b] += f[a][k] * from->cov[k][b];
      }
    }
  }
  const double v0 = prior->sd[HW__STEP_V] * prior->sd[HW__STEP_V], v1 = prior->sd[HW__STEP_D] * prior->sd[HW__STEP_D];
  for (size_t a = 0; a < HW__STATE; a++) {
    for (size_t b = 0; b < HW__STATE; b++) {
      to.cov[a][b] = v0 * by_faster[a] * by_faster[b] + v1 * by_spreading[a] * by_spreading[b];
      for (size_t k = 0; k < HW__STATE; k++) {
        to.cov[a][b] += half[a][k] * f[b][k];
      }
    }
  }
  return to;
}

/* Solves (I + J P) x = right, in place, and leaves ln det; J and P are of the pulse's size. */
HW__INLINE double solve_joined(size_t n, const double j[HW__PULSE_SIZE][HW__PULSE_SIZE],
                               double p[HW__PULSE_SIZE][HW__PULSE_SIZE],
                               double right[HW__PULSE_SIZE][HW__PULSE_SIZE + 1]) {
  const size_t columns = 2 * n + 1;
  double a[HW__PULSE_SIZE][2 * HW__PULSE_SIZE + 1], log_det = 0;
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      a[r][c] = r == c ? 1 : 0;
      for (size_t k = 0; k < n; k++) {
        a[r][c] += j[r][k] * p[k][c];
      }
    }
    memcpy(&a[r][n], right[r], (n + 1) * sizeof(double));
  }
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; r++) {
      pivot = fabs(a[r][k]) > fabs(a[pivot][k]) ? r : pivot;
    }
    for (size_t c = 0; c < columns && pivot != k; c++) {
      const double kept = a[k][c];
      a[k][c] = a[pivot][c];
      a[pivot][c] = kept;
    }
    log_det += log(fabs(a[k][k]));
    for (size_t r = 0; r < n; r++) {
      const double f = r == k ? 0 : a[r][k] / a[k][k];
      for (size_t c = k; c < columns && r != k; c++) {
        a[r][c] -= f * a[k][c];
      }
    }
  }
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c <= n; c++) {
      right[r][c] = a[r][n + c] / a[r][r];
    }
  }
  return log_det;
}

/* No curve does better than the sensor's own by more than this; where the second order says so, it is no longer right.
 */
static const double beyond = 3;

/* Takes the station's own pulse into the state. With P the covariance expected of the pulse and h the slope of its ln
 * likelihood where it is expected, ln integral = ln likelihood there - ln det(I + J P) / 2 + h' P (I + J P)^-1 h / 2.
 * Returned: that. */
HW__INLINE double take_in_sized(size_t n, const hw__fit *fit, const hw__stretch *s, double gain_sd, double shape_sd,
                                hw__plume *state) {
  const hw__quadratic *q = &fit->near;
  const double variance = fmax(state->mean[HW__VARIANCE], 0.5 * s->variance_before + 1e-6);
  const double travel = fmax(state->mean[HW__TRAVEL], 1e-3);
  /* How the pulse follows from the state: passage, ln variance, ln area, ln skew from travel and variance. */
  const double whole = variance + s->duration * s->duration / 12;
  const double by[HW__PULSE_SIZE][2] = {
      {1, 0}, {0, 1 / whole}, {0, 0}, {-1 / travel, 0.5 / variance}, {0, 1 / variance - 1 / whole}};
  double y[HW__PULSE_SIZE], cross[HW__STATE][HW__PULSE_SIZE], p[HW__PULSE_SIZE][HW__PULSE_SIZE];
  double joint[HW__PULSE_SIZE][HW__PULSE_SIZE + 1], there = q->log_at, h[HW__PULSE_SIZE], gained = 0;
  hw__stretch_pulse(s, travel, variance, y);
  for (size_t a = 0; a < n; a++) {
    h[a] = q->slope[a];
    for (size_t b = 0; b < n; b++) {
      h[a] += q->curvature[a][b] * (q->at[b] - y[b]);
    }
    there -= 0.5 * (h[a] + q->slope[a]) * (q->at[a] - y[a]);
    joint[a][n] = h[a];
  }
  if (!(state->cov[HW__TRAVEL][HW__TRAVEL] > 0) && !(state->cov[HW__VARIANCE][HW__VARIANCE] > 0) && !(gain_sd > 0) &&
      !(shape_sd > 0)) {
    return fmin(there, fit->log_likelihood + beyond); /* nothing is in doubt */
  }
  for (size_t a = 0; a < HW__STATE; a++) {
    for (size_t b = 0; b < n; b++) {
      cross[a][b] = state->cov[a][HW__TRAVEL] * by[b][0] + state->cov[a][HW__VARIANCE] * by[b][1];
    }
  }
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      p[a][b] = by[a][0] * cross[HW__TRAVEL][b] + by[a][1] * cross[HW__VARIANCE][b];
      joint[a][b] = q->curvature[a][b];
    }
  }
  p[HW__LN_AREA][HW__LN_AREA] += gain_sd * gain_sd;
  p[HW__LN_SKEW][HW__LN_SKEW] += shape_sd * shape_sd;
  const double log_det = solve_joined(n, q->curvature, p, joint); /* joint: (I + J P)^-1 J and (I + J P)^-1 h */
  if (!(log_det > -1e-6) || isinf(log_det)) {
    return -INFINITY; /* out of all numbers, and of all reason */
  }
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      gained += h[a] * p[a][b] * joint[b][n];
    }
  }
  hw__plume next = *state;
  for (size_t a = 0; a < HW__STATE; a++) {
    for (size_t b = 0; b < n; b++) {
      next.mean[a] += cross[a][b] * joint[b][n];
    }
    for (size_t b = 0; b < HW__STATE; b++) {
      for (size_t c = 0; c < n; c++) {
        for (size_t e = 0; e < n; e++) {
          next.cov[a][b] -= cross[a][c] * joint[c][e] * cross[b][e];
        }
      }
    }
  }
  *state = next;
  return fmin(there + 0.5 * gained, fit->log_likelihood + beyond) - 0.5 * log_det;
}

/* Written out for either size, for the compiler to unroll. */
double hw__filter_take_in(const hw__fit *fit, const hw__stretch *s, double gain_sd, double shape_sd, hw__plume *state) {
  return fit->near.size == HW__INSTANT_SIZE ? take_in_sized(HW__INSTANT_SIZE, fit, s, gain_sd, shape_sd, state)
                                            : take_in_sized(HW__PULSE_SIZE, fit, s, gain_sd, shape_sd, state);
}

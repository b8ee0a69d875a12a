#include "posterior/mixture.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 6 };
static const double freedom = 6;
/* Members keep this much of the whole sample's covariance, and grow by this factor, so that none shrinks onto a few
 * points. */
static const double kept_of_whole = 0.02, wider = 1.15;
static const double least_share = 0.03;

/* Cholesky, with a floor where a direction has no width. */
static void factorise(size_t dims, double m[HW__DIMENSIONS][HW__DIMENSIONS],
                      double root[HW__DIMENSIONS][HW__DIMENSIONS]) {
  for (size_t a = 0; a < dims; a++) {
    for (size_t b = 0; b <= a; b++) {
      double sum = m[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= root[a][k] * root[b][k];
      }
      root[a][b] = a == b ? sqrt(fmax(sum, 1e-8 * m[a][a] + 1e-24)) : sum / root[b][b];
    }
  }
}

static void set_norm(size_t dims, hw__member *m) {
  const double d = (double)dims;
  m->log_norm = log(m->share) + lgamma(0.5 * (freedom + d)) - lgamma(0.5 * freedom) - 0.5 * d * log(freedom * M_PI);
  for (size_t a = 0; a < dims; a++) {
    m->log_norm -= log(m->root[a][a]);
  }
}

/* Squared distance of x from a member, in its own scale. */
static double distance2(const hw__member *m, size_t dims, const double *x) {
  double solved[HW__DIMENSIONS], sum = 0;
  for (size_t a = 0; a < dims; a++) {
    double rest = x[a] - m->mean[a];
    for (size_t b = 0; b < a; b++) {
      rest -= m->root[a][b] * solved[b];
    }
    solved[a] = rest / m->root[a][a];
    sum += solved[a] * solved[a];
  }
  return sum;
}

static double member_log_density(const hw__member *m, size_t dims, const double *x) {
  return m->log_norm - 0.5 * (freedom + (double)dims) * log1p(distance2(m, dims, x) / freedom);
}

double hw__mixture_log_density(const hw__mixture *mixture, const double *x) {
  double part[HW__MEMBERS], most = -INFINITY, sum = 0;
  for (size_t k = 0; k < mixture->count; k++) {
    part[k] = member_log_density(&mixture->member[k], mixture->dims, x);
    most = fmax(most, part[k]);
  }
  for (size_t k = 0; k < mixture->count; k++) {
    sum += exp(part[k] - most);
  }
  return most + log(sum);
}

void hw__mixture_draw(const hw__mixture *mixture, hw_rng *rng, double *x) {
  double u = hw_rng_uniform(rng), z[HW__DIMENSIONS], chi = 0;
  size_t k = 0;
  while (k + 1 < mixture->count && u >= mixture->member[k].share) {
    u -= mixture->member[k++].share;
  }
  const hw__member *m = &mixture->member[k];
  for (size_t a = 0; a < mixture->dims; a++) {
    z[a] = hw_rng_normal(rng);
  }
  for (int i = 0; i < (int)freedom; i++) {
    const double n = hw_rng_normal(rng);
    chi += n * n;
  }
  const double stretch = sqrt(freedom / fmax(chi, 1e-12));
  for (size_t a = 0; a < mixture->dims; a++) {
    x[a] = m->mean[a];
    for (size_t b = 0; b <= a; b++) {
      x[a] += m->root[a][b] * z[b] * stretch;
    }
  }
}

/* Mean and covariance of the points with weights w[i]; returned: the sum of the weights. */
static double moments(size_t dims, size_t n, double *const *x, const double *w, double mean[HW__DIMENSIONS],
                      double cov[HW__DIMENSIONS][HW__DIMENSIONS]) {
  double total = 0;
  memset(mean, 0, HW__DIMENSIONS * sizeof *mean);
  memset(cov, 0, HW__DIMENSIONS * sizeof *cov);
  for (size_t i = 0; i < n; i++) {
    if (!(w[i] > 0)) {
      continue;
    }
    total += w[i];
    double off[HW__DIMENSIONS];
    for (size_t a = 0; a < dims; a++) {
      off[a] = x[a][i] - mean[a];
      mean[a] += w[i] / total * off[a];
    }
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b <= a; b++) {
        cov[a][b] += w[i] * off[a] * (x[b][i] - mean[b]);
      }
    }
  }
  for (size_t a = 0; a < dims; a++) {
    for (size_t b = 0; b <= a; b++) {
      cov[a][b] /= fmax(total, 1e-300);
      cov[b][a] = cov[a][b];
    }
  }
  return total;
}

static void set_member(size_t dims, double share, const double mean[HW__DIMENSIONS],
                       double cov[HW__DIMENSIONS][HW__DIMENSIONS], hw__member *m) {
  *m = (hw__member){.share = share};
  memcpy(m->mean, mean, sizeof m->mean);
  factorise(dims, cov, m->root);
  set_norm(dims, m);
}

/* Members start at points of the sample, evenly spread over its weight in the order it lies in along its widest
 * direction. */
static void start(size_t dims, size_t n, double *const *x, const double *weight, double *order, hw__mixture *out) {
  double mean[HW__DIMENSIONS], cov[HW__DIMENSIONS][HW__DIMENSIONS];
  moments(dims, n, x, weight, mean, cov);
  double axis[HW__DIMENSIONS] = {0};
  for (size_t a = 0; a < dims; a++) {
    axis[a] = 1 / sqrt(fmax(cov[a][a], 1e-300)); /* of the standardised coordinates */
  }
  for (int round = 0; round < 12; round++) { /* power iteration on the correlation matrix */
    double next[HW__DIMENSIONS] = {0}, norm = 0;
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        next[a] += cov[a][b] / fmax(cov[a][a], 1e-300) * axis[b];
      }
      norm += next[a] * next[a] * fmax(cov[a][a], 1e-300);
    }
    for (size_t a = 0; a < dims; a++) {
      axis[a] = next[a] / sqrt(fmax(norm, 1e-300));
    }
  }
  double middle = 0, square = 0;
  for (size_t i = 0; i < n; i++) {
    order[i] = 0;
    for (size_t a = 0; a < dims; a++) {
      order[i] += axis[a] * (x[a][i] - mean[a]);
    }
    middle += weight[i] * order[i];
    square += weight[i] * order[i] * order[i];
  }
  const double sd = sqrt(fmax(square - middle * middle, 1e-300));
  for (size_t k = 0; k < out->count; k++) {
    /* The points within a band about this quantile of a normal along the axis. */
    static const double at[HW__MEMBERS] = {-1.15, -0.32, 0.32, 1.15};
    double own_mean[HW__DIMENSIONS], own_cov[HW__DIMENSIONS][HW__DIMENSIONS], *w = order + n;
    for (size_t i = 0; i < n; i++) {
      const double off = (order[i] - middle) / sd - at[k];
      w[i] = weight[i] * exp(-off * off);
    }
    const double total = moments(dims, n, x, w, own_mean, own_cov);
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        own_cov[a][b] = total > 0 ? own_cov[a][b] + 0.1 * cov[a][b] : cov[a][b];
      }
    }
    set_member(dims, 1 / (double)out->count, total > 0 ? own_mean : mean, own_cov, &out->member[k]);
  }
}

/* One round: points shared out among the members, members fitted to their shares. */
static void improve(size_t n, double *const *x, const double *weight, double *part, hw__mixture *mix) {
  const size_t dims = mix->dims, count = mix->count;
  double mean[HW__DIMENSIONS], cov[HW__DIMENSIONS][HW__DIMENSIONS];
  for (size_t i = 0; i < n; i++) {
    double point[HW__DIMENSIONS], most = -INFINITY, sum = 0;
    if (!(weight[i] > 0)) {
      for (size_t k = 0; k < count; k++) {
        part[k * n + i] = 0;
      }
      continue;
    }
    for (size_t a = 0; a < dims; a++) {
      point[a] = x[a][i];
    }
    for (size_t k = 0; k < count; k++) {
      part[k * n + i] = member_log_density(&mix->member[k], dims, point);
      most = fmax(most, part[k * n + i]);
    }
    for (size_t k = 0; k < count; k++) {
      part[k * n + i] = exp(part[k * n + i] - most);
      sum += part[k * n + i];
    }
    for (size_t k = 0; k < count; k++) {
      part[k * n + i] *= weight[i] / sum;
    }
  }
  double whole[HW__DIMENSIONS][HW__DIMENSIONS], middle[HW__DIMENSIONS], shares = 0;
  moments(dims, n, x, weight, middle, whole);
  for (size_t k = 0; k < count; k++) {
    const double total = moments(dims, n, x, part + k * n, mean, cov);
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        cov[a][b] = wider * (cov[a][b] + kept_of_whole * whole[a][b]);
      }
    }
    const double share = fmax(total, least_share);
    set_member(dims, share, total > 1e-6 ? mean : middle, total > 1e-6 ? cov : whole, &mix->member[k]);
    shares += share;
  }
  for (size_t k = 0; k < count; k++) {
    mix->member[k].share /= shares;
    set_norm(dims, &mix->member[k]);
  }
}

void hw__mixture_fit(size_t dims, size_t n, double *const *x, const double *weight, double *room, hw__mixture *out) {
  out->dims = dims;
  out->count = HW__MEMBERS;
  start(dims, n, x, weight, room, out);
  for (int round = 0; round < ROUNDS; round++) {
    improve(n, x, weight, room, out);
  }
}

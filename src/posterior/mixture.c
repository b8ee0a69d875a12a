#include "posterior/mixture.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

enum { ROUNDS = 4, CHUNK = 256 };
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

/* ln density of a member at up to CHUNK points: their squared distances in its own scale by forward substitution, four
 * points at a time. The same bits on every machine. */
HW__CLONES static void log_densities(const hw__member *m, size_t dims, size_t n, double x[HW__DIMENSIONS][CHUNK],
                                     double *out) {
  const hw__v4 most = hw__v4_all(1e300);
  const double power = 0.5 * (freedom + (double)dims);
  double inverse[HW__DIMENSIONS];
  for (size_t a = 0; a < dims; a++) {
    inverse[a] = 1 / m->root[a][a];
  }
  for (size_t i = 0; i < n; i += HW__LANES) {
    hw__v4 solved[HW__DIMENSIONS], sum = hw__v4_all(0);
    for (size_t a = 0; a < dims; a++) {
      hw__v4 rest = hw__v4_load(x[a] + i) - m->mean[a];
      for (size_t b = 0; b < a; b++) {
        rest -= m->root[a][b] * solved[b];
      }
      solved[a] = rest * inverse[a];
      sum += solved[a] * solved[a];
    }
    const hw__v4 far = 1 + sum / freedom;
    const hw__v4 density = m->log_norm - power * hw__v4_log(hw__v4_choose(far < most, far, most));
    memcpy(out + i, &density, sizeof density);
  }
}

/* Points from..from + n of the columns, the last of them repeated to fill the lanes. Returned: how many stand there. */
static size_t take_chunk(size_t dims, size_t from, size_t n, double *const *x, double out[HW__DIMENSIONS][CHUNK]) {
  const size_t padded = (n + HW__LANES - 1) / HW__LANES * HW__LANES;
  for (size_t a = 0; a < dims; a++) {
    memcpy(out[a], x[a] + from, n * sizeof(double));
    for (size_t i = n; i < padded; i++) {
      out[a][i] = out[a][n - 1];
    }
  }
  return padded;
}

/* Each member's part of the density at a chunk of points, relative to the largest, which stands in `most`. */
HW__CLONES static void weigh_members(size_t count, size_t n, double part[HW__MEMBERS][CHUNK], double *most,
                                     double *sum) {
  for (size_t i = 0; i < n; i += HW__LANES) {
    hw__v4 largest = hw__v4_load(part[0] + i), total = hw__v4_all(0);
    for (size_t k = 1; k < count; k++) {
      largest = hw__v4_max(hw__v4_load(part[k] + i), largest);
    }
    for (size_t k = 0; k < count; k++) {
      const hw__v4 e = hw__v4_exp(hw__v4_load(part[k] + i) - largest);
      memcpy(part[k] + i, &e, sizeof e);
      total += e;
    }
    memcpy(most + i, &largest, sizeof largest);
    memcpy(sum + i, &total, sizeof total);
  }
}

/* A chunk's points shared out: part[k][i] of member k, adding up to sum[i] times exp(most[i]). */
static size_t share_out(const hw__mixture *mix, size_t from, size_t n, double *const *x,
                        double part[HW__MEMBERS][CHUNK], double *most, double *sum) {
  double point[HW__DIMENSIONS][CHUNK];
  const size_t padded = take_chunk(mix->dims, from, n, x, point);
  for (size_t k = 0; k < mix->count; k++) {
    log_densities(&mix->member[k], mix->dims, padded, point, part[k]);
  }
  weigh_members(mix->count, padded, part, most, sum);
  return padded;
}

void hw__mixture_log_densities(const hw__mixture *mixture, size_t n, double *const *x, double *out) {
  double part[HW__MEMBERS][CHUNK] = {{0}}, most[CHUNK] = {0}, sum[CHUNK] = {0};
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    share_out(mixture, from, here, x, part, most, sum);
    for (size_t i = 0; i < here; i++) {
      out[from + i] = most[i] + log(sum[i]);
    }
  }
}

void hw__mixture_extend(const hw__mixture *mixture, double mean, double scale, hw__mixture *out) {
  const size_t last = mixture->dims;
  *out = *mixture;
  out->dims++;
  for (size_t k = 0; k < out->count; k++) {
    hw__member *m = &out->member[k];
    m->mean[last] = mean;
    memset(m->root[last], 0, sizeof m->root[last]);
    m->root[last][last] = scale;
    set_norm(out->dims, m);
  }
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

/* Sums of w[i] p[i] q[k][i], four lanes at a time, for four columns side by side: one sum would wait for itself. */
HW__CLONES static void sum_products(size_t n, const double *w, const double *p, const double *const q[HW__LANES],
                                    double out[HW__LANES]) {
  hw__v4 sum[HW__LANES] = {{0}};
  double rest[HW__LANES] = {0};
  size_t i = 0;
  for (; i + HW__LANES <= n; i += HW__LANES) {
    const hw__v4 weighed = hw__v4_load(w + i) * hw__v4_load(p + i);
    for (size_t k = 0; k < HW__LANES; k++) {
      sum[k] += weighed * hw__v4_load(q[k] + i);
    }
  }
  for (; i < n; i++) {
    for (size_t k = 0; k < HW__LANES; k++) {
      rest[k] += w[i] * p[i] * q[k][i];
    }
  }
  for (size_t k = 0; k < HW__LANES; k++) {
    out[k] = hw__v4_sum(sum[k]) + rest[k];
  }
}

/* Adds the same of any number of columns to out[k]. */
static void add_products(size_t n, const double *w, const double *p, size_t columns, const double *const *q,
                         double *out) {
  for (size_t from = 0; from < columns; from += HW__LANES) {
    const double *four[HW__LANES];
    double sum[HW__LANES];
    for (size_t k = 0; k < HW__LANES; k++) {
      four[k] = q[from + k < columns ? from + k : from];
    }
    sum_products(n, w, p, four, sum);
    for (size_t k = from; k < columns && k < from + HW__LANES; k++) {
      out[k] += sum[k - from];
    }
  }
}

HW__CLONES static void take_off(size_t n, const double *x, double mean, double *out) {
  size_t i = 0;
  for (; i + HW__LANES <= n; i += HW__LANES) {
    const hw__v4 off = hw__v4_load(x + i) - mean;
    memcpy(out + i, &off, sizeof off);
  }
  for (; i < n; i++) {
    out[i] = x[i] - mean;
  }
}

/* Mean and covariance of the points with weights w[i]; returned: the sum of the weights. */
static double moments(size_t dims, size_t n, double *const *x, const double *w, double mean[HW__DIMENSIONS],
                      double cov[HW__DIMENSIONS][HW__DIMENSIONS]) {
  double ones[CHUNK], off[HW__DIMENSIONS][CHUNK], total = 0;
  const double *column[HW__DIMENSIONS] = {ones};
  memset(mean, 0, HW__DIMENSIONS * sizeof *mean);
  memset(cov, 0, HW__DIMENSIONS * sizeof *cov);
  for (size_t i = 0; i < CHUNK; i++) {
    ones[i] = 1;
  }
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    column[0] = ones;
    add_products(here, w + from, ones, 1, column, &total);
    for (size_t a = 0; a < dims; a++) {
      column[a] = x[a] + from;
    }
    add_products(here, w + from, ones, dims, column, mean);
  }
  for (size_t a = 0; a < dims; a++) {
    mean[a] /= fmax(total, 1e-300);
    column[a] = off[a];
  }
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    for (size_t a = 0; a < dims; a++) {
      take_off(here, x[a] + from, mean[a], off[a]);
      add_products(here, w + from, off[a], a + 1, column, cov[a]);
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

/* The sample as a whole. */
typedef struct {
  double mean[HW__DIMENSIONS], cov[HW__DIMENSIONS][HW__DIMENSIONS];
} sample;

/* One round: points shared out among the members, members fitted to their shares. */
static void improve(size_t n, double *const *x, const double *weight, sample *all, double *part, hw__mixture *mix) {
  const size_t dims = mix->dims, count = mix->count;
  double mean[HW__DIMENSIONS], cov[HW__DIMENSIONS][HW__DIMENSIONS];
  double share[HW__MEMBERS][CHUNK] = {{0}}, most[CHUNK] = {0}, sum[CHUNK] = {0};
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    share_out(mix, from, here, x, share, most, sum);
    for (size_t k = 0; k < count; k++) {
      for (size_t i = 0; i < here; i++) {
        part[k * n + from + i] = weight[from + i] > 0 ? share[k][i] / sum[i] * weight[from + i] : 0;
      }
    }
  }
  double shares = 0;
  for (size_t k = 0; k < count; k++) {
    const double total = moments(dims, n, x, part + k * n, mean, cov);
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        cov[a][b] = wider * (cov[a][b] + kept_of_whole * all->cov[a][b]);
      }
    }
    const double least = fmax(total, least_share);
    set_member(dims, least, total > 1e-6 ? mean : all->mean, total > 1e-6 ? cov : all->cov, &mix->member[k]);
    shares += least;
  }
  for (size_t k = 0; k < count; k++) {
    mix->member[k].share /= shares;
    set_norm(dims, &mix->member[k]);
  }
}

void hw__mixture_fit(size_t dims, size_t n, double *const *x, const double *weight, double *room, hw__mixture *out) {
  out->dims = dims;
  out->count = HW__MEMBERS;
  sample all;
  moments(dims, n, x, weight, all.mean, all.cov);
  start(dims, n, x, weight, room, out);
  for (int round = 0; round < ROUNDS; round++) {
    improve(n, x, weight, &all, room, out);
  }
}

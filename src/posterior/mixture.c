#include "posterior/mixture.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"
#include "core/normal.h"

enum { ROUNDS = 3, CHUNK = 256 };
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

/* x^-(halves / 2) by squaring: much cheaper than by way of logarithms, and as exact. */
HW__INLINE hw__v4 inverse_power(hw__v4 x, size_t halves) {
  const hw__v4 one = hw__v4_all(1);
  hw__v4 power = 1.0 / x, out = halves % 2 ? hw__v4_sqrt(power) : one;
  for (size_t left = halves / 2; left > 0; left /= 2) {
    out *= left % 2 ? power : one;
    power *= power;
  }
  return out;
}

/* Density of a member at up to CHUNK points, over e^reference: their squared distances in its own scale by forward
 * substitution, four points at a time. The same bits on every machine. */
HW__CLONES static void find_densities(const hw__member *m, size_t dims, size_t n, double x[HW__DIMENSIONS][CHUNK],
                                      double reference, double *out) {
  const hw__v4 most = hw__v4_all(1e25); /* no point is as far; its power is still a number */
  const double norm = exp(fmax(m->log_norm - reference, -300));
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
    const hw__v4 density = norm * inverse_power(hw__v4_choose(far < most, far, most), (size_t)freedom + dims);
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

/* Each member's part of the density at a chunk of points, over e^(what is returned); the whole of it in sum. */
static double share_out(const hw__mixture *mix, size_t n, double point[HW__DIMENSIONS][CHUNK],
                        double part[HW__MEMBERS][CHUNK], double *sum) {
  double reference = mix->member[0].log_norm;
  for (size_t k = 1; k < mix->count; k++) {
    reference = fmax(reference, mix->member[k].log_norm);
  }
  memset(sum, 0, n * sizeof *sum);
  for (size_t k = 0; k < mix->count; k++) {
    find_densities(&mix->member[k], mix->dims, n, point, reference, part[k]);
    for (size_t i = 0; i < n; i++) {
      sum[i] += part[k][i];
    }
  }
  return reference;
}

HW__CLONES static void add_logs(size_t n, const double *density, double reference, double *out) {
  for (size_t i = 0; i < n; i += HW__LANES) {
    const hw__v4 there = reference + hw__v4_log(hw__v4_load(density + i));
    memcpy(out + i, &there, sizeof there);
  }
}

void hw__mixture_log_densities(const hw__mixture *mixture, size_t n, double *const *x, double *out) {
  double point[HW__DIMENSIONS][CHUNK], part[HW__MEMBERS][CHUNK], sum[CHUNK] = {0}, found[CHUNK];
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    const size_t padded = take_chunk(mixture->dims, from, here, x, point);
    const double reference = share_out(mixture, padded, point, part, sum);
    add_logs(padded, sum, reference, found);
    memcpy(out + from, found, here * sizeof *out);
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
  double u = hw_rng_uniform(rng), z[HW__DIMENSIONS], product = 1;
  size_t k = 0;
  while (k + 1 < mixture->count && u >= mixture->member[k].share) {
    u -= mixture->member[k++].share;
  }
  const hw__member *m = &mixture->member[k];
  for (size_t a = 0; a < mixture->dims; a++) {
    z[a] = hw__normal(rng);
  }
  for (int i = 0; i < (int)freedom / 2; i++) { /* squares of two normal numbers add up to -2 ln of a uniform one */
    product *= 1 - hw_rng_uniform(rng);
  }
  const double stretch = sqrt(freedom / fmax(-2 * log(product), 1e-12));
  for (size_t a = 0; a < mixture->dims; a++) {
    x[a] = m->mean[a];
    for (size_t b = 0; b <= a; b++) {
      x[a] += m->root[a][b] * z[b] * stretch;
    }
  }
}

/* Points about a centre, a row for each coordinate and, behind them, one of ones. */
typedef double points[HW__DIMENSIONS + 1][CHUNK];
/* Weighted sums of the rows' products. */
typedef double products[HW__DIMENSIONS + 1][HW__DIMENSIONS + 1];

static void take_off(size_t dims, size_t n, double point[HW__DIMENSIONS][CHUNK], const double *centre, points out) {
  for (size_t a = 0; a < dims; a++) {
    for (size_t i = 0; i < n; i++) {
      out[a][i] = point[a][i] - centre[a];
    }
  }
  for (size_t i = 0; i < n; i++) {
    out[dims][i] = 1;
  }
}

/* Adds a chunk's products for `count` sets of weights side by side: one sum would wait for itself. */
HW__INLINE void add_up(size_t count, size_t dims, size_t n, points off, double w[][CHUNK], products *out) {
  for (size_t a = 0; a <= dims; a++) {
    for (size_t b = 0; b <= a; b++) {
      hw__v4 sum[HW__MEMBERS] = {{0}};
      for (size_t i = 0; i < n; i += HW__LANES) {
        const hw__v4 both = hw__v4_load(off[a] + i) * hw__v4_load(off[b] + i);
        for (size_t k = 0; k < count; k++) {
          sum[k] += hw__v4_load(w[k] + i) * both;
        }
      }
      for (size_t k = 0; k < count; k++) {
        out[k][a][b] += hw__v4_sum(sum[k]);
      }
    }
  }
}

HW__CLONES static void add_one(size_t dims, size_t n, points off, double w[1][CHUNK], products *out) {
  add_up(1, dims, n, off, w, out);
}

HW__CLONES static void add_members(size_t dims, size_t n, points off, double w[HW__MEMBERS][CHUNK], products *out) {
  add_up(HW__MEMBERS, dims, n, off, w, out);
}

/* A weighted sample: its weight, mean and covariance. */
typedef struct {
  double weight, mean[HW__DIMENSIONS], cov[HW__DIMENSIONS][HW__DIMENSIONS];
} sample;

static void set_sample(size_t dims, products sums, const double *centre, sample *out) {
  double off[HW__DIMENSIONS];
  out->weight = sums[dims][dims];
  const double per = 1 / fmax(out->weight, 1e-300);
  for (size_t a = 0; a < dims; a++) {
    off[a] = sums[dims][a] * per;
    out->mean[a] = centre[a] + off[a];
    for (size_t b = 0; b <= a; b++) {
      out->cov[a][b] = out->cov[b][a] = sums[a][b] * per - off[a] * off[b];
    }
  }
}

/* Of all points, about their mean; their weights add up to 1. */
static void take_all(size_t dims, size_t n, double *const *x, const double *weight, sample *out) {
  double point[HW__DIMENSIONS][CHUNK], w[1][CHUNK], centre[HW__DIMENSIONS];
  points off;
  for (size_t a = 0; a < dims; a++) {
    centre[a] = 0;
    for (size_t i = 0; i < n; i++) {
      centre[a] += weight[i] * x[a][i];
    }
  }
  products sums = {{0}};
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    const size_t padded = take_chunk(dims, from, here, x, point);
    take_off(dims, padded, point, centre, off);
    memcpy(w[0], weight + from, here * sizeof *weight);
    memset(w[0] + here, 0, (padded - here) * sizeof *weight);
    add_one(dims, padded, off, w, &sums);
  }
  set_sample(dims, sums, centre, out);
}

static void set_member(size_t dims, double share, const double mean[HW__DIMENSIONS],
                       double cov[HW__DIMENSIONS][HW__DIMENSIONS], hw__member *m) {
  *m = (hw__member){.share = share};
  memcpy(m->mean, mean, sizeof m->mean);
  factorise(dims, cov, m->root);
  set_norm(dims, m);
}

/* The widest direction of the standardised sample: power iteration on the correlation matrix. */
static void find_axis(size_t dims, const sample *all, double axis[HW__DIMENSIONS]) {
  for (size_t a = 0; a < dims; a++) {
    axis[a] = 1 / sqrt(fmax(all->cov[a][a], 1e-300));
  }
  for (int round = 0; round < 12; round++) {
    double next[HW__DIMENSIONS] = {0}, norm = 0;
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        next[a] += all->cov[a][b] / fmax(all->cov[a][a], 1e-300) * axis[b];
      }
      norm += next[a] * next[a] * fmax(all->cov[a][a], 1e-300);
    }
    for (size_t a = 0; a < dims; a++) {
      axis[a] = next[a] / sqrt(fmax(norm, 1e-300));
    }
  }
}

/* Of the points' order along the axis: each one's place, and their mean and standard deviation. */
static void place_along(size_t dims, size_t n, double *const *x, const double *weight, const sample *all, double *order,
                        double *middle, double *sd) {
  double axis[HW__DIMENSIONS], square = 0;
  find_axis(dims, all, axis);
  *middle = 0;
  for (size_t i = 0; i < n; i++) {
    order[i] = 0;
    for (size_t a = 0; a < dims; a++) {
      order[i] += axis[a] * (x[a][i] - all->mean[a]);
    }
    *middle += weight[i] * order[i];
    square += weight[i] * order[i] * order[i];
  }
  *sd = sqrt(fmax(square - *middle * *middle, 1e-300));
}

/* Weights of a chunk's points within a band about each member's quantile of a normal along the axis. */
HW__CLONES static void weigh_bands(size_t n, const double *place, double w[HW__MEMBERS][CHUNK]) {
  static const double at[HW__MEMBERS] = {-1.15, -0.32, 0.32, 1.15};
  for (size_t k = 0; k < HW__MEMBERS; k++) {
    for (size_t i = 0; i < n; i += HW__LANES) {
      const hw__v4 off = hw__v4_load(place + i) - at[k], near = hw__v4_exp(-(off * off));
      memcpy(w[k] + i, &near, sizeof near);
    }
  }
}

/* w[k][i] times the points' own weights; none for those that fill the lanes. */
static void weigh_down(size_t n, size_t padded, const double *weight, double w[HW__MEMBERS][CHUNK]) {
  for (size_t k = 0; k < HW__MEMBERS; k++) {
    for (size_t i = 0; i < n; i++) {
      w[k][i] *= weight[i];
    }
    memset(w[k] + n, 0, (padded - n) * sizeof *w[k]);
  }
}

/* Members start at points of the sample, evenly spread over its weight in the order it lies in along its widest
 * direction. */
static void start(size_t n, double *const *x, const double *weight, const sample *all, double *order,
                  hw__mixture *out) {
  const size_t dims = out->dims;
  double middle, sd, point[HW__DIMENSIONS][CHUNK], w[HW__MEMBERS][CHUNK], place[CHUNK] = {0};
  points off;
  products sums[HW__MEMBERS] = {{{0}}};
  place_along(dims, n, x, weight, all, order, &middle, &sd);
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    const size_t padded = take_chunk(dims, from, here, x, point);
    for (size_t i = 0; i < here; i++) {
      place[i] = (order[from + i] - middle) / sd;
    }
    weigh_bands(padded, place, w);
    weigh_down(here, padded, weight + from, w);
    take_off(dims, padded, point, all->mean, off);
    add_members(dims, padded, off, w, sums);
  }
  for (size_t k = 0; k < out->count; k++) {
    sample own;
    set_sample(dims, sums[k], all->mean, &own);
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        own.cov[a][b] = own.weight > 0 ? own.cov[a][b] + 0.1 * all->cov[a][b] : all->cov[a][b];
      }
    }
    set_member(dims, 1 / (double)out->count, own.weight > 0 ? own.mean : all->mean, own.cov, &out->member[k]);
  }
}

/* Members fitted to their shares of the points. */
static void refit(const sample *all, products sums[HW__MEMBERS], hw__mixture *mix) {
  const size_t dims = mix->dims;
  double shares = 0;
  for (size_t k = 0; k < mix->count; k++) {
    sample own;
    set_sample(dims, sums[k], all->mean, &own);
    for (size_t a = 0; a < dims; a++) {
      for (size_t b = 0; b < dims; b++) {
        own.cov[a][b] = own.weight > 1e-6 ? wider * (own.cov[a][b] + kept_of_whole * all->cov[a][b]) : all->cov[a][b];
      }
    }
    const double least = fmax(own.weight, least_share);
    set_member(dims, least, own.weight > 1e-6 ? own.mean : all->mean, own.cov, &mix->member[k]);
    shares += least;
  }
  for (size_t k = 0; k < mix->count; k++) {
    mix->member[k].share /= shares;
    set_norm(dims, &mix->member[k]);
  }
}

/* One round: points shared out among the members, members fitted to their shares. */
static void improve(size_t n, double *const *x, const double *weight, const sample *all, hw__mixture *mix) {
  const size_t dims = mix->dims;
  double point[HW__DIMENSIONS][CHUNK], w[HW__MEMBERS][CHUNK], sum[CHUNK], own[CHUNK];
  points off;
  products sums[HW__MEMBERS] = {{{0}}};
  for (size_t from = 0; from < n; from += CHUNK) {
    const size_t here = n - from < CHUNK ? n - from : CHUNK;
    const size_t padded = take_chunk(dims, from, here, x, point);
    share_out(mix, padded, point, w, sum);
    for (size_t i = 0; i < here; i++) {
      own[i] = weight[from + i] / sum[i];
    }
    weigh_down(here, padded, own, w);
    take_off(dims, padded, point, all->mean, off);
    add_members(dims, padded, off, w, sums);
  }
  refit(all, sums, mix);
}

void hw__mixture_fit(size_t dims, size_t n, double *const *x, const double *weight, double *room, hw__mixture *out) {
  out->dims = dims;
  out->count = HW__MEMBERS;
  sample all;
  take_all(dims, n, x, weight, &all);
  start(n, x, weight, &all, room, out);
  for (int round = 0; round < ROUNDS; round++) {
    improve(n, x, weight, &all, out);
  }
}

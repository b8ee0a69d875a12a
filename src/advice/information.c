#include "advice/information.h"

#include <math.h>
#include <string.h>

static const double cell = 0.5; /* in units of the reading's error */
enum { HALF_KERNEL = 7 };       /* cells: three and a half times the error */

double hw__stabilised(const hw__reading_error *error, double c_g_m3) {
  return asinh(error->relative * c_g_m3 / error->floor_g_m3) / error->relative;
}

/* Smoothed histograms of all answers, and of them together in the last row. */
typedef struct {
  double p[HW__ANSWERS_MOST][HW__CELLS + 2 * HALF_KERNEL];
  double all[HW__CELLS + 2 * HALF_KERNEL];
  size_t cells;
  double total;
} histogram;

/* exp(-(i cell)^2 / 2) for i = -7 .. 7, made to sum to 1. */
static const double kernel[2 * HALF_KERNEL + 1] = {
    0.0004364074260381732, 0.002216259780359017, 0.00876547746924302, 0.026999571389573734, 0.06476860475414933,
    0.1210036840004649,    0.17605932135785027,  0.19950134764464328, 0.17605932135785027,  0.1210036840004649,
    0.06476860475414933,   0.026999571389573734, 0.00876547746924302, 0.002216259780359017, 0.0004364074260381732};

typedef double raw_cells[HW__ANSWERS_MOST][HW__CELLS];

/* Whose draws fall into which cell. Where each has one answer alone, one pass over them is enough. */
static void count(const hw__question *q, const size_t *picked, const size_t *dealt, const size_t *place, size_t n,
                  size_t cells, raw_cells raw) {
  for (size_t k = 0; k < q->answers; k++) {
    const double *joint = &q->joint[k * q->draws];
    memset(raw[k], 0, cells * sizeof raw[k][0]);
    for (size_t i = 0; i < n && !q->answer; i++) {
      raw[k][place[i]] += joint[picked[dealt ? dealt[i] : i]];
    }
  }
  for (size_t i = 0; i < n && q->answer; i++) {
    raw[q->answer[picked[dealt ? dealt[i] : i]]][place[i]] += 1 / (double)q->draws;
  }
}

static void fill(const hw__question *q, const size_t *picked, const size_t *dealt, const size_t *place, size_t n,
                 size_t cells, histogram *h) {
  raw_cells raw;
  count(q, picked, dealt, place, n, cells, raw);
  h->cells = cells + 2 * HALF_KERNEL;
  h->total = 0;
  memset(h->all, 0, h->cells * sizeof h->all[0]);
  for (size_t k = 0; k < q->answers; k++) {
    double *row = h->p[k];
    memset(row, 0, h->cells * sizeof row[0]);
    for (size_t c = 0; c < cells; c++) {
      if (raw[k][c] > 0) {
        for (int d = 0; d <= 2 * HALF_KERNEL; d++) {
          row[c + (size_t)d] += raw[k][c] * kernel[d];
        }
      }
    }
    for (size_t c = 0; c < h->cells; c++) {
      h->all[c] += row[c];
      h->total += row[c];
    }
  }
}

/* The first `below` cells are one outcome. */
static void merge(histogram *h, size_t answers, size_t below) {
  for (size_t c = 1; c < below && c < h->cells; c++) {
    for (size_t k = 0; k < answers; k++) {
      h->p[k][0] += h->p[k][c];
      h->p[k][c] = 0;
    }
    h->all[0] += h->all[c];
    h->all[c] = 0;
  }
}

static double measure(const hw__question *q, const histogram *h) {
  double after = 0, prior[HW__ANSWERS_MOST] = {0};
  for (size_t c = 0; c < h->cells; c++) {
    const double p = h->all[c] / h->total;
    if (p > 1e-12) {
      double share[HW__ANSWERS_MOST];
      for (size_t k = 0; k < q->answers; k++) {
        share[k] = h->p[k][c] / h->all[c];
        prior[k] += h->p[k][c] / h->total;
      }
      after += p * hw__entropy_bits(share, q->answers);
    }
  }
  return hw__entropy_bits(prior, q->answers) - after;
}

double hw__information(const hw__question *q, const hw__reading_error *error, const size_t *picked, const double *z,
                       const size_t *dealt, size_t n) {
  enum { DRAWS_MOST = 4096 };
  size_t place[DRAWS_MOST], most = 0;
  n = n < DRAWS_MOST ? n : DRAWS_MOST;
  for (size_t i = 0; i < n; i++) {
    const double at = z[i] / cell;
    place[i] = at < HW__CELLS - 1 ? (size_t)at : HW__CELLS - 1;
    most = place[i] > most ? place[i] : most;
  }
  if (most == 0) {
    return 0;
  }
  const size_t below = (size_t)(hw__stabilised(error, error->limit_g_m3) / cell) + HALF_KERNEL + 1;
  histogram h;
  fill(q, picked, NULL, place, n, most + 1, &h);
  merge(&h, q->answers, below);
  const double found = measure(q, &h);
  fill(q, picked, dealt, place, n, most + 1, &h);
  merge(&h, q->answers, below);
  return found - measure(q, &h);
}

bool hw__weigh(const double *z, size_t n, double read, double limit, double *weight) {
  double total = 0;
  for (size_t j = 0; j < n; j++) {
    /* A non-detect is anything below the limit; else Student's t with 4 degrees, for models err more than they say. */
    const double away = read - z[j];
    weight[j] = read <= limit ? 0.5 * erfc((z[j] - limit) / sqrt(2)) : pow(1 + away * away / 4, -2.5);
    total += weight[j];
  }
  for (size_t j = 0; j < n && total > 0; j++) {
    weight[j] /= total;
  }
  return total > 1e-12;
}

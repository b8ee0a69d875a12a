#include "posterior/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hw__draws_create(hw__draws *out) {
  _Static_assert(sizeof *out->chance == sizeof *out->weight, "columns of one width");
  const size_t columns = HW__DIMENSIONS + 5 + HW__MEMBERS, count = columns * (size_t)HW__FINAL;
  *out = (hw__draws){.memory = aligned_alloc(64, count * sizeof(double)), .bytes = count * sizeof(double)};
  if (!out->memory) {
    return false;
  }
  double *m = out->memory;
  memset(m, 0, out->bytes);
  for (size_t k = 0; k < HW__DIMENSIONS; k++) {
    out->x[k] = m;
    m += HW__FINAL;
  }
  out->weight = m;
  out->log_prior = m + HW__FINAL;
  out->log_likelihood = m + 2 * (size_t)HW__FINAL;
  out->log_proposal = m + 3 * (size_t)HW__FINAL;
  out->room = m + 4 * (size_t)HW__FINAL;
  out->chance = (uint64_t *)(void *)(out->room + HW__MEMBERS * (size_t)HW__FINAL);
  return true;
}

void hw__draws_free(hw__draws *draws) {
  free(draws->memory);
  *draws = (hw__draws){0};
}

void hw__draws_take_chances(hw__draws *draws, uint64_t stage, size_t at, size_t n) {
  for (size_t i = at; i < at + n; i++) {
    draws->chance[i] = hw__chance(stage, i);
  }
}

hw__weighing hw__draws_weigh(hw__draws *d, size_t n, double heat) {
  double most = -INFINITY, sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    const double w = d->log_prior[i] + d->log_likelihood[i] - d->log_proposal[i];
    d->weight[i] = w > -INFINITY ? heat * w : -INFINITY; /* not a number either */
    most = fmax(most, d->weight[i]);
  }
  if (!isfinite(most)) {
    return (hw__weighing){0, -INFINITY};
  }
  for (size_t i = 0; i < n; i++) {
    d->weight[i] = exp(d->weight[i] - most);
    sum += d->weight[i];
    squares += d->weight[i] * d->weight[i];
  }
  for (size_t i = 0; i < n; i++) {
    d->weight[i] /= sum;
  }
  return (hw__weighing){sum * sum / squares, most + log(sum / (double)n)};
}

static double log_sum(double a, double b) {
  const double most = fmax(a, b);
  return most > -INFINITY ? most + log1p(exp(fmin(a, b) - most)) : most;
}

/* ln density of everything in the pool at n draws from `at` on, which have that of `known` of them. */
static void add_density(const hw__mixture *proposal, size_t given, size_t known, size_t at, size_t n, hw__draws *d) {
  double *x[HW__DIMENSIONS], *here = d->room;
  for (size_t k = 0; k < HW__DIMENSIONS; k++) {
    x[k] = d->x[k] + at;
  }
  hw__mixture_log_densities(proposal, n, x, here);
  const double all = (double)(known + given), before = log((double)known / all), more = log((double)given / all);
  for (size_t i = 0; i < n; i++) {
    double *sum = &d->log_proposal[at + i];
    *sum = known > 0 ? log_sum(*sum + before, here[i] + more) : here[i];
  }
}

size_t hw__pooled_add(hw__pooled *p, const hw__mixture *proposal, hw_rng *rng, size_t n, hw__draws *d) {
  if (p->sources == HW__POOLED || p->count + n > HW__FINAL) {
    p->sources = p->count = 0;
  }
  const size_t at = p->count;
  for (size_t i = at; i < at + n; i++) {
    double x[HW__DIMENSIONS];
    hw__mixture_draw(proposal, rng, x);
    for (size_t k = 0; k < proposal->dims; k++) {
      d->x[k][i] = x[k];
    }
  }
  size_t known = 0;
  for (size_t j = 0; j < p->sources; j++) {
    add_density(&p->proposal[j], p->given[j], known, at, n, d);
    known += p->given[j];
  }
  add_density(proposal, n, known, 0, at + n, d);
  p->proposal[p->sources] = *proposal;
  p->given[p->sources++] = n;
  p->count += n;
  return at;
}

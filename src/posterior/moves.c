#include "posterior/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/normal.h"

enum { STEPS = 16, SWEEPS = 4, LAST_SWEEPS = 8, MOST_SWEEPS = 32, HALF = HW__WALKERS / 2 };
static const double kept_share = 0.5; /* of the points to stay effective from one heat to the next */
/* Length of a jump in d dimensions, over sqrt(2 d): where the posterior is normal, the best there is. */
static const double usual_jump = 2.38;
/* One jump in ten is as long as two points are apart: from one part of the posterior to another. */
static const double long_jumps = 0.1;
/* And every jump has this much of chance in it, as a share of its length. */
static const double jitter = 0.05;

/* The points stand in the lower half of the columns; the upper half is room for where they may go. */
typedef struct {
  const hw__target *target;
  const hw__mixture *proposal;
  hw_rng *rng;
  hw__draws *d;
  double *there[HW__DIMENSIONS];
  double heat;
  uint64_t stage;
  hw__moved out;
} walkers;

/* ln of target over proposal. */
static double *gain_of(const walkers *w) {
  return w->d->room;
}

static void copy_point(const walkers *w, size_t from, size_t to) {
  const hw__draws *d = w->d;
  for (size_t k = 0; k < w->target->dims; k++) {
    d->x[k][to] = d->x[k][from];
  }
  d->chance[to] = d->chance[from];
  d->log_prior[to] = d->log_prior[from];
  d->log_likelihood[to] = d->log_likelihood[from];
  d->log_proposal[to] = d->log_proposal[from];
  gain_of(w)[to] = gain_of(w)[from];
}

/* Prior, likelihood and gain of n points from `at` on. */
static void look(walkers *w, size_t at, size_t n) {
  const hw__draws *d = w->d;
  double *x[HW__DIMENSIONS];
  for (size_t k = 0; k < w->target->dims; k++) {
    x[k] = d->x[k] + at;
  }
  hw__draws_take_chances(w->d, w->stage++, at, n);
  w->target->evaluate(w->target->context, w->target->phases - 1, d->chance + at, n, x, d->log_prior + at,
                      d->log_likelihood + at);
  hw__mixture_log_densities(w->proposal, n, x, d->log_proposal + at);
  w->out.evaluations += n;
  for (size_t i = at; i < at + n; i++) {
    const double gain = d->log_prior[i] + d->log_likelihood[i] - d->log_proposal[i];
    gain_of(w)[i] = gain > -INFINITY ? gain : -INFINITY; /* not a number either */
  }
}

/* Effective number of points at so much more heat; their weights, and ln of the mean. */
static double weigh(const walkers *w, double more, double *log_mean) {
  const double *gain = gain_of(w);
  double most = -INFINITY, sum = 0, squares = 0;
  for (size_t i = 0; i < HW__WALKERS; i++) {
    most = fmax(most, gain[i]);
  }
  for (size_t i = 0; i < HW__WALKERS; i++) {
    const double v = exp(more * (gain[i] - most));
    w->d->weight[i] = v;
    sum += v;
    squares += v * v;
  }
  *log_mean = more * most + log(sum / HW__WALKERS);
  return isfinite(most) ? sum * sum / squares : 0;
}

/* Raises the heat as far as enough of the points stay effective. */
static void warm(walkers *w) {
  double lo = 0, hi = 1 - w->heat, log_mean;
  if (!(weigh(w, hi, &log_mean) >= kept_share * HW__WALKERS)) {
    for (int i = 0; i < 30; i++) {
      const double middle = 0.5 * (lo + hi);
      if (weigh(w, middle, &log_mean) >= kept_share * HW__WALKERS) {
        lo = middle;
      } else {
        hi = middle;
      }
    }
    weigh(w, hi, &log_mean);
  }
  w->heat += hi;
  w->out.log_evidence += log_mean;
}

/* Systematically, by their weights. */
static void draw_again(walkers *w) {
  double total = 0, running = 0;
  for (size_t i = 0; i < HW__WALKERS; i++) {
    total += w->d->weight[i];
  }
  const double first = hw_rng_uniform(w->rng);
  size_t given = 0;
  for (size_t i = 0; i < HW__WALKERS; i++) {
    running += w->d->weight[i] / total;
    while (given < HW__WALKERS && (first + (double)given) / HW__WALKERS < running) {
      copy_point(w, i, HW__WALKERS + given++);
    }
  }
  for (size_t i = 0; i < HW__WALKERS; i++) { /* what rounding leaves open is the last one again */
    copy_point(w, HW__WALKERS + (i < given ? i : given - 1), i);
  }
}

/* Where the points from `at` on, a half of them, may go by differences of the other half. Whoever stands in a half was
 * drawn there by its weight, next to its like: so partners are taken from anywhere in the other one. */
static void suggest(walkers *w, size_t at) {
  const size_t dims = w->target->dims, other = HALF - at;
  const double usual = usual_jump / sqrt(2 * (double)dims);
  for (size_t i = 0; i < HALF; i++) {
    const size_t a = other + (size_t)(hw_rng_uniform(w->rng) * HALF),
                 b = other + (size_t)(hw_rng_uniform(w->rng) * HALF);
    const double length = hw_rng_uniform(w->rng) < long_jumps ? 1 : usual;
    for (size_t k = 0; k < dims; k++) {
      const double apart = w->d->x[k][a] - w->d->x[k][b];
      w->there[k][at + i] = w->d->x[k][at + i] + apart * length * (1 + jitter * hw__normal(w->rng));
    }
  }
}

static bool is_elsewhere(const walkers *w, size_t a, size_t b) {
  for (size_t k = 0; k < w->target->dims; k++) {
    if (fabs(w->d->x[k][a] - w->d->x[k][b]) > 0) {
      return true;
    }
  }
  return false;
}

/* One step of every point. Returned: how many were taken. */
static size_t sweep(walkers *w) {
  size_t taken = 0;
  for (size_t at = 0; at < HW__WALKERS; at += HALF) {
    suggest(w, at);
    look(w, HW__WALKERS + at, HALF);
    for (size_t i = at; i < at + HALF; i++) {
      const size_t to = HW__WALKERS + i;
      const double *q = w->d->log_proposal, *gain = gain_of(w);
      const double ratio = q[to] - q[i] + w->heat * (gain[to] - gain[i]);
      if (isfinite(gain[to]) && log(hw_rng_uniform(w->rng)) < ratio) {
        taken += is_elsewhere(w, i, to); /* by the difference of two that are the same nobody moves */
        copy_point(w, to, i);
      }
    }
  }
  return taken;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* How many points the walkers are worth: those that stand where others do are one. */
static double apart(const walkers *w) {
  double *sorted = w->d->weight, squares = 0;
  memcpy(sorted, w->d->x[0], HW__WALKERS * sizeof *sorted);
  qsort(sorted, HW__WALKERS, sizeof *sorted, by_size);
  for (size_t from = 0, to = 0; from < HW__WALKERS; from = to) {
    while (to < HW__WALKERS && !(sorted[to] > sorted[from])) {
      to++;
    }
    squares += (double)((to - from) * (to - from));
  }
  return (double)HW__WALKERS * HW__WALKERS / squares;
}

hw__moved hw__moves(const hw__target *target, const hw__mixture *from, uint64_t stage, hw_rng *rng, hw__draws *draws) {
  walkers w = {.target = target, .proposal = from, .rng = rng, .d = draws, .stage = stage};
  for (size_t k = 0; k < target->dims; k++) {
    w.there[k] = draws->x[k] + HW__WALKERS;
  }
  for (size_t i = 0; i < HW__WALKERS; i++) {
    double x[HW__DIMENSIONS];
    hw__mixture_draw(from, rng, x);
    for (size_t k = 0; k < target->dims; k++) {
      draws->x[k][i] = x[k];
    }
  }
  look(&w, 0, HW__WALKERS);
  size_t taken = 0;
  const size_t wanted = 2 * HW__WALKERS; /* in the end: then points that were drawn several times are apart again */
  for (size_t step = 0; step < STEPS && w.heat < 1; step++) {
    warm(&w);
    draw_again(&w);
    taken = 0;
    for (size_t i = 0; i < (w.heat < 1 ? SWEEPS : taken < wanted ? MOST_SWEEPS : LAST_SWEEPS); i++) {
      taken += sweep(&w);
    }
  }
  /* Half of the points were left when they were last drawn; as many are apart again as have moved since, unless it was
   * the same few that moved. */
  const double moved = kept_share * (double)taken;
  w.out.effective = w.heat < 1 ? 1 : fmax(fmin(fmin(moved, kept_share * HW__WALKERS), apart(&w)), 1);
  for (size_t i = 0; i < HW__FINAL; i++) {
    draws->weight[i] = i < HW__WALKERS ? 1.0 / HW__WALKERS : 0;
  }
  return w.out;
}

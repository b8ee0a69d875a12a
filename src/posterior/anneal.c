#include "posterior/anneal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "posterior/moves.h"

enum { STAGES = 30, PATIENCE = 5, REFINEMENTS = 2, RETRIES = 3 };
static const double wanted_share = 0.2;  /* of a stage's draws to stay effective */
static const double good_share = 0.45;   /* from here on the proposal needs no refining */
static const double enough_share = 0.15; /* of the last sample */
/* Effective draws below which they are led on by moves. Not sooner: along a narrow bend walkers come too slowly into
 * the tails, where a few heavy draws have been. */
static const double too_few = 100;

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
    draws->chance[i] = (stage + 1) * 65536 + i;
  }
}

typedef struct {
  double effective, log_mean;
} weighing;

/* Weights of n draws at this heat, summing to 1. */
static weighing weigh(hw__draws *d, size_t n, double heat) {
  double most = -INFINITY, sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    const double w = d->log_prior[i] + d->log_likelihood[i] - d->log_proposal[i];
    d->weight[i] = w > -INFINITY ? heat * w : -INFINITY; /* not a number either */
    most = fmax(most, d->weight[i]);
  }
  if (!isfinite(most)) {
    return (weighing){0, -INFINITY};
  }
  for (size_t i = 0; i < n; i++) {
    d->weight[i] = exp(d->weight[i] - most);
    sum += d->weight[i];
    squares += d->weight[i] * d->weight[i];
  }
  for (size_t i = 0; i < n; i++) {
    d->weight[i] /= sum;
  }
  return (weighing){sum * sum / squares, most + log(sum / (double)n)};
}

/* The most heat that leaves enough of the draws effective. */
static double fitting_heat(hw__draws *d, size_t n) {
  const double wanted = wanted_share * (double)n;
  if (weigh(d, n, 1).effective >= wanted) {
    return 1;
  }
  double lo = -60, hi = 0; /* ln heat */
  for (int i = 0; i < 30; i++) {
    const double middle = 0.5 * (lo + hi);
    if (weigh(d, n, exp(middle)).effective >= wanted) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return exp(lo);
}

static void draw_from(const hw__mixture *mixture, hw_rng *rng, size_t n, hw__draws *d) {
  for (size_t i = 0; i < n; i++) {
    double x[HW__DIMENSIONS];
    hw__mixture_draw(mixture, rng, x);
    for (size_t k = 0; k < mixture->dims; k++) {
      d->x[k][i] = x[k];
    }
  }
  hw__mixture_log_densities(mixture, n, d->x, d->log_proposal);
}

/* Where there is chance in the likelihood, of what is drawn inside it (walk.c), no proposal leaves more of the draws
 * effective than exp(-variance of its logarithm): whether that is too little, told by a part of the draws at hand, with
 * other chances than theirs. */
static bool is_left_to_chance(const hw__target *target, uint64_t stage, hw__draws *d, hw__annealed *out) {
  enum { SOME = 256 };
  double *log_prior = d->room, *log_likelihood = d->room + SOME, sum = 0, squares = 0;
  uint64_t *chance = d->chance + target->stage;
  hw__draws_take_chances(d, stage, target->stage, SOME);
  target->evaluate(target->context, target->phases - 1, chance, SOME, d->x, log_prior, log_likelihood);
  out->evaluations += SOME;
  for (size_t i = 0; i < SOME; i++) {
    const double apart = log_likelihood[i] - d->log_likelihood[i];
    if (d->weight[i] > 0 && isfinite(apart)) {
      sum += d->weight[i];
      squares += d->weight[i] * apart * apart;
    }
  }
  return 0.5 * squares > -log(wanted_share) * sum;
}

typedef enum { IMPOSSIBLE, DRAWN_ANEW, IN_PLACE } closing;

/* Closes in on the posterior of one phase, from the draws in place. Returned: whether any draw is possible; whether
 * those in place are the last of its stages, at full heat and weighed, or new ones from the proposal. */
static closing close_in(const hw__target *target, size_t phase, bool briefly, hw_rng *rng, uint64_t *stage,
                        hw__draws *d, hw__annealed *out) {
  const size_t n = target->stage;
  const bool last = phase + 1 == target->phases;
  size_t refined = 0;
  for (size_t i = 0; i < STAGES; i++) {
    hw__draws_take_chances(d, (*stage)++, 0, n);
    target->evaluate(target->context, phase, d->chance, n, d->x, d->log_prior, d->log_likelihood);
    out->evaluations += n;
    const double heat = fitting_heat(d, n);
    const weighing w = weigh(d, n, heat);
    out->effective = w.effective;
    out->log_evidence = w.log_mean;
    if (!(w.effective > 0)) {
      return IMPOSSIBLE;
    }
    const bool by_chance =
        last && heat < 1 && i % PATIENCE == PATIENCE - 1 && is_left_to_chance(target, (*stage)++, d, out);
    hw__mixture_fit(target->dims, n, d->x, d->weight, d->room, &out->proposal);
    if (last && briefly && heat >= 1) {
      return IN_PLACE;
    }
    draw_from(&out->proposal, rng, n, d);
    if (by_chance) {
      break;
    }
    if (heat >= (last ? 1 : target->led) &&
        (!last || w.effective > good_share * (double)n || refined++ >= REFINEMENTS)) {
      break;
    }
  }
  return DRAWN_ANEW;
}

/* How many draws of the proposal leave enough effective, as many of them as were in the last stage: in blocks, as they
 * are evaluated. */
static size_t enough_draws(const hw__target *target, const hw__annealed *stage) {
  static const double block = 256;
  const double share = stage->effective / (double)target->stage;
  const double n = block * ceil(target->ample / share / block);
  return target->ample > 0 && n < (double)target->final ? (size_t)n : target->final;
}

hw__annealed hw__anneal(const hw__target *target, uint64_t seed, uint64_t stream, const hw__mixture *from, bool briefly,
                        hw__draws *d) {
  hw__annealed out = {.log_evidence = -INFINITY, .drawn = target->stage};
  uint64_t stage = 0;
  hw_rng rng;
  hw_rng_seed(&rng, seed, stream);
  if (from) {
    draw_from(from, &rng, target->stage, d);
  } else {
    target->start(target->context, &rng, target->stage, d->x, d->log_proposal);
  }
  for (size_t phase = from ? target->phases - 1 : target->first; phase < target->phases; phase++) {
    const closing closed = close_in(target, phase, briefly, &rng, &stage, d, &out);
    if (closed != DRAWN_ANEW) {
      out.found = closed == IN_PLACE;
      return out;
    }
  }
  size_t n = briefly ? target->stage : enough_draws(target, &out);
  for (int tries = 0;; tries++) {
    draw_from(&out.proposal, &rng, n, d);
    hw__draws_take_chances(d, ++stage, 0, n);
    target->evaluate(target->context, target->phases - 1, d->chance, n, d->x, d->log_prior, d->log_likelihood);
    out.evaluations += n;
    const weighing w = weigh(d, n, 1);
    out.effective = w.effective;
    out.log_evidence = w.log_mean;
    if (w.effective >= enough_share * (double)n || !(w.effective > 0) || tries == RETRIES || briefly) {
      break;
    }
    /* A damped fit: with few effective draws the heaviest alone would decide. */
    weigh(d, n, fitting_heat(d, n));
    hw__mixture_fit(target->dims, n, d->x, d->weight, d->room, &out.proposal);
    n = target->final;
  }
  out.drawn = n;
  if (!briefly && out.effective > 0 && out.effective < too_few) {
    const hw__moved moved = hw__moves(target, &out.proposal, stage + 1, &rng, d);
    out.drawn = HW__WALKERS;
    out.effective = moved.effective;
    out.log_evidence = moved.log_evidence;
    out.evaluations += moved.evaluations;
    hw__mixture_fit(target->dims, HW__WALKERS, d->x, d->weight, d->room, &out.proposal);
  }
  out.found = out.effective > 0;
  return out;
}

double hw__anneal_glance(const hw__target *target, uint64_t seed, uint64_t stream, const hw__mixture *from,
                         hw__draws *d) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, stream);
  draw_from(from, &rng, target->stage, d);
  hw__draws_take_chances(d, 0, 0, target->stage);
  target->evaluate(target->context, target->phases - 1, d->chance, target->stage, d->x, d->log_prior,
                   d->log_likelihood);
  return weigh(d, target->stage, 1).log_mean;
}

#include "posterior/anneal.h"

#include <math.h>

#include "posterior/moves.h"

/* Stages of the last phase from which on draws are pooled: the first ones are far off. */
enum { STAGES = 30, PATIENCE = 5, POOLED_FROM = 2, REFINEMENTS = 2, RETRIES = 3 };
static const double wanted_share = 0.2;  /* of a stage's draws to stay effective */
static const double good_share = 0.45;   /* from here on the proposal needs no refining */
static const double enough_share = 0.15; /* of the last sample */
/* Effective draws below which they are led on by moves. Not sooner: along a narrow bend walkers come too slowly into
 * the tails, where a few heavy draws have been. */
static const double too_few = 100;

/* One run from the start to the answer. */
typedef struct {
  const hw__target *target;
  hw__draws *draws;
  hw_rng rng;
  uint64_t stage; /* evaluations so far: each has chances of its own */
  hw__pooled pooled;
  size_t fresh, count; /* first draw in place that is not evaluated, and all of them */
} run;

/* The most heat that leaves so many of n draws effective. *whole: the weighing at full heat. */
static double fitting_heat(hw__draws *d, size_t n, double wanted, hw__weighing *whole) {
  *whole = hw__draws_weigh(d, n, 1);
  if (whole->effective >= wanted) {
    return 1;
  }
  double lo = -60, hi = 0; /* ln heat */
  for (int i = 0; i < 14; i++) {
    const double middle = 0.5 * (lo + hi);
    if (hw__draws_weigh(d, n, exp(middle)).effective >= wanted) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return exp(lo);
}

/* n draws of the proposal, in the place of those that are there or beside them. */
static void draw(run *r, const hw__mixture *proposal, size_t n, bool beside) {
  if (!beside) {
    r->pooled.sources = r->pooled.count = 0;
  }
  r->fresh = hw__pooled_add(&r->pooled, proposal, &r->rng, n, r->draws);
  r->count = r->pooled.count;
}

/* The draws that are not yet, in this phase. */
static void evaluate(run *r, size_t phase, hw__annealed *out) {
  hw__draws *d = r->draws;
  const size_t at = r->fresh, n = r->count - at;
  double *x[HW__DIMENSIONS];
  for (size_t k = 0; k < HW__DIMENSIONS; k++) {
    x[k] = d->x[k] + at;
  }
  hw__draws_take_chances(d, r->stage, at, n);
  r->target->evaluate(r->target->context, phase, d->chance + at, n, x, d->log_prior + at, d->log_likelihood + at);
  out->evaluations += n;
}

/* Where there is chance in the likelihood, of what is drawn inside it (walk.c), no proposal leaves more of the draws
 * effective than exp(-variance of its logarithm): whether that is too little, told by a part of the draws at hand, with
 * other chances than theirs. */
static bool is_left_to_chance(run *r, hw__annealed *out) {
  enum { SOME = 256 };
  const hw__target *target = r->target;
  hw__draws *d = r->draws;
  double *log_prior = d->room, *log_likelihood = d->room + SOME, sum = 0, squares = 0;
  double *x[HW__DIMENSIONS];
  uint64_t chance[SOME];
  for (size_t k = 0; k < HW__DIMENSIONS; k++) {
    x[k] = d->x[k] + r->fresh;
  }
  for (size_t i = 0; i < SOME; i++) {
    chance[i] = hw__chance(r->stage, i);
  }
  r->stage++;
  target->evaluate(target->context, target->phases - 1, chance, SOME, x, log_prior, log_likelihood);
  out->evaluations += SOME;
  for (size_t i = 0; i < SOME; i++) {
    const double apart = log_likelihood[i] - d->log_likelihood[r->fresh + i], weight = d->weight[r->fresh + i];
    if (weight > 0 && isfinite(apart)) {
      sum += weight;
      squares += weight * apart * apart;
    }
  }
  return 0.5 * squares > -log(wanted_share) * sum;
}

typedef enum { IMPOSSIBLE, DRAWN_ANEW, IN_PLACE, UNWANTED } closing;

/* Closes in on the posterior of one phase, from the draws in place. Returned: whether any draw is possible; whether
 * those in place are the last of its stages, at full heat and weighed, or new ones from the proposal; or whether the
 * evidence will not be what is wanted at least. Before the draws are half way to full heat the mean weight there tells
 * nothing: of a release of a day it rises by a hundred in ln from stage to stage. */
static closing close_in(run *r, size_t phase, bool briefly, hw__annealed *out) {
  static const double surely = 5, half_way = 0.5;
  const hw__target *target = r->target;
  hw__draws *d = r->draws;
  const size_t n = target->stage;
  const bool last = phase + 1 == target->phases;
  double reached = -INFINITY;
  size_t refined = 0;
  for (size_t i = 0; i < STAGES; i++) {
    hw__weighing whole;
    evaluate(r, phase, out);
    r->stage++;
    const double heat = fitting_heat(d, r->count, wanted_share * (double)n, &whole);
    const hw__weighing w = hw__draws_weigh(d, r->count, heat);
    out->effective = w.effective;
    out->log_evidence = w.log_mean;
    out->drawn = r->count;
    if (!(w.effective > 0)) {
      return IMPOSSIBLE;
    }
    reached = fmax(reached, whole.log_mean);
    if (last && target->contested && heat > half_way && reached < target->least - surely) {
      out->log_evidence = reached;
      return UNWANTED;
    }
    const bool by_chance = last && heat < 1 && i + 1 == PATIENCE && is_left_to_chance(r, out);
    hw__mixture_fit(target->dims, r->count, d->x, d->weight, d->room, &out->proposal);
    if (last && briefly && heat >= 1) {
      return IN_PLACE;
    }
    draw(r, &out->proposal, n, last && i >= POOLED_FROM);
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
  const double share = stage->effective / (double)stage->drawn;
  const double n = block * ceil(target->ample / share / block);
  return target->ample > 0 && n < (double)target->final ? (size_t)n : target->final;
}

hw__annealed hw__anneal(const hw__target *target, uint64_t seed, uint64_t stream, const hw__mixture *from, bool briefly,
                        hw__draws *d) {
  hw__annealed out = {.log_evidence = -INFINITY, .drawn = target->stage};
  run r = {.target = target, .draws = d, .count = target->stage};
  hw_rng_seed(&r.rng, seed, stream);
  if (from) {
    draw(&r, from, target->stage, false);
  } else {
    target->start(target->context, &r.rng, target->stage, d->x, d->log_proposal);
  }
  for (size_t phase = from ? target->phases - 1 : target->first; phase < target->phases; phase++) {
    const closing closed = close_in(&r, phase, briefly, &out);
    if (closed != DRAWN_ANEW) {
      out.found = closed == IN_PLACE || closed == UNWANTED;
      return out;
    }
  }
  size_t n = briefly ? target->stage : enough_draws(target, &out);
  for (int tries = 0;; tries++) {
    draw(&r, &out.proposal, n, tries > 0);
    r.stage++;
    evaluate(&r, target->phases - 1, &out);
    const hw__weighing w = hw__draws_weigh(d, r.count, 1);
    out.effective = w.effective;
    out.log_evidence = w.log_mean;
    if (w.effective >= enough_share * (double)n || !(w.effective > 0) || tries == RETRIES || briefly) {
      break;
    }
    /* A damped fit: with few effective draws the heaviest alone would decide. */
    hw__weighing whole;
    hw__draws_weigh(d, r.count, fitting_heat(d, r.count, wanted_share * (double)r.count, &whole));
    hw__mixture_fit(target->dims, r.count, d->x, d->weight, d->room, &out.proposal);
    n = target->final;
  }
  out.drawn = r.count;
  if (!briefly && out.effective > 0 && out.effective < too_few) {
    const hw__moved moved = hw__moves(target, &out.proposal, r.stage + 1, &r.rng, d);
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
  hw__annealed out = {0};
  run r = {.target = target, .draws = d};
  hw_rng_seed(&r.rng, seed, stream);
  draw(&r, from, target->stage, false);
  evaluate(&r, target->phases - 1, &out);
  return hw__draws_weigh(d, r.count, 1).log_mean;
}

/* The branches against each other: how probable each is, with the candidates on them, and what they say together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "posterior/network_inside.h"

/* Adds to the candidates what this branch explains of them, its weight the branch's probability if all of the channel
 * is as likely. */
static void add_odds(hw__network *n, hw__part *p) {
  hw__ade *a = p->engine;
  if (!a || !a->found.found || p->river.candidate_count == 0) { /* no engine: the branch was not asked */
    return;
  }
  hw_river river = p->river; /* when somebody was active is told by the wall's clock */
  river.search.lo.time_s = n->river->search.lo.time_s;
  river.search.hi.time_s = n->river->search.hi.time_s;
  river.none_prior = 0.5; /* so that a probability over that of none is the odds */
  const size_t rows = hw__summary_suspicions(&river, p->samples, HW__FINAL, NULL, NULL, &a->sorting, a->suspicions);
  double none = 0, here = 0, all = 0;
  for (size_t k = 0; k < rows; k++) {
    none = a->suspicions[k].candidate < 0 ? a->suspicions[k].probability : none;
  }
  for (size_t k = 0; k < p->river.candidate_count; k++) {
    here += hw__candidate_weight(&p->river.candidates[k]);
  }
  for (size_t k = 0; k < n->river->candidate_count; k++) {
    all += hw__candidate_weight(&n->river->candidates[k]);
  }
  /* Odds against none of these, as if only this course's candidates were there and only its channel searched. */
  const double scale = (1 - n->river->none_prior) * p->weight * n->searched_m / p->length_m * here / all;
  for (size_t k = 0; k < rows && none > 0; k++) {
    const ptrdiff_t c = a->suspicions[k].candidate;
    for (size_t i = 0; c >= 0 && i < n->river->candidate_count; i++) {
      if (strcmp(n->river->candidates[i].id, p->river.candidates[c].id) == 0) {
        n->odds[i] += scale * a->suspicions[k].probability / none;
      }
    }
  }
}

double hw__network_all_odds(const hw__network *n) {
  double total = n->river->none_prior;
  for (size_t k = 0; k < n->river->candidate_count; k++) {
    total += n->odds[k];
  }
  return total;
}

/* A branch is as probable as the candidates on it, and where it was none of them as what it explains. */
static void weigh_by_candidates(hw__network *n) {
  const double total = hw__network_all_odds(n);
  for (size_t k = 0; k < n->part_count && n->river->candidate_count > 0 && total > 0; k++) {
    hw__part *p = &n->parts[k];
    double sum = n->river->none_prior * p->weight;
    for (size_t i = 0; i < n->river->candidate_count; i++) {
      sum += n->river->candidates[i].branch == p->branch ? n->odds[i] : 0;
    }
    p->weight = sum / total;
  }
}

static void add_exceeds(hw__network *n, hw__part *p) {
  hw__ade *a = p->engine;
  const size_t count = a->found.found ? hw__ade_forecast(a) : 0;
  for (size_t k = 0; k < count; k++) {
    for (size_t i = 0; i < n->river->intake_count; i++) {
      if (strcmp(n->river->intakes[i].id, p->river.intakes[a->arrivals[k].intake].id) == 0) {
        n->exceeds[i] += isfinite(a->arrivals[k].exceeds_alarm) && a->probability > 0
                             ? p->weight * a->arrivals[k].exceeds_alarm / a->probability
                             : 0;
      }
    }
  }
}

/* The part's share of the samples. */
static void add_samples(hw__network *n, const hw__part *p) {
  const size_t share = (size_t)(p->weight * HW__FINAL + 0.5);
  double running = 0;
  size_t given = 0;
  for (size_t i = 0; i < HW__FINAL && given < share && n->sample_count < HW__FINAL; i++) {
    running += p->samples[i].weight;
    while (given < share && n->sample_count < HW__FINAL && ((double)given + 0.5) / (double)share < running) {
      hw_sample *s = &n->samples[n->sample_count++];
      *s = p->samples[i];
      s->weight = 1;
      given++;
    }
  }
}

static int by_weight(const void *a, const void *b) {
  const hw_branch_share *x = a, *y = b;
  return (x->probability < y->probability) - (x->probability > y->probability);
}

void hw__network_combine(hw__network *n) {
  double most = -INFINITY, total = 0;
  for (size_t k = 0; k < n->part_count; k++) {
    most = n->parts[k].engine ? fmax(most, n->parts[k].weight) : most;
  }
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part *p = &n->parts[k];
    p->weight = p->engine && isfinite(most) ? exp(p->weight - most) : 0;
    total += p->weight;
  }
  n->probability = isfinite(most) ? hw__spill_probability(most + log(total)) : 0;
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part *p = &n->parts[k];
    p->weight = total > 0 ? p->weight / total : 0;
    if (p->weight > 0) {
      add_odds(n, p);
    }
  }
  weigh_by_candidates(n);
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part *p = &n->parts[k];
    n->shares[k] = (hw_branch_share){p->branch, p->weight};
    n->best = p->engine && (!n->best || p->weight > n->best->weight) ? p : n->best;
    if (p->engine && p->weight > 0) {
      add_exceeds(n, p);
      add_samples(n, p);
    }
  }
  qsort(n->shares, n->part_count, sizeof *n->shares, by_weight);
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part *p = &n->parts[k];
    if (p != n->best) {
      hw__part_forget(p);
    }
  }
}

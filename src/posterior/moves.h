/* Draws that walk, for posteriors that no mixture comes near: long and bent ones.
 *
 * Points drawn from a proposal are led to the posterior in steps of heat, as in anneal.h: each step weighs them so that
 * half of them stay effective, draws them again by their weights and lets every one of them walk. A walk's step is the
 * difference of two other points (differential evolution: ter Braak, Statistics and Computing 16, 2006), which has the
 * posterior's own scale and direction wherever the points are; it is taken with the probability of Metropolis. Where
 * the likelihood has chance in it a point takes along the one it was accepted with.
 */
#ifndef HW_POSTERIOR_MOVES_H
#define HW_POSTERIOR_MOVES_H

#include "posterior/anneal.h"

enum { HW__WALKERS = HW__FINAL / 2 };

typedef struct {
  double effective, log_evidence;
  size_t evaluations;
} hw__moved;

/* Leads points drawn from the proposal to the target's last phase. draws->x and ->weight hold the answer: the first
 * HW__WALKERS of them, the others with weight 0. `stage` is the first that is free. */
hw__moved hw__moves(const hw__target *target, const hw__mixture *from, uint64_t stage, hw_rng *rng, hw__draws *draws);

#endif

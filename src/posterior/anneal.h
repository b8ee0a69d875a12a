/* From the prior to the posterior by importance draws that learn.
 *
 * Draws are made from a proposal, weighed by prior x likelihood^heat / proposal with as much heat (at most 1) as leaves
 * a fifth of them effective, and a mixture is fitted to them as the next proposal; so the draws close in on the
 * posterior in a few stages. Where they do not, because no mixture has the posterior's shape, the draws of further
 * stages are pooled (draws.h). A target may have phases, likelihoods that lead from an easy question to the one that is
 * meant; each begins where the one before arrived. Once the heat is 1 a last, larger sample is drawn. Its weights give
 * the answer, and their mean the evidence: how well the hypothesis predicted the readings as a whole. Where no mixture
 * comes near enough the draws go on by moves of their own (moves.h).
 *
 * Everything is a function of the target and the random numbers: nothing is left over from earlier answers.
 */
#ifndef HW_POSTERIOR_ANNEAL_H
#define HW_POSTERIOR_ANNEAL_H

#include "posterior/draws.h"

typedef struct {
  size_t dims, phases;
  size_t first;   /* phase that `start` begins with */
  size_t stage;   /* draws of a stage, at most HW__STAGE */
  size_t final;   /* and most of the sample that is the answer, at most HW__FINAL */
  double ample;   /* effective draws that are enough for it; 0: it has `final` */
  double led;     /* heat at which a phase that is not the last has led far enough */
  bool contested; /* by others that have come to more: */
  double least;   /* the stages end where the evidence, ln, will plainly be less than this */
  void *context;
  /* n first draws x[k][i] and ln of the density they were made from. */
  void (*start)(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal);
  /* ln prior (-INFINITY outside) and ln likelihood of n points in this phase. Where there is chance in a point's
   * likelihood, chance[i] tells which: the same number, the same likelihood. */
  void (*evaluate)(void *context, size_t phase, const uint64_t *chance, size_t n, double *const *x, double *log_prior,
                   double *log_likelihood);
} hw__target;

typedef struct {
  bool found;           /* some draw has a positive probability */
  double log_evidence;  /* where the stages ended below the target's least: about so much at most */
  size_t drawn;         /* draws in use */
  double effective;     /* number of them */
  size_t evaluations;   /* points looked at */
  hw__mixture proposal; /* of the last draws */
} hw__annealed;

/* draws->x and ->weight (summing to 1) hold the last sample. from: a proposal that is near already, so that the last
 * phase alone is gone through (NULL: begin at the start). briefly: on the way to an answer the first stage at full heat
 * is sample enough. */
hw__annealed hw__anneal(const hw__target *target, uint64_t seed, uint64_t stream, const hw__mixture *from, bool briefly,
                        hw__draws *draws);

/* The evidence from one stage of draws of this proposal alone, ln: a glance. */
double hw__anneal_glance(const hw__target *target, uint64_t seed, uint64_t stream, const hw__mixture *from,
                         hw__draws *draws);

#endif

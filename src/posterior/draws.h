/* Weighted draws, and draws of several proposals as one sample.
 *
 * Pooled draws are weighed by the density of all proposals together, each counted by how many draws it gave (Owen and
 * Zhou 2000; Cornuet, Marin, Mira and Robert 2012). So what an earlier proposal has found is not thrown away, and a
 * draw that one of them hardly makes has no weight out of proportion where another makes it often.
 */
#ifndef HW_POSTERIOR_DRAWS_H
#define HW_POSTERIOR_DRAWS_H

#include <stdbool.h>

#include "posterior/mixture.h"

enum { HW__STAGE = 1024, HW__FINAL = 4096 };

/* Room for the draws; allocated once. */
typedef struct {
  double *x[HW__DIMENSIONS]; /* HW__FINAL each */
  double *weight, *log_prior, *log_likelihood, *log_proposal, *room;
  uint64_t *chance;
  void *memory;
  size_t bytes;
} hw__draws;

bool hw__draws_create(hw__draws *out);
void hw__draws_free(hw__draws *draws);
/* What is drawn by chance inside the likelihood of draw i of a stage: no other draw has the same. */
static inline uint64_t hw__chance(uint64_t stage, size_t i) {
  return (stage + 1) * 65536 + i;
}
/* Of n draws from `at` on. */
void hw__draws_take_chances(hw__draws *draws, uint64_t stage, size_t at, size_t n);

typedef struct {
  double effective, log_mean;
} hw__weighing;

/* Weights of the first n draws at this heat, summing to 1. */
hw__weighing hw__draws_weigh(hw__draws *draws, size_t n, double heat);

enum { HW__POOLED = HW__FINAL / (HW__STAGE / 2) };

/* Which proposals the draws in place are of. All 0: none. */
typedef struct {
  size_t sources, count; /* proposals, and draws of them all */
  size_t given[HW__POOLED];
  hw__mixture proposal[HW__POOLED];
} hw__pooled;

/* n more draws, of this proposal, behind those in place; where there is no room for them the pool begins anew. Their
 * coordinates and everybody's ln density. Returned: where they begin. */
size_t hw__pooled_add(hw__pooled *pooled, const hw__mixture *proposal, hw_rng *rng, size_t n, hw__draws *draws);

#endif

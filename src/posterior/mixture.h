/* A mixture of Student's t distributions: what importance draws are made from.
 *
 * Its tails are heavier than the posterior's, so that no draw can get a weight out of proportion; several members
 * follow a posterior that is bent, cut off by the box or in two pieces.
 */
#ifndef HW_POSTERIOR_MIXTURE_H
#define HW_POSTERIOR_MIXTURE_H

#include <stddef.h>

#include "headwater/rng.h"

enum { HW__DIMENSIONS = 11, HW__MEMBERS = 4 };

typedef struct {
  double share;
  double mean[HW__DIMENSIONS];
  double root[HW__DIMENSIONS][HW__DIMENSIONS]; /* Cholesky factor of the scale matrix, lower */
  double log_norm;                             /* ln of share times the density's constant */
} hw__member;

typedef struct {
  size_t dims, count;
  hw__member member[HW__MEMBERS];
} hw__mixture;

/* Fitted to n weighted points by a few rounds of expectation and maximisation. x[k][i]: coordinate k of point i;
 * weights sum to 1, at least one is positive. `room` holds n * HW__MEMBERS numbers. */
void hw__mixture_fit(size_t dims, size_t n, double *const *x, const double *weight, double *room, hw__mixture *out);
/* The same with one more coordinate, which does not depend on the others. */
void hw__mixture_extend(const hw__mixture *mixture, double mean, double scale, hw__mixture *out);
void hw__mixture_draw(const hw__mixture *mixture, hw_rng *rng, double *x);
/* ln density at n points, within 1e-10; columns as above. */
void hw__mixture_log_densities(const hw__mixture *mixture, size_t n, double *const *x, double *out);

#endif

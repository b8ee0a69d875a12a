/* What the two halves of the error-bound check share: the losses, the box's units, Algorithm 5's way through the
 * readings, and points drawn nearby. */
#ifndef HW_REGRET_ERROR_BOUND_H
#define HW_REGRET_ERROR_BOUND_H

#include "headwater/regret.h"
#include "headwater/rng.h"
#include "loss/misfit.h"

typedef struct {
  const hw_river *river;
  const hw_reading *readings;
  size_t count;
  hw_error_bound_options options;
  hw__misfit misfit;
  hw__window window, one;
  hw__packed packed, single; /* all readings; one of them */
  hw_box box;
  double width[3];
  double scale; /* of the loss */
  hw_rng rng;
  hw_source *played; /* count + 1 of them: what Algorithm 5 stood at before each reading, and after the last */
} hw__bound_check;

/* The smallest eigenvalue of a loss's Hessian at x in box widths; 0 where it is not positive beyond rounding, because a
 * Hessian of rank one must not pass by chance. */
double hw__bound_least_eigenvalue(hw__bound_check *c, const hw__packed *packed, const hw_source *x);
/* The share of options.samples points within `radius` box widths of x where that is positive. */
double hw__bound_share_positive(hw__bound_check *c, const hw__packed *packed, const hw_source *x, double radius);
/* |grad| of a loss at x in box widths, scaled; *value, unless NULL, is the loss, scaled. */
double hw__bound_gradient(hw__bound_check *c, const hw__packed *packed, const hw_source *x, double *value);
/* Euclidean, in box widths. */
double hw__bound_distance(const hw__bound_check *c, const hw_source *x, const hw_source *y);

/* Definition 4.1 and Proposition 4.2 (stationary.c), at out->constants and out->eigenvalue. */
void hw__bound_sort_points(hw__bound_check *c, hw_error_bound *out);
/* Assumption 4.6 (single_bound.c); fills out->constants too. Status: HW_ENOMEM */
hw_status hw__bound_check_singles(hw__bound_check *c, hw_error_bound *out);

#endif

/* What is asked of a second order beside its value. */
#ifndef HW_POSTERIOR_QUADRATIC_H
#define HW_POSTERIOR_QUADRATIC_H

#include "posterior/view.h"

/* ln of the square root of the determinant of the first n rows and columns, by Cholesky; NAN where they are not
 * positive definite. Symmetric: only the lower triangle is read. */
double hw__log_root_det(size_t n, const double matrix[HW__PULSE_SIZE][HW__PULSE_SIZE]);

/* What a likelihood of this curvature loses, ln, where its place had to be met by chance: over normal priors of these
 * standard deviations (0: known) it is worth ln det(I + J P) / 2 less than at its top. Never negative. */
double hw__price_of_meeting(const hw__quadratic *q, const double sd[HW__INSTANT_SIZE]);

#endif

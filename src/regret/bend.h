/* The bending of losses in box widths: Hessians and their eigenvalues. */
#ifndef HW_REGRET_BEND_H
#define HW_REGRET_BEND_H

#include "loss/misfit.h"

/* The Hessian of the packed readings' mean loss, per box width^2 and times loss_scale. */
void hw__bend_hessian(hw__misfit *misfit, const hw__packed *packed, const double width[3], double loss_scale,
                      const hw_source *x, double out[3][3]);
/* Eigenvalues of a symmetric matrix, smallest first (Jacobi's rotations). */
void hw__bend_eigenvalues(const double matrix[3][3], double out[3]);

#endif

/* How steep the loss can be: Lipschitz moduli estimated on a grid over the box.
 *
 * The paper's Algorithm 3 takes, per coordinate, the largest slope between any two of K points on a grid line.
 * That maximum is always attained by neighbours, so K^3 evaluations and as many differences suffice.
 */
#ifndef HW_LOSS_LIPSCHITZ_H
#define HW_LOSS_LIPSCHITZ_H

#include "loss/misfit.h"

/* K points per side, K >= 2. Returned: slope[3] in SI units. */
void hw__lipschitz_slopes(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, size_t k, double slope[3]);

/* Given:    unit[3], the size of one unit of mass, location and time in SI (1, 1, 60 for the paper's minutes),
 *           loss_scale by which F is multiplied
 * Returned: smoothness and Hessian-Lipschitz modulus in those units */
void hw__lipschitz_curvature(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, size_t k,
                             const double unit[3], double loss_scale, double *smoothness, double *hessian);

#endif

/* Leaving a poor stationary point by chance: the resolved form of the paper's Algorithm 5, shared by aptgd
 * (one path) and mptgd (many). */
#ifndef HW_ONLINE_PERTURB_H
#define HW_ONLINE_PERTURB_H

#include "online/learner.h"

/* Uniform in the unit ball. */
void hw__draw_ball(hw_rng *rng, double out[3]);

/* Descend; then jump inside a ball of options.perturbation box widths, descend a little, and keep the jump if
 * F fell clearly. An hw__advance. */
void hw__advance_perturbed(const hw__learner *learner, hw__path *path);

#endif

/* A step down the river drawn at random: its prior times what the next station sees, both Gaussian. */
#ifndef HW_POSTERIOR_STEP_DRAW_H
#define HW_POSTERIOR_STEP_DRAW_H

#include "headwater/rng.h"
#include "posterior/stretch.h"

/* Draws n. Returned: ln prior - ln density drawn from. */
double hw__draw_step(const hw__fit *fit, const hw__stretch *s, const hw__step_prior *prior, hw_rng *rng,
                     double n[HW__STEP]);

#endif

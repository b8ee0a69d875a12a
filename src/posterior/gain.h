/* A sensor's gain drawn at random: its prior times what the sensor's own pulse says of it, both Gaussian. */
#ifndef HW_POSTERIOR_GAIN_H
#define HW_POSTERIOR_GAIN_H

#include "headwater/rng.h"
#include "posterior/pulse.h"

/* Draws ln gain, with sd > 0 beforehand, where the plume would make the pulse y. Returned: ln prior - ln density drawn
 * from. */
double hw__draw_gain(const hw__fit *fit, const double y[HW__PULSE_SIZE], double sd, hw_rng *rng, double *ln_gain);

#endif

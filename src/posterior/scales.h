/* Do the sensors agree about how much passed them? */
#ifndef HW_POSTERIOR_SCALES_H
#define HW_POSTERIOR_SCALES_H

#include "posterior/ade.h"

/* Warns of the sensor whose pulse holds plainly more or less than those of the others, or of both where there are only
 * two: a calibration may be off. Asked after the samples are there. */
void hw__ade_warn_scales(hw__ade *a);

#endif

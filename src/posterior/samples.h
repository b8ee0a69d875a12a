/* From weighted draws to samples of the posterior, and to a few equally weighted ones that are followed down the
 * river. */
#ifndef HW_POSTERIOR_SAMPLES_H
#define HW_POSTERIOR_SAMPLES_H

#include "posterior/ade.h"

/* Draw by draw: what it supposes, and how many of `wanted` equally weighted ones it stands for. */
typedef struct {
  size_t wanted, given, times;
  double running;
} hw__picking;

/* Draw i: its release, its sights in a->spill.sight, and how often it is picked. */
hw__release hw__ade_pick(hw__ade *a, size_t i, hw__picking *p);
/* The draws at hand become the samples. */
void hw__ade_set_samples(hw__ade *a);
/* The draws at hand take `share` of the samples, those in place keep the rest; all equally weighted then. */
void hw__ade_mix_samples(hw__ade *a, double share);

#endif

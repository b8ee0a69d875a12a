/* From weighted draws to samples of the posterior, and to a few equally weighted ones that are followed down the
 * river. */
#ifndef HW_POSTERIOR_SAMPLES_H
#define HW_POSTERIOR_SAMPLES_H

#include "posterior/ade.h"

/* Of the weighted draws at hand `wanted` equally weighted ones, systematically chosen: their indices. Returned: how
 * many there are, `wanted` unless no draw has a weight. */
size_t hw__ade_pick(const hw__ade *a, size_t wanted, size_t *index);
/* The draws at hand become the samples. */
void hw__ade_set_samples(hw__ade *a);
/* The draws at hand take `share` of the samples, those in place keep the rest; all equally weighted then. */
void hw__ade_mix_samples(hw__ade *a, double share);

#endif

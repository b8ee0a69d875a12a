/* Draws of one hypothesis, look by look.
 *
 * Below the anchor sensors are taken in by the second order of their likelihood: at first about their own pulse, and
 * then about the pulse that the draws expect there.
 */
#ifndef HW_POSTERIOR_LOOKS_H
#define HW_POSTERIOR_LOOKS_H

#include "posterior/ade.h"

/* Random numbers of the hypothesis of a release that lasts. */
#define HW__LASTING_STREAM (UINT64_C(1) << 40)

/* Draws of the hypothesis at hand, following the pulse of this sensor: stations, draws and found. */
void hw__ade_explore(hw__ade *a, size_t sensor);
/* What the pulses look like to a release that lasts, and how long it can have been: from a minute to what the search
 * and the record allow. `expected`: seen where draws of an instant's release last expected them. */
void hw__ade_expect_lasting(hw__ade *a, size_t anchor, bool expected);

#endif

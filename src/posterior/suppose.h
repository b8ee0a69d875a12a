/* Which hypotheses are supposed, and what comes of them: an instant's release or one that lasted, and whose pulse it
 * is that is followed. */
#ifndef HW_POSTERIOR_SUPPOSE_H
#define HW_POSTERIOR_SUPPOSE_H

#include "posterior/ade.h"

/* One release, an instant's or one that lasted, following one of these sensors' pulses: samples, evidence, blame. */
void hw__ade_suppose(hw__ade *a, const size_t *anchor, size_t anchors);
/* What was deferred (ade.h): the duration beside the instant that is in place. */
void hw__ade_suppose_duration(hw__ade *a);

#endif

/* The sensors as the river sees them: in order of place, their pulses, and which pulse to follow. */
#ifndef HW_POSTERIOR_STATIONS_H
#define HW_POSTERIOR_STATIONS_H

#include "posterior/ade.h"

enum { HW__ANCHORS = 3 };

/* Stations: every sensor that has spoken, from upstream to downstream, as the river looks at it when the pulse at the
 * sensor `anchor` is followed. Returned: the anchor's place among them. */
size_t hw__ade_set_stations(hw__ade *a, size_t anchor);
/* ln probability of all readings without a release. */
double hw__ade_log_without(const hw__ade *a);
/* Sensors whose pulse may be followed, the likeliest first. Returned: how many. */
size_t hw__ade_anchors(const hw__ade *a, size_t out[HW__ANCHORS]);

#endif

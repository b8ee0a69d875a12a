/* A station with a reading or two, a grab sample: there is no pulse of its own that the filter could take in, so its
 * readings choose among states drawn from what the filter expects there. */
#ifndef HW_POSTERIOR_GRAB_H
#define HW_POSTERIOR_GRAB_H

#include "headwater/rng.h"
#include "posterior/filter.h"
#include "posterior/kernel.h"
#include "posterior/spill.h"

/* hw__plume of one point. */
typedef struct {
  double mean[HW__STATE], cov[HW__STATE][HW__STATE];
} hw__state;

/* Given:    the station's view, prepared; the state as the filter expects it, the area there without the sensor's gain
 * Returned: *state and *area_g_s_m3, chosen, nothing in doubt of them; ln of the mean probability of all that were
 *           drawn over that of the chosen one, which the readings themselves bring */
double hw__grab_meet(const hw__spill *spill, const hw__release *release, const hw__station *station,
                     const hw__prepared *readings, hw_rng *rng, hw__state *state, double *area_g_s_m3);

#endif

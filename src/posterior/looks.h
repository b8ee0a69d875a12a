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

/* Draws of the hypothesis at hand, following the pulse of this sensor: stations, draws and found. near: of
 * a release that lasts, where draws of an instant's lay that followed the same pulse (NULL: begin anywhere). */
void hw__ade_explore(hw__ade *a, size_t sensor, const hw__mixture *near);
/* Keeps the draws at hand as the best of their kind, for hw__ade_take_up: stations, draws and found once more,
 * following the same sensor's pulse, without the way there. */
void hw__ade_keep(hw__ade *a);
void hw__ade_take_up(hw__ade *a, size_t sensor);
/* An instant's draws with durations added that a pulse of this width may hide. */
void hw__ade_add_durations(const hw__ade *a, const hw__mixture *instant, hw__mixture *out);
/* ln odds of the draws at hand against no release. */
double hw__ade_odds(const hw__ade *a);
/* Below the anchor pulses are taken in by the filter, so that what the river leaves open counts in their likelihood. */
bool hw__ade_is_filtering(const hw__ade *a);
/* What the pulses look like to a release that lasts, and how long it can have been: from a minute to what the search
 * and the record allow. `expected`: seen where draws of an instant's release last expected them. */
void hw__ade_expect_lasting(hw__ade *a, size_t anchor, bool expected);

#endif

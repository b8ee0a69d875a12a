/* Down the river with one point of the hypothesis: what it makes of every station. */
#ifndef HW_POSTERIOR_WALK_H
#define HW_POSTERIOR_WALK_H

#include "headwater/rng.h"
#include "posterior/spill.h"

/* Point i of a stage as a release, and what it makes of every station, drawn as evaluate drew it. Returned: ln of prior
 * over density of what was drawn on the way. */
double hw__spill_walk(const hw__spill *spill, uint64_t stage, size_t i, double *const *x, hw__release *release,
                      hw__sight *sight);
/* The curve at a place below, drawn on from the last station above it. */
hw__curve hw__spill_carry(const hw__spill *spill, const hw__release *release, const hw__sight *sight, double x_m,
                          hw_rng *rng);

/* Whether station k's own pulse is taken in by the filter. */
bool hw__spill_is_filtered(const hw__spill *spill, size_t k);
/* On a first look, sensors whose own pulse is no more than a sketch are passed by. */
bool hw__spill_is_passed_by(const hw__spill *spill, size_t k);

#endif

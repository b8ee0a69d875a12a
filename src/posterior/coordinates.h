/* The coordinates of a point of the hypothesis "one release" (spill.h), what release it stands for, and its prior.
 *
 * Written for the anchor: passage there, ln age there, ln mass, ln factors of the water; of a release that lasts, the
 * passage of its middle, the age at which an instant's pulse would be as wide, and ln duration. While nobody has seen
 * its end, the front and the mass in a second take the place of middle and mass.
 *
 * In a search box so small that no draw of these falls into it (spill->boxed) the first two are time and place of the
 * release instead, as shares of the box.
 */
#ifndef HW_POSTERIOR_COORDINATES_H
#define HW_POSTERIOR_COORDINATES_H

#include "posterior/spill.h"

/* Whether an axis of this kind is a coordinate. */
bool hw__spill_has(const hw__spill *spill, size_t kind);
/* Standard deviation of its prior, where that is normal about 0; else 0. */
double hw__axis_sd(const hw__spill *spill, size_t kind);
/* Point i as a release: all but its prior. */
void hw__place_release(const hw__spill *spill, double *const *x, size_t i, hw__release *r);
double hw__release_log_prior(const hw__spill *spill, const hw__release *r);

/* By how much, in s, a pulse looks older for having lasted. */
double hw__older_by(const hw__spill *spill, const hw__release *r);
/* ln mass less the coordinate that stands for it. */
double hw__ln_in_a_second(const hw__spill *spill, double duration_s);

/* Standard deviation of the mean of a local field over a stretch, as a share of the field's own. */
double hw__averaged(double length_m);
double hw__log_normal_density(double x, double sd);

#endif

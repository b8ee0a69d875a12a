/* Where the search for a release begins when the anchor's pulse tells its shape: at points that explain that pulse.
 *
 * Given the age and the water's speed, passage, width, area and asymmetry of the pulse at the anchor follow from the
 * other coordinates as a line, and the readings are taken to second order (pulse.h); so with the doubt of dispersion
 * and asymmetry the rest is Gaussian in closed form, and is drawn from that. Starting from the prior instead, the draws
 * need ten to thirty stages to find the few points that have the pulse's width.
 */
#ifndef HW_POSTERIOR_NEAR_DRAWS_H
#define HW_POSTERIOR_NEAR_DRAWS_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/rng.h"
#include "posterior/spill.h"

/* Whether the hypothesis can begin so: dispersion and asymmetry are in doubt, as much in all water, nothing that is
 * looked for is given, the end of the release has been seen, and the anchor's pulse was read often enough to tell its
 * shape: through two or three readings many curves go, and the second order of one knows nothing of the others. */
bool hw__can_draw_near(const hw__spill *spill);
/* n points of the hypothesis (context: hw__spill) and ln of the density they were drawn from; as hw__target has it. */
void hw__near_draws(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal);

#endif

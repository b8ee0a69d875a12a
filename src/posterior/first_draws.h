/* Where the search for a release begins: any age, hydraulics from their prior, passage and mass as the anchor's own
 * pulse suggests. Where time and place are the coordinates (coordinates.h): any time, half of the places anywhere and
 * half where such a release passes the anchor when its pulse did. */
#ifndef HW_POSTERIOR_FIRST_DRAWS_H
#define HW_POSTERIOR_FIRST_DRAWS_H

#include <stddef.h>

#include "headwater/rng.h"

/* n points of the hypothesis (context: hw__spill) and ln of the density they were drawn from; as hw__target has it. */
void hw__first_draws(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal);

#endif

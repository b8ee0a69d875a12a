/* The feasible box F of the paper, and steps that stay inside it. Order everywhere: mass, location, time. */
#ifndef HW_LOSS_BOX_H
#define HW_LOSS_BOX_H

#include <stdbool.h>

#include "headwater/river.h"
#include "headwater/rng.h"

void hw__source_to(const hw_source *x, double v[3]);
hw_source hw__source_from(const double v[3]);
bool hw__source_finite(const hw_source *x);

void hw__box_widths(const hw_box *box, double width[3]);
hw_source hw__box_centre(const hw_box *box);
/* Nearest point of the box. */
hw_source hw__box_clamp(const hw_box *box, const hw_source *x);
/* Uniform in the box. */
hw_source hw__box_draw(const hw_box *box, hw_rng *rng);

/* The paper's projected gradient with a vector step (its Definition 2.7):
 * (x - P[x - eta o g]) / eta per coordinate; components with eta = 0 are 0. */
void hw__box_projected_gradient(const hw_box *box, const hw_source *x, const double gradient[3], const double eta[3],
                                double out[3]);

#endif

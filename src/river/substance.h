/* A river and the substance it carries. */
#ifndef HW_RIVER_SUBSTANCE_H
#define HW_RIVER_SUBSTANCE_H

#include "headwater/river.h"
#include "river/doubt.h"

/* Puts river->substance into the river's numbers: decay, retardation, the doubt of both. Once, and after discharges by
 * continuity. *depth_known is false where it volatilises and nothing tells how deep the river is: then it does not.
 * Status: HW_ENOMEM */
hw_status hw__substance_apply(hw_river *river, bool *depth_known);

/* Widens the interval of a mass by the doubt of what was lost before the first sensor: `lost` is decay times travel
 * time, z the interval's half-width in standard deviations. */
void hw__substance_mass_doubt(const hw_substance *substance, double lost, double z, double *lo, double *mid,
                              double *hi);

#endif

/* A stated factor taken apart: what all stretches share, and what each stretch has to itself. */
#ifndef HW_RIVER_DOUBT_H
#define HW_RIVER_DOUBT_H

#include "headwater/river.h"

/* Standard deviations of ln(quantity / median). common^2 + local^2 = ln(factor)^2. */
typedef struct {
  double common; /* of the part that is the same everywhere */
  double local;  /* of the part that differs from stretch to stretch, independent between branches */
} hw__spread;

/* How far along the river a local deviation reaches, m: its correlation falls as exp(-distance / this). */
#define HW__LOCAL_LENGTH_M 5000.0

hw__spread hw__spread_of(hw_doubt doubt);
/* Of the river's own quantity: none where it is known or unknown. */
hw__spread hw__spread_of_quantity(const hw_quantity *quantity);
/* Of a reach: its own doubt, or that of the hydraulics' quantity. */
hw__spread hw__spread_of_reach(const hw_doubt *own, const hw_quantity *quantity);

#endif

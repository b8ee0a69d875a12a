/* Where a crew may be sent: places down the river, on every branch the spill's water comes to. */
#ifndef HW_ADVICE_PLACES_H
#define HW_ADVICE_PLACES_H

#include "advice/foresight.h"

enum { HW__PLACES_MOST = 48 };

typedef struct {
  size_t branch;
  double x_m;
} hw__place_ahead;

/* Evenly spaced, places of sensors left out: those are read anyway. Returned: how many of out[HW__PLACES_MOST]. */
size_t hw__places_ahead(const hw__foresight *f, const hw_river *river, hw__place_ahead *out);

#endif

/* What is known of the time of release before any reading: even over the search box, or normal inside it. */
#ifndef HW_RIVER_WHEN_H
#define HW_RIVER_WHEN_H

#include "headwater/river.h"

/* ln density of the time of release, up to a constant; for times inside the box. */
double hw__when_log_density(const hw_river *river, double time_s);

/* Probability that the release lies in this span. */
double hw__when_share(const hw_river *river, const hw_span *span);

#endif

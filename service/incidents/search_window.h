/* Is the search box of a river file out of date? A box with dates can only explain spills of those days. */
#ifndef HW_INCIDENTS_SEARCH_WINDOW_H
#define HW_INCIDENTS_SEARCH_WINDOW_H

#include "headwater/headwater.h"

/* Can no release within a dated box cause a rise at rise_s (Unix time)? True where the rise comes before the box, or so
 * long after it that a release from anywhere in it would have passed every sensor, twice over and a day on top.
 * Returned: *sentence says why. False for boxes in seconds, which count from an incident's first reading. */
bool hw__search_excludes(const hw_river *river, double rise_s, char *sentence, size_t size);

#endif

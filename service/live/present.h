/* The present on a river, and whether its sensors still report. */
#ifndef HW_LIVE_PRESENT_H
#define HW_LIVE_PRESENT_H

#include "live/service.h"
#include "store/db.h"

/* "Now" for the age of readings: the wall clock where readings come as they are taken, else (relative times, a
 * replay of another day) the river's own latest reading. -INFINITY before the first. */
double hw__present_s(hw__service *service, size_t site);
/* How long a sensor may be silent: five of its usual intervals, and at least five minutes. */
double hw__sensor_patience_s(const hw__detector *detector);
/* Has it reported, and stopped? */
bool hw__sensor_is_silent(const hw__detector *detector, double present_s);

#endif

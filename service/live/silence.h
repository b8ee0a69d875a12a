/* Notices sensors that stop, and those that are back: events like any other, for the log, the stream and hooks.
 *
 * Silence is the one thing that no record of the log tells, so somebody has to look: once a second, when
 * detection has caught up. A sensor found silent twice running is told once (`sensor_silent`), and once more
 * when it is heard again (`sensor_heard`); which it was is kept with the event, so a restart neither forgets
 * nor repeats. After a start, sensors get their usual time before silence is believed: while the service was
 * away nobody could hear them.
 */
#ifndef HW_LIVE_SILENCE_H
#define HW_LIVE_SILENCE_H

#include "live/service.h"

typedef struct hw__silence hw__silence;

/* Status: HW_ENOMEM, HW_EIO, with *error. */
hw_status hw__silence_start(hw__service *service, hw__silence **out, hw_error *error);
/* After the service's stopping was set. */
void hw__silence_stop(hw__silence *silence);

#endif

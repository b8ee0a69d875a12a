/* Notices sensors that stop, and those that are back: events like any other, for the log, the stream and hooks.
 *
 * No record of the log says that a sensor is silent, so this looks for it: once a second, when detection has caught
 * up. A sensor found silent twice in a row is reported once (`sensor_silent`), and once more when it reports again
 * (`sensor_heard`); the state is stored with the event, so a restart neither forgets nor repeats it. After a start
 * sensors get their usual time before they count as silent, because nobody could hear them while the service was
 * down.
 */
#ifndef HW_LIVE_SILENCE_H
#define HW_LIVE_SILENCE_H

#include "live/service.h"

typedef struct hw__silence hw__silence;

/* Status: HW_ENOMEM, HW_EIO, with *error. */
hw_status hw__silence_start(hw__service *service, hw__silence **out, hw_error *error);
/* Call it after the service's `stopping` was set. */
void hw__silence_stop(hw__silence *silence);

#endif

/* Plays recorded readings in as if they came now: for demonstrations and drills.
 *
 * Readings keep their own times and go the way every reading goes; only the pauses between them are divided by the
 * speed. Readings that the river already has are skipped without a pause.
 */
#ifndef HW_LIVE_REPLAY_H
#define HW_LIVE_REPLAY_H

#include "live/service.h"

typedef struct hw__replay hw__replay;

/* Given: "FILE" (for the first river) or "ID=FILE".
 * Status: HW_EINPUT, HW_EIO, HW_ENOMEM, with *error */
hw_status hw__replay_start(hw__service *service, const char *argument, double speed, hw__replay **out, hw_error *error);
void hw__replay_stop(hw__replay *replay);

#endif

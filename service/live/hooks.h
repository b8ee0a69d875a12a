/* Delivers events to a webhook and to a command: every event but estimates.
 *
 * Each receiver has a thread and a cursor of its own: one that hangs holds up nobody but itself. The cursor is
 * stored after each event, so an event is delivered at least once, even if the service crashes; each carries its id
 * for those who must not act twice. A first start with hooks begins with what happens from then on. A receiver that
 * fails is tried again (after 1, 2, 4, 8 s, for 15 s in all) and then passed over: one event that cannot be
 * delivered must not hold up the next alarm.
 */
#ifndef HW_LIVE_HOOKS_H
#define HW_LIVE_HOOKS_H

#include "live/service.h"

typedef struct hw__hooks hw__hooks;

/* Status: HW_EDOMAIN for a URL that is not http or https or a program that cannot be run, with *error. */
hw_status hw__hooks_start(hw__service *service, hw__hooks **out, hw_error *error);
void hw__hooks_stop(hw__hooks *hooks);

#endif

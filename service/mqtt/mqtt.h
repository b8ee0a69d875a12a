/* Readings over MQTT: headwater/{river}/{sensor}, QoS 1, acknowledged after the commit.
 *
 * What the socket holds is taken as one group: stored in one commit, then acknowledged in one write. A
 * kill before the commit leaves the messages with the broker, which sends them again; a kill between
 * commit and acknowledgement makes it send what is stored already, and a reading is idempotent. When the
 * disk fails nothing is acknowledged and the connection is dropped, so the broker keeps the messages.
 */
#ifndef HW_MQTT_MQTT_H
#define HW_MQTT_MQTT_H

#include "live/service.h"

typedef struct hw__mqtt hw__mqtt;

/* Connects in the background, again and again. Status: HW_EINPUT for an address that cannot be parsed, HW_EIO for
 * credentials that cannot be read, HW_ENOMEM, with *error. */
hw_status hw__mqtt_start(hw__service *service, hw__mqtt **out, hw_error *error);
void hw__mqtt_stop(hw__mqtt *mqtt);

#endif

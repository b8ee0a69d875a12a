/* MQTT 3.1.1 on the wire: the few packets a subscriber needs, in and out.
 *
 * Why not a library: libmosquitto and Paho C acknowledge a message on their own, before or beside our
 * commit, and a kill in between loses it. Here a PUBACK is a packet like any other: it is sent when
 * the reading is durable, for a whole group of messages at once.
 */
#ifndef HW_MQTT_PACKET_H
#define HW_MQTT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_MQTT_CONNACK = 2, HW_MQTT_PUBLISH = 3, HW_MQTT_SUBACK = 9, HW_MQTT_PINGRESP = 13 };

/* What lies at the front of a buffer. */
typedef struct {
  int type;            /* 1..15 */
  unsigned flags;      /* low four bits of the first byte */
  const uint8_t *body; /* behind the length */
  size_t body_size;
  size_t size; /* of the whole packet */
  bool cut;    /* longer than the limit: body_size is the limit, and what follows is to be passed over */
} hw__mqtt_packet;

/* Returned: 1 a packet (or the first `limit` bytes of its body), 0 not complete yet, -1 not MQTT. The topic and the
 * number of any PUBLISH are in its first 65,539 bytes: a limit above that always shows them. */
int hw__mqtt_next(const uint8_t *data, size_t size, size_t limit, hw__mqtt_packet *out);

typedef struct {
  char topic[256];
  const uint8_t *payload;
  size_t payload_size;
  uint16_t id; /* 0 for QoS 0 */
} hw__mqtt_message;

/* Returned: NULL, or what is wrong with a PUBLISH that can never be taken: one that was cut, has no usable topic, or
 * breaks the rules, QoS 2 included (it was not subscribed to). Its id is told all the same where it has one, so that it
 * can be acknowledged: the broker would send it again for ever, and nothing behind it would come. */
const char *hw__mqtt_publish(const hw__mqtt_packet *packet, hw__mqtt_message *out);
/* "headwater/RIVER/SENSOR" taken apart, each of `size` bytes. */
bool hw__mqtt_topic(const char *topic, char *river, char *sensor, size_t size);

typedef struct {
  const char *client, *user, *password; /* user and password may be NULL */
  uint16_t keep_alive_s;
} hw__mqtt_login;

/* Writers give the packet's size, 0 when it does not fit. The session is kept by the broker (clean
 * session off), so messages that come while we are down wait there. */
size_t hw__mqtt_write_connect(const hw__mqtt_login *login, uint8_t *out, size_t capacity);
size_t hw__mqtt_write_subscribe(const char *filter, uint16_t id, uint8_t *out, size_t capacity);
size_t hw__mqtt_write_puback(uint16_t id, uint8_t *out, size_t capacity);
size_t hw__mqtt_write_ping(uint8_t *out, size_t capacity);
size_t hw__mqtt_write_disconnect(uint8_t *out, size_t capacity);

#endif

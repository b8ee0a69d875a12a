#include "mqtt/packet.h"

#include <string.h>

int hw__mqtt_next(const uint8_t *data, size_t size, size_t limit, hw__mqtt_packet *out) {
  size_t length = 0, at = 1;
  for (unsigned shift = 0;; shift += 7, at++) {
    if (shift > 21) {
      return -1;
    }
    if (at >= size) {
      return 0;
    }
    length |= (size_t)(data[at] & 0x7f) << shift;
    if (!(data[at] & 0x80)) {
      at++;
      break;
    }
  }
  if ((data[0] >> 4) == 0) {
    return -1;
  }
  const bool cut = length > limit;
  const size_t body = cut ? limit : length;
  if (size - at < body) {
    return 0;
  }
  *out = (hw__mqtt_packet){data[0] >> 4, data[0] & 0x0fU, data + at, body, at + length, cut};
  return 1;
}

const char *hw__mqtt_publish(const hw__mqtt_packet *packet, hw__mqtt_message *out) {
  const unsigned qos = (packet->flags >> 1) & 3;
  const uint8_t *body = packet->body;
  out->id = 0;
  if (qos > 1) {
    return "QoS 2 or 3, expected 0 or 1";
  }
  const size_t topic = packet->body_size < 2 ? 0 : (size_t)body[0] << 8 | body[1];
  size_t at = 2 + topic;
  if (at + 2 * qos > packet->body_size) {
    return "shorter than its topic";
  }
  if (qos == 1) {
    out->id = (uint16_t)(body[at] << 8 | body[at + 1]);
    at += 2;
    if (out->id == 0) {
      return "QoS 1 without a number";
    }
  }
  if (packet->cut) {
    return "too large";
  }
  if (topic == 0 || topic >= sizeof out->topic || memchr(body + 2, '\0', topic)) {
    return "a topic that is empty, too long or holds a zero";
  }
  memcpy(out->topic, body + 2, topic);
  out->topic[topic] = '\0';
  out->payload = body + at;
  out->payload_size = packet->body_size - at;
  return NULL;
}

bool hw__mqtt_topic(const char *topic, char *river, char *sensor, size_t size) {
  static const char prefix[] = "headwater/";
  if (strncmp(topic, prefix, sizeof prefix - 1) != 0) {
    return false;
  }
  const char *first = topic + sizeof prefix - 1;
  const char *slash = strchr(first, '/');
  if (!slash || slash == first || strchr(slash + 1, '/') || !slash[1]) {
    return false;
  }
  const size_t river_size = (size_t)(slash - first), sensor_size = strlen(slash + 1);
  if (river_size >= size || sensor_size >= size) {
    return false;
  }
  memcpy(river, first, river_size);
  river[river_size] = '\0';
  memcpy(sensor, slash + 1, sensor_size + 1);
  return true;
}

/* --- writing --- */

typedef struct {
  uint8_t *at, *end;
  bool fits;
} pen;

static void put(pen *p, const void *data, size_t size) {
  if ((size_t)(p->end - p->at) < size) {
    p->fits = false;
    return;
  }
  memcpy(p->at, data, size);
  p->at += size;
}

static void put_number(pen *p, size_t value) {
  const uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};
  put(p, bytes, 2);
}

static void put_text(pen *p, const char *text) {
  const size_t size = strlen(text);
  put_number(p, size);
  put(p, text, size);
}

static void put_head(pen *p, unsigned first, size_t length) {
  uint8_t bytes[5] = {(uint8_t)first};
  size_t count = 1;
  do {
    bytes[count++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
    length >>= 7;
  } while (length);
  put(p, bytes, count);
}

static size_t written(const pen *p, const uint8_t *out) {
  return p->fits ? (size_t)(p->at - out) : 0;
}

size_t hw__mqtt_write_connect(const hw__mqtt_login *login, uint8_t *out, size_t capacity) {
  pen p = {out, out + capacity, true};
  size_t length = 10 + 2 + strlen(login->client);
  length += login->user ? 2 + strlen(login->user) : 0;
  length += login->password ? 2 + strlen(login->password) : 0;
  put_head(&p, 0x10, length);
  put_text(&p, "MQTT");
  const uint8_t level_and_flags[] = {4, (uint8_t)((login->user ? 0x80 : 0) | (login->password ? 0x40 : 0))};
  put(&p, level_and_flags, 2);
  put_number(&p, login->keep_alive_s);
  put_text(&p, login->client);
  if (login->user) {
    put_text(&p, login->user);
  }
  if (login->password) {
    put_text(&p, login->password);
  }
  return written(&p, out);
}

size_t hw__mqtt_write_subscribe(const char *filter, uint16_t id, uint8_t *out, size_t capacity) {
  pen p = {out, out + capacity, true};
  put_head(&p, 0x82, 2 + 2 + strlen(filter) + 1);
  put_number(&p, id);
  put_text(&p, filter);
  put(&p, "\x01", 1); /* QoS 1 */
  return written(&p, out);
}

size_t hw__mqtt_write_puback(uint16_t id, uint8_t *out, size_t capacity) {
  pen p = {out, out + capacity, true};
  put_head(&p, 0x40, 2);
  put_number(&p, id);
  return written(&p, out);
}

size_t hw__mqtt_write_ping(uint8_t *out, size_t capacity) {
  pen p = {out, out + capacity, true};
  put_head(&p, 0xc0, 0);
  return written(&p, out);
}

size_t hw__mqtt_write_disconnect(uint8_t *out, size_t capacity) {
  pen p = {out, out + capacity, true};
  put_head(&p, 0xe0, 0);
  return written(&p, out);
}

#include "mqtt/mqtt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/address.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/rest.h"
#include "live/accept.h"
#include "mqtt/link.h"
#include "mqtt/packet.h"

/* A payload of 64 KiB fits with any topic. */
enum { BUFFER_BYTES = 1 << 20, PACKET_BYTES = 128 << 10, GROUP = 4096, KEEP_ALIVE_S = 30, CREDENTIAL_BYTES = 256 };

struct hw__mqtt {
  hw__service *service;
  char host[128], port[12], client[64];
  char user[CREDENTIAL_BYTES], password[CREDENTIAL_BYTES];
  pthread_t thread;
  char not_reached[256]; /* why, as told last */
  hw__trust trust;       /* NULL: not encrypted */
  hw__link link;
  uint8_t *in; /* received, not yet taken */
  size_t in_size;
  uint8_t *out; /* acknowledgements of one group */
  struct {
    size_t left, size;
    uint16_t id;
  } large; /* a message too large to be held: what of it is still to come */
  time_t heard_s, pinged_s;
};

static time_t monotonic_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static bool stopping(const hw__mqtt *mqtt) {
  return atomic_load(&mqtt->service->stopping);
}

/* --- one group of messages --- */

typedef struct {
  hw__ingest ingest;
  size_t messages, acknowledgement_bytes;
} group;

/* A message that can never be stored is acknowledged too; otherwise the broker would send it again for ever. */
static void acknowledge(hw__mqtt *mqtt, group *g, uint16_t id) {
  g->messages++;
  if (id) {
    g->acknowledgement_bytes += hw__mqtt_write_puback(id, mqtt->out + g->acknowledgement_bytes, 4);
  }
}

static bool take_message(hw__mqtt *mqtt, group *g, const hw__mqtt_packet *packet) {
  hw__mqtt_message message;
  char river[HW_ID_SIZE], sensor[HW_ID_SIZE];
  const char *fault = hw__mqtt_publish(packet, &message);
  if (packet->cut) {
    mqtt->large.left = mqtt->large.size = packet->size;
    mqtt->large.id = message.id;
    return true;
  }
  if (fault) {
    hw__ingest_reject(&g->ingest, 1, HW_FATE_MALFORMED, "a message of %zu bytes: %s", packet->size, fault);
  } else if (hw__mqtt_topic(message.topic, river, sensor, sizeof river)) {
    g->ingest.river = river;
    if (hw__ingest_payload(&g->ingest, sensor, (const char *)message.payload, message.payload_size) != HW_OK) {
      return false;
    }
    g->ingest.river = NULL;
  } else {
    hw__ingest_reject(&g->ingest, 1, HW_FATE_UNKNOWN, "topic '%.80s'", message.topic);
  }
  acknowledge(mqtt, g, message.id);
  return true;
}

/* Passes over what has come of a message too large to be held. Returned: so many bytes of those given. */
static size_t pass_over(hw__mqtt *mqtt, group *g, size_t available) {
  if (mqtt->large.left == 0) {
    return 0;
  }
  const size_t passed = available < mqtt->large.left ? available : mqtt->large.left;
  mqtt->large.left -= passed;
  if (mqtt->large.left == 0) {
    hw__ingest_reject(&g->ingest, 1, HW_FATE_MALFORMED, "a message of %zu bytes: too large", mqtt->large.size);
    acknowledge(mqtt, g, mqtt->large.id);
  }
  return passed;
}

static bool finish_group(hw__mqtt *mqtt, group *g) {
  if (!g->messages) {
    return true;
  }
  hw__metric_add(HW_METRIC_MQTT_MESSAGES, g->messages);
  const hw__db_status status = hw__accept_readings(mqtt->service, &g->ingest);
  bool ok = status == HW_DB_OK;
  if (ok) {
    hw__fate_count(g->ingest.tally);
    for (size_t i = 0; i < g->ingest.reject_count && i < 3; i++) {
      hw__log(HW_LOG_WARNING, "mqtt_reading_rejected", "reason", g->ingest.rejects[i].reason);
    }
    ok = hw__link_send(&mqtt->link, mqtt->out, g->acknowledgement_bytes);
    hw__metric_add(HW_METRIC_MQTT_ACKNOWLEDGED, ok ? g->acknowledgement_bytes / 4 : 0);
  } else {
    hw__log(HW_LOG_ERROR, "mqtt_not_stored", "reason", hw__db_text(status));
  }
  hw__ingest_clear(&g->ingest);
  return ok;
}

/* Everything complete in the buffer. Returned: false when the connection is to be dropped. */
static bool take_packets(hw__mqtt *mqtt) {
  group g = {.ingest = hw__accept_begin(mqtt->service)};
  size_t at = pass_over(mqtt, &g, mqtt->in_size);
  int found = 0;
  bool ok = true;
  hw__mqtt_packet packet;
  while (ok && g.messages < GROUP &&
         (found = hw__mqtt_next(mqtt->in + at, mqtt->in_size - at, PACKET_BYTES, &packet)) > 0) {
    ok = packet.type == HW_MQTT_PUBLISH ? take_message(mqtt, &g, &packet) : !packet.cut;
    if (packet.type == HW_MQTT_SUBACK && (packet.body_size < 3 || packet.body[2] > 1)) {
      hw__log(HW_LOG_ERROR, "mqtt_subscription_refused", NULL, NULL);
      ok = false;
    }
    at += packet.cut ? pass_over(mqtt, &g, mqtt->in_size - at) : packet.size;
  }
  ok = finish_group(mqtt, &g) && ok && found >= 0;
  hw__ingest_clear(&g.ingest);
  memmove(mqtt->in, mqtt->in + at, mqtt->in_size - at);
  mqtt->in_size -= at;
  return ok;
}

/* --- the connection --- */

static bool receive(hw__mqtt *mqtt) {
  const ssize_t got = hw__link_receive(&mqtt->link, mqtt->in + mqtt->in_size, BUFFER_BYTES - mqtt->in_size, 200);
  const time_t now_s = monotonic_s();
  if (got < 0) {
    return false;
  }
  if (got > 0) {
    mqtt->in_size += (size_t)got;
    mqtt->heard_s = now_s;
    return true;
  }
  if (now_s - mqtt->heard_s > 3 * KEEP_ALIVE_S / 2) {
    return false;
  }
  if (now_s - mqtt->heard_s >= KEEP_ALIVE_S / 2 && now_s - mqtt->pinged_s >= KEEP_ALIVE_S / 2) {
    uint8_t ping[4];
    mqtt->pinged_s = now_s;
    return hw__link_send(&mqtt->link, ping, hw__mqtt_write_ping(ping, sizeof ping));
  }
  return true;
}

/* CONNECT, its answer, SUBSCRIBE. */
static bool log_in(hw__mqtt *mqtt) {
  uint8_t packet[1024];
  const hw__mqtt_login login = {mqtt->client, mqtt->user[0] ? mqtt->user : NULL, mqtt->user[0] ? mqtt->password : NULL,
                                KEEP_ALIVE_S};
  mqtt->in_size = mqtt->large.left = 0;
  mqtt->heard_s = mqtt->pinged_s = monotonic_s();
  if (!hw__link_send(&mqtt->link, packet, hw__mqtt_write_connect(&login, packet, sizeof packet))) {
    return false;
  }
  hw__mqtt_packet answer;
  int found = 0;
  while ((found = hw__mqtt_next(mqtt->in, mqtt->in_size, PACKET_BYTES, &answer)) == 0) {
    if (stopping(mqtt) || !receive(mqtt)) {
      return false;
    }
  }
  if (found < 0 || answer.cut || answer.type != HW_MQTT_CONNACK || answer.body_size < 2 || answer.body[1] != 0) {
    hw__logf(HW_LOG_ERROR, "mqtt_refused", "code", "%d", found > 0 && answer.body_size > 1 ? answer.body[1] : -1);
    return false;
  }
  memmove(mqtt->in, mqtt->in + answer.size, mqtt->in_size - answer.size);
  mqtt->in_size -= answer.size;
  return hw__link_send(&mqtt->link, packet, hw__mqtt_write_subscribe("headwater/+/+", 1, packet, sizeof packet));
}

/* Until the connection or the service ends. */
static void serve_connection(hw__mqtt *mqtt) {
  hw__metric_add(HW_METRIC_MQTT_CONNECTS, 1);
  hw__log(HW_LOG_INFO, "mqtt_connected", "host", mqtt->host);
  bool ok = true;
  while (ok && !stopping(mqtt)) {
    ok = take_packets(mqtt) && receive(mqtt);
  }
  uint8_t bye[4];
  hw__link_send(&mqtt->link, bye, hw__mqtt_write_disconnect(bye, sizeof bye));
  if (!stopping(mqtt)) {
    hw__log(HW_LOG_WARNING, "mqtt_disconnected", "host", mqtt->host);
  }
}

static void *serve_broker(void *argument) {
  hw__mqtt *mqtt = argument;
  int pause_ms = 200;
  while (!stopping(mqtt)) {
    char why[256] = "";
    const bool reached = hw__link_open(&mqtt->link, mqtt->host, mqtt->port, mqtt->trust, why, sizeof why);
    if (!reached && strcmp(why, mqtt->not_reached) != 0) {
      hw__log(HW_LOG_WARNING, "mqtt_not_reached", "reason", why); /* once, not with every try */
    }
    memcpy(mqtt->not_reached, why, sizeof why);
    if (reached && log_in(mqtt)) {
      pause_ms = 200;
      serve_connection(mqtt);
    }
    hw__link_close(&mqtt->link);
    hw__rest(&mqtt->service->stopping, pause_ms);
    pause_ms = pause_ms < 5000 ? 2 * pause_ms : 5000;
  }
  return NULL;
}

static bool read_credentials(hw__mqtt *mqtt, const char *path, hw_error *error) {
  FILE *file = fopen(path, "re");
  const bool ok =
      file && fgets(mqtt->user, sizeof mqtt->user, file) && fgets(mqtt->password, sizeof mqtt->password, file);
  if (!ok) {
    snprintf(error->text, sizeof error->text, "%s: expected a user and a password, each on a line", path);
  }
  if (file) {
    fclose(file);
  }
  mqtt->user[strcspn(mqtt->user, "\r\n")] = '\0';
  mqtt->password[strcspn(mqtt->password, "\r\n")] = '\0';
  return ok;
}

static void release(hw__mqtt *mqtt) {
  hw__trust_free(mqtt->trust);
  free(mqtt->in);
  free(mqtt->out);
  free(mqtt);
}

/* HOST:PORT, mqtt://HOST[:PORT] or mqtts://HOST[:PORT]. */
static bool read_address(hw__mqtt *mqtt, const char *address, bool *encrypted) {
  static const char plain[] = "mqtt://", secure[] = "mqtts://";
  *encrypted = strncmp(address, secure, sizeof secure - 1) == 0;
  const bool scheme = *encrypted || strncmp(address, plain, sizeof plain - 1) == 0;
  const char *rest = address + (*encrypted ? sizeof secure - 1 : scheme ? sizeof plain - 1 : 0);
  char whole[sizeof mqtt->host + 8];
  unsigned port = 0;
  const char *colon = strrchr(rest, ':');
  const bool has_port = colon && !strchr(colon, ']');
  const int length = snprintf(whole, sizeof whole, "%s%s", rest,
                              has_port || !scheme ? ""
                              : *encrypted        ? ":8883"
                                                  : ":1883");
  if (length < 0 || (size_t)length >= sizeof whole || strpbrk(rest, "@/?#") ||
      !hw__address_split(whole, mqtt->host, sizeof mqtt->host, &port) || port == 0) {
    return false;
  }
  snprintf(mqtt->port, sizeof mqtt->port, "%u", port);
  return true;
}

static hw_status configure(hw__mqtt *mqtt, const hw_serve_options *o, hw_error *error) {
  bool encrypted = false;
  if (!read_address(mqtt, o->mqtt, &encrypted)) {
    snprintf(error->text, sizeof error->text, "--mqtt: expected HOST:PORT, mqtt://HOST:PORT or mqtts://HOST:PORT%s",
             strchr(o->mqtt, '@') ? "; user and password go into --mqtt-credentials" : "");
    return HW_EDOMAIN;
  }
  if (o->mqtt_ca && !encrypted) {
    snprintf(error->text, sizeof error->text, "--mqtt-ca: the broker is not mqtts://, expected an encrypted one");
    return HW_EDOMAIN;
  }
  snprintf(mqtt->client, sizeof mqtt->client, "%s", o->mqtt_client ? o->mqtt_client : "headwater");
  snprintf(mqtt->user, sizeof mqtt->user, "%s", o->mqtt_user ? o->mqtt_user : "");
  snprintf(mqtt->password, sizeof mqtt->password, "%s", o->mqtt_password ? o->mqtt_password : "");
  if (o->mqtt_credentials && !read_credentials(mqtt, o->mqtt_credentials, error)) {
    return HW_EIO;
  }
  return encrypted ? hw__trust_load(o->mqtt_ca, &mqtt->trust, error) : HW_OK;
}

hw_status hw__mqtt_start(hw__service *service, hw__mqtt **out, hw_error *error) {
  *out = NULL;
  hw__mqtt *mqtt = calloc(1, sizeof *mqtt);
  if (!mqtt || !(mqtt->in = malloc(BUFFER_BYTES)) || !(mqtt->out = malloc((GROUP + 1) * 4))) {
    if (mqtt) {
      release(mqtt);
    }
    return HW_ENOMEM;
  }
  mqtt->service = service;
  mqtt->link.socket = -1;
  hw_status status = configure(mqtt, &service->options, error);
  if (status == HW_OK && pthread_create(&mqtt->thread, NULL, serve_broker, mqtt) != 0) {
    status = HW_ENOMEM;
  }
  if (status != HW_OK) {
    release(mqtt);
    return status;
  }
  *out = mqtt;
  return HW_OK;
}

void hw__mqtt_stop(hw__mqtt *mqtt) {
  if (mqtt) {
    pthread_join(mqtt->thread, NULL);
    release(mqtt);
  }
}

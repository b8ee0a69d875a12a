#include "mqtt.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "accept.h"
#include "http.h"
#include "log.h"
#include "metrics.h"
#include "mqtt_packet.h"

enum { BUFFER_BYTES = 1 << 20, PACKET_BYTES = 64 << 10, GROUP = 4096, KEEP_ALIVE_S = 30, CREDENTIAL_BYTES = 256 };

struct hw_mqtt {
  hw_service *service;
  char host[128], port[8], client[64];
  char user[CREDENTIAL_BYTES], password[CREDENTIAL_BYTES];
  pthread_t thread;
  int socket;
  uint8_t *in; /* received, not yet taken */
  size_t in_size;
  uint8_t *out; /* acknowledgements of one group */
  time_t heard_s, pinged_s;
};

static time_t monotonic_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static bool stopping(const hw_mqtt *mqtt) {
  return atomic_load(&mqtt->service->stopping);
}

static bool send_all(const hw_mqtt *mqtt, const uint8_t *data, size_t size) {
  while (size) {
    const ssize_t sent = send(mqtt->socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return false;
    }
    if (sent > 0) {
      data += sent;
      size -= (size_t)sent;
    }
  }
  return true;
}

/* --- one group of messages --- */

typedef struct {
  hw_ingest ingest;
  size_t messages, acknowledgement_bytes;
} group;

static bool take_message(hw_mqtt *mqtt, group *g, const hw_mqtt_packet *packet) {
  hw_mqtt_message message;
  char river[HW_ID_SIZE], sensor[HW_ID_SIZE];
  if (!hw__mqtt_publish(packet, &message)) {
    return false;
  }
  g->messages++;
  if (hw__mqtt_topic(message.topic, river, sensor, sizeof river)) {
    g->ingest.river = river;
    if (hw__ingest_payload(&g->ingest, sensor, (const char *)message.payload, message.payload_size) != HW_OK) {
      return false;
    }
    g->ingest.river = NULL;
  } else {
    hw__ingest_reject(&g->ingest, 1, HW_FATE_UNKNOWN, "topic '%.80s'", message.topic);
  }
  if (message.id) {
    /* A message that can never be stored is acknowledged too, or it would come for ever. */
    g->acknowledgement_bytes += hw__mqtt_write_puback(message.id, mqtt->out + g->acknowledgement_bytes, 4);
  }
  return true;
}

static bool finish_group(hw_mqtt *mqtt, group *g) {
  if (!g->messages) {
    return true;
  }
  hw__metric_add(HW_METRIC_MQTT_MESSAGES, g->messages);
  const hw_db_status status = hw__accept_readings(mqtt->service, &g->ingest);
  bool ok = status == HW_DB_OK;
  if (ok) {
    hw__metric_fates(g->ingest.tally, HW_FATE_COUNT);
    for (size_t i = 0; i < g->ingest.reject_count && i < 3; i++) {
      hw__log(HW_LOG_WARNING, "mqtt_reading_rejected", "reason", g->ingest.rejects[i].reason);
    }
    ok = send_all(mqtt, mqtt->out, g->acknowledgement_bytes);
    hw__metric_add(HW_METRIC_MQTT_ACKNOWLEDGED, ok ? g->acknowledgement_bytes / 4 : 0);
  } else {
    hw__log(HW_LOG_ERROR, "mqtt_not_stored", "reason", hw__db_text(status));
  }
  hw__ingest_clear(&g->ingest);
  return ok;
}

/* Everything complete in the buffer. Returned: false when the connection is to be dropped. */
static bool take_packets(hw_mqtt *mqtt) {
  group g = {.ingest = {.catalog = mqtt->service->catalog,
                        .now_unix_s = (double)hw__store_now_us(mqtt->service->store) * 1e-6,
                        .future_s = mqtt->service->options.future_s}};
  size_t at = 0;
  int found = 0;
  bool ok = true;
  hw_mqtt_packet packet;
  while (ok && g.messages < GROUP &&
         (found = hw__mqtt_next(mqtt->in + at, mqtt->in_size - at, PACKET_BYTES, &packet)) > 0) {
    ok = packet.type != HW_MQTT_PUBLISH || take_message(mqtt, &g, &packet);
    if (packet.type == HW_MQTT_SUBACK && (packet.body_size < 3 || packet.body[2] > 1)) {
      hw__log(HW_LOG_ERROR, "mqtt_subscription_refused", NULL, NULL);
      ok = false;
    }
    at += packet.size;
  }
  ok = finish_group(mqtt, &g) && ok && found >= 0;
  hw__ingest_clear(&g.ingest);
  memmove(mqtt->in, mqtt->in + at, mqtt->in_size - at);
  mqtt->in_size -= at;
  return ok;
}

/* --- the connection --- */

static bool receive(hw_mqtt *mqtt) {
  struct pollfd wait = {.fd = mqtt->socket, .events = POLLIN};
  const int ready = poll(&wait, 1, 200);
  if (ready < 0) {
    return errno == EINTR;
  }
  const time_t now_s = monotonic_s();
  if (ready > 0) {
    const ssize_t got = recv(mqtt->socket, mqtt->in + mqtt->in_size, BUFFER_BYTES - mqtt->in_size, 0);
    if (got <= 0) {
      return got < 0 && errno == EINTR;
    }
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
    return send_all(mqtt, ping, hw__mqtt_write_ping(ping, sizeof ping));
  }
  return true;
}

static int dial(const hw_mqtt *mqtt) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  if (getaddrinfo(mqtt->host, mqtt->port, &hints, &found) != 0) {
    return -1;
  }
  int connected = -1;
  for (const struct addrinfo *a = found; a && connected < 0; a = a->ai_next) {
    const int s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    const struct timeval patience = {.tv_sec = 10};
    if (s < 0) {
      continue;
    }
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(s, a->ai_addr, a->ai_addrlen) == 0) {
      connected = s;
    } else {
      close(s);
    }
  }
  freeaddrinfo(found);
  return connected;
}

/* CONNECT, its answer, SUBSCRIBE. */
static bool log_in(hw_mqtt *mqtt) {
  uint8_t packet[1024];
  const hw_mqtt_login login = {mqtt->client, mqtt->user[0] ? mqtt->user : NULL, mqtt->user[0] ? mqtt->password : NULL,
                               KEEP_ALIVE_S};
  mqtt->in_size = 0;
  mqtt->heard_s = mqtt->pinged_s = monotonic_s();
  if (!send_all(mqtt, packet, hw__mqtt_write_connect(&login, packet, sizeof packet))) {
    return false;
  }
  hw_mqtt_packet answer;
  int found = 0;
  while ((found = hw__mqtt_next(mqtt->in, mqtt->in_size, PACKET_BYTES, &answer)) == 0) {
    if (stopping(mqtt) || !receive(mqtt)) {
      return false;
    }
  }
  if (found < 0 || answer.type != HW_MQTT_CONNACK || answer.body_size < 2 || answer.body[1] != 0) {
    hw__logf(HW_LOG_ERROR, "mqtt_refused", "code", "%d", found > 0 && answer.body_size > 1 ? answer.body[1] : -1);
    return false;
  }
  memmove(mqtt->in, mqtt->in + answer.size, mqtt->in_size - answer.size);
  mqtt->in_size -= answer.size;
  return send_all(mqtt, packet, hw__mqtt_write_subscribe("headwater/+/+", 1, packet, sizeof packet));
}

static void *serve_broker(void *argument) {
  hw_mqtt *mqtt = argument;
  int pause_ms = 200;
  while (!stopping(mqtt)) {
    mqtt->socket = dial(mqtt);
    if (mqtt->socket >= 0 && log_in(mqtt)) {
      hw__metric_add(HW_METRIC_MQTT_CONNECTS, 1);
      hw__log(HW_LOG_INFO, "mqtt_connected", "host", mqtt->host);
      pause_ms = 200;
      bool ok = true;
      while (ok && !stopping(mqtt)) {
        ok = take_packets(mqtt) && receive(mqtt);
      }
      uint8_t bye[4];
      send_all(mqtt, bye, hw__mqtt_write_disconnect(bye, sizeof bye));
      if (!stopping(mqtt)) {
        hw__log(HW_LOG_WARNING, "mqtt_disconnected", "host", mqtt->host);
      }
    }
    if (mqtt->socket >= 0) {
      close(mqtt->socket);
    }
    for (int waited = 0; waited < pause_ms && !stopping(mqtt); waited += 100) {
      nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    pause_ms = pause_ms < 5000 ? 2 * pause_ms : 5000;
  }
  return NULL;
}

static bool read_credentials(hw_mqtt *mqtt, const char *path, hw_error *error) {
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

static void release(hw_mqtt *mqtt) {
  free(mqtt->in);
  free(mqtt->out);
  free(mqtt);
}

hw_status hw__mqtt_start(hw_service *service, hw_mqtt **out, hw_error *error) {
  *out = NULL;
  const hw_serve_options *o = &service->options;
  hw_mqtt *mqtt = calloc(1, sizeof *mqtt);
  unsigned port = 0;
  if (!mqtt || !(mqtt->in = malloc(BUFFER_BYTES)) || !(mqtt->out = malloc((GROUP + 1) * 4))) {
    if (mqtt) {
      release(mqtt);
    }
    return HW_ENOMEM;
  }
  mqtt->service = service;
  hw_status status = HW_OK;
  if (!hw__http_address(o->mqtt, mqtt->host, sizeof mqtt->host, &port) || port == 0) {
    snprintf(error->text, sizeof error->text, "--mqtt %s: expected HOST:PORT", o->mqtt);
    status = HW_EINPUT;
  } else if (o->mqtt_credentials && !read_credentials(mqtt, o->mqtt_credentials, error)) {
    status = HW_EIO;
  }
  snprintf(mqtt->port, sizeof mqtt->port, "%u", port);
  snprintf(mqtt->client, sizeof mqtt->client, "%s", o->mqtt_client ? o->mqtt_client : "headwater");
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

void hw__mqtt_stop(hw_mqtt *mqtt) {
  if (mqtt) {
    pthread_join(mqtt->thread, NULL);
    release(mqtt);
  }
}

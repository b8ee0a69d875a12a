/* A broker of our own, and a publisher that keeps a window of messages in flight. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { WINDOW = 1000 };

static int dial(int port) {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(s, (const struct sockaddr *)&to, sizeof to) != 0) {
    close(s);
    return -1;
  }
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return s;
}

int load_broker_start(const char *folder, int *port) {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof any;
  if (bind(probe, (const struct sockaddr *)&any, sizeof any) != 0 ||
      getsockname(probe, (struct sockaddr *)&any, &size) != 0) {
    load_die("a free port");
  }
  *port = ntohs(any.sin_port);
  close(probe);
  char path[512];
  snprintf(path, sizeof path, "%s/mosquitto.conf", folder);
  FILE *out = fopen(path, "w");
  if (!out) {
    load_die(path);
  }
  fprintf(out, "listener %d 127.0.0.1\nallow_anonymous true\nmax_inflight_messages 2000\nmax_queued_messages 0\n",
          *port);
  fclose(out);
  const int pid = load_fork();
  if (pid == 0) {
    if (!freopen("/dev/null", "w", stderr)) {
      _exit(3);
    }
    execlp("mosquitto", "mosquitto", "-c", path, (char *)NULL);
    _exit(127);
  }
  for (int i = 0; i < 100; i++) {
    const int s = dial(*port);
    if (s >= 0) {
      close(s);
      return pid;
    }
    nanosleep(&(struct timespec){0, 50000000}, NULL);
  }
  return -1;
}

static void send_all(int to, const uint8_t *data, size_t size) {
  while (size) {
    const ssize_t sent = send(to, data, size, MSG_NOSIGNAL);
    if (sent <= 0) {
      load_die("publish");
    }
    data += sent;
    size -= (size_t)sent;
  }
}

static size_t acknowledged(int from, bool wait) {
  uint8_t packets[4096];
  const ssize_t got = recv(from, packets, sizeof packets, wait ? 0 : MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN)) {
    load_die("the broker went away");
  }
  return got > 0 ? (size_t)got : 0; /* four bytes each; a part counts once it is whole */
}

double load_mqtt_publish(int port, size_t count, uint64_t *number) {
  const int s = dial(port);
  uint8_t packet[256];
  if (s < 0) {
    load_die("the broker");
  }
  send_all(s, (const uint8_t *)"\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04load", 18);
  size_t bytes = acknowledged(s, true);
  const double began = load_now_s();
  size_t sent = 0;
  bytes = 0;
  while (bytes < 4 * count) {
    while (sent < count && sent - bytes / 4 < WINDOW) {
      const uint64_t n = (*number)++;
      char topic[64], payload[64];
      const uint64_t sensor = n % (LOAD_RIVERS * LOAD_SENSORS);
      const int topic_size = snprintf(topic, sizeof topic, "headwater/r%d/s%d", (int)(sensor / LOAD_SENSORS),
                                      (int)(sensor % LOAD_SENSORS));
      const int payload_size = snprintf(payload, sizeof payload, "0.000001 %lld",
                                        LOAD_LONG_AGO_S + (long long)(60 * (n / (LOAD_RIVERS * LOAD_SENSORS))));
      const unsigned id = (unsigned)(sent % 65535) + 1;
      uint8_t *at = packet;
      *at++ = 0x32;
      *at++ = (uint8_t)(2 + topic_size + 2 + payload_size);
      *at++ = 0;
      *at++ = (uint8_t)topic_size;
      memcpy(at, topic, (size_t)topic_size);
      at += topic_size;
      *at++ = (uint8_t)(id >> 8);
      *at++ = (uint8_t)id;
      memcpy(at, payload, (size_t)payload_size);
      at += payload_size;
      send_all(s, packet, (size_t)(at - packet));
      sent++;
      if (sent % 64 == 0) {
        bytes += acknowledged(s, false);
      }
    }
    bytes += acknowledged(s, true);
  }
  close(s);
  return load_now_s() - began;
}

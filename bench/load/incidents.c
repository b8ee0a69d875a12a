/* A hundred incidents at once: a pulse on every river, then a reading a second for each, and the live stream
 * tells when every one of them has its new estimate. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "load.h"

enum { LEARNING = 200, QUIET_S = -1000000 }; /* readings from which each river's first sensor knows its background */

typedef struct {
  load_http http;
  pthread_mutex_t lock;
  double updated_s[LOAD_RIVERS]; /* when the last estimate of this river came */
} listener;

/* Cut the stream into events; note which river an estimate is of. */
static void take_line(listener *l, const char *line, bool *estimate) {
  if (strncmp(line, "event: ", 7) == 0) {
    *estimate = strcmp(line + 7, "estimate") == 0;
  } else if (*estimate && strncmp(line, "data: ", 6) == 0) {
    const char *river = strstr(line, "\"river\":\"r");
    const int number = river ? atoi(river + 10) : -1;
    if (number >= 0 && number < LOAD_RIVERS) {
      pthread_mutex_lock(&l->lock);
      l->updated_s[number] = load_now_s();
      pthread_mutex_unlock(&l->lock);
    }
  }
}

static void *listen_loop(void *argument) {
  listener *l = argument;
  static const char request[] = "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
  char *line = malloc(1 << 20);
  size_t size = 0;
  bool estimate = false;
  char block[65536];
  ssize_t got;
  if (!line || send(l->http.socket, request, sizeof request - 1, MSG_NOSIGNAL) < 0) {
    load_die("stream");
  }
  while ((got = recv(l->http.socket, block, sizeof block, 0)) > 0) {
    for (ssize_t i = 0; i < got; i++) {
      if (block[i] == '\n') {
        line[size] = '\0';
        take_line(l, line, &estimate);
        size = 0;
      } else if (size < (1 << 20) - 1) {
        line[size++] = block[i];
      }
    }
  }
  free(line);
  return NULL;
}

static void post_round(const load_service *service, double time_s, double value) {
  static char body[LOAD_RIVERS * 64];
  size_t size = (size_t)snprintf(body, sizeof body, "river,time_s,sensor,concentration_g_m3\n");
  for (int r = 0; r < LOAD_RIVERS; r++) {
    size += (size_t)snprintf(body + size, sizeof body - size, "r%d,%.0f,s0,%.6g\n", r, time_s, value);
  }
  load_http http;
  size_t at;
  load_http_open(&http, service->port);
  if (load_http_call(&http, "POST", "/v1/readings", "text/csv", body, size, &at) != 200) {
    load_die("readings of incidents");
  }
  load_http_close(&http);
}

/* Returned: seconds from sending a reading of every river to the last of their new estimates; 5 when one is missing. */
static double round_of_readings(const load_service *service, listener *l, double time_s, double value) {
  const double sent = load_now_s();
  post_round(service, time_s, value);
  size_t late = LOAD_RIVERS;
  double slowest = 0;
  while (late && load_now_s() - sent < 5) {
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    late = 0;
    slowest = 0;
    pthread_mutex_lock(&l->lock);
    for (int r = 0; r < LOAD_RIVERS; r++) {
      late += l->updated_s[r] < sent;
      slowest = l->updated_s[r] - sent > slowest ? l->updated_s[r] - sent : slowest;
    }
    pthread_mutex_unlock(&l->lock);
  }
  return late ? 5 : slowest;
}

/* 50 kg released 12 km upstream of the sensor at -9000 s, in the river of parts.c: eq. (1). */
static double pulse_g_m3(double time_s) {
  const double age = time_s + 9000, away = 12000 - 1.2 * age;
  return 50000 / (60 * sqrt(4 * acos(-1) * 40 * age)) * exp(-away * away / (4 * 40 * age));
}

/* Until the engines have seen everything sent so far: a second without a new reading in any of them. */
static void wait_for_engines(const load_service *service) {
  double before = -1, now = 0;
  for (int i = 0; i < 120 && now != before; i++) {
    before = now;
    nanosleep(&(struct timespec){1, 0}, NULL);
    now = load_metric(service->port, "headwater_engine_readings_total");
  }
}

void load_incidents(const load_service *service, int rounds) {
  listener l = {.updated_s = {0}};
  pthread_t thread;
  pthread_mutex_init(&l.lock, NULL);
  load_http_open(&l.http, service->port);
  pthread_create(&thread, NULL, listen_loop, &l);
  nanosleep(&(struct timespec){0, 300000000}, NULL);
  for (int i = 0; i < LEARNING; i++) {
    post_round(service, QUIET_S + 60 * i, 1e-6);
  }
  double time_s = 0;
  while (load_metric(service->port, "headwater_incidents_open") < LOAD_RIVERS && time_s < 3000) {
    post_round(service, time_s, pulse_g_m3(time_s));
    time_s += 30;
  }
  printf("incidents open                     %8.0f\n", load_metric(service->port, "headwater_incidents_open"));
  wait_for_engines(service);
  load_samples samples = {0}, processor = {0};
  const double processor_s = load_service_processor_s(service);
  for (int i = 0; i < rounds; i++, time_s += 30) {
    const double began = load_now_s(), used_before_s = load_service_processor_s(service);
    load_sample(&samples, round_of_readings(service, &l, time_s, pulse_g_m3(time_s)));
    load_sample(&processor, load_service_processor_s(service) - used_before_s);
    const double rest = 1 - (load_now_s() - began);
    if (rest > 0) {
      nanosleep(&(struct timespec){0, (long)(rest * 999999999)}, NULL);
    }
  }
  printf("  all 100 updated within: median %.0f ms, worst %.0f ms (target 1000) over %d rounds\n",
         1e3 * load_quantile(&samples, 0.5), 1e3 * load_quantile(&samples, 1), rounds);
  const double used_s = (load_service_processor_s(service) - processor_s) / rounds;
  printf(
      "  processor time per round of 100: %.2f s, the dearest %.2f s; halve it for two cores with nothing else to do\n",
      used_s, load_quantile(&processor, 1));
  free(processor.values);
  shutdown(l.http.socket, SHUT_RDWR);
  pthread_join(thread, NULL);
  load_http_close(&l.http);
  free(samples.values);
}

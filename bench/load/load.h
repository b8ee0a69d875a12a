/* The parts of the load generator. Times are seconds on a clock that never jumps. */
#ifndef HW_BENCH_LOAD_H
#define HW_BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LOAD_RIVERS = 100, LOAD_SENSORS = 100, LOAD_BATCH = 100 };

/* Background readings lie long before the spill at time 0 that the incidents are made of. Seconds. */
#define LOAD_LONG_AGO_S (-9900000000LL)

double load_now_s(void);
void load_die(const char *what);
/* fork() whose child is killed when we end, however that comes about. */
int load_fork(void);

/* --- samples of a latency --- */
typedef struct {
  double *values;
  size_t count, capacity;
} load_samples;
void load_sample(load_samples *samples, double value);
/* The share-th of the sorted samples, 0..1; sorts in place. */
double load_quantile(load_samples *samples, double share);

/* --- one keep-alive HTTP connection --- */
typedef struct {
  int socket;
  int port;
  char *buffer;
  size_t size, capacity;
} load_http;
void load_http_open(load_http *http, int port);
void load_http_close(load_http *http);
/* Send and wait for the whole answer; its body is http->buffer from the returned offset. Returned: the status. */
int load_http_call(load_http *http, const char *method, const char *path, const char *type, const char *body,
                   size_t size, size_t *body_at);
double load_metric(int port, const char *name);

/* --- the service under load --- */
typedef struct {
  int pid;
  int port;
  char folder[256];
} load_service;
/* store: where it keeps its data; NULL: a file in the folder. */
void load_service_start(load_service *service, const char *program, const char *folder, const char *store,
                        int mqtt_port);
double load_service_memory_bytes(const load_service *service);
/* Processor time it has used, all threads. */
double load_service_processor_s(const load_service *service);
void load_service_stop(load_service *service);

/* Bare SQLite, same schema, same rows, `group` of them per commit. Returned: rows per second. */
double load_bare_sqlite(const char *folder, size_t group, double seconds);

/* Publish `count` readings over QoS 1 to the broker at port. Returned: seconds until all were acknowledged by it. */
double load_mqtt_publish(int port, size_t count, uint64_t *number);
int load_broker_start(const char *folder, int *port);

/* 100 incidents, one reading a second each; how long until every one has its new estimate. */
void load_incidents(const load_service *service, int rounds);

#endif

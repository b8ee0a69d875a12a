/* make load: how much the service takes in, durably, and how fast; 10,000 sensors on 100 rivers.
 *
 *   load PROGRAM [--seconds S] [--clients N] [--rounds N] [--soak S] [--folder DIR] [--store STORE]
 *
 * --seconds 0 leaves only the incidents, --rounds of a reading each.
 *
 * The yardstick runs first, on the same disk: SQLite alone with the same rows and as many per commit as
 * the clients can have waiting. Figures are of this machine and this run; ratios travel better.
 */
#include "load.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  int port;
  double seconds;
  size_t number;  /* of this client */
  double pause_s; /* between the starts of batches; 0: none */
  uint64_t acknowledged, rejected;
  load_samples latency;
} client;

/* Client k sends readings k, k + clients, ... of an endless row, in batches: all sensors, times growing.
 * Returned: bytes of CSV written. */
static size_t write_batch(char *out, size_t capacity, uint64_t *number, size_t count) {
  size_t size = (size_t)snprintf(out, capacity, "river,time_s,sensor,concentration_g_m3\n");
  for (size_t i = 0; i < count; i++) {
    const uint64_t n = (*number)++;
    const uint64_t sensor = n % (LOAD_RIVERS * LOAD_SENSORS);
    size += (size_t)snprintf(out + size, capacity - size, "r%d,%lld,s%d,0.000001\n", (int)(sensor / LOAD_SENSORS),
                             LOAD_LONG_AGO_S + (long long)(60 * (n / (LOAD_RIVERS * LOAD_SENSORS))),
                             (int)(sensor % LOAD_SENSORS));
  }
  return size;
}

/* How busy the machine is with other things: how late a thread wakes from sleeping a millisecond. */
typedef struct {
  load_samples late;
  atomic_bool stop;
} watch;

static void *run_watch(void *argument) {
  watch *w = argument;
  while (!w->stop) {
    const double began = load_now_s();
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    load_sample(&w->late, load_now_s() - began - 1e-3);
  }
  return NULL;
}

static void *run_client(void *argument) {
  client *c = argument;
  load_http http;
  char body[LOAD_BATCH * 64];
  /* Each client its own span of the row, far from the others': no duplicates between them. */
  uint64_t number = (uint64_t)c->number * 1000000000;
  load_http_open(&http, c->port);
  const double until = load_now_s() + c->seconds;
  while (load_now_s() < until) {
    const size_t size = write_batch(body, sizeof body, &number, LOAD_BATCH);
    size_t at;
    const double sent = load_now_s();
    const int status = load_http_call(&http, "POST", "/v1/readings", "text/csv", body, size, &at);
    load_sample(&c->latency, load_now_s() - sent);
    if (status == 200 && strstr(http.buffer + at, "\"accepted\":100,")) {
      c->acknowledged += LOAD_BATCH;
    } else {
      c->rejected += LOAD_BATCH;
    }
    const double rest_s = c->pause_s - (load_now_s() - sent);
    if (rest_s > 0) {
      nanosleep(&(struct timespec){0, (long)(rest_s * 1e9)}, NULL);
    }
  }
  load_http_close(&http);
  return NULL;
}

/* rate: readings a second of all clients together, as many as go when 0. */
static double run_http(const load_service *service, size_t clients, double seconds, size_t first, double rate_wanted) {
  client *all = calloc(clients, sizeof *all);
  pthread_t *threads = calloc(clients, sizeof *threads);
  if (!all || !threads) {
    load_die("memory");
  }
  const double began = load_now_s();
  for (size_t i = 0; i < clients; i++) {
    all[i] = (client){.port = service->port, .seconds = seconds, .number = first + i};
    all[i].pause_s = rate_wanted > 0 ? LOAD_BATCH * (double)clients / rate_wanted : 0;
    pthread_create(&threads[i], NULL, run_client, &all[i]);
  }
  load_samples latency = {0};
  uint64_t acknowledged = 0, rejected = 0;
  for (size_t i = 0; i < clients; i++) {
    pthread_join(threads[i], NULL);
    acknowledged += all[i].acknowledged;
    rejected += all[i].rejected;
    for (size_t k = 0; k < all[i].latency.count; k++) {
      load_sample(&latency, all[i].latency.values[k]);
    }
    free(all[i].latency.values);
  }
  const double rate = (double)acknowledged / (load_now_s() - began);
  printf("HTTP, %2zu clients, %s   %8.0f readings/s durable; p50 %.1f ms, p99 %.1f ms; %llu refused\n", clients,
         rate_wanted > 0 ? "asked for 20000" : "as many as go  ", rate, 1e3 * load_quantile(&latency, 0.5),
         1e3 * load_quantile(&latency, 0.99), (unsigned long long)rejected);
  free(latency.values);
  free(all);
  free(threads);
  return rate;
}

static void wait_for_tracker(const load_service *service) {
  const double began = load_now_s();
  while (load_metric(service->port, "headwater_tracker_lag_records") > 0 && load_now_s() - began < 60) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  printf("detection caught up after          %8.2f s\n", load_now_s() - began);
}

static void run_mqtt(const load_service *service, int broker_port, size_t count) {
  const double before = load_metric(service->port, "headwater_mqtt_acknowledged_total");
  uint64_t number = UINT64_C(900000000000);
  const double began = load_now_s();
  const double handed_over = load_mqtt_publish(broker_port, count, &number);
  while (load_metric(service->port, "headwater_mqtt_acknowledged_total") - before < (double)count &&
         load_now_s() - began < 120) {
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
  const double took = load_now_s() - began;
  printf(
      "MQTT QoS 1, one connection         %8.0f readings/s durable and acknowledged (%zu messages; broker took them in "
      "%.1f s)\n",
      (double)count / took, count, handed_over);
}

/* The target's rate for as long as asked; memory every half minute. */
static void soak(const load_service *service, double seconds) {
  const double until = load_now_s() + seconds;
  size_t first = 500;
  while (load_now_s() < until) {
    run_http(service, 8, 30, first, 20000);
    first += 8;
    printf("  memory %.1f MB\n", load_service_memory_bytes(service) / 1e6);
  }
}

/* How busy the machine is before anything of ours runs. */
static void look_at_machine(void) {
  watch machine = {.stop = false};
  pthread_t watcher;
  pthread_create(&watcher, NULL, run_watch, &machine);
  nanosleep(&(struct timespec){2, 0}, NULL);
  machine.stop = true;
  pthread_join(watcher, NULL);
  double busy[3] = {0};
  const int known = getloadavg(busy, 1);
  printf("this machine before it: load average %.1f on %ld cores, a 1 ms sleep ends %.1f ms late at p99\n",
         known > 0 ? busy[0] : 0, sysconf(_SC_NPROCESSORS_ONLN), 1e3 * load_quantile(&machine.late, 0.99));
  free(machine.late.values);
}

/* How much goes in, beside what bare SQLite did on this disk a moment ago. */
static void measure_readings(const load_service *service, double bare, size_t clients, double seconds,
                             int broker_port) {
  run_http(service, 1, seconds / 3, 0, 0);
  const double rate = run_http(service, clients, seconds, 1, 0);
  printf("  of bare SQLite's group commit    %8.2f  (target 20000 readings/s: %s)\n", rate / bare,
         rate >= 20000 ? "met" : "missed");
  run_http(service, clients, seconds, 200, 20000);
  wait_for_tracker(service);
  printf("memory after it                    %8.1f MB\n", load_service_memory_bytes(service) / 1e6);
  if (broker_port) {
    run_mqtt(service, broker_port, (size_t)(seconds * 5000));
  }
}

static double measure_bare(const char *folder, size_t clients, double seconds) {
  const double bare_one = load_bare_sqlite(folder, LOAD_BATCH, seconds / 3);
  const double bare = load_bare_sqlite(folder, clients * LOAD_BATCH, seconds / 3);
  printf("bare SQLite, 100 rows a commit     %8.0f rows/s\nbare SQLite, %4zu rows a commit    %8.0f rows/s\n", bare_one,
         clients * LOAD_BATCH, bare);
  return bare;
}

typedef struct {
  double seconds, soak_s;
  size_t clients;
  int rounds;
  const char *parent, *store;
} wishes;

static void run_all(const char *program, const wishes *w, const char *folder) {
  look_at_machine();
  int broker_port = 0;
  const int broker = w->seconds > 0 ? load_broker_start(folder, &broker_port) : 0;
  const double bare = w->seconds > 0 ? measure_bare(folder, w->clients, w->seconds) : 0;
  load_service service;
  load_service_start(&service, program, folder, w->store, broker > 0 ? broker_port : 0);
  if (w->seconds > 0) {
    measure_readings(&service, bare, w->clients, w->seconds, broker > 0 ? broker_port : 0);
  }
  load_incidents(&service, w->rounds);
  if (w->soak_s > 0) {
    soak(&service, w->soak_s);
  }
  printf("memory at the end                  %8.1f MB\n", load_service_memory_bytes(&service) / 1e6);
  load_service_stop(&service);
  if (broker > 0) {
    kill(broker, SIGTERM);
    waitpid(broker, NULL, 0);
  }
}

static volatile sig_atomic_t worker;

static void pass_on(int number) {
  kill(-worker, number);
}

/* However the measuring ends, by a fault or an interrupt, what it started ends with it (a broker that gives up root no
 * longer notices by itself), and its folder goes, which may hold gigabytes. */
static int outlive(const char *folder) {
  int status = 0;
  signal(SIGINT, pass_on);
  signal(SIGTERM, pass_on);
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-worker, SIGKILL);
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  const int removed = system(command);
  return removed == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

int main(int argc, char **argv) {
  wishes w = {.seconds = 10, .clients = 16, .rounds = 20, .parent = "."};
  if (argc < 2) {
    fprintf(stderr,
            "usage: load PROGRAM [--seconds S] [--clients N] [--rounds N] [--soak S] [--folder DIR] "
            "[--store STORE]\n");
    return 2;
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    w.seconds = strcmp(argv[i], "--seconds") == 0 ? atof(argv[i + 1]) : w.seconds;
    w.clients = strcmp(argv[i], "--clients") == 0 ? (size_t)atoi(argv[i + 1]) : w.clients;
    w.rounds = strcmp(argv[i], "--rounds") == 0 ? atoi(argv[i + 1]) : w.rounds;
    w.soak_s = strcmp(argv[i], "--soak") == 0 ? atof(argv[i + 1]) : w.soak_s;
    w.parent = strcmp(argv[i], "--folder") == 0 ? argv[i + 1] : w.parent;
    w.store = strcmp(argv[i], "--store") == 0 ? argv[i + 1] : w.store;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  char folder[256];
  snprintf(folder, sizeof folder, "%s/load-XXXXXX", w.parent);
  if (!mkdtemp(folder)) {
    load_die(folder);
  }
  errno = 0;
  worker = load_fork();
  if (worker < 0) {
    load_die("fork");
  }
  setpgid(worker, worker); /* whoever of the two comes first */
  if (worker == 0) {
    run_all(argv[1], &w, folder);
    return 0;
  }
  return outlive(folder);
}

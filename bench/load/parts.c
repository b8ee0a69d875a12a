/* Clocks, samples, HTTP over a plain socket, and the service as a child process. */
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double load_now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void load_die(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "failed");
  exit(3);
}

void load_sample(load_samples *samples, double value) {
  if (samples->count == samples->capacity) {
    samples->capacity = samples->capacity ? 2 * samples->capacity : 4096;
    samples->values = realloc(samples->values, samples->capacity * sizeof *samples->values);
    if (!samples->values) {
      load_die("memory");
    }
  }
  samples->values[samples->count++] = value;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double load_quantile(load_samples *samples, double share) {
  if (!samples->count) {
    return 0;
  }
  qsort(samples->values, samples->count, sizeof *samples->values, ascending);
  return samples->values[(size_t)(share * (double)(samples->count - 1))];
}

void load_http_open(load_http *http, int port) {
  *http = (load_http){.port = port, .capacity = 1 << 20};
  http->buffer = malloc(http->capacity);
  http->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (!http->buffer || http->socket < 0 || connect(http->socket, (const struct sockaddr *)&to, sizeof to) != 0) {
    load_die("connect");
  }
  setsockopt(http->socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

void load_http_close(load_http *http) {
  close(http->socket);
  free(http->buffer);
}

static void send_all(int to, const char *data, size_t size) {
  while (size) {
    const ssize_t sent = send(to, data, size, MSG_NOSIGNAL);
    if (sent <= 0) {
      load_die("send");
    }
    data += sent;
    size -= (size_t)sent;
  }
}

int load_http_call(load_http *http, const char *method, const char *path, const char *type, const char *body,
                   size_t size, size_t *body_at) {
  char head[512];
  const int length = snprintf(head, sizeof head,
                              "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                              method, path, type, size);
  send_all(http->socket, head, (size_t)length);
  send_all(http->socket, body, size);
  http->size = 0;
  for (;;) {
    if (http->size + 65536 > http->capacity) {
      http->capacity *= 2;
      http->buffer = realloc(http->buffer, http->capacity);
    }
    const ssize_t got = recv(http->socket, http->buffer + http->size, http->capacity - http->size - 1, 0);
    if (got <= 0) {
      load_die("the service went away");
    }
    http->size += (size_t)got;
    http->buffer[http->size] = '\0';
    const char *end = strstr(http->buffer, "\r\n\r\n");
    const char *told = strstr(http->buffer, "Content-Length: ");
    if (end && told) {
      *body_at = (size_t)(end + 4 - http->buffer);
      if (http->size >= *body_at + strtoul(told + 16, NULL, 10)) {
        return atoi(http->buffer + 9);
      }
    }
  }
}

double load_metric(int port, const char *name) {
  load_http http;
  size_t at = 0;
  load_http_open(&http, port);
  load_http_call(&http, "GET", "/metrics", "text/plain", "", 0, &at);
  char wanted[128];
  snprintf(wanted, sizeof wanted, "\n%s ", name);
  const char *found = strstr(http.buffer + at, wanted);
  const double value = found ? strtod(found + strlen(wanted), NULL) : -1;
  load_http_close(&http);
  return value;
}

int load_fork(void) {
  const pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(3); /* the parent ended before we could ask to end with it */
    }
  }
  return pid;
}

static void write_rivers(const char *folder) {
  for (int r = 0; r < LOAD_RIVERS; r++) {
    char path[512];
    snprintf(path, sizeof path, "%s/r%d.yaml", folder, r);
    FILE *out = fopen(path, "w");
    if (!out) {
      load_die(path);
    }
    fprintf(out,
            "name: River %d\nhydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60}\n"
            "search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-20000, 3000]}\nsensors:\n",
            r);
    for (int s = 0; s < LOAD_SENSORS; s++) {
      fprintf(out, "  - {id: s%d, location_m: %d, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}\n", s,
              100 * s);
    }
    fclose(out);
  }
}

void load_service_start(load_service *service, const char *program, const char *folder, const char *store,
                        int mqtt_port) {
  snprintf(service->folder, sizeof service->folder, "%s", folder);
  write_rivers(folder);
  static char rivers[LOAD_RIVERS][300], db[300], mqtt[64];
  const char *arguments[LOAD_RIVERS + 16] = {program, "serve"};
  size_t count = 2;
  for (int r = 0; r < LOAD_RIVERS; r++) {
    snprintf(rivers[r], sizeof rivers[r], "%s/r%d.yaml", folder, r);
    arguments[count++] = rivers[r];
  }
  snprintf(db, sizeof db, "%s/load.db", folder);
  snprintf(mqtt, sizeof mqtt, "127.0.0.1:%d", mqtt_port);
  const char *const rest[] = {
      "--listen", "127.0.0.1:0", "--store", store ? store : db, "--rate", "100000", mqtt_port ? "--mqtt" : NULL,
      mqtt,       NULL};
  for (size_t i = 0; rest[i]; i++) {
    arguments[count++] = rest[i];
  }
  int pipes[2];
  if (pipe(pipes) != 0) {
    load_die("pipe");
  }
  service->pid = load_fork();
  if (service->pid == 0) {
    dup2(pipes[1], 1);
    char log[300];
    snprintf(log, sizeof log, "%s/log", folder);
    if (!freopen(log, "w", stderr)) {
      _exit(3);
    }
    execv(program, (char *const *)arguments);
    _exit(127);
  }
  close(pipes[1]);
  char line[256] = "";
  size_t size = 0;
  while (size < sizeof line - 1 && !strchr(line, '\n')) {
    const ssize_t got = read(pipes[0], line + size, sizeof line - 1 - size);
    if (got <= 0) {
      load_die("the service does not start");
    }
    size += (size_t)got;
    line[size] = '\0';
  }
  close(pipes[0]);
  service->port = atoi(strrchr(line, ':') + 1);
}

double load_service_memory_bytes(const load_service *service) {
  char path[64], line[256];
  double kilobytes = 0;
  snprintf(path, sizeof path, "/proc/%d/status", service->pid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "VmRSS:", 6) == 0) {
      kilobytes = strtod(line + 6, NULL);
    }
  }
  if (file) {
    fclose(file);
  }
  return kilobytes * 1024;
}

double load_service_processor_s(const load_service *service) {
  char path[64];
  unsigned long user = 0, system_ticks = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", service->pid);
  FILE *file = fopen(path, "re");
  if (file) {
    if (fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system_ticks) != 2) {
      user = system_ticks = 0;
    }
    fclose(file);
  }
  return (double)(user + system_ticks) / (double)sysconf(_SC_CLK_TCK);
}

void load_service_stop(load_service *service) {
  kill(service->pid, SIGTERM);
  waitpid(service->pid, NULL, 0);
}

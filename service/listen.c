/* Where the service listens, and under which conditions: anything but loopback needs tokens. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"
#include "limit.h"

enum { IDLE_S = 60, STACK_BYTES = 512 * 1024, KEY_BYTES_MAX = 1 << 20 };

bool hw__http_address(const char *listen, char *host, size_t size, unsigned *port) {
  const char *colon = strrchr(listen, ':');
  if (!colon || colon == listen || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) {
    return false;
  }
  const char *start = listen;
  size_t length = (size_t)(colon - listen);
  if (*start == '[' && length > 2 && start[length - 1] == ']') {
    start++;
    length -= 2;
  }
  const unsigned long number = strtoul(colon + 1, NULL, 10);
  if (length >= size || number > 65535) {
    return false;
  }
  memcpy(host, start, length);
  host[length] = '\0';
  *port = (unsigned)number;
  return true;
}

bool hw__http_socket(const char *host, unsigned port, struct sockaddr_storage *out, bool *loopback) {
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
  memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET, numeric, &v4.sin_addr) == 1) {
    *loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    memcpy(out, &v4, sizeof v4);
    return true;
  }
  if (inet_pton(AF_INET6, numeric, &v6.sin6_addr) == 1) {
    *loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    memcpy(out, &v6, sizeof v6);
    return true;
  }
  return false;
}

static char *read_file(const char *path, hw_error *error) {
  FILE *file = fopen(path, "re");
  char *text = file ? calloc(1, KEY_BYTES_MAX + 1) : NULL;
  if (text) {
    const size_t size = fread(text, 1, KEY_BYTES_MAX, file);
    text[size] = '\0';
  } else {
    snprintf(error->text, sizeof error->text, "%s: %s", path, strerror(errno));
  }
  if (file) {
    fclose(file);
  }
  return text;
}

hw_status hw__http_prepare(hw_service *service, hw_error *error) {
  struct sockaddr_storage address;
  const hw_serve_options *o = &service->options;
  if (!hw__http_address(o->listen, service->host, sizeof service->host, &service->port) ||
      !hw__http_socket(service->host, service->port, &address, &service->loopback)) {
    snprintf(error->text, sizeof error->text, "--listen %s: expected ADDR:PORT with a numeric address", o->listen);
    return HW_EINPUT;
  }
  if (!service->loopback && !service->auth) {
    snprintf(error->text, sizeof error->text,
             "--listen %s: open to other machines, expected --token-file as well (or 127.0.0.1)", o->listen);
    return HW_EINPUT;
  }
  if (!o->tls_cert != !o->tls_key) {
    snprintf(error->text, sizeof error->text, "--tls-cert and --tls-key: one given, expected both");
    return HW_EINPUT;
  }
  if (o->tls_cert &&
      (!(service->tls_cert = read_file(o->tls_cert, error)) || !(service->tls_key = read_file(o->tls_key, error)))) {
    return HW_EIO;
  }
  return HW_OK;
}

static struct MHD_Daemon *start_daemon(hw_service *service, const struct sockaddr_storage *address) {
  const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
                         (service->tls_cert ? (unsigned)MHD_USE_TLS : 0U) |
                         (address->ss_family == AF_INET6 ? (unsigned)MHD_USE_IPv6 : 0U);
  const unsigned connections = (unsigned)service->options.connections;
  /* One address may not take all of them; on loopback everybody has the same one. */
  const unsigned per_address = service->loopback ? 0 : connections / 2;
  struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, service->tls_cert},
                                 {MHD_OPTION_HTTPS_MEM_KEY, 0, service->tls_key},
                                 {MHD_OPTION_END, 0, NULL}};
  struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
  return MHD_start_daemon(flags, (uint16_t)service->port, NULL, NULL, hw__http_on_request, service,
                          MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)address, MHD_OPTION_CONNECTION_LIMIT,
                          connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address, MHD_OPTION_CONNECTION_TIMEOUT,
                          (unsigned)IDLE_S, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
                          MHD_OPTION_NOTIFY_COMPLETED, hw__http_on_completed, NULL, MHD_OPTION_LISTENING_ADDRESS_REUSE,
                          1U, MHD_OPTION_ARRAY, service->tls_cert ? tls : none, MHD_OPTION_END);
}

hw_status hw__http_start(hw_service *service, hw_error *error) {
  struct sockaddr_storage address;
  hw__http_socket(service->host, service->port, &address, &service->loopback);
  service->limiter = hw__limit_create(service->options.rate_per_s);
  service->daemon = service->limiter ? start_daemon(service, &address) : NULL;
  if (!service->daemon) {
    snprintf(error->text, sizeof error->text, "--listen %s: %s", service->options.listen,
             service->tls_cert && errno == 0 ? "certificate or key not usable" : strerror(errno));
    return HW_EIO;
  }
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(service->daemon, MHD_DAEMON_INFO_BIND_PORT);
  service->port = info ? info->port : service->port;
  return HW_OK;
}

void hw__http_stop(hw_service *service) {
  if (service->daemon) {
    MHD_stop_daemon(service->daemon);
  }
  hw__limit_free(service->limiter);
  free(service->tls_cert);
  free(service->tls_key);
  service->daemon = NULL;
  service->limiter = NULL;
  service->tls_cert = service->tls_key = NULL;
}

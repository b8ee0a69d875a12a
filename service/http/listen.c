/* Where the service listens, and under which conditions: anything but loopback needs tokens. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/address.h"
#include "base/tls.h"
#include "http/connections.h"
#include "http/http.h"
#include "http/rate_limit.h"

enum { IDLE_S = 60, STACK_BYTES = 512 * 1024, KEY_BYTES_MAX = 1 << 20, FILES_BESIDE = 128, BODY_BYTES_MOST = 1 << 30 };

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

/* The host that tiles come from, as a policy names it: http[s]://NAME[:PORT]. */
static bool find_tiles_origin(const char *url, char *out, size_t size) {
  static const char host[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:[]";
  const size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
  const size_t length = scheme + strspn(url + scheme, host);
  snprintf(out, size, "%.*s", (int)length, url);
  return scheme && length > scheme && length < size && url[length] == '/' && strstr(url, "{z}") && strstr(url, "{x}") &&
         strstr(url, "{y}");
}

hw_status hw__http_prepare(hw__service *service, hw_error *error) {
  struct sockaddr_storage address;
  const hw_serve_options *o = &service->options;
  if (!hw__address_split(o->listen, service->host, sizeof service->host, &service->port) ||
      !hw__address_socket(service->host, service->port, &address, &service->loopback)) {
    snprintf(error->text, sizeof error->text, "--listen %s: expected ADDR:PORT with a numeric address", o->listen);
    return HW_EDOMAIN;
  }
  if (o->body_limit > BODY_BYTES_MOST) {
    snprintf(error->text, sizeof error->text, "--body-limit %zu: expected at most %d", o->body_limit, BODY_BYTES_MOST);
    return HW_EDOMAIN;
  }
  if (!service->loopback && !service->auth) {
    snprintf(error->text, sizeof error->text,
             "--listen %s: open to other machines, expected --token-file as well (or 127.0.0.1)", o->listen);
    return HW_EDOMAIN;
  }
  if (o->tiles && !find_tiles_origin(o->tiles, service->tiles_origin, sizeof service->tiles_origin)) {
    snprintf(error->text, sizeof error->text, "--tiles %.120s: expected http[s]://HOST/... with {z}, {x} and {y}",
             o->tiles);
    return HW_EDOMAIN;
  }
  if (!o->tls_cert != !o->tls_key) {
    snprintf(error->text, sizeof error->text, "--tls-cert and --tls-key: one given, expected both");
    return HW_EDOMAIN;
  }
  if (o->tls_cert &&
      (!(service->tls_cert = read_file(o->tls_cert, error)) || !(service->tls_key = read_file(o->tls_key, error)))) {
    return HW_EIO;
  }
  return HW_OK;
}

/* Descriptors for the connections, those on their way out included, and for all else. Without one an accept fails at
 * once, again and again. Returned: so many connections there may be, 0: too few. */
static unsigned make_room(const hw__service *service) {
  const unsigned wanted = hw__connections_room(service->connections);
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return wanted;
  }
  const rlim_t needed = (rlim_t)wanted + FILES_BESIDE;
  if (files.rlim_cur < needed) {
    files.rlim_cur = files.rlim_max < needed ? files.rlim_max : needed;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur >= needed) {
    return wanted;
  }
  return files.rlim_cur < service->options.connections + FILES_BESIDE ? 0 : (unsigned)(files.rlim_cur - FILES_BESIDE);
}

static struct MHD_Daemon *start_daemon(hw__service *service, const struct sockaddr_storage *address, unsigned room) {
  const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
                         (service->tls_cert ? (unsigned)MHD_USE_TLS : 0U) |
                         (address->ss_family == AF_INET6 ? (unsigned)MHD_USE_IPv6 : 0U);
  static char priorities[] = HW_TLS_PRIORITY;
  struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, service->tls_cert},
                                 {MHD_OPTION_HTTPS_MEM_KEY, 0, service->tls_key},
                                 {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
                                 {MHD_OPTION_END, 0, NULL}};
  struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
  return MHD_start_daemon(
      flags, (uint16_t)service->port, NULL, NULL, hw__http_on_request, service, MHD_OPTION_SOCK_ADDR,
      (const struct sockaddr *)address, MHD_OPTION_CONNECTION_LIMIT, room, MHD_OPTION_NOTIFY_CONNECTION,
      hw__connections_notify, service->connections, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
      MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_NOTIFY_COMPLETED, hw__http_on_completed, service,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, service->tls_cert ? tls : none, MHD_OPTION_END);
}

hw_status hw__http_start(hw__service *service, hw_error *error) {
  struct sockaddr_storage address;
  hw__address_socket(service->host, service->port, &address, &service->loopback);
  const size_t connections = service->options.connections;
  /* The shortest rows take twenty times their length once they are read: the largest body alone always fits. */
  atomic_store(&service->bodies.left_bytes, 32 * service->options.body_limit);
  service->limiter = hw__rate_limit_create(service->options.rate_per_s);
  /* One address may not take all of them; on loopback everybody has the same one. */
  service->connections = hw__connections_create(connections, service->loopback ? 0 : (connections + 1) / 2);
  const unsigned room = service->connections ? make_room(service) : 0;
  if (service->connections && room == 0) {
    snprintf(
        error->text, sizeof error->text,
        "--connections %zu: more than this process may have files open, expected fewer, or a higher limit (ulimit -n)",
        connections);
    return HW_EDOMAIN;
  }
  service->daemon = service->limiter && room ? start_daemon(service, &address, room) : NULL;
  if (!service->daemon) {
    snprintf(error->text, sizeof error->text, "--listen %s: %s", service->options.listen,
             service->tls_cert && errno == 0 ? "certificate or key not usable" : strerror(errno));
    return HW_EIO;
  }
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(service->daemon, MHD_DAEMON_INFO_BIND_PORT);
  service->port = info ? info->port : service->port;
  return HW_OK;
}

void hw__http_stop(hw__service *service) {
  if (service->daemon) {
    MHD_stop_daemon(service->daemon);
  }
  hw__connections_free(service->connections);
  hw__rate_limit_free(service->limiter);
  free(service->tls_cert);
  free(service->tls_key);
  service->daemon = NULL;
  service->connections = NULL;
  service->limiter = NULL;
  service->tls_cert = service->tls_key = NULL;
}

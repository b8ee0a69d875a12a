#include "cluster/monitor.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/prometheus.h"
#include "ingest/fate.h"

struct hw__monitor {
  hw__monitored *monitored;
  struct MHD_Daemon *daemon;
};

static void write_metrics(void *context, FILE *out) {
  const hw__monitored *monitored = context;
  hw__fate_expose(out);
  hw__prometheus_counts(out);
  hw__prometheus_gauge(out, "headwater_partitions_held", "Partitions processed here.",
                       atomic_load(&monitored->partitions_held));
  hw__prometheus_gauge(out, "headwater_workers_known", "Workers heard of lately, this one among them.",
                       atomic_load(&monitored->workers_known));
  hw__prometheus_gauge(out, "headwater_bus_connected", "1 while connected to the cluster.",
                       atomic_load(&monitored->connected));
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_size, void **state) {
  (void)version;
  (void)data;
  (void)state;
  const hw__monitor *monitor = context;
  *data_size = 0;
  char *text = NULL;
  unsigned code = 404;
  if (strcmp(method, "GET") != 0) {
    code = 405;
  } else if (strcmp(url, "/metrics") == 0) {
    text = hw__prometheus_text(write_metrics, monitor->monitored);
    code = text ? 200 : 500;
  } else if (strcmp(url, "/healthz") == 0) {
    text = strdup("{\"status\":\"ok\"}");
    code = 200;
  }
  struct MHD_Response *response = MHD_create_response_from_buffer(
      text ? strlen(text) : 0, text, text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
  if (!response) {
    free(text);
    return MHD_NO;
  }
  const enum MHD_Result queued = MHD_queue_response(connection, code, response);
  MHD_destroy_response(response);
  return queued;
}

hw_status hw__monitor_start(const char *listen, hw__monitored *monitored, hw__monitor **out, hw_error *error) {
  *out = NULL;
  char host[128];
  unsigned port = 0;
  bool loopback = false;
  struct sockaddr_storage address;
  if (!hw__address_split(listen, host, sizeof host, &port) || !hw__address_socket(host, port, &address, &loopback)) {
    snprintf(error->text, sizeof error->text, "--listen %.200s: expected ADDR:PORT with a numeric address", listen);
    return HW_EDOMAIN;
  }
  hw__monitor *monitor = calloc(1, sizeof *monitor);
  if (!monitor) {
    return HW_ENOMEM;
  }
  monitor->monitored = monitored;
  const unsigned flags =
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | (address.ss_family == AF_INET6 ? (unsigned)MHD_USE_IPv6 : 0U);
  monitor->daemon = MHD_start_daemon(flags, (uint16_t)port, NULL, NULL, on_request, monitor, MHD_OPTION_SOCK_ADDR,
                                     (const struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, 16U,
                                     MHD_OPTION_CONNECTION_TIMEOUT, 10U, MHD_OPTION_END);
  if (!monitor->daemon) {
    snprintf(error->text, sizeof error->text, "--listen %.200s: %s", listen, strerror(errno));
    free(monitor);
    return HW_EIO;
  }
  *out = monitor;
  return HW_OK;
}

void hw__monitor_stop(hw__monitor *monitor) {
  if (monitor) {
    MHD_stop_daemon(monitor->daemon);
    free(monitor);
  }
}

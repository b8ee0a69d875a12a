/* For those who keep the service running: Prometheus, liveness, readiness. */
#include <stdio.h>
#include <stdlib.h>

#include "base/prometheus.h"
#include "http/handlers.h"
#include "live/show.h"

/* In a cluster the tracker here only watches: incidents are what the workers told. */
static size_t open_incidents(hw__service *service) {
  if (!service->follower) {
    return hw__tracker_open_count(service->processing.tracker);
  }
  enum { MOST = 4096 };
  size_t count = 0;
  hw__incident *open = malloc(MOST * sizeof *open);
  hw__db *db = open ? hw__store_reader(service->store) : NULL;
  if (db) {
    hw__db_incidents(db, &(hw__incident_query){.open_only = true}, open, MOST, &count);
    hw__store_return(service->store, db);
  }
  free(open);
  return count;
}

static void write_metrics(void *context, FILE *out) {
  hw__service *service = context;
  hw__fate_expose(out);
  hw__prometheus_counts(out);
  const int64_t head = hw__store_seq(service->store);
  hw__prometheus_gauge(out, "headwater_incidents_open", "Incidents open now.", (double)open_incidents(service));
  hw__prometheus_gauge(out, "headwater_log_records", "Readings and commands in the log.", (double)head);
  hw__prometheus_gauge(out, "headwater_tracker_lag_records", "Records that detection has not processed yet.",
                       (double)(head - hw__tracker_seq(service->processing.tracker)));
  hw__prometheus_gauge(out, "headwater_incidents_behind", "Incidents whose engine has readings to catch up with.",
                       (double)hw__solver_behind(service->processing.solver));
  hw__prometheus_gauge(out, "headwater_uptime_seconds", "Since the start.",
                       (double)(hw__store_now_us(service->store) - service->started_us) * 1e-6);
  if (service->bus) {
    hw__prometheus_gauge(out, "headwater_bus_connected", "1 while connected to the cluster.",
                         hw__bus_connected(service->bus));
  }
}

hw__reply hw__reply_metrics(void (*write)(void *context, FILE *out), hw__service *service) {
  char *text = hw__prometheus_text(write, service);
  return text ? hw__reply_text(200, "text/plain; version=0.0.4; charset=utf-8", text)
              : hw__reply_later("out of memory, ask again");
}

hw__reply hw__get_metrics(hw__request *request) {
  return hw__reply_metrics(write_metrics, request->service);
}

hw__reply hw__get_health(hw__request *request) {
  (void)request;
  return hw__reply_json(200, json_pack("{s:s, s:s}", "status", "ok", "version", HW_VERSION));
}

/* Ready: the last write went through, a database handle answers, and the cluster, where there is one, could acknowledge
 * a reading. */
hw__reply hw__get_ready(hw__request *request) {
  hw__service *service = request->service;
  hw__db_status status = hw__store_health(service->store);
  if (status == HW_DB_OK) {
    int64_t event = 0;
    hw__db *db = NULL;
    status = hw__store_borrow(service->store, &db);
    if (status == HW_DB_OK) {
      status = hw__db_last_event(db, &event);
    }
    if (db) {
      hw__store_return(service->store, db);
    }
  }
  if (status == HW_DB_OK && service->follower &&
      !(hw__follower_cluster(service->follower) && hw__bus_connected(service->bus) &&
        hw__bus_can_store(service->bus, "HW_IN"))) {
    status = HW_DB_AWAY;
  }
  return hw__reply_json(status == HW_DB_OK ? 200 : 503,
                        json_pack("{s:b, s:s}", "ready", status == HW_DB_OK, "store", hw__db_text(status)));
}

/* For those who keep the service running: Prometheus, liveness, readiness. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handlers.h"
#include "metrics.h"
#include "show.h"

static double resident_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  long pages = 0, resident = 0;
  if (file) {
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) {
      resident = 0;
    }
    fclose(file);
  }
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void gauge(FILE *out, const char *name, const char *help, double value) {
  fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.17g\n", name, help, name, name, value);
}

hw_reply hw__get_metrics(hw_request *request) {
  hw_service *service = request->service;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return hw__reply_error(500, "out of memory");
  }
  fprintf(out, "# HELP headwater_readings_total Rows received, by fate.\n# TYPE headwater_readings_total counter\n");
  for (int fate = 0; fate < HW_FATE_COUNT; fate++) {
    fprintf(out, "headwater_readings_total{fate=\"%s\"} %" PRIu64 "\n", hw__fate_label((hw_fate)fate),
            hw__metric_fate((size_t)fate));
  }
  for (int m = 0; m < HW_METRIC_COUNT; m++) {
    const hw_metric metric = (hw_metric)m;
    fprintf(out, "# HELP %s %s\n# TYPE %s counter\n%s %.17g\n", hw__metric_name(metric), hw__metric_help(metric),
            hw__metric_name(metric), hw__metric_name(metric), (double)hw__metric_get(metric) / hw__metric_unit(metric));
  }
  const int64_t head = hw__store_seq(service->store);
  gauge(out, "headwater_incidents_open", "Incidents open now.", (double)hw__tracker_open_count(service->tracker));
  gauge(out, "headwater_log_records", "Readings and commands in the log.", (double)head);
  gauge(out, "headwater_tracker_lag_records", "Records not yet looked at by detection.",
        (double)(head - hw__tracker_seq(service->tracker)));
  gauge(out, "headwater_incidents_behind", "Incidents whose engine has readings to catch up with.",
        (double)hw__solver_behind(service->solver));
  gauge(out, "headwater_resident_memory_bytes", "Memory in use.", resident_bytes());
  gauge(out, "headwater_uptime_seconds", "Since the start.",
        (double)(hw__store_now_us(service->store) - service->started_us) * 1e-6);
  fprintf(out, "# HELP headwater_info Version.\n# TYPE headwater_info gauge\nheadwater_info{version=\"%s\"} 1\n",
          HW_VERSION);
  fclose(out);
  return hw__reply_text(200, "text/plain; version=0.0.4; charset=utf-8", text);
}

hw_reply hw__get_health(hw_request *request) {
  (void)request;
  return hw__reply_json(200, json_pack("{s:s, s:s}", "status", "ok", "version", HW_VERSION));
}

/* Ready: the last write went through, and a database handle answers. */
hw_reply hw__get_ready(hw_request *request) {
  hw_service *service = request->service;
  hw_db_status status = hw__store_health(service->store);
  if (status == HW_DB_OK) {
    int64_t event = 0;
    hw_db *db = hw__store_reader(service->store);
    status = db ? hw__db_last_event(db, &event) : HW_DB_IO;
    if (db) {
      hw__store_return(service->store, db);
    }
  }
  return hw__reply_json(status == HW_DB_OK ? 200 : 503,
                        json_pack("{s:b, s:s}", "ready", status == HW_DB_OK, "store", hw__db_text(status)));
}

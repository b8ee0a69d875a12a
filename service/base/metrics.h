/* What the service counts, in one list: adding a count is adding a line.
 * X(name, Prometheus name, unit divisor, help). Names in base units, counters end in _total. */
#ifndef HW_BASE_METRICS_H
#define HW_BASE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#define HW_METRIC_LIST(X)                                                                                            \
  X(HW_METRIC_HTTP_REQUESTS, "headwater_http_requests_total", 1, "HTTP requests answered.")                          \
  X(HW_METRIC_HTTP_REFUSED, "headwater_http_refused_total", 1, "HTTP requests refused: token, rate or size.")        \
  X(HW_METRIC_HTTP_CUT, "headwater_http_cut_total", 1, "Connections closed: too slow, or replaced by a new one.")    \
  X(HW_METRIC_HTTP_ERRORS, "headwater_http_errors_total", 1, "HTTP answers of 500 and above.")                       \
  X(HW_METRIC_INGEST_BYTES, "headwater_ingest_bytes_total", 1, "Bytes of readings received.")                        \
  X(HW_METRIC_COMMITS, "headwater_store_commits_total", 1, "Transactions committed or failed.")                      \
  X(HW_METRIC_COMMIT_JOBS, "headwater_store_jobs_total", 1, "Writes that shared those transactions.")                \
  X(HW_METRIC_COMMIT_FAILURES, "headwater_store_failures_total", 1, "Transactions that failed.")                     \
  X(HW_METRIC_COMMIT_US, "headwater_store_commit_seconds_total", 1e6, "Time spent in transactions.")                 \
  X(HW_METRIC_REMOVED, "headwater_readings_removed_total", 1, "Readings removed by retention.")                      \
  X(HW_METRIC_LOG_VERIFIED, "headwater_log_verified_records_total", 1, "Records compared with their checksums.")     \
  X(HW_METRIC_LOG_FAULTS, "headwater_log_faults_total", 1, "Records found changed, missing or lost.")                \
  X(HW_METRIC_ENGINE_READINGS, "headwater_engine_readings_total", 1, "Readings given to engines of incidents.")      \
  X(HW_METRIC_ENGINE_US, "headwater_engine_seconds_total", 1e6, "Time engines spent on them.")                       \
  X(HW_METRIC_ENGINE_FAILURES, "headwater_engine_failures_total", 1, "Engine calls that failed.")                    \
  X(HW_METRIC_ESTIMATES, "headwater_estimates_total", 1, "Estimates made.")                                          \
  X(HW_METRIC_ESTIMATES_SKIPPED, "headwater_estimates_skipped_total", 1,                                             \
    "Readings in a backlog for which no estimate of their own was made.")                                            \
  X(HW_METRIC_MQTT_MESSAGES, "headwater_mqtt_messages_total", 1, "MQTT messages received.")                          \
  X(HW_METRIC_MQTT_ACKNOWLEDGED, "headwater_mqtt_acknowledged_total", 1, "MQTT messages acknowledged when durable.") \
  X(HW_METRIC_MQTT_CONNECTS, "headwater_mqtt_connects_total", 1, "Connections made to the broker.")                  \
  X(HW_METRIC_FEED_MESSAGES, "headwater_feed_messages_total", 1, "Messages of readings taken from the cluster.")     \
  X(HW_METRIC_NEWS, "headwater_news_total", 1, "Messages of workers read from the cluster.")                         \
  X(HW_METRIC_NEWS_REFUSED, "headwater_news_refused_total", 1, "Messages of workers that could not be read.")        \
  X(HW_METRIC_LEASES_TAKEN, "headwater_leases_taken_total", 1, "Partitions taken.")                                  \
  X(HW_METRIC_LEASES_LOST, "headwater_leases_lost_total", 1,                                                         \
    "Leases lost: another worker took the partition, or the cluster did not answer.")                                \
  X(HW_METRIC_OUTBOX, "headwater_outbox_messages_total", 1, "Messages published to the services that display them.") \
  X(HW_METRIC_COPIES, "headwater_copies_total", 1, "Copies of partitions stored in the cluster.")                    \
  X(HW_METRIC_COPY_BYTES, "headwater_copy_bytes_total", 1, "Bytes of those copies.")                                 \
  X(HW_METRIC_COPY_FAILURES, "headwater_copy_failures_total", 1, "Copies that failed.")                              \
  X(HW_METRIC_HOOKS, "headwater_hooks_total", 1, "Events delivered, for each receiver.")                             \
  X(HW_METRIC_HOOK_FAILURES, "headwater_hook_failures_total", 1, "Hook attempts that failed.")

typedef enum {
#define HW_METRIC_ENUM(name, text, unit, help) name,
  HW_METRIC_LIST(HW_METRIC_ENUM)
#undef HW_METRIC_ENUM
      HW_METRIC_COUNT
} hw__metric;

/* The counts belong to the whole process. Safe from any thread. */
void hw__metric_add(hw__metric metric, uint64_t by);
uint64_t hw__metric_get(hw__metric metric);

const char *hw__metric_name(hw__metric metric);
const char *hw__metric_help(hw__metric metric);
double hw__metric_unit(hw__metric metric);

#endif

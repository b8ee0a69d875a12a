/* Follows the log and keeps the incidents: every record in order, once.
 *
 * An incident opens when a sensor leaves its background (detect.h) on a river without an open one, or when a person
 * says so; alarms of other sensors of that river join it. It closes when every sensor is back at its background and
 * stays so for the quiet time plus the travel time to the next sensor downstream that has not seen the pulse yet; or
 * when a person says so; or after thirty days. The incident's number is the number of the record that opened it, so
 * processing the same log again gives the same incidents. Spills that overlap on one river are one incident.
 */
#ifndef HW_INCIDENTS_TRACKER_H
#define HW_INCIDENTS_TRACKER_H

#include "incidents/detect.h"
#include "store/store.h"

typedef struct {
  char method[32]; /* of incidents opened by detection; and of manual ones that name none */
  uint64_t seed;
  double lead_in_s; /* readings this long before the onset go to the engine too */
  double quiet_s;   /* how long after the pulse an incident stays open */
  bool watch_only;  /* follow the sensors and leave incidents to a worker elsewhere */
} hw__tracker_options;

/* Called as it happens, from the tracker's thread; what matters is durable by then. */
typedef struct {
  void (*opened)(void *context, const hw__incident *incident);
  void (*closed)(void *context, const hw__incident *incident);
  void (*advanced)(void *context); /* more records have been looked at */
  void *context;
} hw__tracker_listener;

typedef struct hw__tracker hw__tracker;

/* Restores the state, catches up with the log, and then follows it in a thread of its own. */
hw__db_status hw__tracker_start(hw__store *store, const hw__catalog *catalog, const hw__tracker_options *options,
                                const hw__tracker_listener *listener, hw__tracker **out);
/* Stops, with a last snapshot. */
void hw__tracker_stop(hw__tracker *tracker);

/* Every record up to this number has been looked at. */
int64_t hw__tracker_seq(hw__tracker *tracker);
/* A copy of a sensor's state. */
hw__detector hw__tracker_detector(hw__tracker *tracker, hw__place place);
size_t hw__tracker_open_count(hw__tracker *tracker);

/* A person's command, durable and acted upon before the call returns. time_s: NAN for "from the latest reading on".
 * Returned: the incident's number in *id.
 * Status: HW_DB_ABSENT when there is no such open incident (close). */
hw__db_status hw__tracker_open(hw__tracker *tracker, size_t site, const char *method, double time_s, int64_t *id);
hw__db_status hw__tracker_close(hw__tracker *tracker, int64_t id);
/* note: JSON text, {"who", "note", "subject"}. *seq: the number of the record. */
hw__db_status hw__tracker_acknowledge(hw__tracker *tracker, const hw__incident *incident, const char *note,
                                      int64_t *seq);

#endif

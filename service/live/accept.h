/* Readings and commands on their way into the log, which is our own database or the cluster's stream. When these
 * return HW_DB_OK, they are durable. */
#ifndef HW_LIVE_ACCEPT_H
#define HW_LIVE_ACCEPT_H

#include "live/service.h"

/* For readings that came now: the rivers, and the clock they are judged by. */
hw__ingest hw__accept_begin(hw__service *service);
/* Fates are settled and counted in ingest->tally. In a cluster every checked reading counts as accepted: duplicates
 * and conflicts are found by the worker, which reads the stream in order.
 * Status: HW_DB_CLOCK when one cannot be judged because the machine's clock was just set; HW_DB_AWAY when the cluster
 * did not answer in time: send it again, nothing is counted twice. */
hw__db_status hw__accept_readings(hw__service *service, hw__ingest *ingest);

/* As hw__tracker_open and _close; in a cluster they wait some seconds for a worker to act. *shown: it has been
 * acted upon, and the store shows it. */
hw__db_status hw__accept_open(hw__service *service, size_t site, const char *method, double time_s, int64_t *id,
                              bool *shown);
hw__db_status hw__accept_close(hw__service *service, int64_t id, bool *shown);
/* As hw__tracker_acknowledge. Status: HW_DB_ABSENT when there is no such incident. */
hw__db_status hw__accept_acknowledgement(hw__service *service, int64_t id, const char *note, bool *shown);

#endif

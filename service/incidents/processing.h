/* Detection and engines on one store, and the order in which they start and stop: the same for one machine and for each
 * partition of a cluster. */
#ifndef HW_INCIDENTS_PROCESSING_H
#define HW_INCIDENTS_PROCESSING_H

#include "api/processing.h"
#include "incidents/solver.h"
#include "incidents/tracker.h"

typedef struct {
  hw__solver_pool *solver;
  hw__tracker *tracker;
} hw__processing;

void hw__processing_fill_defaults(hw_processing_options *options);
/* Status: HW_EDOMAIN for an unknown method, with *error */
hw_status hw__processing_check(const hw_processing_options *options, hw_error *error);

/* Engines take up the incidents left open, then detection goes on where its snapshot ends. watch_only: sensors are
 * judged, and incidents are left to others. The options are filled in. What was started is stopped by
 * hw__processing_stop, also after a failure.
 * Status: HW_EIO with a sentence without the store's name */
hw_status hw__processing_start(hw__store *store, const hw__catalog *catalog, const hw_processing_options *options,
                               size_t threads, bool watch_only, hw__processing *out, hw_error *error);
void hw__processing_stop(hw__processing *processing);

#endif

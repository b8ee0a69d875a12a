/* A worker's two pages for those who keep it running: /metrics and /healthz. Counts only, nothing of what is
 * measured or found, so no tokens; and nothing can be changed. */
#ifndef HW_CLUSTER_MONITOR_H
#define HW_CLUSTER_MONITOR_H

#include <stdatomic.h>

#include "headwater/status.h"

/* Set by the worker, read by the pages. */
typedef struct {
  _Atomic double partitions_held, workers_known, connected;
} hw__monitored;

typedef struct hw__monitor hw__monitor;

/* Status: HW_EDOMAIN for an address that cannot be parsed, HW_EIO when it is in use, with *error. */
hw_status hw__monitor_start(const char *listen, hw__monitored *monitored, hw__monitor **out, hw_error *error);
void hw__monitor_stop(hw__monitor *monitor);

#endif

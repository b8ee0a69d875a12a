/* One partition while its lease is held: a store, tracker and solver as on a single machine, over the partition's
 * rivers, fed from HW_IN, with an outbox to HW_OUT. */
#ifndef HW_CLUSTER_PARTITION_H
#define HW_CLUSTER_PARTITION_H

#include "cluster/cluster.h"
#include "cluster/lease.h"
#include "incidents/processing.h"
#include "rivers/river_files.h"

/* What all partitions of a worker share; borrowed while any runs. */
typedef struct {
  const hw__cluster *cluster;
  const hw__river_files *rivers;
  const hw__catalog *all; /* rivers in the same order, to find each one's partition */
  const char *dir;
  hw_processing_options processing;
  size_t threads;
  double copy_s, retention_days;
} hw__partition_plan;

typedef struct hw__partition hw__partition;

/* Starts in threads of its own. The lease is held, and renewed by the caller; the partition stops by
 * itself when it no longer is. */
hw_status hw__partition_start(const hw__partition_plan *plan, const hw__lease *lease, hw__partition **out);
/* Has it stopped, because the lease was lost or the disk failed? */
bool hw__partition_ended(const hw__partition *partition);
/* Did it stop because of the disk or the rivers, and not because of the lease? */
bool hw__partition_failed(const hw__partition *partition);
/* Begins to stop; results that are ready are still published. */
void hw__partition_ask_stop(hw__partition *partition);
/* Stop and release everything. */
void hw__partition_free(hw__partition *partition);

#endif

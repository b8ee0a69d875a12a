/* Inside a worker: what it knows, and how it gets ready. */
#ifndef HW_CLUSTER_WORKER_INSIDE_H
#define HW_CLUSTER_WORKER_INSIDE_H

#include <pthread.h>

#include "api/worker.h"
#include "cluster/monitor.h"
#include "cluster/partition.h"
#include "cluster/rebalance.h"

typedef struct {
  hw_worker_options options;
  hw_rivers rivers;
  hw_catalog *catalog;
  hw_cluster cluster;
  hw_partition_plan plan;
  char name[HW_SHARE_NAME], owner[HW_OWNER_SIZE], voice[HW_SHARE_NAME + 16];
  int lock_file;
  pthread_mutex_t lock; /* roster */
  hw_roster roster;
  hw_lease *leases;
  hw_partition **partitions; /* NULL where not ours */
  size_t *ought;
  int64_t *not_before_ms; /* a partition that failed here is left alone, and to others, for a while */
  hw_watched watched;
  hw_watch *watch;
  int64_t said_ms, looked_ms, renewed_ms, began_ms;
} hw_worker;

void hw__worker_fill_defaults(hw_worker_options *options);
/* Check what was asked for, load the rivers, lock the folder, find a name. */
hw_status hw__worker_load(hw_worker *worker, hw_error *error);

#endif

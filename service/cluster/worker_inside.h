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
  hw__river_files rivers;
  hw__catalog *catalog;
  hw__cluster cluster;
  hw__partition_plan plan;
  char name[HW_ROSTER_NAME], owner[HW_OWNER_SIZE], voice[HW_ROSTER_NAME + 32];
  int lock_file;
  pthread_mutex_t lock; /* roster, strange */
  hw__roster roster;
  char strange[HW_ROSTER_NAME]; /* a worker of another engine that was heard; "": none */
  int64_t strange_engine;
  bool listens;
  hw__lease *leases;
  hw__partition **partitions; /* NULL where not ours */
  size_t *ought;
  int64_t *not_before_ms; /* a partition that failed here is left to other workers for a while */
  hw__monitored monitored;
  hw__monitor *monitor;
  int64_t said_ms, looked_ms, renewed_ms, began_ms;
} hw__worker;

void hw__worker_fill_defaults(hw_worker_options *options);
/* Check what was asked for, load the rivers, lock the folder, find a name. */
hw_status hw__worker_load(hw__worker *worker, hw_error *error);

#endif

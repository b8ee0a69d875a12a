/* What the programs of one cluster agree on: streams, buckets, the number of partitions.
 *
 *   HW_IN    readings and commands, the log everything follows from
 *   HW_OUT   what the workers made of it
 *   HW_SNAP  copies of the partitions' databases, in pieces
 *   buckets  hw_conf (the cluster itself), hw_lease (who works a partition), hw_snap (which copy is
 *            whole), hw_state (the latest result of every incident)
 */
#ifndef HW_CLUSTER_CLUSTER_H
#define HW_CLUSTER_CLUSTER_H

#include "bus/bus.h"

enum { HW_CLUSTER_PARTITIONS = 16, HW_CLUSTER_MOST_PARTITIONS = 1024 };

typedef struct {
  hw__bus *bus;
  int64_t id; /* made with the cluster: another one is another log */
  size_t partitions;
} hw__cluster;

typedef struct {
  size_t partitions;     /* 0: what the cluster has; 16 for a new one. Fixed when the cluster is made. */
  double retention_days; /* readings and news stay in the streams for so long; 0: for ever, or as it is */
  size_t replicas;       /* of streams and buckets, when they are made; 0: see bus.h */
} hw__cluster_options;

/* Find the cluster, or make it. cluster->bus is given.
 * Status: HW_EIO when it does not answer now, HW_EDOMAIN for another number of partitions than it has, with *error. */
hw_status hw__cluster_join(hw__cluster *cluster, const hw__cluster_options *options, hw_error *error);

#endif

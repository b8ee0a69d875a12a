/* What the programs of one cluster agree on: streams, buckets, the number of partitions.
 *
 *   HW_IN    readings and commands, the log everything follows from
 *   HW_OUT   what the workers made of it
 *   HW_SNAP  copies of the partitions' databases, in pieces
 *   buckets  hw_conf (the cluster itself), hw_lease (who processes a partition), hw_snap (which copy is
 *            whole), hw_state (the latest result of every incident)
 */
#ifndef HW_CLUSTER_CLUSTER_H
#define HW_CLUSTER_CLUSTER_H

#include "bus/bus.h"

enum { HW_CLUSTER_MOST_PARTITIONS = 1024 };

typedef struct {
  hw__bus *bus;
  int64_t id; /* chosen when the cluster is created; another id means another log */
  size_t partitions;
  int64_t engine; /* the engine that processes the cluster; 0 before it is known */
} hw__cluster;

typedef struct {
  size_t partitions;     /* 0: what the cluster has; 16 for a new one. Fixed when the cluster is made. */
  double retention_days; /* how long readings and news stay in the streams; 0: for ever, or as the streams have it */
  size_t replicas;       /* of streams and buckets, when they are made; 0: see bus.h */
} hw__cluster_options;

/* Find the cluster, or make it. cluster->bus is given.
 * Status: HW_EIO when it does not answer now, or is still processed by an older engine (cluster->engine says which);
 * HW_EDOMAIN for another number of partitions than it has; HW_EINPUT when it is processed by a newer engine; with
 * *error. */
hw_status hw__cluster_join(hw__cluster *cluster, const hw__cluster_options *options, hw_error *error);
/* From now on this program's engine processes the cluster. Only for a worker that knows that no other engine is
 * running.
 */
hw__bus_status hw__cluster_take_over(hw__cluster *cluster);

#endif

/* Publishes a partition's results for the services that show them.
 *
 * The partition's own events are the outbox: a stored cursor says how far they have been published, and moves when
 * the stream has acknowledged them. After a crash or a take-over some are published twice; readers store them once.
 * Nothing is published without holding the lease. */
#ifndef HW_CLUSTER_OUTBOX_H
#define HW_CLUSTER_OUTBOX_H

#include "cluster/cluster.h"
#include "cluster/lease.h"
#include "store/store.h"

typedef struct {
  const hw__cluster *cluster;
  const hw__lease *lease;
  hw__store *store;
  const hw__catalog *catalog;
  int64_t cursor; /* last event published */
} hw__outbox;

/* Find the cursor. */
hw__db_status hw__outbox_open(hw__outbox *outbox);
/* Publish what is new, one page of it. Returned: the number of events; -1 when publishing failed for now. */
int hw__outbox_flush(hw__outbox *outbox);

#endif

/* What a partition has worked out, on its way to those who show it.
 *
 * The partition's own events are the outbox: a stored cursor says how far they have been published, and
 * moves when the stream has answered. After a crash or a take-over some go out twice; readers store
 * them once. Nothing goes out on a lease that is not held. */
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
/* Publish what is new, one page of it. Returned: how many events; -1 when it did not go through now. */
int hw__outbox_flush(hw__outbox *outbox);

#endif

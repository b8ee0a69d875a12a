/* The display side of a cluster: a store kept in step with the streams, so that every route answers from
 * it as on one machine.
 *
 * Readings come from HW_IN, by the same rule as the workers take them, under the same numbers; what the workers made
 * of them comes from HW_OUT, each result only after the readings it is based on. Both cursors are stored in the same
 * transaction as what they count. Any number of followers may run.
 */
#ifndef HW_CLUSTER_FOLLOWER_H
#define HW_CLUSTER_FOLLOWER_H

#include "cluster/cluster.h"
#include "store/store.h"

typedef struct hw__follower hw__follower;

/* Joins and follows in threads of its own, however long the cluster takes to answer. */
hw_status hw__follower_start(hw__bus *bus, const hw__cluster_options *options, hw__store *store,
                             const hw__catalog *catalog, hw__follower **out);
void hw__follower_stop(hw__follower *follower);

/* Is this the wrong cluster (HW_EDOMAIN) or the wrong store for it (HW_EINPUT), so that waiting is of no use? *error
 * says why. HW_OK: neither.
 */
hw_status hw__follower_refused(hw__follower *follower, hw_error *error);
/* The cluster, or NULL as long as it has not been found. */
const hw__cluster *hw__follower_cluster(hw__follower *follower);

#endif

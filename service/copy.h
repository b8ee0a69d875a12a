/* Copies of a partition's database in the cluster, so that whoever takes over need not work the stream
 * from its start.
 *
 * A copy is one moment of the database, compressed and cut into pieces; it counts once its manifest is
 * set, by compare-and-set, so a worker that has lost its lease cannot replace a later one. The older
 * copy goes afterwards. A copy is a shortcut, never the truth: without one, or with a damaged one, the
 * stream is worked again, to the same bits.
 */
#ifndef HW_SERVICE_COPY_H
#define HW_SERVICE_COPY_H

#include "cluster.h"
#include "lease.h"
#include "store.h"

typedef struct {
  const hw_cluster *cluster;
  const hw_lease *lease;
  const char *path; /* of the partition's database */
  int64_t cursor;   /* message of HW_IN the copy in the cluster has come to */
  int64_t revision; /* of its manifest */
  int64_t made_ms, took_ms;
  unsigned number; /* of those made under this lease */
} hw_copies;

/* Put the best database there is at `path` before the store opens it: the file as it is, or the copy in the
 * cluster when that has come further. A file of another cluster, a damaged one, and one that has come further
 * than the stream are put aside.
 * Returned: where it came from, for people. */
const char *hw__copies_restore(hw_copies *copies);
/* Copy the store as it is now. */
hw_bus_status hw__copies_make(hw_copies *copies, hw_store *store);

#endif

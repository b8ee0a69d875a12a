/* Copies of a partition's database in the cluster, so that the worker that takes over need not process the stream
 * from its start.
 *
 * A copy is one moment of the database, compressed and cut into pieces. There are two slots for the pieces; a copy
 * goes into the one not in use and counts once the manifest names it, set by compare-and-set. Every subject keeps
 * its last message only, so nothing has to be removed. A worker that has lost its lease cannot set the manifest, and
 * a late piece of its copy is noticed by the hash. Nothing depends on copies: without one, or with a damaged one,
 * the stream is processed again, to the same bits.
 */
#ifndef HW_CLUSTER_COPY_H
#define HW_CLUSTER_COPY_H

#include "cluster/cluster.h"
#include "cluster/lease.h"
#include "store/store.h"

typedef struct {
  const hw__cluster *cluster;
  const hw__lease *lease;
  const char *path; /* of the partition's database */
  int64_t cursor;   /* the last message of HW_IN that the copy in the cluster contains */
  int64_t revision; /* of its manifest */
  int64_t made_ms, took_ms;
  char slot; /* the one it lies in; 0 before the first */
} hw__copies;

/* Puts the best database there is at `path` before the store opens it: the file that is there, or the copy in the
 * cluster when that has come further. A file of another cluster, a damaged one, and one that has come further than
 * the stream are put aside.
 * Returned: where it came from, for the log. */
const char *hw__copies_restore(hw__copies *copies);
/* The file on this machine is damaged: moves it out of the way. */
void hw__copies_put_aside(const hw__copies *copies);
/* Copy the store as it is now. */
hw__bus_status hw__copies_make(hw__copies *copies, hw__store *store);

#endif

/* Which worker processes a partition: one lease each, a key in a bucket that is only ever changed by
 * compare-and-set.
 *
 * The holder writes it again every second; each write is a new revision. Who wants it watches the
 * revision: one that has not changed for HW_LEASE_SILENT_MS, by the watcher's own clock, is given up
 * and may be taken, again by compare-and-set. A holder that could not renew for HW_LEASE_HOLD_MS, by
 * its own clock and counted from before it asked, stops by itself, which is sooner. No two clocks are
 * compared. The revision a lease was taken with is its fence: later leases have higher ones. The holder writes it
 * behind its name with every renewal, so that whoever reads news can see which fences there have been.
 */
#ifndef HW_CLUSTER_LEASE_H
#define HW_CLUSTER_LEASE_H

#include <stdatomic.h>

#include "bus/bus.h"

enum {
  HW_LEASE_HOLD_MS = 4000,
  HW_LEASE_SILENT_MS = 5500,
  HW_LEASE_RENEW_MS = 1000,
  HW_OWNER_SIZE = 96,
  HW_LEASE_MARK = 128
};

typedef struct {
  hw__bus *bus;
  size_t partition;
  const char *owner;              /* ours; borrowed. Unique to this process. */
  char seen_owner[HW_OWNER_SIZE]; /* the holder when it was last read; empty: nobody */
  int64_t revision, seen_ms;      /* the key's revision, and since when it has been that */
  int64_t fence;
  char mark[HW_LEASE_MARK]; /* owner and fence, as renewals write them */
  atomic_bool held;
  _Atomic int64_t renewed_ms;
} hw__lease;

void hw__lease_init(hw__lease *lease, hw__bus *bus, size_t partition, const char *owner);
/* See who has it. */
hw__bus_status hw__lease_look(hw__lease *lease);
/* May it be taken? That is when it has no holder, a silent one, or it is our own from before we fell silent; as last
 * read. */
bool hw__lease_is_free(const hw__lease *lease);
/* For how long it could have been taken already. */
int64_t hw__lease_free_ms(const hw__lease *lease);
/* Status: HW_BUS_CONFLICT when another was faster. */
hw__bus_status hw__lease_take(hw__lease *lease);
/* Renew all that are held, in one go. Those taken by others are no longer held afterwards. */
void hw__lease_renew(hw__lease *leases, size_t count);
/* Gives it back, so that the next worker need not wait. */
void hw__lease_release(hw__lease *lease);
/* The highest fence that anybody can have of this partition now.
 * Status: HW_BUS_ABSENT when nobody ever had it. */
hw__bus_status hw__lease_highest_fence(hw__bus *bus, size_t partition, int64_t *out);
/* Do we hold the lease now? Safe from any thread. */
bool hw__lease_holds(const hw__lease *lease);

#endif

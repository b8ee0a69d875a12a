/* From the stream into a store, every message once: records and the cursor go in one transaction, so
 * after a crash reading goes on behind the last message whose records are stored. */
#ifndef HW_CLUSTER_FEED_H
#define HW_CLUSTER_FEED_H

#include "bus/bus.h"
#include "store/store.h"

/* Name of the cursor: the last message of HW_IN stored. */
#define HW_FEED_CURSOR "in"

/* Messages of rivers that are not in the catalog, and those that cannot be read, are counted and skipped. tally,
 * when not NULL, gets the fates of the readings, HW_FATE_COUNT of them. */
hw__db_status hw__feed(hw__store *store, const hw__catalog *catalog, size_t partitions, const hw__bus_message *messages,
                       size_t count, uint64_t *tally);
/* A cursor of the store; 0 before it was first set. */
hw__db_status hw__feed_cursor(hw__store *store, const char *name, int64_t *out);
/* Checks that the store belongs to this cluster; a new store is marked as belonging to it. Status: HW_DB_FOREIGN for
 * the store of another cluster. */
hw__db_status hw__feed_adopt(hw__store *store, int64_t cluster);

#endif

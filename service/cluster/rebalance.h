/* Which worker should process which partition. Everybody who knows the same workers computes the same assignment.
 *
 * Every worker has a score for every partition, a hash of both names; a partition goes to the worker with the
 * highest score among those that have less than their fair share. So shares differ by one at most, and when one
 * worker comes or goes, few partitions move. */
#ifndef HW_CLUSTER_REBALANCE_H
#define HW_CLUSTER_REBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_ROSTER_MOST = 256, HW_ROSTER_NAME = 64 };

/* The workers that were heard of, including this one. */
typedef struct {
  char names[HW_ROSTER_MOST][HW_ROSTER_NAME];
  int64_t heard_ms[HW_ROSTER_MOST];
  size_t count;
  int64_t changed_ms; /* when one came or went */
} hw__roster;

void hw__roster_hear(hw__roster *roster, const char *name, int64_t now_ms);
/* Forget those who have been silent since before `since_ms`. */
void hw__roster_forget(hw__roster *roster, int64_t since_ms, int64_t now_ms);
/* out[p]: index in the roster of the worker that should process partition p. */
void hw__rebalance(const hw__roster *roster, size_t partitions, size_t *out);

#endif

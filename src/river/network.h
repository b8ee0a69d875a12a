/* Branches: who flows into whom, and is a place on its branch at all? */
#ifndef HW_RIVER_NETWORK_H
#define HW_RIVER_NETWORK_H

#include "headwater/river.h"

/* A list of reaches as the header has it. `what` stands before the reach's number in the sentence. */
hw_status hw__reaches_check(const hw_reach *reaches, size_t count, const char *what, hw_error *error);

/* One branch: it leads to the only outlet, joins its parent within that one's ends, and its reaches lie on it. Assumes
 * nothing of the others.
 * Status: HW_EINPUT with a sentence that names the branch */
hw_status hw__branch_check(const hw_river *river, size_t branch, hw_error *error);

/* Lies this place on this branch? `what` and `id` name who is there in the sentence. Always so on a river without
 * branches, where only branch 0 is known. */
hw_status hw__place_check(const hw_river *river, size_t branch, double location_m, const char *what, const char *id,
                          hw_error *error);

/* Where the named end of the branch lies: metre 0, or for the outlet's branch the end of its last reach. INFINITY where
 * it has none. */
double hw__branch_end(const hw_river *river, size_t branch);

/* Does water of one branch come into another one further down? Then *at_m is where it enters it. */
bool hw__branch_enters(const hw_river *river, size_t from, size_t into, double *at_m);

/* All branches, each before those that flow into it. order has room for branch_count; the branches are checked. */
void hw__branch_order(const hw_river *river, size_t *order);

#endif

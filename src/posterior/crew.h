/* Threads that work on one answer side by side, for as long as it is worked out.
 *
 * Points of the hypothesis do not depend on one another, and what is drawn at random inside a point's likelihood
 * belongs to the point (anneal.h); so the answer is the same to the bit, however many threads there are.
 */
#ifndef HW_POSTERIOR_CREW_H
#define HW_POSTERIOR_CREW_H

#include "core/pool.h"

struct hw__walk;

/* Sets of draws are shared out in blocks of 256: more threads than this would find nothing to do. */
enum { HW__CREW = 4 };

/* All 0: the caller works alone. */
typedef struct {
  hw__pool *pool;
  size_t others;                       /* threads beside the caller */
  struct hw__walk *walk[HW__CREW - 1]; /* room for a block of points on its way, for each of them */
} hw__crew;

/* How many threads a crew has where so many are asked for; 0: one per core. */
size_t hw__crew_size(size_t threads);
/* threads 0: one per core. Where there is no memory for more, there are fewer: that costs speed alone. */
void hw__crew_begin(hw__crew *crew, size_t threads);
void hw__crew_end(hw__crew *crew);
/* Calls work(context, i) for every i < count. */
void hw__crew_share(const hw__crew *crew, size_t count, void (*work)(void *context, size_t i), void *context);

#endif

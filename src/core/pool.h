/* A few threads that share out numbered pieces of work.
 *
 * Which thread does which piece is left open, so pieces must not depend on one another; then results do
 * not depend on the number of threads. With one thread everything runs in the caller. */
#ifndef HW_CORE_POOL_H
#define HW_CORE_POOL_H

#include <stddef.h>

#include "headwater/status.h"

typedef struct hw__pool hw__pool;

/* Cores that this machine has at work. */
size_t hw__pool_cores(void);
/* threads 0: one per core that this process may use. */
hw_status hw__pool_create(size_t threads, hw__pool **out);
/* Call work(context, i) for every i < count, on all threads, and return when all are done. */
void hw__pool_run(hw__pool *pool, size_t count, void (*work)(void *context, size_t i), void *context);
void hw__pool_free(hw__pool *pool);

#endif

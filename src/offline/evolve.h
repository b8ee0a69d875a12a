/* Differential evolution in the unit cube: the engine of `de` and `backward`. */
#ifndef HW_OFFLINE_EVOLVE_H
#define HW_OFFLINE_EVOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "headwater/method.h"

enum { HW__EVOLVE_DIMENSIONS = 3 };

typedef struct {
  double (*value)(void *context, const double *unit); /* to be minimised; finite */
  void *context;
  size_t dimensions; /* <= HW__EVOLVE_DIMENSIONS */
  size_t evaluations;
  uint64_t seed;
} hw__evolve_task;

/* Returned: the best point and why the search ended: the population agrees, or the budget is spent.
 * Status: HW_ENOMEM */
hw_status hw__evolve(const hw__evolve_task *task, double *unit, hw_stop *stop);

#endif

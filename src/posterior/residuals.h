/* Readings against what the answer expects of them, station by station. */
#ifndef HW_POSTERIOR_RESIDUALS_H
#define HW_POSTERIOR_RESIDUALS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  size_t spikes, last; /* lone readings that fit neither the pulse nor the level, and the latest of them in the view */
  size_t passing;      /* those of them that were read while the plume should pass */
  double squares;      /* sum of squared misfits of measured readings, (g/m3)^2 */
  double readings;     /* how many those are */
  double within;       /* and how many of them were read while the plume should pass */
  bool fallen;         /* what the answer explains has risen plainly here, and fallen to less than half */
} hw__residuals;

#endif

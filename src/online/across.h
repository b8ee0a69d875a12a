/* The paper's interval across sensors: every sensor's own estimate is one draw, Student's t does the rest
 * (its Proposition 3.4). The ends are those of the mean, not of the source: the paper's measure, kept as such. */
#ifndef HW_ONLINE_ACROSS_H
#define HW_ONLINE_ACROSS_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/river.h"

/* Running mean and sum of squares per coordinate (Welford). Start from zeros. */
typedef struct {
  size_t count;
  double mean[3], square[3];
} hw__across;

void hw__across_add(hw__across *across, const hw_source *x);
/* Half-length of the interval per coordinate is t_{alpha/2, m-1} S / sqrt(m). False with fewer than two. */
bool hw__across_interval(const hw__across *across, double level, hw_box *out);

#endif

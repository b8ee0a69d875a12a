/* The readings a method still looks at: a ring of the last `capacity` of them, in the order they came,
 * and a packed copy of the last w, sorted by sensor and padded, that the vector loops of misfit.c run
 * over.
 */
#ifndef HW_LOSS_WINDOW_H
#define HW_LOSS_WINDOW_H

#include <stdbool.h>

#include "core/lanes.h"
#include "headwater/reading.h"
#include "headwater/status.h"

typedef struct {
  size_t capacity;
  size_t count; /* kept, <= capacity */
  size_t next;  /* where the next one goes */
  hw_reading *ring;
} hw__window;

hw_status hw__window_create(size_t capacity, hw__window *out);
void hw__window_free(hw__window *window);
void hw__window_add(hw__window *window, const hw_reading *reading);
/* The i-th oldest of those kept. */
const hw_reading *hw__window_at(const hw__window *window, size_t i);

/* Readings by sensor, each sensor's padded to a multiple of HW__LANES. Padding carries weight 0 and takes part in no
 * sum. */
typedef struct {
  size_t sensor_count;
  size_t capacity;    /* readings it can hold */
  size_t count;       /* readings, padding left out */
  double mean_square; /* of the concentrations, (g/m3)^2 */
  size_t *begin;      /* sensor_count + 1 offsets, multiples of HW__LANES */
  double *time_s;
  double *concentration;
  double *weight; /* 1, or 0 for padding */
  double *detect; /* 1 for a value, 0 for a non-detect (only an excess over its limit counts) */
} hw__packed;

hw_status hw__packed_create(size_t capacity, size_t sensor_count, hw__packed *out);
void hw__packed_free(hw__packed *packed);
/* Fill it with the newest min(count, w) readings of the window; w at most its capacity. */
void hw__packed_fill(hw__packed *packed, const hw__window *window, size_t w);

#endif

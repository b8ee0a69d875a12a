/* One thing a sensor said. */
#ifndef HEADWATER_READING_H
#define HEADWATER_READING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  size_t sensor; /* index into the river's sensors */
  double time_s;
  double concentration_g_m3; /* or the limit that it stayed below or went beyond */
  bool below_limit;          /* a non-detect, written `<0.02` in a file */
  bool above_limit;          /* a clipped sensor, written `>0.3`: at or above it. Never with below_limit */
} hw_reading;

#endif

/* One thing a sensor said. */
#ifndef HEADWATER_READING_H
#define HEADWATER_READING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  size_t sensor; /* index into the river's sensors */
  double time_s;
  double concentration_g_m3; /* or, for a non-detect, the limit it stayed below */
  bool below_limit;          /* written `<0.02` in a file */
} hw_reading;

#endif

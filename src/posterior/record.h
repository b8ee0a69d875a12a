/* The readings as they should have come: by time, then by sensor, each sensor and time once. */
#ifndef HW_POSTERIOR_RECORD_H
#define HW_POSTERIOR_RECORD_H

#include "headwater/reading.h"

typedef struct {
  hw_reading *readings; /* in order */
  size_t count, capacity;
} hw__record;

bool hw__record_create(size_t capacity, hw__record *out);
void hw__record_free(hw__record *record);

/* Where the reading belongs; *found: its sensor and time are there already. */
size_t hw__record_place(const hw__record *record, const hw_reading *reading, bool *found);
/* Put it there; there must be room. */
void hw__record_insert(hw__record *record, size_t at, const hw_reading *reading);

#endif

#include "io/seen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 * HW__SEEN_SPAN };

typedef struct {
  double time_s;
  uint64_t sensor; /* plus one; 0 is a free slot */
} pair;

struct hw__seen {
  pair *young, *old;
  size_t count; /* in young */
};

hw__seen *hw__seen_create(void) {
  hw__seen *seen = calloc(1, sizeof *seen);
  if (!seen) {
    return NULL;
  }
  seen->young = calloc(SLOTS, sizeof(pair));
  seen->old = calloc(SLOTS, sizeof(pair));
  if (!seen->young || !seen->old) {
    hw__seen_free(seen);
    return NULL;
  }
  return seen;
}

void hw__seen_free(hw__seen *seen) {
  if (seen) {
    free(seen->young);
    free(seen->old);
    free(seen);
  }
}

/* The slot that holds the pair, or the free one where it belongs. */
static pair *slot_of(pair *slots, uint64_t sensor, double time_s) {
  uint64_t bits;
  memcpy(&bits, &time_s, sizeof bits);
  uint64_t hash = (bits ^ (sensor * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xd6e8feb86659fd93);
  hash ^= hash >> 32;
  size_t i = (size_t)(hash % SLOTS);
  while (slots[i].sensor && !(slots[i].sensor == sensor && slots[i].time_s == time_s)) {
    i = (i + 1) % SLOTS;
  }
  return &slots[i];
}

bool hw__seen_before(hw__seen *seen, size_t sensor, double time_s) {
  const double time = time_s + 0.0; /* -0 and 0 are one instant */
  const uint64_t key = (uint64_t)sensor + 1;
  pair *place = slot_of(seen->young, key, time);
  if (place->sensor || slot_of(seen->old, key, time)->sensor) {
    return true;
  }
  *place = (pair){time, key};
  if (++seen->count == HW__SEEN_SPAN) {
    pair *emptied = seen->old;
    seen->old = seen->young;
    seen->young = emptied;
    memset(emptied, 0, SLOTS * sizeof(pair));
    seen->count = 0;
  }
  return false;
}

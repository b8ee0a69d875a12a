#include "io/seen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Tables are at most half full. They begin small, because most requests to a service carry few readings. */
enum { FIRST_SLOTS = 256, MOST_SLOTS = 2 * HW__SEEN_SPAN };

typedef struct {
  double time_s;
  uint64_t sensor; /* plus one; 0 is a free slot */
} pair;

typedef struct {
  pair *slots;
  size_t size; /* a power of two */
} table;

struct hw__seen {
  table young, old;
  size_t count; /* in young */
};

hw__seen *hw__seen_create(void) {
  hw__seen *seen = calloc(1, sizeof *seen);
  pair *slots = calloc(FIRST_SLOTS, sizeof(pair));
  if (!seen || !slots) {
    free(seen);
    free(slots);
    return NULL;
  }
  seen->young = (table){slots, FIRST_SLOTS};
  return seen;
}

void hw__seen_free(hw__seen *seen) {
  if (seen) {
    free(seen->young.slots);
    free(seen->old.slots);
    free(seen);
  }
}

/* The slot that holds the pair, or the free one where it belongs. */
static pair *slot_of(const table *t, uint64_t sensor, double time_s) {
  uint64_t bits;
  memcpy(&bits, &time_s, sizeof bits);
  uint64_t hash = (bits ^ (sensor * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xd6e8feb86659fd93);
  hash ^= hash >> 32;
  size_t i = (size_t)hash & (t->size - 1);
  while (t->slots[i].sensor && !(t->slots[i].sensor == sensor && t->slots[i].time_s == time_s)) {
    i = (i + 1) & (t->size - 1);
  }
  return &t->slots[i];
}

static bool grow(table *t) {
  table larger = {calloc(2 * t->size, sizeof(pair)), 2 * t->size};
  if (!larger.slots) {
    return false;
  }
  for (size_t i = 0; i < t->size; i++) {
    if (t->slots[i].sensor) {
      *slot_of(&larger, t->slots[i].sensor, t->slots[i].time_s) = t->slots[i];
    }
  }
  free(t->slots);
  *t = larger;
  return true;
}

/* The young generation becomes the old one. Without memory for a second table the old one is forgotten at once. */
static void turn_over(hw__seen *seen) {
  if (seen->old.size < seen->young.size) {
    pair *slots = calloc(seen->young.size, sizeof(pair));
    if (slots) {
      free(seen->old.slots);
      seen->old = (table){slots, seen->young.size};
    }
  }
  if (seen->old.size == seen->young.size) {
    const table emptied = seen->old;
    seen->old = seen->young;
    seen->young = emptied;
  }
  memset(seen->young.slots, 0, seen->young.size * sizeof(pair));
  seen->count = 0;
}

bool hw__seen_before(hw__seen *seen, size_t sensor, double time_s) {
  const double time = time_s + 0.0; /* -0 and 0 are one instant */
  const uint64_t key = (uint64_t)sensor + 1;
  if (slot_of(&seen->young, key, time)->sensor || (seen->old.size && slot_of(&seen->old, key, time)->sensor)) {
    return true;
  }
  if (2 * (seen->count + 1) > seen->young.size && !(seen->young.size < MOST_SLOTS && grow(&seen->young))) {
    turn_over(seen);
  }
  *slot_of(&seen->young, key, time) = (pair){time, key};
  seen->count++;
  return false;
}

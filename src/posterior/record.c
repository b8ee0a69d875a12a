#include "posterior/record.h"

#include <stdlib.h>
#include <string.h>

bool hw__record_create(size_t capacity, hw__record *out) {
  *out = (hw__record){.readings = calloc(capacity, sizeof *out->readings), .capacity = capacity};
  return out->readings;
}

void hw__record_free(hw__record *record) {
  free(record->readings);
  *record = (hw__record){0};
}

static bool earlier(const hw_reading *a, const hw_reading *b) {
  return a->time_s < b->time_s || (a->time_s == b->time_s && a->sensor < b->sensor);
}

size_t hw__record_place(const hw__record *record, const hw_reading *reading, bool *found) {
  size_t lo = 0, hi = record->count;
  if (hi > 0 && earlier(&record->readings[hi - 1], reading)) {
    lo = hi; /* in order, as nearly always */
  }
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (earlier(&record->readings[middle], reading)) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  *found = lo < record->count && !earlier(reading, &record->readings[lo]);
  return lo;
}

void hw__record_insert(hw__record *record, size_t at, const hw_reading *reading) {
  hw_reading *here = record->readings + at;
  memmove(here + 1, here, (record->count - at) * sizeof *here);
  *here = *reading;
  record->count++;
}

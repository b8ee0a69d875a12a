#include "io/sensor_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t hash_of(hw__slice text) {
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
  for (size_t i = 0; i < text.size; i++) {
    hash = (hash ^ (unsigned char)text.text[i]) * UINT64_C(1099511628211);
  }
  return (size_t)(hash ^ (hash >> 32));
}

hw_status hw__sensor_index_create(const hw_river *river, hw__sensor_index *index) {
  size_t size = 8;
  while (size < 2 * river->sensor_count) {
    size *= 2;
  }
  index->slots = calloc(size, sizeof *index->slots);
  if (!index->slots) {
    return HW_ENOMEM;
  }
  index->mask = size - 1;
  for (size_t i = 0; i < river->sensor_count; i++) {
    const char *id = river->sensors[i].id;
    size_t at = hash_of((hw__slice){id, strlen(id)}) & index->mask;
    while (index->slots[at]) {
      at = (at + 1) & index->mask;
    }
    index->slots[at] = i + 1;
  }
  return HW_OK;
}

ptrdiff_t hw__sensor_index_find(const hw_river *river, hw__sensor_index *index, hw__slice id) {
  if (index->last < river->sensor_count && hw__slice_is(id, river->sensors[index->last].id)) {
    return (ptrdiff_t)index->last;
  }
  for (size_t at = hash_of(id) & index->mask; index->slots[at]; at = (at + 1) & index->mask) {
    const size_t sensor = index->slots[at] - 1;
    if (hw__slice_is(id, river->sensors[sensor].id)) {
      index->last = sensor;
      return (ptrdiff_t)sensor;
    }
  }
  return -1;
}

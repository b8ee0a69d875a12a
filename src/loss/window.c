#include "loss/window.h"

#include <stdlib.h>
#include <string.h>

hw_status hw__window_create(size_t capacity, hw__window *out) {
  hw_reading *ring = calloc(capacity, sizeof *ring);
  if (!ring) {
    return HW_ENOMEM;
  }
  *out = (hw__window){.capacity = capacity, .ring = ring};
  return HW_OK;
}

void hw__window_free(hw__window *window) {
  free(window->ring);
  *window = (hw__window){0};
}

void hw__window_add(hw__window *window, const hw_reading *reading) {
  window->ring[window->next] = *reading;
  window->next = (window->next + 1) % window->capacity;
  window->count += window->count < window->capacity;
}

const hw_reading *hw__window_at(const hw__window *window, size_t i) {
  return &window->ring[(window->next + window->capacity - window->count + i) % window->capacity];
}

static size_t padded(size_t n) {
  return (n + HW__LANES - 1) / HW__LANES * HW__LANES;
}

hw_status hw__packed_create(size_t capacity, size_t sensor_count, hw__packed *out) {
  const size_t size = padded(capacity) + sensor_count * HW__LANES;
  double *block = calloc(4 * size, sizeof *block);
  size_t *begin = calloc(sensor_count + 1, sizeof *begin);
  if (!block || !begin) {
    free(block);
    free(begin);
    return HW_ENOMEM;
  }
  *out = (hw__packed){.sensor_count = sensor_count,
                      .capacity = capacity,
                      .begin = begin,
                      .time_s = block,
                      .concentration = block + size,
                      .weight = block + 2 * size,
                      .detect = block + 3 * size};
  return HW_OK;
}

void hw__packed_free(hw__packed *packed) {
  free(packed->time_s);
  free(packed->begin);
  *packed = (hw__packed){0};
}

static void put(hw__packed *packed, size_t at, const hw_reading *r) {
  packed->time_s[at] = r->time_s;
  packed->concentration[at] = r->concentration_g_m3;
  packed->weight[at] = 1;
  packed->detect[at] = r->below_limit ? 0 : 1;
}

/* Fill up each sensor's last block, and turn the running offsets (each sensor's end) back into starts. */
static void pad(hw__packed *packed) {
  size_t start = 0;
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const size_t filled = packed->begin[m];
    const size_t stop = start + padded(filled - start);
    for (size_t i = filled; i < stop; i++) {
      packed->time_s[i] = packed->time_s[start];
      packed->concentration[i] = 0;
      packed->weight[i] = 0;
      packed->detect[i] = 1;
    }
    packed->begin[m] = start;
    start = stop;
  }
}

void hw__packed_fill(hw__packed *packed, const hw__window *window, size_t w) {
  const size_t n = w < window->count ? w : window->count;
  const size_t first = window->count - n;
  size_t *begin = packed->begin;
  memset(begin, 0, (packed->sensor_count + 1) * sizeof *begin);
  for (size_t i = first; i < window->count; i++) {
    begin[hw__window_at(window, i)->sensor + 1]++;
  }
  for (size_t m = 0; m < packed->sensor_count; m++) {
    begin[m + 1] = begin[m] + padded(begin[m + 1]);
  }
  double squares = 0;
  for (size_t i = first; i < window->count; i++) {
    const hw_reading *r = hw__window_at(window, i);
    put(packed, begin[r->sensor]++, r);
    squares += r->below_limit ? 0 : r->concentration_g_m3 * r->concentration_g_m3;
  }
  pad(packed);
  packed->count = n;
  packed->mean_square = n ? squares / (double)n : 0;
}

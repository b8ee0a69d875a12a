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

hw_status hw__view_create(size_t capacity, size_t sensor_count, hw__view *out) {
  const size_t size = padded(capacity) + sensor_count * HW__LANES;
  double *block = calloc(4 * size, sizeof *block);
  size_t *begin = calloc(sensor_count + 1, sizeof *begin);
  if (!block || !begin) {
    free(block);
    free(begin);
    return HW_ENOMEM;
  }
  *out = (hw__view){.sensor_count = sensor_count,
                    .capacity = capacity,
                    .begin = begin,
                    .time_s = block,
                    .concentration = block + size,
                    .weight = block + 2 * size,
                    .detect = block + 3 * size};
  return HW_OK;
}

void hw__view_free(hw__view *view) {
  free(view->time_s);
  free(view->begin);
  *view = (hw__view){0};
}

static void put(hw__view *view, size_t at, const hw_reading *r) {
  view->time_s[at] = r->time_s;
  view->concentration[at] = r->concentration_g_m3;
  view->weight[at] = 1;
  view->detect[at] = r->below_limit ? 0 : 1;
}

/* Fill up each sensor's last block, and turn the running offsets (each sensor's end) back into starts. */
static void pad(hw__view *view) {
  size_t start = 0;
  for (size_t m = 0; m < view->sensor_count; m++) {
    const size_t filled = view->begin[m];
    const size_t stop = start + padded(filled - start);
    for (size_t i = filled; i < stop; i++) {
      view->time_s[i] = view->time_s[start];
      view->concentration[i] = 0;
      view->weight[i] = 0;
      view->detect[i] = 1;
    }
    view->begin[m] = start;
    start = stop;
  }
}

void hw__view_pack(hw__view *view, const hw__window *window, size_t w) {
  const size_t n = w < window->count ? w : window->count;
  const size_t first = window->count - n;
  size_t *begin = view->begin;
  memset(begin, 0, (view->sensor_count + 1) * sizeof *begin);
  for (size_t i = first; i < window->count; i++) {
    begin[hw__window_at(window, i)->sensor + 1]++;
  }
  for (size_t m = 0; m < view->sensor_count; m++) {
    begin[m + 1] = begin[m] + padded(begin[m + 1]);
  }
  double squares = 0;
  for (size_t i = first; i < window->count; i++) {
    const hw_reading *r = hw__window_at(window, i);
    put(view, begin[r->sensor]++, r);
    squares += r->below_limit ? 0 : r->concentration_g_m3 * r->concentration_g_m3;
  }
  pad(view);
  view->count = n;
  view->mean_square = n ? squares / (double)n : 0;
}

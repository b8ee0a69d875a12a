#include "base/json.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Jansson 2.14 writes past its buffer when an allocation fails while it reads a string. So no allocation may fail:
 * when malloc has nothing left, a reserve that was set aside before serves instead, and the result is thrown away.
 * The text that takes most memory for its length is `[{},{},...]`, 70 times its length. */
enum { RESERVE_PER_BYTE = 160, RESERVE_LEAST = 8192, ALIGNMENT = 16 };

static _Thread_local struct {
  char *memory;
  size_t size, used;
} reserve;

static void *watched_malloc(size_t size) {
  void *memory = malloc(size);
  const size_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (!memory && reserve.memory && whole <= reserve.size - reserve.used) {
    memory = reserve.memory + reserve.used;
    reserve.used += whole;
  }
  return memory;
}

static void watched_free(void *memory) {
  const char *at = memory;
  if (!reserve.memory || at < reserve.memory || at >= reserve.memory + reserve.size) {
    free(memory);
  }
}

static void watch(void) {
  json_set_alloc_funcs(watched_malloc, watched_free);
}

void hw__json_watch_memory(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}

hw_status hw__json_load(const char *text, size_t size, size_t flags, json_t **out, json_error_t *fault) {
  hw__json_watch_memory();
  *out = NULL;
  reserve.size = RESERVE_PER_BYTE * size + RESERVE_LEAST;
  reserve.used = 0;
  reserve.memory = malloc(reserve.size);
  if (!reserve.memory) {
    return HW_ENOMEM;
  }
  json_t *root = json_loadb(text, size, flags, fault);
  const bool starved = reserve.used > 0;
  if (starved) {
    json_decref(root);
  }
  free(reserve.memory);
  reserve.memory = NULL;
  *out = starved ? NULL : root;
  return starved ? HW_ENOMEM : root ? HW_OK : HW_EINPUT;
}

json_t *hw__json_read(const char *text, size_t size) {
  json_t *root;
  hw__json_load(text, size, 0, &root, NULL);
  return root;
}

json_t *hw__real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *hw__instant(bool calendar, double unix_s) {
  char text[48];
  if (!calendar || !isfinite(unix_s)) {
    return json_null();
  }
  hw_time_format(unix_s, text, sizeof text);
  return json_string(text);
}

json_t *hw__instant_us(int64_t us) {
  return hw__instant(us != 0, (double)us * 1e-6);
}

json_t *hw__range_json(const hw_range *range) {
  return json_pack("[o, o, o]", hw__real(range->lo), hw__real(range->mid), hw__real(range->hi));
}

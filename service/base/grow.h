/* Arrays that double. */
#ifndef HW_BASE_GROW_H
#define HW_BASE_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more. Given: where the array's pointer is kept, its count and capacity, the size of an element, the
 * capacity to begin with. Returned: false when there is no memory; the array is unchanged. */
static inline bool hw__grow(void *array, size_t count, size_t *capacity, size_t size, size_t first) {
  if (count < *capacity) {
    return true;
  }
  void *old;
  memcpy(&old, array, sizeof old); /* a pointer to pointers of any kind */
  const size_t wanted = *capacity ? 2 * *capacity : first;
  void *grown = realloc(old, wanted * size);
  if (!grown) {
    return false;
  }
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return true;
}

#endif

/* A limit on memory that many requests share. Each takes what it needs next and gives it back later; a request that
 * gets nothing is to be tried again. */
#ifndef HW_BASE_BUDGET_H
#define HW_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  _Atomic size_t left_bytes;
} hw__budget;

/* budget NULL: there is no limit. Returned: false when less than that is left; nothing was taken then. */
static inline bool hw__budget_take(hw__budget *budget, size_t bytes) {
  size_t left = budget ? atomic_load(&budget->left_bytes) : 0;
  while (budget && left >= bytes) {
    if (atomic_compare_exchange_weak(&budget->left_bytes, &left, left - bytes)) {
      return true;
    }
  }
  return !budget;
}

static inline void hw__budget_give(hw__budget *budget, size_t bytes) {
  if (budget) {
    atomic_fetch_add(&budget->left_bytes, bytes);
  }
}

#endif

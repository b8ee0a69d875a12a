/* Memory that ends: the linker routes allocations through the __wrap functions below (-Wl,--wrap), and one of them
 * fails on request. */
#ifndef HW_TESTS_STARVE_H
#define HW_TESTS_STARVE_H

#include <stdbool.h>
#include <stdlib.h>

#include "headwater/headwater.h"

void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Allocations until one fails, negative: none does; whether all after it fail too; and whether one has failed. */
static long until_failure = -1;
static bool for_good, met;

static bool fails(void) {
  const bool failed = until_failure == 0;
  met = met || failed;
  until_failure -= until_failure > 0 || (failed && !for_good);
  return failed;
}

static void starve(long after, bool for_ever) {
  until_failure = after;
  for_good = for_ever;
  met = false;
}

static void feed_again(void) {
  until_failure = -1;
}

void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size) {
  return fails() ? NULL : __real_realloc(old, size);
}

/* Lets the first, second, ... allocation of a call fail until the call gets through without meeting one.
 * Returned: how many failures were met. */
typedef hw_status (*attempt)(void *context);

static inline long provoke(attempt call, void *context) {
  for (long n = 0; n < 10000; n++) {
    starve(n, false);
    const hw_status status = call(context);
    feed_again();
    if (!met) {
      assert_int_equal(status, HW_OK);
      return n;
    }
    assert_int_equal(status, HW_ENOMEM);
  }
  fail_msg("more than 10000 allocations");
  return 0;
}

#endif

/* A sleep that ends early when the service stops. */
#ifndef HW_BASE_REST_H
#define HW_BASE_REST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

static inline void hw__rest(const atomic_bool *stopping, int milliseconds) {
  for (int waited = 0; waited < milliseconds && !atomic_load(stopping); waited += 100) {
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
}

#endif

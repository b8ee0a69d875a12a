/* Wall time, and quantiles of many of them. */
#ifndef HW_BENCH_TIMING_H
#define HW_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

static inline double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* This thread's own time: what others take from the machine meanwhile does not count. */
static inline double thread_seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int timing_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts. */
static inline double quantile(double *values, size_t n, double share) {
  qsort(values, n, sizeof *values, timing_order);
  const size_t at = (size_t)(share * (double)(n - 1) + 0.5);
  return n ? values[at] : 0;
}

#endif

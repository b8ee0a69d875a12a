/* How long readings took: a histogram in constant memory, so that a stream of any length has a median and a
 * 99th percentile. Buckets grow by 2^(1/8): quantiles are good to about 4 %. */
#ifndef HW_CLI_TIMING_H
#define HW_CLI_TIMING_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_TIMING_BUCKETS = 8 * 44 }; /* from 1 ns to 2^44 ns, about five hours */

typedef struct {
  uint64_t buckets[CLI_TIMING_BUCKETS];
  uint64_t count;
  double total_s;
} cli_timing;

void cli_timing_add(cli_timing *timing, double seconds);
/* Microseconds below which this share of the readings stayed; 0 without readings. */
double cli_timing_quantile_us(const cli_timing *timing, double share);

#endif

#include "cli/timing.h"

#include <math.h>

void cli_timing_add(cli_timing *timing, double seconds) {
  const double nanoseconds = seconds * 1e9;
  const double place = nanoseconds > 1 ? 8 * log2(nanoseconds) : 0;
  const size_t bucket = place < CLI_TIMING_BUCKETS - 1 ? (size_t)place : CLI_TIMING_BUCKETS - 1;
  timing->buckets[bucket]++;
  timing->count++;
  timing->total_s += seconds;
}

double cli_timing_quantile_us(const cli_timing *timing, double share) {
  if (timing->count == 0) {
    return 0;
  }
  const uint64_t rank = (uint64_t)ceil(share * (double)timing->count);
  uint64_t seen = 0;
  size_t bucket = 0;
  for (; bucket < CLI_TIMING_BUCKETS - 1; bucket++) {
    seen += timing->buckets[bucket];
    if (seen >= rank && seen > 0) {
      break;
    }
  }
  return exp2(((double)bucket + 0.5) / 8) * 1e-3;
}

/* Two numbers within a tolerance; a NaN is near nothing. */
#ifndef HW_TESTS_NEAR_H
#define HW_TESTS_NEAR_H

#include <math.h>

#define check_near(got, want, tolerance)                                          \
  do {                                                                            \
    const double got_ = (got), want_ = (want), tolerance_ = (tolerance);          \
    if (!(fabs(got_ - want_) <= tolerance_)) {                                    \
      fail_msg("got %.12g, expected %.12g within %.3g", got_, want_, tolerance_); \
    }                                                                             \
  } while (0)

#endif

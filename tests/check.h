/* cmocka compares floats in single precision; this compares doubles and says both. */
#ifndef HW_TESTS_CHECK_H
#define HW_TESTS_CHECK_H

#include <math.h>

#define check_near(got, want, tolerance) check_near_at(got, want, tolerance, __LINE__)

static inline void check_near_at(double got, double want, double tolerance, int line) {
  if (!(fabs(got - want) <= tolerance)) {
    fail_msg("line %d: got %.17g, want %.17g within %g", line, got, want, tolerance);
  }
}

#endif

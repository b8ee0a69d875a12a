/* Non-detects: the table of tails, and its accuracy far out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "posterior/nondetect.h"

static hw__tails tails;

static void test_the_table_agrees_with_the_error_function(void **state) {
  (void)state;
  for (double z = -60; z <= 6; z += 0.0137) {
    double slope = 0;
    const double f = hw__log_upper_tail(-z), got = hw__tails_at(&tails, z, &slope);
    /* 1e-9: the tail's own accuracy, and h^4 / 384 with knots 1/32 apart */
    check_near(got, f, 1e-9 + 1e-9 * fabs(f));
    const double r = exp(-0.5 * z * z - f) / sqrt(2 * M_PI);
    check_near(slope, r, 1e-8 * fmax(1, r));
  }
}

/* Over all z that readings can bring: no term above 0, slope and curvature as long double has them. */
static void test_far_tails_keep_their_slope_and_curvature(void **state) {
  (void)state;
  for (double z = -12; z > -1e9; z *= 1.13) {
    double slope = 0;
    const double f = hw__tails_at(&tails, z, &slope), curvature = hw__tail_curvature(z, slope);
    /* Mills' ratio by its continued fraction, x + 1/(x + 2/(x + 3/...)): phi / Phi at -x. */
    const long double x = -(long double)z;
    long double r = x;
    for (int k = 400; k > 0; k--) {
      r = x + (long double)k / r;
    }
    const long double bend = z < -1e4 ? 1 - 1 / (x * x) : r * (r - x);
    assert_true(f <= 0);
    check_near(slope / (double)r, 1, 1e-8);
    check_near(curvature, (double)bend, 1e-5); /* the table's slope, times |z| up to 38 */
    assert_true(curvature > 0 && curvature <= 1);
  }
}

int main(void) {
  hw__tails_build(&tails);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_table_agrees_with_the_error_function),
      cmocka_unit_test(test_far_tails_keep_their_slope_and_curvature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Non-detects: the table of tails, and the second-order terms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "posterior/evidence.h"
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

/* About the mass they were expanded at, the terms give the likelihood, its slope and its curvature. */
static void test_terms_match_the_likelihood_to_second_order(void **state) {
  (void)state;
  const double mass = 1370, g = 2.3e-6, sd = 7e-4, count = 3;
  for (double limit = 0.0002; limit < 0.008; limit += 0.00083) {
    const hw__terms t = hw__nondetect(&tails, mass, g, limit, sd, count);
    for (double off = -20; off <= 20; off += 10) {
      const double s = mass + off, exact = count * hw__log_upper_tail((s * g - limit) / sd);
      /* third order: (20 g / sd)^3 / 6 times a third derivative below 0.3 */
      check_near(t.offset + t.h * s - 0.5 * t.lambda * s * s, exact,
                 count * (pow(fabs(off) * g / sd, 3) * 0.05 + 1e-8));
    }
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
    const hw__terms t = hw__nondetect(&tails, 1370, 2.3e-6, 0.002, (1370 * 2.3e-6 - 0.002) / -z, 1);
    /* The parabola's top is nowhere above the likelihood's own, 0, by more than its third order. */
    assert_true(z < -1e5 || t.offset + 0.5 * t.h * t.h / t.lambda <= 1); /* z^2 loses its digits further out */
  }
}

static void test_nothing_is_said_where_no_plume_is(void **state) {
  (void)state;
  const hw__terms none = hw__nondetect(&tails, 1370, 0, 0.002, 7e-4, 3);
  assert_true(none.lambda == 0 && none.h == 0 && none.offset == 0);
}

int main(void) {
  hw__tails_build(&tails);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_table_agrees_with_the_error_function),
      cmocka_unit_test(test_terms_match_the_likelihood_to_second_order),
      cmocka_unit_test(test_far_tails_keep_their_slope_and_curvature),
      cmocka_unit_test(test_nothing_is_said_where_no_plume_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Status texts, random numbers, four-lane arithmetic, the thread pool. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>

#include "core/lanes.h"
#include "core/normal.h"
#include "core/pool.h"
#include "core/text.h"
#include "headwater/headwater.h"

static void test_every_status_has_a_name_and_a_text(void **state) {
  (void)state;
  for (int code = 0; code >= HW_EEND; code--) {
    assert_string_not_equal(hw_status_name((hw_status)code), "HW_?");
    assert_string_not_equal(hw_status_text((hw_status)code), "unknown status");
  }
  assert_string_equal(hw_status_name((hw_status)-99), "HW_?");
  assert_string_equal(hw_status_text((hw_status)7), "unknown status");
  assert_string_equal(hw_stop_text((hw_stop)99), "unknown reason");
  assert_string_equal(hw_stop_text(HW_STOP_COMPLETE), "complete");
}

static void test_rng_is_the_same_everywhere(void **state) {
  (void)state;
  hw_rng a, b;
  hw_rng_seed(&a, 1, 0);
  hw_rng_seed(&b, 1, 0);
  hw_rng copy = a;
  for (int i = 0; i < 100; i++) {
    assert_int_equal(hw_rng_bits(&a), hw_rng_bits(&b));
  }
  assert_int_equal(hw_rng_bits(&copy), UINT64_C(0x4887886c7244e091));
  hw_rng_seed(&b, 1, 1);
  assert_int_not_equal(hw_rng_bits(&a), hw_rng_bits(&b));
}

/* 400,000 draws: the mean's sd is 1/632 of a sd, the variance's about 1/450; bounds at five of these. */
static void test_rng_has_the_moments_it_claims(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 7, 3);
  double u1 = 0, u2 = 0, n1 = 0, n2 = 0, n4 = 0;
  const int n = 400000;
  for (int i = 0; i < n; i++) {
    const double u = hw_rng_uniform(&rng), z = hw_rng_normal(&rng);
    assert_true(u >= 0 && u < 1);
    u1 += u;
    u2 += u * u;
    n1 += z;
    n2 += z * z;
    n4 += z * z * z * z;
  }
  assert_true(fabs(u1 / n - 0.5) < 5 * 0.2887 / 632);
  assert_true(fabs(u2 / n - 1.0 / 3) < 5 * 0.298 / 632);
  assert_true(fabs(n1 / n) < 5.0 / 632);
  assert_true(fabs(n2 / n - 1) < 5 * 1.414 / 632);
  assert_true(fabs(n4 / n - 3) < 5 * 9.8 / 632);
}

/* Each layer between two densities has the area of the lowest one with its tail. */
static void test_layers_of_the_normal_have_one_area(void **state) {
  (void)state;
  const double *x = hw__normal_layer, lowest = exp(-0.5 * x[1] * x[1]);
  const double area = x[1] * lowest + sqrt(M_PI / 2) * erfc(x[1] / M_SQRT2);
  assert_true(fabs(x[0] * lowest - area) < 1e-15);
  for (int i = 1; i < HW__NORMAL_LAYERS; i++) {
    assert_true(fabs(x[i] * (exp(-0.5 * x[i + 1] * x[i + 1]) - exp(-0.5 * x[i] * x[i])) - area) < 1e-15);
  }
  assert_true(x[HW__NORMAL_LAYERS] < 1e-12);
}

/* Numbers below each of these ends against Phi: of 2,000,000 draws the count's sd is sqrt(n p (1 - p)); bounds at five
 * of these. The last ends lie in the tail beyond the layers. */
static void test_layered_normals_have_the_normals_distribution(void **state) {
  (void)state;
  static const double end[] = {-4, -3.7, -3, -2, -1, -0.3, 0, 0.2, 0.9, 1.6, 2.5, 3.3, 3.66, 4.2};
  enum { ENDS = sizeof end / sizeof end[0], DRAWS = 2000000 };
  double below[ENDS] = {0}, fourth = 0;
  hw_rng rng;
  hw_rng_seed(&rng, 11, 5);
  for (int i = 0; i < DRAWS; i++) {
    const double z = hw__normal(&rng);
    fourth += z * z * z * z;
    for (size_t k = 0; k < ENDS; k++) {
      below[k] += z < end[k];
    }
  }
  for (size_t k = 0; k < ENDS; k++) {
    const double p = 0.5 * erfc(-end[k] / M_SQRT2), sd = sqrt(DRAWS * p * (1 - p));
    assert_true(fabs(below[k] - DRAWS * p) < 5 * sd);
  }
  assert_true(fabs(fourth / DRAWS - 3) < 5 * sqrt(96.0 / DRAWS));
}

static void test_exp_agrees_with_libm(void **state) {
  (void)state;
  double worst = 0;
  for (double x = -708; x < 700; x += 0.00371) {
    const hw__v4 found = hw__v4_exp(hw__v4_all(x));
    worst = fmax(worst, fabs(found[2] / exp(x) - 1));
  }
  assert_true(worst < 4.5e-16); /* two units in the last place */
  const hw__v4 tiny = hw__v4_exp(hw__v4_all(-INFINITY));
  assert_true(tiny[0] > 0 && tiny[0] < 1e-307);
}

static void test_lanes_choose_keep_and_sum(void **state) {
  (void)state;
  const hw__v4 a = {1.5, -2.5, 0, 7}, b = {1, 1, 1, 1};
  const hw__v4 most = hw__v4_max(a, b), kept = hw__v4_keep(a > 0, a);
  assert_true(most[0] == 1.5 && most[1] == 1 && most[2] == 1 && most[3] == 7);
  assert_true(hw__v4_sum(kept) == 8.5);
}

static void count_piece(void *context, size_t i) {
  atomic_fetch_add(&((atomic_int *)context)[i], 1);
}

static void test_pool_does_every_piece_once(void **state) {
  (void)state;
  for (size_t threads = 1; threads <= 5; threads++) {
    hw__pool *pool = NULL;
    assert_int_equal(hw__pool_create(threads, &pool), HW_OK);
    for (int round = 0; round < 200; round++) {
      atomic_int done[37];
      memset(done, 0, sizeof done);
      const size_t count = (size_t)(round % 38);
      hw__pool_run(pool, count, count_piece, done);
      for (size_t i = 0; i < 37; i++) {
        assert_int_equal(atomic_load(&done[i]), i < count ? 1 : 0);
      }
    }
    hw__pool_free(pool);
  }
  hw__pool_free(NULL);
}

static void test_the_first_text_that_is_repeated_is_found(void **state) {
  (void)state;
  const char ids[][4] = {"s3", "s1", "s2", "s2", "s1", "s2"};
  size_t at = 99;
  for (size_t count = 0; count <= 6; count++) {
    assert_int_equal(hw__text_repeated(ids[0], sizeof ids[0], count, &at), HW_OK);
    assert_int_equal(at, count < 3 ? count : 3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_status_has_a_name_and_a_text),
      cmocka_unit_test(test_rng_is_the_same_everywhere),
      cmocka_unit_test(test_rng_has_the_moments_it_claims),
      cmocka_unit_test(test_layers_of_the_normal_have_one_area),
      cmocka_unit_test(test_layered_normals_have_the_normals_distribution),
      cmocka_unit_test(test_exp_agrees_with_libm),
      cmocka_unit_test(test_lanes_choose_keep_and_sum),
      cmocka_unit_test(test_pool_does_every_piece_once),
      cmocka_unit_test(test_the_first_text_that_is_repeated_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The advection-dispersion equation: value, gradient, Hessian, reaches. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gsl/gsl_integration.h>
#include <string.h>

#include "headwater/headwater.h"
#include "paper_river.h"
#include "river/along.h"

/* Eq. (1) written out once more, as the paper prints it, over complex numbers: an imaginary step gives
 * derivatives without cancellation. */
static double complex equation_1(double complex s, double complex l, double complex t, double x, double time,
                                 const hw_hydraulics *h) {
  const double v = h->velocity_m_s.value, d = h->dispersion_m2_s.value;
  const double complex age = time - t, way = x - l;
  return s / (h->area_m2 * csqrt(4 * M_PI * d * age)) * cexp(-(way - v * age) * (way - v * age) / (4 * d * age)) *
         cexp(-h->decay_per_s * age);
}

static hw_river random_river(hw_rng *rng) {
  hw_river river = paper_river();
  river.hydraulics.velocity_m_s.value = 0.2 + 2 * hw_rng_uniform(rng);
  river.hydraulics.dispersion_m2_s.value = 5 + 90 * hw_rng_uniform(rng);
  river.hydraulics.area_m2 = 3 + 70 * hw_rng_uniform(rng);
  river.hydraulics.decay_per_s = 1e-5 * hw_rng_uniform(rng);
  return river;
}

/* A source upstream of x and a time near the plume's passage, within four of its widths. */
static hw_source random_source(const hw_hydraulics *h, hw_rng *rng, double x, double *time_s) {
  const double v = h->velocity_m_s.value, d = h->dispersion_m2_s.value;
  const hw_source source = {900 + 777 * hw_rng_uniform(rng), x - 3000 - 40000 * hw_rng_uniform(rng),
                            -9000 * hw_rng_uniform(rng)};
  const double age = (x - source.location_m) / v, width = sqrt(2 * d * age) / v;
  *time_s = source.time_s + fmax(age + width * (8 * hw_rng_uniform(rng) - 4), 0.2 * age);
  return source;
}

static void check_near(double found, double expected, double scale, double tolerance) {
  if (!(fabs(found - expected) <= tolerance * scale)) {
    fail_msg("found %.17g, expected %.17g within %g of %g", found, expected, tolerance, scale);
  }
}

static void test_uniform_river_is_equation_1(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 11, 0);
  for (int i = 0; i < 4000; i++) {
    hw_river river = random_river(&rng);
    hw_transport *transport = NULL;
    assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
    const double x = 5000 * hw_rng_uniform(&rng);
    double time_s, c;
    const hw_source source = random_source(&river.hydraulics, &rng, x, &time_s);
    assert_int_equal(hw_transport_concentration(transport, &source, x, time_s, &c), HW_OK);
    const double expected =
        creal(equation_1(source.mass_g, source.location_m, source.time_s, x, time_s, &river.hydraulics));
    check_near(c, expected, expected, 1e-12); /* the issue's own tolerance; rounding in an exponent of up to 100 */
    hw_transport_free(transport);
    hw_river_free(&river);
  }
}

static void test_gradient_matches_complex_step(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 12, 0);
  const double h = 1e-30;
  for (int i = 0; i < 4000; i++) {
    hw_river river = random_river(&rng);
    hw_transport *transport = NULL;
    assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
    double time_s;
    const hw_source s = random_source(&river.hydraulics, &rng, 0, &time_s);
    const hw_leg leg = hw_transport_leg(transport, s.location_m, 0);
    hw_derivatives d;
    hw_leg_derivatives(&leg, s.mass_g, time_s - s.time_s, false, &d);
    const hw_hydraulics *hy = &river.hydraulics;
    const double expected[3] = {
        cimag(equation_1(s.mass_g + h * I, s.location_m, s.time_s, 0, time_s, hy)) / h,
        cimag(equation_1(s.mass_g, s.location_m + h * I, s.time_s, 0, time_s, hy)) / h,
        cimag(equation_1(s.mass_g, s.location_m, s.time_s + h * I, 0, time_s, hy)) / h,
    };
    /* Near a zero of the derivative its terms cancel, so the scale is the largest of them: c over a width. */
    const double width_m = sqrt(2 * hy->dispersion_m2_s.value * (time_s - s.time_s));
    const double scale[3] = {fabs(expected[0]), fabs(expected[1]) + d.value / width_m,
                             fabs(expected[2]) + d.value / width_m * hy->velocity_m_s.value};
    for (int j = 0; j < 3; j++) {
      check_near(d.gradient[j], expected[j], scale[j], 1e-9);
    }
    hw_transport_free(transport);
    hw_river_free(&river);
  }
}

/* A river of three reaches, velocities and dispersions unlike. */
static hw_river reached_river(void) {
  hw_river river = paper_river();
  river.reaches = calloc(2, sizeof *river.reaches);
  river.reach_count = 2;
  river.reaches[0] = (hw_reach){-17000, 0.83, 21, 71, 2e-6};
  river.reaches[1] = (hw_reach){3100, 1.9, 66, 37, 7e-6};
  return river;
}

static void test_hessian_matches_differences_of_the_gradient(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 13, 0);
  hw_river river = reached_river();
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  for (int i = 0; i < 3000; i++) {
    const double x[3] = {1300, -24000 + 20000 * hw_rng_uniform(&rng), -13000 * hw_rng_uniform(&rng)};
    const double to = 14339.3;
    const hw_leg leg = hw_transport_leg(transport, x[1], to);
    const double width = sqrt(leg.travel_s / leg.sharpness_per_s);
    const double time_s = x[2] + leg.travel_s + width * (6 * hw_rng_uniform(&rng) - 3);
    hw_derivatives at;
    hw_leg_derivatives(&leg, x[0], time_s - x[2], true, &at);
    const double step[3] = {1e-2, 0.1, 0.1};
    for (int j = 0; j < 3; j++) {
      hw_derivatives side[2];
      for (int k = 0; k < 2; k++) {
        double y[3] = {x[0], x[1], x[2]};
        y[j] += k ? step[j] : -step[j];
        const hw_leg moved = hw_transport_leg(transport, y[1], to);
        hw_leg_derivatives(&moved, y[0], time_s - y[2], false, &side[k]);
      }
      for (int k = 0; k < 3; k++) {
        const double expected = (side[1].gradient[k] - side[0].gradient[k]) / (2 * step[j]);
        const double unit[3] = {1 / x[0], 1 / (width * 0.8), 1 / width};
        const double scale = fabs(expected) + at.value * unit[j] * unit[k];
        /* Central differences of a 1e-12 gradient over a step of 1e-4 widths: good to about 1e-7. */
        check_near(at.hessian[j][k], expected, scale, 1e-6);
      }
    }
  }
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_gradient_holds_across_reaches(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 0);
  hw_river river = reached_river();
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  for (int i = 0; i < 3000; i++) {
    hw_source s = {1300, -24000 + 20000 * hw_rng_uniform(&rng), -13000 * hw_rng_uniform(&rng)};
    const hw_leg leg = hw_transport_leg(transport, s.location_m, 14339.3);
    const double width = sqrt(leg.travel_s / leg.sharpness_per_s);
    const double time_s = s.time_s + leg.travel_s + width * (6 * hw_rng_uniform(&rng) - 3);
    hw_derivatives d;
    hw_leg_derivatives(&leg, s.mass_g, time_s - s.time_s, false, &d);
    double lower, upper;
    const double step = 0.05;
    s.location_m -= step;
    hw_transport_concentration(transport, &s, 14339.3, time_s, &lower);
    s.location_m += 2 * step;
    hw_transport_concentration(transport, &s, 14339.3, time_s, &upper);
    /* Truncation (step/width)^2 ~ 1e-9, rounding 1e-16 / 1e-4. */
    check_near(d.gradient[1], (upper - lower) / (2 * step), fabs(d.gradient[1]) + d.value / (0.8 * width), 1e-8);
  }
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_a_reachs_own_discharge_does_not_follow_the_velocity(void **state) {
  (void)state;
  hw_river river = reached_river();
  river.reaches[1].discharge_m3_s = river.reaches[1].area_m2 * river.reaches[1].velocity_m_s;
  const hw_hydraulic_scale faster = {1.3, 0.6};
  hw_transport *given = NULL, *fast = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &given), HW_OK);
  assert_int_equal(hw_transport_create(&river, &faster, &fast), HW_OK);
  const double own = -1400.3, follows = -18100.7; /* inside the second and the first reach */
  assert_true(hw_transport_leg(fast, -29000, own).discharge_m3_s ==
              hw_transport_leg(given, -29000, own).discharge_m3_s);
  const double ratio =
      hw_transport_leg(fast, -29000, follows).discharge_m3_s / hw_transport_leg(given, -29000, follows).discharge_m3_s;
  assert_true(fabs(ratio - 1.3) < 1e-15 * 4);
  assert_true(hw_transport_leg(given, -29000, own).discharge_m3_s == 37 * 1.9); /* to the bit as with the area alone */
  hw_transport_free(given);
  hw_transport_free(fast);
  hw_river_free(&river);
}

/* Simpson over the release against the closed form: short and long, before, during and after, with and without decay.
 */
static void test_a_lasting_release_is_the_integral_of_instants(void **state) {
  (void)state;
  const hw_leg legs[] = {{.travel_s = 21000, .sharpness_per_s = 0.0031, .decay_per_s = 0, .discharge_m3_s = 14.2},
                         {.travel_s = 21000, .sharpness_per_s = 0.0031, .decay_per_s = 3.7e-5, .discharge_m3_s = 14.2},
                         {.travel_s = 370, .sharpness_per_s = 0.0004, .decay_per_s = 1e-3, .discharge_m3_s = 0.37},
                         {.travel_s = 90000, .sharpness_per_s = 0.31, .decay_per_s = 1e-6, .discharge_m3_s = 71}};
  const double durations[] = {0.02, 0.3, 4.4};
  enum { STEPS = 20000 };
  for (size_t k = 0; k < sizeof legs / sizeof legs[0]; k++) {
    const hw_leg *leg = &legs[k];
    const double sd_s = sqrt(leg->travel_s / leg->sharpness_per_s);
    double peak = 0;
    for (double age = 0.3 * leg->travel_s; age < 3 * leg->travel_s; age += 0.05 * sd_s) {
      peak = fmax(peak, hw_leg_response(leg, age));
    }
    for (size_t d = 0; d < 3; d++) {
      const double duration_s = durations[d] * leg->travel_s;
      for (double offset = -6; offset < 9; offset += 1.37) {
        const double age_s = leg->travel_s + offset * sd_s;
        double sum = 0;
        for (int i = 0; i <= STEPS; i++) {
          const double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
          sum += weight * hw_leg_response(leg, age_s - duration_s * i / STEPS);
        }
        sum /= 3.0 * STEPS;
        /* Simpson's own error where the release begins within the step, and roundings of the sum. */
        assert_true(fabs(hw_leg_lasting(leg, age_s, duration_s) - sum) < 1e-8 * peak);
      }
    }
    assert_true(hw_leg_lasting(leg, leg->travel_s, 0) == hw_leg_response(leg, leg->travel_s));
    assert_true(hw_leg_lasting(leg, -1, 100) == 0);
    /* A short one is an instant a half of it later. */
    const double brief_s = 1e-4 * sd_s, age_s = leg->travel_s - 0.7 * sd_s;
    if (age_s > 0) {
      assert_true(fabs(hw_leg_lasting(leg, age_s, brief_s) / hw_leg_response(leg, age_s - 0.5 * brief_s) - 1) < 1e-7);
    }
  }
}

static void test_equal_reaches_are_one_river(void **state) {
  (void)state;
  hw_river plain = paper_river(), cut = paper_river();
  const hw_hydraulics *h = &plain.hydraulics;
  cut.reaches = calloc(3, sizeof *cut.reaches);
  cut.reach_count = 3;
  for (size_t i = 0; i < 3; i++) {
    cut.reaches[i] = (hw_reach){-19000 + 9000.0 * (double)i, h->velocity_m_s.value, h->dispersion_m2_s.value,
                                h->area_m2, h->decay_per_s};
  }
  hw_transport *a = NULL, *b = NULL;
  assert_int_equal(hw_transport_create(&plain, NULL, &a), HW_OK);
  assert_int_equal(hw_transport_create(&cut, NULL, &b), HW_OK);
  hw_rng rng;
  hw_rng_seed(&rng, 15, 0);
  for (int i = 0; i < 2000; i++) {
    double time_s, one, two;
    const hw_source s = random_source(h, &rng, 14339.3, &time_s);
    hw_transport_concentration(a, &s, 14339.3, time_s, &one);
    hw_transport_concentration(b, &s, 14339.3, time_s, &two);
    check_near(two, one, one, 1e-12);
  }
  hw_transport_free(a);
  hw_transport_free(b);
  hw_river_free(&plain);
  hw_river_free(&cut);
}

typedef struct {
  const hw_leg *leg;
} passage;

static double flux(double age, void *context) {
  const hw_leg *leg = ((passage *)context)->leg;
  return leg->discharge_m3_s * hw_leg_response(leg, age);
}

/* What passes a place is what was released, through one reach or three. */
static void test_mass_is_conserved(void **state) {
  (void)state;
  hw_river rivers[2] = {paper_river(), reached_river()};
  gsl_integration_workspace *work = gsl_integration_workspace_alloc(2000);
  for (int i = 0; i < 2; i++) {
    rivers[i].hydraulics.decay_per_s = 0;
    for (size_t r = 0; r < rivers[i].reach_count; r++) {
      rivers[i].reaches[r].decay_per_s = 0;
    }
    hw_transport *transport = NULL;
    assert_int_equal(hw_transport_create(&rivers[i], NULL, &transport), HW_OK);
    const hw_leg leg = hw_transport_leg(transport, -22106, 14339.3);
    passage p = {&leg};
    const gsl_function f = {flux, &p};
    const double width = sqrt(leg.travel_s / leg.sharpness_per_s);
    double total = 0, error = 0;
    /* Beyond 12 widths less than 1e-30 is left on the early side and 1e-20 on the late one. */
    gsl_integration_qag(&f, leg.travel_s - 12 * width, leg.travel_s + 14 * width, 0, 1e-12, 2000, GSL_INTEG_GAUSS61,
                        work, &total, &error);
    check_near(total, 1, 1, 1e-9);
    hw_transport_free(transport);
    hw_river_free(&rivers[i]);
  }
  gsl_integration_workspace_free(work);
}

static void test_nothing_before_release_or_upstream(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  double c = 1;
  hw_transport_concentration(transport, &paper_truth, 0, paper_truth.time_s, &c);
  assert_true(c == 0);
  hw_transport_concentration(transport, &paper_truth, 0, paper_truth.time_s - 7.3, &c);
  assert_true(c == 0);
  hw_transport_concentration(transport, &paper_truth, -22107, paper_truth.time_s + 60, &c);
  assert_true(c == 0);
  const hw_leg leg = hw_transport_leg(transport, paper_truth.location_m, 0);
  hw_derivatives d, zero = {0};
  hw_leg_derivatives(&leg, 1300, -0.37, true, &d);
  assert_memory_equal(&d, &zero, sizeof d);
  const hw_leg nowhere = {.sharpness_per_s = 0.1, .discharge_m3_s = 14.2, .travel_dl = -1, .sharpness_dl = 0.01};
  hw_leg_derivatives(&nowhere, 1300, 37, true, &d);
  assert_memory_equal(&d, &zero, sizeof d);
  assert_true(hw_leg_response(&nowhere, 37) == 0 && hw_leg_lasting(&nowhere, 37, 14) == 0);
  hw_transport_free(transport);
  hw_river_free(&river);
}

/* By hand: 1300 / (60 sqrt(4 pi 2430 T)) exp(-(X - 80 T)^2 / (4 2430 T)) at T = 276 min, X = 22106 m. */
static void test_check_value(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  double c;
  hw_transport_concentration(transport, &paper_truth, 0, 61 * 60, &c);
  const double expected = 1300 / (60 * sqrt(4 * M_PI * 2430 * 276)) *
                          exp(-(22106.0 - 80 * 276) * (22106.0 - 80 * 276) / (4.0 * 2430 * 276) - 1e-8 * 276);
  check_near(c, expected, expected, 1e-13);
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_scales_multiply_velocity_and_dispersion(void **state) {
  (void)state;
  hw_river river = reached_river(), scaled = reached_river();
  for (size_t i = 0; i < 2; i++) {
    scaled.reaches[i].velocity_m_s *= 1.3;
    scaled.reaches[i].dispersion_m2_s *= 0.6;
  }
  scaled.hydraulics.velocity_m_s.value *= 1.3;
  scaled.hydraulics.dispersion_m2_s.value *= 0.6;
  hw_transport *a = NULL, *b = NULL;
  const hw_hydraulic_scale by = {1.3, 0.6};
  assert_int_equal(hw_transport_create(&river, &by, &a), HW_OK);
  assert_int_equal(hw_transport_create(&scaled, NULL, &b), HW_OK);
  const hw_leg one = hw_transport_leg(a, -20000, 9000), two = hw_transport_leg(b, -20000, 9000);
  assert_memory_equal(&one, &two, sizeof one);
  hw_transport_free(a);
  hw_transport_free(b);
  hw_river_free(&river);
  hw_river_free(&scaled);
}

static void test_place_inverts_theta(void **state) {
  (void)state;
  hw_river river = reached_river();
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  for (double x = -30000; x < 9000; x += 371.7) {
    check_near(hw__transport_place(transport, hw__transport_theta(transport, x)), x, 1e4, 1e-12);
  }
  const hw_leg leg = hw_transport_leg(transport, -20000, 9000);
  check_near(hw__transport_theta(transport, 9000) - hw__transport_theta(transport, -20000), leg.travel_s, leg.travel_s,
             1e-12);
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_create_wants_hydraulics_and_sane_scales(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_transport *transport = (hw_transport *)1;
  const hw_hydraulic_scale bad = {NAN, 1};
  assert_int_equal(hw_transport_create(&river, &bad, &transport), HW_EDOMAIN);
  assert_null(transport);
  river.hydraulics.dispersion_m2_s.certainty = HW_UNKNOWN;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_EHYDRAULICS);
  hw_river_free(&river);
}

/* An instant's window begins and ends where the concentration is this share of its highest; a release that lasts adds
 * its length to the end. The highest is looked for here by trying, not by its formula. */
static void test_the_window_of_a_spill_is_where_it_exceeds_its_share(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 37, 0);
  for (int i = 0; i < 50; i++) {
    hw_river river = random_river(&rng);
    double time_s, highest = 0, first_s, last_s, longer_s;
    const double x = -142, share = 0.02 + 0.5 * hw_rng_uniform(&rng), lasts_s = 1 + 3700 * hw_rng_uniform(&rng);
    const hw_source source = random_source(&river.hydraulics, &rng, x, &time_s);
    hw_spill *spill = NULL, *lasting = NULL;
    assert_int_equal(hw_spill_create(&river, &source, 0, &spill), HW_OK);
    assert_int_equal(hw_spill_create(&river, &source, lasts_s, &lasting), HW_OK);
    assert_true(hw_spill_window(spill, 0, x, share, &first_s, &last_s));
    for (int k = 0; k <= 20000; k++) {
      highest = fmax(highest, hw_spill_concentration(spill, 0, x, first_s + (last_s - first_s) * k / 20000));
    }
    /* a parabola's top between two of 20000 points: missed by 1e-8 of it, times the steepness of the window */
    check_near(hw_spill_concentration(spill, 0, x, first_s), share * highest, highest, 1e-6);
    check_near(hw_spill_concentration(spill, 0, x, last_s), share * highest, highest, 1e-6);
    assert_true(first_s > source.time_s && first_s < last_s);
    assert_true(hw_spill_concentration(spill, 0, x, first_s - 60) < share * highest);
    assert_true(hw_spill_concentration(spill, 0, x, last_s + 60) < share * highest);
    assert_true(hw_spill_window(lasting, 0, x, share, &time_s, &longer_s));
    check_near(time_s, first_s, fabs(first_s), 1e-12);
    check_near(longer_s, last_s + lasts_s, fabs(last_s), 1e-12);
    assert_false(hw_spill_window(spill, 0, source.location_m - 1, share, &first_s, &last_s)); /* above it */
    hw_spill_free(spill);
    hw_spill_free(lasting);
    hw_river_free(&river);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_window_of_a_spill_is_where_it_exceeds_its_share),
      cmocka_unit_test(test_uniform_river_is_equation_1),
      cmocka_unit_test(test_gradient_matches_complex_step),
      cmocka_unit_test(test_hessian_matches_differences_of_the_gradient),
      cmocka_unit_test(test_gradient_holds_across_reaches),
      cmocka_unit_test(test_a_reachs_own_discharge_does_not_follow_the_velocity),
      cmocka_unit_test(test_a_lasting_release_is_the_integral_of_instants),
      cmocka_unit_test(test_equal_reaches_are_one_river),
      cmocka_unit_test(test_mass_is_conserved),
      cmocka_unit_test(test_nothing_before_release_or_upstream),
      cmocka_unit_test(test_check_value),
      cmocka_unit_test(test_scales_multiply_velocity_and_dispersion),
      cmocka_unit_test(test_place_inverts_theta),
      cmocka_unit_test(test_create_wants_hydraulics_and_sane_scales),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

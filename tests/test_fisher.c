/* The Cramer-Rao bound against derivatives taken numerically and against what must hold of any bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "paper_river.h"

enum { TIMES = 60 };

static void fill_times(double *time_s) {
  for (size_t i = 0; i < TIMES; i++) {
    time_s[i] = -8000 + 80.0 * (double)i;
  }
}

static double concentration(const hw_river *river, const double y[5], double x_m, double t_s) {
  const hw_hydraulic_scale scale = {exp(y[3]), exp(y[4])};
  const hw_source source = {y[0], y[1], y[2]};
  hw_transport *transport = NULL;
  double c = NAN;
  assert_int_equal(hw_transport_create(river, &scale, &transport), HW_OK);
  hw_transport_concentration(transport, &source, x_m, t_s, &c);
  hw_transport_free(transport);
  return c;
}

static hw_river uncertain_river(void) {
  hw_river river = paper_river();
  river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.3, 1.2};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 41.7, 2.7};
  for (size_t k = 0; k < river.sensor_count; k++) {
    river.sensors[k].noise_absolute_g_m3 = 3e-4;
    river.sensors[k].noise_relative = 0.03;
    river.sensors[k].background_g_m3 = 0;
  }
  return river;
}

static void check_information(hw_river *river) {
  double time_s[TIMES];
  fill_times(time_s);
  const double y[5] = {1300, -22106, -12900, 0, 0}, step[5] = {1e-2, 0.05, 0.05, 1e-6, 1e-6};
  double numeric[5][5] = {{0}};
  for (size_t i = 0; i < TIMES; i++) {
    double d[5];
    for (size_t k = 0; k < 5; k++) {
      double up[5], down[5];
      for (size_t j = 0; j < 5; j++) {
        up[j] = y[j] + (j == k ? step[k] : 0);
        down[j] = y[j] - (j == k ? step[k] : 0);
      }
      d[k] = (concentration(river, up, river->sensors[0].location_m, time_s[i]) -
              concentration(river, down, river->sensors[0].location_m, time_s[i])) /
             (2 * step[k]);
    }
    const double c = concentration(river, y, river->sensors[0].location_m, time_s[i]);
    for (size_t r = 0; r < 5; r++) {
      for (size_t k = 0; k < 5; k++) {
        numeric[r][k] += d[r] * d[k] / (9e-8 + 9e-4 * c * c);
      }
    }
  }
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(river, NULL, &transport), HW_OK);
  hw_fisher fisher = {{{0}}};
  hw_fisher_add(river, transport, &(hw_source){1300, -22106, -12900}, 0, time_s, TIMES, &fisher);
  hw_transport_free(transport);
  for (size_t r = 0; r < 5; r++) {
    for (size_t k = 0; k < 5; k++) { /* central differences: relative 1e-6 of the entry's own scale */
      const double scale = sqrt(numeric[r][r] * numeric[k][k]);
      if (!(fabs(fisher.information[r][k] - numeric[r][k]) < 3e-6 * scale)) {
        fail_msg("entry %zu %zu: got %g, want %g", r, k, fisher.information[r][k], numeric[r][k]);
      }
    }
  }
}

static void test_information_matches_finite_differences(void **state) {
  (void)state;
  hw_river river = uncertain_river();
  check_information(&river);
  river.hydraulics.discharge_m3_s = 71.3;
  river.hydraulics.area_m2 = 0;
  check_information(&river);
  hw_reach reaches[] = {{-19000, 1.7, 33, 48, 0}, {-16000, 0.9, 52, 80, 1e-5}};
  river.reaches = reaches;
  river.reach_count = 2;
  check_information(&river);
  river.reaches = NULL;
  hw_river_free(&river);
}

static hw_bound bound_of(const hw_river *river, const bool *use) {
  hw_schedule schedule;
  hw_bound bound;
  assert_int_equal(hw_fisher_schedule(river, &paper_truth, 300, &schedule), HW_OK);
  assert_int_equal(hw_fisher_source(river, &paper_truth, &schedule, use, &bound), HW_OK);
  return bound;
}

static void test_every_doubt_raises_the_bound(void **state) {
  (void)state;
  hw_river river = uncertain_river();
  const hw_bound doubtful = bound_of(&river, NULL);
  river.hydraulics.velocity_m_s.certainty = river.hydraulics.dispersion_m2_s.certainty = HW_KNOWN;
  const hw_bound sure = bound_of(&river, NULL);
  assert_true(sure.location_m < doubtful.location_m && sure.mass_g <= doubtful.mass_g && sure.time_s < doubtful.time_s);
  assert_true(sure.velocity_ratio == 0 && doubtful.velocity_ratio > 0);
  const bool first_only[4] = {true};
  assert_true(bound_of(&river, first_only).location_m > sure.location_m);
  for (size_t k = 0; k < 4; k++) {
    river.sensors[k].gain_factor = 1.2;
  }
  const hw_bound gained = bound_of(&river, NULL);
  assert_true(gained.mass_g > 1.5 * sure.mass_g);
  river.sensors[0].background_g_m3 = NAN;
  assert_true(bound_of(&river, NULL).location_m > gained.location_m);
  hw_river_free(&river);
}

static void test_a_lone_reading_identifies_nothing(void **state) {
  (void)state;
  hw_river river = uncertain_river();
  hw_bound bound;
  const hw_schedule schedule = {-6000, -6000, 60};
  assert_int_equal(hw_fisher_source(&river, &paper_truth, &schedule, NULL, &bound), HW_OK);
  assert_false(bound.identifiable);
  assert_true(isinf(bound.location_m));
  hw_river_free(&river);
}

static void test_bad_schedules_are_refused(void **state) {
  (void)state;
  hw_river river = uncertain_river();
  hw_bound bound;
  const hw_schedule bad[] = {{0, 10, 0}, {0, 10, NAN}, {10, 0, 1}, {0, 1e9, 1}, {0, INFINITY, 1}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(hw_fisher_source(&river, &paper_truth, &bad[i], NULL, &bound), HW_EDOMAIN);
  }
  hw_schedule schedule;
  assert_int_equal(hw_fisher_schedule(&river, &(hw_source){1300, 50000, 0}, 10, &schedule), HW_EDOMAIN);
  river.hydraulics.dispersion_m2_s.certainty = HW_UNKNOWN;
  assert_int_equal(hw_fisher_source(&river, &paper_truth, &(hw_schedule){0, 10, 1}, NULL, &bound), HW_EHYDRAULICS);
  hw_river_free(&river);
}

/* Not by readings that tell the place no better than the box does; a box without width asks for nothing. */
static void test_a_place_known_no_better_than_the_box_is_not_identified(void **state) {
  (void)state;
  hw_river river = uncertain_river();
  const double sd_m = bound_of(&river, NULL).location_m;
  assert_true(sd_m > 0 && isfinite(sd_m));
  static const double middles_m[] = {-22000, 14.2, 37000};
  for (size_t i = 0; i < 3; i++) {
    static const struct {
      double widths;
      bool identified;
    } cases[] = {{0.99, false}, {1.01, true}, {100, true}, {0.01, false}, {0, true}};
    for (size_t k = 0; k < 5; k++) {
      river.search.lo.location_m = middles_m[i] - 0.5 * cases[k].widths * sd_m;
      river.search.hi.location_m = middles_m[i] + 0.5 * cases[k].widths * sd_m;
      assert_int_equal(bound_of(&river, NULL).identifiable, cases[k].identified);
    }
  }
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_information_matches_finite_differences),
      cmocka_unit_test(test_every_doubt_raises_the_bound),
      cmocka_unit_test(test_a_lone_reading_identifies_nothing),
      cmocka_unit_test(test_bad_schedules_are_refused),
      cmocka_unit_test(test_a_place_known_no_better_than_the_box_is_not_identified),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

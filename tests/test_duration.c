/* Releases that last (posterior/duration.h): their curves against sums of instants, and the engine that finds how long
 * they lasted. */
#include "posterior/duration.h"
#include "two_sensors.h"

static hw_rng rng;

static int start_again(void **state) {
  (void)state;
  hw_rng_seed(&rng, 53, 14);
  return 0;
}

static double between(double lo, double hi) {
  return lo + (hi - lo) * hw_rng_uniform(&rng);
}

static hw__curve random_curve(void) {
  const double width = between(200, 3000), travel = width * exp(between(0.5, 4));
  return (hw__curve){.passage_s = between(-1e5, 1e5),
                     .travel_s = travel,
                     .variance_s2 = width * width,
                     .area_g_s_m3 = 0.3 * width,
                     .decay_per_s = between(0, 1) / travel,
                     .duration_s = width * exp(between(-2.3, 2.5))};
}

/* Simpson's rule over so many instants that each moves the curve by at most a twentieth of its width. */
static double by_instants(const hw__curve *c, double t, double spread) {
  hw__curve instant = *c;
  instant.duration_s = 0;
  const int n = 2 * (int)ceil(20 * c->duration_s / sqrt(c->variance_s2) + 10);
  double sum = 0;
  for (int i = 0; i <= n; i++) {
    const double weight = i == 0 || i == n ? 1 : i % 2 ? 4 : 2;
    sum += weight * hw__curve_at(&instant, t - c->duration_s * i / n, spread);
  }
  return sum / (3.0 * n);
}

static void test_a_lasting_curve_is_the_mean_of_its_instants(void **state) {
  (void)state;
  for (int round = 0; round < 300; round++) {
    const hw__curve c = random_curve();
    const double width = sqrt(c.variance_s2), spread = round % 3 ? 0 : between(0, 0.3) * c.variance_s2;
    const double t = c.passage_s + between(-4 * width, c.duration_s + 5 * width);
    const double plateau = c.area_g_s_m3 / c.duration_s;
    check_near(hw__curve_at(&c, t, spread), by_instants(&c, t, spread), 2e-6 * fmin(plateau, 0.3));
  }
}

static void test_a_lasting_curve_is_highest_at_its_peak(void **state) {
  (void)state;
  for (int round = 0; round < 100; round++) {
    const hw__curve c = random_curve();
    const double peak = hw__curve_peak_s(&c), top = hw__curve_at(&c, peak, 0), width = sqrt(c.variance_s2);
    for (int i = -40; i <= 40; i++) {
      assert_true(hw__curve_at(&c, peak + 0.1 * i * width, 0) <= top * (1 + 1e-7));
    }
  }
}

static void test_coordinates_of_a_pulse_lead_back_to_it(void **state) {
  (void)state;
  for (int round = 0; round < 100; round++) {
    hw__curve c = random_curve();
    c.decay_per_s = 0;
    c.duration_s *= round % 4 ? 1 : 0;
    double y[HW__PULSE_SIZE];
    hw__curve_to(&c, y);
    const hw__curve back = hw__curve_from(y);
    check_near(back.passage_s, c.passage_s, 1e-6 * sqrt(c.variance_s2));
    check_near(back.travel_s, c.travel_s, 1e-9 * c.travel_s);
    check_near(back.variance_s2, c.variance_s2, 1e-9 * c.variance_s2);
    check_near(back.duration_s, c.duration_s, 1e-6 * c.duration_s);
    check_near(back.area_g_s_m3, c.area_g_s_m3, 1e-9 * c.area_g_s_m3);
  }
}

/* Mean and variance are the pulse's own, whatever lasted: what makes the coordinates round. */
static void test_a_box_adds_half_to_the_mean_and_a_twelfth_to_the_variance(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    hw__curve c = random_curve();
    c.decay_per_s = 0;
    double y[HW__PULSE_SIZE], area = 0, first = 0, second = 0;
    hw__curve instant = c;
    instant.duration_s = 0;
    const double width = sqrt(c.variance_s2), from = c.passage_s - 8 * width;
    const double step = 0.02 * width, to = c.passage_s + c.duration_s + 60 * width;
    double instant_area = 0, instant_first = 0, instant_second = 0;
    for (double t = from; t < to; t += step) {
      const double x = t - c.passage_s, a = hw__curve_at(&c, t, 0) * step, b = hw__curve_at(&instant, t, 0) * step;
      area += a;
      first += a * x;
      second += a * x * x;
      instant_area += b;
      instant_first += b * x;
      instant_second += b * x * x;
    }
    const double mean = first / area, instant_mean = instant_first / instant_area;
    const double variance = second / area - mean * mean;
    const double instant_variance = instant_second / instant_area - instant_mean * instant_mean;
    hw__curve_to(&c, y);
    check_near(area, c.area_g_s_m3, 1e-3 * c.area_g_s_m3);
    check_near(mean - instant_mean, y[HW__PASSAGE] - c.passage_s, 0.01 * width);
    check_near(variance - instant_variance, exp(y[HW__LN_VARIANCE]) - c.variance_s2, 0.02 * c.variance_s2);
  }
}

static void test_half_of_the_prior_is_an_instants(void **state) {
  (void)state;
  hw__lasting last;
  hw__lasting_set(&last, 36000, 1e9);
  check_near(last.shortest_s, 3600, 1e-9);
  check_near(last.longest_s, 3 * 86400, 1e-9);
  /* Equal evidence for every duration: what the hypothesis of a duration has is its part of the axis. */
  const double part = log(last.longest_s / last.shortest_s) * exp(last.log_prior);
  const double odds = exp(hw__lasting_log_odds(&last, 0, log(part)));
  check_near(odds / (1 + odds), 0.5 * part, 1e-12);
  hw__lasting_set(&last, 10, 100);
  assert_true(last.shortest_s < last.longest_s && last.shortest_s >= 60);
}

/* Readings of a release that lasted, by the transport's own closed form; every 150 s, with the noise stated. */
static void simulate_lasting(const hw_river *river, double duration_s, double until_s) {
  hw_spill *spill = NULL;
  assert_int_equal(hw_spill_create(river, &paper_truth, duration_s, &spill), HW_OK);
  reading_count = 0;
  for (double t = -12000; t <= until_s; t += 150) {
    for (size_t k = 0; k < river->sensor_count; k++) {
      const double c = hw_spill_concentration(spill, 0, river->sensors[k].location_m, t);
      readings[reading_count++] =
          (hw_reading){k, t, c + river->sensors[k].noise_absolute_g_m3 * hw_rng_normal(&rng), false, false};
    }
  }
  hw_spill_free(spill);
}

static void test_the_engine_finds_how_long_a_release_lasted(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.lo.time_s = -40000;
  simulate_lasting(&river, 9000, 16000);
  const hw_estimate e = identify(&river, 1);
  assert_int_equal(e.trust, HW_TRUST_FULL);
  check_holds(&e, &paper_truth);
  assert_true(e.duration_s.lo < 9000 && e.duration_s.hi > 9000);
  check_near(e.duration_s.mid, 9000, 900);
  assert_true(e.still_flowing < 0.01);
  hw_river_free(&river);
}

/* The record ends on the plateau: begin and rate are told, and the mass is what has flowed so far. */
static void test_a_release_that_goes_on_is_said_to(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.lo.time_s = -40000;
  river.search.hi.mass_g = 30000;
  for (size_t k = 0; k < river.sensor_count; k++) { /* a plateau of four noise floors might be the background's */
    river.sensors[k].noise_absolute_g_m3 *= 0.3;
  }
  simulate_lasting(&river, 40000, 4000);
  const hw_estimate e = identify(&river, 1);
  assert_int_equal(e.trust, HW_TRUST_PROVISIONAL);
  assert_true(e.has_source && e.still_flowing > 0.5);
  assert_true(e.interval.lo.location_m < paper_truth.location_m && e.interval.hi.location_m > paper_truth.location_m);
  assert_true(e.interval.lo.time_s < paper_truth.time_s && e.interval.hi.time_s > paper_truth.time_s);
  check_near(e.rate_g_s, paper_truth.mass_g / 40000, 0.1 * paper_truth.mass_g / 40000);
  const double so_far = paper_truth.mass_g * (4000 - paper_truth.time_s) / 40000;
  assert_true(e.interval.lo.mass_g < so_far && e.interval.hi.mass_g > so_far);
  hw_river_free(&river);
}

/* The record ends while the first sensor rises, where an instant and a release that goes on look the same: nobody may
 * say that it does not flow any more. */
static void test_what_still_rises_is_not_said_to_have_ended(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.lo.time_s = -40000;
  river.search.hi.mass_g = 30000;
  river.hydraulics.velocity_m_s = (hw_quantity){.certainty = HW_UNCERTAIN, .value = 1.3333333333, .factor = 1.15};
  river.hydraulics.dispersion_m2_s = (hw_quantity){.certainty = HW_UNCERTAIN, .value = 40.5, .factor = 1.8};
  simulate_lasting(&river, 9000, -6900);
  const hw_estimate e = identify(&river, 1);
  assert_int_equal(e.trust, HW_TRUST_PROVISIONAL);
  assert_true(e.has_source && !(e.still_flowing < 0.05));
  hw_river_free(&river);
}

static void test_an_instant_is_said_to_be_one(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.lo.time_s = -40000;
  simulate_lasting(&river, 0, 6000);
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  check_near(e.duration_s.lo, 0, 0);
  check_near(e.duration_s.mid, 0, 0);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_lasting_curve_is_the_mean_of_its_instants, start_again),
      cmocka_unit_test_setup(test_a_lasting_curve_is_highest_at_its_peak, start_again),
      cmocka_unit_test_setup(test_coordinates_of_a_pulse_lead_back_to_it, start_again),
      cmocka_unit_test_setup(test_a_box_adds_half_to_the_mean_and_a_twelfth_to_the_variance, start_again),
      cmocka_unit_test_setup(test_half_of_the_prior_is_an_instants, start_again),
      cmocka_unit_test_setup(test_the_engine_finds_how_long_a_release_lasted, start_again),
      cmocka_unit_test_setup(test_a_release_that_goes_on_is_said_to, start_again),
      cmocka_unit_test_setup(test_what_still_rises_is_not_said_to_have_ended, start_again),
      cmocka_unit_test_setup(test_an_instant_is_said_to_be_one, start_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a substance does to a river: what is lost, what lags, what is in doubt, and whose guideline stands in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"

#define HEAD                                                                  \
  "hydraulics: {velocity_m_s: %s, dispersion_m2_s: %s, discharge_m3_s: 37}\n" \
  "search: {mass_g: [100, 1000000], location_m: [-30000, -100], time_s: [-9000, 9000]}\n"

static char warnings[1024];

static void note(void *context, const char *sentence) {
  (void)context;
  strncat(warnings, sentence, sizeof warnings - strlen(warnings) - 2);
  strcat(warnings, "\n");
}

static hw_river river_of(const char *velocity, const char *dispersion, const char *rest) {
  char text[2048];
  hw_river river;
  hw_error error;
  warnings[0] = '\0';
  const int head = snprintf(text, sizeof text, HEAD, velocity, dispersion);
  snprintf(text + head, sizeof text - (size_t)head, "%s", rest);
  if (hw_river_parse("r.yaml", text, strlen(text), note, NULL, &river, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return river;
}

#define SENSORS \
  "sensors: [{id: s1, location_m: 0, noise_relative: 0.05}, {id: s2, location_m: 14200, noise_relative: 0.05}]\n"

static void test_volatilisation_goes_by_the_depth(void **state) {
  (void)state;
  hw_river usual = river_of("0.8", "31", "substance: benzene\n" SENSORS);
  /* 4.0e-5 m/s over 0.40 * 37^0.29 m */
  check_near(usual.hydraulics.decay_per_s, 4.0e-5 / 1.1398, 1e-8);
  check_near(usual.substance.loss_factor, 2, 1e-12);
  hw_river measured = river_of("0.8", "31",
                               "substance: {name: benzene, decay_per_s: 2.0e-6}\n"
                               "sensors: [{id: s1, location_m: 0, noise_relative: 0.05, depth_m: 2.5}]\n");
  check_near(measured.hydraulics.decay_per_s, 4.0e-5 / 2.5 + 2.0e-6, 1e-16);
  assert_true(measured.substance.loss_factor > 1 && measured.substance.loss_factor < 2); /* decay is known */
  assert_string_equal(warnings, "");
  hw_river_free(&usual);
  hw_river_free(&measured);
}

static void test_nothing_is_in_doubt_of_a_loss_that_there_is_none_of(void **state) {
  (void)state;
  hw_river river = river_of("0.8", "31", "substance: {name: salt}\n" SENSORS);
  assert_true(river.substance.loss_factor == 1 && river.hydraulics.decay_per_s == 0);
  hw_river_free(&river);
}

static void test_guideline_stands_in_for_an_alarm_level(void **state) {
  (void)state;
  hw_river river =
      river_of("0.8", "31",
               "substance: cyanide\n" SENSORS
               "intakes: [{id: own, location_m: 20000, alarm_g_m3: 0.37}, {id: none, location_m: 21000}]\n");
  assert_true(river.intakes[0].alarm_g_m3 == 0.37 && river.intakes[1].alarm_g_m3 == 0.05);
  assert_string_equal(warnings,
                      "r.yaml:5: no alarm_g_m3 for none, so taken: 0.05 g/m3, the guideline for cyanide (EU directive "
                      "2020/2184)\n");
  hw_river_free(&river);
}

/* Peak and sum of the concentrations at a place; times are of the peak. */
static double peak_s(const hw_river *river, double *sum) {
  hw_spill *spill = NULL;
  const hw_source source = {.mass_g = 14200, .location_m = -9000, .time_s = 370};
  assert_int_equal(hw_spill_create(river, &source, 0, &spill), HW_OK);
  double best = 0, at = 0;
  *sum = 0;
  for (double t = 0; t < 400000; t += 25) {
    const double c = hw_spill_concentration(spill, 0, 0, t);
    at = c > best ? t : at;
    best = fmax(best, c);
    *sum += c * 25;
  }
  hw_spill_free(spill);
  return at;
}

static void test_what_sorbs_comes_later_and_comes_whole(void **state) {
  (void)state;
  hw_river water = river_of("0.8", "31", "substance: chloride\n" SENSORS);
  hw_river sorbed = river_of("0.8", "31", "substance: {name: stickum, retardation: 1.4}\n" SENSORS);
  hw_river area =
      river_of("0.8", "31", "substance: {name: stickum, retardation: {median: 1.4, factor: 1.2}}\n" SENSORS);
  double first, second, third;
  const double early = peak_s(&water, &first), late = peak_s(&sorbed, &second);
  check_near((late - 370) / (early - 370), 1.4, 0.01);
  check_near(first, 14200 / 37.0, 0.01);  /* what is released passes, diluted by the discharge */
  check_near(second, 14200 / 37.0, 0.01); /* all of it, however late */
  assert_true(peak_s(&area, &third) == late);
  assert_int_equal(area.hydraulics.velocity_m_s.certainty, HW_UNCERTAIN);
  check_near(area.hydraulics.velocity_m_s.factor, 1.2, 1e-12);
  check_near(area.hydraulics.velocity_m_s.local, 1, 1e-12); /* one substance: the same doubt everywhere */
  hw_river_free(&water);
  hw_river_free(&sorbed);
  hw_river_free(&area);
}

/* Readings of a release at -9 km, 370 s, in this river, every five minutes at both sensors. */
static hw_estimate identify(const hw_river *river, const hw_river *truth) {
  const hw_problem problem = {.river = river};
  const hw_options options = {.seed = 3};
  const hw_source source = {.mass_g = 14200, .location_m = -9000, .time_s = 370};
  hw_run *run = NULL;
  hw_spill *spill = NULL;
  hw_rng rng;
  hw_rng_seed(&rng, 5, 0);
  assert_int_equal(hw_spill_create(truth, &source, 0, &spill), HW_OK);
  assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, &options, &run), HW_OK);
  for (double t = 0; t < 50000; t += 300) {
    for (size_t s = 0; s < 2; s++) {
      const double c = hw_spill_concentration(spill, 0, river->sensors[s].location_m, t);
      const double noise = 0.05 * c * hw_rng_normal(&rng) + 1e-5 * hw_rng_normal(&rng);
      const hw_reading reading = {.sensor = s, .time_s = t, .concentration_g_m3 = c + noise};
      assert_int_equal(hw_run_observe(run, &reading), HW_OK);
    }
  }
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  hw_run_free(run);
  hw_spill_free(spill);
  return e;
}

static void test_doubt_of_the_loss_is_doubt_of_the_mass(void **state) {
  (void)state;
  const char *velocity = "{median: 0.8, factor: 1.1}", *dispersion = "{median: 31, factor: 1.5}";
  hw_river sure = river_of(velocity, dispersion, "substance: {name: x, decay_per_s: 2.0e-5}\n" SENSORS);
  hw_river unsure =
      river_of(velocity, dispersion, "substance: {name: x, decay_per_s: {median: 2.0e-5, factor: 2}}\n" SENSORS);
  hw_river truth = river_of("0.8", "31", "substance: {name: x, decay_per_s: 3.7e-5}\n" SENSORS);
  check_near(unsure.sensors[0].gain_factor, 1, 1e-12);
  check_near(log(unsure.sensors[1].gain_factor), log(2) * 2.0e-5 * 14200 / 0.8, 1e-6);
  const hw_estimate e = identify(&unsure, &truth), known = identify(&sure, &truth);
  assert_true(e.has_source && e.has_interval && e.trust == HW_TRUST_FULL);
  assert_true(e.interval.lo.mass_g < 14200 && e.interval.hi.mass_g > 14200);
  assert_true(e.interval.lo.location_m < -9000 && e.interval.hi.location_m > -9000);
  /* Taken for known, a decay that is too small by half contradicts the sensors, which is told, or makes the mass too
   * certain. */
  assert_true(!known.has_interval || known.warning_count > 0 ||
              known.interval.hi.mass_g - known.interval.lo.mass_g < e.interval.hi.mass_g - e.interval.lo.mass_g);
  hw_river_free(&sure);
  hw_river_free(&unsure);
  hw_river_free(&truth);
}

static void test_dye_losses_of_the_field_model_are_rhodamine_s(void **state) {
  (void)state;
  hw_river truth = river_of("0.8", "31", "substance: chloride\n" SENSORS);
  hw_river salt = river_of("unknown", "unknown", "substance: chloride\n" SENSORS);
  hw_river none = river_of("unknown", "unknown", SENSORS);
  hw_river dye = river_of("unknown", "unknown", "substance: rhodamine_wt\n" SENSORS);
  const double of_salt = identify(&salt, &truth).source.mass_g, of_none = identify(&none, &truth).source.mass_g,
               of_dye = identify(&dye, &truth).source.mass_g;
  assert_true(of_none == of_salt);
  assert_true(of_dye > 1.02 * of_salt);
  check_near(of_salt / 14200, 1, 0.15);
  hw_river_free(&truth);
  hw_river_free(&salt);
  hw_river_free(&none);
  hw_river_free(&dye);
}

/* What sorption is in doubt by is added to what a velocity is, of the river at large and of a reach, as squares of
 * logarithms; what differs from stretch to stretch stays as it was. */
static void test_doubt_of_the_retardation_adds_to_that_of_the_velocity(void **state) {
  (void)state;
  hw_river river =
      river_of("{median: 0.8, factor: 1.3, local: 1.1}", "31",
               "substance: {name: stickum, retardation: {median: 1.4, factor: 1.2}}\n"
               "reaches: [{to_m: -3000, velocity_m_s: {median: 0.7, factor: 1.25, local: 1.15}}, {to_m: 9000, "
               "velocity_m_s: 0.9}]\n" SENSORS);
  const double by = log(1.2);
  const hw_quantity *v = &river.hydraulics.velocity_m_s;
  check_near(v->value, 0.8 / 1.4, 1e-12);
  check_near(log(v->factor), hypot(log(1.3), by), 1e-12);
  check_near(log(v->local), log(1.1), 1e-12);
  const hw_reach *r = &river.reaches[0];
  check_near(r->velocity_m_s, 0.7 / 1.4, 1e-12);
  check_near(log(r->velocity_doubt.factor), hypot(log(1.25), by), 1e-12);
  check_near(log(r->velocity_doubt.local), log(1.15), 1e-12);
  check_near(river.reaches[1].velocity_m_s, 0.9 / 1.4, 1e-12);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_volatilisation_goes_by_the_depth),
      cmocka_unit_test(test_nothing_is_in_doubt_of_a_loss_that_there_is_none_of),
      cmocka_unit_test(test_guideline_stands_in_for_an_alarm_level),
      cmocka_unit_test(test_what_sorbs_comes_later_and_comes_whole),
      cmocka_unit_test(test_doubt_of_the_loss_is_doubt_of_the_mass),
      cmocka_unit_test(test_dye_losses_of_the_field_model_are_rhodamine_s),
      cmocka_unit_test(test_doubt_of_the_retardation_adds_to_that_of_the_velocity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Draws that begin at points which explain the anchor's pulse come to the same posterior as draws from the prior. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "posterior/ade.h"

#define RIVER                                                                                                 \
  "hydraulics: {velocity_m_s: {median: 0.63, factor: 1.12}, dispersion_m2_s: {median: 34, factor: 1.6},"      \
  " discharge_m3_s: 7.3, decay_per_s: 2.0e-6}\n"                                                              \
  "search: {mass_g: [10, 100000], location_m: [-60000, -3000], time_s: [-60000, 60000]}\n"                    \
  "reaches: [{to_m: -21000, velocity_m_s: 0.52}, {to_m: -9000, velocity_m_s: 0.71}]\n"                        \
  "sensors:\n"                                                                                                \
  "  - {id: s1, location_m: -14000, noise_relative: 0.04, noise_absolute_g_m3: 2.0e-5, background_g_m3: 0}\n" \
  "  - {id: s2, location_m: -2000, noise_relative: 0.04, noise_absolute_g_m3: 2.0e-5, background_g_m3: 0}\n"
/* The same with a sensor above the release, which sees nothing of it: a part of the water has factors of its own. */
#define QUIET_ABOVE \
  RIVER "  - {id: s0, location_m: -41000, noise_relative: 0.04, noise_absolute_g_m3: 2.0e-5, background_g_m3: 0}\n"

/* The engine with a release's readings filed, its draws begun one way or the other. */
static hw__ade *settled(const hw_river *river, double duration_s, bool from_pulse) {
  const hw_source truth = {.mass_g = 3700, .location_m = -27300, .time_s = 2300};
  const hw_options options = {.seed = 5, .level = 0.9};
  hw_spill *spill = NULL;
  hw_rng rng;
  void *state = NULL;
  hw_rng_seed(&rng, 5, 0);
  assert_int_equal(hw_spill_create(river, &truth, duration_s, &spill), HW_OK);
  assert_int_equal(hw__ade_create(&(hw_problem){.river = river}, &options, &state), HW_OK);
  hw__ade *a = state;
  a->single = true;
  a->spill.from_pulse = from_pulse;
  for (double t = 0; t < 120000; t += 600) {
    for (size_t k = 0; k < river->sensor_count; k++) {
      const hw_sensor *s = &river->sensors[k];
      const double c = hw_spill_concentration(spill, 0, s->location_m, t);
      const double noise = hypot(s->noise_absolute_g_m3, s->noise_relative * c) * hw_rng_normal(&rng);
      assert_int_equal(hw__ade_observe(a, &(hw_reading){.sensor = k, .time_s = t, .concentration_g_m3 = c + noise}),
                       HW_OK);
    }
  }
  assert_int_equal(hw__ade_settle(a), HW_OK);
  assert_true(a->found.found);
  hw_spill_free(spill);
  return a;
}

/* ln of the mean weight of what draws begin with, by the anchor's readings alone: the evidence of these, if ln of the
 * draws' density is told right. */
static double log_evidence_of_start(hw__ade *a, size_t batches) {
  const hw__target target = hw__spill_target(&a->spill);
  hw__draws *d = &a->draws;
  hw_rng rng;
  double most = -INFINITY, sum = 0;
  hw_rng_seed(&rng, 23, 0);
  for (size_t b = 0; b < batches; b++) {
    target.start(target.context, &rng, HW__FINAL, d->x, d->log_proposal);
    hw__draws_take_chances(d, 1000 + b, 0, HW__FINAL);
    target.evaluate(target.context, 0, d->chance, HW__FINAL, d->x, d->log_prior, d->log_likelihood);
    for (size_t i = 0; i < HW__FINAL; i++) {
      const double w = d->log_prior[i] + d->log_likelihood[i] - d->log_proposal[i];
      if (w > most) {
        sum *= exp(most - w);
        most = w;
      }
      sum += isfinite(w) ? exp(w - most) : 0;
    }
  }
  return most + log(sum / (double)(batches * HW__FINAL));
}

static void check_alike(const char *text, double duration_s, double tolerance, double start_tolerance) {
  hw_river river;
  hw_error error;
  assert_int_equal(hw_river_parse("r.yaml", text, strlen(text), NULL, NULL, &river, &error), HW_OK);
  hw__ade *usual = settled(&river, duration_s, false), *near = settled(&river, duration_s, true);
  assert_true((usual->lasting > 0.5) == (duration_s > 0) && (near->lasting > 0.5) == (duration_s > 0));
  check_near(near->log_odds, usual->log_odds, tolerance);
  hw_estimate a, b;
  assert_int_equal(hw__ade_estimate(usual, &a), HW_OK);
  assert_int_equal(hw__ade_estimate(near, &b), HW_OK);
  const double width_m = a.interval.hi.location_m - a.interval.lo.location_m;
  check_near(b.source.location_m, a.source.location_m, 0.08 * width_m);
  check_near(b.interval.lo.location_m, a.interval.lo.location_m, 0.16 * width_m);
  check_near(b.interval.hi.location_m, a.interval.hi.location_m, 0.16 * width_m);
  assert_true(near->evaluations < usual->evaluations); /* and sooner */
  near->spill.lasting = duration_s > 0;
  hw__spill_anchor(&near->spill, near->spill.anchor);
  hw__target anchor_alone = hw__spill_target(&near->spill);
  anchor_alone.phases = 1;
  anchor_alone.first = 0;
  const hw__annealed learned = hw__anneal(&anchor_alone, 29, 7, NULL, false, &near->draws);
  check_near(log_evidence_of_start(near, 8), learned.log_evidence, start_tolerance);
  hw__ade_destroy(usual);
  hw__ade_destroy(near);
  hw_river_free(&river);
}

static void test_an_instants_evidence_does_not_depend_on_where_draws_begin(void **state) {
  (void)state;
  check_alike(RIVER, 0, 0.15, 0.2); /* two seeds differ by 0.05; hundreds of 32768 first draws count */
}

static void test_a_lasting_releases_evidence_does_not_depend_on_where_draws_begin(void **state) {
  (void)state;
  check_alike(RIVER, 16000, 0.3, 0.5);
}

static void test_a_quiet_sensor_above_does_not_change_that(void **state) {
  (void)state;
  check_alike(QUIET_ABOVE, 0, 0.15, 0.2);
}

/* Where time and place are the coordinates: the mean of the prior over the density that draws are said to have is what
 * the prior has of releases above the anchor and of durations that it could tell. */
static void test_draws_inside_the_box_cover_the_prior(void **state) {
  (void)state;
  for (int lasting = 0; lasting < 2; lasting++) {
    enum { BATCHES = 8 };
    hw_river river;
    hw_error error;
    assert_int_equal(hw_river_parse("r.yaml", RIVER, strlen(RIVER), NULL, NULL, &river, &error), HW_OK);
    hw__ade *a = settled(&river, 16000 * lasting, false);
    a->spill.lasting = lasting > 0;
    a->spill.boxed = a->spill.anywhere = true;
    hw__spill_anchor(&a->spill, a->spill.anchor);
    const hw__target target = hw__spill_target(&a->spill);
    const hw_box *box = &river.search;
    const hw__lasting *last = &a->spill.last;
    hw__draws *d = &a->draws;
    hw_rng rng;
    double sum = 0, possible = (a->station[a->spill.anchor].x_m - box->lo.location_m) /
                               (box->hi.location_m - box->lo.location_m);
    possible *= lasting > 0 ? log(last->longest_s / last->shortest_s) * exp(last->log_prior) : 1;
    hw_rng_seed(&rng, 31, 0);
    for (size_t b = 0; b < BATCHES; b++) {
      target.start(target.context, &rng, HW__FINAL, d->x, d->log_proposal);
      hw__draws_take_chances(d, 1000 + b, 0, HW__FINAL);
      target.evaluate(target.context, 0, d->chance, HW__FINAL, d->x, d->log_prior, d->log_likelihood);
      for (size_t i = 0; i < HW__FINAL; i++) {
        sum += exp(d->log_prior[i] - d->log_proposal[i]) / (HW__FINAL * BATCHES);
      }
    }
    check_near(sum, possible,
               0.05 * possible); /* four standard deviations of the mean of 32768 weights, most of them below 4 */
    hw__ade_destroy(a);
    hw_river_free(&river);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_instants_evidence_does_not_depend_on_where_draws_begin),
      cmocka_unit_test(test_a_lasting_releases_evidence_does_not_depend_on_where_draws_begin),
      cmocka_unit_test(test_a_quiet_sensor_above_does_not_change_that),
      cmocka_unit_test(test_draws_inside_the_box_cover_the_prior),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

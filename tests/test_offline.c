/* The offline baselines: accuracy at the common budget, the budget itself, bounded memory, repeatability. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#ifdef HAVE_NLOPT
#include <nlopt.h>
#endif

#include "check.h"
#include "offline/batch.h"
#include "offline/evolve.h"
#include "paper_river.h"

static const char *const baselines[] = {"de", "annealing", "genetic", "mcmc", "backward"};
enum { BASELINES = sizeof baselines / sizeof baselines[0] };

static hw_run *fed_run(const char *name, const hw_problem *problem, const hw_options *options, size_t per_sensor,
                       double noise) {
  hw_run *run = NULL;
  hw_reading *readings = NULL;
  const size_t count = paper_readings(problem->river, per_sensor, noise, 7, &readings);
  assert_int_equal(hw_run_create(hw_method_find(name), problem, options, &run), HW_OK);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
  }
  free(readings);
  return run;
}

/* Tolerances: share of the box widths within which each baseline must come at its default budget; a
 * quarter of the budget's failures would show up as a distance of tenths. */
static void test_baselines_find_the_source_of_clean_readings(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  for (size_t i = 0; i < BASELINES; i++) {
    hw_run *run = fed_run(baselines[i], &problem, NULL, 20, 0);
    hw_estimate estimate;
    assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
    print_message("%-9s %.1f g %.0f m %.0f s loss %.3g\n", baselines[i], estimate.source.mass_g,
                  estimate.source.location_m, estimate.source.time_s, estimate.loss);
    assert_true(fabs(estimate.source.mass_g - paper_truth.mass_g) < 0.02 * 2000);
    assert_true(fabs(estimate.source.location_m - paper_truth.location_m) < 0.02 * 15000);
    assert_true(fabs(estimate.source.time_s - paper_truth.time_s) < 0.02 * 15240);
    hw_run_free(run);
  }
  hw_river_free(&river);
}

static void test_baselines_spend_no_more_than_the_budget(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  const hw_options options = {.evaluations = 1730};
  for (size_t i = 0; i < BASELINES; i++) {
    hw_run *run = fed_run(baselines[i], &problem, &options, 9, 0.05);
    hw_estimate estimate;
    assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
    /* 36 readings a misfit; two more misfits for the report. */
    assert_in_range(estimate.cost.model_evaluations, 36 * 800, 36 * (1730 + 2));
    hw_run_free(run);
  }
  hw_river_free(&river);
}

/* Beside the pulse the misfit is a plain: whoever is left there has found nothing, however still it is. */
static void test_an_answer_that_explains_nothing_has_not_converged(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  hw_reading *readings = NULL;
  const size_t count = paper_readings(&river, 9, 0.05, 7, &readings);
  double mean_square = 0;
  for (size_t i = 0; i < count; i++) {
    mean_square += readings[i].concentration_g_m3 * readings[i].concentration_g_m3 / (double)count;
  }
  free(readings);
  size_t lost = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const hw_options options = {.evaluations = 3, .seed = seed};
    hw_run *run = fed_run("de", &problem, &options, 9, 0.05);
    hw_estimate e;
    assert_int_equal(hw_run_estimate(run, &e), HW_OK);
    const bool nothing = !(e.loss < 0.99 * mean_square);
    assert_false(nothing && hw_stop_converged(e.stop));
    lost += nothing;
    hw_run_free(run);
  }
  assert_true(lost > 0);
  hw_river_free(&river);
}

static void test_estimates_repeat_to_the_bit(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  const hw_options options = {.evaluations = 900, .seed = 14};
  for (size_t i = 0; i < BASELINES; i++) {
    hw_estimate a, b;
    hw_run *run = fed_run(baselines[i], &problem, &options, 9, 0.05);
    assert_int_equal(hw_run_estimate(run, &a), HW_OK);
    hw_run_free(run);
    run = fed_run(baselines[i], &problem, &options, 9, 0.05);
    assert_int_equal(hw_run_estimate(run, &b), HW_OK);
    assert_int_equal(hw_run_estimate(run, &b), HW_OK); /* asking twice changes nothing */
    assert_memory_equal(&a.source, &b.source, sizeof a.source);
    hw_run_free(run);
  }
  hw_river_free(&river);
}

static void test_mcmc_interval_holds_the_source(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  for (size_t i = 0; i < 4; i++) {
    river.sensors[i].noise_absolute_g_m3 = 2e-5;
  }
  const hw_problem problem = {.river = &river};
  const hw_options options = {.level = 0.99};
  hw_run *run = fed_run("mcmc", &problem, &options, 20, 0.05);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_true(e.has_interval);
  assert_true(e.interval.lo.location_m < paper_truth.location_m && paper_truth.location_m < e.interval.hi.location_m);
  assert_true(e.interval.lo.time_s < paper_truth.time_s && paper_truth.time_s < e.interval.hi.time_s);
  assert_true(e.interval.lo.mass_g < paper_truth.mass_g && paper_truth.mass_g < e.interval.hi.mass_g);
  assert_true(e.interval.hi.location_m - e.interval.lo.location_m < 1500); /* a tenth of the box */
  assert_int_equal(e.stop, HW_STOP_COMPLETE);                              /* both halves of the chain say so */
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_store_stays_bounded_and_spread(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  const hw_options options = {.level = 0.9, .seed = 1};
  void *state = NULL;
  assert_int_equal(hw_method_find("de")->create(&problem, &options, &state), HW_OK);
  hw__batch *batch = state;
  const size_t fed = 5 * HW__BATCH_CAPACITY + 37;
  for (size_t i = 0; i < fed; i++) {
    const hw_reading reading = {.sensor = i % 2, .time_s = (double)i};
    assert_int_equal(hw__batch_observe(state, &reading), HW_OK);
    assert_true(batch->count < HW__BATCH_CAPACITY);
  }
  /* Every sensor's kept readings lie one stride apart from its first to nearly its last. */
  double last[2] = {-1, -1};
  for (size_t i = 0; i < batch->count; i++) {
    const hw__kept *r = &batch->readings[i];
    assert_true(last[r->sensor] < 0 ? r->time_s == (double)r->sensor
                                    : r->time_s - last[r->sensor] == 2 * (double)batch->stride);
    last[r->sensor] = r->time_s;
  }
  assert_true(last[0] > (double)(fed - 4 * batch->stride));
  hw__batch_destroy(state);
  hw_river_free(&river);
}

static void test_the_mean_square_of_no_release_leaves_out_non_detects(void **unused) {
  (void)unused;
  hw__kept kept[] = {{0, 1, 3, false}, {0, 2, 14.2, true}, {1, 3, -5, false}, {1, 4, 37, false}};
  const hw__batch batch = {.count = 3, .readings = kept};
  check_near(hw__batch_mean_square(&batch), (9.0 + 25) / 3, 1e-14);
}

static double half_model(void *context, const hw_source *source, double x_m, double t_s) {
  double c = 0;
  hw_transport_concentration(context, source, x_m, t_s, &c);
  return 0.5 * c;
}

/* A forward model that yields half as much must double the mass found. */
static void test_forward_model_of_the_user_is_used(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  hw_transport *transport = NULL;
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  const hw_problem problem = {.river = &river, .forward = half_model, .forward_context = transport};
  hw_run *run = fed_run("de", &problem, NULL, 12, 0);
  hw_estimate estimate;
  assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
  assert_true(fabs(estimate.source.mass_g - 2 * paper_truth.mass_g) < 10);
  hw_run_free(run);
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_non_detects_only_count_above_their_limit(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  const hw_options options = {.level = 0.9, .seed = 1};
  void *state = NULL;
  assert_int_equal(hw_method_find("genetic")->create(&problem, &options, &state), HW_OK);
  const hw_reading silent = {.sensor = 0, .time_s = -7000, .concentration_g_m3 = 1e3, .below_limit = true};
  hw__batch_observe(state, &silent);
  const double unit[3] = {0.37, 0.5, 0.6};
  assert_true(hw__batch_loss(state, unit) == 0);
  hw__batch_destroy(state);
  hw_river_free(&river);
}

#ifdef HAVE_NLOPT
static double nlopt_loss(unsigned n, const double *unit, double *gradient, void *batch) {
  (void)n;
  (void)gradient;
  return hw__batch_loss(batch, unit);
}

/* The yardstick: NLopt's ESCH at the same budget, best of three of its runs, on noisy readings. */
static void test_genetic_and_de_are_no_worse_than_nlopt_esch(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  const hw_options options = {.level = 0.9, .seed = 1};
  void *state = NULL;
  assert_int_equal(hw_method_find("genetic")->create(&problem, &options, &state), HW_OK);
  hw_reading *readings = NULL;
  const size_t count = paper_readings(&river, 20, 0.05, 7, &readings);
  for (size_t i = 0; i < count; i++) {
    hw__batch_observe(state, &readings[i]);
  }
  double yardstick = INFINITY;
  for (unsigned long seed = 1; seed <= 3; seed++) {
    double unit[3] = {0.5, 0.5, 0.5}, value = 0;
    nlopt_srand(seed);
    nlopt_opt optimiser = nlopt_create(NLOPT_GN_ESCH, 3);
    nlopt_set_lower_bounds1(optimiser, 0);
    nlopt_set_upper_bounds1(optimiser, 1);
    nlopt_set_min_objective(optimiser, nlopt_loss, state);
    nlopt_set_maxeval(optimiser, HW__BATCH_EVALUATIONS);
    nlopt_optimize(optimiser, unit, &value);
    nlopt_destroy(optimiser);
    yardstick = fmin(yardstick, value);
  }
  hw__batch_destroy(state);
  free(readings);
  for (size_t i = 0; i < 3; i += 2) { /* de, genetic */
    hw_estimate estimate;
    hw_run *run = fed_run(baselines[i], &problem, NULL, 20, 0.05);
    assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
    print_message("%-9s loss %.6g, ESCH %.6g\n", baselines[i], estimate.loss, yardstick);
    assert_true(estimate.loss <= 1.01 * yardstick);
    hw_run_free(run);
  }
  hw_river_free(&river);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_baselines_find_the_source_of_clean_readings),
      cmocka_unit_test(test_baselines_spend_no_more_than_the_budget),
      cmocka_unit_test(test_an_answer_that_explains_nothing_has_not_converged),
      cmocka_unit_test(test_estimates_repeat_to_the_bit),
      cmocka_unit_test(test_mcmc_interval_holds_the_source),
      cmocka_unit_test(test_store_stays_bounded_and_spread),
      cmocka_unit_test(test_forward_model_of_the_user_is_used),
      cmocka_unit_test(test_non_detects_only_count_above_their_limit),
#ifdef HAVE_NLOPT
      cmocka_unit_test(test_genetic_and_de_are_no_worse_than_nlopt_esch),
      cmocka_unit_test(test_the_mean_square_of_no_release_leaves_out_non_detects),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

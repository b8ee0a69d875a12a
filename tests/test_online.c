/* The learners through the interface everybody uses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "headwater/headwater.h"
#include "online/across.h"
#include "paper_river.h"

static const char *const learners[] = {"tgd", "atgd", "aptgd", "mtgd", "mptgd"};
enum { LEARNERS = 5 };

static hw_estimate run_all(const char *name, const hw_river *river, const hw_reading *readings, size_t count,
                           const hw_options *options) {
  const hw_problem problem = {.river = river};
  hw_run *run = NULL;
  hw_estimate estimate;
  assert_int_equal(hw_run_create(hw_method_find(name), &problem, options, &run), HW_OK);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
  }
  assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
  hw_run_free(run);
  return estimate;
}

static void test_resolved_learners_find_the_noise_free_source(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 15, 0, 1, &readings);
  for (int k = 1; k < LEARNERS; k++) {
    const hw_options options = {.starts = 5};
    const hw_estimate e = run_all(learners[k], &river, readings, n, &options);
    assert_true(fabs(e.source.mass_g - 1300) < 1);
    assert_true(fabs(e.source.location_m + 22106) < 30);
    assert_true(fabs(e.source.time_s + 12900) < 30);
    assert_int_equal(e.stop, HW_STOP_GRADIENT);
    assert_int_equal(e.readings, n);
    assert_true(e.cost.gradient_evaluations > 0 && e.cost.state_bytes > 0);
  }
  free(readings);
  hw_river_free(&river);
}

/* Same prefix, two futures: what was said before they part must agree to the bit. */
static void test_estimates_do_not_see_the_future(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *one = NULL, *two = NULL;
  const size_t n = paper_readings(&river, 8, 0.05, 1, &one), prefix = 17;
  paper_readings(&river, 8, 0.4, 2, &two);
  memcpy(two, one, prefix * sizeof *one);
  for (int variant = HW_RESOLVED; variant <= HW_CORRECTED; variant++) {
    for (int k = 0; k < LEARNERS; k++) {
      const hw_problem problem = {.river = &river};
      const hw_options options = {.variant = (hw_variant)variant,
                                  .starts = 4,
                                  .iterations = 60,
                                  .has_start = true,
                                  .start = {1700, -21000, -12000}};
      hw_run *a = NULL, *b = NULL;
      assert_int_equal(hw_run_create(hw_method_find(learners[k]), &problem, &options, &a), HW_OK);
      assert_int_equal(hw_run_create(hw_method_find(learners[k]), &problem, &options, &b), HW_OK);
      bool parted = false;
      for (size_t i = 0; i < n; i++) {
        hw_estimate x, y;
        hw_run_observe(a, &one[i]);
        hw_run_observe(b, &two[i]);
        assert_int_equal(hw_run_estimate(a, &x), HW_OK);
        assert_int_equal(hw_run_estimate(b, &y), HW_OK);
        if (i < prefix) {
          assert_memory_equal(&x.source, &y.source, sizeof x.source);
        } else {
          parted = parted || memcmp(&x.source, &y.source, sizeof x.source) != 0;
        }
      }
      assert_true(parted); /* or the test could not fail */
      hw_run_free(a);
      hw_run_free(b);
    }
  }
  free(one);
  free(two);
  hw_river_free(&river);
}

static void test_answers_do_not_depend_on_the_thread_count(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 8, 0.05, 1, &readings);
  for (int k = 3; k < LEARNERS; k++) {
    hw_estimate first = {0};
    for (size_t threads = 1; threads <= 4; threads++) {
      const hw_options options = {.starts = 9, .threads = threads, .seed = 42};
      const hw_estimate e = run_all(learners[k], &river, readings, n, &options);
      if (threads == 1) {
        first = e;
      }
      assert_memory_equal(&e.source, &first.source, sizeof e.source);
      assert_int_equal(e.cost.gradient_evaluations, first.cost.gradient_evaluations);
    }
  }
  free(readings);
  hw_river_free(&river);
}

static void test_seed_decides_and_is_the_only_chance(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 4, 0.05, 1, &readings);
  const hw_options a = {.starts = 6, .no_moment_start = true, .iterations = 3},
                   b = {.starts = 6, .no_moment_start = true, .iterations = 3, .seed = 9};
  const hw_estimate x = run_all("mtgd", &river, readings, n, &a), y = run_all("mtgd", &river, readings, n, &a),
                    z = run_all("mtgd", &river, readings, n, &b);
  assert_memory_equal(&x.source, &y.source, sizeof x.source);
  assert_memory_not_equal(&x.source, &z.source, sizeof x.source);
  free(readings);
  hw_river_free(&river);
}

/* Whatever comes in, a finite answer inside the box comes out. */
static void test_hostile_readings_leave_a_finite_answer_in_the_box(void **state) {
  (void)state;
  hw_river river = paper_river();
  const double values[] = {0, -3.7, 1e300, 5e-324, 1e12, -1e300, 0.0042};
  const double times[] = {-1e15, 0, 1e15, -12900, 37.5};
  for (int variant = HW_RESOLVED; variant <= HW_CORRECTED; variant++) {
    for (int k = 0; k < LEARNERS; k++) {
      const hw_problem problem = {.river = &river};
      const hw_options options = {.variant = (hw_variant)variant, .starts = 3, .iterations = 30};
      hw_run *run = NULL;
      assert_int_equal(hw_run_create(hw_method_find(learners[k]), &problem, &options, &run), HW_OK);
      for (size_t i = 0; i < 35; i++) {
        const hw_reading r = {i % 4, times[i % 5], values[i % 7], i % 11 == 0, false};
        assert_int_equal(hw_run_observe(run, &r), HW_OK);
        hw_estimate e;
        assert_int_equal(hw_run_estimate(run, &e), HW_OK);
        assert_true(e.source.mass_g >= 1000 && e.source.mass_g <= 3000);
        assert_true(e.source.location_m >= -30000 && e.source.location_m <= -15000);
        assert_true(e.source.time_s >= -24000 && e.source.time_s <= -8760);
      }
      hw_run_free(run);
    }
  }
  hw_river_free(&river);
}

static void test_window_bounds_the_cost_of_a_reading(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 600, 0.05, 1, &readings);
  const hw_problem problem = {.river = &river};
  const hw_options options = {.window = 40};
  hw_run *run = NULL;
  assert_int_equal(hw_run_create(hw_method_find("atgd"), &problem, &options, &run), HW_OK);
  uint64_t before = 0, most = 0;
  size_t bytes = 0;
  for (size_t i = 0; i < n; i++) {
    hw_estimate e;
    hw_run_observe(run, &readings[i]);
    assert_int_equal(hw_run_estimate(run, &e), HW_OK);
    /* 200 iterations of at most 62 evaluations of at most 40 readings, twice where the moment start is tried */
    most = e.cost.model_evaluations - before > most ? e.cost.model_evaluations - before : most;
    before = e.cost.model_evaluations;
    bytes = bytes ? bytes : e.cost.state_bytes;
    assert_int_equal(e.cost.state_bytes, bytes);
  }
  assert_true(most < (uint64_t)2 * 201 * 62 * 40);
  hw_run_free(run);
  free(readings);
  hw_river_free(&river);
}

static void test_interval_across_sensors_is_students(void **state) {
  (void)state;
  hw__across across = {0};
  const hw_source draws[3] = {{10, 0, -3}, {14, 0, 1}, {12, 0, 5}};
  hw_box interval;
  hw__across_add(&across, &draws[0]);
  assert_false(hw__across_interval(&across, 0.9, &interval));
  hw__across_add(&across, &draws[1]);
  hw__across_add(&across, &draws[2]);
  assert_true(hw__across_interval(&across, 0.9, &interval));
  /* mean 12, S = 2, t_{0.05, 2} = 2.919986: half-length 2.919986 * 2 / sqrt(3) */
  assert_true(fabs(interval.hi.mass_g - (12 + 3.371709)) < 1e-5);
  assert_true(fabs(interval.lo.mass_g - (12 - 3.371709)) < 1e-5);
  assert_true(interval.lo.location_m == 0 && interval.hi.location_m == 0);
}

static void test_per_sensor_learners_give_an_interval(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 15, 0.02, 1, &readings);
  const hw_options with = {.per_sensor = true}, without = {0};
  const hw_estimate a = run_all("atgd", &river, readings, n, &with), b = run_all("atgd", &river, readings, n, &without);
  assert_true(a.has_interval);
  assert_false(b.has_interval);
  assert_memory_equal(&a.source, &b.source, sizeof a.source);
  assert_true(a.interval.lo.location_m < a.interval.hi.location_m);
  free(readings);
  hw_river_free(&river);
}

static void test_run_refuses_what_it_cannot_use(void **state) {
  (void)state;
  hw_river river = paper_river();
  const hw_problem problem = {.river = &river};
  hw_run *run = NULL;
  const hw_options bad[] = {{.level = 1.2},
                            {.level = 1},
                            {.level = -0.37},
                            {.level = NAN},
                            {.tolerance = -1},
                            {.tolerance = INFINITY},
                            {.perturbation = NAN},
                            {.perturbation = 1.01},
                            {.window = 10000001},
                            {.starts = 100001},
                            {.has_start = true, .start = {14.2, NAN, 37, 0}}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(hw_run_create(hw_method_find("atgd"), &problem, &bad[i], &run), HW_EDOMAIN);
    assert_null(run);
  }
  assert_int_equal(hw_run_create(hw_method_find("nonesuch"), &problem, NULL, &run), HW_ENAME);
  assert_int_equal(hw_run_create(hw_method_find("atgd"), &problem, NULL, &run), HW_OK);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_EEMPTY);
  const hw_reading wrong[] = {
      {4, 0, 0.1, false, false}, {0, NAN, 0.1, false, false}, {0, 0, INFINITY, false, false}, {0, 0, 0.1, true, true}};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(hw_run_observe(run, &wrong[i]), HW_EDOMAIN);
  }
  assert_int_equal(hw_run_estimate(run, &e), HW_EEMPTY);
  hw_sample sample;
  size_t count;
  assert_int_equal(hw_run_samples(run, &sample, 1, &count), HW_EUNSUPPORTED);
  hw_run_free(run);
  river.hydraulics.dispersion_m2_s.certainty = HW_UNKNOWN;
  assert_int_equal(hw_run_create(hw_method_find("atgd"), &problem, NULL, &run), HW_EHYDRAULICS);
  river.sensor_count = 0;
  assert_int_equal(hw_run_create(hw_method_find("atgd"), &problem, NULL, &run), HW_EINPUT);
  river.sensor_count = 4;
  hw_river_free(&river);
  hw_run_free(NULL);
}

/* Of the losses after each reading. */
static double summed_loss(const char *name, const hw_river *river, const hw_reading *readings, size_t count,
                          const hw_options *options) {
  const hw_problem problem = {.river = river};
  hw_run *run = NULL;
  double sum = 0;
  assert_int_equal(hw_run_create(hw_method_find(name), &problem, options, &run), HW_OK);
  for (size_t i = 0; i < count; i++) {
    hw_estimate e;
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
    assert_int_equal(hw_run_estimate(run, &e), HW_OK);
    sum += e.loss;
  }
  hw_run_free(run);
  return sum;
}

static void test_one_step_a_reading_is_enough_from_the_moment_start(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 100, 0.05, 1, &readings);
  const hw_options one = {.iterations = 1, .tolerance = 1e-12}, all = {.tolerance = 1e-12};
  const double hurried = summed_loss("atgd", &river, readings, n, &one);
  const double thorough = summed_loss("atgd", &river, readings, n, &all);
  assert_true(hurried < 1.5 * thorough); /* 1.03; 26 when the start, too, gets one step only */
  free(readings);
  hw_river_free(&river);
}

static void test_best_of_many_paths_goes_all_the_way(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  paper_readings(&river, 60, 0.05, 1, &readings);
  for (size_t n = 20; n <= 60; n += 5) {
    const hw_options options = {.starts = 10};
    const double many = run_all("mtgd", &river, readings, n, &options).loss;
    const double one = run_all("atgd", &river, readings, n, &options).loss;
    assert_true(many < 1.05 * one); /* 1.02 at most; 1.2 when the best stops where the others do */
  }
  free(readings);
  hw_river_free(&river);
}

/* The loss of one reading at a source. */
static double loss_of(const hw_transport *transport, const hw_river *river, const hw_reading *r, const hw_source *x) {
  double c = 0;
  hw_transport_concentration(transport, x, river->sensors[r->sensor].location_m, r->time_s, &c);
  return (c - r->concentration_g_m3) * (c - r->concentration_g_m3);
}

/* How often a learner with a window of one is worse off on a reading than before it saw it. */
static size_t count_climbs(const char *name, const hw_river *river, const hw_reading *readings, size_t count,
                           const hw_options *options) {
  const hw_problem problem = {.river = river};
  hw_transport *transport = NULL;
  hw_run *run = NULL;
  hw_source stood = options->start;
  size_t climbs = 0;
  assert_int_equal(hw_transport_create(river, NULL, &transport), HW_OK);
  assert_int_equal(hw_run_create(hw_method_find(name), &problem, options, &run), HW_OK);
  for (size_t i = 0; i < count; i++) {
    hw_estimate e;
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
    assert_int_equal(hw_run_estimate(run, &e), HW_OK);
    const double before = loss_of(transport, river, &readings[i], &stood),
                 after = loss_of(transport, river, &readings[i], &e.source);
    climbs += after > before * (1 + 1e-9) + 1e-18; /* rounding of two ways to compute C */
    stood = e.source;
  }
  hw_run_free(run);
  hw_transport_free(transport);
  return climbs;
}

/* The sign in Algorithm 2: as printed it permits ascent, mended it does not, and neither do the rules that Remark 3.3
 * names. */
static void test_corrected_line_searches_never_climb(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 12, 0.05, 1, &readings);
  hw_options options = {.variant = HW_PRINTED, .has_start = true, .start = {1700, -21000, -12300}};
  assert_true(count_climbs("atgd", &river, readings, n, &options) > 0);
  options.variant = HW_CORRECTED;
  for (int rule = HW_SEARCH_ALGORITHM_2; rule < HW_SEARCH_CONSTANT; rule++) {
    options.line_search = (hw_line_search)rule;
    assert_int_equal(count_climbs("atgd", &river, readings, n, &options), 0);
  }
  free(readings);
  hw_river_free(&river);
}

/* Rules part ways, the constant step too; Armijo's and the generic one only where a gain is tiny. */
static void test_line_searches_differ(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  hw_source found[HW_SEARCH_CONSTANT + 1];
  const size_t n = paper_readings(&river, 12, 0.05, 1, &readings);
  for (int rule = HW_SEARCH_ALGORITHM_2; rule <= HW_SEARCH_CONSTANT; rule++) {
    const hw_options options = {.variant = HW_CORRECTED,
                                .line_search = (hw_line_search)rule,
                                .has_start = true,
                                .start = {1700, -21000, -12300}};
    found[rule] = run_all("atgd", &river, readings, n, &options).source;
    for (int other = HW_SEARCH_ALGORITHM_2; other < rule; other++) {
      const bool alike = other == HW_SEARCH_ARMIJO && rule == HW_SEARCH_GENERIC;
      assert_true(alike || memcmp(&found[rule], &found[other], sizeof found[rule]) != 0);
    }
  }
  const hw_options unknown = {.line_search = HW_SEARCH_CONSTANT + 1};
  const hw_problem problem = {.river = &river};
  hw_run *run = NULL;
  assert_int_equal(hw_run_create(hw_method_find("atgd"), &problem, &unknown, &run), HW_EDOMAIN);
  free(readings);
  hw_river_free(&river);
}

/* As printed the t-loop of Algorithm 5 sets x back at every pass; mended it gets further than one step. */
static void test_corrected_algorithm_5_gets_further_than_one_step(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_reading *readings = NULL;
  const size_t n = paper_readings(&river, 12, 0, 1, &readings);
  hw_source end[2][2];
  for (int mended = 0; mended < 2; mended++) {
    for (size_t k = 0; k < 2; k++) {
      const hw_options options = {.variant = mended ? HW_CORRECTED : HW_PRINTED,
                                  .window = 200,
                                  .iterations = k ? 50 : 1,
                                  .has_start = true,
                                  .start = {1700, -21000, -12300}};
      end[mended][k] = run_all("aptgd", &river, readings, n, &options).source;
    }
  }
  assert_memory_equal(&end[0][0], &end[0][1], sizeof end[0][0]);
  assert_memory_not_equal(&end[1][0], &end[1][1], sizeof end[1][0]);
  free(readings);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resolved_learners_find_the_noise_free_source),
      cmocka_unit_test(test_estimates_do_not_see_the_future),
      cmocka_unit_test(test_answers_do_not_depend_on_the_thread_count),
      cmocka_unit_test(test_seed_decides_and_is_the_only_chance),
      cmocka_unit_test(test_hostile_readings_leave_a_finite_answer_in_the_box),
      cmocka_unit_test(test_window_bounds_the_cost_of_a_reading),
      cmocka_unit_test(test_interval_across_sensors_is_students),
      cmocka_unit_test(test_per_sensor_learners_give_an_interval),
      cmocka_unit_test(test_run_refuses_what_it_cannot_use),
      cmocka_unit_test(test_one_step_a_reading_is_enough_from_the_moment_start),
      cmocka_unit_test(test_best_of_many_paths_goes_all_the_way),
      cmocka_unit_test(test_corrected_line_searches_never_climb),
      cmocka_unit_test(test_line_searches_differ),
      cmocka_unit_test(test_corrected_algorithm_5_gets_further_than_one_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

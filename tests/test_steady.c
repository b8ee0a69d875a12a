/* A steady run (hw_options): whoever asks, and however often, finds the same bits. A service's answers are asked for as
 * threads and batches happen to meet, and two services fed alike must say the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "paper_river.h"

enum { MOST = 900 };
static hw_reading readings[MOST];
static size_t reading_count;

/* Every 60 s at four noisy sensors; one in `late_one_in` comes up to 40 places late. */
static void simulate(const hw_river *river, uint64_t late_one_in) {
  hw_transport *transport = NULL;
  hw_rng rng;
  hw_rng_seed(&rng, 37, 0);
  assert_int_equal(hw_transport_create(river, NULL, &transport), HW_OK);
  reading_count = 0;
  for (double t = -9000; reading_count + river->sensor_count <= MOST; t += 60) {
    for (size_t k = 0; k < river->sensor_count; k++) {
      double c = 0;
      hw_transport_concentration(transport, &paper_truth, river->sensors[k].location_m, t, &c);
      const double sd = hypot(river->sensors[k].noise_absolute_g_m3, river->sensors[k].noise_relative * c);
      readings[reading_count++] = (hw_reading){k, t, c + sd * hw_rng_normal(&rng), false, false};
    }
  }
  hw_transport_free(transport);
  for (size_t i = 0; i + 41 < reading_count; i++) {
    if (hw_rng_uniform(&rng) * (double)late_one_in < 1) {
      const size_t later = 1 + (size_t)(40 * hw_rng_uniform(&rng));
      const hw_reading held = readings[i];
      memmove(&readings[i], &readings[i + 1], later * sizeof *readings);
      readings[i + later] = held;
    }
  }
}

static hw_river noisy_river(void) {
  hw_river river = paper_river();
  for (size_t k = 0; k < river.sensor_count; k++) {
    river.sensors[k].background_g_m3 = 0;
    river.sensors[k].noise_relative = 0.05;
    river.sensors[k].noise_absolute_g_m3 = 2e-5;
  }
  return river;
}

/* The answer to all readings when it was asked for after one in `every` as well; 0: only in the end. */
static hw_estimate answer(const hw_river *river, const char *method, size_t every) {
  hw_run *run = NULL;
  hw_estimate estimate;
  const hw_problem problem = {.river = river};
  const hw_options options = {.seed = 5, .threads = 1, .steady = true};
  assert_int_equal(hw_run_create(hw_method_find(method), &problem, &options, &run), HW_OK);
  for (size_t i = 0; i < reading_count; i++) {
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
    if (every && i % every == 0) {
      assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
    }
  }
  assert_int_equal(hw_run_estimate(run, &estimate), HW_OK);
  hw_run_free(run);
  return estimate;
}

static void check_same(const char *method, const hw_river *river) {
  const hw_estimate unasked = answer(river, method, 0);
  static const size_t paces[] = {29, 171};
  for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
    const hw_estimate asked = answer(river, method, paces[i]);
    assert_memory_equal(&asked.source, &unasked.source, sizeof unasked.source);
    assert_int_equal(asked.has_interval, unasked.has_interval);
    if (unasked.has_interval) {
      assert_memory_equal(&asked.interval, &unasked.interval, sizeof unasked.interval);
    }
  }
}

static void test_asking_leaves_no_trace_when_readings_come_in_order(void **state) {
  (void)state;
  hw_river river = noisy_river();
  simulate(&river, MOST * 1000);
  for (reading_count = 150; reading_count < 400; reading_count += 200) {
    check_same("posterior", &river);
  }
  hw_river_free(&river);
}

static void test_asking_leaves_no_trace_when_readings_come_late(void **state) {
  (void)state;
  hw_river river = noisy_river();
  simulate(&river, 3);
  reading_count = 800;
  check_same("posterior", &river);
  hw_river_free(&river);
}

static void test_asking_leaves_no_trace_in_the_learners(void **state) {
  (void)state;
  hw_river river = noisy_river();
  simulate(&river, 5);
  reading_count = 60;
  check_same("atgd", &river);

  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_asking_leaves_no_trace_when_readings_come_in_order),
      cmocka_unit_test(test_asking_leaves_no_trace_when_readings_come_late),
      cmocka_unit_test(test_asking_leaves_no_trace_in_the_learners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

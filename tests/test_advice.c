/* Where to sample next: what a reading tells, and where that is most. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "advice/information.h"
#include "check.h"
#include "headwater/headwater.h"

/* --- what a reading tells --- */

enum { DRAWS = 2048 };
static double joint[2 * DRAWS], z[DRAWS];
static size_t all[DRAWS], dealt[DRAWS];
static const hw__reading_error error = {.floor_g_m3 = 1e-5, .relative = 0.15, .limit_g_m3 = 0};

/* Two answers, of one draw in four and three in four; what each would read. */
static hw__question two_answers(double first, double second, double scatter) {
  hw_rng rng;
  hw_rng_seed(&rng, 3, 0);
  for (size_t j = 0; j < DRAWS; j++) {
    joint[j] = j % 4 == 0 ? 1.0 / DRAWS : 0;
    joint[DRAWS + j] = j % 4 == 0 ? 0 : 1.0 / DRAWS;
    z[j] = fabs((j % 4 == 0 ? first : second) + scatter * hw_rng_normal(&rng));
    all[j] = j;
    dealt[j] = j;
  }
  for (size_t j = DRAWS; j > 1; j--) {
    const size_t k = (size_t)(hw_rng_uniform(&rng) * (double)j), swap = dealt[j - 1];
    dealt[j - 1] = dealt[k];
    dealt[k] = swap;
  }
  return (hw__question){.answers = 2, .draws = DRAWS, .joint = joint, .share = {0.25, 0.75}};
}

static void test_a_reading_that_tells_two_answers_apart_tells_all(void **state) {
  (void)state;
  const hw__question q = two_answers(10, 30, 1);
  const double entropy = -0.25 * log2(0.25) - 0.75 * log2(0.75);
  check_near(hw__information(&q, &error, all, z, dealt, DRAWS), entropy, 0.01);
}

static void test_a_reading_that_is_the_same_either_way_tells_nothing(void **state) {
  (void)state;
  const hw__question q = two_answers(20, 20, 7.3);
  check_near(hw__information(&q, &error, all, z, dealt, DRAWS), 0, 0.01); /* 2048 draws in 30 cells: 0.004 by chance */
}

static void test_readings_below_the_limit_are_one_outcome(void **state) {
  (void)state;
  const hw__question q = two_answers(2, 9, 0.3);
  hw__reading_error blind = error;
  blind.limit_g_m3 = sinh(0.15 * 20) * 1e-5 / 0.15; /* z of 20 */
  assert_true(hw__information(&q, &error, all, z, dealt, DRAWS) > 0.6);
  check_near(hw__information(&q, &blind, all, z, dealt, DRAWS), 0, 1e-6);
}

/* Normal errors of one on the stabilised scale: two answers half a unit apart, against the integral by hand. */
static void test_a_reading_tells_as_much_as_the_integral_says(void **state) {
  (void)state;
  const hw__question q = two_answers(20, 21.5, 0);
  double bits = 0;
  for (double y = 10; y < 32; y += 0.01) {
    const double a = exp(-0.5 * (y - 20) * (y - 20)) / sqrt(2 * M_PI),
                 b = exp(-0.5 * (y - 21.5) * (y - 21.5)) / sqrt(2 * M_PI);
    const double p = 0.25 * a + 0.75 * b;
    bits += 0.01 * (0.25 * a * log2(a / p) + 0.75 * b * log2(b / p));
  }
  check_near(hw__information(&q, &error, all, z, dealt, DRAWS), bits, 0.02); /* cells of half a unit */
}

/* --- where that is most --- */

/* Two tributaries that join above the only sensor: which one it was, the sensor cannot tell. */
static const char fork_yaml[] =
    "name: Fork\n"
    "hydraulics: {velocity_m_s: {median: 0.7, factor: 1.1}, dispersion_m2_s: {median: 21.3, factor: 1.5}, "
    "discharge_m3_s: 9, decay_per_s: 0}\n"
    "branches:\n"
    "  - {id: stem, head_m: -30000, reaches: [{to_m: -14000, velocity_m_s: 0.7, discharge_m3_s: 4.5}, "
    "{to_m: 20000, velocity_m_s: 0.7, discharge_m3_s: 9}]}\n"
    "  - {id: ash, head_m: -16000, joins: {branch: stem, at_m: -14000}, reaches: [{to_m: 0, velocity_m_s: 0.7, "
    "discharge_m3_s: 4.5}]}\n"
    "search: {mass_g: [100, 100000], time_s: [-40000, 40000]}\n"
    "sensors: [{id: s1, branch: stem, location_m: -12000, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5, "
    "detection_limit_g_m3: 5.0e-5, background_g_m3: 0}]\n"
    "candidates: [{id: mill, branch: stem, location_m: -21400}, {id: tannery, branch: ash, location_m: -7400}]\n"
    "intakes: [{id: town, branch: stem, location_m: 9000, alarm_g_m3: 0.02}]\n";

static hw_river river;
static hw_run *run;
static double now_s;

static int start(void **state) {
  (void)state;
  hw_error fault;
  const hw_source source = {7300, -7400, 0, 1};
  const hw_problem problem = {.river = &river};
  const hw_options options = {.threads = 1};
  hw_spill *spill = NULL;
  hw_rng rng;
  hw_rng_seed(&rng, 11, 0);
  if (hw_river_parse("fork", fork_yaml, sizeof fork_yaml - 1, NULL, NULL, &river, &fault) != HW_OK ||
      hw_spill_create(&river, &source, 0, &spill) != HW_OK ||
      hw_run_create(hw_method_find("posterior"), &problem, &options, &run) != HW_OK) {
    return -1;
  }
  for (double t = -6000; t <= 18600; t += 600) {
    const double c = hw_spill_concentration(spill, 0, -12000, t) * (1 + 0.05 * hw_rng_normal(&rng));
    const bool below = c < 5e-5;
    hw_run_observe(run, &(hw_reading){.time_s = t, .concentration_g_m3 = below ? 5e-5 : c, .below_limit = below});
    now_s = t;
  }
  hw_spill_free(spill);
  return 0;
}

static int end(void **state) {
  (void)state;
  hw_run_free(run);
  hw_river_free(&river);
  return 0;
}

static hw_advice *ask(hw_advice_options options) {
  hw_advice *advice = NULL;
  hw_error fault = {""};
  options.now_s = now_s;
  const hw_status status = hw_advise(run, &river, &options, &advice, &fault);
  if (status != HW_OK) {
    print_error("%s %s\n", hw_status_text(status), fault.text);
  }
  assert_int_equal(status, HW_OK);
  return advice;
}

static void test_what_is_left_in_a_tributary_tells_which_it_was(void **state) {
  (void)state;
  hw_advice *advice = ask((hw_advice_options){.question = HW_QUESTION_WHO});
  const hw_spot *best = hw_advice_spot(advice, 0);
  assert_true(hw_advice_entropy(advice) > 0.5); /* nearly one against the other */
  assert_true(best->branch == 1 || best->location_m < -14000);
  assert_true(best->bits > 0.2 * hw_advice_entropy(advice));
  for (size_t i = 0; i < hw_advice_count(advice); i++) {
    const hw_spot *s = hw_advice_spot(advice, i);
    assert_true(s->from_s >= now_s && s->from_s <= s->time_s && s->time_s <= s->to_s);
    assert_true(s->from_m <= s->location_m && s->location_m <= s->to_m);
    assert_true(isnan(s->region_m) && s->bits <= best->bits);
  }
  hw_advice_free(advice);
}

static void test_the_tail_in_the_right_tributary_settles_it(void **state) {
  (void)state;
  hw_advice *advice = ask((hw_advice_options){.question = HW_QUESTION_WHO});
  const hw_spot *best = hw_advice_spot(advice, 0);
  /* What the tributary it came down would still carry: as much as is expected there at most. */
  const hw_bottle bottle = {best->branch, best->location_m, best->time_s, best->expected_g_m3.hi};
  double entropy, region;
  assert_int_equal(hw_advice_after(advice, &bottle, &entropy, &region), HW_OK);
  assert_true(entropy < hw_advice_entropy(advice) - 0.3);
  const hw_bottle bad = {0, 0, NAN, 1};
  assert_int_equal(hw_advice_after(advice, &bad, &entropy, &region), HW_EDOMAIN);
  hw_advice_free(advice);
}

static void test_the_same_seed_gives_the_same_advice(void **state) {
  (void)state;
  hw_advice *a = ask((hw_advice_options){.question = HW_QUESTION_PLACE}), *b = ask((hw_advice_options){0});
  assert_int_equal(hw_advice_count(a), hw_advice_count(b));
  for (size_t i = 0; i < hw_advice_count(a); i++) {
    const hw_spot *x = hw_advice_spot(a, i), *y = hw_advice_spot(b, i);
    assert_true(x->location_m == y->location_m && x->time_s == y->time_s && x->bits == y->bits);
    assert_true(x->region_m <= hw_advice_region(a) && x->region_m > 0);
  }
  hw_advice_free(a);
  hw_advice_free(b);
}

static void test_where_the_water_never_comes_nothing_is_told(void **state) {
  (void)state;
  hw_advice *advice = ask((hw_advice_options){0});
  const hw_spot *best = hw_advice_spot(advice, 0);
  assert_true(hw_advice_value(advice, best->branch, best->location_m, best->time_s) > 0.5 * best->bits);
  check_near(hw_advice_value(advice, 0, -29990, now_s + 3600), 0, 0.01); /* above every draw */
  check_near(hw_advice_value(advice, 0, 19000, now_s + 60), 0, 0.01);    /* far ahead of the front */
  hw_advice_free(advice);
}

static void test_crews_are_sent_apart(void **state) {
  (void)state;
  hw_advice *advice = ask((hw_advice_options){.crews = 3, .delay_s = 1800});
  assert_true(hw_advice_count(advice) >= 2);
  for (size_t i = 0; i < hw_advice_count(advice); i++) {
    const hw_spot *a = hw_advice_spot(advice, i);
    assert_true(a->from_s >= now_s + 1800);
    for (size_t j = 0; j < i; j++) {
      const hw_spot *b = hw_advice_spot(advice, j);
      assert_true(a->branch != b->branch || fabs(a->location_m - b->location_m) > 100);
    }
  }
  hw_advice_free(advice);
}

static void test_the_intake_is_a_question_of_its_own(void **state) {
  (void)state;
  hw_advice *advice = ask((hw_advice_options){.question = HW_QUESTION_INTAKE});
  assert_true(hw_advice_entropy(advice) > 1); /* early, in the middle, late */
  assert_true(hw_advice_spot(advice, 0)->bits > 0.1 && isnan(hw_advice_region(advice)));
  hw_advice_free(advice);
}

static void test_it_refuses_with_a_sentence(void **state) {
  (void)state;
  const hw_problem problem = {.river = &river};
  const hw_options options = {.threads = 1};
  hw_run *quiet = NULL;
  hw_advice *advice = NULL;
  hw_error fault = {""};
  assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, &options, &quiet), HW_OK);
  for (double t = 0; t < 18000; t += 600) {
    hw_run_observe(quiet, &(hw_reading){.time_s = t, .concentration_g_m3 = 5e-5, .below_limit = true});
  }
  assert_int_equal(hw_advise(quiet, &river, &(hw_advice_options){.now_s = 18000}, &advice, &fault), HW_EEMPTY);
  assert_null(advice);
  assert_non_null(strstr(fault.text, "no spill"));
  assert_int_equal(hw_advise(run, &river, &(hw_advice_options){.now_s = NAN}, &advice, &fault), HW_EDOMAIN);
  assert_int_equal(hw_advise(run, &river, &(hw_advice_options){.crews = 9}, &advice, &fault), HW_EDOMAIN);
  hw_river silent = river;
  silent.intake_count = 0;
  const hw_advice_options intake = {.question = HW_QUESTION_INTAKE, .now_s = now_s};
  assert_int_equal(hw_advise(run, &silent, &intake, &advice, &fault), HW_EEMPTY);
  assert_non_null(strstr(fault.text, "alarm_g_m3"));
  hw_run_free(quiet);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_reading_that_tells_two_answers_apart_tells_all),
      cmocka_unit_test(test_a_reading_that_is_the_same_either_way_tells_nothing),
      cmocka_unit_test(test_readings_below_the_limit_are_one_outcome),
      cmocka_unit_test(test_a_reading_tells_as_much_as_the_integral_says),
      cmocka_unit_test(test_what_is_left_in_a_tributary_tells_which_it_was),
      cmocka_unit_test(test_the_tail_in_the_right_tributary_settles_it),
      cmocka_unit_test(test_the_same_seed_gives_the_same_advice),
      cmocka_unit_test(test_where_the_water_never_comes_nothing_is_told),
      cmocka_unit_test(test_crews_are_sent_apart),
      cmocka_unit_test(test_the_intake_is_a_question_of_its_own),
      cmocka_unit_test(test_it_refuses_with_a_sentence),
  };
  return cmocka_run_group_tests(tests, start, end);
}

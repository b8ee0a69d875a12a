/* The verdicts behind `headwater reproduce`, and Table 1's rows as the authors' program computes them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/reproduce/published.h"
#include "experiments/reproduce/setting.h"
#include "experiments/reproduce/verdict.h"

/* Wilson's 95 % intervals of 15 and 14 of 20: 0.531 to 0.888 and 0.481 to 0.855. */
static void test_verdict_needs_an_interval_clear_of_one_half(void **state) {
  (void)state;
  char text[80];
  hw_tally tally = {.won = 15, .lost = 5};
  assert_int_equal(hw_tally_verdict(&tally), HW_HOLDS);
  assert_string_equal(hw_tally_say(&tally, text, sizeof text), "15 of 20 seeds (53 to 89 %)");
  tally = (hw_tally){.won = 14, .lost = 6};
  assert_int_equal(hw_tally_verdict(&tally), HW_UNDECIDED);
  tally = (hw_tally){.won = 5, .lost = 15, .tied = 1};
  assert_int_equal(hw_tally_verdict(&tally), HW_FAILS);
  assert_string_equal(hw_tally_say(&tally, text, sizeof text), "5 of 20 seeds (11 to 47 %), 1 tie");
}

/* "Lower in 6 of 6" was a tie once. */
static void test_ties_decide_nothing(void **state) {
  (void)state;
  char text[80];
  hw_tally tally = {0};
  for (int i = 0; i < 20; i++) {
    hw_tally_lower(&tally, 6.080e5, 6.082e5);
  }
  assert_int_equal(tally.tied, 20);
  assert_int_equal(hw_tally_verdict(&tally), HW_UNDECIDED);
  assert_string_equal(hw_tally_say(&tally, text, sizeof text), "a tie in all 20 seeds");
  hw_tally_lower(&tally, 5.9e5, 6.08e5);
  hw_tally_lower(&tally, 6.2e5, 6.08e5);
  assert_int_equal(tally.won, 1);
  assert_int_equal(tally.lost, 1);
}

static void test_quantile_lies_between_its_neighbours(void **state) {
  (void)state;
  double values[] = {14.2, 0.37, 3.7, 42};
  assert_true(fabs(hw_quantile(values, 4, 0.5) - 8.95) < 1e-12);
  assert_true(hw_quantile(values, 4, 0) == 0.37 && hw_quantile(values, 4, 1) == 42);
  assert_true(isnan(hw_quantile(values, 0, 0.5)));
}

/* To the digits that the authors' program prints: (1347.95, -23130.37, -183.52) and (1345.13, -22722.47, -189.94). */
static void test_published_rows_come_out_to_the_digit(void **state) {
  (void)state;
  static const double expected[2][3] = {{1347.95, -23130.37, -183.52}, {1345.13, -22722.47, -189.94}};
  const char *data = getenv("HEADWATER_DATA");
  hw_river river;
  hw_reading *readings = NULL;
  size_t count = 0, steps;
  hw_error error;
  assert_int_equal(hw_paper_river(&river), HW_OK);
  if (hw_paper_real(&river, data ? data : "nowhere", &readings, &count, &error) != HW_OK) {
    hw_river_free(&river);
    skip();
  }
  for (int k = 0; k < 2; k++) {
    hw_source found;
    assert_int_equal(hw_published_learner(&river, readings, count, k == 1, &found, &steps), HW_OK);
    assert_true(fabs(found.mass_g - expected[k][0]) < 0.006);
    assert_true(fabs(found.location_m - expected[k][1]) < 0.006);
    assert_true(fabs(found.time_s / 60 - expected[k][2]) < 0.006);
  }
  free(readings);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verdict_needs_an_interval_clear_of_one_half),
      cmocka_unit_test(test_ties_decide_nothing),
      cmocka_unit_test(test_quantile_lies_between_its_neighbours),
      cmocka_unit_test(test_published_rows_come_out_to_the_digit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

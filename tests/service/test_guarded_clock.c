/* The clock that readings are judged by: wrong for seconds, wrong for long, set right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/guarded_clock.h"

static const int64_t second = 1000000;
static const int64_t minute = INT64_C(60) * 1000000;
static const int64_t hour = INT64_C(3600) * 1000000;
static const int64_t day = INT64_C(86400) * 1000000;
static const int64_t year = INT64_C(365) * 86400 * 1000000;
static const int64_t truth = INT64_C(1790000000) * 1000000; /* at uptime 0 */

typedef struct {
  hw__guarded_clock clock;
  int64_t uptime;
} run;

static run begin(const int64_t *stamps, size_t count, int64_t error) {
  run r = {.uptime = 37 * second};
  int64_t copy[8];
  for (size_t i = 0; i < count; i++) {
    copy[i] = stamps[i];
  }
  hw__guarded_clock_start(&r.clock, copy, count, truth + r.uptime + error, r.uptime);
  return r;
}

/* Time passes, looked at every second, while the wall clock is wrong by `error`. Returned: how wrong ours is. */
static int64_t pass(run *r, int64_t length, int64_t error) {
  for (const int64_t end = r->uptime + length; r->uptime < end;) {
    r->uptime += second;
    hw__guarded_clock_look(&r->clock, truth + r->uptime + error, r->uptime);
  }
  return r->clock.now_us - truth - r->uptime;
}

static void test_seconds_of_a_wrong_clock_move_nothing(void **state) {
  (void)state;
  const int64_t stamps[] = {truth - day / 2, truth - hour};
  run r = begin(stamps, 2, 0);
  assert_true(hw__guarded_clock_settled(&r.clock));
  assert_int_equal(pass(&r, 3 * hour, 0), 0);
  assert_int_equal(pass(&r, 6 * second, year), 0);
  assert_true(r.clock.possible_us == truth + r.uptime + year); /* what it says may yet be true */
  assert_false(hw__guarded_clock_settled(&r.clock));
  assert_int_equal(pass(&r, 10 * second, 0), 0);
  assert_true(r.clock.possible_us == r.clock.now_us);
  assert_int_equal(pass(&r, 6 * second, -year), 0);
  assert_int_equal(pass(&r, hour - 10 * second, 0), 0);
  assert_false(hw__guarded_clock_settled(&r.clock));
  pass(&r, 20 * second, 0);
  assert_true(hw__guarded_clock_settled(&r.clock));
}

static void test_a_step_ahead_that_stands_is_followed_and_taken_back(void **state) {
  (void)state;
  const int64_t stamps[] = {truth - hour};
  run r = begin(stamps, 1, 0);
  pass(&r, 2 * hour, 0);
  assert_int_equal(pass(&r, 2 * minute, year), year);
  assert_int_equal(pass(&r, 30 * minute, year), year);
  assert_int_equal(pass(&r, 2 * minute, 0), 0);
}

static void test_a_step_back_is_not_followed_below_what_was_proven(void **state) {
  (void)state;
  run r = begin(NULL, 0, 0);
  pass(&r, 2 * hour, 0);
  assert_int_equal(pass(&r, 3 * hour, -year), 0);
  assert_int_equal(pass(&r, minute, 0), 0);
}

static void test_small_corrections_are_followed_ahead_only(void **state) {
  (void)state;
  run r = begin(NULL, 0, 0);
  pass(&r, minute, 0);
  assert_int_equal(pass(&r, 2 * second, 5 * second), 5 * second);
  assert_int_equal(pass(&r, 2 * second, 0), 5 * second);
  assert_true(hw__guarded_clock_settled(&r.clock));
}

static void test_one_stamp_from_ahead_is_passed_over(void **state) {
  (void)state;
  const int64_t stamps[] = {truth - day, truth + year, truth - hour, truth - 2 * hour};
  run r = begin(stamps, 4, 0);
  assert_int_equal(pass(&r, minute, 0), 0);
  assert_true(hw__guarded_clock_settled(&r.clock));
}

static void test_a_clock_behind_the_stamps_is_carried(void **state) {
  (void)state;
  const int64_t stamps[] = {truth - hour, truth - 3 * hour, truth + year, truth - 2 * hour};
  run r = begin(stamps, 4, -10 * year);
  assert_true(pass(&r, 2 * hour, -10 * year) == -hour - 37 * second); /* from the latest that is not alone */
  assert_false(hw__guarded_clock_settled(&r.clock));
  assert_int_equal(pass(&r, 2 * minute, 0), 0); /* the time server was reached */
}

static void test_a_start_long_after_the_last_stamp_waits_an_hour(void **state) {
  (void)state;
  const int64_t stamps[] = {truth - hour};
  run r = begin(stamps, 1, year); /* wrong from the start */
  assert_false(hw__guarded_clock_settled(&r.clock));
  assert_int_equal(pass(&r, minute, year), year);
  assert_int_equal(pass(&r, 2 * minute, 0), 0); /* set right: what is stored says it may be */
  assert_false(hw__guarded_clock_settled(&r.clock));
  pass(&r, hour, 0);
  assert_true(hw__guarded_clock_settled(&r.clock));
}

/* Readings that came under a wrong clock make it look right to the next start. */
static void test_a_second_start_under_a_wrong_clock_waits_too(void **state) {
  (void)state;
  const int64_t stamps[] = {truth + year - minute, truth + year - 2 * minute};
  run r = begin(stamps, 2, year);
  assert_true(hw__guarded_clock_settled(&r.clock));
  hw__guarded_clock_compare(&r.clock, truth - minute); /* before them there is nothing for a year */
  assert_false(hw__guarded_clock_settled(&r.clock));
  pass(&r, hour + second, year);
  assert_true(hw__guarded_clock_settled(&r.clock));
  for (int64_t earlier = 0; earlier < 2; earlier++) { /* an hour within the log, or nothing that old */
    r = begin(stamps, 2, year);
    hw__guarded_clock_compare(&r.clock, earlier * (truth + year - 2 * hour));
    assert_true(hw__guarded_clock_settled(&r.clock));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_seconds_of_a_wrong_clock_move_nothing),
      cmocka_unit_test(test_a_step_ahead_that_stands_is_followed_and_taken_back),
      cmocka_unit_test(test_a_step_back_is_not_followed_below_what_was_proven),
      cmocka_unit_test(test_small_corrections_are_followed_ahead_only),
      cmocka_unit_test(test_one_stamp_from_ahead_is_passed_over),
      cmocka_unit_test(test_a_clock_behind_the_stamps_is_carried),
      cmocka_unit_test(test_a_start_long_after_the_last_stamp_waits_an_hour),
      cmocka_unit_test(test_a_second_start_under_a_wrong_clock_waits_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* What is a step, how long it has to stand and what is an earlier run's time: to the microsecond. */
static void test_the_bounds_of_a_step(void **state) {
  (void)state;
  static const struct {
    int64_t off_us;
    bool step;
  } offs[] = {{minute, false}, {minute + 1, true}, {-minute, false}, {-minute - 1, true}};
  for (size_t i = 0; i < 4; i++) {
    run r = begin(NULL, 0, 0);
    pass(&r, 2 * hour, 0);
    hw__guarded_clock_look(&r.clock, truth + r.uptime + offs[i].off_us, r.uptime);
    assert_true(hw__guarded_clock_settled(&r.clock) == !offs[i].step);
    assert_true(r.clock.now_us == truth + r.uptime + (offs[i].off_us == minute ? minute : 0));
    assert_true(r.clock.possible_us == truth + r.uptime + (offs[i].off_us > 0 ? offs[i].off_us : 0));
  }
  run r = begin(NULL, 0, 0);
  assert_int_equal(pass(&r, minute, year), 0); /* it is seen after a second */
  assert_int_equal(pass(&r, second, year), year);
  r = begin(NULL, 0, 0);
  pass(&r, 40 * second, year);
  assert_int_equal(pass(&r, minute, year + hour), 0); /* another step: its minute begins anew */
  assert_int_equal(pass(&r, second, year + hour), year + hour);
}

static void test_what_stood_for_an_hour_is_the_floor(void **state) {
  (void)state;
  run r = begin(NULL, 0, year);
  pass(&r, hour - 37 * second, year);
  assert_int_equal(pass(&r, 2 * minute, 0), 0); /* it may be taken back */
  r = begin(NULL, 0, year);
  pass(&r, hour, year);
  assert_int_equal(pass(&r, 2 * minute, 0), year);
  assert_int_equal(pass(&r, 2 * minute, year - 30 * second), year); /* as good as the same */
  const int64_t stamps[] = {truth};
  r = begin(stamps, 1, hour);
  pass(&r, 2 * minute, hour);
  assert_int_equal(pass(&r, 2 * minute, -2 * minute), hour); /* the floor goes on from the stamp */
  assert_int_equal(pass(&r, 2 * minute, -37 * second - second), -37 * second - second);
}

static void test_the_bounds_of_a_start(void **state) {
  (void)state;
  static const struct {
    int64_t wall_us, now_us; /* beyond the last stamp */
    bool settled;
  } starts[] = {{0, 0, true},       {37, 37, true},         {day, day, true}, {day + 1, day + 1, false},
                {-minute, 0, true}, {-minute - 1, 0, false}};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    hw__guarded_clock clock;
    hw__guarded_clock_start(&clock, (int64_t[]){truth}, 1, truth + starts[i].wall_us, 5);
    assert_true(clock.now_us - truth == starts[i].now_us);
    assert_true(hw__guarded_clock_settled(&clock) == starts[i].settled);
  }
  /* Ahead of the wall clock, as many as not: they are right, but for those a day apart from the others. */
  int64_t two[] = {truth - hour, truth + hour}, four[] = {truth + hour, truth - hour, truth + 2 * hour, truth + year};
  hw__guarded_clock clock;
  hw__guarded_clock_start(&clock, two, 2, truth, 5);
  assert_true(clock.now_us == truth);
  hw__guarded_clock_start(&clock, four, 4, truth, 5);
  assert_true(clock.now_us == truth + 2 * hour);
  int64_t halves[] = {truth + hour, truth + day + hour + 1, truth + 2 * hour + day};
  hw__guarded_clock_start(&clock, halves, 2, truth, 5);
  assert_true(clock.now_us == truth + hour);
  int64_t close[] = {truth + hour, truth + hour + day};
  hw__guarded_clock_start(&clock, close, 2, truth, 5);
  assert_true(clock.now_us == truth + hour + day);
  for (int64_t beyond = 0; beyond < 2; beyond++) {
    hw__guarded_clock_start(&clock, NULL, 0, truth, 5);
    hw__guarded_clock_compare(&clock, truth - hour - day - beyond);
    assert_true(hw__guarded_clock_settled(&clock) == !beyond);
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
      cmocka_unit_test(test_the_bounds_of_a_step),
      cmocka_unit_test(test_what_stood_for_an_hour_is_the_floor),
      cmocka_unit_test(test_the_bounds_of_a_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

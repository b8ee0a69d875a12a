/* The bounded history of the posterior engine, and the record in order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "posterior/history.h"
#include "posterior/record.h"

enum { CAPACITY = 48 };

static hw__entry entry_at(double time_s, double value) {
  return (hw__entry){.time_s = time_s,
                     .value_g_m3 = value,
                     .count = 1,
                     .first_s = time_s,
                     .last_s = time_s,
                     .variance = 0.04,
                     .share = 1};
}

static void test_merging_keeps_counts_and_moments(void **state) {
  (void)state;
  hw__history h;
  assert_true(hw__history_create(2, CAPACITY, &h));
  double count = 0, sum_t = 0, sum_c = 0, sum_tt = 0, sum_tc = 0;
  for (int i = 0; i < 3000; i++) {
    const double t = 7.3 * i, c = 2 + exp(-0.5 * pow((t - 9000) / 800, 2)) + 0.01 * ((i * 37) % 11);
    const hw__entry e = entry_at(t, c);
    hw__history_insert(&h, (size_t)(i % 2), &e);
    assert_true(hw__history_count(&h) <= CAPACITY);
    count += 1;
    sum_t += t;
    sum_c += c;
    sum_tt += t * t;
    sum_tc += t * c;
  }
  double kept = 0, kept_t = 0, kept_c = 0, kept_tt = 0, kept_tc = 0;
  for (size_t i = 0; i < hw__history_count(&h); i++) {
    const hw__entry *e = &h.entries[i];
    kept += e->count;
    kept_t += e->count * e->time_s;
    kept_c += e->count * e->value_g_m3;
    kept_tt += e->count * (e->spread_s2 + e->time_s * e->time_s);
    kept_tc += e->count * (e->slope_g_s + e->time_s * e->value_g_m3);
  }
  check_near(kept, count, 0);
  check_near(kept_t, sum_t, 1e-9 * sum_t);
  check_near(kept_c, sum_c, 1e-9 * sum_c);
  check_near(kept_tt, sum_tt, 1e-9 * sum_tt);
  check_near(kept_tc, sum_tc, 1e-9 * sum_tc);
  hw__history_free(&h);
}

/* A pulse of 800 s in 25 days of quiet: what room there is must go to the pulse. */
static void test_the_pulse_stays_finer_than_the_quiet(void **state) {
  (void)state;
  hw__history h;
  assert_true(hw__history_create(1, CAPACITY, &h));
  for (int i = 0; i < 36000; i++) {
    const double t = 60.0 * i;
    const hw__entry e = entry_at(t, exp(-0.5 * pow((t - 90000) / 800, 2)));
    hw__history_insert(&h, 0, &e);
  }
  double widest = 0;
  for (size_t i = 0; i < hw__history_count(&h); i++) {
    const hw__entry *e = &h.entries[i];
    if (fabs(e->time_s - 90000) < 1600) {
      widest = fmax(widest, e->last_s - e->first_s);
    }
  }
  assert_true(widest < 400); /* half a standard deviation */
  hw__history_free(&h);
}

static void test_what_cannot_be_merged_still_fits(void **state) {
  (void)state;
  hw__history h;
  assert_true(hw__history_create(3, CAPACITY, &h));
  for (int i = 0; i < 1000; i++) {
    hw__entry e = entry_at(11.0 * i, 0.5);
    e.below_limit = i % 2; /* readings and non-detects in turn */
    const size_t at = hw__history_insert(&h, 1, &e);
    assert_true(h.entries[at].time_s == e.time_s);
    assert_true(hw__history_count(&h) <= CAPACITY);
  }
  hw__history_free(&h);
}

static void test_late_entries_take_their_place(void **state) {
  (void)state;
  hw__history h;
  assert_true(hw__history_create(2, CAPACITY, &h));
  const double times[] = {5, 1, 3, 9, 7};
  for (size_t i = 0; i < 5; i++) {
    const hw__entry e = entry_at(times[i], times[i]);
    hw__history_insert(&h, i % 2, &e);
  }
  assert_true(hw__history_has(&h, 0, 3) && hw__history_has(&h, 1, 9));
  assert_false(hw__history_has(&h, 1, 3));
  for (size_t i = 1; i < h.start[1]; i++) {
    assert_true(h.entries[i].time_s > h.entries[i - 1].time_s);
  }
  hw__history_free(&h);
}

/* Room for 48 bins over 150 standard deviations of a pulse. In clear water they gather on the pulse; under noise
 * nothing is quiet enough to be merged first, and they lie 190 s apart where the pulse rises and falls within 60. */
static void test_blur_tells_when_bins_are_too_wide(void **state) {
  (void)state;
  double blur[2], widest[2];
  for (int noisy = 0; noisy < 2; noisy++) {
    hw__history h;
    assert_true(hw__history_create(1, CAPACITY, &h));
    for (int i = 0; i < 60000; i++) {
      const double t = 0.15 * i, noise = 0.2 * noisy * ((i * 7919) % 10007 - 5003) / 2900.0;
      const hw__entry e = entry_at(t, exp(-0.5 * pow((t - 4500) / 60, 2)) + noise);
      hw__history_insert(&h, 0, &e);
    }
    blur[noisy] = hw__history_blur(&h, 0, 0, 60, &widest[noisy]);
    hw__history_free(&h);
  }
  check_near(blur[0], 0, 1);
  assert_true(blur[1] > 1 && widest[1] > 60);
}

static void test_the_record_is_ordered_and_knows_duplicates(void **state) {
  (void)state;
  hw__record record;
  assert_true(hw__record_create(64, &record));
  const hw_reading given[] = {
      {1, 5, 0.1, false, false}, {0, 5, 0.2, false, false}, {1, 2, 0.3, false, false}, {0, 9, 0.4, true, false}};
  bool found;
  for (size_t i = 0; i < 4; i++) {
    const size_t at = hw__record_place(&record, &given[i], &found);
    assert_false(found);
    hw__record_insert(&record, at, &given[i]);
  }
  const double order[] = {0.3, 0.2, 0.1, 0.4};
  for (size_t i = 0; i < 4; i++) {
    assert_true(record.readings[i].concentration_g_m3 == order[i]);
  }
  assert_int_equal(hw__record_place(&record, &(hw_reading){1, 5, 0.7, false, false}, &found), 2);
  assert_true(found);
  hw__record_free(&record);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_merging_keeps_counts_and_moments),
      cmocka_unit_test(test_the_pulse_stays_finer_than_the_quiet),
      cmocka_unit_test(test_what_cannot_be_merged_still_fits),
      cmocka_unit_test(test_late_entries_take_their_place),
      cmocka_unit_test(test_blur_tells_when_bins_are_too_wide),
      cmocka_unit_test(test_the_record_is_ordered_and_knows_duplicates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ISO 8601 instants, there and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "headwater/headwater.h"

static void test_instants_match_date_u(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double unix_s;
  } cases[] = {
      /* date -u -d TEXT +%s */
      {"1970-01-01T00:00:00Z", 0},
      {"2026-03-01T08:15:00Z", 1772352900},
      {"2024-02-29T23:59:59Z", 1709251199},
      {"1969-12-31T23:59:59.5Z", -0.5},
      {"2026-03-01T08:15+01:00", 1772349300},
      {"2026-03-01 08:15:00-0730", 1772379900},
      {"2026-03-01t08:15:00z", 1772352900},
      {"2000-12-31T00:00:00+14", 978170400},
      {"0000-03-01T00:00:00Z", -62162035200.0},
      {"2016-12-31T23:59:60Z", 1483228800},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double unix_s = NAN;
    assert_int_equal(hw_time_parse(cases[i].text, &unix_s), HW_OK);
    assert_true(unix_s == cases[i].unix_s);
  }
}

static void test_everything_else_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "2026-03-01",
      "2026-03-01T08:15:00",
      "2026-13-01T08:15:00Z",
      "2026-02-29T08:15:00Z",
      "12:30Z",
      "2026-03-01T24:00:00Z",
      "2026-03-01T08:61:00Z",
      "2026-03-01T08:15:00.Z",
      "2026-03-01T08:15:00Zx",
      "20260301T081500Z",
      "2026-03-01T08:15:00+1",
      "2026-03-01T08:15:00+25:00",
      "2026-03-01T08:15:61Z",
      "yesterday",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    double unix_s = 14.2;
    assert_int_equal(hw_time_parse(texts[i], &unix_s), HW_EINPUT);
    assert_true(unix_s == 14.2);
  }
}

static void test_formatting_and_parsing_are_inverse(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 0);
  for (int i = 0; i < 5000; i++) {
    const double unix_s = floor(1e9 * (8 * hw_rng_uniform(&rng) - 3)) + 0.001 * (i % 1000);
    char text[40];
    hw_time_format(unix_s, text, sizeof text);
    double back = NAN;
    assert_int_equal(hw_time_parse(text, &back), HW_OK);
    assert_true(fabs(back - unix_s) < 2e-6); /* a double of 5e9 s resolves 1e-6 s */
  }
}

static void test_decimals_only_when_needed(void **state) {
  (void)state;
  char text[40];
  hw_time_format(1772352900, text, sizeof text);
  assert_string_equal(text, "2026-03-01T08:15:00Z");
  hw_time_format(1772352900.25, text, sizeof text);
  assert_string_equal(text, "2026-03-01T08:15:00.250Z");
  hw_time_format(-0.5, text, sizeof text);
  assert_string_equal(text, "1969-12-31T23:59:59.500Z");
  hw_time_format(NAN, text, sizeof text);
  assert_string_equal(text, "?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_instants_match_date_u),
      cmocka_unit_test(test_everything_else_is_refused),
      cmocka_unit_test(test_formatting_and_parsing_are_inverse),
      cmocka_unit_test(test_decimals_only_when_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Numbers, instants, dates and time zones against the C library, on texts and instants drawn at random. */
#include <math.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "io/date.h"
#include "io/number.h"
#include "io/zone.h"

/* The text in memory of its own, without an end: whoever looks behind it is seen by the address sanitizer. */
static hw__slice exactly(const char *text) {
  const size_t size = strlen(text);
  char *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, text, size);
  return (hw__slice){copy, size};
}

static size_t below(hw_rng *rng, size_t n) {
  return (size_t)(hw_rng_uniform(rng) * (double)n);
}

static bool matches(const char *pattern, const char *text) {
  static regex_t compiled;
  static const char *known;
  if (known != pattern) {
    if (known) {
      regfree(&compiled);
    }
    assert_int_equal(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB), 0);
    known = pattern;
  }
  return regexec(&compiled, text, 0, NULL, 0) == 0;
}

static void test_a_number_is_what_the_grammar_says_with_the_value_of_strtod(void **state) {
  (void)state;
  static const char pattern[] = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$";
  static const char letters[] = "0123456789001199..--+eE x";
  hw_rng rng;
  hw_rng_seed(&rng, 37, 0);
  size_t good = 0;
  for (int i = 0; i < 60000; i++) {
    char text[24] = {0};
    const size_t length = 1 + below(&rng, i % 3 ? 7 : 22);
    for (size_t k = 0; k < length; k++) {
      text[k] = letters[below(&rng, sizeof letters - 1)];
    }
    const double expected = strtod(text, NULL);
    const bool is_one = matches(pattern, text) && isfinite(expected);
    double value = 14.2;
    const hw__slice alone = exactly(text);
    const bool taken = hw__number_parse(alone, &value);
    free((char *)alone.text);
    if (taken != is_one || value != (is_one ? expected : 14.2)) {
      fail_msg("'%s' gives %.17g, expected %s%.17g", text, value, is_one ? "" : "none, not ", expected);
    }
    good += is_one;
  }
  assert_true(good > 5000);
}

/* Reads what the pattern of test_instants... has let through; false for days and hours that do not exist. */
static bool read_instant(const char *text, double *unix_s) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
  double second = 0;
  if (sscanf(text, "%4d-%2d-%2d%*1[Tt ]%2d:%2d%n", &year, &month, &day, &hour, &minute, &used) != 5) {
    return false;
  }
  const char *rest = text + used;
  if (*rest == ':') {
    char digits[32] = {0};
    const size_t length = strspn(rest + 1, "0123456789.,");
    memcpy(digits, rest + 1, length);
    digits[strcspn(digits, ",")] = strchr(digits, ',') ? '.' : '\0';
    second = strtod(digits, NULL);
    rest += 1 + length;
  }
  int sign = *rest == '-' ? -1 : *rest == '+' ? 1 : 0, hours = 0, minutes = 0;
  if (sign) {
    sscanf(rest + 1, "%2d", &hours);
    const char *behind = rest + 3;
    sscanf(behind + (*behind == ':'), "%2d", &minutes);
  }
  struct tm calendar = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
  const struct tm asked = calendar;
  const time_t midnight = timegm(&calendar);
  *unix_s = (double)midnight + 3600 * hour + 60 * minute + second - sign * (3600 * hours + 60 * minutes);
  return calendar.tm_mday == asked.tm_mday && calendar.tm_mon == asked.tm_mon && month >= 1 && hour < 24 &&
         minute < 60 && second < 61 && hours < 24 && minutes < 60;
}

static void test_an_instant_is_what_the_grammar_says_with_the_value_of_timegm(void **state) {
  (void)state;
  static const char pattern[] =
      "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
      "([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$";
  static const char *const forms[] = {"2026-03-01T08:15:00Z", "1999-12-31t23:59:60.25z", "2024-02-29 00:00+01:00",
                                      "2000-10-19T20:39:07,5-0730", "1601-01-01T19:00:00+14"};
  static const char letters[] = "0011223456789-:TtZz+., ";
  hw_rng rng;
  hw_rng_seed(&rng, 14, 0);
  size_t good = 0;
  for (int i = 0; i < 60000; i++) {
    char text[40];
    snprintf(text, sizeof text, "%s", forms[below(&rng, 5)]);
    for (size_t changes = 1 + below(&rng, 3); changes > 0; changes--) {
      text[below(&rng, strlen(text))] = letters[below(&rng, sizeof letters - 1)];
    }
    double expected = NAN, value = 14.2;
    const bool is_one = matches(pattern, text) && read_instant(text, &expected);
    const bool taken = hw_time_parse(text, &value) == HW_OK;
    if (taken != is_one || fabs(value - (is_one ? expected : 14.2)) > 1e-5) {
      fail_msg("'%s' gives %.17g, expected %s%.17g", text, value, is_one ? "" : "none, not ", expected);
    }
    good += is_one;
  }
  assert_true(good > 5000);
}

static void test_dates_of_every_form_are_what_strftime_wrote(void **state) {
  (void)state;
  static const struct {
    const char *format;
    hw_time_form form;
    int step_s; /* what the format can tell */
    bool digits;
  } forms[] = {
      {"%d.%m.%Y %H:%M:%S", HW_TIME_DMY, 1, false},
      {"%d.%m.%y %H:%M", HW_TIME_DMY, 60, false},
      {"%d-%b-%Y %H:%M", HW_TIME_DMY, 60, false},
      {"%d/%m/%Y", HW_TIME_DMY, 86400, false},
      {"%m/%d/%Y %I:%M:%S %p", HW_TIME_MDY, 1, false},
      {"%m/%d/%y %I:%M %p", HW_TIME_MDY, 60, false},
      {"%Y/%m/%dT%H:%M", HW_TIME_YMD, 60, false},
      {"%Y-%m-%d, %H:%M:%S", HW_TIME_YMD, 1, false},
      {"%Y.%m.%d", HW_TIME_YMD, 86400, false},
      {"%Y%m%d", HW_TIME_YMD, 86400, true},
      {"%Y%m%dT%H%M%S", HW_TIME_YMD, 1, true},
      {"%Y%m%d %H%M", HW_TIME_YMD, 60, true},
      {"%d%m%Y", HW_TIME_DMY, 86400, true},
      {"%m%d%y %H%M", HW_TIME_MDY, 60, true},
  };
  hw_rng rng;
  hw_rng_seed(&rng, 5, 0);
  for (size_t i = 0; i < 20000; i++) {
    const size_t k = i % (sizeof forms / sizeof forms[0]);
    /* 1980 to 2049: years of two digits mean these */
    const time_t at = (time_t)(315532800 + hw_rng_uniform(&rng) * 2.2e9) / forms[k].step_s * forms[k].step_s;
    struct tm calendar;
    char text[64];
    assert_non_null(gmtime_r(&at, &calendar));
    strftime(text, sizeof text, forms[k].format, &calendar);
    hw__date date = {0};
    const hw__slice alone = exactly(text);
    const bool good = (forms[k].digits ? hw__date_parse_digits : hw__date_parse)(alone, forms[k].form, &date);
    free((char *)alone.text);
    if (!good || date.local_s != (double)at || date.has_offset || date.has_clock != (forms[k].step_s < 86400)) {
      fail_msg("'%s' (%s): %d %.0f, expected %ld", text, forms[k].format, good, date.local_s, (long)at);
    }
  }
}

static void test_clocks_are_what_strftime_wrote(void **state) {
  (void)state;
  static const char *const formats[] = {"%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%H%M", "%H%M%S"};
  for (time_t at = 0; at < 86400; at += 37) {
    struct tm calendar;
    gmtime_r(&at, &calendar);
    for (size_t k = 0; k < 5; k++) {
      char text[32];
      double seconds = -1;
      strftime(text, sizeof text, formats[k], &calendar);
      const hw__slice alone = exactly(text);
      const bool good = (k < 3 ? hw__clock_parse : hw__clock_parse_digits)(alone, &seconds);
      free((char *)alone.text);
      const double expected = (double)(k == 1 || k == 3 ? at / 60 * 60 : at);
      if (!good || seconds != expected) {
        fail_msg("'%s': %d %.0f, expected %.0f", text, good, seconds, expected);
      }
    }
  }
}

/* Every beginning of a good text is read or refused without a look behind it. */
static void test_nothing_looks_behind_a_text(void **state) {
  (void)state;
  static const char *const texts[] = {"3/1/2026 8:15:00.25 a.m. EST",
                                      "1-Mar-2026 08:15:00,5 PM +01:00",
                                      "2026-03-01T08:15:00.5-05:00",
                                      "20260301T081500Z",
                                      "-1234.5678e-12",
                                      "010326 0815 UTC"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    for (size_t size = 0; size <= strlen(texts[i]); size++) {
      char text[40] = {0};
      memcpy(text, texts[i], size);
      const hw__slice alone = exactly(text);
      double value;
      hw__date date;
      for (hw_time_form form = HW_TIME_YMD; form <= HW_TIME_MDY; form++) {
        hw__date_parse(alone, form, &date);
        hw__date_parse_digits(alone, form, &date);
      }
      hw__number_parse(alone, &value);
      hw__clock_parse(alone, &value);
      hw__clock_parse_digits(alone, &value);
      hw__zone_offset_named(alone, &value);
      free((char *)alone.text);
    }
  }
}

static void test_a_zone_is_no_path(void **state) {
  (void)state;
  static const char *const names[] = {"/UTC", "/usr/share/zoneinfo/UTC", "../zoneinfo/UTC", "Europe/../UTC", "",
                                      "/",    "Europe/Nowhere"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    hw__zone *zone = NULL;
    hw_error error = {""};
    assert_int_equal(hw__zone_open(names[i], &zone, &error), HW_EINPUT);
    assert_true(!zone && error.text[0]);
  }
}

static void test_a_zone_has_an_offset_at_any_number(void **state) {
  (void)state;
  static const double times[] = {4.6e129, -4.6e129, 1e300, -1e18, 1e18, 9.3e18};
  hw__zone *zone = NULL;
  hw_error error;
  assert_int_equal(hw__zone_open("Europe/Berlin", &zone, &error), HW_OK);
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    const double offset_s = hw__zone_offset(zone, times[i]);
    assert_true(fabs(offset_s) <= 7200);
  }
  hw__zone_free(zone);
}

static double offset_by_libc(double unix_s) {
  const time_t at = (time_t)unix_s;
  struct tm calendar;
  localtime_r(&at, &calendar);
  return (double)calendar.tm_gmtoff;
}

/* How many of the instants about local_s show it on the clocks there, by the C library; found in *unix_s. */
static size_t instants_by_libc(double local_s, double unix_s[2]) {
  size_t n = 0;
  for (double offset_s = 15 * 3600; offset_s >= -13 * 3600; offset_s -= 900) {
    if (n < 2 && offset_by_libc(local_s - offset_s) == offset_s) {
      unix_s[n++] = local_s - offset_s;
    }
  }
  return n;
}

static void check_at(const hw__zone *zone, const char *name, double unix_s) {
  const double offset_s = offset_by_libc(unix_s);
  if (hw__zone_offset(zone, unix_s) != offset_s) {
    fail_msg("%s at %.0f: %.0f, expected %.0f", name, unix_s, hw__zone_offset(zone, unix_s), offset_s);
  }
  double expected[2] = {0}, found[2] = {0};
  const size_t n = instants_by_libc(unix_s + offset_s, expected), m = hw__zone_instants(zone, unix_s + offset_s, found);
  if (n != m || found[0] != expected[0] || (n == 2 && found[1] != expected[1])) {
    fail_msg("%s, clocks at %.0f: %zu instants, expected %zu", name, unix_s + offset_s, m, n);
  }
}

static void test_zones_are_those_of_the_c_library(void **state) {
  (void)state;
  static const char *const names[] = {"Europe/Berlin", "America/New_York",    "Australia/Sydney", "Asia/Kolkata",
                                      "Europe/Dublin", "America/Sao_Paulo",   "Africa/Cairo",     "UTC",
                                      "Asia/Tehran",   "America/Los_Angeles", "Pacific/Auckland", "America/St_Johns"};
  hw_rng rng;
  hw_rng_seed(&rng, 12, 0);
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    hw__zone *zone = NULL;
    hw_error error;
    assert_int_equal(hw__zone_open(names[k], &zone, &error), HW_OK);
    setenv("TZ", names[k], 1);
    tzset();
    double before_s = 0;
    for (int i = 0; i < 3000; i++) {
      check_at(zone, names[k], before_s = floor((i % 3 ? 1.6e9 : 4.2e9) * hw_rng_uniform(&rng)) + (i % 3 ? 5e8 : 0));
    }
    /* Every turn of some years, from its last second to an hour behind it; 2090 is beyond the tables, by the rule. */
    for (int years = 0; years < 2; years++) {
      const double from_s = years ? 3786912000.0 : 1420070400.0;
      before_s = offset_by_libc(from_s);
      for (double at = from_s; at < from_s + 3 * 366 * 86400.0; at += 1800) {
        if (offset_by_libc(at) != before_s) {
          for (int step = -3; step <= 4; step++) {
            check_at(zone, names[k], at + 900 * step);
            check_at(zone, names[k], at + 900 * step - 1);
          }
          before_s = offset_by_libc(at);
        }
      }
    }
    hw__zone_free(zone);
  }
  unsetenv("TZ");
  tzset();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_number_is_what_the_grammar_says_with_the_value_of_strtod),
      cmocka_unit_test(test_an_instant_is_what_the_grammar_says_with_the_value_of_timegm),
      cmocka_unit_test(test_dates_of_every_form_are_what_strftime_wrote),
      cmocka_unit_test(test_clocks_are_what_strftime_wrote),
      cmocka_unit_test(test_nothing_looks_behind_a_text),
      cmocka_unit_test(test_a_zone_is_no_path),
      cmocka_unit_test(test_a_zone_has_an_offset_at_any_number),
      cmocka_unit_test(test_zones_are_those_of_the_c_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Dates, clocks and time zones to their last bound: what the C library says of the same day and rule is what we say,
 * and a text ends where its slice ends, whatever stands behind it. */
#include <math.h>
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
#include "io/time.h"
#include "io/zone.h"
#include "io/zone_rule.h"

typedef bool parser(hw__slice text, hw_time_form form, hw__date *out);

static bool parse_clock(hw__slice text, hw_time_form form, hw__date *out) {
  (void)form;
  return hw__clock_parse(text, &out->local_s);
}

static bool parse_clock_digits(hw__slice text, hw_time_form form, hw__date *out) {
  (void)form;
  return hw__clock_parse_digits(text, &out->local_s);
}

static bool parse_instant(hw__slice text, hw_time_form form, hw__date *out) {
  (void)form;
  return hw__time_parse(text, &out->local_s);
}

typedef struct {
  const char *text;
  hw_time_form form;
  double local_s; /* NAN: no date */
} expectation;

/* A copy that ends with its last byte, so that the sanitizer sees a look behind it; to be freed. */
static hw__slice exact(const char *text) {
  const size_t size = strlen(text);
  char *copy = malloc(size);
  assert_true(copy || !size);
  memcpy(copy, text, size);
  return (hw__slice){copy, size};
}

static void drop(hw__slice copy) {
  free((void *)(uintptr_t)copy.text);
}

/* Read as a slice of a longer text: what stands behind it changes nothing. */
static void expect_parsed(parser *parse, const expectation *cases, size_t count) {
  static const char *const behind[] = {"", "0", "7", "m", ".", ":00", "Z", "a", " ", "T08"};
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < sizeof behind / sizeof behind[0]; k++) {
      char text[80];
      snprintf(text, sizeof text, "%s%s", cases[i].text, behind[k]);
      hw__date date = {.local_s = -14.2};
      const bool good = parse((hw__slice){text, strlen(cases[i].text)}, cases[i].form, &date);
      /* A fraction is summed from its digits: within the rounding of a double of 2e9. */
      if (good == isnan(cases[i].local_s) || (good && fabs(date.local_s - cases[i].local_s) > 5e-7)) {
        fail_msg("'%s' before '%s': %d %.6f", cases[i].text, behind[k], good, date.local_s);
      }
    }
    hw__date date;
    const hw__slice alone = exact(cases[i].text);
    assert_int_equal(parse(alone, cases[i].form, &date), !isnan(cases[i].local_s));
    drop(alone);
  }
}

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define Y           HW_TIME_YMD
#define D           HW_TIME_DMY
#define M           HW_TIME_MDY

/* date -u -d 2026-03-01 +%s and so on */
#define MARCH_1  1772323200.0
#define YEAR_70  0.0
#define YEAR_69  3124224000.0 /* 2069-01-01 */
#define DECEMBER 1798675200.0 /* 2026-12-31 */

static void test_dates_with_marks(void **state) {
  (void)state;
  static const expectation cases[] = {
      {"2026-03-01", Y, MARCH_1},
      {"2026.3.1", Y, MARCH_1},
      {"2026/3/01", Y, MARCH_1},
      {"2026 3 1", Y, MARCH_1},
      {"2026-MARCH-01", Y, MARCH_1},
      {"2026-mar-01", Y, MARCH_1},
      {"2026-Marz-01", Y, MARCH_1}, /* abbreviated by whoever likes */
      {"2026-Mar{-01", Y, NAN},
      {"1..2026", D, NAN},
      {"..", D, NAN},
      {"1.3.x08:15", D, NAN},
      {"1 Mar 2026", D, MARCH_1},
      {"Mar 1 2026", M, MARCH_1},
      {"01.03.26", D, MARCH_1},
      {"1/1/70", D, YEAR_70},
      {"1/1/69", M, YEAR_69},
      {"31.12.2026", D, DECEMBER},
      {"12/31/26", M, DECEMBER},
      {"26-03-01", Y, NAN}, /* two digits of the year only where it stands last */
      {"1.3.026", D, NAN},
      {"1.3.20260", D, NAN},
      {"1.3.6", D, NAN},
      {"001.3.2026", D, NAN},
      {"1.003.2026", D, NAN},
      {"0.3.2026", D, NAN},
      {"1.0.2026", D, NAN},
      {"1.13.2026", D, NAN},
      {"32.12.2026", D, NAN},
      {"30.02.2024", D, NAN},
      {"29.02.2024", D, 1709164800},
      {"29.02.2100", D, NAN},
      {"29.02.2000", D, 951782400},
      {"31.04.2026", D, NAN},
      {"mar.3.2026", D, NAN}, /* a month's name is no day */
      {"1.3.mar", D, NAN},
      {"1 Ma 2026", D, NAN},
      {"Ma", M, NAN},
      {"1-Mar/2026", D, NAN},
      {"1.3", D, NAN},
      {"1.3.", D, NAN},
      {"1_3_2026", D, NAN},
      {"2026-03-01", HW_TIME_OPEN, NAN},
      {"2026-03-01", HW_TIME_EXCEL, NAN},
      {"2026-03-01x", Y, NAN},
      {"2026-03-01T", Y, NAN},
      {"2026-03-01 ", Y, NAN},
  };
  expect_parsed(hw__date_parse, cases, COUNT(cases));
}

static void test_every_month_has_its_name_and_its_last_day(void **state) {
  (void)state;
  static const char *const names[] = {"jan", "Feb", "MAR", "apr", "May", "JUN",
                                      "jul", "Aug", "SEP", "oct", "Nov", "DEC"};
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int month = 1; month <= 12; month++) {
    struct tm at = {.tm_year = 126, .tm_mon = month - 1, .tm_mday = days[month - 1], .tm_hour = 14, .tm_min = 37};
    char text[40];
    hw__date date;
    snprintf(text, sizeof text, "%d-%s-2026 14:37", days[month - 1], names[month - 1]);
    assert_true(hw__date_parse((hw__slice){text, strlen(text)}, HW_TIME_DMY, &date));
    assert_true(date.local_s == (double)timegm(&at) && date.has_clock && !date.has_offset);
    snprintf(text, sizeof text, "%d-%s-2026", days[month - 1] + 1, names[month - 1]);
    assert_false(hw__date_parse((hw__slice){text, strlen(text)}, HW_TIME_DMY, &date));
  }
}

static void test_clocks_behind_a_date(void **state) {
  (void)state;
  static const expectation cases[] = {
      {"2026-03-01T08:15", Y, MARCH_1 + 29700},
      {"2026-03-01t8:15", Y, MARCH_1 + 29700},
      {"2026-03-01  08:15", Y, MARCH_1 + 29700},
      {"3/1/2026, 8:15:37", M, MARCH_1 + 29737},
      {"3/1/2026_8:15:37", M, NAN},
      {"2026-03-01 00:00", Y, MARCH_1},
      {"2026-03-01 23:59:59", Y, MARCH_1 + 86399},
      {"2026-03-01 23:59:60", Y, MARCH_1 + 86400}, /* a leap second */
      {"2026-03-01 24:00", Y, MARCH_1 + 86400},
      {"2026-03-01 24:00:01", Y, NAN},
      {"2026-03-01 24:01", Y, NAN},
      {"2026-03-01 25:00", Y, NAN},
      {"2026-03-01 08:60", Y, NAN},
      {"2026-03-01 08:15:61", Y, NAN},
      {"2026-03-01 08:15:07.142", Y, MARCH_1 + 29707.142},
      {"2026-03-01 08:15:07,9", Y, MARCH_1 + 29707.9},
      {"2026-03-01 08:15:07.5090", Y, MARCH_1 + 29707.509},
      {"2026-03-01 08:15:07.", Y, MARCH_1 + 29707},
      {"2026-03-01 08:15.5", Y, NAN},
      {"2026-03-01 08:15:", Y, NAN},
      {"2026-03-01 08:15:07:07", Y, NAN},
      {"2026-03-01 08", Y, NAN},
      {"2026-03-01 008:15", Y, NAN},
      {"2026-03-01 08:015", Y, NAN},
      {"2026-03-01 :15", Y, NAN},
      {"2026-03-01 08:Mar", Y, NAN},
      {"2026-03-01 1:15 am", Y, MARCH_1 + 4500},
      {"2026-03-01 12:15 AM", Y, MARCH_1 + 900},
      {"2026-03-01 12:15 pm", Y, MARCH_1 + 44100},
      {"2026-03-01 11:15PM", Y, MARCH_1 + 83700},
      {"2026-03-01 11:15 P.M.", Y, MARCH_1 + 83700},
      {"2026-03-01 11:15 p.m", Y, MARCH_1 + 83700},
      {"2026-03-01 11:15:07.5 pm", Y, MARCH_1 + 83707.5},
      {"2026-03-01 11:15 pm.", Y, NAN}, /* a full stop at the end, and none before */
      {"2026-03-01 0:15 am", Y, NAN},
      {"2026-03-01 13:15 pm", Y, NAN},
      {"2026-03-01 11:15 p", Y, NAN},
      {"2026-03-01 11:15 p.", Y, NAN},
      {"2026-03-01 11:15 px", Y, NAN},
      {"2026-03-01 11:15 xm", Y, NAN},
  };
  expect_parsed(hw__date_parse, cases, COUNT(cases));
}

static void test_offsets_behind_a_clock(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double offset_s;
  } cases[] = {{"2026-03-01 08:15Z", 0},           {"2026-03-01 08:15 CET", 3600},     {"2026-03-01 08:15+01:00", 3600},
               {"2026-03-01 08:15 -0330", -12600}, {"2026-03-01 8:15 am NST", -12600}, {"20260301T0815Z", 0},
               {"20260301 081537+14", 50400},      {"202603010815 -03:30", -12600},    {"20260301 08:15 EDT", -14400}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    const hw__slice text = {cases[i].text, strlen(cases[i].text)};
    hw__date date;
    assert_true(memchr(text.text + 5, '-', 3) ? hw__date_parse(text, Y, &date) : hw__date_parse_digits(text, Y, &date));
    assert_true(date.has_offset && date.has_clock && date.offset_s == cases[i].offset_s);
    assert_true(date.local_s == MARCH_1 + 29700 || date.local_s == MARCH_1 + 29737);
  }
  hw__date date;
  assert_true(hw__date_parse((hw__slice){"2026-03-01 08:15 ", 17}, Y, &date));
  assert_false(date.has_offset);
  assert_true(hw__date_parse((hw__slice){"2026-03-01", 10}, Y, &date));
  assert_false(date.has_offset || date.has_clock);
  assert_true(hw__date_parse_digits((hw__slice){"20260301", 8}, Y, &date));
  assert_false(date.has_offset || date.has_clock);
}

static void test_dates_without_marks(void **state) {
  (void)state;
  static const expectation cases[] = {
      {"20260301", Y, MARCH_1},
      {"260301", Y, MARCH_1},
      {"010326", D, MARCH_1},
      {"01032026", D, MARCH_1},
      {"030126", M, MARCH_1},
      {"03012026", M, MARCH_1},
      {"700101", Y, YEAR_70},
      {"690101", Y, YEAR_69},
      {"202603010815", Y, MARCH_1 + 29700},
      {"20260301081537", Y, MARCH_1 + 29737},
      {"030120260815", M, MARCH_1 + 29700},
      {"01032026081537", D, MARCH_1 + 29737},
      {"20260301T0815", Y, MARCH_1 + 29700},
      {"20260301t081537", Y, MARCH_1 + 29737},
      {"260301 0815", Y, MARCH_1 + 29700},
      {"20260301 08:15:37.5", Y, MARCH_1 + 29737.5},
      {"20260301 2400", Y, MARCH_1 + 86400},
      {"20260301 235960", Y, MARCH_1 + 86400},
      {"20260301 2401", Y, NAN},
      {"20260301 240001", Y, NAN},
      {"20260301 2500", Y, NAN},
      {"20260301 0860", Y, NAN},
      {"20260301 081561", Y, NAN},
      {"20260301 08153", Y, NAN},
      {"20260301 081", Y, NAN},
      {"20260301 0815370", Y, NAN},
      {"20260301_0815", Y, NAN},
      {"202603010815 x", Y, NAN},
      {"20260301081561", Y, NAN},
      {"20260301 ", Y, NAN},
      {"20260301T", Y, NAN},
      {"2026030", Y, NAN},
      {"202603011", Y, NAN},
      {"2026030108", Y, NAN},
      {"20260301081", Y, NAN},
      {"2026030108153", Y, NAN},
      {"202603010815370", Y, NAN},
      {"26030", Y, NAN},
      {"", Y, NAN},
      {"20261301", Y, NAN},
      {"20260230", Y, NAN},
      {"20260301", HW_TIME_OPEN, NAN},
      {"20260301", HW_TIME_EXCEL, NAN},
  };
  expect_parsed(hw__date_parse_digits, cases, COUNT(cases));
}

static void test_clocks_alone(void **state) {
  (void)state;
  static const expectation clocks[] = {{"08:15", Y, 29700}, {"8:15:37", Y, 29737}, {"8:15 pm", Y, 72900},
                                       {"24:00", Y, 86400}, {"24:00:01", Y, NAN},  {"8:15:37.25", Y, 29737.25},
                                       {"8:15 ", Y, NAN},   {"8:15 CET", Y, NAN},  {"8", Y, NAN},
                                       {"", Y, NAN}};
  static const expectation digits[] = {{"0815", Y, 29700},  {"081537", Y, 29737}, {"2400", Y, 86400}, {"2401", Y, NAN},
                                       {"08153", Y, NAN},   {"081", Y, NAN},      {"0815 ", Y, NAN},  {"", Y, NAN},
                                       {"0815370", Y, NAN}, {"235960", Y, 86400}, {"240001", Y, NAN}};
  expect_parsed(parse_clock, clocks, COUNT(clocks));
  expect_parsed(parse_clock_digits, digits, COUNT(digits));
}

static void test_instants_to_the_last_bound(void **state) {
  (void)state;
  static const expectation cases[] = {
      {"2026-03-01T00:00:00+23:59", Y, MARCH_1 - 86340},
      {"2026-03-01T00:00:00-2359", Y, MARCH_1 + 86340},
      {"2026-03-01T00:00:00+01", Y, MARCH_1 - 3600},
      {"2026-03-01T00:00:00+24:00", Y, NAN},
      {"2026-03-01T00:00:00+23:60", Y, NAN},
      {"2026-03-01T00:00:00+23:", Y, NAN},
      {"2026-03-01T00:00:00+23:5", Y, NAN},
      {"2026-03-01T00:00:00+2", Y, NAN},
      {"2026-03-01T00:00:00+", Y, NAN},
      {"2026-03-01T23:59:60Z", Y, MARCH_1 + 86400},
      {"2026-03-01T23:59:61Z", Y, NAN},
      {"2026-03-01T23:60Z", Y, NAN},
      {"2026-03-01T24:00Z", Y, NAN},
      {"2026-03-01T08:15:07.142Z", Y, MARCH_1 + 29707.142},
      {"2026-03-01T08:15:07,059z", Y, MARCH_1 + 29707.059},
      {"2026-03-01T08:15:07.Z", Y, NAN},
      {"2026-03-01T08:15:Z", Y, NAN},
      {"2026-03-01T08:1Z", Y, NAN},
      {"2026-03-01T08Z", Y, NAN},
      {"2026-03-01T08:15", Y, NAN},
      {"2026-03-01_08:15Z", Y, NAN},
      {"2026-00-01T08:15Z", Y, NAN},
      {"2026-13-01T08:15Z", Y, NAN},
      {"2026-12-31T00:00Z", Y, DECEMBER},
      {"2026-12-32T00:00Z", Y, NAN},
      {"2026-12-00T00:00Z", Y, NAN},
      {"2026-03-0", Y, NAN},
      {"2026-03", Y, NAN},
      {"2026/03/01T08:15Z", Y, NAN},
      {"2026-03-01T08:15Z ", Y, NAN},
  };
  expect_parsed(parse_instant, cases, COUNT(cases));
}

/* The first and last day of each month in which the count could slip, of every year that is written. */
static void test_days_are_those_of_the_c_library(void **state) {
  (void)state;
  static const int days[][2] = {{0, 1}, {0, 31}, {1, 28}, {2, 1}, {2, 31}, {11, 1}, {11, 31}};
  for (int year = 0; year <= 9999; year++) {
    for (size_t i = 0; i < COUNT(days); i++) {
      struct tm at = {.tm_year = year - 1900, .tm_mon = days[i][0], .tm_mday = days[i][1]};
      const int64_t day = hw__days_from_civil(year, days[i][0] + 1, days[i][1]);
      assert_true(day * 86400 == (int64_t)timegm(&at));
      assert_int_equal(hw__year_of_days(day), year);
      char text[40], expected[80];
      hw_time_format((double)day * 86400, text, sizeof text);
      snprintf(expected, sizeof expected, "%04d-%02d-%02dT00:00:00Z", year, days[i][0] + 1, days[i][1]);
      assert_string_equal(text, expected);
    }
    const bool leap = hw__days_from_civil(year, 3, 1) - hw__days_from_civil(year, 2, 28) == 2;
    assert_int_equal(hw__days_in_month(year, 2), leap ? 29 : 28);
  }
  assert_true(hw__days_from_civil(-1, 12, 31) == hw__days_from_civil(0, 1, 1) - 1);
  assert_true(hw__days_from_civil(-400, 3, 1) == hw__days_from_civil(0, 3, 1) - 146097);
  assert_int_equal(hw__year_of_days(hw__days_from_civil(-401, 2, 28)), -401);
}

static void expect_format(double unix_s, const char *expected) {
  char text[40];
  hw_time_format(unix_s, text, sizeof text);
  assert_string_equal(text, expected);
}

static void test_the_first_and_the_last_instant_that_is_written(void **state) {
  (void)state;
  expect_format(-62167219200.0, "0000-01-01T00:00:00Z");
  expect_format(-62167219200.001, "?");
  expect_format(253402300799.0, "9999-12-31T23:59:59Z");
  expect_format(253402300799.4, "9999-12-31T23:59:59.400Z");
  expect_format(253402300799.5, "?");
  expect_format(-INFINITY, "?");
  expect_format(-0.001, "1969-12-31T23:59:59.999Z");
  expect_format(-86400, "1969-12-31T00:00:00Z");
  expect_format(86399.037, "1970-01-01T23:59:59.037Z");
  /* Never beyond the room there is, and ended. */
  for (size_t size = 1; size <= 26; size++) {
    char text[40];
    memset(text, '#', sizeof text);
    hw_time_format(86399.037, text, size);
    assert_int_equal(strnlen(text, sizeof text), size - 1 < 24 ? size - 1 : 24);
    assert_memory_equal(text, "1970-01-01T23:59:59.037Z", size - 1 < 24 ? size - 1 : 24);
    assert_int_equal(text[size], '#');
    memset(text, '#', sizeof text);
    hw_time_format(86399, text, size);
    assert_int_equal(strnlen(text, sizeof text), size - 1 < 20 ? size - 1 : 20);
    assert_int_equal(text[size], '#');
  }
}

/* Seconds east of UTC as the C library has them for this zone or rule. */
static double library_offset(const char *zone, double unix_s) {
  const time_t at = (time_t)unix_s;
  struct tm local;
  assert_int_equal(setenv("TZ", zone, 1), 0);
  tzset();
  assert_non_null(localtime_r(&at, &local));
  return (double)local.tm_gmtoff;
}

/* To the second about every change of the clocks in these years, each found between two days that differ. */
static void expect_rule(const char *text, int first_year, int last_year) {
  hw__zone_rule rule;
  assert_true(hw__zone_rule_parse((hw__slice){text, strlen(text)}, &rule));
  const double from = 86400.0 * (double)hw__days_from_civil(first_year, 1, 1);
  const double to = 86400.0 * (double)hw__days_from_civil(last_year + 1, 1, 1);
  int changes = 0;
  for (double day = from; day < to; day += 86400) {
    double lo = day, hi = day + 86400;
    if (library_offset(text, lo) == library_offset(text, hi)) {
      assert_true(hw__zone_rule_offset(&rule, lo) == library_offset(text, lo));
      continue;
    }
    changes++;
    while (hi - lo > 1) {
      const double middle = floor(0.5 * (lo + hi));
      *(library_offset(text, middle) == library_offset(text, day) ? &lo : &hi) = middle;
    }
    for (int off = 0; off < 2; off++) {
      if (hw__zone_rule_offset(&rule, lo + off) != library_offset(text, lo + off)) {
        fail_msg("%s at %.0f: %d", text, lo + off, hw__zone_rule_offset(&rule, lo + off));
      }
    }
  }
  assert_int_equal(changes, rule.has_summer ? 2 * (last_year - first_year + 1) : 0);
}

static void test_rules_change_the_clocks_when_the_c_library_does(void **state) {
  (void)state;
  static const char *const rules[] = {"CET-1CEST,M3.5.0,M10.5.0/3",
                                      "EST5EDT,M3.2.0,M11.1.0",
                                      "AEST-10AEDT,M10.1.0,M4.1.0/3",
                                      "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
                                      "NST3:30NDT,M3.2.0,M11.1.0",
                                      "IST-2IDT,M3.4.4/26,M10.5.0",
                                      "XYZ4:15:37XYS2:10,J59/1:30:15,J301/4",
                                      "AAA+3BBB,58/0:30,300/23:59:59",
                                      "AAA-3BBB,J60,J365/1",
                                      "AAA5BBB,M1.1.1/5,M12.5.6/5",
                                      "JST-9",
                                      "AAA3BBB,M2.5.3,M8.4.2/10"};
  for (size_t i = 0; i < COUNT(rules); i++) {
    expect_rule(rules[i], 2099, 2104); /* with 2100, which is no leap year, and 2104, which is one */
  }
  unsetenv("TZ");
  tzset();
}

static void test_rules_that_are_none_are_refused(void **state) {
  (void)state;
  static const char *const good[] = {"ABC0",
                                     "ABC-167:59:59",
                                     "<-03>3",
                                     "ABC1DEF,0,365",
                                     "ABC1DEF,J1,J365",
                                     "ABC1DEF,M1.1.0,M12.5.6/-167",
                                     "ABC1DEF2,M1.1.0,M12.5.6",
                                     "zyx1abc,1,2",
                                     "azZ1AaZ,1,2"};
  static const char *const bad[] = {"",
                                    "AB1",
                                    "ABC",
                                    "ABC168",
                                    "ABC1:60",
                                    "ABC1:59:60",
                                    "ABC1:",
                                    "<ABC1",
                                    "ABC1DE,1,2",
                                    "ABC1DEF",
                                    "ABC1DEF,1",
                                    "ABC1DEF,1,",
                                    "ABC1DEF,366,1",
                                    "ABC1DEF,M0.1.0,1",
                                    "ABC1DEF,M13.1.0,1",
                                    "ABC1DEF,M1.0.0,1",
                                    "ABC1DEF,M1.6.0,1",
                                    "ABC1DEF,M1.1.7,1",
                                    "ABC1DEF,M1.1,1",
                                    "ABC1DEF,M1,1",
                                    "ABC1DEF,1,2x",
                                    "ABC1DEF,1/,2",
                                    "ABC1DEFx1,2",
                                    "ABC1DEF1;1,2",
                                    "@BC1",
                                    "ABC1[EF,1,2",
                                    "ABC1,1,2",
                                    "ABC1:00:60",
                                    "ABC1DEF2:61,1,2",
                                    "{{{1",
                                    "```1"};
  for (size_t i = 0; i < COUNT(good) + COUNT(bad); i++) {
    const bool wanted = i < COUNT(good);
    const char *rule_text = wanted ? good[i] : bad[i - COUNT(good)];
    static const char *const behind[] = {"", "1", "D", ":", ",", ".5"};
    for (size_t k = 0; k < COUNT(behind); k++) {
      char text[80];
      hw__zone_rule rule;
      snprintf(text, sizeof text, "%s%s", rule_text, behind[k]);
      if (hw__zone_rule_parse((hw__slice){text, strlen(rule_text)}, &rule) != wanted) {
        fail_msg("'%s' before '%s'", rule_text, behind[k]);
      }
    }
    hw__zone_rule rule;
    const hw__slice alone = exact(rule_text);
    assert_int_equal(hw__zone_rule_parse(alone, &rule), wanted);
    drop(alone);
  }
}

static void test_offsets_have_names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double hours;
  } known[] = {{"Z", 0},
               {"UTC", 0},
               {"GMT", 0},
               {"WET", 0},
               {"WEST", 1},
               {"BST", 1},
               {"CET", 1},
               {"MEZ", 1},
               {"CEST", 2},
               {"MESZ", 2},
               {"EET", 2},
               {"EEST", 3},
               {"NST", -3.5},
               {"NDT", -2.5},
               {"AST", -4},
               {"ADT", -3},
               {"EST", -5},
               {"EDT", -4},
               {"CST", -6},
               {"CDT", -5},
               {"MST", -7},
               {"MDT", -6},
               {"PST", -8},
               {"PDT", -7},
               {"AKST", -9},
               {"AKDT", -8},
               {"HST", -10},
               {"UTC+2", NAN},
               {"UTC+02", 2},
               {"GMT-0330", -3.5},
               {"UTC-23:59", -23 - 59 / 60.0},
               {"UTCZ", 0},
               {"UT", NAN},
               {"XYZ", NAN},
               {"XYZ+01", NAN},
               {"+01:00 ", NAN},
               {"", NAN},
               {"+14", 14},
               {"GM", NAN},
               {"CETx", NAN},
               {"z", 0}};
  for (size_t i = 0; i < COUNT(known); i++) {
    double offset_s = NAN;
    char text[40];
    snprintf(text, sizeof text, "%s+05", known[i].name); /* what stands behind the slice is not looked at */
    const bool good = hw__zone_offset_named((hw__slice){text, strlen(known[i].name)}, &offset_s);
    if (good == isnan(known[i].hours) || (good && fabs(offset_s - 3600 * known[i].hours) > 1e-9)) {
      fail_msg("'%s': %d %g", known[i].name, good, offset_s);
    }
    const hw__slice alone = exact(known[i].name);
    assert_int_equal(hw__zone_offset_named(alone, &offset_s), good);
    drop(alone);
  }
}

/* A database file of one part: transitions at these times to types of these offsets. */
typedef struct {
  uint8_t bytes[101000];
  size_t size;
} zone_file;

static void put_integer(zone_file *f, int64_t value, size_t size) {
  for (size_t i = size; i-- > 0;) {
    f->bytes[f->size++] = (uint8_t)((uint64_t)value >> 8 * i);
  }
}

static void begin_file(zone_file *f, char version, const int64_t counts[6]) {
  memset(f, 0, sizeof *f);
  memcpy(f->bytes, "TZif", 4);
  f->bytes[4] = (uint8_t)version;
  f->size = 20;
  for (int i = 0; i < 6; i++) {
    put_integer(f, counts[i], 4);
  }
}

/* Two transitions, given types, the first type's offset 3600 s and the second's -5400 s; bytes of the rest are 0. */
static void two_transitions(zone_file *f, const int64_t at[2], const int types[2], int64_t letters) {
  begin_file(f, 0, (const int64_t[]){0, 0, 0, 2, 2, letters});
  put_integer(f, at[0], 4);
  put_integer(f, at[1], 4);
  put_integer(f, types[0], 1);
  put_integer(f, types[1], 1);
  put_integer(f, 3600, 4);
  put_integer(f, 0, 2);
  put_integer(f, -5400, 4);
  put_integer(f, 0, 2);
  f->size += (size_t)letters;
}

static hw__zone *parsed(const zone_file *f, size_t size) {
  hw__zone *zone = (hw__zone *)(uintptr_t)1;
  uint8_t *alone = malloc(size);
  assert_non_null(alone);
  memcpy(alone, f->bytes, size);
  const bool good = hw__zone_parse(alone, size, &zone);
  free(alone);
  assert_true(good == (zone != NULL));
  return zone;
}

static void test_a_zone_file_is_taken_to_its_last_byte_and_no_further(void **state) {
  (void)state;
  static zone_file f;
  two_transitions(&f, (const int64_t[]){-370, 1420}, (const int[]){1, 0}, 0);
  assert_int_equal(f.size, 44 + 2 * 5 + 2 * 6);
  hw__zone *zone = parsed(&f, f.size);
  assert_non_null(zone);
  assert_true(hw__zone_offset(zone, -371) == 3600); /* the first type before the first transition */
  assert_true(hw__zone_offset(zone, -370) == -5400 && hw__zone_offset(zone, 1419.5) == -5400);
  assert_true(hw__zone_offset(zone, 1420) == 3600 && hw__zone_offset(zone, 9e9) == 3600);
  hw__zone_free(zone);
  for (size_t size = 1; size < f.size; size++) {
    assert_null(parsed(&f, size));
  }
  two_transitions(&f, (const int64_t[]){-370, 1420}, (const int[]){1, 2}, 0); /* of types there are two */
  assert_null(parsed(&f, f.size));
  two_transitions(&f, (const int64_t[]){1420, 1420}, (const int[]){1, 0}, 0);
  assert_null(parsed(&f, f.size));
  two_transitions(&f, (const int64_t[]){1421, 1420}, (const int[]){1, 0}, 0);
  assert_null(parsed(&f, f.size));
  two_transitions(&f, (const int64_t[]){1419, 1420}, (const int[]){0, 1}, 100000); /* as many letters as may be */
  zone = parsed(&f, f.size);
  assert_non_null(zone);
  assert_true(hw__zone_offset(zone, 1420) == -5400);
  hw__zone_free(zone);
  two_transitions(&f, (const int64_t[]){1419, 1420}, (const int[]){0, 1}, 100001);
  assert_null(parsed(&f, 101000));
  two_transitions(&f, (const int64_t[]){1419, 1420}, (const int[]){0, 1}, 0);
  f.bytes[20] = 0x80; /* a count below nothing */
  assert_null(parsed(&f, f.size));
  two_transitions(&f, (const int64_t[]){1419, 1420}, (const int[]){0, 1}, 0);
  f.bytes[0] = 't';
  assert_null(parsed(&f, f.size));
  begin_file(&f, 0, (const int64_t[]){0, 0, 0, 0, 0, 0}); /* no type */
  assert_null(parsed(&f, f.size));
  begin_file(&f, 0, (const int64_t[]){3, 4, 5, 0, 1, 6}); /* leaps of 8 bytes and marks that nobody reads */
  put_integer(&f, -7200, 4);
  f.size += 2 + 6 + 5 * 8 + 4 + 3;
  zone = parsed(&f, f.size);
  assert_non_null(zone);
  assert_true(hw__zone_offset(zone, 37) == -7200);
  hw__zone_free(zone);
  assert_null(parsed(&f, f.size - 1));
}

/* Its second part counts, in 64 bits, and the rule behind that from the last transition on. */
static void test_the_second_part_of_a_zone_file_counts_and_its_rule(void **state) {
  (void)state;
  static zone_file f;
  const int64_t far = INT64_C(-90000000000);
  begin_file(&f, '2', (const int64_t[]){0, 0, 0, 0, 1, 0});
  put_integer(&f, 42, 4);
  put_integer(&f, 0, 2);
  const size_t second = f.size;
  static zone_file part;
  begin_file(&part, '2', (const int64_t[]){0, 0, 0, 2, 2, 4});
  memcpy(f.bytes + second, part.bytes, part.size);
  f.size = second + part.size;
  put_integer(&f, far, 8);
  put_integer(&f, 1420, 8);
  put_integer(&f, 1, 1);
  put_integer(&f, 0, 1);
  put_integer(&f, 3600, 4);
  put_integer(&f, 0, 2);
  put_integer(&f, -5400, 4);
  put_integer(&f, 0, 2);
  f.size += 4;
  const size_t foot = f.size;
  memcpy(f.bytes + foot, "\nABC-3\n", 7);
  f.size += 7;
  hw__zone *zone = parsed(&f, f.size);
  assert_non_null(zone);
  assert_true(hw__zone_offset(zone, (double)far - 1) == 3600 && hw__zone_offset(zone, (double)far) == -5400);
  assert_true(hw__zone_offset(zone, 1419) == -5400 && hw__zone_offset(zone, 1420) == 3 * 3600);
  hw__zone_free(zone);
  for (size_t size = 1; size < foot; size++) {
    assert_null(parsed(&f, size));
  }
  /* Without a whole rule the last transition holds. */
  for (size_t size = foot; size < f.size; size++) {
    zone = parsed(&f, size);
    assert_non_null(zone);
    assert_true(hw__zone_offset(zone, 1420) == 3600);
    hw__zone_free(zone);
  }
  f.bytes[foot] = ' ';
  zone = parsed(&f, f.size);
  assert_non_null(zone);
  assert_true(hw__zone_offset(zone, 1420) == 3600);
  hw__zone_free(zone);
}

/* Names of the database lead into its folder, and an hour that comes twice has two instants, one left out none. */
static void test_places_have_names_and_hours_one_two_or_no_instants(void **state) {
  (void)state;
  static const char *const nowhere[] = {"",   "/etc/passwd", "../zoneinfo/UTC", "Europe/../UTC",   "europe berlin",
                                        "12", "+-_",         "Nowhere",         "Europe/Berlin\n", "UTC+25"};
  hw__zone *zone = NULL;
  hw_error error = {""};
  for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
    assert_int_equal(hw__zone_open(nowhere[i], &zone, &error), HW_EINPUT);
    assert_null(zone);
  }
  char long_name[400];
  memset(long_name, 'a', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  assert_int_equal(hw__zone_open(long_name, &zone, &error), HW_EINPUT);
  double at[2];
  assert_int_equal(hw__zone_open("-03:30", &zone, &error), HW_OK);
  assert_true(hw__zone_offset(zone, 14.2) == -12600);
  assert_int_equal(hw__zone_instants(zone, 37, at), 1);
  assert_true(at[0] == 37 + 12600);
  hw__zone_free(zone);
  static zone_file f;
  static const struct {
    int64_t from_s, to_s;
    double local_s;
    size_t count;
    double at_s[2];
  } cases[] = {{3600, 7200, 1e6 + 3599, 1, {1e6 - 1, 0}},
               {3600, 7200, 1e6 + 3600, 0, {0, 0}},
               {3600, 7200, 1e6 + 7199, 0, {0, 0}},
               {3600, 7200, 1e6 + 7200, 1, {1e6, 0}},
               {7200, 3600, 1e6 + 3599, 1, {1e6 - 3601, 0}},
               {7200, 3600, 1e6 + 3600, 2, {1e6 - 3600, 1e6}},
               {7200, 3600, 1e6 + 7199, 2, {1e6 - 1, 1e6 + 3599}},
               {7200, 3600, 1e6 + 7200, 1, {1e6 + 3600, 0}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    begin_file(&f, 0, (const int64_t[]){0, 0, 0, 1, 2, 0});
    put_integer(&f, 1000000, 4);
    put_integer(&f, 1, 1);
    put_integer(&f, cases[i].from_s, 4);
    put_integer(&f, 0, 2);
    put_integer(&f, cases[i].to_s, 4);
    put_integer(&f, 0, 2);
    zone = parsed(&f, f.size);
    assert_non_null(zone);
    assert_int_equal(hw__zone_instants(zone, cases[i].local_s, at), cases[i].count);
    for (size_t k = 0; k < cases[i].count; k++) {
      assert_true(at[k] == cases[i].at_s[k]);
    }
    hw__zone_free(zone);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dates_with_marks),
      cmocka_unit_test(test_every_month_has_its_name_and_its_last_day),
      cmocka_unit_test(test_clocks_behind_a_date),
      cmocka_unit_test(test_offsets_behind_a_clock),
      cmocka_unit_test(test_dates_without_marks),
      cmocka_unit_test(test_clocks_alone),
      cmocka_unit_test(test_instants_to_the_last_bound),
      cmocka_unit_test(test_days_are_those_of_the_c_library),
      cmocka_unit_test(test_the_first_and_the_last_instant_that_is_written),
      cmocka_unit_test(test_rules_change_the_clocks_when_the_c_library_does),
      cmocka_unit_test(test_rules_that_are_none_are_refused),
      cmocka_unit_test(test_offsets_have_names),
      cmocka_unit_test(test_a_zone_file_is_taken_to_its_last_byte_and_no_further),
      cmocka_unit_test(test_the_second_part_of_a_zone_file_counts_and_its_rule),
      cmocka_unit_test(test_places_have_names_and_hours_one_two_or_no_instants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tables as other programs write them: every dialect gives the same instants and concentrations, a guess is told, and
 * a doubt is refused with the line to add. */
#include <ctype.h>
#include <iconv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "io/date.h"
#include "io/encoding.h"
#include "io/zone.h"

static hw_sensor sensors[] = {{.id = "s1", .location_m = 37.5}, {.id = "s2", .location_m = 141.2}};
static hw_river one = {.sensors = sensors, .sensor_count = 1, .search_is_calendar = true};
static hw_river two = {.sensors = sensors, .sensor_count = 2, .search_is_calendar = true};

static size_t told;

static void count_told(void *context, const char *sentence) {
  (void)context;
  assert_non_null(strstr(sentence, ": "));
  told++;
}

static hw_columns *mapping(const char *text) {
  hw_columns *columns = NULL;
  hw_error error = {""};
  if (hw_columns_parse("m", text, strlen(text), &columns, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return columns;
}

typedef struct {
  const char *time; /* "": any */
  size_t sensor;
  double c_g_m3;
  int limit; /* -1 below, 1 above */
} row;

static void expect_rows(hw_reader *reader, const row *rows, size_t count) {
  hw_reading reading;
  hw_error error = {""};
  for (size_t i = 0; i < count; i++) {
    if (hw_reader_next(reader, &reading, &error) != HW_OK) {
      fail_msg("row %zu: %s", i, error.text);
    }
    char when[40];
    hw_time_format(reading.time_s, when, sizeof when);
    assert_string_equal(when, rows[i].time);
    assert_int_equal(reading.sensor, rows[i].sensor);
    assert_float_equal(reading.concentration_g_m3, rows[i].c_g_m3, 1e-15);
    assert_int_equal(reading.above_limit - reading.below_limit, rows[i].limit);
  }
  if (hw_reader_next(reader, &reading, &error) != HW_EEND) {
    fail_msg("more rows, or %s", error.text);
  }
  hw_reader_free(reader);
}

/* A file of tests/cli/data/exports. */
static void expect_file(const char *name, const hw_river *river, const char *map, const char *zone, const row *rows,
                        size_t count) {
  char path[500];
  snprintf(path, sizeof path, "%s/%s", EXPORTS, name);
  hw_columns *columns = map ? mapping(map) : NULL;
  hw_reader *reader = NULL;
  hw_error error = {""};
  const hw_reader_options options = {.columns = columns, .timezone = zone, .tell = count_told};
  if (hw_reader_open_with(path, river, &options, &reader, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  expect_rows(reader, rows, count);
  hw_columns_free(columns);
}

static hw_status open_text(const char *text, const char *map, const char *zone, hw_reader **reader, hw_error *error) {
  hw_columns *columns = map ? mapping(map) : NULL;
  const hw_reader_options options = {.columns = columns, .timezone = zone, .tell = count_told};
  const hw_status status = hw_reader_memory_with(text, strlen(text), "t", &two, &options, reader, error);
  hw_columns_free(columns);
  return status;
}

static void expect_text(const char *text, const char *map, const char *zone, const row *rows, size_t count) {
  hw_reader *reader = NULL;
  hw_error error = {""};
  if (open_text(text, map, zone, &reader, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  expect_rows(reader, rows, count);
}

/* Refused when opened, or at the first row. */
static void expect_refusal(const char *text, const char *map, const char *zone, const char *sentence) {
  hw_reader *reader = NULL;
  hw_error error = {""};
  hw_reading reading;
  if (open_text(text, map, zone, &reader, &error) == HW_OK) {
    while (hw_reader_next(reader, &reading, &error) == HW_OK) {
    }
  }
  hw_reader_free(reader);
  if (!strstr(error.text, sentence)) {
    fail_msg("'%s' instead of '%s'", error.text, sentence);
  }
}

static const row german[] = {{"2026-03-01T07:15:00Z", 0, 0.02e-3, 0},
                             {"2026-03-01T07:30:00Z", 0, 0.37e-3, 0},
                             {"2026-03-01T07:45:00Z", 0, 14.2e-3, 0},
                             {"2026-03-01T08:00:00Z", 0, 0.02e-3, -1},
                             {"2026-03-01T08:15:00Z", 0, 400e-3, 1}};

static void test_a_spreadsheet_in_german_reads_the_same_in_every_encoding(void **state) {
  (void)state;
  const char *const files[] = {"german.csv", "german-utf16.csv", "german-1252.csv"};
  for (size_t i = 0; i < 3; i++) {
    told = 0;
    expect_file(files[i], &two, NULL, "Europe/Berlin", german, 5);
    assert_true(told >= 5);
  }
}

static void test_sondes_and_loggers(void **state) {
  (void)state;
  const row berlin[] = {{"2026-03-01T07:15:00Z", 0, 0.41e-3, 0},
                        {"2026-03-01T07:30:00Z", 0, 2.87e-3, 0},
                        {"2026-03-01T07:45:00Z", 0, 14.2e-3, 0}};
  const row hobo[] = {{"2026-03-13T13:15:00Z", 0, 0.41e-3, 0},
                      {"2026-03-13T13:30:00Z", 0, 2.87e-3, 0},
                      {"2026-03-13T17:45:00Z", 0, 14.2e-3, 0}};
  const row turner[] = {{"2026-03-01T15:15:00Z", 0, 0.41e-3, 0},
                        {"2026-03-01T15:30:00Z", 0, 2.87e-3, 0},
                        {"2026-03-01T15:45:00Z", 0, 14.2e-3, 0}};
  const row german_hobo[] = {{"2026-03-13T13:15:00Z", 0, 0.41e-3, 0},
                             {"2026-03-13T13:30:00Z", 0, 2.87e-3, 0},
                             {"2026-03-13T17:45:00Z", 0, 1014.2e-3, 0}};
  const row hq[] = {{"2026-03-13T13:15:00Z", 0, 0.41e-3, 0}, {"2026-03-13T13:30:00Z", 0, 2.87e-3, 0}};
  const row toa5[] = {{"2026-03-01T08:15:00Z", 0, 0.41e-3, 0},
                      {"2026-03-01T08:30:00Z", 0, 2.87e-3, 0},
                      {"2026-03-01T08:30:00Z", 1, 0.05e-3, 0},
                      {"2026-03-01T08:45:00Z", 0, 14.2e-3, 0},
                      {"2026-03-01T08:45:00Z", 1, 0.31e-3, 0}};
  expect_file("korexo.csv", &one, NULL, "Europe/Berlin", berlin, 3);
  expect_file("korexo.csv", &two, "{names: {s1: Elm Bridge}}", "Europe/Berlin", berlin, 3);
  expect_file("hobo.csv", &two, NULL, NULL, hobo, 3);
  expect_file("turner.txt", &one, NULL, NULL, turner, 3);
  expect_file("hobo-german.txt", &two, NULL, NULL, german_hobo, 3);
  expect_file("turner-cat.txt", &one, NULL, NULL, turner, 3); /* in UTC, not in the logger's zone */
  expect_file("hach-hq.txt", &two, NULL, "-05:00", hq, 2);    /* - - - is missing */
  expect_file("hydrolab.csv", &one, NULL, "Europe/Berlin", berlin, 3);
  expect_file("toa5.dat", &two, NULL, "UTC", toa5, 5);
  expect_file("us.csv", &two, "unit=ug/l", "America/New_York",
              (row[]){{"2026-03-13T12:15:00Z", 0, 0.41e-3, 0},
                      {"2026-03-13T12:30:00Z", 0, 2.87e-3, 0},
                      {"2026-03-13T17:45:00Z", 0, 14.2e-3, 0}},
              3);
}

/* One table a site, with numbers of its own in the names of its columns. */
static void test_tables_behind_each_other_are_one_record(void **state) {
  (void)state;
  const char *map =
      "{value: '*_32295', unit: ppb, quality: '*_32295_cd', good: [A, P], missing: [Eqp], names: {s1: '05331000', s2: "
      "'05331570'}}";
  const row usgs[] = {{"2026-03-01T14:15:00Z", 0, 0.41e-3, 0},
                      {"2026-03-01T14:30:00Z", 0, 2.87e-3, 0},
                      {"2026-03-01T14:30:00Z", 1, 0.55e-3, 0}};
  expect_file("usgs.rdb", &two, map, NULL, usgs, 3);
  expect_refusal("time,sensor,c (ppb)\n2026-03-01 08:15,s1,1\ntime,sensor,d (ppb)\n2026-03-01 08:15,s2,1\n",
                 "{value: c (ppb), sensor: sensor}", "UTC", "t:3: another table begins: no column 'c (ppb)'");
  expect_refusal("when,place,x\n2026-03-01 08:15,s1,1\ntime,sensor,c (ppb)\n2026-03-01 08:15,s1,1\n", NULL, "UTC",
                 "line 2 above the names looks like a row");
}

/* Rows behind names that name the time twice, or not the value: refused until names come that are understood. */
static void test_rows_under_names_not_understood_are_refused(void **state) {
  (void)state;
  static const char text[] =
      "when,sensor,c (ppb)\n2026-03-01 08:00,s1,5\n"
      "when,sensor,when,c (ppb)\n2026-03-01 08:01,s1,6,7\n"
      "when,sensor,d (ppb)\n2026-03-01 08:02,s1,8\n"
      "when,c (ppb),sensor\n2026-03-01 08:03,9,s2\n";
  static const char *const told_of[] = {NULL,
                                        "t:3: another table begins: column 'when' twice",
                                        "t:4: a row under names that were not understood",
                                        "t:5: another table begins: no column 'c (ppb)'",
                                        "t:6: a row under names that were not understood",
                                        NULL};
  hw_reader *reader = NULL;
  hw_reading reading;
  hw_error error = {""};
  assert_int_equal(open_text(text, "{time: when, sensor: sensor, value: c (ppb), unit: ppb}", "UTC", &reader, &error),
                   HW_OK);
  for (size_t i = 0; i < sizeof told_of / sizeof told_of[0]; i++) {
    const hw_status status = hw_reader_next(reader, &reading, &error);
    if (told_of[i] ? status != HW_EINPUT || !strstr(error.text, told_of[i]) : status != HW_OK) {
      fail_msg("%zu: %s", i, error.text);
    }
  }
  assert_true(reading.sensor == 1 && fabs(reading.concentration_g_m3 - 9e-3) < 1e-15);
  assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EEND);
  hw_reader_free(reader);
}

static void test_every_word_for_no_reading_is_one_and_so_is_its_number(void **state) {
  (void)state;
  const row rows[] = {{"2026-03-01T08:00:00Z", 0, 5e-3, 0}, {"2026-03-01T08:06:00Z", 0, 0.99e-3, 0}};
  expect_text(
      "time,sensor,c (ppb)\n2026-03-01 08:00,s1,5\n2026-03-01 08:01,s1,-999.00\n2026-03-01 08:02,s1,-888\n"
      "2026-03-01 08:03,s1,Ice\n2026-03-01 08:04,s1,-7.770e2\n2026-03-01 08:05,s1,\n2026-03-01 08:06,s1,.99\n",
      "{missing: [Ice, '-999', '-888.0', '-777']}", "UTC", rows, 2);
}

static void test_numbers_with_marks_between_thousands(void **state) {
  (void)state;
  const row rows[] = {{"2026-03-01T08:15:00Z", 0, 1234.5e-3, 0},
                      {"2026-03-01T08:30:00Z", 0, 1234567.0e-3, 0},
                      {"2026-03-01T08:45:00Z", 0, 0.5e-3, 0}};
  expect_text(
      "time;sensor;c (ppb)\n2026-03-01 08:15;s1;1.234,5\n2026-03-01 08:30;s1;1 234 567\n2026-03-01 08:45;s1;0,5\n",
      NULL, "UTC", rows, 3);
  expect_text(
      "time;sensor;c (ppb)\n2026-03-01 08:15;s1;1,234.5\n2026-03-01 08:30;s1;1'234'567\n2026-03-01 08:45;s1;0.5\n",
      NULL, "UTC", rows, 3);
  const char *const wrong[] = {"1.234", "12.34,5", "1.2345,6", "1 23,4", "1.234.56,7"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[200];
    snprintf(text, sizeof text, "time;sensor;c (ppb)\n2026-03-01 08:15;s1;%s\n", wrong[i]);
    expect_refusal(text, "{decimal: ',', value: c (ppb), unit: ppb}", "UTC", "expected a number with a decimal comma");
  }
}

static void test_digits_are_a_time_only_where_something_says_so(void **state) {
  (void)state;
  const row rows[] = {{"2026-03-01T08:15:00Z", 0, 1.5e-3, 0}, {"2026-03-01T08:30:30Z", 0, 2.5e-3, 0}};
  expect_text("timestamp;sensor;c (ppb)\n20260301T081500Z;s1;1,5\n20260301T083030Z;s1;2,5\n", NULL, NULL, rows, 2);
  expect_text("timestamp;sensor;c (ppb)\n20260301081500;s1;1,5\n20260301083030;s1;2,5\n", NULL, "UTC", rows, 2);
  expect_text("Date;Time;sensor;c (ppb)\nDDMMYY;HHMMSS;;\n010326;081500;s1;1,5\n010326;083030;s1;2,5\n", NULL, "UTC",
              rows, 2);
  expect_refusal("serial;sensor;c (ppb)\n010326;s1;1,5\n010327;s1;2,5\n", NULL, "UTC", "no column of times found");
}

static void test_utf16_without_a_mark_is_told(void **state) {
  (void)state;
  told = 0;
  expect_file("utf16be-unmarked.csv", &two, NULL, "Europe/Berlin", german, 3);
  assert_true(told >= 6);
}

static void test_a_wide_table_with_serial_days(void **state) {
  (void)state;
  expect_file("wide-excel.csv", &two, NULL, "Europe/Berlin",
              (row[]){{"2026-03-01T07:15:00Z", 0, 410e-6, 0},
                      {"2026-03-01T07:30:00Z", 0, 2870e-6, 0},
                      {"2026-03-01T07:30:00Z", 1, 50e-6, 0},
                      {"2026-03-01T07:45:00Z", 0, 14200e-6, 0},
                      {"2026-03-01T07:45:00Z", 1, 310e-6, 0}},
              5);
}

/* Does a column of this name belong to sensor s1? The other is of s2 in any case. */
static bool is_of_s1(const char *name) {
  char text[200];
  snprintf(text, sizeof text,
           "time,%s,s2 (ug/l)\n2026-03-01T07:15:00Z,1.5,2.5\n2026-03-01T07:30:00Z,3.5,4.5\n2026-03-01T07:45:00Z,5,6\n",
           name);
  hw_reader *reader = NULL;
  hw_error error = {""};
  hw_reading reading;
  bool found = false;
  if (open_text(text, NULL, "UTC", &reader, &error) == HW_OK) {
    while (hw_reader_next(reader, &reading, &error) == HW_OK) {
      found = found || reading.sensor == 0;
    }
  }
  hw_reader_free(reader);
  return found;
}

static void test_an_id_is_a_word_of_the_columns_name(void **state) {
  (void)state;
  for (char c = ' '; c < 127; c++) {
    char before[32], behind[32];
    snprintf(before, sizeof before, "%cs1 (ug/l)", c);
    snprintf(behind, sizeof behind, "s1%c (ug/l)", c);
    const bool part_of_a_word = isalnum((unsigned char)c), mark = strchr("\",;|#'", c);
    if (!mark && (is_of_s1(before) == part_of_a_word || is_of_s1(behind) == part_of_a_word)) {
      fail_msg("'%s' %d, '%s' %d", before, is_of_s1(before), behind, is_of_s1(behind));
    }
  }
}

static void test_the_hour_that_comes_twice_is_named(void **state) {
  (void)state;
  const row by_order[] = {{"2026-10-24T23:45:00Z", 0, 1.5e-3, 0}, {"2026-10-25T00:15:00Z", 0, 2.5e-3, 0},
                          {"2026-10-25T00:45:00Z", 0, 3.5e-3, 0}, {"2026-10-25T01:15:00Z", 0, 4.5e-3, 0},
                          {"2026-10-25T01:45:00Z", 0, 5.5e-3, 0}, {"2026-10-25T02:15:00Z", 0, 6.5e-3, 0}};
  expect_file("autumn.tsv", &two, "twice=by order", "Europe/Berlin", by_order, 6);
  const char *text = "time,sensor,c (ppb)\n2026-10-25 02:15,s1,1.5\n2026-10-25 02:45,s1,1.5\n";
  expect_refusal(text, NULL, "Europe/Berlin",
                 "t:2: time '2026-10-25 02:15' comes twice in Europe/Berlin, at 2026-10-25T00:15:00Z and "
                 "2026-10-25T01:15:00Z; add: twice: first, second or by order");
  expect_text(text, "twice=second", "Europe/Berlin",
              (row[]){{"2026-10-25T01:15:00Z", 0, 1.5e-3, 0}, {"2026-10-25T01:45:00Z", 0, 1.5e-3, 0}}, 2);
  expect_refusal("time,sensor,c (ppb)\n2026-03-29 02:15,s1,1.5\n", NULL, "Europe/Berlin",
                 "does not exist in Europe/Berlin");
}

static void test_offsets_of_their_own_need_no_zone(void **state) {
  (void)state;
  expect_text("Zeit;sensor;c (mg/l)\n2026-03-01T08:15:00+0100;s1;0,37\n2026-03-01 08:30 CET;s2;0,5\n", NULL, NULL,
              (row[]){{"2026-03-01T07:15:00Z", 0, 0.37, 0}, {"2026-03-01T07:30:00Z", 1, 0.5, 0}}, 2);
}

static void test_a_doubt_is_refused_with_the_line_to_add(void **state) {
  (void)state;
  const struct {
    const char *text, *map, *zone, *sentence;
  } cases[] = {
      {"Date;sensor;c (ppb)\n03/04/2026 08:15;s1;1.5\n", NULL, "UTC", "add: time_as: dmy or mdy"},
      {"time;sensor;c (ppb)\n2026-03-01 08:15;s1;1.5\n", NULL, NULL, "add: timezone:"},
      {"time,sensor,c\n2026-03-01 08:15,s1,1.5\n", NULL, "UTC", "no column of concentrations found; add: value:"},
      {"time,sensor,conc\n2026-03-01 08:15,s1,1.5\n", NULL, "UTC", "'conc' does not say its unit; add: unit: ug/l"},
      {"conc,time,sensor\n1.5,2026-03-01 08:15,s1\n", NULL, "UTC", "'conc' does not say its unit; add: unit: ug/l"},
      {"time,sensor,a ppb,b ppb\n2026-03-01 08:15,s1,1.5,2\n", NULL, "UTC", "add: value: and the name of one"},
      {"time,c (ppb)\n2026-03-01 08:15,1.5\n", NULL, "UTC", "add: sensors: {s1: \"c (ppb)\"}"},
      {"time,station,c (ppb)\n2026-03-01 08:15,Elm,1.5\n", NULL, "UTC", "add: names: {ID: \"Elm\"}"},
      {"time;sensor;c (ppb)\n2026-03-01 08:15;s1;1,500\n", NULL, "UTC", "add: decimal: \",\" or \".\""},
      {"begin,end,sensor,c (ppb)\n2026-03-01 08:15,2026-03-01 08:30,s1,1\n", NULL, "UTC",
       "columns 'begin' and 'end' both hold times; add: time: and the name of one"},
      {"time,sensor,c (ppb)\n5,s1,1\n", NULL, NULL, "add: time_as: s, min, h"},
      {"time,sensor,c (ppb)\n2026-03-01 08:15,s1,1\n", NULL, "Europe/Berlyn", "no time zone 'Europe/Berlyn'"},
      {"time,sensor,c (ppb)\n2026-03-01 08:15,s1,1\n", NULL, "../../etc/passwd", "no time zone '../../etc/passwd'"},
      {"time,sensor,c (ppb)\n2026-03-01 08:15,s1,1\n", "time=when", "UTC", "no column 'when' for the time"},
      {"time,sensor,c (ppb)\n2026-03-01 08:15,s1,high\n", "value=c (ppb)", "UTC",
       "t:2: c (ppb) 'high', expected a number"},
      {"time,time,sensor,c (ppb)\n2026-03-01 08:15,x,s1,1\n", "time=time", "UTC", "column 'time' twice in the header"},
      {"a b c\n", NULL, "UTC", "no table of names and rows found"},
      {"time,sensor,x,y\n2026-03-01 08:15,s1,1.5,2\n", NULL, "UTC", "such as 'x', 'y'"},
      {"time,s1 DO (mg/l),s1 dye (mg/l)\n2026-03-01 08:15,1,2\n", NULL, "UTC",
       "'s1 DO (mg/l)' and 's1 dye (mg/l)' may both be sensor s1; add: sensors: {s1:"},
      {"time,sensor,c (ppb)\n2026-03-01 08:15,s1,1\n2026-03-01 08:30,s1,Ice\n2026-03-01 08:45,s1,2\n", NULL, "UTC",
       "'c (ppb)' holds 'Ice' on line 3, expected a number; if it stands for no reading add: missing: [\"Ice\"]"},
      {"time,sensor,c (ppb)\n2026-03-01 08:15,s1,-999.0\n",
       "{separator: ',', decimal: '.', header: 1, time: time, time_as: ymd, sensor: sensor, value: c (ppb), unit: ppb}",
       "UTC", "t:2: c (ppb) '-999.0', which seems to stand for no reading; add: missing: [\"-999.0\"]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    expect_refusal(cases[i].text, cases[i].map, cases[i].zone, cases[i].sentence);
  }
}

static void test_a_time_longer_than_any_number_is_refused_not_cut(void **state) {
  (void)state;
  char text[400];
  snprintf(text, sizeof text, "time,sensor,c (ppb)\n%0100d,s1,1\n", 3600);
  const row first[] = {{"1970-01-01T01:00:00Z", 0, 1e-3, 0}};
  expect_text(text, "{time: time, time_as: unix}", "UTC", first, 1);
  snprintf(text, sizeof text, "time,sensor,c (ppb)\n%0255d,s1,1\n", 3600);
  expect_text(text, "{time: time, time_as: unix}", "UTC", first, 1);
  snprintf(text, sizeof text, "time,sensor,c (ppb)\n%0256d,s1,1\n", 3600);
  expect_refusal(text, "{time: time, time_as: unix}", "UTC", "expected a number");
  snprintf(text, sizeof text, "time,sensor,c (ppb)\n%0300d,s1,1\n", 3600); /* its first 256 digits are all 0 */
  expect_refusal(text, "{time: time, time_as: unix}", "UTC", "expected a number");
}

/* Whatever stands above them. */
static void test_names_are_where_the_mappings_time_is(void **state) {
  (void)state;
  const row rows[] = {{"2026-03-01T08:15:00Z", 0, 1.5e-3, 0}, {"2026-03-01T08:30:00Z", 1, 2e-3, 0}};
  expect_text(
      "Brook at the mill\nlogger 7, of 2026\n\nwhen,sensor,c (ppb)\nutc,,ppb\n2026-03-01 08:15,s1,1.5\n"
      "2026-03-01 08:30,s2,2\n",
      "{time: when}", "UTC", rows, 2);
  /* Without it the line that has no gap would be taken for them. */
  expect_text(
      "Brook at the mill\nwhen,sensor,c (ppb),\nutc,id,ppb,none\n2026-03-01 08:15,s1,1.5,0\n"
      "2026-03-01 08:30,s2,2,0\n",
      "{time: when}", "UTC", rows, 2);
}

static void hear(void *context, const char *sentence) {
  char *all = context;
  snprintf(all + strlen(all), 1000 - strlen(all), "%s\n", sentence);
}

/* The zone that somebody names goes before the one in the column's name, and that is told where they differ. */
static void test_a_zone_beside_the_columns_own_is_told(void **state) {
  (void)state;
  static const struct {
    const char *zone, *hour, *said;
  } cases[] = {{NULL, "2026-03-01T08:15:00Z", "times in UTC, by the name of their column\n"},
               {"UTC", "2026-03-01T08:15:00Z", NULL},
               {"Europe/Berlin", "2026-03-01T07:15:00Z",
                "times in Europe/Berlin as given, though the name of their column says UTC\n"}};
  for (size_t i = 0; i < 3; i++) {
    const char *text = "time (UTC),sensor,c (ppb)\n2026-03-01 08:15,s1,1.5\n";
    char all[1000] = "";
    hw_reader *reader = NULL;
    hw_error error = {""};
    const hw_reader_options options = {.timezone = cases[i].zone, .tell = hear, .context = all};
    assert_int_equal(hw_reader_memory_with(text, strlen(text), "t", &two, &options, &reader, &error), HW_OK);
    const row rows[] = {{cases[i].hour, 0, 1.5e-3, 0}};
    expect_rows(reader, rows, 1);
    assert_true(cases[i].said ? strstr(all, cases[i].said) != NULL : strstr(all, "times in") == NULL);
  }
}

/* Without a listener nothing is guessed: only our own way and a mapping with nothing open are read. */
static void test_nothing_is_guessed_that_nobody_hears_of(void **state) {
  (void)state;
  const char *text = "Zeit;Stelle;c\n01.03.2026 08:15;s1;0,37\n";
  hw_river mapped = two;
  hw_reader *reader = NULL;
  hw_error error = {""};
  mapped.import = mapping("{time: Zeit, value: c}");
  assert_int_equal(hw_reader_memory(text, strlen(text), "t", &mapped, &reader, &error), HW_EINPUT);
  assert_non_null(strstr(error.text, "a mapping that leaves something open"));
  hw_columns_free(mapped.import);
  mapped.import = mapping(
      "{separator: ';', decimal: ',', header: 1, time: Zeit, time_as: dmy, timezone: Europe/Berlin, "
      "sensor: Stelle, value: c, unit: mg/l}");
  assert_int_equal(hw_reader_memory(text, strlen(text), "t", &mapped, &reader, &error), HW_OK);
  expect_rows(reader, (row[]){{"2026-03-01T07:15:00Z", 0, 0.37, 0}}, 1);
  /* and a file of our own is read as ever, whatever the river's mapping says */
  text = "time,sensor,concentration_ug_l\n2026-03-01T08:15:00Z,s2,1.5\n";
  assert_int_equal(hw_reader_memory(text, strlen(text), "t", &mapped, &reader, &error), HW_OK);
  expect_rows(reader, (row[]){{"2026-03-01T08:15:00Z", 1, 1.5e-3, 0}}, 1);
  hw_columns_free(mapped.import);
}

static void test_a_mapping_reads_back_what_it_wrote(void **state) {
  (void)state;
  const char *text =
      "import:\n  encoding: utf-16le\n  separator: tab\n  decimal: \",\"\n  header: 3\n  skip: 1\n"
      "  time: [Datum, \"Uhr: Zeit\"]\n  time_as: dmy\n  timezone: Europe/Berlin\n  twice: by order\n  sensors:\n"
      "    s1: \"Konz [\xc2\xb5g/l] \\\"S1\\\"\"\n    s2: \"7\"\n  unit: ug/l\n  missing: [NA, \"-999\", \"--\"]\n"
      "  quality: flag\n  good: [\"\", A]\n";
  hw_columns *columns = mapping(text);
  char *again = NULL;
  assert_int_equal(hw_columns_write(columns, &again), HW_OK);
  assert_string_equal(again, text);
  free(again);
  hw_columns_free(columns);
}

static void test_a_mapping_says_what_is_wrong_with_it(void **state) {
  (void)state;
  const struct {
    const char *text, *sentence;
  } cases[] = {
      {"{colour: red}", "m:1: unknown key 'colour' in import, expected one of encoding"},
      {"unit=furlong", "unit is 'furlong', expected one of g/m3"},
      {"{sensors: {s1: a}, value: b}", "both sensors and value"},
      {"{quality: q}", "quality without good"},
      {"{good: [A]}", "good without quality"},
      {"{skip: 2}", "skip without header"},
      {"{decimal: ',', separator: ','}", "a comma both as separator and in numbers"},
      {"{time: [a, b, c]}", "time names 3 columns"},
      {"{time_as: sideways}", "time_as is 'sideways', expected one of 'ymd'"},
      {"{header: 1.5}", "header is '1.5', expected a number of lines"},
      {"{missing: [aaaaaaaaaabbbbbbbbbbccccccccccdd]}", "expected texts of at most 31 bytes"},
      {"- a", "import is a list, expected keys and values"},
      {"", "an empty file, expected a mapping of columns in YAML"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw_columns *columns = NULL;
    hw_error error = {""};
    assert_int_equal(hw_columns_parse("m", cases[i].text, strlen(cases[i].text), &columns, &error), HW_EINPUT);
    assert_null(columns);
    if (!strstr(error.text, cases[i].sentence)) {
      fail_msg("'%s' instead of '%s'", error.text, cases[i].sentence);
    }
  }
}

static void test_zones_of_the_system_and_their_rules(void **state) {
  (void)state;
  hw__zone *zone = NULL;
  hw_error error;
  double at[2];
  assert_int_equal(hw__zone_open("Europe/Berlin", &zone, &error), HW_OK);
  assert_true(hw__zone_offset(zone, 1772352900) == 3600);       /* 2026-03-01, winter */
  assert_true(hw__zone_offset(zone, 1782900000) == 7200);       /* 2026-07-01, summer */
  assert_true(hw__zone_offset(zone, 3991680000.0) == 7200);     /* 2096-06-28: by the rule */
  assert_true(hw__zone_offset(zone, 4007232000.0) == 3600);     /* 2096-12-25 */
  assert_int_equal(hw__zone_instants(zone, 1792895400, at), 2); /* 2026-10-25 02:30 */
  assert_true(at[0] == 1792895400 - 7200 && at[1] == 1792895400 - 3600);
  assert_int_equal(hw__zone_instants(zone, 1774751400, at), 0); /* 2026-03-29 02:30 */
  hw__zone_free(zone);
  /* south of the equator summer goes over the new year */
  assert_int_equal(hw__zone_open("Australia/Sydney", &zone, &error), HW_OK);
  assert_true(hw__zone_offset(zone, 4007232000.0) == 11 * 3600);
  hw__zone_free(zone);
  double offset_s;
  assert_true(hw__zone_offset_named((hw__slice){"GMT-05:00", 9}, &offset_s) && offset_s == -5 * 3600);
  assert_false(hw__zone_offset_named((hw__slice){"GMT-25:00", 9}, &offset_s));
}

static void test_dates_that_do_not_exist_are_none(void **state) {
  (void)state;
  const struct {
    const char *text;
    hw_time_form form;
    bool good;
    double local_s;
  } cases[] = {
      {"1.3.26 8:15", HW_TIME_DMY, true, 1772352900},
      {"1-Mar-2026 08:15:00", HW_TIME_DMY, true, 1772352900},
      {"2026/03/01T08:15", HW_TIME_YMD, true, 1772352900},
      {"3/1/2026 8:15:00 am", HW_TIME_MDY, true, 1772352900},
      {"3/1/2026 12:00:00 AM", HW_TIME_MDY, true, 1772323200},
      {"3/1/2026 12:00 p.m.", HW_TIME_MDY, true, 1772366400},
      {"29.02.2026 08:15", HW_TIME_DMY, false, 0},
      {"13/01/2026 08:15", HW_TIME_MDY, false, 0},
      {"01.03/2026 08:15", HW_TIME_DMY, false, 0},
      {"01.03.2026 25:15", HW_TIME_DMY, false, 0},
      {"01.03.2026 08:15 XYZ", HW_TIME_DMY, false, 0},
      {"01.03.2026 Mar:15", HW_TIME_DMY, false, 0}, /* a month is no hour */
      {"01.03.2026 008:15", HW_TIME_DMY, false, 0},
      {"01.03.2026 :15", HW_TIME_DMY, false, 0},
      {"3/1/2026 13:15 PM", HW_TIME_MDY, false, 0},
      {"2026-03", HW_TIME_YMD, false, 0},
      {"", HW_TIME_DMY, false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw__date date = {0};
    const bool good = hw__date_parse((hw__slice){cases[i].text, strlen(cases[i].text)}, cases[i].form, &date);
    if (good != cases[i].good || (good && date.local_s != cases[i].local_s)) {
      fail_msg("%s: %d %.0f", cases[i].text, good, date.local_s);
    }
  }
}

/* What the C library makes of the same bytes; -1: nothing. */
static uint32_t code_by_iconv(const char *encoding, const unsigned char *bytes, size_t size) {
  iconv_t converter = iconv_open("UTF-32LE", encoding);
  assert_true(converter != (iconv_t)-1);
  unsigned char code[8] = {0};
  char *in = (char *)(uintptr_t)bytes, *out = (char *)code;
  size_t in_left = size, out_left = sizeof code;
  const size_t status = iconv(converter, &in, &in_left, &out, &out_left);
  iconv_close(converter);
  return status == (size_t)-1 || out_left != sizeof code - 4
             ? UINT32_MAX
             : (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16;
}

/* Decoded to UTF-8, which is read back; what is no character is U+FFFD, 3 bytes. */
static void expect_decoded(hw_encoding encoding, const char *name, const unsigned char *bytes, size_t size) {
  const uint32_t expected = code_by_iconv(name, bytes, size);
  char out[16];
  size_t used = 0;
  const size_t length = hw__encoding_decode(encoding, (hw__slice){(const char *)bytes, size}, &used, out);
  const uint32_t got = code_by_iconv("UTF-8", (const unsigned char *)out, length);
  const uint32_t wanted = expected == UINT32_MAX ? 0xfffd : expected;
  if (got != wanted || used != size) {
    fail_msg("%s %02x %02x: U+%04X, expected U+%04X", name, bytes[0], bytes[1], got, wanted);
  }
}

static void test_every_unit_of_utf16_and_every_byte_of_windows_is_decoded_as_the_system_does(void **state) {
  (void)state;
  for (unsigned unit = 0; unit < 0x10000; unit++) {
    const unsigned char big[] = {(unsigned char)(unit >> 8), (unsigned char)unit};
    const unsigned char little[] = {big[1], big[0]};
    if (unit < 0xd800 || unit >= 0xdc00) { /* half a pair is waited for, below */
      expect_decoded(HW_UTF16BE, "UTF-16BE", big, 2);
      expect_decoded(HW_UTF16LE, "UTF-16LE", little, 2);
    }
  }
  for (unsigned byte = 0; byte < 0x100; byte++) {
    const unsigned char both[] = {(unsigned char)byte, 0};
    expect_decoded(HW_WINDOWS1252, "CP1252", both, 1);
  }
}

static void test_pairs_of_utf16_are_one_character_or_none(void **state) {
  (void)state;
  static const unsigned high[] = {0xd800, 0xd801, 0xd83d, 0xdbff}, low[] = {0xdc00, 0xdc01, 0xde00, 0xdfff};
  for (size_t i = 0; i < 4; i++) {
    for (size_t j = 0; j < 4; j++) {
      const unsigned char pair[] = {(unsigned char)(high[i] >> 8), (unsigned char)high[i], (unsigned char)(low[j] >> 8),
                                    (unsigned char)low[j]};
      expect_decoded(HW_UTF16BE, "UTF-16BE", pair, 4);
    }
    /* Half a pair: at the end it waits for the rest, before anything else it is no character. */
    const unsigned char half[] = {(unsigned char)(high[i] >> 8), (unsigned char)high[i], 0xe0, 0x00, 0xdb, 0xff, 0};
    char out[16];
    size_t used = 7;
    assert_int_equal(hw__encoding_decode(HW_UTF16BE, (hw__slice){(const char *)half, 2}, &used, out), 0);
    assert_int_equal(used, 0);
    assert_int_equal(hw__encoding_decode(HW_UTF16BE, (hw__slice){(const char *)half, 7}, &used, out), 6);
    assert_int_equal(used, 4);
    assert_memory_equal(out, "\xef\xbf\xbd\xee\x80\x80", 6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_spreadsheet_in_german_reads_the_same_in_every_encoding),
      cmocka_unit_test(test_sondes_and_loggers),
      cmocka_unit_test(test_tables_behind_each_other_are_one_record),
      cmocka_unit_test(test_rows_under_names_not_understood_are_refused),
      cmocka_unit_test(test_every_word_for_no_reading_is_one_and_so_is_its_number),
      cmocka_unit_test(test_numbers_with_marks_between_thousands),
      cmocka_unit_test(test_digits_are_a_time_only_where_something_says_so),
      cmocka_unit_test(test_utf16_without_a_mark_is_told),
      cmocka_unit_test(test_a_wide_table_with_serial_days),
      cmocka_unit_test(test_an_id_is_a_word_of_the_columns_name),
      cmocka_unit_test(test_the_hour_that_comes_twice_is_named),
      cmocka_unit_test(test_offsets_of_their_own_need_no_zone),
      cmocka_unit_test(test_a_doubt_is_refused_with_the_line_to_add),
      cmocka_unit_test(test_a_time_longer_than_any_number_is_refused_not_cut),
      cmocka_unit_test(test_names_are_where_the_mappings_time_is),
      cmocka_unit_test(test_a_zone_beside_the_columns_own_is_told),
      cmocka_unit_test(test_nothing_is_guessed_that_nobody_hears_of),
      cmocka_unit_test(test_a_mapping_reads_back_what_it_wrote),
      cmocka_unit_test(test_a_mapping_says_what_is_wrong_with_it),
      cmocka_unit_test(test_zones_of_the_system_and_their_rules),
      cmocka_unit_test(test_dates_that_do_not_exist_are_none),
      cmocka_unit_test(test_every_unit_of_utf16_and_every_byte_of_windows_is_decoded_as_the_system_does),
      cmocka_unit_test(test_pairs_of_utf16_are_one_character_or_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

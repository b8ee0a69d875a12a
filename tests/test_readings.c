/* Readings from CSV and NDJSON: units, kinds of rows, and a sentence for every fault. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "io/number.h"
#include "io/row.h"

static hw_sensor sensors[] = {{.id = "s1", .location_m = 37.5}, {.id = "gauge \"B\"", .location_m = 141.2}};
static hw_river river = {.sensors = sensors, .sensor_count = 2};

static hw_reader *open_text(const char *text) {
  hw_reader *reader = NULL;
  hw_error error = {""};
  if (hw_reader_memory(text, strlen(text), "r.csv", &river, &reader, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return reader;
}

static void expect_reading(hw_reader *reader, size_t sensor, double time_s, double c, bool below) {
  hw_reading reading;
  hw_error error = {""};
  const hw_status status = hw_reader_next(reader, &reading, &error);
  if (status != HW_OK) {
    fail_msg("%s %s", hw_status_name(status), error.text);
  }
  assert_int_equal(reading.sensor, sensor);
  assert_true(reading.time_s == time_s);
  assert_true(reading.concentration_g_m3 == c);
  assert_int_equal(reading.below_limit, below);
}

static void expect_end(hw_reader *reader) {
  hw_reading reading;
  assert_int_equal(hw_reader_next(reader, &reading, NULL), HW_EEND);
  hw_reader_free(reader);
}

static void test_csv_gives_si_units_in_file_order(void **state) {
  (void)state;
  hw_reader *reader = open_text("time_min,sensor,concentration_ug_l\n-14.2,s1,0.37\n2.5,s1,14.2\n");
  expect_reading(reader, 0, -14.2 * 60, 0.37 / 1000, false);
  expect_reading(reader, 0, 150, 14.2 / 1000, false);
  expect_end(reader);
}

static void test_csv_takes_any_column_order_quotes_comments_crlf_and_bom(void **state) {
  (void)state;
  hw_reader *reader = open_text(
      "\xef\xbb\xbf# made by hand\r\nnote,concentration_mg_l,\"sensor\",time_h\r\n\r\n"
      "\"a, b\",<0.02,\"gauge \"\"B\"\"\",1.5\r\n  # between\r\nx,0.25,s1,2 # a spike\r\n,-0.001, s1 ,2.5");
  expect_reading(reader, 1, 5400, 0.02, true);
  expect_reading(reader, 0, 7200, 0.25, false);
  expect_reading(reader, 0, 9000, -0.001, false);
  assert_true(hw_reader_count(reader)->unterminated);
  expect_end(reader);
}

static void test_a_clipped_reading_is_above_its_limit(void **state) {
  (void)state;
  hw_reader *reader = open_text("time_s,sensor,concentration_ug_l\n37,s1,> 14.2\n38,s1,>-1\n");
  hw_reading reading;
  hw_error error = {""};
  assert_int_equal(hw_reader_next(reader, &reading, &error), HW_OK);
  assert_true(reading.above_limit && !reading.below_limit && reading.concentration_g_m3 == 14.2 / 1000);
  assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
  assert_string_equal(error.text,
                      "r.csv:3: concentration_ug_l '>-1', expected a number, '<' or '>' and a limit, or nothing");
  expect_end(reader);
}

static void test_missing_duplicate_and_late_rows_are_counted(void **state) {
  (void)state;
  hw_reader *reader =
      open_text("time_s,sensor,concentration_g_m3\n37,s1,0.1\n37,s1,0.2\n40,s1,\n20,s1,0.3\n0,s1,1\n-0,s1,1\n");
  expect_reading(reader, 0, 37, 0.1, false);
  expect_reading(reader, 0, 20, 0.3, false);
  expect_reading(reader, 0, 0, 1, false);
  hw_reading reading;
  assert_int_equal(hw_reader_next(reader, &reading, NULL), HW_EEND);
  const hw_reader_counts *counts = hw_reader_count(reader);
  assert_int_equal(counts->rows, 6);
  assert_int_equal(counts->readings, 3);
  assert_int_equal(counts->missing, 1);
  assert_int_equal(counts->duplicate, 2);
  assert_int_equal(counts->out_of_order, 2);
  assert_false(counts->unterminated);
  hw_reader_free(reader);
}

static void test_ndjson_reads_the_same_names_and_skips_the_rest(void **state) {
  (void)state;
  hw_reader *reader = open_text(
      "{\"time_s\": 14.2, \"sensor\": \"gauge \\\"B\\\"\", \"concentration_mg_l\": 0.37, \"tags\": {\"a\": [1, "
      "\"}\"]}}\n"
      "# a comment\n"
      "{\"sensor\":\"s\\u0031\",\"concentration_ug_l\":\"<20\",\"time_s\":3e1}\n"
      "{\"sensor\":\"s1\",\"concentration_ug_l\":null,\"time_s\":31}\n");
  expect_reading(reader, 1, 14.2, 0.37, false);
  expect_reading(reader, 0, 30, 0.02, true);
  hw_reading reading;
  assert_int_equal(hw_reader_next(reader, &reading, NULL), HW_EEND);
  assert_int_equal(hw_reader_count(reader)->missing, 1);
  hw_reader_free(reader);
}

static void test_calendar_times_count_from_the_first_reading(void **state) {
  (void)state;
  hw_reader *reader =
      open_text("time,sensor,concentration_g_m3\n2026-03-01T08:15:00+01:00,s1,0.1\n2026-03-01T07:15:30.5Z,s1,0.2\n");
  double origin = 0;
  assert_false(hw_reader_calendar(reader, &origin));
  expect_reading(reader, 0, 0, 0.1, false);
  expect_reading(reader, 0, 30.5, 0.2, false);
  assert_true(hw_reader_calendar(reader, &origin));
  assert_true(origin == 1772349300.0); /* date -u -d 2026-03-01T07:15:00Z +%s */
  expect_end(reader);
}

static void test_calendar_times_are_unix_seconds_when_the_box_is_on_the_calendar(void **state) {
  (void)state;
  river.search_is_calendar = true;
  hw_reader *reader = open_text("time,sensor,concentration_g_m3\n2026-03-01T07:15:00Z,s1,0.1\n");
  expect_reading(reader, 0, 1772349300.0, 0.1, false);
  expect_end(reader);
  reader = open_text("time_s,sensor,concentration_g_m3\n1,s1,0.1\n");
  hw_reading reading;
  hw_error error;
  assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
  assert_string_equal(error.text,
                      "r.csv:2: times as time_s where the river's search.time_s is on the calendar, expected a column "
                      "named time");
  hw_reader_free(reader);
  river.search_is_calendar = false;
}

static void test_every_bad_header_has_its_sentence(void **state) {
  (void)state;
  static const struct {
    const char *text, *sentence;
  } cases[] = {
      {"", "r.csv:1: an empty file, expected readings as CSV or NDJSON"},
      {"# nothing\n\n", "r.csv:1: an empty file, expected readings as CSV or NDJSON"},
      {"sensor,concentration_g_m3\n",
       "r.csv:1: header 'sensor,concentration_g_m3' has no time column, expected one of time, time_s, time_min, "
       "time_h"},
      {"\ntime_s,concentration_g_m3\n",
       "r.csv:2: header 'time_s,concentration_g_m3' has no sensor column, expected one named sensor"},
      {"time_s,sensor,value\n",
       "r.csv:1: header 'time_s,sensor,value' has no concentration column, expected one of concentration_g_m3, "
       "concentration_mg_l, concentration_ug_l, concentration_ng_l"},
      {"time_s,time_h,sensor,concentration_g_m3\n", "r.csv:1: a second time column time_h, expected one"},
      {"time_s,sensor,concentration_g_m3,sensor\n", "r.csv:1: a second sensor column sensor, expected one"},
      {"time_s,sensor,concentration_g_m3,concentration_ug_l\n",
       "r.csv:1: a second concentration column concentration_ug_l, expected one"},
      {"time_s,gauge,gauge,discharge_m3_s\n", "r.csv:1: a second gauge column gauge, expected one"},
      {"time_s,sensor,discharge_m3_s,concentration_g_m3,discharge_m3_s\n",
       "r.csv:1: a second discharge column discharge_m3_s, expected one"},
      {"time_s,sensor,concentration_g_m3,below_limit,note\n",
       "r.csv:1: a column below_limit, expected limits written as <0.02 or >0.3 in a table"},
      {"time_s,\"sensor,concentration_g_m3\n",
       "r.csv:1: a quote that is not closed in the header, expected column names"},
      {"\x1f\x01\x08junk\n", "r.csv:1: binary data, expected readings as CSV or NDJSON text"},
      {"\x1f\x8b\x08junk\n", "r.csv:1: a gzip file, expected text; pipe it through zcat and read from -"},
      {"PK\x03\x04junk\n", "r.csv:1: a zipped file such as an Excel workbook, expected the sheet saved as CSV"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw_reader *reader = NULL;
    hw_error error = {""};
    assert_int_equal(hw_reader_memory(cases[i].text, strlen(cases[i].text), "r.csv", &river, &reader, &error),
                     HW_EINPUT);
    assert_null(reader);
    assert_string_equal(error.text, cases[i].sentence);
  }
}

static void test_a_table_has_so_many_columns_and_a_field_so_many_characters(void **state) {
  (void)state;
  for (int more = 0; more < 2; more++) {
    char text[4000] = "time_s,sensor,concentration_g_m3";
    hw_reader *reader = NULL;
    hw_error error = {""};
    for (int i = 3; i < HW__MOST_COLUMNS + more; i++) {
      strcat(text, ",x");
    }
    strcat(text, "\n");
    assert_int_equal(hw_reader_memory(text, strlen(text), "r.csv", &river, &reader, &error), more ? HW_EINPUT : HW_OK);
    assert_int_equal(strstr(error.text, "columns, expected time, sensor and concentration") != NULL, more);
    hw_reader_free(reader);
    hw_reading reading;
    snprintf(text, sizeof text, "time_s,sensor,concentration_g_m3\n1,\"\"\"%0*d\",3\n", HW__SCRATCH_SIZE - 2 + more, 0);
    reader = open_text(text);
    assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
    assert_int_equal(strstr(error.text, "characters long, expected a time, sensor") != NULL, more);
    hw_reader_free(reader);
  }
}

static void test_every_bad_row_has_its_sentence_and_the_next_row_follows(void **state) {
  (void)state;
  static const struct {
    const char *row, *sentence;
  } cases[] = {
      {"x,s1,0.1", "r.csv:2: time_s 'x', expected a number"},
      {",s1,0.1", "r.csv:2: time_s '', expected a number"},
      {"inf,s1,0.1", "r.csv:2: time_s 'inf', expected a number"},
      {"1,s1,nan", "r.csv:2: concentration_g_m3 'nan', expected a number, '<' or '>' and a limit, or nothing"},
      {"1,s1,1e999", "r.csv:2: concentration_g_m3 '1e999', expected a number, '<' or '>' and a limit, or nothing"},
      {"1,s1,<", "r.csv:2: concentration_g_m3 '<', expected a number, '<' or '>' and a limit, or nothing"},
      {"1,s1,0x10", "r.csv:2: concentration_g_m3 '0x10', expected a number, '<' or '>' and a limit, or nothing"},
      {"1,s9,0.1", "r.csv:2: sensor 's9' is not in the river file, expected one of: s1, gauge \"B\""},
      {"1,s1", "r.csv:2: a row of 2 fields, expected 3 as in the header"},
      {"1,s1,0,5", "r.csv:2: a row of 4 fields, expected 3 as in the header"},
      {"1,\"s1,0", "r.csv:2: a quote that is not closed in field 2, expected text in a pair of quotes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "time_s,sensor,concentration_g_m3\n%s\n7,s1,0.7\n", cases[i].row);
    hw_reader *reader = open_text(text);
    hw_reading reading;
    hw_error error = {""};
    assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
    assert_string_equal(error.text, cases[i].sentence);
    assert_int_equal(hw_reader_line(reader), 2);
    expect_reading(reader, 0, 7, 0.7, false);
    expect_end(reader);
  }
}

/* As many as there is room for, and dots where some are left out. */
static void test_an_unknown_sensor_is_told_which_there_are(void **state) {
  (void)state;
  for (size_t count = 1; count <= 8; count++) {
    hw_sensor eight[8] = {{{0}}};
    const hw_river many = {.sensors = eight, .sensor_count = count};
    char sentence[400] = "r.csv:2: sensor 's9' is not in the river file, expected one of: ";
    for (size_t i = 0; i < count; i++) {
      snprintf(eight[i].id, sizeof eight[i].id, "gauge-at-the-weir-%zu", i);
      if (i < 4) {
        strcat(strcat(sentence, i ? ", " : ""), eight[i].id);
      }
    }
    strcat(sentence, count > 4 ? ", ..." : "");
    const char *text = "time_s,sensor,concentration_g_m3\n1,s9,0.1\n";
    hw_reader *reader = NULL;
    hw_reading reading;
    hw_error error = {""};
    assert_int_equal(hw_reader_memory(text, strlen(text), "r.csv", &many, &reader, &error), HW_OK);
    assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
    assert_string_equal(error.text, sentence);
    hw_reader_free(reader);
  }
}

static void test_bad_ndjson_has_its_sentence(void **state) {
  (void)state;
  static const struct {
    const char *row, *sentence;
  } cases[] = {
      {"{\"time_s\": 1, \"sensor\": \"s1\"",
       "r.csv:2: '{\"time_s\": 1, \"sensor\": \"s1\"' is not one JSON object, expected {\"time_s\": ..., \"sensor\": "
       "..., "
       "...}"},
      {"[1]", "r.csv:2: '[1]' is not one JSON object, expected {\"time_s\": ..., \"sensor\": ..., ...}"},
      {"{}",
       "r.csv:2: an object without time, time_s, time_min or time_h, expected all of time, sensor and concentration"},
      {"{\"time_s\": 1, \"sensor\": \"s1\", \"concentration_g_m3\": [1]}",
       "r.csv:2: concentration_g_m3 holds an object or array, expected a number or text"},
      {"{\"time\": \"2026-03-01T08:15:00Z\", \"sensor\": \"s1\", \"concentration_g_m3\": 1}",
       "r.csv:2: time after times in numbers, expected one kind of time in one file"},
      {"{\"time_s\": 1, \"time_s\": 1, \"sensor\": \"s1\", \"concentration_g_m3\": 1}",
       "r.csv:2: a second time_s in one object, expected one time, sensor and concentration"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "{\"time_s\": 0, \"sensor\": \"s1\", \"concentration_g_m3\": 1}\n%s\n", cases[i].row);
    hw_reader *reader = open_text(text);
    expect_reading(reader, 0, 0, 1, false);
    hw_reading reading;
    hw_error error = {""};
    assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
    assert_string_equal(error.text, cases[i].sentence);
    expect_end(reader);
  }
}

/* Whether an id written as this escape is read as the sensor's. */
static bool is_read_as(const char *escape, const char *id) {
  hw_sensor sensor = {.location_m = 37.5};
  const hw_river own = {.sensors = &sensor, .sensor_count = 1};
  char text[160];
  hw_reader *reader = NULL;
  hw_error error = {""};
  hw_reading reading;
  snprintf(sensor.id, sizeof sensor.id, "x%sy", id);
  snprintf(text, sizeof text, "{\"time_s\": 14.5, \"sensor\": \"x%sy\", \"concentration_g_m3\": 1}\n", escape);
  const bool read = hw_reader_memory(text, strlen(text), "r", &own, &reader, &error) == HW_OK &&
                    hw_reader_next(reader, &reading, &error) == HW_OK;
  hw_reader_free(reader);
  return read;
}

static void test_escapes_are_the_utf8_of_their_code(void **state) {
  (void)state;
  static const unsigned codes[] = {0x20,  0x2a,  0x39,  0x4a,   0x5f,   0x7e,   0x7f,   0x80,   0x9f,  0xe9,   0x7ff,
                                   0x800, 0xabc, 0xdef, 0x1234, 0x5678, 0x9abc, 0xd7ff, 0xe000, 0xf0f, 0xfffd, 0xffff};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    const unsigned c = codes[i];
    char id[4] = {0}, escape[8];
    if (c < 0x80) {
      id[0] = (char)c;
    } else if (c < 0x800) {
      snprintf(id, sizeof id, "%c%c", (int)(0xc0 + c / 64), (int)(0x80 + c % 64));
    } else {
      snprintf(id, sizeof id, "%c%c%c", (int)(0xe0 + c / 4096), (int)(0x80 + c / 64 % 64), (int)(0x80 + c % 64));
    }
    snprintf(escape, sizeof escape, "\\u%04x", c);
    assert_true(is_read_as(escape, id));
    snprintf(escape, sizeof escape, "\\u%04X", c);
    assert_true(is_read_as(escape, id));
    assert_false(is_read_as(escape, "z"));
  }
  static const char *const wrong[] = {"\\u0000", "\\ud800", "\\udfff", "\\u00g1", "\\u00G1", "\\u00/1",
                                      "\\u00:1", "\\u00@1", "\\u00`1", "\\u 041", "\\x41",   "\\u41"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_false(is_read_as(wrong[i], "A"));
  }
}

typedef struct {
  hw_flow flow[4];
  size_t count;
} heard;

static void hear(void *context, const hw_flow *flow) {
  heard *h = context;
  assert_in_range(h->count, 0, 3);
  h->flow[h->count++] = *flow;
}

static hw_reader *open_with_flow(const char *text, heard *h) {
  static hw_gauge gauges[] = {{.id = "g1", .location_m = -370}, {.id = "s1", .location_m = 0}};
  static hw_river gauged;
  gauged = river;
  gauged.gauges = gauges, gauged.gauge_count = 2;
  *h = (heard){.count = 0};
  const hw_reader_options options = {.take_flow = hear, .flow_context = h};
  hw_reader *reader = NULL;
  hw_error error = {""};
  if (hw_reader_memory_with(text, strlen(text), "r.csv", &gauged, &options, &reader, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return reader;
}

static void test_discharges_among_the_readings_go_to_whoever_asked(void **state) {
  (void)state;
  static const char csv[] =
      "time_min,sensor,gauge,concentration_g_m3,discharge_m3_s\n"
      "1,s1,,0.37,\n2,,g1,,14.2\n3,s1,,,8.5\n4,s1,,0.4,\n5,,g9,,1\n6,,g1,,0\n7,,g1,,x\n";
  static const char json[] =
      "{\"time_min\":1,\"sensor\":\"s1\",\"concentration_g_m3\":0.37}\n"
      "{\"time_min\":2,\"gauge\":\"g1\",\"discharge_m3_s\":14.2}\n"
      "{\"time_min\":3,\"sensor\":\"s1\",\"discharge_m3_s\":8.5}\n"
      "{\"time_min\":4,\"sensor\":\"s1\",\"concentration_g_m3\":0.4}\n";
  static const char *const texts[] = {csv, json};
  for (size_t i = 0; i < 2; i++) {
    heard h;
    hw_reading reading;
    hw_error error = {""};
    hw_reader *reader = open_with_flow(texts[i], &h);
    expect_reading(reader, 0, 60, 0.37, false);
    assert_int_equal(h.count, 0);
    expect_reading(reader, 0, 240, 0.4, false);
    assert_int_equal(h.count, 2);
    assert_true(h.flow[0].gauge == 0 && h.flow[0].time_s == 120 && h.flow[0].discharge_m3_s == 14.2);
    assert_true(h.flow[1].gauge == 1 && h.flow[1].time_s == 180 && h.flow[1].discharge_m3_s == 8.5);
    static const char *const faults[] = {"r.csv:6: gauge 'g9' is not in the river file, expected one of its gauges",
                                         "r.csv:7: discharge_m3_s 0, expected a positive number",
                                         "r.csv:8: discharge_m3_s 'x', expected a number"};
    for (size_t k = 0; k < 3 && i == 0; k++) {
      assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
      assert_string_equal(error.text, faults[k]);
    }
    assert_int_equal(h.count, 2);
    expect_end(reader);
  }
}

/* Through a pipe, so that the buffer refills in odd places. */
static void test_a_line_of_a_megabyte_is_a_fault_and_reading_goes_on(void **state) {
  (void)state;
  FILE *file = tmpfile();
  assert_non_null(file);
  fputs("time_s,sensor,concentration_g_m3\n1,s1,", file);
  for (int i = 0; i < 1 << 20; i++) {
    fputc('7', file);
  }
  fputs("\n14.2,s1,0.37\n", file);
  rewind(file);
  hw_reader *reader = NULL;
  hw_error error;
  assert_int_equal(hw_reader_stream(file, "big.csv", &river, &reader, &error), HW_OK);
  hw_reading reading;
  assert_int_equal(hw_reader_next(reader, &reading, &error), HW_EINPUT);
  assert_string_equal(error.text, "big.csv:2: a line of more than 65536 bytes, expected one reading");
  expect_reading(reader, 0, 14.2, 0.37, false);
  expect_end(reader);
  fclose(file);
}

static void test_numbers_parse_as_strtod_does(void **state) {
  (void)state;
  static const char *const texts[] = {"0",
                                      "-0",
                                      "0.1",
                                      "1e22",
                                      "1e23",
                                      "9007199254740993",
                                      "123456789012345678901234567890",
                                      "2.2250738585072014e-308",
                                      "4.9e-324",
                                      "1.7976931348623157e308",
                                      ".5",
                                      "5.",
                                      "+3",
                                      "0.000000000000000000000000000000001234",
                                      "1e-400",
                                      "00000000000000000000000012.5",
                                      "0.30000000000000004",
                                      "17976931348623157e292"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    double value = NAN;
    assert_true(hw__number_parse((hw__slice){texts[i], strlen(texts[i])}, &value));
    assert_true(value == strtod(texts[i], NULL));
  }
  static const char *const wrong[] = {"",    "-",   ".",   "e5",    "1e",    "1e+", "1x",
                                      "1 2", "inf", "nan", "0x1p3", "1e400", "--1"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    double value;
    assert_false(hw__number_parse((hw__slice){wrong[i], strlen(wrong[i])}, &value));
  }
}

static void test_random_doubles_survive_writing_and_reading(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 37, 0);
  for (int i = 0; i < 20000; i++) {
    const uint64_t bits = hw_rng_bits(&rng);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) {
      continue;
    }
    char text[32];
    hw__number_format(value, text, sizeof text);
    double back;
    assert_true(hw__number_parse((hw__slice){text, strlen(text)}, &back));
    assert_true(back == value);
  }
}

static void test_duplicates_are_found_across_generations(void **state) {
  (void)state;
  const int rows = 150000; /* more than two generations of 65536 */
  FILE *file = tmpfile();
  assert_non_null(file);
  fputs("time_s,sensor,concentration_g_m3\n", file);
  for (int i = 0; i < rows; i++) {
    fprintf(file, "%d,s1,0.25\n", i);
    if (i % 1000 == 999) {
      fprintf(file, "%d,s1,0.25\n", i - 60000 > 0 ? i - 60000 : i);
    }
  }
  rewind(file);
  hw_reader *reader = NULL;
  assert_int_equal(hw_reader_stream(file, "long.csv", &river, &reader, NULL), HW_OK);
  hw_reading reading;
  while (hw_reader_next(reader, &reading, NULL) == HW_OK) {
  }
  assert_int_equal(hw_reader_count(reader)->readings, rows);
  assert_int_equal(hw_reader_count(reader)->duplicate, rows / 1000);
  hw_reader_free(reader);
  fclose(file);
}

static void test_the_rest_comes_whole_or_not_at_all(void **state) {
  (void)state;
  static const char text[] =
      "time_s,sensor,concentration_g_m3\n14.2,s1,0.37\n28.4,s1,\n42.6,s1,<0.02\n56.8,s1,0.41\n71,s1,0.43\n";
  hw_reading *readings = NULL;
  size_t count = 0;
  hw_error error = {""};
  hw_reader *reader = open_text(text);
  assert_int_equal(hw_reader_rest(reader, 4, &readings, &count, &error), HW_OK); /* the missing one does not count */
  assert_int_equal(count, 4);
  assert_true(readings[0].time_s == 14.2 && readings[3].time_s == 71 && readings[3].concentration_g_m3 == 0.43);
  assert_true(readings[1].below_limit);
  free(readings);
  hw_reader_free(reader);

  reader = open_text(text);
  assert_int_equal(hw_reader_rest(reader, 3, &readings, &count, &error), HW_EINPUT);
  assert_string_equal(error.text, "r.csv:6: more than 3 readings, expected fewer: they are all kept in memory");
  assert_true(readings == NULL && count == 0);
  hw_reader_free(reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_csv_gives_si_units_in_file_order),
      cmocka_unit_test(test_the_rest_comes_whole_or_not_at_all),
      cmocka_unit_test(test_csv_takes_any_column_order_quotes_comments_crlf_and_bom),
      cmocka_unit_test(test_a_clipped_reading_is_above_its_limit),
      cmocka_unit_test(test_missing_duplicate_and_late_rows_are_counted),
      cmocka_unit_test(test_ndjson_reads_the_same_names_and_skips_the_rest),
      cmocka_unit_test(test_calendar_times_count_from_the_first_reading),
      cmocka_unit_test(test_calendar_times_are_unix_seconds_when_the_box_is_on_the_calendar),
      cmocka_unit_test(test_every_bad_header_has_its_sentence),
      cmocka_unit_test(test_a_table_has_so_many_columns_and_a_field_so_many_characters),
      cmocka_unit_test(test_every_bad_row_has_its_sentence_and_the_next_row_follows),
      cmocka_unit_test(test_bad_ndjson_has_its_sentence),
      cmocka_unit_test(test_escapes_are_the_utf8_of_their_code),
      cmocka_unit_test(test_discharges_among_the_readings_go_to_whoever_asked),
      cmocka_unit_test(test_a_line_of_a_megabyte_is_a_fault_and_reading_goes_on),
      cmocka_unit_test(test_numbers_parse_as_strtod_does),
      cmocka_unit_test(test_random_doubles_survive_writing_and_reading),
      cmocka_unit_test(test_duplicates_are_found_across_generations),
      cmocka_unit_test(test_an_unknown_sensor_is_told_which_there_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

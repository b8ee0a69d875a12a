/* A mapping of columns at the bounds of its format: what it may leave out, how much it takes, and what it writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "io/columns_words.h"

static hw_error error;

/* From a copy that ends with its last byte: the sanitizer sees a look behind it. */
static hw_status parse_text(const char *text, hw_columns **out) {
  const size_t size = strlen(text);
  char *exact = malloc(size);
  assert_non_null(exact);
  memcpy(exact, text, size);
  error.text[0] = '\0';
  const hw_status status = hw_columns_parse("m", exact, size, out, &error);
  free(exact);
  return status;
}

static hw_columns *taken(const char *text) {
  hw_columns *columns = NULL;
  if (parse_text(text, &columns) != HW_OK) {
    fail_msg("%s: %s", text, error.text);
  }
  return columns;
}

static void expect_refusal(const char *text, const char *sentence) {
  hw_columns *columns = NULL;
  assert_int_equal(parse_text(text, &columns), HW_EINPUT);
  assert_null(columns);
  if (!strstr(error.text, sentence)) {
    fail_msg("%.80s: '%s' instead of '%s'", text, error.text, sentence);
  }
}

static void test_a_mapping_may_leave_out_whatever_it_likes(void **state) {
  (void)state;
  hw_columns *columns = taken("{}");
  const hw_columns nothing = {0};
  assert_memory_equal(columns, &nothing, sizeof nothing);
  hw_columns_free(columns);
}

static void test_a_line_is_a_whole_number_up_to_a_thousand(void **state) {
  (void)state;
  hw_columns *columns = taken("{header: 0}");
  assert_int_equal(columns->header, 0);
  hw_columns_free(columns);
  columns = taken("{header: 1000, skip: 999}");
  assert_true(columns->header == 1000 && columns->skip == 999);
  hw_columns_free(columns);
  expect_refusal("{header: 1001}", "header is '1001', expected a number of lines");
  expect_refusal("{header: -1}", "header is '-1', expected a number of lines");
  expect_refusal("{header: third}", "header is 'third', expected a number of lines");
  expect_refusal("{header: 37.5}", "header is '37.5', expected a number of lines");
}

static void test_a_time_is_one_column_or_two(void **state) {
  (void)state;
  hw_columns *columns = taken("{time: [when]}");
  assert_string_equal(columns->time[0], "when");
  assert_string_equal(columns->time[1], "");
  hw_columns_free(columns);
  columns = taken("{time: [day, hour]}");
  assert_string_equal(columns->time[0], "day");
  assert_string_equal(columns->time[1], "hour");
  hw_columns_free(columns);
  expect_refusal("{time: []}", "time names 0 columns, expected one, or a date's and a clock's");
  expect_refusal("{time: [a, b, c]}", "time names 3 columns");
}

/* {KEY: [x, x, ...]} or {KEY: {s0: x, s1: x, ...}} */
static char *list_of(const char *key, size_t count, bool pairs) {
  char *text = malloc(40 + 12 * count);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "{%s: %c", key, pairs ? '{' : '[');
  for (size_t i = 0; i < count; i++) {
    length += (size_t)(pairs ? sprintf(text + length, "%ss%zu: x", i ? ", " : "", i)
                             : sprintf(text + length, "%sx", i ? ", " : ""));
  }
  sprintf(text + length, "%c}", pairs ? '}' : ']');
  return text;
}

static void test_lists_hold_a_thousand_and_no_more(void **state) {
  (void)state;
  char *text = list_of("missing", 1000, false);
  hw_columns *columns = taken(text);
  assert_int_equal(columns->missing_count, 1000);
  assert_string_equal(columns->missing[999], "x");
  hw_columns_free(columns);
  free(text);
  text = list_of("missing", 1001, false);
  expect_refusal(text, "missing is a list of 1001, expected at most 1000");
  free(text);
  text = list_of("names", 1000, true);
  columns = taken(text);
  assert_int_equal(columns->name_count, 1000);
  assert_string_equal(columns->names[999].id, "s999");
  hw_columns_free(columns);
  free(text);
  text = list_of("names", 1001, true);
  expect_refusal(text, "names names 1001 sensors, expected 1 to 1000");
  free(text);
  columns = taken("{names: {s1: Elm}}");
  assert_int_equal(columns->name_count, 1);
  hw_columns_free(columns);
  expect_refusal("{names: {}}", "names names 0 sensors, expected 1 to 1000");
}

static void test_texts_are_printable_and_as_long_as_their_room(void **state) {
  (void)state;
  hw_columns *columns = taken("{missing: [\"a b\", \"\", \"aaaaaaaaaabbbbbbbbbbccccccccccd\"]}");
  assert_string_equal(columns->missing[0], "a b"); /* a blank, 0x20, is the first that is printed */
  assert_string_equal(columns->missing[1], "");
  assert_string_equal(columns->missing[2], "aaaaaaaaaabbbbbbbbbbccccccccccd");
  hw_columns_free(columns);
  expect_refusal("{missing: [\"aaaaaaaaaabbbbbbbbbbccccccccccdd\"]}", "expected texts of at most 31 bytes");
  expect_refusal("{missing: [\"ab\\x1fc\"]}", "missing has a control character");
  expect_refusal("{missing: [\"\\x1f\"]}", "missing has a control character");
  expect_refusal("{missing: [[a]]}", "missing holds a list, expected texts");
  expect_refusal("{value: \"ab\\x1f\"}", "value has a control character");
  expect_refusal("{value: \"ab\\x7f\"}", "value has a control character");
  columns = taken("{value: \"~ ~\"}");
  assert_string_equal(columns->value, "~ ~");
  hw_columns_free(columns);
  char text[HW_NAME_SIZE + 20], name[HW_NAME_SIZE + 1];
  memset(name, 'n', sizeof name);
  snprintf(text, sizeof text, "{value: %.*s}", HW_NAME_SIZE - 1, name);
  columns = taken(text);
  assert_int_equal(strlen(columns->value), HW_NAME_SIZE - 1);
  hw_columns_free(columns);
  snprintf(text, sizeof text, "{value: %.*s}", HW_NAME_SIZE, name);
  expect_refusal(text, "bytes long, expected at most");
}

static void test_the_short_form_keeps_quotes_and_backslashes(void **state) {
  (void)state;
  hw_columns *columns = taken("value=a\"b\\c,time=it's when,unit=ug/l");
  assert_string_equal(columns->value, "a\"b\\c");
  assert_string_equal(columns->time[0], "it's when");
  assert_string_equal(columns->unit, "ug/l");
  hw_columns_free(columns);
  columns = taken("time=a:b"); /* a colon in a value, not behind a key */
  assert_string_equal(columns->time[0], "a:b");
  hw_columns_free(columns);
  columns = taken("value: a=b"); /* and an equals sign in a value of YAML */
  assert_string_equal(columns->value, "a=b");
  hw_columns_free(columns);
  columns = taken("value: a\ntime: x=y\n");
  assert_string_equal(columns->time[0], "x=y");
  hw_columns_free(columns);
}

/* What is short: up to 31 marks, each of which becomes four characters. */
static void test_the_short_form_has_up_to_31_marks(void **state) {
  (void)state;
  char text[400];
  size_t length = 0;
  for (int i = 0; i < 16; i++) { /* sixteen equals signs and fifteen commas; quotes become two characters */
    length += (size_t)sprintf(text + length, "%sk%d\"\"\"\"\"\"=\"\"\"\"\"\"\"\"\"\"", i ? "," : "", i);
  }
  expect_refusal(text, "unknown key 'k0\"\"\"\"\"\"'");
  strcat(text, ",");
  expect_refusal(text, "import is 'k0"); /* a text as YAML has it */
}

static void test_a_star_stands_for_any_beginning_and_for_none(void **state) {
  (void)state;
  assert_true(hw__column_is((hw__slice){"_c", 2}, "*_c"));
  assert_true(hw__column_is((hw__slice){"14_c", 4}, "*_c"));
  assert_false(hw__column_is((hw__slice){"c", 1}, "*_c"));
  assert_false(hw__column_is((hw__slice){"_cd", 3}, "*_c"));
  assert_true(hw__column_is((hw__slice){"*", 1}, "*"));
  assert_false(hw__column_is((hw__slice){"a", 1}, "*"));
  assert_false(hw__column_is((hw__slice){"_c", 2}, "_"));
}

/* Written, and read back: the same. */
static void expect_written(const char *value, const char *written) {
  hw_columns columns = {0}, *back = NULL;
  snprintf(columns.value, sizeof columns.value, "%s", value);
  char *text = NULL, line[300];
  assert_int_equal(hw_columns_write(&columns, &text), HW_OK);
  snprintf(line, sizeof line, "import:\n  value: %s\n", written);
  assert_string_equal(text, line);
  back = taken(text);
  assert_string_equal(back->value, value);
  hw_columns_free(back);
  free(text);
}

static void test_a_text_is_quoted_unless_it_is_plainly_a_word(void **state) {
  (void)state;
  static const char *const plain[] = {"a", "z", "A", "Z", "c09", "a0", "a9", "az_-./ ()", "Elm", "nay", "yes2"};
  static const char *const quoted[] = {"0",    "9c",    "a ",  "_a", "a:", "a;",  "a,b",  "a[", "a{", "a`",
                                       "true", "false", "yes", "no", "on", "off", "null", "y",  "n"};
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
    expect_written(plain[i], plain[i]);
  }
  for (size_t i = 0; i < sizeof quoted / sizeof quoted[0]; i++) {
    char written[40];
    snprintf(written, sizeof written, "\"%s\"", quoted[i]);
    expect_written(quoted[i], written);
  }
  expect_written("a\"b\\c", "\"a\\\"b\\\\c\"");
  expect_written("\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xc2\xb5", "\"\\N\\L\\P\\uFEFF\xc2\xb5\"");
}

static void test_whatever_a_mapping_can_say_is_written_and_read_back(void **state) {
  (void)state;
  static const char *const texts[] = {
      ("import:\n  encoding: utf-8\n  separator: \";\"\n  decimal: \".\"\n  time: when\n  time_as: ymd\n  timezone: "
       "UTC\n"
       "  twice: first\n  sensor: place\n  value: c\n  names:\n    s1: Elm\n    s2: \"7\"\n  missing: [none, \"\"]\n"),
      ("import:\n  encoding: utf-16be\n  separator: \"|\"\n  header: 2\n  skip: 3\n  time: [a, b]\n  time_as: mdy\n"
       "  timezone_from: tz_cd\n  twice: second\n  value: \"*_c\"\n  unit: ppb\n  quality: q\n  good: [A, B, \"\"]\n"),
      "import:\n  encoding: windows-1252\n  separator: \",\"\n  time_as: excel\n  sensors:\n    s1: c1\n    s2: c2\n",
      "import:\n  encoding: utf-16le\n  separator: tab\n  decimal: \",\"\n  time_as: unix\n  twice: by order\n",
      "import:\n  time_as: s\n",
      "import:\n  time_as: min\n",
      "import:\n  time_as: h\n",
      "import:\n  time_as: dmy\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    hw_columns *columns = taken(texts[i]);
    char *again = NULL;
    assert_int_equal(hw_columns_write(columns, &again), HW_OK);
    assert_string_equal(again, texts[i]);
    free(again);
    hw_columns_free(columns);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_mapping_may_leave_out_whatever_it_likes),
      cmocka_unit_test(test_a_line_is_a_whole_number_up_to_a_thousand),
      cmocka_unit_test(test_a_time_is_one_column_or_two),
      cmocka_unit_test(test_lists_hold_a_thousand_and_no_more),
      cmocka_unit_test(test_texts_are_printable_and_as_long_as_their_room),
      cmocka_unit_test(test_the_short_form_keeps_quotes_and_backslashes),
      cmocka_unit_test(test_the_short_form_has_up_to_31_marks),
      cmocka_unit_test(test_a_star_stands_for_any_beginning_and_for_none),
      cmocka_unit_test(test_a_text_is_quoted_unless_it_is_plainly_a_word),
      cmocka_unit_test(test_whatever_a_mapping_can_say_is_written_and_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Lines as a source gives them, in pieces of any size, in any encoding, and from one that fails; and numbers to the
 * last character. */
#define _GNU_SOURCE /* fopencookie */
#include <errno.h>
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
#include "io/lines.h"
#include "io/number.h"

/* Gives its text in pieces, and fails once so much was given. */
typedef struct {
  const char *text;
  size_t size, given, piece, fails_at;
} source;

static ssize_t give(void *cookie, char *room, size_t size) {
  source *s = cookie;
  if (s->given >= s->fails_at) {
    errno = ENODEV;
    return -1;
  }
  size_t n = s->size - s->given < s->piece ? s->size - s->given : s->piece;
  n = n < size ? n : size;
  memcpy(room, s->text + s->given, n);
  s->given += n;
  return (ssize_t)n;
}

static FILE *open_source(source *s) {
  FILE *file = fopencookie(s, "r", (cookie_io_functions_t){.read = give});
  assert_non_null(file);
  setvbuf(file, NULL, _IONBF, 0);
  return file;
}

/* The text in this encoding, with its mark; to be freed. */
static char *encoded(const char *text, hw_encoding encoding, size_t *size) {
  const size_t length = strlen(text);
  char *out = malloc(2 * length + 4);
  assert_non_null(out);
  if (encoding == HW_UTF8) {
    memcpy(out, "\xef\xbb\xbf", 3);
    memcpy(out + 3, text, length);
    *size = length + 3;
    return out;
  }
  const size_t low = encoding == HW_UTF16LE ? 0 : 1;
  memcpy(out, low ? "\xfe\xff" : "\xff\xfe", 2);
  for (size_t i = 0; i < length; i++) {
    out[2 + 2 * i + low] = text[i];
    out[3 + 2 * i - low] = '\0';
  }
  *size = 2 * length + 2;
  return out;
}

static const char text[] = "a\n\nbc d\r\n\r\nlast but one\nlast";
static const char *const lines[] = {"a", "", "bc d", "", "last but one", "last"};
static const hw_encoding encodings[] = {HW_UTF8, HW_UTF16LE, HW_UTF16BE};

static void test_lines_are_the_same_in_pieces_of_any_size_and_any_encoding(void **state) {
  (void)state;
  for (size_t e = 0; e < 3; e++) {
    size_t size;
    char *bytes = encoded(text, encodings[e], &size);
    for (size_t piece = 1; piece <= size; piece++) {
      source s = {bytes, size, 0, piece, SIZE_MAX};
      hw__lines l = {.fd = -1, .stream = open_source(&s), .owns = true};
      hw__slice line;
      assert_int_equal(hw__lines_open(&l), HW_OK);
      assert_int_equal(hw__lines_mark(&l), HW_OK);
      for (size_t i = 0; i < 6; i++) {
        assert_int_equal(hw__lines_next(&l, &line), HW_OK);
        assert_true(hw__slice_is(line, lines[i]));
        assert_int_equal(l.line, i + 1);
        assert_int_equal(l.unterminated, i == 5);
      }
      assert_int_equal(hw__lines_next(&l, &line), HW_EEND);
      assert_int_equal(hw__lines_offset(&l), size);
      hw__lines_close(&l);
    }
    free(bytes);
  }
}

/* Lines that were whole come, then the fault; never a part of a line, and never the end. */
static void test_a_source_that_fails_ends_in_an_io_fault_wherever_it_fails(void **state) {
  (void)state;
  for (size_t e = 0; e < 3; e++) {
    size_t size;
    char *bytes = encoded(text, encodings[e], &size);
    for (size_t at = 0; at < size; at++) {
      source s = {bytes, size, 0, 1, at};
      hw__lines l = {.fd = -1, .stream = open_source(&s), .owns = true};
      hw__slice line;
      assert_int_equal(hw__lines_open(&l), HW_OK);
      hw_status status = hw__lines_mark(&l);
      size_t i = 0;
      while (status == HW_OK && (status = hw__lines_next(&l, &line)) == HW_OK) {
        assert_true(hw__slice_is(line, lines[i++]));
      }
      assert_int_equal(status, HW_EIO);
      assert_true(i < 6);
      hw_error error;
      char sentence[200];
      errno = ENODEV;
      assert_int_equal(hw__lines_fault(&l, "x", status, &error), HW_EIO);
      snprintf(sentence, sizeof sentence, "x:%zu: %s", i + 1, strerror(ENODEV));
      assert_string_equal(error.text, sentence);
      hw__lines_close(&l);
    }
    free(bytes);
  }
}

/* What comes next may be looked at before it is taken, as far as it has come. */
static void test_the_head_is_whole_lines_and_stays(void **state) {
  (void)state;
  static const size_t ends[] = {0, 2, 3, 9, 11, 24, 28, 28};
  for (size_t e = 0; e < 3; e++) {
    size_t size;
    char *bytes = encoded(text, encodings[e], &size);
    for (size_t count = 0; count <= 7; count++) {
      source s = {bytes, size, 0, 5, SIZE_MAX};
      hw__lines l = {.fd = -1, .stream = open_source(&s), .owns = true};
      hw__slice head, line;
      assert_int_equal(hw__lines_open(&l), HW_OK);
      assert_int_equal(hw__lines_mark(&l), HW_OK);
      assert_int_equal(hw__lines_head(&l, count, &head), HW_OK);
      assert_int_equal(head.size, ends[count]);
      assert_memory_equal(head.text, text, head.size);
      assert_int_equal(hw__lines_next(&l, &line), HW_OK);
      assert_true(hw__slice_is(line, "a"));
      assert_int_equal(hw__lines_head(&l, 1, &head), HW_OK);
      assert_true(hw__slice_is(head, "\n"));
      hw__lines_close(&l);
    }
    free(bytes);
  }
}

/* A line may have 65536 bytes; one more is a fault, behind which the next line comes, however long it was. */
static void test_a_line_that_is_too_long_is_passed_over_whole(void **state) {
  (void)state;
  static const size_t lengths[] = {HW__LONGEST_LINE - 1, HW__LONGEST_LINE, HW__LONGEST_LINE + 1, 4 * HW__LONGEST_LINE,
                                   9 * HW__LONGEST_LINE + 37};
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    for (int from_memory = 0; from_memory < 2; from_memory++) {
      const size_t size = lengths[k] + strlen("\nnext\n");
      char *bytes = malloc(size + 1);
      assert_non_null(bytes);
      memset(bytes, 'x', lengths[k]);
      memcpy(bytes + lengths[k], "\nnext\n", 7);
      source s = {bytes, size, 0, 4096, SIZE_MAX};
      hw__lines l = {.fd = -1, .stream = open_source(&s), .owns = true};
      hw__lines m = {.fd = -1, .data = bytes, .end = size, .finished = true};
      hw__lines *at = from_memory ? &m : &l;
      hw__slice line;
      hw_error error;
      assert_int_equal(hw__lines_open(at), HW_OK);
      const bool fits = lengths[k] <= HW__LONGEST_LINE;
      assert_int_equal(hw__lines_next(at, &line), fits ? HW_OK : HW_EDOMAIN);
      if (fits) {
        assert_int_equal(line.size, lengths[k]);
      } else {
        assert_int_equal(hw__lines_fault(at, "x", HW_EDOMAIN, &error), HW_EINPUT);
        assert_string_equal(error.text, "x:1: a line of more than 65536 bytes, expected one reading");
      }
      assert_int_equal(hw__lines_next(at, &line), HW_OK);
      assert_true(hw__slice_is(line, "next"));
      assert_int_equal(at->line, 2);
      assert_int_equal(hw__lines_next(at, &line), HW_EEND);
      hw__lines_close(at);
      if (from_memory) {
        fclose(l.stream);
      }
      free(bytes);
    }
  }
}

/* As a slice of a longer text, and alone in memory that ends with it. */
static bool parse(const char *number, double *value) {
  char longer[500];
  double alone = 37;
  const size_t size = strlen(number);
  assert_true(size < sizeof longer - 4);
  memcpy(longer, number, size);
  memcpy(longer + size, "7e5", 4);
  char *exact = malloc(size);
  assert_true(exact || !size);
  memcpy(exact, number, size);
  const bool good = hw__number_parse((hw__slice){exact, size}, &alone);
  free(exact);
  *value = -14.2;
  assert_int_equal(hw__number_parse((hw__slice){longer, size}, value), good);
  assert_true(*value == (good ? alone : -14.2));
  return good;
}

static void test_numbers_are_read_to_their_last_character(void **state) {
  (void)state;
  static const char *const good[] = {"9007199254740992",
                                     "9007199254740993",
                                     "-9007199254740993e-22",
                                     "1e22",
                                     "1e-22",
                                     "3e23",
                                     "3e-23",
                                     "123456789e14",
                                     "0.00000000000000000000000000000000000000000001e44",
                                     "9999999999999999999",
                                     "99999999999999999999",
                                     "1e+5",
                                     "1E-5",
                                     "+.5",
                                     "-5.",
                                     "0e99999999",
                                     "1e-99999999",
                                     "0.1e1",
                                     "00",
                                     "1.7976931348623157e308",
                                     "12345678901234567890e-30",
                                     "1234567890123456789e-22",
                                     "0.000000000000000000001234567890123456789"};
  static const char *const bad[] = {"",     "+",    "-",     ".",       "-.",   "e",   "1e",  "1e+", "1e-", "1ex",
                                    "1e5x", "1e5.", "1..",   "1.5.2",   "/",    ":",   "1/",  "1:",  " 1",  "1 ",
                                    "++1",  "+-1",  "1e400", "1.8e308", "1e5 ", "1d5", "0x1", "1e/", "1e:"};
  double value;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    if (!parse(good[i], &value) || value != strtod(good[i], NULL)) {
      fail_msg("%s: %.17g", good[i], value);
    }
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    if (parse(bad[i], &value)) {
      fail_msg("%s: %.17g", bad[i], value);
    }
  }
  /* Four hundred characters and no more. */
  char number[402];
  memset(number, '0', sizeof number);
  number[0] = '7';
  number[1] = '.';
  number[400] = '\0';
  assert_true(parse(number, &value) && value == 7);
  number[399] = '1';
  assert_true(parse(number, &value) && value == 7);
  number[400] = '0';
  number[401] = '\0';
  assert_false(parse(number, &value));
}

static void test_blanks_are_trimmed_and_excerpts_cut(void **state) {
  (void)state;
  static const char *const texts[][2] = {{" \t a b\t ", "a b"}, {"", ""},    {" \t", ""}, {"a", "a"},
                                         {"\ta", "a"},          {"a ", "a"}, {"\n", "\n"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_true(hw__slice_is(hw__slice_trim((hw__slice){texts[i][0], strlen(texts[i][0])}), texts[i][1]));
  }
  char shown[HW__EXCERPT_SIZE];
  static const char forty[] = "0123456789012345678901234567890123456789";
  assert_string_equal(hw__excerpt((hw__slice){forty, 40}, shown), forty);
  assert_string_equal(hw__excerpt((hw__slice){"0123456789012345678901234567890123456789x", 41}, shown),
                      "0123456789012345678901234567890123456789...");
  assert_string_equal(hw__excerpt((hw__slice){"a\x1f \x7f~\n", 6}, shown), "a? ?~?");
  assert_string_equal(hw__excerpt((hw__slice){"", 0}, shown), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines_are_the_same_in_pieces_of_any_size_and_any_encoding),
      cmocka_unit_test(test_a_source_that_fails_ends_in_an_io_fault_wherever_it_fails),
      cmocka_unit_test(test_the_head_is_whole_lines_and_stays),
      cmocka_unit_test(test_a_line_that_is_too_long_is_passed_over_whole),
      cmocka_unit_test(test_numbers_are_read_to_their_last_character),
      cmocka_unit_test(test_blanks_are_trimmed_and_excerpts_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

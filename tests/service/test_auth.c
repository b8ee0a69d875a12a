/* Tokens: who may do what, and which files say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "http/auth.h"

/* printf elm | sha256sum, and so on */
#define ELM "af9b6fe9bdaa154b57a16b90780a1c2d0eed913c5d55c1eff7010a5997049e37"
#define ASH "037d390cd4ef796e5d75407fa72cc4708aa8a1ba3c36ed88db6fd3a441b68503"
#define OAK "df877645404747cb797334b8055b51fc081856d44f5f59a4107f3cdd495c7a0e"

static char path[] = "/tmp/headwater-auth-XXXXXX";
static hw_error error;

static void write_file(const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static hw__auth *loaded(const char *text) {
  hw__auth *auth = NULL;
  write_file(text);
  if (hw__auth_load(path, &auth, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return auth;
}

static void expect_refusal(const char *text, const char *sentence) {
  hw__auth *auth = (hw__auth *)(uintptr_t)1;
  write_file(text);
  error.text[0] = '\0';
  assert_int_equal(hw__auth_load(path, &auth, &error), HW_EINPUT);
  assert_null(auth);
  if (!strstr(error.text, sentence)) {
    fail_msg("'%s' instead of '%s'", error.text, sentence);
  }
}

static void test_a_token_has_the_roles_of_its_lines_and_no_others(void **state) {
  (void)state;
  hw__auth *auth = loaded("# who may\n\nread " ELM " of the desk\r\n\tingest,admin \t" ASH "# none\nadmin " ELM "\n");
  assert_int_equal(hw__auth_roles(auth, "elm"), HW_ROLE_READ | HW_ROLE_ADMIN);
  assert_int_equal(hw__auth_roles(auth, "ash"), HW_ROLE_INGEST | HW_ROLE_ADMIN);
  assert_int_equal(hw__auth_roles(auth, "oak"), 0);
  assert_int_equal(hw__auth_roles(auth, "elm "), 0);
  assert_int_equal(hw__auth_roles(auth, ""), 0);
  assert_int_equal(hw__auth_roles(auth, NULL), 0);
  hw__auth_free(auth);
  assert_int_equal(hw__auth_roles(NULL, NULL), HW_ROLE_ALL); /* without a file everybody may */
  assert_int_equal(hw__auth_version(NULL), 0);
  hw__auth_free(NULL);
}

static void test_digits_of_a_hash_may_be_large_or_small(void **state) {
  (void)state;
  char line[100] = "read ";
  for (size_t i = 0; i < strlen(OAK); i++) {
    line[5 + i] = (char)(OAK[i] >= 'a' ? OAK[i] - 32 : OAK[i]);
  }
  hw__auth *auth = loaded(line);
  assert_int_equal(hw__auth_roles(auth, "oak"), HW_ROLE_READ);
  hw__auth_free(auth);
}

static void test_every_line_that_is_no_token_is_refused(void **state) {
  (void)state;
  static const char *const lines[] = {"read",   "read 0a1b",  "all " ELM,     "read," ELM, "read,write " ELM,
                                      ", " ELM, "read x" ELM, "read " ELM "0"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char text[300];
    snprintf(text, sizeof text, "read " ASH "\n%s\n", lines[i]);
    expect_refusal(text, ":2: not a token, expected `read,ingest,admin SHA256` with 64 hexadecimal digits");
  }
  /* Each digit is looked at, the first and the last of a byte, and each end of the digits' ranges. */
  static const char others[] = "/:`g@G ";
  for (size_t at = 0; at < 64; at++) {
    char text[100];
    snprintf(text, sizeof text, "read %s\n", ELM);
    text[5 + at] = others[at % (sizeof others - 1)];
    expect_refusal(text, ":1: not a token");
  }
  expect_refusal("# nobody\n", ": no token, expected at least one line");
  expect_refusal("", ": no token, expected at least one line");
  hw__auth *auth = NULL;
  assert_int_equal(hw__auth_load("/nowhere/at/all", &auth, &error), HW_EIO);
  assert_null(auth);
}

/* A line has 512 bytes with its end and the string's: 510 of its own. */
static void test_a_line_is_read_whole_or_refused(void **state) {
  (void)state;
  char text[700];
  snprintf(text, sizeof text, "read " ELM " %0*d\n", 510 - 5 - 64 - 1, 0);
  assert_int_equal(strlen(text), 511);
  hw__auth *auth = loaded(text);
  assert_int_equal(hw__auth_roles(auth, "elm"), HW_ROLE_READ);
  hw__auth_free(auth);
  snprintf(text, sizeof text, "read " ELM " %0*d\n", 511 - 5 - 64 - 1, 0);
  expect_refusal(text, ":1: longer than 510 bytes, expected a shorter note");
  /* The tail of a comment grants nothing. */
  snprintf(text, sizeof text, "# %0*d read " OAK "\n", 508, 0);
  expect_refusal(text, ":1: longer than 510 bytes");
  /* The last line needs no end. */
  snprintf(text, sizeof text, "read " ELM "\nread " ASH " %0*d", 510 - 5 - 64 - 1, 0);
  auth = loaded(text);
  assert_int_equal(hw__auth_roles(auth, "ash"), HW_ROLE_READ);
  hw__auth_free(auth);
}

static void test_a_file_holds_1024_tokens_and_no_more(void **state) {
  (void)state;
  char *text = malloc(1030 * 80);
  assert_non_null(text);
  size_t length = 0;
  for (int i = 0; i < 1023; i++) {
    length += (size_t)sprintf(text + length, "read %064x\n", 4096 + i);
  }
  sprintf(text + length, "admin " OAK "\n");
  hw__auth *auth = loaded(text);
  assert_int_equal(hw__auth_roles(auth, "oak"), HW_ROLE_ADMIN); /* the last of them counts too */
  hw__auth_free(auth);
  strcat(text, "# a comment is no token\n");
  auth = loaded(text);
  hw__auth_free(auth);
  strcat(text, "read " ELM "\n");
  expect_refusal(text, ":1026: one token more than 1024, expected no more");
  free(text);
}

static void test_reading_again_counts_and_a_bad_file_changes_nothing(void **state) {
  (void)state;
  hw__auth *auth = loaded("read " ELM "\n");
  assert_int_equal(hw__auth_version(auth), 0);
  write_file("ingest " ELM "\nadmin " ASH "\n");
  assert_int_equal(hw__auth_reload(auth, &error), HW_OK);
  assert_int_equal(hw__auth_version(auth), 1);
  assert_int_equal(hw__auth_roles(auth, "elm"), HW_ROLE_INGEST);
  assert_int_equal(hw__auth_roles(auth, "ash"), HW_ROLE_ADMIN);
  write_file("read " OAK "\nread\n");
  assert_int_equal(hw__auth_reload(auth, &error), HW_EINPUT);
  assert_int_equal(hw__auth_version(auth), 1);
  assert_int_equal(hw__auth_roles(auth, "oak"), 0);
  assert_int_equal(hw__auth_roles(auth, "ash"), HW_ROLE_ADMIN);
  hw__auth_free(auth);
}

static int make_file(void **state) {
  (void)state;
  const int file = mkstemp(path);
  return file < 0 ? -1 : close(file);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_token_has_the_roles_of_its_lines_and_no_others),
      cmocka_unit_test(test_digits_of_a_hash_may_be_large_or_small),
      cmocka_unit_test(test_every_line_that_is_no_token_is_refused),
      cmocka_unit_test(test_a_line_is_read_whole_or_refused),
      cmocka_unit_test(test_a_file_holds_1024_tokens_and_no_more),
      cmocka_unit_test(test_reading_again_counts_and_a_bad_file_changes_nothing),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}

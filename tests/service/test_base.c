/* What every part of the service uses: addresses, numbers and times in JSON, lines of the log, counts. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/prometheus.h"

static void test_an_address_is_a_host_and_a_port(void **state) {
  (void)state;
  static const struct {
    const char *address, *host; /* NULL: none */
    unsigned port;
  } cases[] = {{"127.0.0.1:8080", "127.0.0.1", 8080},
               {"[::1]:80", "::1", 80},
               {"::1:80", "::1", 80},
               {"a:0", "a", 0},
               {"a:65535", "a", 65535},
               {"a:65536", NULL, 0},
               {"a:4294967376", NULL, 0}, /* 80 in 32 bits */
               {"a:", NULL, 0},
               {"a:8o", NULL, 0},
               {"a:-8", NULL, 0},
               {"a: 8", NULL, 0},
               {":80", NULL, 0},
               {"80", NULL, 0},
               {"", NULL, 0},
               {"[]:80", "[]", 80},
               {"[a]:80", "a", 80},
               {"[a:80", "[a", 80},
               {"a]:80", "a]", 80},
               {"123456789012345:7", "123456789012345", 7},
               {"1234567890123456:7", NULL, 0}, /* room for fifteen and the end */
               {"[123456789012345]:7", "123456789012345", 7}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char host[17];
    unsigned port = 99;
    memset(host, '#', sizeof host);
    const bool good = hw__address_split(cases[i].address, host, 16, &port);
    if (good != (cases[i].host != NULL) || (good && (strcmp(host, cases[i].host) != 0 || port != cases[i].port))) {
      fail_msg("%s: %d %s %u", cases[i].address, good, good ? host : "", port);
    }
    assert_int_equal(host[16], '#');
  }
}

static void test_an_address_is_this_machine_or_another(void **state) {
  (void)state;
  static const struct {
    const char *host;
    int family; /* 0: no address */
    bool loopback;
  } cases[] = {{"127.0.0.1", AF_INET, true},  {"127.255.3.14", AF_INET, true}, {"localhost", AF_INET, true},
               {"128.0.0.1", AF_INET, false}, {"126.0.0.1", AF_INET, false},   {"0.0.0.0", AF_INET, false},
               {"::1", AF_INET6, true},       {"::2", AF_INET6, false},        {"::", AF_INET6, false},
               {"elm.example", 0, false},     {"127.0.0.256", 0, false},       {"", 0, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sockaddr_storage out;
    bool loopback = !cases[i].loopback;
    assert_int_equal(hw__address_socket(cases[i].host, 8443, &out, &loopback), cases[i].family != 0);
    if (cases[i].family == AF_INET) {
      const struct sockaddr_in *v4 = (const struct sockaddr_in *)&out;
      char back[64];
      assert_int_equal(v4->sin_family, AF_INET);
      assert_int_equal(ntohs(v4->sin_port), 8443);
      inet_ntop(AF_INET, &v4->sin_addr, back, sizeof back);
      assert_string_equal(back, i == 2 ? "127.0.0.1" : cases[i].host);
    } else if (cases[i].family == AF_INET6) {
      const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&out;
      assert_int_equal(v6->sin6_family, AF_INET6);
      assert_int_equal(ntohs(v6->sin6_port), 8443);
    }
    assert_true(cases[i].family == 0 || loopback == cases[i].loopback);
  }
}

static void expect_json(json_t *value, const char *text) {
  char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  assert_non_null(dumped);
  assert_string_equal(dumped, text);
  free(dumped);
  json_decref(value);
}

static void test_what_is_no_number_or_no_date_is_null(void **state) {
  (void)state;
  expect_json(hw__real(14.5), "14.5");
  expect_json(hw__real(NAN), "null");
  expect_json(hw__real(-INFINITY), "null");
  expect_json(hw__instant(true, 1772352900), "\"2026-03-01T08:15:00Z\"");
  expect_json(hw__instant(false, 1772352900), "null");
  expect_json(hw__instant(true, NAN), "null");
  expect_json(hw__instant_us(1772352900250000), "\"2026-03-01T08:15:00.250Z\"");
  expect_json(hw__instant_us(-500000), "\"1969-12-31T23:59:59.500Z\"");
  expect_json(hw__instant_us(0), "null");
  expect_json(hw__range_json(&(hw_range){-1.5, NAN, 37.25}), "[-1.5,null,37.25]");
}

static void test_text_is_json_or_it_is_not(void **state) {
  (void)state;
  json_t *out = (json_t *)(uintptr_t)1;
  json_error_t fault;
  assert_int_equal(hw__json_load("[1, 2]x", 6, 0, &out, &fault), HW_OK);
  expect_json(out, "[1,2]");
  out = (json_t *)(uintptr_t)1;
  assert_int_equal(hw__json_load("[1, 2]x", 7, 0, &out, &fault), HW_EINPUT);
  assert_null(out);
  assert_null(hw__json_read("", 0));
  expect_json(hw__json_read("{\"a\": [{}, {}]}", 15), "{\"a\":[{},{}]}");
}

/* What is written to standard error meanwhile. */
static void log_lines(char *out, size_t size, void (*write)(void)) {
  FILE *file = tmpfile();
  assert_non_null(file);
  const int before = dup(STDERR_FILENO);
  fflush(stderr);
  assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
  write();
  fflush(stderr);
  assert_true(dup2(before, STDERR_FILENO) >= 0);
  close(before);
  rewind(file);
  const size_t length = fread(out, 1, size - 1, file);
  out[length] = '\0';
  fclose(file);
}

static void say_four(void) {
  hw__log(HW_LOG_ERROR, "began", NULL, NULL);
  hw__log(HW_LOG_WARNING, "began", "river", "Ache \xc2\xb5");
  hw__log(HW_LOG_INFO, "began", "river", "\xff");
  hw__logf(HW_LOG_INFO, "ended", "why", "%d of %s", 37, "a \"kind\"");
  hw__log_fields(HW_LOG_ERROR, "lost", "{s:i, s:f}", "seq", 14, "s", 2.5);
}

static void test_each_line_of_the_log_is_one_object_with_its_time(void **state) {
  (void)state;
  static const char *const rests[] = {"\"level\":\"error\",\"event\":\"began\"}",
                                      "\"level\":\"warning\",\"event\":\"began\",\"river\":\"Ache \\u00B5\"}",
                                      "\"level\":\"info\",\"event\":\"began\",\"river\":\"(not UTF-8)\"}",
                                      "\"level\":\"info\",\"event\":\"ended\",\"why\":\"37 of a \\\"kind\\\"\"}",
                                      "\"level\":\"error\",\"event\":\"lost\",\"seq\":14,\"s\":2.5}"};
  char text[2000], *at = text;
  const double before = (double)time(NULL);
  log_lines(text, sizeof text, say_four);
  const double after = (double)time(NULL) + 1;
  for (size_t i = 0; i < 5; i++) {
    char *end = strchr(at, '\n');
    double said = 0;
    assert_non_null(end);
    *end = '\0';
    assert_memory_equal(at, "{\"time\":\"", 9);
    char *quote = strchr(at + 9, '"');
    assert_non_null(quote);
    *quote = '\0';
    assert_int_equal(hw_time_parse(at + 9, &said), HW_OK);
    assert_true(said >= before - 0.001 && said <= after); /* to the millisecond */
    assert_string_equal(quote + 2, rests[i]);
    at = end + 1;
  }
  assert_string_equal(at, "");
}

static void write_counts(void *context, FILE *out) {
  fputs(context, out);
  hw__prometheus_counts(out);
}

static void test_counts_are_told_in_their_unit(void **state) {
  (void)state;
  hw__metric_add(HW_METRIC_COMMIT_US, 2500000);
  hw__metric_add(HW_METRIC_HTTP_CUT, 14);
  hw__metric_add(HW_METRIC_HTTP_CUT, 23);
  assert_int_equal(hw__metric_get(HW_METRIC_HTTP_CUT), 37);
  char first[] = "# first\n";
  char *text = hw__prometheus_text(write_counts, first);
  assert_non_null(text);
  assert_memory_equal(text, first, strlen(first));
  assert_non_null(strstr(text, "\n# TYPE headwater_http_cut_total counter\nheadwater_http_cut_total 37\n"));
  assert_non_null(strstr(text, "\nheadwater_store_commit_seconds_total 2.5\n"));
  /* One line for each, and the page's size times the pages: more than a megabyte, and less than a gigabyte of it. */
  for (int m = 0; m < HW_METRIC_COUNT; m++) {
    char line[200];
    snprintf(line, sizeof line, "\n%s ", hw__metric_name((hw__metric)m));
    assert_non_null(strstr(text, line));
  }
  const char *memory = strstr(text, "\nheadwater_resident_memory_bytes ");
  assert_non_null(memory);
  const double bytes = strtod(memory + strlen("\nheadwater_resident_memory_bytes "), NULL);
  assert_true(bytes > 1e6 && bytes < 1e9 && fmod(bytes, 4096) == 0);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_address_is_a_host_and_a_port),
      cmocka_unit_test(test_an_address_is_this_machine_or_another),
      cmocka_unit_test(test_what_is_no_number_or_no_date_is_null),
      cmocka_unit_test(test_text_is_json_or_it_is_not),
      cmocka_unit_test(test_each_line_of_the_log_is_one_object_with_its_time),
      cmocka_unit_test(test_counts_are_told_in_their_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

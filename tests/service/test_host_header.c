/* Whose name a request bears: whole names and addresses alone count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/host_header.h"

static bool is_loopback(const char *host) {
  hw__authority authority;
  return hw__authority_parse(host, &authority) && hw__authority_is_loopback(&authority);
}

static void test_only_this_machine_is_loopback(void **state) {
  (void)state;
  static const char *const ours[] = {"localhost",   "LocalHost:8080", "127.0.0.1", "127.0.0.1:8080",
                                     "127.3.14.15", "[::1]",          "[::1]:80",  "[0:0:0:0:0:0:0:1]:65535"};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
    assert_true(is_loopback(ours[i]));
  }
  static const char *const others[] = {"127.evil.com",
                                       "127.0.0.1.evil.com",
                                       "127.0.0.1.evil.com:8080",
                                       "localhost.evil",
                                       "localhost:1.evil",
                                       "localhost:",
                                       "localhost:0",
                                       "localhost:65536",
                                       "localhost:8080 ",
                                       "127.0.0.1@evil",
                                       "evil@127.0.0.1",
                                       "127.0.0.1/",
                                       "127.0.0.1:80:80",
                                       "[::1",
                                       "[::1]evil.com",
                                       "[::1]:",
                                       "[::2]",
                                       "::1",
                                       "[127.0.0.1]",
                                       "[localhost]",
                                       "",
                                       "[]",
                                       "128.0.0.1",
                                       "0127.0.0.1",
                                       "127.0.0.256",
                                       "10.0.0.1",
                                       "evil.com",
                                       "localhost\t",
                                       "localhost%00.evil.com"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_false(is_loopback(others[i]));
  }
}

static bool is_origin(const char *host, const char *origin) {
  hw__authority authority;
  return hw__authority_parse(host, &authority) && hw__authority_is_origin(&authority, origin);
}

static void test_an_origin_is_the_same_host_and_port(void **state) {
  (void)state;
  assert_true(is_origin("localhost:8080", "http://localhost:8080"));
  assert_true(is_origin("river.example", "https://river.example"));
  assert_true(is_origin("river.example", "https://RIVER.example:443"));
  assert_true(is_origin("river.example:80", "http://river.example"));
  assert_true(is_origin("[::1]:8080", "http://[::1]:8080"));
  assert_false(is_origin("localhost:8080", "http://localhost:8081"));
  assert_false(is_origin("localhost:8080", "http://localhost"));
  assert_false(is_origin("localhost:8080", "http://localhost:8080.evil.com"));
  assert_false(is_origin("localhost:8080", "http://evil.com/localhost:8080"));
  assert_false(is_origin("localhost:8080", "app://localhost:8080"));
  assert_false(is_origin("localhost:8080", "x http://localhost:8080"));
  assert_false(is_origin("localhost:8080", "null"));
  assert_false(is_origin("localhost:8080", ""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_this_machine_is_loopback),
      cmocka_unit_test(test_an_origin_is_the_same_host_and_port),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every allocation fails once: good readings are then to be sent again, never refused for good. See starve.h; the
 * service's allocations are wrapped, and through them Jansson's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../starve.h"
#include "api/move.h"
#include "base/json.h"
#include "cluster/wire.h"
#include "http/http.h"
#include "ingest/ingest.h"
#include "service_fixture.h"
#include "store/store.h"

static const struct {
  const char *body;
  hw__body_kind kind;
} bodies[] = {
    {"time_s,sensor,concentration_g_m3\n1.5,s1,0.25\n2.5,s2,0.5\n", HW_BODY_CSV},
    {"{\"sensor\": \"s1\", \"time_s\": 1.5, \"concentration_g_m3\": 0.25, \"note\": \"a text of more than some "
     "bytes\"}\n"
     "{\"sensor\": \"s2\", \"time_s\": 2.5, \"concentration_g_m3\": \"<0.0000000000000000000000000002\"}\n",
     HW_BODY_NDJSON},
    {"[{\"sensor\": \"s1\", \"time\": \"2026-03-01T08:15:00.000000000000Z\", \"concentration_g_m3\": 0.25},"
     " {\"sensor\": \"s2\", \"time\": \"2026-03-01T08:15:00Z\", \"concentration_mg_l\": 0.5}]",
     HW_BODY_JSON},
    {"w,sensor=s1 concentration_g_m3=1 1799999998000000000\nw,sensor=s2 concentration_g_m3=1 1799999998000000000\n",
     HW_BODY_LINE},
};

static void test_a_body_is_read_whole_or_is_to_be_sent_again(void **state) {
  for (size_t i = 0; i < 2 * sizeof bodies / sizeof bodies[0]; i++) {
    const char *body = bodies[i / 2].body;
    met = true;
    for (long n = 0; met; n++) {
      hw__ingest ingest = {.catalog = *state, .now_unix_s = 1.8e9, .future_s = 300};
      starve(n, i % 2);
      const hw_status status = hw__ingest_body(&ingest, bodies[i / 2].kind, body, strlen(body));
      feed_again();
      assert_int_equal(status, met ? HW_ENOMEM : HW_OK);
      assert_int_equal(ingest.reject_count, 0);
      assert_true(met || (ingest.count == 2 && n > 0));
      hw__ingest_clear(&ingest);
    }
  }
}

static void test_a_message_of_the_cluster_is_read_whole_or_again(void **state) {
  static const char text[] =
      "{\"rows\": [[\"s1\", 1.5, 0.25, 0], [\"s2\", 2.5, 0.5, 0], [\"a sensor that nobody knows\", 2.5, 0.5, 0]]}";
  static const char command[] = "{\"command\": \"open\", \"incident\": 0, \"time_s\": null, \"method\": \"\"}";
  met = true;
  for (long n = 0; met; n++) {
    hw__ingest ingest = {.catalog = *state, .now_unix_s = 1.8e9, .future_s = 300};
    starve(n, false);
    const hw_status status = hw__wire_read_readings(text, sizeof text - 1, "demo", &ingest);
    feed_again();
    assert_int_equal(status, met ? HW_ENOMEM : HW_OK);
    assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 0);
    assert_true(met || (ingest.count == 2 && ingest.tally[HW_FATE_UNKNOWN] == 1 && n > 0));
    hw__ingest_clear(&ingest);
  }
  met = true;
  for (long n = 0; met; n++) {
    hw__log_record record;
    char *note = NULL;
    starve(n, false);
    const hw_status status = hw__wire_read_command(command, sizeof command - 1, &record, &note);
    feed_again();
    free(note);
    assert_int_equal(status, met ? HW_ENOMEM : HW_OK);
  }
}

static void test_an_answer_without_memory_is_no_refusal(void **state) {
  (void)state;
  met = true;
  for (long n = 0; met; n++) {
    starve(n, true);
    const hw__reply reply = hw__reply_error(422, "every row was rejected");
    feed_again();
    assert_int_equal(reply.code, met ? 503 : 422);
    assert_int_equal(reply.retry_after_s > 0, met);
    assert_true(reply.text ? strlen(reply.text) == reply.size : reply.size == 0);
    free(reply.text);
  }
}

/* What the reserve has to last for: the texts that take most memory for their length. */
static void test_no_text_takes_more_than_the_reserve(void **state) {
  (void)state;
  static const char *const parts[] = {"{},", "[],", "{\"\":{}},", "\"\",", "{\"a\":[{}]},"};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    static char text[60000];
    const size_t length = strlen(parts[i]);
    size_t at = 0;
    for (text[at++] = '['; at + length + 2 < sizeof text; at += length) {
      memcpy(text + at, parts[i], length);
    }
    text[at - 1] = ']';
    json_t *root = NULL;
    json_error_t fault;
    assert_int_equal(hw__json_load(text, at, 0, &root, &fault), HW_OK);
    json_decref(root);
    starve(1, true); /* all but the reserve itself */
    assert_int_equal(hw__json_load(text, at, 0, &root, &fault), HW_ENOMEM);
    feed_again();
    assert_null(root);
    assert_string_equal(fault.text, ""); /* it was read to its end, and given up */
  }
}

/* A reader that cannot be had for want of memory is not told as a fault of the database. */
static void test_a_store_without_memory_says_so(void **state) {
  char folder[] = "/tmp/headwater-starved-XXXXXX", path[64], sentence[256];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/store.db", folder);
  hw__store *store = NULL;
  assert_int_equal(hw__store_open(path, *state, &store, sentence, sizeof sentence), HW_DB_OK);
  met = true;
  for (long n = 0; met; n++) {
    hw__db *db = NULL;
    starve(n, false);
    const hw__db_status status = hw__store_borrow(store, &db);
    feed_again();
    assert_int_equal(status, met ? HW_DB_MEMORY : HW_DB_OK);
    assert_true(met ? !db : db && n > 0);
    if (db) {
      hw__store_return(store, db);
    }
  }
  hw__store_close(store);
  hw_error error;
  uint64_t rows = 0;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_int_equal(hw_export(path, out, NULL, &rows, &error), HW_OK);
  fclose(out);
  met = true;
  for (long n = 0; met; n += n < 24 ? 1 : 23) { /* every one would take valgrind minutes */
    FILE *in = fmemopen(text, size, "r");
    starve(n, false);
    const hw_status status = hw_import(":memory:", "stream", in, NULL, &rows, &error);
    feed_again();
    fclose(in);
    assert_int_equal(status, met ? HW_ENOMEM : HW_OK);
    assert_true(!met || strstr(error.text, "out of memory"));
  }
  free(text);
  assert_int_equal(system(strcat(strcpy(sentence, "rm -r "), folder)), 0);
}

static int set_up(void **state) {
  *state = fixture_catalog(1);
  return 0;
}

static int tear_down(void **state) {
  hw__catalog_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_body_is_read_whole_or_is_to_be_sent_again),
      cmocka_unit_test(test_a_message_of_the_cluster_is_read_whole_or_again),
      cmocka_unit_test(test_an_answer_without_memory_is_no_refusal),
      cmocka_unit_test(test_no_text_takes_more_than_the_reserve),
      cmocka_unit_test(test_a_store_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

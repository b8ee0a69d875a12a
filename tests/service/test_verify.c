/* What is said of a log that was changed behind the service's back: which records, whose, and when they came. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "api/verify.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "store/verify.h"
#include "store/verify_loop.h"
#include "store_fixture.h"

/* Record 3 is dated, 5 is of a gauge, 8 is a command, the numbers 1201 to 1210 were never given. */
enum { DATED = 3, GAUGED = 5, COMMAND = 8, FIRST_BLOCK = HW_MARK_EVERY, GAP = 1200, LAST = 1500 };
static const int64_t began_us = INT64_C(1777888800) * 1000000; /* 2026-05-04T10:00:00Z, and a second for each record */

typedef struct {
  fixture *f;
  int64_t first, last;
} part;

static hw__db_status run_part(hw__db *db, int64_t *seq, void *context) {
  const part *p = context;
  hw__checked_reading readings[LAST];
  hw__stamp stamps[LAST];
  size_t count = 0;
  for (int64_t i = p->first; i <= p->last; i++) {
    hw__checked_reading one = entry(i == DATED ? 1 : 0, 0, i == DATED ? 1.7e9 : 60.0 * (double)i, 0.37);
    one.calendar = i == DATED;
    one.place.gauge = i == GAUGED;
    readings[count] = one;
    stamps[count++] = (hw__stamp){i, began_us + i * 1000000};
  }
  *seq = p->last;
  return hw__db_append_stamped(db, p->f->catalog, readings, count, stamps);
}

static hw__db_status run_command(hw__db *db, int64_t *seq, void *context) {
  return hw__db_command(db, context, seq);
}

static void write_log(fixture *f) {
  const int64_t parts[][2] = {{1, COMMAND - 1}, {COMMAND + 1, FIRST_BLOCK}, {FIRST_BLOCK + 1, GAP}, {GAP + 11, LAST}};
  for (size_t i = 0; i < 4; i++) {
    part p = {f, parts[i][0], parts[i][1]};
    hw__log_record command = {.kind = HW_RECORD_OPEN, .time_s = NAN, .received_us = began_us + COMMAND * 1000000};
    assert_int_equal(hw__store_write(f->store, run_part, &p), HW_DB_OK);
    if (i == 0) {
      assert_int_equal(hw__store_write(f->store, run_command, &command), HW_DB_OK);
    }
  }
}

static void change(const fixture *f, const char *sql) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  }
  sqlite3_close(db);
}

static void note(void *context, const hw__fault *fault) {
  char *told = context;
  snprintf(told + strlen(told), 2000 - strlen(told), "%s %d-%d %d: %s\n", hw__fault_text(fault->kind),
           (int)fault->first, (int)fault->last, (int)fault->records, fault->text);
}

static void check_faults(fixture *f, const char *sql, const char *expected) {
  char told[2000] = "", sentence[256];
  const hw__fault_teller teller = {note, told};
  hw__db *db = NULL;
  write_log(f);
  hw__store_close(f->store);
  f->store = NULL;
  change(f, sql);
  assert_int_equal(hw__db_open(f->path, false, &db, sentence, sizeof sentence), HW_DB_OK);
  assert_int_equal(hw__verify_log(db, &teller), HW_DB_OK);
  assert_string_equal(told, expected);
  hw__db_close(db);
}

/* Every change on a store of its own. */
static void check_each(const char *const (*changes)[2], size_t count) {
  for (size_t i = 0; i < count; i++) {
    void *state = NULL;
    assert_int_equal(set_up(&state), 0);
    check_faults(state, changes[i][0], changes[i][1]);
    tear_down(&state);
  }
}
#define CHECK_EACH(changes) check_each(changes, sizeof(changes) / sizeof(changes)[0])

static void test_a_changed_record_is_told_with_whose_it_is(void **state) {
  (void)state;
  static const char *const changes[][2] = {
      {"UPDATE readings SET received_us = received_us WHERE seq = 2", ""},
      {"UPDATE readings SET concentration_g_m3 = 0.38 WHERE seq = 2",
       "changed 2-2 1: record 2 is not what was stored: sensor demo/s1, time 120 s, now 0.38 g/m3\n"},
      {"UPDATE readings SET below = 1 WHERE seq IN (1, 1500)",
       "changed 1-1 1: record 1 is not what was stored: sensor demo/s1, time 60 s, now 0.37 g/m3\n"
       "changed 1500-1500 1: record 1500 is not what was stored: sensor demo/s1, time 90000 s, now 0.37 g/m3\n"},
      {"UPDATE readings SET received_us = 7 WHERE seq = 3",
       "changed 3-3 1: record 3 is not what was stored: sensor other/s1, time 2023-11-14T22:13:20Z, now 0.37 g/m3\n"},
      {"UPDATE readings SET time_s = 1e11 WHERE seq = 3",
       "changed 3-3 1: record 3 is not what was stored: sensor other/s1, time 100000000000 s, now 0.37 g/m3\n"},
      {"UPDATE readings SET concentration_g_m3 = 41.5 WHERE seq = 5",
       "changed 5-5 1: record 5 is not what was stored: gauge demo/g1, time 300 s, now 41.5 m3/s\n"},
      {"UPDATE readings SET sensor = 99 WHERE seq = 7",
       "changed 7-7 1: record 7 is not what was stored: sensor an unknown sensor (key 99), time 420 s, now 0.37 "
       "g/m3\n"},
      {"UPDATE commands SET method = 'mtgd'", "changed 8-8 1: record 8 is not what was stored: a command\n"},
      {"UPDATE commands SET time_s = 0", "changed 8-8 1: record 8 is not what was stored: a command\n"},
      {"UPDATE rivers SET time_base = 2 WHERE id = 'demo'",
       "names 0-0 0: the rivers' kinds of time are not those that were stored\n"},
      {"UPDATE sensors SET id = 's9' WHERE id = 's2'",
       "names 0-0 0: the names or keys of rivers and sensors are not those that were stored\n"},
      {"UPDATE readings SET sum = sum + 1 WHERE seq = 1024",
       "changed 1024-1024 1: record 1024 is not what was stored: sensor demo/s1, time 61440 s, now 0.37 g/m3\n"},
  };
  CHECK_EACH(changes);
}

static void test_missing_records_are_told_with_when_they_came(void **state) {
  (void)state;
  static const char *const changes[][2] = {
      {"DELETE FROM readings WHERE seq = 37",
       "missing 37-37 1: records 37 to 37: 1 missing, received after 2026-05-04T10:00:36Z and before "
       "2026-05-04T10:00:38Z\n"},
      {"DELETE FROM readings WHERE seq BETWEEN 40 AND 44",
       "missing 40-44 5: records 40 to 44: 5 missing, received after 2026-05-04T10:00:39Z and before "
       "2026-05-04T10:00:45Z\n"},
      {"DELETE FROM readings WHERE seq < 3",
       "missing 1-2 2: records 1 to 2: 2 missing, received before 2026-05-04T10:00:03Z\n"},
      {"DELETE FROM readings WHERE seq BETWEEN 1021 AND 1024",
       "missing 1021-1024 4: records 1021 to 1024: 4 missing, received after 2026-05-04T10:17:00Z\n"},
      {"DELETE FROM commands",
       "missing 8-8 1: records 8 to 8: 1 missing, received after 2026-05-04T10:00:07Z and "
       "before 2026-05-04T10:00:09Z\n"},
      {"DELETE FROM readings WHERE seq IN (40, 44)",
       "missing 40-44 2: of the records 40 to 44: 2 missing, received after 2026-05-04T10:00:39Z and before "
       "2026-05-04T10:00:41Z\n"},
      {"DELETE FROM readings WHERE seq = 1300",
       "missing 1025-1500 1: of the records 1025 to 1500: 1 missing, received after 2026-05-04T10:20:00Z and before "
       "2026-05-04T10:20:11Z\n"},
      {"DELETE FROM readings WHERE seq > 1024", "missing 1025-1500 466: of the records 1025 to 1500: 466 missing\n"},
      {"DELETE FROM readings WHERE seq > 1498",
       "missing 1025-1500 2: of the records 1025 to 1500: 2 missing, received after 2026-05-04T10:20:00Z and before "
       "2026-05-04T10:20:11Z\n"},
  };
  CHECK_EACH(changes);
}

static void test_records_that_were_added_or_exchanged_are_told(void **state) {
  (void)state;
#define COPY(as) "INSERT INTO readings SELECT " as ", river, sensor, -time_s, concentration_g_m3, below, received_us, "
  static const char *const changes[][2] = {
      {COPY("1205") "sum FROM readings WHERE seq = 1100",
       "changed 1205-1205 1: record 1205 is not what was stored: sensor demo/s1, time -66000 s, now 0.37 g/m3\n"
       "added 1025-1500 1: of the records 1025 to 1500: 1 too many\n"},
      {"UPDATE readings SET seq = -37 WHERE seq = 37; UPDATE readings SET seq = 37 WHERE seq = 38;"
       "UPDATE readings SET seq = 38 WHERE seq = -37",
       "changed 1-1024 1024: records 1 to 1024 are not those that were stored, or not in that order\n"},
      {COPY("1501") "NULL FROM readings WHERE seq = 1100; " COPY("1502") "NULL FROM readings WHERE seq = 1101",
       "added 1501-1501 1: records from number 1501 on were never chained\n"},
      {COPY("1501") "7 FROM readings WHERE seq = 1100",
       "changed 1501-1501 1: record 1501 is not what was stored: sensor demo/s1, time -66000 s, now 0.37 g/m3\n"},
      {"UPDATE marks SET hash = hash + 1 WHERE seq = 1024",
       "changed 1-1024 1024: records 1 to 1024 are not those that were stored, or not in that order\n"
       "changed 1025-1500 466: records 1025 to 1500 are not those that were stored, or not in that order\n"},
  };
  CHECK_EACH(changes);
}

/* The head beside the file says how far the log went, whatever the marks say. */
static void test_the_end_is_compared_with_the_head(void **state) {
  (void)state;
  static const char *const changes[][2] = {
      {"DELETE FROM marks WHERE seq = 1500", ""},
      {"DELETE FROM marks WHERE seq = 1500; DELETE FROM readings WHERE seq > 1490",
       "lost 1025-1500 10: records 1025 to 1500 were acknowledged and are gone: 10 missing, received after "
       "2026-05-04T10:20:00Z and before 2026-05-04T10:20:11Z\n"},
      {"DELETE FROM marks WHERE seq = 1500; DELETE FROM readings WHERE seq > 1024",
       "lost 1025-1500 466: records 1025 to 1500 were acknowledged and are gone: 466 missing, received after "
       "2026-05-04T10:17:04Z\n"},
      {"DELETE FROM marks WHERE seq = 1500; UPDATE readings SET sum = sum + 1, below = 1 WHERE seq = 1100",
       "changed 1100-1100 1: record 1100 is not what was stored: sensor demo/s1, time 66000 s, now 0.37 g/m3\n"},
      {"DELETE FROM marks; DELETE FROM readings; DELETE FROM commands",
       "lost 1-1500 1490: records 1 to 1500 were acknowledged and are gone: 1490 missing\n"},
      {"DELETE FROM marks WHERE seq = 1500; UPDATE readings SET seq = -37 WHERE seq = 1137; UPDATE readings SET seq = "
       "1137 WHERE seq = 1138; UPDATE readings SET seq = 1138 WHERE seq = -37",
       "lost 0-1500 0: the log up to record 1500 is not the one that was acknowledged\n"},
  };
  CHECK_EACH(changes);
}

/* While the service runs, block by block. */
static void test_the_loop_reads_every_record_and_counts_the_faults(void **state) {
  fixture *f = *state;
  atomic_bool stopping = false;
  hw__verify_loop *loop = NULL;
  write_log(f);
  hw__store_close(f->store);
  change(f, "UPDATE readings SET below = 1 WHERE seq IN (2, 37, 1100)");
  assert_int_equal(open_store(f), HW_DB_OK);
  const uint64_t read = hw__metric_get(HW_METRIC_LOG_VERIFIED), faults = hw__metric_get(HW_METRIC_LOG_FAULTS);
  const int64_t until_ms = hw__clock_ms() + 20000;
  assert_int_equal(hw__verify_loop_start(f->store, 1, &stopping, &loop), HW_OK);
  while (hw__metric_get(HW_METRIC_LOG_VERIFIED) - read < 1490 && hw__clock_ms() < until_ms) {
    hw__clock_nap_ms(2);
  }
  atomic_store(&stopping, true);
  hw__verify_loop_stop(loop);
  assert_int_equal(hw__metric_get(HW_METRIC_LOG_VERIFIED) - read, 1490);
  assert_int_equal(hw__metric_get(HW_METRIC_LOG_FAULTS) - faults, 3);
}

typedef struct {
  char told[2000];
  int calls, most; /* after so many: stop */
} listener;

static void hear(void *context, const hw_verify_fault *fault) {
  listener *l = context;
  snprintf(l->told + strlen(l->told), 1000, "%s %d-%d %d; ", fault->kind, (int)fault->first, (int)fault->last,
           (int)fault->records);
}

static bool count_calls(void *context, uint64_t records) {
  (void)records;
  listener *l = context;
  return ++l->calls < l->most;
}

typedef hw_status (*whole)(const char *store, const hw_verify_watcher *watch, hw_verify_tally *tally, hw_error *error);

/* The whole of a store that nobody has open. */
static void check_whole(const fixture *f, whole act, int most, hw_status status, uint64_t records, const char *told) {
  listener l = {.most = most};
  const hw_verify_watcher watcher = {hear, count_calls, &l};
  hw_verify_tally tally;
  hw_error error = {""};
  assert_int_equal(act(f->path, &watcher, &tally, &error), status);
  assert_string_equal(error.text, status == HW_OK ? "" : "stopped");
  assert_int_equal(tally.records, records);
  assert_string_equal(l.told, told);
}

static void test_what_was_found_is_told_until_somebody_accepts_it(void **state) {
  fixture *f = *state;
  write_log(f);
  hw__store_close(f->store);
  f->store = NULL;
  check_whole(f, hw_verify, 10, HW_OK, 1490, "");
  change(f,
         "UPDATE readings SET below = 1 WHERE seq IN (2, 1100); UPDATE commands SET kind = 2;"
         "DELETE FROM marks WHERE seq = 1500; DELETE FROM readings WHERE seq > 1490");
  check_whole(f, hw_verify, 10, HW_OK, 1480, "changed 2-2 1; changed 8-8 1; changed 1100-1100 1; lost 1025-1500 10; ");
  check_whole(f, hw_verify, 1, HW_EIO, 1024, "changed 2-2 1; changed 8-8 1; ");
  assert_int_equal(open_store(f), HW_DB_OK);       /* the loss is put on record: the log goes on where it ends now */
  assert_int_equal(hw__store_seq(f->store), 1500); /* numbers that were lost are not given again */
  hw__store_close(f->store);
  f->store = NULL;
  check_whole(f, hw_verify, 10, HW_OK, 1480,
              "earlier 1025-1500 10; changed 2-2 1; changed 8-8 1; changed 1100-1100 1; ");
  check_whole(f, hw_verify_accept, 1, HW_EIO, 1024, "");
  check_whole(f, hw_verify_accept, 10, HW_OK, 1480, "");
  check_whole(f, hw_verify, 10, HW_OK, 1480, "");
  change(f, "UPDATE readings SET sum = NULL WHERE seq = 1490; UPDATE readings SET seq = 1495 WHERE seq = 1480");
  check_whole(f, hw_verify_accept, 10, HW_OK, 1480, "");
  check_whole(f, hw_verify, 10, HW_OK, 1480, "");
}

/* What a start looks at. */
static void test_the_last_block_is_read_by_itself(void **state) {
  fixture *f = *state;
  char told[2000] = "", sentence[256];
  const hw__fault_teller teller = {note, told};
  hw__db *db = NULL;
  write_log(f);
  hw__store_close(f->store);
  f->store = NULL;
  change(f, "UPDATE readings SET below = 1 WHERE seq IN (2, 1100)");
  assert_int_equal(hw__db_open(f->path, false, &db, sentence, sizeof sentence), HW_DB_OK);
  assert_int_equal(hw__verify_last_block(db, &teller), HW_DB_OK);
  assert_string_equal(told,
                      "changed 1100-1100 1: record 1100 is not what was stored: sensor demo/s1, time 66000 s, now "
                      "0.37 g/m3\n");
  hw__db_close(db);
}

/* Records that were stored before there was a chain have a sum each, or none. */
static void test_records_before_the_chain_are_counted(void **state) {
  fixture *f = *state;
  char told[2000] = "", sentence[256];
  const hw__fault_teller teller = {note, told};
  uint64_t checked = 0, unchained = 0;
  hw__db *db = NULL;
  write_log(f);
  hw__store_close(f->store);
  f->store = NULL;
  change(
      f,
      "DELETE FROM marks; UPDATE readings SET sum = NULL WHERE seq < 8; UPDATE readings SET below = 1 WHERE seq = 37");
  assert_int_equal(hw__db_open(f->path, false, &db, sentence, sizeof sentence), HW_DB_OK);
  assert_int_equal(hw__verify_unchained(db, &teller, &checked, &unchained), HW_DB_OK);
  assert_int_equal(unchained, 7);
  assert_int_equal(checked, 1490 - 7);
  assert_string_equal(told,
                      "changed 37-37 1: record 37 is not what was stored: sensor demo/s1, time 2220 s, now 0.37 "
                      "g/m3\n");
  hw__db_close(db);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_changed_record_is_told_with_whose_it_is),
      cmocka_unit_test(test_missing_records_are_told_with_when_they_came),
      cmocka_unit_test(test_records_that_were_added_or_exchanged_are_told),
      cmocka_unit_test(test_the_end_is_compared_with_the_head),
      cmocka_unit_test_setup_teardown(test_the_loop_reads_every_record_and_counts_the_faults, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_what_was_found_is_told_until_somebody_accepts_it, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_the_last_block_is_read_by_itself, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_records_before_the_chain_are_counted, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

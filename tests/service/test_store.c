/* Durable, idempotent, in order; and what happens when the disk does not play along. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "api/move.h"
#include "base/clock.h"
#include "store/head_file.h"
#include "store/verify.h"
#include "store_fixture.h"

static void test_the_same_reading_twice_is_stored_once(void **state) {
  fixture *f = *state;
  hw__ingest ingest;
  hw__checked_reading batch[] = {entry(0, 0, 1.5, 0.37), entry(0, 1, 1.5, 0.4), entry(0, 0, 1.5, 0.37),
                                 entry(1, 0, 1.5, 0.37)};
  assert_int_equal(put(f, batch, 4, &ingest), HW_DB_OK);
  assert_int_equal(ingest.tally[HW_FATE_ACCEPTED], 3);
  assert_int_equal(ingest.tally[HW_FATE_DUPLICATE], 1);
  hw__checked_reading again[] = {entry(0, 0, 1.5, 0.37), entry(0, 0, 1.5, 0.38)};
  assert_int_equal(put(f, again, 2, &ingest), HW_DB_OK);
  assert_int_equal(ingest.tally[HW_FATE_DUPLICATE], 1);
  assert_int_equal(ingest.tally[HW_FATE_CONFLICT], 1); /* the first stays */
  assert_int_equal(hw__store_seq(f->store), 3);
  free(ingest.rejects);
}

static void test_calendar_and_relative_times_do_not_mix(void **state) {
  fixture *f = *state;
  hw__ingest ingest;
  hw__checked_reading first = entry(0, 0, 1.5, 0.37), dated = entry(0, 0, 1.8e9, 0.37),
                      other = entry(1, 0, 1.8e9, 0.37);
  dated.calendar = other.calendar = true;
  put(f, &first, 1, &ingest);
  put(f, &dated, 1, &ingest);
  assert_int_equal(ingest.tally[HW_FATE_TIME_BASE], 1);
  free(ingest.rejects);
  put(f, &other, 1, &ingest); /* another river has its own clock */
  assert_int_equal(ingest.tally[HW_FATE_ACCEPTED], 1);
  hw__store_close(f->store); /* and keeps it, whichever is heard of first after a restart */
  assert_int_equal(open_store(f), HW_DB_OK);
  hw__checked_reading second = entry(0, 0, 2.5, 0.37), plain = entry(1, 0, 2.5, 0.37);
  put(f, &second, 1, &ingest);
  assert_int_equal(ingest.tally[HW_FATE_ACCEPTED], 1);
  put(f, &plain, 1, &ingest);
  assert_int_equal(ingest.tally[HW_FATE_TIME_BASE], 1);
  free(ingest.rejects);
}

static void test_everything_is_there_after_reopening(void **state) {
  fixture *f = *state;
  hw__ingest ingest;
  hw__checked_reading batch[100];
  for (size_t i = 0; i < 100; i++) {
    batch[i] = entry(0, i % 2, (double)i, 0.01 * (double)i);
  }
  put(f, batch, 100, &ingest);
  hw__store_close(f->store);
  assert_int_equal(open_store(f), HW_DB_OK);
  assert_int_equal(hw__store_seq(f->store), 100);
  hw__db *db = hw__store_reader(f->store);
  hw__log_record page[64];
  size_t count = 0;
  assert_int_equal(hw__db_log(db, 30, page, 64, &count), HW_DB_OK);
  assert_int_equal(page[0].seq, 31);
  assert_true(page[0].concentration_g_m3 == 0.01 * 30);
  hw__store_return(f->store, db);
}

static void test_a_copy_has_all_of_it_and_needs_a_place(void **state) {
  fixture *f = *state;
  hw__ingest ingest;
  char path[128], sentence[256];
  if (postgres) {
    skip(); /* an engine without files */
  }
  hw__checked_reading batch[] = {entry(0, 0, 1.5, 0.37), entry(0, 1, 1.5, 0.4), entry(1, 0, 1.5, -0.0)};
  put(f, batch, 3, &ingest);
  hw__db *db = hw__store_reader(f->store), *copy = NULL;
  snprintf(path, sizeof path, "%s/no/such/folder", f->folder);
  assert_int_not_equal(hw__db_copy(db, path), HW_DB_OK);
  snprintf(path, sizeof path, "%s.copy", f->path);
  assert_int_equal(hw__db_copy(db, path), HW_DB_OK);
  hw__store_return(f->store, db);
  assert_int_equal(hw__db_open(path, false, &copy, sentence, sizeof sentence), HW_DB_OK);
  int64_t seq = 0;
  assert_int_equal(hw__db_head(copy, &seq), HW_DB_OK);
  assert_int_equal(seq, 3);
  hw__db_close(copy);
  remove_database(path);
}

typedef struct {
  FILE *file;
  uint64_t rows;
  int calls, most; /* after so many: stop */
} watched;

static bool watch(void *context, uint64_t bytes, uint64_t rows) {
  watched *w = context;
  assert_int_equal(bytes, ftell(w->file));
  assert_true(rows >= w->rows);
  w->rows = rows;
  return ++w->calls < w->most;
}

static void test_an_export_and_its_import_are_watched_and_can_be_stopped(void **state) {
  fixture *f = *state;
  hw__ingest ingest;
  enum { ROWS = 1400 };
  static hw__checked_reading batch[ROWS];
  for (size_t i = 0; i < ROWS; i++) {
    const double odd[] = {0.1 + 0.2, 1.0 / 3, 5e-324, 14.2};
    batch[i] = entry(0, i % 2, (double)i / 3, odd[i % 4]);
  }
  put(f, batch, ROWS, &ingest);
  char again[sizeof f->folder + 16];
  char *texts[2] = {NULL, NULL};
  size_t sizes[2] = {0, 0};
  uint64_t rows = 0, read = 0;
  hw_error error;
  snprintf(again, sizeof again, "%s/again.db", f->folder);
  for (int i = 0; i < 2; i++) {
    FILE *file = open_memstream(&texts[i], &sizes[i]);
    watched w = {.file = file, .most = 1000};
    assert_int_equal(hw_export(i ? again : f->path, file, &(hw_move_watcher){watch, &w}, &rows, &error), HW_OK);
    assert_true(w.calls >= 2 && rows > ROWS && w.rows <= rows);
    fclose(file);
    for (int most = 2; i == 0 && most < 1000; most += 900) {
      file = fmemopen(texts[0], sizes[0], "r");
      w = (watched){.file = file, .most = most};
      assert_int_equal(hw_import(again, "stream", file, &(hw_move_watcher){watch, &w}, &read, &error),
                       most == 2 ? HW_EIO : HW_OK);
      assert_int_equal(w.calls, most == 2 ? 2 : (int)(rows / 256));
      fclose(file);
    }
    assert_int_equal(read, rows);
  }
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(texts[0], texts[1], sizes[0]);
  free(texts[0]);
  free(texts[1]);
  remove_database(again);
}

static hw__db_status run_command(hw__db *db, int64_t *seq, void *context) {
  return hw__db_command(db, context, seq);
}

static void test_readings_and_commands_merge_in_order(void **state) {
  fixture *f = *state;
  hw__ingest ingest;
  hw__db *db = hw__store_reader(f->store);
  for (int round = 0; round < 40; round++) {
    hw__checked_reading batch[] = {entry(0, 0, round, 0.3), entry(0, 1, round, 0.3)};
    put(f, batch, 2, &ingest);
    if (round % 3 == 0) {
      hw__log_record command = {.kind = HW_RECORD_OPEN, .time_s = NAN};
      assert_int_equal(hw__store_write(f->store, run_command, &command), HW_DB_OK);
    }
  }
  hw__log_record page[32];
  size_t count = 0;
  int64_t after = 0, expected = 1;
  do {
    assert_int_equal(hw__db_log(db, after, page, 32, &count), HW_DB_OK);
    for (size_t i = 0; i < count; i++) {
      assert_int_equal(page[i].seq, expected++);
    }
    after = count ? page[count - 1].seq : after;
  } while (count);
  assert_int_equal(expected - 1, 80 + 14);
  hw__store_return(f->store, db);
}

static void count_fault(void *context, const hw__fault *fault) {
  (void)fault;
  ++*(size_t *)context;
}

/* All blocks and the end: how many faults, of how many records. */
static size_t verify(fixture *f, uint64_t *records) {
  size_t faults = 0;
  const hw__fault_teller teller = {count_fault, &faults};
  hw__db *db = hw__store_reader(f->store);
  int64_t mark = 0;
  bool more = true;
  *records = 0;
  while (more) {
    assert_int_equal(hw__verify_block(db, &mark, &teller, records, &more), HW_DB_OK);
  }
  assert_int_equal(hw__verify_end(db, &teller, records), HW_DB_OK);
  hw__store_return(f->store, db);
  return faults;
}

static hw__db_status run_remove(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  size_t removed = 0;
  return hw__db_remove(db, *(const int64_t *)context, 0, 0, &removed);
}

static hw__db_status run_lose(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__sql_run(db, SQL_FORGET_READINGS, HW_VALUES(of_integer(*(const int64_t *)context)));
}

static void test_the_chain_holds_under_retention(void **state) {
  fixture *f = *state;
  static hw__checked_reading batch[100];
  uint64_t records = 0;
  for (int round = 0; round < 30; round++) {
    for (size_t i = 0; i < 100; i++) {
      batch[i] = entry(i % 2, 0, (double)(100 * round) + (double)i, -0.0);
    }
    hw__ingest ingest;
    assert_int_equal(put(f, batch, 100, &ingest), HW_DB_OK);
    hw__log_record command = {.kind = HW_RECORD_OPEN, .time_s = NAN};
    assert_int_equal(hw__store_write(f->store, run_command, &command), HW_DB_OK);
  }
  assert_int_equal(verify(f, &records), 0);
  assert_int_equal(records, 3030);
  for (int64_t upto = 17; upto < 2700; upto += 331) {
    assert_int_equal(hw__store_write(f->store, run_remove, &upto), HW_DB_OK);
    assert_int_equal(verify(f, &records), 0);
    assert_int_equal(records, 3030 - upto);
  }
  hw__store_close(f->store); /* and goes on after it */
  assert_int_equal(open_store(f), HW_DB_OK);
  batch[0] = entry(0, 1, 5, 0.37);
  hw__ingest ingest;
  assert_int_equal(put(f, batch, 1, &ingest), HW_DB_OK);
  assert_int_equal(verify(f, &records), 0);
  int64_t lost = 2800;
  assert_int_equal(hw__store_write(f->store, run_lose, &lost), HW_DB_OK);
  assert_int_equal(verify(f, &records), 1);
}

/* The end of the chain is in the head file after every commit, and in a page of the database only once a second. */
static void test_the_end_behind_the_last_mark_is_checked(void **state) {
  fixture *f = *state;
  uint64_t records = 0;
  hw__mark last = {0};
  const int64_t began_ms = hw__clock_ms();
  for (int i = 0; i < 20; i++) {
    hw__checked_reading one[] = {entry(0, 0, 14.2 * i, 0.37)};
    hw__ingest ingest;
    assert_int_equal(put(f, one, 1, &ingest), HW_DB_OK);
  }
  hw__db *db = hw__store_reader(f->store);
  assert_int_equal(hw__sql_one(db, SQL_MARK_LAST, hw__read_mark, &last, HW_NO_VALUES), HW_DB_OK);
  hw__store_return(f->store, db);
  if (hw__clock_ms() - began_ms < HW_MARK_MS && !postgres) {
    assert_int_equal(last.seq, 1);
  }
  assert_int_equal(verify(f, &records), 0);
  assert_int_equal(records, 20);
  hw__store_close(f->store);
  assert_int_equal(open_store(f), HW_DB_OK);
  db = hw__store_reader(f->store);
  assert_int_equal(hw__sql_one(db, SQL_MARK_LAST, hw__read_mark, &last, HW_NO_VALUES), HW_DB_OK);
  hw__store_return(f->store, db);
  assert_int_equal(last.seq, 20); /* a store that was closed needs no head */
  for (int i = 20; i < 40; i++) {
    hw__checked_reading one[] = {entry(0, 0, 14.2 * i, 0.37)};
    hw__ingest ingest;
    assert_int_equal(put(f, one, 1, &ingest), HW_DB_OK);
  }
  int64_t upto = 30; /* retention may end behind the last mark */
  assert_int_equal(hw__store_write(f->store, run_remove, &upto), HW_DB_OK);
  assert_int_equal(verify(f, &records), 0);
  assert_int_equal(records, 10);
  upto = 35;
  assert_int_equal(hw__store_write(f->store, run_lose, &upto), HW_DB_OK);
  assert_int_equal(verify(f, &records), 1);
  assert_int_equal(records, 5);
}

static void damage_head(const char *path, long at) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, at, SEEK_SET), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, at, SEEK_SET), 0);
  fputc(byte ^ 1, file);
  fclose(file);
}

static void test_a_torn_head_leaves_the_one_before(void **state) {
  fixture *f = *state;
  if (postgres) {
    skip(); /* SQLite alone has such a file */
  }
  char database[sizeof f->path + 8], path[sizeof database + 8];
  snprintf(database, sizeof database, "%s.torn", f->path);
  snprintf(path, sizeof path, "%s-head", database);
  hw__head_file file;
  hw__mark read = {0};
  assert_int_equal(hw__head_file_read(database, &read), HW_DB_ABSENT);
  hw__head_file_open(&file, database);
  assert_int_equal(hw__head_file_read(database, &read), HW_DB_ABSENT);
  for (int64_t i = 1; i <= 3; i++) {
    const hw__mark head = {.seq = 37 * i, .records = 14 * i, .hash = UINT64_C(0xcbf29ce484222325) * (uint64_t)i};
    assert_true(hw__head_file_keep(&file, &head));
    assert_int_equal(hw__head_file_read(database, &read), HW_DB_OK);
    assert_true(read.seq == head.seq && read.records == head.records && read.hash == head.hash);
  }
  hw__head_file_close(&file);
  damage_head(path, 512 + 60); /* the third stands in the second slot */
  assert_int_equal(hw__head_file_read(database, &read), HW_DB_OK);
  assert_int_equal(read.seq, 74);
  hw__head_file_open(&file, database); /* the next one replaces what was torn */
  assert_true(hw__head_file_keep(&file, &(hw__mark){.seq = 150}));
  hw__head_file_close(&file);
  assert_int_equal(hw__head_file_read(database, &read), HW_DB_OK);
  assert_int_equal(read.seq, 150);
  damage_head(path, 512 + 60);
  assert_int_equal(hw__head_file_read(database, &read), HW_DB_OK);
  assert_int_equal(read.seq, 74);
  damage_head(path, 20);
  assert_int_equal(hw__head_file_read(database, &read), HW_DB_ABSENT);
  assert_false(hw__head_file_keep(&file, &read)); /* it is closed */
  remove(path);
}

static void test_the_hash_is_the_published_one(void **state) {
  (void)state;
  assert_true(hw__fnv(hw__fnv_start(), "", 0) == UINT64_C(0xcbf29ce484222325));
  assert_true(hw__fnv(hw__fnv_start(), "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void test_who_waits_for_news_waits_as_long_as_told_or_until_there_are_some(void **state) {
  fixture *f = *state;
  const uint64_t seen = hw__store_wait(f->store, UINT64_MAX, 0); /* another number: no waiting */
  const int64_t began_ms = hw__clock_ms();
  assert_true(hw__store_wait(f->store, seen, 370) == seen);
  const int64_t waited_ms = hw__clock_ms() - began_ms;
  assert_true(waited_ms >= 369 && waited_ms < 60000); /* a busy machine may wake it late */
  hw__checked_reading one[] = {entry(0, 0, 14.2, 0.37)};
  hw__ingest ingest;
  assert_int_equal(put(f, one, 1, &ingest), HW_DB_OK);
  assert_true(hw__store_wait(f->store, seen, 600000) == seen + 1);
}

typedef struct {
  fixture *f;
  size_t number;
  size_t accepted;
} client;

static void *send_many(void *argument) {
  client *c = argument;
  for (size_t i = 0; i < 50; i++) {
    hw__ingest ingest;
    /* Every second reading is also sent by the neighbour. */
    hw__checked_reading batch[] = {entry(0, 0, (double)(1000 * c->number + i), 0.3), entry(0, 1, (double)i, 0.3)};
    if (put(c->f, batch, 2, &ingest) == HW_DB_OK) {
      c->accepted += ingest.tally[HW_FATE_ACCEPTED];
    }
  }
  return NULL;
}

static void test_concurrent_writers_share_commits_and_lose_nothing(void **state) {
  fixture *f = *state;
  client clients[8];
  pthread_t threads[8];
  size_t accepted = 0;
  for (size_t i = 0; i < 8; i++) {
    clients[i] = (client){f, i, 0};
    pthread_create(&threads[i], NULL, send_many, &clients[i]);
  }
  for (size_t i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
    accepted += clients[i].accepted;
  }
  assert_int_equal(accepted, 8 * 50 + 50);
  assert_int_equal(hw__store_seq(f->store), 450);
}

static hw__db_status fail_always(hw__db *db, int64_t *seq, void *context) {
  (void)db;
  (void)seq;
  (void)context;
  return HW_DB_IO;
}

static void *send_bad(void *argument) {
  fixture *f = argument;
  for (int i = 0; i < 50; i++) {
    if (hw__store_write(f->store, fail_always, NULL) != HW_DB_IO) {
      return "went through";
    }
  }
  return NULL;
}

static void test_a_failing_job_does_not_take_others_with_it(void **state) {
  fixture *f = *state;
  client good = {f, 1, 0};
  pthread_t threads[2];
  void *fault = NULL;
  pthread_create(&threads[0], NULL, send_many, &good);
  pthread_create(&threads[1], NULL, send_bad, f);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], &fault);
  assert_null(fault);
  assert_int_equal(good.accepted, 100);
}

static hw__db_status fail_as_told(hw__db *db, int64_t *seq, void *context) {
  (void)db;
  (void)seq;
  return *(const hw__db_status *)context;
}

/* Whoever asks for readiness sends nothing to a service that is not ready: it has to find out by itself. */
static void test_a_store_that_failed_tries_again_by_itself(void **state) {
  fixture *f = *state;
  hw__db_status fault = HW_DB_IO;
  assert_int_equal(hw__store_write(f->store, fail_as_told, &fault), HW_DB_IO);
  assert_int_equal(hw__store_health(f->store), HW_DB_IO);
  for (int i = 0; i < 600 && hw__store_health(f->store) != HW_DB_OK; i++) {
    hw__clock_nap_ms(50);
  }
  assert_int_equal(hw__store_health(f->store), HW_DB_OK);
  /* The probe is small and fits where readings do not, so a full disk is tried less often. */
  fault = HW_DB_FULL;
  assert_int_equal(hw__store_write(f->store, fail_as_told, &fault), HW_DB_FULL);
  hw__clock_nap_ms(2500);
  assert_int_equal(hw__store_health(f->store), HW_DB_FULL);
  hw__checked_reading one[] = {entry(0, 0, 14.2, 0.37)};
  hw__ingest ingest;
  assert_int_equal(put(f, one, 1, &ingest), HW_DB_OK); /* a reading that fits says more */
  assert_int_equal(hw__store_health(f->store), HW_DB_OK);
}

static void test_a_newer_database_is_refused(void **state) {
  fixture *f = *state;
  hw__store_close(f->store);
  f->store = NULL;
  char command[192];
  snprintf(command, sizeof command, "sqlite3 %s 'PRAGMA user_version = 99' >/dev/null", f->path);
  if (postgres) {
    ask_postgres("UPDATE headwater.schema_version SET version = 99");
  } else if (system(command) != 0) {
    skip(); /* no sqlite3 program here */
  }
  assert_int_equal(open_store(f), HW_DB_NEWER);
}

static void check_opening(const char *store, hw__db_status status, const char *said) {
  hw__db *db = NULL;
  char sentence[300] = "";
  const bool same = hw__db_open(store, false, &db, sentence, sizeof sentence) == status;
  hw__db_close(db);
  if (!same || strncmp(sentence, said, strlen(said)) != 0) {
    fail_msg("%s: %s, expected %s", store, sentence, said);
  }
}

/* Whoever only reads changes nothing. */
static void test_a_store_that_cannot_be_read_is_told_why(void **state) {
  fixture *f = *state;
  char url[sizeof f->path + 8], said[300];
  if (postgres) {
    skip(); /* files */
  }
  hw__store_close(f->store);
  f->store = NULL;
  snprintf(url, sizeof url, "sqlite:%s", f->path);
  check_opening(url, HW_DB_OK, "");
  check_opening(f->path, HW_DB_OK, "");
  for (int version = hw__db_schema_version() - 1; version < hw__db_schema_version() + 2; version++) {
    sqlite3 *db = NULL;
    char sql[60];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    const hw__db_status status = version < hw__db_schema_version()   ? HW_DB_OLDER
                                 : version > hw__db_schema_version() ? HW_DB_NEWER
                                                                     : HW_DB_OK;
    snprintf(said, sizeof said, "%s: %s", f->path, hw__db_text(status));
    check_opening(url, status, status == HW_DB_OK ? "" : said);
  }
  snprintf(url, sizeof url, "%s.not", f->path);
  snprintf(said, sizeof said, "%s: there is no such file", url);
  check_opening(url, HW_DB_NO_FILE, said);
  snprintf(said, sizeof said, "%s: ", f->folder);
  check_opening(f->folder, HW_DB_READONLY, said);
}

static void test_values_are_what_their_kind_says(void **state) {
  (void)state;
  const hw__value integer = of_integer(37), real = of_real(14.2), text = of_text("3"), none = {.kind = HW_VALUE_NULL};
  char copy[4];
  assert_true(hw__value_integer(&integer) == 37 && hw__value_integer(&real) == 0 && hw__value_integer(&text) == 0);
  assert_true(hw__value_real(&integer) == 37 && hw__value_real(&real) == 14.2);
  assert_true(isnan(hw__value_real(&text)) && isnan(hw__value_real(&none)));
  hw__value_copy(&text, copy, sizeof copy);
  assert_string_equal(copy, "3");
  hw__value_copy(&integer, copy, sizeof copy);
  assert_string_equal(copy, "");
  const hw__value several[] = {of_blob("a\0b", 3), text, integer};
  const size_t sizes[] = {3, 1, 0};
  for (size_t i = 0; i < 3; i++) {
    char *made = hw__value_duplicate(&several[i]);
    assert_memory_equal(made, sizes[i] ? several[i].bytes : "", sizes[i]);
    assert_int_equal(made[sizes[i]], 0);
    free(made);
  }
  assert_string_equal(hw__db_text((hw__db_status)1000), "unknown");
}

static void test_a_file_that_is_no_database_is_refused(void **state) {
  fixture *f = *state;
  if (postgres) {
    skip();
  }
  hw__store_close(f->store);
  f->store = NULL;
  FILE *file = fopen(f->path, "w");
  for (int i = 0; i < 4096; i++) {
    fputs("not a database, ", file);
  }
  fclose(file);
  assert_int_equal(open_store(f), HW_DB_CORRUPT);
}

static hw__db_status run_stamped(hw__db *db, int64_t *seq, void *context) {
  fixture *f = context;
  hw__checked_reading batch[] = {entry(0, 0, 1.5, 0.37), entry(0, 1, 1.5, 0.4), entry(0, 0, 1.5, 0.37)};
  const hw__stamp stamps[] = {{7, 100}, {12, 101}, {13, 102}};
  const hw__db_status status = hw__db_append_stamped(db, f->catalog, batch, 3, stamps);
  assert_int_equal(batch[2].fate, HW_FATE_DUPLICATE);
  *seq = 13;
  return status;
}

static void test_numbers_given_by_the_caller_are_kept(void **state) {
  fixture *f = *state;
  assert_int_equal(hw__store_write(f->store, run_stamped, f), HW_DB_OK);
  hw__db *db = hw__store_reader(f->store);
  hw__log_record page[4];
  size_t count = 0;
  assert_int_equal(hw__db_log(db, 0, page, 4, &count), HW_DB_OK);
  assert_int_equal(count, 2);
  assert_int_equal(page[0].seq, 7);
  assert_int_equal(page[1].seq, 12);
  assert_int_equal(page[1].received_us, 101);
  hw__store_return(f->store, db);
}

/* More rows than one statement takes, sent twice over, every third with another value the second time. */
static void test_a_large_body_gets_its_fates_row_by_row(void **state) {
  enum { ROWS = 5000 };
  fixture *f = *state;
  hw__ingest ingest;
  hw__checked_reading *batch = calloc(2 * ROWS, sizeof *batch);
  for (size_t i = 0; i < ROWS; i++) {
    batch[i] = entry(i % 2, 0, (double)(i / 2), 0.37);
    batch[ROWS + i] = entry(i % 2, 0, (double)(i / 2), i % 3 ? 0.37 : 0.38);
  }
  assert_int_equal(put(f, batch, 2 * ROWS, &ingest), HW_DB_OK);
  assert_int_equal(ingest.tally[HW_FATE_ACCEPTED], ROWS);
  assert_int_equal(ingest.tally[HW_FATE_CONFLICT], (ROWS + 2) / 3);
  assert_int_equal(ingest.tally[HW_FATE_DUPLICATE], ROWS - (ROWS + 2) / 3);
  hw__db *db = hw__store_reader(f->store);
  hw__log_record page[100];
  size_t count = 0;
  assert_int_equal(hw__db_log(db, 4321, page, 100, &count), HW_DB_OK);
  assert_int_equal(page[0].seq, 4322); /* the order given is the order of the log */
  assert_true(page[0].time_s == 4321 / 2);
  hw__store_return(f->store, db);
  free(ingest.rejects);
  free(batch);
}

/* Records are looked at a thousand or so at a time: bodies about that size, one less and one more, and several times
 * it. */
static void test_every_record_is_verified_whatever_the_size_of_a_body(void **state) {
  static const size_t sizes[] = {1023, 1, 1024, 1025, 2048, 2049, 3500};
  fixture *f = *state;
  static hw__checked_reading batch[3500];
  uint64_t records = 0;
  size_t all = 0;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    hw__ingest ingest;
    for (size_t i = 0; i < sizes[k]; i++) {
      batch[i] = entry(0, 0, (double)(all + i), 0.37);
    }
    assert_int_equal(put(f, batch, sizes[k], &ingest), HW_DB_OK);
    all += sizes[k];
    assert_int_equal(verify(f, &records), 0);
    assert_int_equal(records, all);
  }
}

/* A second service on the same database would number readings the first one numbers. */
static void test_a_second_writer_is_kept_out(void **state) {
  fixture *f = *state;
  hw__db *second = NULL;
  char sentence[256];
  assert_int_equal(hw__db_open(f->path, true, &second, sentence, sizeof sentence), HW_DB_BUSY);
  assert_non_null(strstr(sentence, "another"));
  hw__store_close(f->store);
  assert_int_equal(open_store(f), HW_DB_OK);
}

/* The unhappy URLs: none of their messages may hold any of the password. */
static void test_no_message_tells_a_password(void **state) {
  (void)state;
  const char *const urls[] = {"postgresql://me:secret@127.0.0.1:1/x",    "postgresql://me:sec@ret@127.0.0.1:1/x",
                              "postgresql://me:sec/ret@127.0.0.1:1/x",   "postgresql://127.0.0.1:1/x?password=secret",
                              "postgresql://me:secret@[127.0.0.1:1/x",   "postgresql://me:sec?ret@127.0.0.1:1/x",
                              "postgresql://me:secret@127.0.0.1:1/x?y=z"};
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    hw__db *db = NULL;
    char sentence[512];
    assert_int_not_equal(hw__db_open(urls[i], true, &db, sentence, sizeof sentence), HW_DB_OK);
    assert_null(strstr(sentence, "sec"));
    assert_null(strstr(sentence, "ret@"));
    assert_null(strchr(sentence, '\n'));
  }
}

int main(void) {
  fixture_on_postgres();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_same_reading_twice_is_stored_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_calendar_and_relative_times_do_not_mix, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_everything_is_there_after_reopening, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_copy_has_all_of_it_and_needs_a_place, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_an_export_and_its_import_are_watched_and_can_be_stopped, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_readings_and_commands_merge_in_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_the_chain_holds_under_retention, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_store_that_failed_tries_again_by_itself, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_who_waits_for_news_waits_as_long_as_told_or_until_there_are_some, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_a_torn_head_leaves_the_one_before, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_the_end_behind_the_last_mark_is_checked, set_up, tear_down),
      cmocka_unit_test(test_the_hash_is_the_published_one),
      cmocka_unit_test_setup_teardown(test_concurrent_writers_share_commits_and_lose_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_failing_job_does_not_take_others_with_it, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_numbers_given_by_the_caller_are_kept, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_large_body_gets_its_fates_row_by_row, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_every_record_is_verified_whatever_the_size_of_a_body, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_second_writer_is_kept_out, set_up, tear_down),
      cmocka_unit_test(test_no_message_tells_a_password),
      cmocka_unit_test_setup_teardown(test_a_newer_database_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_store_that_cannot_be_read_is_told_why, set_up, tear_down),
      cmocka_unit_test(test_values_are_what_their_kind_says),
      cmocka_unit_test_setup_teardown(test_a_file_that_is_no_database_is_refused, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

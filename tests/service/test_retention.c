/* What --keep lets go of and what it leaves, and what is kept of incidents. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/metrics.h"
#include "incidents/alarms.h"
#include "store/retention.h"
#include "store_fixture.h"

enum { MOST = 4600 };
static const int64_t day_us = INT64_C(86400) * 1000000;

typedef struct {
  fixture *f;
  size_t count;
  int64_t snapshot;
  hw__checked_reading readings[MOST];
  hw__stamp stamps[MOST];
} history;

static hw__db_status run_history(hw__db *db, int64_t *seq, void *context) {
  history *h = context;
  const hw__db_status status = hw__db_append_stamped(db, h->f->catalog, h->readings, h->count, h->stamps);
  *seq = h->stamps[h->count - 1].seq;
  return status == HW_DB_OK ? hw__db_put_snapshot(db, h->snapshot, "state", 5) : status;
}

/* Readings 1, 2, ... of the first river, a minute apart; the first `old` of them came 40 days ago, the others now. */
static void tell_history(fixture *f, size_t count, size_t old, int64_t snapshot, size_t from_ahead) {
  static history h;
  const int64_t now_us = hw__store_now_us(f->store);
  h = (history){.f = f, .count = count, .snapshot = snapshot};
  for (size_t i = 0; i < count; i++) {
    h.readings[i] = entry(0, 0, 60 * (double)(i + 1), 0.37);
    h.stamps[i] = (hw__stamp){(int64_t)i + 1, i < old ? now_us - 40 * day_us : now_us};
  }
  if (from_ahead) {
    h.stamps[from_ahead - 1].received_us = now_us + 400 * day_us;
  }
  assert_int_equal(hw__store_write(f->store, run_history, &h), HW_DB_OK);
}

static hw__log_record oldest(fixture *f) {
  hw__log_record first = {0};
  size_t count = 0;
  hw__db *db = hw__store_reader(f->store);
  assert_int_equal(hw__db_oldest(db, &first, 1, &count), HW_DB_OK);
  hw__store_return(f->store, db);
  return first;
}

/* With readings kept for so many days, this one becomes the oldest, and stays it. */
static void check_oldest(fixture *f, double days, int64_t expected) {
  atomic_bool stopping = false;
  hw__retention *retention = NULL;
  hw_error error;
  const uint64_t before = hw__metric_get(HW_METRIC_REMOVED);
  const uint64_t gone = (uint64_t)(expected - oldest(f).seq);
  const int64_t until_ms = hw__clock_ms() + 20000;
  assert_int_equal(hw__retention_start(f->store, days, &stopping, &retention, &error), HW_OK);
  while (oldest(f).seq < expected && hw__clock_ms() < until_ms) {
    hw__clock_nap_ms(2);
  }
  atomic_store(&stopping, true);
  hw__retention_stop(retention);
  assert_int_equal(oldest(f).seq, expected);
  assert_int_equal(hw__metric_get(HW_METRIC_REMOVED) - before, gone);
}

static void test_what_is_old_goes_and_the_rest_stays(void **state) {
  tell_history(*state, 100, 60, 90, 0);
  check_oldest(*state, 39, 61);
}

static void test_what_detection_has_not_passed_stays(void **state) {
  tell_history(*state, 100, 60, 20, 0);
  check_oldest(*state, 30, 21);
}

static void test_a_stamp_from_ahead_keeps_nobody(void **state) {
  tell_history(*state, 100, 60, 90, 37);
  check_oldest(*state, 30, 61);
}

static void test_the_latest_reading_stays(void **state) {
  tell_history(*state, 14, 14, 14, 0);
  check_oldest(*state, 1, 14);
}

static void test_much_goes_in_steps_without_a_pause_between(void **state) {
  tell_history(*state, MOST, MOST - 7, MOST, 0);
  check_oldest(*state, 30, MOST - 6);
}

static hw__db_status run_open(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__db_open_incident(db, context);
}

static hw__db_status run_close(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const hw__incident *incident = context;
  const hw__db_status status = hw__db_close_incident(db, incident);
  return status == HW_DB_OK ? hw__db_finish_incident(db, incident->id) : status;
}

static hw__db_status run_remove_none(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  size_t removed = 0;
  return hw__db_remove(db, 0, *(const int64_t *)context, 0, &removed);
}

static void test_incidents_keep_their_readings_until_they_are_old_themselves(void **state) {
  fixture *f = *state;
  tell_history(f, 100, 60, 90, 0);
  const int64_t now_us = hw__store_now_us(f->store), river = oldest(f).river;
  hw__incident lead_in = {.id = 55, .river = river, .from_s = 60 * 31 - 7, .engine = 1};
  hw__incident later = {.id = 50, .river = river, .from_s = 60 * 70, .engine = 1}; /* begins where nothing is before */
  hw__incident past = {.id = 12, .river = river, .from_s = 60 * 3, .closed_seq = 14, .engine = 1};
  past.closed_us = now_us - 35 * day_us;
  assert_int_equal(hw__store_write(f->store, run_open, &lead_in), HW_DB_OK);
  assert_int_equal(hw__store_write(f->store, run_open, &later), HW_DB_OK);
  assert_int_equal(hw__store_write(f->store, run_open, &past), HW_DB_OK);
  assert_int_equal(hw__store_write(f->store, run_close, &past), HW_DB_OK);
  check_oldest(f, 36, 3); /* it is kept for a day more */
  check_oldest(f, 30, 31);
  lead_in.closed_seq = 58;
  lead_in.closed_us = now_us - 31 * day_us;
  assert_int_equal(hw__store_write(f->store, run_close, &lead_in), HW_DB_OK);
  check_oldest(f, 30, 50);
  hw__db *db = hw__store_reader(f->store);
  assert_int_equal(hw__db_remembers(db, &past), HW_DB_FORGOTTEN);
  assert_int_equal(hw__db_remembers(db, &lead_in), HW_DB_FORGOTTEN);
  assert_int_equal(hw__db_remembers(db, &later), HW_DB_OK);
  /* To keep more from now on brings nothing back. */
  assert_int_equal(hw__store_write(f->store, run_remove_none, &(int64_t){now_us - 90 * day_us}), HW_DB_OK);
  assert_int_equal(hw__db_remembers(db, &lead_in), HW_DB_FORGOTTEN);
  lead_in.closed_us = now_us - 29 * day_us;
  assert_int_equal(hw__db_remembers(db, &lead_in), HW_DB_OK);
  hw__store_return(f->store, db);
}

static void test_less_than_a_day_is_refused(void **state) {
  fixture *f = *state;
  atomic_bool stopping = true;
  hw__retention *retention = NULL;
  hw_error error;
  assert_int_equal(hw__retention_start(f->store, 0.99, &stopping, &retention, &error), HW_EDOMAIN);
  assert_string_equal(error.text, "--keep 0.99: expected 1 to 100000 days");
  assert_int_equal(hw__retention_start(f->store, (double)NAN, &stopping, &retention, &error), HW_EDOMAIN);
  assert_int_equal(hw__retention_start(f->store, 100001, &stopping, &retention, &error), HW_EDOMAIN);
  assert_null(retention);
  assert_int_equal(hw__retention_start(f->store, 1, &stopping, &retention, &error), HW_OK);
  hw__retention_stop(retention);
}

static void test_readings_of_a_sensor_come_in_order_the_last_of_them(void **state) {
  fixture *f = *state;
  hw__log_record page[14];
  size_t count = 0;
  tell_history(f, 37, 0, 0, 0);
  const hw__log_record first = oldest(f);
  hw__db *db = hw__store_reader(f->store);
  for (size_t limit = 1; limit <= 14; limit++) {
    assert_int_equal(hw__db_sensor_log(db, first.sensor, 60 * 4, 60 * 30, page, limit, &count), HW_DB_OK);
    assert_int_equal(count, limit);
    for (size_t i = 0; i < limit; i++) {
      assert_int_equal(page[i].seq, 30 - limit + 1 + i);
    }
  }
  hw__store_return(f->store, db);
}

/* Every one of these asks the log in its own way; its records are their own numbers. */
static void test_the_log_is_asked_by_number_time_and_stamp(void **state) {
  fixture *f = *state;
  hw__log_record page[64];
  int64_t stamps[8], received_us = 0;
  size_t count = 0;
  tell_history(f, 100, 60, 0, 0);
  const hw__log_record first = oldest(f);
  hw__db *db = hw__store_reader(f->store);
  for (int64_t after = 0; after < 60; after += 7) {
    for (size_t limit = 1; limit < 40; limit += 13) {
      assert_int_equal(hw__db_log(db, after, page, limit, &count), HW_DB_OK);
      assert_true(count == limit && page[0].seq == after + 1 && page[count - 1].seq == after + (int64_t)limit);
      assert_int_equal(hw__db_river_log(db, first.river, after, after + 20, page, limit, &count), HW_DB_OK);
      assert_true(count == (limit < 20 ? limit : 20) && page[0].seq == after + 1);
      const hw__lead_in lead_in = {first.river, 60.0 * (double)(after + 3), after, after + 12};
      assert_int_equal(hw__db_lead_in(db, &lead_in, page, limit, &count), HW_DB_OK);
      assert_true(count == (limit < 9 ? limit : 9) && page[0].seq == after + 3);
      const hw__sensor_span span = {first.sensor, 60.0 * (double)after, 60.0 * (double)(after + 12), after + 2};
      assert_int_equal(hw__db_sensor_page(db, &span, page, limit, &count), HW_DB_OK);
      assert_true(count == (limit < 10 ? limit : 10) && page[0].seq == after + 3);
    }
  }
  assert_int_equal(hw__db_river_log(db, first.river + 1, 0, 100, page, 64, &count), HW_DB_OK);
  assert_int_equal(count, 0);
  assert_int_equal(hw__db_recent(db, stamps, 8, &count), HW_DB_OK);
  assert_true(count == 2 && stamps[0] == first.received_us + 40 * day_us && stamps[1] == first.received_us);
  static const struct {
    int64_t days, head, expected_days; /* -1: none */
  } untils[] = {{-1, 100, -1}, {0, 100, 0}, {39, 100, 0}, {40, 100, 40},
                {41, 100, 40}, {41, 60, 0}, {41, 61, 40}, {0, 0, -1}};
  for (size_t i = 0; i < sizeof untils / sizeof untils[0]; i++) {
    assert_int_equal(
        hw__db_received_until(db, first.received_us + untils[i].days * day_us, untils[i].head, &received_us), HW_DB_OK);
    assert_true(received_us ==
                (untils[i].expected_days < 0 ? 0 : first.received_us + untils[i].expected_days * day_us));
  }
  hw__store_return(f->store, db);
}

static hw__track track_at(int64_t seq, bool found, bool bounded) {
  return (hw__track){.seq = seq,
                     .reading_s = 14.2 * (double)seq,
                     .readings = 37,
                     .provisional = !bounded,
                     .has_source = found,
                     .has_interval = bounded,
                     .trust = HW_TRUST_PROVISIONAL,
                     .spill = 0.73,
                     .branch = "ash",
                     .source = {370, -4200, 61},
                     .interval = {{311, -4700, 23}, {402, -3900, 97}},
                     .duration_s = {.mid = 600, .lo = 370, .hi = 1420}};
}

static hw__db_status run_tracks(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  hw__db_status status = HW_DB_OK;
  for (int64_t i = 0; i < 3 && status == HW_DB_OK; i++) {
    const hw__track track = track_at(20 + i, i > 0, i > 1);
    status = hw__db_put_track(db, *(const int64_t *)context, &track);
  }
  return status;
}

static hw__db_status run_rework(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  bool *reworked = context;
  const hw__db_status status = hw__db_rework_incident(db, 12, 2, &reworked[0]);
  return status == HW_DB_OK ? hw__db_rework_incident(db, 12, 2, &reworked[1]) : status;
}

static void test_an_incidents_history_is_read_as_it_was_written_until_it_begins_again(void **state) {
  fixture *f = *state;
  hw__track read[4];
  size_t count = 0;
  bool reworked[2] = {false, true};
  tell_history(f, 14, 0, 14, 0);
  hw__incident incident = {.id = 12, .river = oldest(f).river, .engine = 1};
  assert_int_equal(hw__store_write(f->store, run_open, &incident), HW_DB_OK);
  assert_int_equal(hw__store_write(f->store, run_tracks, &incident.id), HW_DB_OK);
  hw__db *db = hw__store_reader(f->store);
  assert_int_equal(hw__db_tracks(db, incident.id, 0, read, 4, &count), HW_DB_OK);
  assert_int_equal(count, 3);
  for (size_t i = 0; i < 3; i++) {
    const hw__track wrote = track_at(20 + (int64_t)i, i > 0, i > 1);
    assert_true(read[i].seq == wrote.seq && read[i].reading_s == wrote.reading_s && read[i].readings == 37);
    assert_true(read[i].provisional == wrote.provisional && read[i].trust == wrote.trust && read[i].spill == 0.73);
    assert_true(read[i].has_source == wrote.has_source && read[i].has_interval == wrote.has_interval);
    assert_string_equal(read[i].branch, "ash");
  }
  const hw__track wrote = track_at(22, true, true);
  assert_memory_equal(&read[2].source, &wrote.source, sizeof wrote.source);
  assert_memory_equal(&read[2].interval, &wrote.interval, sizeof wrote.interval);
  assert_memory_equal(&read[2].duration_s, &wrote.duration_s, sizeof wrote.duration_s);
  assert_true(isnan(read[0].source.mass_g) && isnan(read[1].interval.lo.mass_g));
  assert_int_equal(hw__store_write(f->store, run_rework, reworked), HW_DB_OK);
  assert_true(reworked[0] && !reworked[1]); /* the second time it is of this engine already */
  assert_int_equal(hw__db_tracks(db, incident.id, 0, read, 4, &count), HW_DB_OK);
  assert_int_equal(count, 0);
  hw__store_return(f->store, db);
}

static hw__db_status run_event(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__db_put_event(db, context);
}

/* What a restart knows of an alarm is what its last event says. */
static void test_an_alarm_is_recalled_as_it_was_told(void **state) {
  fixture *f = *state;
  static const struct {
    const char *kind, *body;
    hw__alarm alarm;
  } told[] = {
      {"intake_alarm", "{\"from_s\": 1.5, \"until_s\": 14, \"trust\": \"full\"}", {true, 1.5, 14, HW_TRUST_FULL}},
      {"intake_alarm_changed",
       "{\"from_s\": 2, \"until_s\": 9, \"trust\": \"provisional\"}",
       {true, 2, 9, HW_TRUST_PROVISIONAL}},
      {"intake_alarm_changed", "{\"from_s\": 3, \"trust\": \"none\"}", {true, 3, NAN, HW_TRUST_NONE}},
      {"intake_alarm_withdrawn", "{\"trust\": \"best\"}", {false, NAN, NAN, HW_TRUST_UNJUDGED}},
      {"intake_alarm", "not JSON", {true, NAN, NAN, HW_TRUST_UNJUDGED}}};
  hw__alarm candidate, intake;
  hw__engine engine = {
      .site = hw__catalog_site(f->catalog, 0), .candidates = &candidate, .intakes = &intake, .incident = {.id = 12}};
  hw__db *db = hw__store_reader(f->store);
  for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
    hw__event event = {
        .seq = 20 + (int64_t)i, .incident = 12, .subject = "town", .body = (char *)(intptr_t)told[i].body};
    snprintf(event.kind, sizeof event.kind, "%s", told[i].kind);
    assert_int_equal(hw__store_write(f->store, run_event, &event), HW_DB_OK);
    hw__alarms_recall(&engine, db);
    const hw__alarm *want = &told[i].alarm;
    assert_true(intake.raised == want->raised && intake.trust == want->trust);
    assert_true(intake.from_s == want->from_s || (isnan(intake.from_s) && isnan(want->from_s)));
    assert_true(intake.until_s == want->until_s || (isnan(intake.until_s) && isnan(want->until_s)));
    assert_true(!candidate.raised && isnan(candidate.from_s));
  }
  hw__store_return(f->store, db);
}

static void test_an_incident_passes_over_what_was_read_before_it(void **state) {
  fixture *f = *state;
  const hw__site *site = hw__catalog_site(f->catalog, 0);
  const hw__incident incident = {.from_s = 14.2, .sensor = site->sensor_keys[0]};
  hw__log_record record = {.kind = HW_RECORD_READING, .time_s = 14.2, .sensor = site->sensor_keys[1]};
  assert_false(hw__incident_passes_over(&incident, site, &record));
  record.time_s = 14.1;
  assert_true(hw__incident_passes_over(&incident, site, &record));
  record.kind = HW_RECORD_DISCHARGE;
  assert_true(hw__incident_passes_over(&incident, site, &record));
  record.time_s = 15;
  assert_false(hw__incident_passes_over(&incident, site, &record));
}

static void test_an_event_withdraws_by_its_kind(void **state) {
  (void)state;
  for (int kind = HW_EVENT_INCIDENT_OPENED; kind <= HW_EVENT_SENSOR_HEARD; kind++) {
    hw__event event = {0};
    snprintf(event.kind, sizeof event.kind, "%s", hw__event_text((hw__event_kind)kind));
    assert_true(hw__event_withdraws(&event) == (strstr(event.kind, "withdrawn") != NULL));
  }
}

int main(void) {
  fixture_on_postgres();
#define ON_A_STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      ON_A_STORE(test_what_is_old_goes_and_the_rest_stays),
      ON_A_STORE(test_what_detection_has_not_passed_stays),
      ON_A_STORE(test_a_stamp_from_ahead_keeps_nobody),
      ON_A_STORE(test_the_latest_reading_stays),
      ON_A_STORE(test_much_goes_in_steps_without_a_pause_between),
      ON_A_STORE(test_incidents_keep_their_readings_until_they_are_old_themselves),
      ON_A_STORE(test_less_than_a_day_is_refused),
      ON_A_STORE(test_the_log_is_asked_by_number_time_and_stamp),
      ON_A_STORE(test_readings_of_a_sensor_come_in_order_the_last_of_them),
      ON_A_STORE(test_an_incidents_history_is_read_as_it_was_written_until_it_begins_again),
      ON_A_STORE(test_an_alarm_is_recalled_as_it_was_told),
      ON_A_STORE(test_an_incident_passes_over_what_was_read_before_it),
      cmocka_unit_test(test_an_event_withdraws_by_its_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

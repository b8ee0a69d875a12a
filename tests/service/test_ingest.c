/* Every row of every format ends in exactly one fate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/ingest.h"
#include "service_fixture.h"

static hw__ingest start(const hw__catalog *catalog) {
  return (hw__ingest){.catalog = catalog, .now_unix_s = 1.8e9, .future_s = 300};
}

static void test_csv_rows_get_the_fate_they_deserve(void **state) {
  hw__ingest ingest = start(*state);
  const char *body =
      "# a comment\n"
      "time_s,extra,sensor,concentration_ug_l\r\n"
      "14.5,x,s1,37.0\n"
      "14.5,x,s9,37.0\n" /* no such sensor */
      "14.5,x,s2,<20\n"  /* non-detect */
      "15.5,x,s2,\n"     /* missing */
      "abc,x,s2,1\n"     /* malformed time */
      "16.5,x,s2,0x10\n" /* malformed value */
      "16.5,x,s2,-400\n" /* negative */
      "16.5,x,s2,1e12\n" /* absurd */
      "1e11,x,s2,1\n"    /* absurd time */
      "17.5,x,s2,nan\n"  /* not a number */
      "18.5,\"x,y\",\"s1\",2 # so\n";
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body)), HW_OK);
  assert_int_equal(ingest.count, 3);
  assert_int_equal(ingest.entries[0].line, 3);
  assert_true(ingest.entries[0].concentration_g_m3 == 37.0 / 1000); /* as the file reader converts */
  assert_true(ingest.entries[1].below_limit);
  assert_int_equal(ingest.tally[HW_FATE_MISSING], 1);
  assert_int_equal(ingest.tally[HW_FATE_UNKNOWN], 1);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 3);
  assert_int_equal(ingest.tally[HW_FATE_NEGATIVE], 1);
  assert_int_equal(ingest.tally[HW_FATE_ABSURD], 2);
  assert_int_equal(ingest.reject_count, 7);
  assert_int_equal(ingest.rejects[0].line, 4);
  hw__ingest_clear(&ingest);
}

/* Tabs, long lines, every unit, a river and a limit beside the value: what files may hold, bodies may. */
static void test_bodies_have_the_grammar_of_files(void **state) {
  hw__ingest ingest = start(*state);
  const char *tabs = "time_s\tsensor\tconcentration_ng_l\n14.5\ts1\t2000000\n15.5\ts1\t>3\n15.5\ts1\n";
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, tabs, strlen(tabs)), HW_OK);
  assert_int_equal(ingest.count, 2);
  assert_true(ingest.entries[0].concentration_g_m3 == 2);
  assert_true(ingest.entries[1].above_limit);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1); /* a row cut short */
  hw__ingest_clear(&ingest);
  enum { LONG = 60000 };
  static char body[2 * LONG];
  const int head = sprintf(body, "{\"river\": \"demo\", \"sensor\": \"s1\", \"time_min\": 2.5, \"note\": \"");
  memset(body + head, 'x', LONG);
  strcpy(body + head + LONG, "\", \"concentration_g_m3\": 0.02, \"below_limit\": true}\n");
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_NDJSON, body, strlen(body)), HW_OK);
  assert_int_equal(ingest.count, 1);
  assert_true(ingest.entries[0].below_limit && ingest.entries[0].time_s == 150);
  memset(body + head + LONG, 'x', LONG - (size_t)head - 1);
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_NDJSON, body, sizeof body - 1), HW_OK);
  assert_int_equal(ingest.count, 1); /* a line too long is one rejection */
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1);
  hw__ingest_clear(&ingest);
}

/* In place of a concentration, in every format; a concentration beside it counts, and it is an extra column then. */
/* A body in the words of another program, by the `import` of the river it is for. */
static void test_bodies_are_read_by_the_rivers_import(void **state) {
  (void)state;
  static const char yaml[] =
      "name: Elm\n"
      "hydraulics: {velocity_m_s: 1.1, dispersion_m2_s: 30, area_m2: 40}\n"
      "search: {mass_g: [10, 10000], location_m: [-3000, -10], time_s: [2026-02-01T00:00:00Z, 2026-04-01T00:00:00Z]}\n"
      "sensors: [{id: s1, location_m: 37.5}, {id: s2, location_m: 141.2}]\n"
      "import: {separator: ';', decimal: ',', header: 1, time: Zeit, time_as: dmy, timezone: Europe/Berlin,\n"
      "  sensors: {s1: Nord (ppb), s2: Wehr (ppb)}, unit: ppb}\n";
  hw__catalog *catalog = NULL;
  hw_river river;
  hw_error error = {""};
  assert_int_equal(hw__catalog_create(&catalog), HW_OK);
  assert_int_equal(hw_river_parse("elm", yaml, strlen(yaml), NULL, NULL, &river, &error), HW_OK);
  assert_int_equal(hw__catalog_add(catalog, "elm", "elm.yaml", &river, &error), HW_OK);
  hw__ingest ingest = start(catalog);
  const char *body =
      "Zeit;Nord (ppb);Wehr (ppb)\n"
      "01.03.2026 08:15;0,37;\n"
      "01.03.2026 08:30;14,2;<0,02\n"
      "31.02.2026 08:30;14,2;1\n"
      "01.03.2026 08:45;hoch;2,5\n";
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body)), HW_OK);
  assert_int_equal(ingest.count, 4);                                                 /* also the one beside a bad one */
  assert_true(ingest.entries[0].calendar && ingest.entries[0].time_s == 1772349300); /* 07:15 UTC */
  assert_float_equal(ingest.entries[1].concentration_g_m3, 14.2e-3, 1e-15);
  assert_true(ingest.entries[2].below_limit && ingest.entries[2].place.sensor == 1 && ingest.entries[2].line == 3);
  assert_int_equal(ingest.tally[HW_FATE_MISSING], 1);
  assert_int_equal(ingest.reject_count, 2);
  assert_int_equal(ingest.rejects[1].line, 5);
  assert_non_null(strstr(ingest.rejects[1].reason, "Nord (ppb) 'hoch', expected a number"));
  hw__ingest_clear(&ingest);
  /* Our own way is read as ever, and what fits neither is refused once, with the name that is not there. */
  ingest = start(catalog);
  const char *ours = "time,sensor,concentration_ug_l\n2026-03-01T08:15:00Z,s2,1.5\n";
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, ours, strlen(ours)), HW_OK);
  assert_int_equal(ingest.count, 1);
  const char *other = "Datum;Wert\n01.03.2026 08:15;0,37\n";
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, other, strlen(other)), HW_OK);
  assert_int_equal(ingest.reject_count, 1);
  assert_string_equal(ingest.rejects[0].reason, "no column 'Zeit' for the time in the header 'Datum;Wert'");
  hw__ingest_clear(&ingest);
  hw__catalog_free(catalog);
}

static void test_discharges_of_gauges_are_readings_too(void **state) {
  static const struct {
    hw__body_kind kind;
    const char *body;
  } bodies[] = {
      {HW_BODY_CSV, "time_s,gauge,discharge_m3_s\n14.5,g1,3.7\n"},
      {HW_BODY_CSV, "time_s,sensor,concentration_g_m3,discharge_m3_s\n14.5,g1,,3.7\n"},
      {HW_BODY_NDJSON, "{\"gauge\": \"g1\", \"time_s\": 14.5, \"discharge_m3_s\": 3.7}\n"},
      {HW_BODY_JSON, "[{\"sensor\": \"g1\", \"time_s\": 14.5, \"discharge_m3_s\": 3.7, \"concentration_g_m3\": null}]"},
      {HW_BODY_LINE, "flow,gauge=g1 discharge_m3_s=3.7 14500000000"},
  };
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
    hw__ingest ingest = start(*state);
    assert_int_equal(hw__ingest_body(&ingest, bodies[i].kind, bodies[i].body, strlen(bodies[i].body)), HW_OK);
    assert_int_equal(ingest.count, 1);
    const hw__checked_reading *e = &ingest.entries[0];
    assert_true(e->place.gauge && e->place.sensor == 0 && e->time_s == 14.5 && e->concentration_g_m3 == 3.7);
    assert_int_equal(hw__censoring(e), HW_DISCHARGE);
    hw__ingest_clear(&ingest);
  }
  hw__ingest ingest = start(*state);
  const char *csv =
      "time_s,sensor,concentration_g_m3,discharge_m3_s\n"
      "1,s2,0.5,3.7\n" /* the sensor of this name */
      "1,s2,,3.7\n"    /* its gauge */
      "1,s1,,3.7\n"    /* no such gauge */
      "2,g1,,0\n"
      "2,g1,,-1\n"
      "2,g1,,<3\n"
      "2,g1,,2e6\n"
      "2,s1,,\n";
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, csv, strlen(csv)), HW_OK);
  assert_int_equal(ingest.count, 2);
  assert_true(!ingest.entries[0].place.gauge && ingest.entries[0].concentration_g_m3 == 0.5);
  assert_true(ingest.entries[1].place.gauge && ingest.entries[1].place.sensor == 1);
  assert_int_equal(ingest.tally[HW_FATE_UNKNOWN], 1);
  assert_int_equal(ingest.tally[HW_FATE_NEGATIVE], 2);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1);
  assert_int_equal(ingest.tally[HW_FATE_ABSURD], 1);
  assert_int_equal(ingest.tally[HW_FATE_MISSING], 1);
  assert_string_equal(ingest.rejects[0].reason, "no gauge 's1'");
  hw__ingest_clear(&ingest);
  /* Of an MQTT topic that names a gauge alone the plain payload is a discharge. */
  assert_int_equal(hw__ingest_payload(&ingest, "g1", "3.7 14.5", 8), HW_OK);
  assert_int_equal(hw__ingest_payload(&ingest, "s2", "3.7 14.5", 8), HW_OK);
  assert_true(ingest.entries[0].place.gauge && !ingest.entries[1].place.gauge);
  hw__ingest_clear(&ingest);
}

static void test_small_negative_noise_is_a_reading(void **state) {
  hw__ingest ingest = start(*state);
  const char *body = "time_s,sensor,concentration_g_m3\n1.5,s1,-0.00003\n";
  hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body));
  assert_int_equal(ingest.count, 1);
  hw__ingest_clear(&ingest);
  const char *limit = "time_s,sensor,concentration_g_m3\n1.5,s1,<-0.00003\n2.5,s1,<0.00003\n";
  hw__ingest_body(&ingest, HW_BODY_CSV, limit, strlen(limit)); /* but no limit is below zero */
  assert_int_equal(ingest.count, 1);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1);
  hw__ingest_clear(&ingest);
}

/* A value as a number or as a text, plain or with its mark, with either flag: one meaning, or a refusal, as JSON and as
 * NDJSON. */
static void test_a_json_value_means_the_same_as_a_number_and_as_a_text(void **state) {
  hw__ingest ingest = start(*state);
  static const struct {
    const char *value, *more;
    int limit; /* -1 below, 1 above, 2: refused */
  } cases[] = {
      {"0.02", "", 0},
      {"\"0.02\"", "", 0},
      {"\"<0.02\"", "", -1},
      {"\">0.02\"", "", 1},
      {"0.02", ", \"below_limit\": true", -1},
      {"\"0.02\"", ", \"below_limit\": true", -1},
      {"\"<0.02\"", ", \"below_limit\": true", -1},
      {"0.02", ", \"above_limit\": true", 1},
      {"\"0.02\"", ", \"above_limit\": true", 1},
      {"0.02", ", \"below_limit\": false, \"above_limit\": false", 0},
      {"0.02", ", \"below_limit\": \"true\"", -1},
      {"0.02", ", \"above_limit\": \"false\", \"below_limit\": null", 0},
      {"0.02", ", \"below_limit\": 1", 2},
      {"0.02", ", \"above_limit\": \"yes\"", 2},
      {"0.02", ", \"below_limit\": [true]", 2},
      {"-0.00005", ", \"below_limit\": true", 2}, /* within the noise, which a limit has none of */
      {"-0.00005", ", \"above_limit\": true", 2},
      {"-0.02", ", \"below_limit\": true", 2},
      {"\"-0.02\"", ", \"below_limit\": true", 2},
      {"\"<-0.02\"", "", 2},
      {"true", "", 2},
      {"[0.02]", "", 2},
      {"\"0.02x\"", "", 2},
  };
  for (size_t n = 0; n < 2 * sizeof cases / sizeof cases[0]; n++) {
    const size_t i = n / 2;
    char body[200];
    snprintf(body, sizeof body, "{\"sensor\": \"s1\", \"time_s\": 14.5, \"concentration_g_m3\": %s%s}", cases[i].value,
             cases[i].more);
    hw__ingest_body(&ingest, n % 2 ? HW_BODY_NDJSON : HW_BODY_JSON, body, strlen(body));
    const hw__checked_reading *e = &ingest.entries[0];
    const bool taken = ingest.count == 1;
    if (taken != (cases[i].limit != 2) ||
        (taken && (e->concentration_g_m3 != 0.02 || e->above_limit - e->below_limit != cases[i].limit))) {
      fail_msg("%s: %zu taken, %s", body, ingest.count, ingest.reject_count ? ingest.rejects[0].reason : "");
    }
    hw__ingest_clear(&ingest);
  }
}

static void test_a_table_with_a_column_of_flags_is_refused(void **state) {
  hw__ingest ingest = start(*state);
  const char *body = "time_s,sensor,concentration_g_m3,below_limit\n1,s1,0.02,true\n";
  hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body));
  assert_int_equal(ingest.count, 0);
  assert_int_equal(ingest.reject_count, 1);
  assert_non_null(strstr(ingest.rejects[0].reason, "expected limits written as <0.02"));
  hw__ingest_clear(&ingest);
}

static void test_csv_without_a_header_is_one_rejection(void **state) {
  hw__ingest ingest = start(*state);
  const char *body = "1,s1,2\n3,s1,4\n";
  hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body));
  assert_int_equal(ingest.count, 0);
  assert_int_equal(ingest.reject_count, 1);
  hw__ingest_clear(&ingest);
}

static void test_calendar_readings_from_the_future_are_refused(void **state) {
  hw__ingest ingest = start(*state);
  /* now is 2027-01-15T08:00:00Z */
  const char *body =
      "{\"sensor\": \"s1\", \"time\": \"2027-01-15T08:04:59Z\", \"concentration_mg_l\": 0.5}\n"
      "\n"
      "{\"sensor\": \"s1\", \"time\": \"2027-01-15T10:05:01+02:00\", \"concentration_mg_l\": 0.5}\n"
      "{\"sensor\": \"s1\", \"time\": \"2027-01-15T08:00:00\", \"concentration_mg_l\": 0.5}\n"
      "{\"sensor\": \"s1\", \"time\": \"2027-01-15T08:00:00Z\", \"concentration_mg_l\": \"<0.02\"}\n"
      "{\"sensor\": \"s1\", \"time\": \"2027-01-15T08:00:00Z\", \"concentration_mg_l\": null}\n"
      "{\"sensor\": \"s1\", \"time\"\n"
      "[1]\n";
  hw__ingest_body(&ingest, HW_BODY_NDJSON, body, strlen(body));
  assert_int_equal(ingest.count, 2);
  assert_true(ingest.entries[0].calendar);
  assert_true(ingest.entries[1].below_limit);
  assert_int_equal(ingest.tally[HW_FATE_FUTURE], 1);
  assert_int_equal(ingest.tally[HW_FATE_MISSING], 1);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 3);
  assert_int_equal(ingest.rejects[0].line, 3);
  hw__ingest_clear(&ingest);
}

/* One reading right on each bound, which is inside it, and one beyond. */
static void test_values_and_times_have_bounds(void **state) {
  hw__ingest ingest = start(*state);
  static const struct {
    const char *time, *value;
    hw__fate fate;
  } cases[] = {
      {"\"time_s\": 1e10", "0.5", HW_FATE_ACCEPTED},
      {"\"time_s\": -1e10", "0.5", HW_FATE_ACCEPTED},
      {"\"time_s\": 10000000001", "0.5", HW_FATE_ABSURD},
      {"\"time_s\": -10000000001", "0.5", HW_FATE_ABSURD},
      {"\"time\": \"1900-01-01T00:00:00Z\"", "0.5", HW_FATE_ACCEPTED},
      {"\"time\": \"1899-12-31T23:59:59Z\"", "0.5", HW_FATE_ABSURD},
      {"\"time\": \"2199-12-31T23:59:59Z\"", "0.5", HW_FATE_FUTURE},
      {"\"time\": \"2200-01-01T00:00:00Z\"", "0.5", HW_FATE_FUTURE},
      {"\"time\": \"2200-01-01T00:00:01Z\"", "0.5", HW_FATE_ABSURD},
      {"\"time\": \"2027-01-15T08:05:00Z\"", "0.5", HW_FATE_ACCEPTED},
      {"\"time\": \"2027-01-15T08:05:00.001Z\"", "0.5", HW_FATE_FUTURE},
      {"\"time_s\": 14.5", "1e6", HW_FATE_ACCEPTED},
      {"\"time_s\": 14.5", "1000000.1", HW_FATE_ABSURD},
      {"\"time_s\": 14.5", "0", HW_FATE_ACCEPTED},
      {"\"time_s\": 14.5", "\"<0\"", HW_FATE_ACCEPTED},
      {"\"time_s\": 14.5", "-1e6", HW_FATE_NEGATIVE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char body[200];
    snprintf(body, sizeof body, "{\"sensor\": \"s1\", %s, \"concentration_g_m3\": %s}", cases[i].time, cases[i].value);
    hw__ingest_body(&ingest, HW_BODY_JSON, body, strlen(body));
    const hw__fate fate = ingest.count ? HW_FATE_ACCEPTED : ingest.rejects[0].fate;
    if (fate != cases[i].fate) {
      fail_msg("%s: fate %d, expected %d", body, (int)fate, (int)cases[i].fate);
    }
    hw__ingest_clear(&ingest);
  }
}

/* The clock is at 8:00 and may yet be at 9:00: what is dated between is not judged before it stands. */
static void test_what_a_clock_in_doubt_cannot_judge_waits(void **state) {
  static const struct {
    const char *time;
    bool undecided;
    size_t count, rejects;
  } cases[] = {
      {"08:05:00", false, 1, 0}, {"08:05:01", true, 0, 0}, {"09:05:00", true, 0, 0}, {"09:05:01", false, 0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw__ingest ingest = start(*state);
    char body[120];
    ingest.possible_s = ingest.now_unix_s + 3600;
    snprintf(body, sizeof body, "{\"sensor\": \"s1\", \"time\": \"2027-01-15T%sZ\", \"concentration_g_m3\": 0.5}",
             cases[i].time);
    assert_int_equal(hw__ingest_body(&ingest, HW_BODY_JSON, body, strlen(body)), HW_OK);
    assert_true(ingest.undecided == cases[i].undecided);
    assert_true(ingest.count == cases[i].count && ingest.reject_count == cases[i].rejects);
    hw__ingest_clear(&ingest);
  }
}

static void test_every_fate_has_a_label_and_a_text_of_its_own(void **state) {
  (void)state;
  for (hw__fate a = 0; a < HW_FATE_COUNT; a++) {
    for (hw__fate b = 0; b < a; b++) {
      assert_string_not_equal(hw__fate_label(a), hw__fate_label(b));
      assert_string_not_equal(hw__fate_text(a), hw__fate_text(b));
    }
  }
  assert_string_equal(hw__fate_label(HW_FATE_COUNT), "unknown");
  assert_string_equal(hw__fate_text(HW_FATE_COUNT), "unknown");
}

/* All that came of a body: readings and reasons, in the order of their lines. */
static void check_said(const hw__catalog *catalog, hw__body_kind kind, double nanoseconds, const char *body,
                       const char *expected) {
  hw__ingest ingest = start(catalog);
  char said[1000] = "";
  ingest.nanoseconds = nanoseconds;
  assert_int_equal(hw__ingest_body(&ingest, kind, body, strlen(body)), HW_OK);
  for (size_t i = 0, r = 0; i < ingest.count || r < ingest.reject_count;) {
    char *end = said + strlen(said);
    if (i < ingest.count && (r == ingest.reject_count || ingest.entries[i].line < ingest.rejects[r].line)) {
      const hw__checked_reading *e = &ingest.entries[i++];
      snprintf(end, 200, "%zu %s %.17g%s %s%.17g; ", e->line,
               hw__site_name(hw__catalog_site(catalog, e->place.site), e->place), e->time_s,
               e->calendar ? " dated" : "",
               e->below_limit   ? "<"
               : e->above_limit ? ">"
                                : "",
               e->concentration_g_m3);
    } else {
      snprintf(end, 200, "%zu %s; ", ingest.rejects[r].line, ingest.rejects[r].reason);
      r++;
    }
  }
  hw__ingest_clear(&ingest);
  assert_string_equal(said, expected);
}

static void test_what_is_refused_gets_a_sentence(void **state) {
  static const struct {
    hw__body_kind kind;
    const char *body, *said;
  } cases[] = {
      {HW_BODY_CSV,
       "time_s,sensor,concentration_g_m3\n1,s1,0.5\n2,s1,-0.1\n3,s1,<-1e-9\n4,s1,2e6\n2e10,s1,1\n5,,1\n6,s7,1\n",
       "2 s1 1 0.5; 3 concentration -0.1 g/m3, expected zero or more (-0.0002 within this sensor's noise); 4 "
       "concentration_g_m3 '<-1e-9', expected a number, '<' or '>' and a limit, or nothing; 5 concentration 2e+06 "
       "g/m3, expected at most 1e+06; 6 time 2e+10 s, out of any range; 7 no sensor, expected its id; 8 no sensor "
       "'s7'; "},
      {HW_BODY_CSV, "time,sensor,discharge_m3_s\n", ""},
      {HW_BODY_JSON,
       "[{\"gauge\": \"g1\", \"time_s\": 1, \"discharge_m3_s\": 0},{\"gauge\": \"g1\", \"time_s\": 1, "
       "\"discharge_m3_s\": 2e6},"
       "{\"gauge\": \"g1\", \"time_s\": 1, \"discharge_m3_s\": true},{\"gauge\": \"g7\", \"time_s\": 1, "
       "\"discharge_m3_s\": 1},"
       "{\"gauge\": \"g1\", \"time_s\": 1, \"discharge_m3_s\": \"14.2\"},{\"time_s\": 1, \"discharge_m3_s\": 1}]",
       "1 discharge 0 m3/s, expected a positive number; 2 discharge 2e+06 m3/s, expected at most 1e+06; 3 "
       "discharge_m3_s is not a number; 4 no gauge 'g7'; 5 g1 1 14.199999999999999; 6 no gauge, expected its id; "},
      {HW_BODY_JSON,
       "[7, {\"sensor\": \"s1\", \"time_s\": \"x\", \"concentration_g_m3\": 1},"
       "{\"sensor\": \"s1\", \"time\": 3, \"concentration_g_m3\": 1},{\"sensor\": \"s1\", \"concentration_g_m3\": 1},"
       "{\"sensor\": \"s1\", \"time_s\": 1, \"concentration_g_m3\": \"much\"},"
       "{\"sensor\": \"s1\", \"time_s\": 1, \"concentration_g_m3\": [1]},"
       "{\"sensor\": \"s1\", \"time_s\": 1, \"concentration_g_m3\": 1, \"below_limit\": 1}]",
       "1 not an object, expected {\"sensor\": ...}; 2 time 'x', expected a number; 3 time '', expected ISO 8601 with "
       "Z or an offset; 4 time '', expected a number; 5 concentration 'much', expected a number, <limit or >limit; 6 "
       "concentration_g_m3 is not a number, <limit or >limit; 7 below_limit is neither true nor false; "},
      {HW_BODY_JSON,
       "[{\"sensor\": \"s1\", \"time_s\": 1, \"concentration_g_m3\": 1, \"below_limit\": \"true\", \"above_limit\": "
       "null},"
       "{\"sensor\": \"s1\", \"time_h\": 2, \"concentration_ug_l\": 14, \"above_limit\": true, \"below_limit\": false},"
       "{\"sensor\": \"s1\", \"time_s\": 3, \"concentration_g_m3\": 1, \"below_limit\": true, \"above_limit\": true}]",
       "1 s1 1 <1; 2 s1 7200 >0.014; 3 concentration '', expected a number, <limit or >limit; "},
      {HW_BODY_JSON, "[{\"sensor\": \"a]\\\"}\", \"time_s\": 1},\n\n{\"sensor\" \"s1\"}]",
       "3 not JSON: ':' expected near '\"s1\"'; "},
      {HW_BODY_JSON, "\n[{\"sensor\": \"s1\"}\n", "3 not JSON: ']' expected near end of file; "},
      {HW_BODY_JSON, "[{\"sensor\": \"s1\"}}", "1 not JSON: ']' expected near '}'; "},
      {HW_BODY_JSON, "[] \n x", "1 not JSON: end of file expected; "},
      {HW_BODY_JSON, " [ ] \n ", ""},
      {HW_BODY_JSON, "[[{}], []]",
       "1 not an object, expected {\"sensor\": ...}; 2 not an object, expected {\"sensor\": ...}; "},
      {HW_BODY_LINE,
       "# no\n \nw,sensor=s1 concentration_g_m3=1 x\n,sensor=s1 concentration_g_m3=1 1\nw,sensor=s1 below_limit=9 1\r\n"
       "w,sensor=s\\1,river=de\\mo concentration_g_m3=\"<1\" 3\nw,gauge=g1,sensor=s1 discharge_m3_s=14u\t4  ",
       "3 expected measurement,tags fields timestamp; 4 expected measurement,tags fields timestamp; 5 expected "
       "measurement,tags fields timestamp; 6 s1 3e-09 dated <1; 7 time '', expected ISO 8601 with Z or an offset; "},
      {HW_BODY_NDJSON, "{\"sensor\": \"s1\", \"time_s\": 1, \"concentration_g_m3\": 1, \"below_limit\": 3}\n",
       "1 below_limit is neither true nor false; "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_said(*state, cases[i].kind, 0, cases[i].body, cases[i].said);
  }
}

/* A stamp in ticks of whatever length: seconds are whole, and what is left of them is not lost. */
static void test_stamps_of_line_protocol_keep_their_precision(void **state) {
  static const struct {
    double nanoseconds;
    const char *stamp, *said;
  } cases[] = {{1, "1799999999123456789", "1 s1 1799999999.1234567 dated 1; "},
               {1, "-1500000000", "1 s1 -1.5 dated 1; "},
               {1e3, "1799999999123457", "1 s1 1799999999.123457 dated 1; "},
               {1e6, "1799999999250", "1 s1 1799999999.25 dated 1; "},
               {1e9, "1799999999", "1 s1 1799999999 dated 1; "},
               {60e9, "29999999", "1 s1 1799999940 dated 1; "},
               {3600e9, "499999", "1 s1 1799996400 dated 1; "}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char body[100];
    snprintf(body, sizeof body, "w,sensor=s1 concentration_g_m3=1 %s", cases[i].stamp);
    check_said(*state, HW_BODY_LINE, cases[i].nanoseconds, body, cases[i].said);
  }
}

static void test_json_array_counts_its_elements(void **state) {
  hw__ingest ingest = start(*state);
  const char *body =
      "[{\"sensor\": \"s1\", \"time_min\": 2.5, \"concentration_g_m3\": 0.25},"
      " 7, {\"sensor\": \"s2\", \"time_h\": 1, \"concentration_g_m3\": true}]";
  hw__ingest_body(&ingest, HW_BODY_JSON, body, strlen(body));
  assert_int_equal(ingest.count, 1);
  assert_true(ingest.entries[0].time_s == 150);
  assert_int_equal(ingest.rejects[0].line, 2);
  assert_int_equal(ingest.rejects[1].line, 3);
  hw__ingest_clear(&ingest);
  hw__ingest_body(&ingest, HW_BODY_JSON, "{\"a\": ", 6);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1);
  hw__ingest_clear(&ingest);
}

static void test_a_json_body_is_good_as_a_whole_or_one_rejection(void **state) {
#define ONE "{\"sensor\": \"s1\", \"time_s\": 2.5, \"concentration_g_m3\": 0.25, \"note\": \"a,]}\\\" \\\\\"}"
  static const struct {
    const char *body;
    size_t count, line; /* line 0: nothing is wrong */
  } cases[] = {
      {"[]", 0, 0},
      {" [ ] ", 0, 0},
      {"[" ONE "]", 1, 0},
      {"[" ONE " , " ONE "]\n", 2, 0},
      {ONE, 1, 0},
      {"", 0, 1},
      {"[", 0, 1},
      {"[" ONE, 0, 1},
      {"[" ONE ",]", 0, 1},
      {"[\n" ONE ",\n{\"a\": }]", 0, 3},
      {"[" ONE "\n" ONE "]", 0, 2},
      {"[" ONE "}", 0, 1},
      {"[" ONE "]\n]", 0, 1},
      {"[" ONE "] x", 0, 1},
      {"[" ONE ",\n{\"a\": \"]", 0, 2},
      {"[" ONE ", {\"a\": 1, \"a\": 2}]", 0, 1}, /* a name twice */
  };
#undef ONE
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw__ingest ingest = start(*state);
    assert_int_equal(hw__ingest_body(&ingest, HW_BODY_JSON, cases[i].body, strlen(cases[i].body)), HW_OK);
    assert_int_equal(ingest.count, cases[i].count);
    assert_int_equal(ingest.reject_count, cases[i].line > 0);
    assert_true(!cases[i].line || ingest.rejects[0].line == cases[i].line);
    hw__ingest_clear(&ingest);
  }
}

static void test_an_object_too_long_for_a_reading_is_not_parsed(void **state) {
  enum { LONG = 70000 };
  static char body[LONG + 100];
  char *at = body + sprintf(body, "[{\"sensor\": \"s1\", \"time_s\": 2.5, \"concentration_g_m3\": 0.25}, {\"x\": [");
  memset(at, ' ', LONG);
  memcpy(at + LONG, "]}]", 4);
  hw__ingest ingest = start(*state);
  hw__ingest_body(&ingest, HW_BODY_JSON, body, strlen(body));
  assert_int_equal(ingest.count, 1);
  assert_int_equal(ingest.rejects[0].line, 2);
  hw__ingest_clear(&ingest);
  hw__ingest_body(&ingest, HW_BODY_NDJSON, body, strlen(body));
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1);
  hw__ingest_clear(&ingest);
}

static void test_rows_stop_where_the_budget_ends(void **state) {
  hw__budget budget = {20000};
  hw__ingest ingest = start(*state);
  ingest.budget = &budget;
  static char body[20000];
  char *at = body + sprintf(body, "time_s,sensor,concentration_g_m3\n");
  for (int i = 0; i < 1000; i++) {
    at += sprintf(at, "%d.5,s1,0.5\n", i);
  }
  assert_int_equal(hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body)), HW_ENOMEM);
  assert_true(budget.left_bytes < 20000);
  hw__ingest_clear(&ingest);
  assert_int_equal(budget.left_bytes, 20000);
}

static void test_line_protocol_escapes_and_precision(void **state) {
  hw__ingest ingest = start(*state);
  const char *body =
      "water\\ quality,river=demo,sensor=s1 concentration_ug_l=25i,quality=\"good, or so\" 1799999999500000000\n"
      "w,sensor=s2 concentration_g_m3=0.02,below_limit=true 1799999998000000000\n"
      "w,sensor=s2 concentration_g_m3=1\n"          /* no time: a second delivery could not be told from a first */
      "w,sensor=s2 battery=3 1799999998000000000\n" /* no concentration: nothing to store */
      "w,sensor=s2\n"                               /* no fields */
      "w,sensor concentration_g_m3=1\n"
      "w,sensor=s2 concentration_g_m3=1 12x\n";
  hw__ingest_body(&ingest, HW_BODY_LINE, body, strlen(body));
  assert_int_equal(ingest.count, 2);
  assert_true(ingest.entries[0].time_s == 1799999999.5);
  assert_true(ingest.entries[0].concentration_g_m3 == 0.025);
  assert_true(ingest.entries[1].below_limit);
  assert_true(ingest.entries[1].time_s == 1799999998.0);
  assert_int_equal(ingest.tally[HW_FATE_MISSING], 1);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 4);
  hw__ingest_clear(&ingest);
}

/* Every way to say yes and no, of both limits. */
static void test_limits_in_line_protocol_are_true_or_not(void **state) {
  static const struct {
    const char *word;
    bool meant;
  } words[] = {{"t", true}, {"T", true}, {"true", true}, {"True", true}, {"f", false}, {"F", false}, {"false", false}};
  static const char *const neither[] = {"1", "talse", "yes", "fa"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    for (int above = 0; above < 2; above++) {
      hw__ingest ingest = start(*state);
      char body[160];
      snprintf(body, sizeof body, "w,sensor=s2 concentration_g_m3=0.02,%s=%s 1799999998000000000\n",
               above ? "above_limit" : "below_limit", words[i].word);
      hw__ingest_body(&ingest, HW_BODY_LINE, body, strlen(body));
      assert_int_equal(ingest.count, 1);
      assert_int_equal(ingest.entries[0].above_limit, above && words[i].meant);
      assert_int_equal(ingest.entries[0].below_limit, !above && words[i].meant);
      hw__ingest_clear(&ingest);
    }
  }
  for (size_t i = 0; i < sizeof neither / sizeof neither[0]; i++) {
    hw__ingest ingest = start(*state);
    char body[160];
    snprintf(body, sizeof body, "w,sensor=s2 concentration_g_m3=0.02,below_limit=%s 1799999998000000000\n", neither[i]);
    hw__ingest_body(&ingest, HW_BODY_LINE, body, strlen(body));
    assert_int_equal(ingest.count, 0);
    assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 1);
    hw__ingest_clear(&ingest);
  }
}

static void test_mqtt_payloads_need_a_time(void **state) {
  hw__ingest ingest = start(*state);
  ingest.river = "demo";
  static const char *const payloads[] = {"0.37 2027-01-15T08:00:00Z\n",
                                         "{\"time_s\": 3, \"concentration_g_m3\": 1.5}",
                                         "<0.02\t14.5",
                                         "0.37",
                                         "0.37 soon",
                                         "{\"concentration_g_m3\": 1.5}",
                                         ""};
  for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
    assert_int_equal(hw__ingest_payload(&ingest, "s1", payloads[i], strlen(payloads[i])), HW_OK);
  }
  assert_int_equal(hw__ingest_payload(&ingest, "s1", "0.3\0 1", 6), HW_OK);
  assert_int_equal(ingest.count, 3);
  assert_true(ingest.entries[0].concentration_g_m3 == 0.37 && ingest.entries[0].calendar);
  assert_true(ingest.entries[1].time_s == 3 && !ingest.entries[1].calendar);
  assert_true(ingest.entries[2].below_limit);
  assert_int_equal(ingest.tally[HW_FATE_MALFORMED], 5);
  hw__ingest_clear(&ingest);
}

static void test_content_type_parameters_are_ignored(void **state) {
  (void)state;
  assert_int_equal(hw__ingest_kind("Text/CSV; charset=utf-8"), HW_BODY_CSV);
  assert_int_equal(hw__ingest_kind("application/json"), HW_BODY_JSON);
  assert_int_equal(hw__ingest_kind("application/x-www-form-urlencoded"), HW_BODY_UNKNOWN);
  assert_int_equal(hw__ingest_kind(NULL), HW_BODY_UNKNOWN);
}

static void test_a_sensor_of_several_rivers_must_name_its_river(void **state) {
  (void)state;
  hw__catalog *two = fixture_catalog(2);
  hw__ingest ingest = start(two);
  const char *body = "river,time_s,sensor,concentration_g_m3\n,1,s1,1\nother,1,s1,1\nnowhere,1,s1,1\n";
  hw__ingest_body(&ingest, HW_BODY_CSV, body, strlen(body));
  assert_int_equal(ingest.count, 1);
  assert_int_equal(ingest.entries[0].place.site, 1);
  assert_int_equal(ingest.tally[HW_FATE_UNKNOWN], 2);
  hw__ingest_clear(&ingest);
  hw__catalog_free(two);
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
      cmocka_unit_test(test_csv_rows_get_the_fate_they_deserve),
      cmocka_unit_test(test_bodies_have_the_grammar_of_files),
      cmocka_unit_test(test_bodies_are_read_by_the_rivers_import),
      cmocka_unit_test(test_discharges_of_gauges_are_readings_too),
      cmocka_unit_test(test_small_negative_noise_is_a_reading),
      cmocka_unit_test(test_a_json_value_means_the_same_as_a_number_and_as_a_text),
      cmocka_unit_test(test_a_table_with_a_column_of_flags_is_refused),
      cmocka_unit_test(test_csv_without_a_header_is_one_rejection),
      cmocka_unit_test(test_calendar_readings_from_the_future_are_refused),
      cmocka_unit_test(test_values_and_times_have_bounds),
      cmocka_unit_test(test_what_a_clock_in_doubt_cannot_judge_waits),
      cmocka_unit_test(test_every_fate_has_a_label_and_a_text_of_its_own),
      cmocka_unit_test(test_what_is_refused_gets_a_sentence),
      cmocka_unit_test(test_stamps_of_line_protocol_keep_their_precision),
      cmocka_unit_test(test_json_array_counts_its_elements),
      cmocka_unit_test(test_a_json_body_is_good_as_a_whole_or_one_rejection),
      cmocka_unit_test(test_an_object_too_long_for_a_reading_is_not_parsed),
      cmocka_unit_test(test_rows_stop_where_the_budget_ends),
      cmocka_unit_test(test_line_protocol_escapes_and_precision),
      cmocka_unit_test(test_limits_in_line_protocol_are_true_or_not),
      cmocka_unit_test(test_mqtt_payloads_need_a_time),
      cmocka_unit_test(test_content_type_parameters_are_ignored),
      cmocka_unit_test(test_a_sensor_of_several_rivers_must_name_its_river),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

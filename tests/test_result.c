/* Results on paper: the JSON parses and holds every key, the text says what people need. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "headwater/headwater.h"

static hw_candidate candidates[] = {{.id = "mill", .name = "Paper \"mill\"", .location_m = -21000}};
static hw_intake intakes[] = {{.id = "reno", .name = "Reno intake", .location_m = 21999.7, .alarm_g_m3 = 0.001}};
static hw_sensor sensors[] = {{.id = "s1", .location_m = -14200}};
static hw_river river = {.name = "Ache\\Traun",
                         .hydraulics = {.velocity_m_s = {.value = 0.6}},
                         .sensors = sensors,
                         .sensor_count = 1,
                         .candidates = candidates,
                         .candidate_count = 1,
                         .intakes = intakes,
                         .intake_count = 1};
static const hw_suspicion suspicions[] = {{0, 0.83}, {-1, 0.17}};
static const hw_arrival arrivals[] = {
    {0, {3600, 4260, 5400}, {7200, 7800, 8400}, {9000, 9960, 11400}, {0.0011, 0.0142, 0.37}, 0.97},
    {0, {NAN, NAN, NAN}, {7200, 7800, 8400}, {NAN, NAN, NAN}, {0.0001, 0.0002, 0.0003}, NAN},
};
static const hw_region regions[] = {{0, -23000, -21000, 0.61}, {0, -27000, -26200, 0.29}};
static const hw_branch_share branches[] = {{0, 1}};
static const char *const warnings[] = {"sensor s4 never rose above its detection limit"};

static hw_estimate sample_estimate(void) {
  return (hw_estimate){.readings = 82,
                       .spill = 0.993,
                       .trust = HW_TRUST_FULL,
                       .has_source = true,
                       .source = {1300.1, -22106.3, -12900.7},
                       .has_interval = true,
                       .level = 0.9,
                       .interval = {{1200, -23000, -13500}, {1400, -21000, -12000}},
                       .still_flowing = NAN,
                       .rate_g_s = NAN,
                       .regions = regions,
                       .region_count = 2,
                       .branches = branches,
                       .branch_count = 1,
                       .has_hydraulics = true,
                       .velocity_m_s = {1.2, 1.3, 1.4},
                       .dispersion_m2_s = {NAN, NAN, NAN},
                       .suspicions = suspicions,
                       .suspicion_count = 2,
                       .arrivals = arrivals,
                       .arrival_count = 2,
                       .loss = NAN,
                       .stop = HW_STOP_COMPLETE,
                       .cost = {123, 45, 6789},
                       .warnings = warnings,
                       .warning_count = 1};
}

static hw_result sample_result(const hw_estimate *estimate) {
  return (hw_result){.river = &river,
                     .method = "posterior",
                     .seed = UINT64_C(18446744073709551615),
                     .estimate = estimate,
                     .counts = {.missing = 3, .duplicate = 2, .out_of_order = 7},
                     .seconds = 0.1,
                     .reading_us_median = 14.2,
                     .reading_us_p99 = 37.5};
}

static json_t *parse(const char *text) {
  json_error_t error;
  json_t *json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
  if (!json) {
    fail_msg("%s at line %d in %s", error.text, error.line, text);
  }
  return json;
}

static double number_at(const json_t *json, const char *outer, const char *inner, size_t index) {
  const json_t *value = inner ? json_object_get(json_object_get(json, outer), inner) : json_object_get(json, outer);
  value = json_is_array(value) ? json_array_get(value, index) : value;
  assert_true(json_is_real(value));
  return json_real_value(value);
}

static void test_json_holds_every_value_to_the_bit(void **state) {
  (void)state;
  const hw_estimate estimate = sample_estimate();
  const hw_result result = sample_result(&estimate);
  for (int one_line = 0; one_line < 2; one_line++) {
    char *text = NULL;
    assert_int_equal(hw_result_json(&result, one_line != 0, &text), HW_OK);
    assert_int_equal(strchr(text, '\n') == NULL, one_line);
    assert_non_null(strstr(text, "\"seed\": 18446744073709551615"));
    json_t *json = parse(text);
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "headwater.estimate/1");
    assert_string_equal(json_string_value(json_object_get(json, "river")), river.name);
    assert_true(number_at(json, "estimate", "location_m", 0) == -22106.3);
    assert_true(number_at(json, "interval", "time_s", 1) == -12000);
    assert_true(number_at(json, "hydraulics", "velocity_m_s", 2) == 1.4);
    assert_true(json_is_null(json_object_get(json_object_get(json, "hydraulics"), "dispersion_m2_s")));
    assert_true(json_is_null(json_object_get(json_object_get(json, "estimate"), "time")));
    assert_true(json_is_null(json_object_get(json, "loss")));
    assert_true(number_at(json, "skipped", "duplicate", 0) == 2);
    assert_true(number_at(json, "cost", "seconds", 0) == 0.1);
    const json_t *none = json_array_get(json_object_get(json, "candidates"), 1);
    assert_true(json_is_null(json_object_get(none, "id")));
    const json_t *second = json_array_get(json_object_get(json, "arrivals"), 1);
    assert_true(json_is_null(json_object_get(second, "first_s")));
    assert_true(json_is_null(json_object_get(second, "exceeds_alarm")));
    assert_true(json_is_null(json_object_get(second, "last_s")));
    assert_true(number_at(json, "spill", NULL, 0) == 0.993);
    assert_string_equal(json_string_value(json_object_get(json, "trust")), "full");
    assert_true(number_at(json, "interval", "duration_s", 1) == 0);
    assert_true(number_at(json_array_get(json_object_get(json, "region"), 1), "location_m", NULL, 0) == -27000);
    assert_int_equal(json_array_size(json_object_get(json, "branches")), 1);
    const json_t *release = json_array_get(json_object_get(json, "releases"), 0);
    assert_true(number_at(release, "estimate", "location_m", 0) == -22106.3);
    assert_true(number_at(release, "probability", NULL, 0) == 0.993);
    json_decref(json);
    free(text);
  }
}

/* What is known of a range is told. */
static void test_a_range_is_null_where_nothing_of_it_is_known(void **state) {
  (void)state;
  for (int known = 0; known < 8; known++) {
    hw_estimate estimate = sample_estimate();
    estimate.velocity_m_s =
        (hw_range){known & 1 ? 1.2 : (double)NAN, known & 2 ? 1.3 : (double)NAN, known & 4 ? 1.4 : (double)NAN};
    const hw_result result = sample_result(&estimate);
    char *text = NULL;
    assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
    json_t *json = parse(text);
    const json_t *range = json_object_get(json_object_get(json, "hydraulics"), "velocity_m_s");
    assert_true(json_is_null(range) == !known);
    for (size_t i = 0; known && i < 3; i++) {
      const json_t *value = json_array_get(range, i);
      assert_true(known >> i & 1 ? fabs(json_real_value(value) - 1.2 - 0.1 * (double)i) < 1e-9 : json_is_null(value));
    }
    json_decref(json);
    free(text);
  }
}

static void test_json_without_an_estimate_keeps_its_keys(void **state) {
  (void)state;
  static const char *const keys[] = {"schema",        "river",  "method",       "seed",     "readings",   "provisional",
                                     "spill",         "trust",  "trust_reason", "skipped",  "estimate",   "interval",
                                     "still_flowing", "region", "branches",     "releases", "hydraulics", "candidates",
                                     "arrivals",      "cost",   "warnings"};
  const hw_result result = sample_result(NULL);
  char *text = NULL;
  assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
  json_t *json = parse(text);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    assert_non_null(json_object_get(json, keys[i]));
  }
  assert_true(json_is_null(json_object_get(json, "estimate")));
  assert_true(json_is_true(json_object_get(json, "provisional")));
  json_decref(json);
  free(text);
  assert_int_equal(hw_result_text(&result, &text), HW_EEMPTY);
}

static void test_calendar_results_give_the_instant(void **state) {
  (void)state;
  const char *const lone[] = {"sensor s2: a lone reading of 0.3 g/m3 at 12300 s counts for little",
                              "sensor 7 rose to 6.06e-05 g/m3, not used at 3 of -2 places"};
  hw_estimate estimate = sample_estimate();
  estimate.warnings = lone;
  estimate.warning_count = 2;
  hw_result result = sample_result(&estimate);
  result.calendar = true;
  result.origin_unix_s = 1772352900 + 0.7; /* 2026-03-01T08:15:00.7Z */
  char *text = NULL;
  assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
  assert_non_null(strstr(text, "\"time\": \"2026-03-01T04:40:00Z\""));
  free(text);
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_non_null(strstr(text, "released  2026-03-01 04:40 UTC"));
  assert_non_null(strstr(text, "a lone reading of 0.3 mg/l at 2026-03-01 11:40 UTC counts for little\n"));
  assert_non_null(strstr(text, "  sensor 7 rose to 0.0606 ug/l, not used at 3 of -2 places\n"));
  free(text);
}

static void test_text_is_for_people(void **state) {
  (void)state;
  const hw_estimate estimate = sample_estimate();
  const hw_result result = sample_result(&estimate);
  char *text = NULL;
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_string_equal(text,
                      "Ache\\Traun\n"
                      "Spill identified from 82 readings\n"
                      "\n"
                      "                                  90 % interval\n"
                      "  mass      1.3 kg                1.2 kg to 1.4 kg\n"
                      "  place     km -22.1              km -23.0 to km -21.0\n"
                      "  released  -3 h 35 min           -3 h 45 min to -3 h 20 min  (clock of the readings)\n"
                      "  stretches  61 %  km -23.0 to km -21.0\n"
                      "             29 %  km -27.0 to km -26.2\n"
                      "\n"
                      "River as the readings show it\n"
                      "  velocity    1.3 m/s (1.2 to 1.4)\n"
                      "\n"
                      "Who\n"
                      "   83 %  mill, Paper \"mill\" at km -21.00\n"
                      "   17 %  none of these\n"
                      "\n"
                      "Downstream\n"
                      "  Reno intake at km 22.00\n"
                      "    close from  1 h 00 min until 3 h 10 min\n"
                      "    rises above 1 h 11 min (1 h 00 min to 1 h 30 min)\n"
                      "    falls below 2 h 46 min (2 h 30 min to 3 h 10 min)\n"
                      "    peak        2 h 10 min (2 h 00 min to 2 h 20 min)\n"
                      "    peak of     14.2 ug/l (1.1 ug/l to 0.37 mg/l)\n"
                      "    passes the alarm level of 1 ug/l with probability 97 %\n"
                      "  Reno intake at km 22.00\n"
                      "    not expected to pass the alarm level\n"
                      "    peak        2 h 10 min (2 h 00 min to 2 h 20 min)\n"
                      "    peak of     0.2 ug/l (0.1 ug/l to 0.3 ug/l)\n"
                      "\n"
                      "Please note\n"
                      "  sensor s4 never rose above its detection limit\n"
                      "\n"
                      "Rows passed over: 3 missing, 2 duplicate. Out of time order: 7.\n"
                      "\n"
                      "Method posterior, seed 18446744073709551615, complete. 0.1 s in all, 14.2 us for the median "
                      "reading.\n");
  free(text);
}

static hw_estimate without_source(hw_trust trust, const char *reason) {
  static const hw_arrival silent[] = {{0, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, 0.0037}};
  hw_estimate e;
  hw_estimate_init(&e);
  e.readings = 82;
  e.has_source = false;
  e.trust = trust;
  e.trust_reason = reason;
  e.spill = trust == HW_TRUST_NONE ? NAN : 0.014;
  e.arrivals = silent;
  e.arrival_count = trust == HW_TRUST_NONE ? 0 : 1;
  e.stop = HW_STOP_COMPLETE;
  return e;
}

/* The same pairs are in tests/web/units.mjs: the dashboard and the text have one rule. */
static void test_masses_and_places_have_the_digits_that_mean_something(void **state) {
  (void)state;
  static const struct {
    double mass_g, location_m, span_m;
    const char *mass, *place;
  } cases[] = {
      {1314.2, -21904, 5000, "1.31 kg", "km -21.9 "},
      {999.9, -21904, 1900, "1 kg", "km -21.90 "},
      {0.37, -14, 2000, "0.37 g", "km 0.0 "},
      {999499, 14250, 100, "999 kg", "km 14.25 "},
      {999500, 14250, 3e4, "1 t", "km 14.3 "},
      {1.2345e9, 370, 1e5, "1235 t", "km 0.4 "},
      {63203.05, -9000.8, 1999, "63.2 kg", "km -9.00 "},
      {40, 123456, 2001, "40 g", "km 123.5 "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hw_estimate estimate = sample_estimate();
    estimate.source.mass_g = cases[i].mass_g;
    estimate.source.location_m = cases[i].location_m;
    estimate.interval.lo.location_m = cases[i].location_m - 0.5 * cases[i].span_m;
    estimate.interval.hi.location_m = cases[i].location_m + 0.5 * cases[i].span_m;
    const hw_result result = sample_result(&estimate);
    char *text = NULL, mass[64], place[64];
    assert_int_equal(hw_result_text(&result, &text), HW_OK);
    snprintf(mass, sizeof mass, "  mass      %s ", cases[i].mass);
    snprintf(place, sizeof place, "  place     %s", cases[i].place);
    assert_non_null(strstr(text, mass));
    assert_non_null(strstr(text, place));
    free(text);
  }
}

/* A thousand milligrammes and more are still digits, not a power of ten. */
static void test_high_concentrations_are_written_out(void **state) {
  (void)state;
  hw_estimate estimate = sample_estimate();
  hw_arrival arrival = estimate.arrivals[0];
  arrival.peak_g_m3 = (hw_range){999.6, 1234.4, 123456};
  estimate.arrivals = &arrival;
  estimate.arrival_count = 1;
  const hw_result result = sample_result(&estimate);
  char *text = NULL;
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_non_null(strstr(text, "peak of     1234 mg/l (1000 mg/l to 123456 mg/l)\n"));
  free(text);
}

static void test_no_spill_seen_is_an_answer_of_its_own(void **state) {
  (void)state;
  const hw_estimate estimate = without_source(HW_TRUST_FULL, NULL);
  const hw_result result = sample_result(&estimate);
  char *text = NULL;
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_non_null(strstr(text, "No spill seen in 82 readings\n"));
  assert_non_null(strstr(text, "probability 1 %\n"));
  assert_non_null(strstr(text, "passes the alarm level of 1 ug/l with probability <1 %\n"));
  assert_null(strstr(text, "identified"));
  assert_null(strstr(text, "mass"));
  free(text);
  assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
  json_t *json = parse(text);
  assert_true(number_at(json, "spill", NULL, 0) == 0.014);
  assert_true(json_is_null(json_object_get(json, "estimate")) && json_is_null(json_object_get(json, "interval")));
  assert_int_equal(json_array_size(json_object_get(json, "releases")), 0);
  assert_int_equal(json_array_size(json_object_get(json, "region")), 0);
  json_decref(json);
  free(text);
}

static void test_without_trust_there_is_a_sentence_and_no_number(void **state) {
  (void)state;
  const hw_estimate estimate = without_source(HW_TRUST_NONE, "sensor s2 contradicts s1");
  const hw_result result = sample_result(&estimate);
  char *text = NULL;
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_non_null(strstr(text, "The readings cannot be explained: sensor s2 contradicts s1\n"));
  assert_null(strstr(text, "Downstream"));
  free(text);
  assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
  json_t *json = parse(text);
  assert_string_equal(json_string_value(json_object_get(json, "trust")), "none");
  assert_string_equal(json_string_value(json_object_get(json, "trust_reason")), "sensor s2 contradicts s1");
  assert_true(json_is_null(json_object_get(json, "estimate")));
  json_decref(json);
  free(text);
  const hw_source truth = {1300, -22106, -12900};
  assert_int_equal(hw_comparison_text(&result, 1, &truth, &text), HW_OK);
  assert_non_null(strstr(text, "posterior   the readings cannot be explained: sensor s2 contradicts s1\n"));
  free(text);
}

static void test_a_release_that_goes_on_says_so(void **state) {
  (void)state;
  hw_estimate estimate = sample_estimate();
  estimate.trust = HW_TRUST_PROVISIONAL;
  estimate.provisional = true;
  estimate.duration_s = (hw_range){4200, 5400, 7260};
  estimate.still_flowing = 0.83;
  estimate.rate_g_s = 3.7;
  const hw_release releases[] = {{0.71, {370, -22106, -20000}, false, {{0}, {0}}, {0}, NULL, 0},
                                 {0.99, {1300, -22106, -12900}, false, {{0}, {0}}, {0}, NULL, 0}};
  estimate.releases = releases;
  estimate.release_count = 2;
  const hw_result result = sample_result(&estimate);
  char *text = NULL;
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_non_null(strstr(text, "82 readings (provisional: the pulse is still incomplete)\n"));
  assert_non_null(strstr(text, "  lasted    1 h 30 min            1 h 10 min to 2 h 01 min\n"));
  assert_non_null(
      strstr(text, "It still flows with probability 83 %, at 13.3 kg an hour; the mass is the mass so far.\n"));
  assert_non_null(strstr(text, "   71 %  370 g at km -22.1, -5 h 33 min\n"));
  free(text);
  assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
  json_t *json = parse(text);
  assert_int_equal(json_array_size(json_object_get(json, "releases")), 2);
  assert_true(number_at(json, "estimate", "rate_g_s", 0) == 3.7);
  assert_true(number_at(json, "interval", "duration_s", 1) == 7260);
  json_decref(json);
  free(text);
}

static void test_comparison_shows_errors_and_failures(void **state) {
  (void)state;
  hw_estimate estimate = sample_estimate();
  hw_result results[2] = {sample_result(&estimate), sample_result(NULL)};
  results[1].failure = "needs hydraulics";
  const hw_source truth = {1300, -22000, -12900};
  char *text = NULL;
  assert_int_equal(hw_comparison_json(results, 2, &truth, &text), HW_OK);
  json_t *json = parse(text);
  const json_t *first = json_array_get(json_object_get(json, "results"), 0);
  const json_t *second = json_array_get(json_object_get(json, "results"), 1);
  assert_true(fabs(number_at(first, "relative_error", "mass_g", 0) - 0.1 / 1300) < 1e-15); /* rounding of 1300.1 */
  /* 106.3 m of the 7.8 km to the sensor, 0.7 s of the 13000 s there at 0.6 m/s */
  assert_true(fabs(number_at(first, "relative_error", "location_m", 0) - 106.3 / 7800) < 1e-12);
  assert_true(fabs(number_at(first, "relative_error", "time_s", 0) - 0.7 / 13000) < 1e-12);
  assert_true(fabs(number_at(first, "error", "location_m", 0) + 106.3) < 1e-9);
  assert_true(json_is_true(json_object_get(first, "converged")));
  assert_true(json_is_null(json_object_get(second, "relative_error")));
  assert_string_equal(json_string_value(json_object_get(second, "failure")), "needs hydraulics");
  json_decref(json);
  free(text);
  assert_int_equal(hw_comparison_text(results, 2, &truth, &text), HW_OK);
  assert_non_null(strstr(text, "posterior   needs hydraulics\n"));
  assert_null(strstr(text, "not converged"));
  free(text);
  estimate.stop = HW_STOP_BUDGET;
  assert_int_equal(hw_comparison_text(results, 2, &truth, &text), HW_OK);
  assert_non_null(strstr(text, "not converged: evaluation budget spent\n"));
  free(text);
  assert_int_equal(hw_comparison_json(results, 1, NULL, &text), HW_OK);
  assert_non_null(strstr(text, "\"truth\": null"));
  free(text);
  for (int dated = 0; dated < 2; dated++) { /* seconds are named as such, dates are not */
    results[0].calendar = dated;
    assert_int_equal(hw_comparison_text(results, 1, NULL, &text), HW_OK);
    assert_int_equal(strstr(text, " time_s ") != NULL, !dated);
    assert_int_equal(strstr(text, " time ") != NULL, dated);
    free(text);
  }
  assert_int_equal(hw_comparison_text(NULL, 0, NULL, &text), HW_OK); /* no methods: a heading, nothing under it */
  assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
  free(text);
}

/* Shares of the mass, the way to the first sensor below and the time the water takes there. */
static void test_errors_are_shares_of_what_matters(void **state) {
  (void)state;
  hw_sensor own[] = {
      {.id = "far", .location_m = 4200}, {.id = "above", .location_m = -9000}, {.id = "near", .location_m = 370}};
  hw_river plain;
  hw_river_init(&plain);
  plain.sensors = own;
  plain.sensor_count = 3;
  plain.hydraulics.area_m2 = 37;
  plain.hydraulics.velocity_m_s = (hw_quantity){HW_KNOWN, 0.8, 1};
  const hw_source truth = {1000, -5000, 14.5}, found = {1100, -4900, -45.5};
  for (int i = 0; i < 3; i++) {
    /* with and without the equation; then the velocity is not known either */
    plain.hydraulics.dispersion_m2_s = i ? (hw_quantity){HW_UNKNOWN, 0, 1} : (hw_quantity){HW_KNOWN, 14.2, 1};
    if (i == 2) {
      plain.hydraulics.velocity_m_s = (hw_quantity){HW_UNKNOWN, 0, 1};
    }
    const hw_source e = hw_relative_error(&plain, &found, &truth);
    assert_true(fabs(e.mass_g - 0.1) < 1e-12 && fabs(e.location_m - 100.0 / 5370) < 1e-12);
    assert_true(i == 2 ? isnan(e.time_s) : fabs(e.time_s - 60 / (5370 / 0.8)) < 1e-12);
  }
  plain.sensor_count = 2;
  own[0].location_m = -5001; /* nobody is below */
  assert_true(isnan(hw_relative_error(&plain, &found, &truth).location_m));
}

static void test_places_of_a_network_say_their_branch(void **state) {
  (void)state;
  hw_branch branches_of_river[] = {{.id = "stem", .head_m = -60000, .joins = HW_OUTLET},
                                   {.id = "ash", .head_m = -21000, .joins = 0, .joins_at_m = -31000}};
  const hw_branch_share shares[] = {{1, 0.93}, {0, 0.07}};
  const hw_region stretches[] = {{1, -13000, -12000, 0.71}, {0, -40000, -38000, 0.2}};
  hw_river network = river;
  network.branches = branches_of_river;
  network.branch_count = 2;
  hw_estimate estimate = sample_estimate();
  estimate.source = (hw_source){.mass_g = 1300, .branch = 1, .location_m = -12500, .time_s = -12900};
  estimate.branches = shares;
  estimate.branch_count = 2;
  estimate.regions = stretches;
  hw_result result = sample_result(&estimate);
  result.river = &network;
  char *text = NULL;
  assert_int_equal(hw_result_json(&result, true, &text), HW_OK);
  json_t *json = parse(text);
  assert_string_equal(json_string_value(json_object_get(json_object_get(json, "estimate"), "branch")), "ash");
  const json_t *second = json_array_get(json_object_get(json, "region"), 1);
  assert_string_equal(json_string_value(json_object_get(second, "branch")), "stem");
  const json_t *likeliest = json_array_get(json_object_get(json, "branches"), 0);
  assert_string_equal(json_string_value(json_object_get(likeliest, "id")), "ash");
  assert_string_equal(
      json_string_value(json_object_get(json_array_get(json_object_get(json, "arrivals"), 0), "branch")), "stem");
  json_decref(json);
  free(text);
  assert_int_equal(hw_result_text(&result, &text), HW_OK);
  assert_non_null(strstr(text, "  place     ash km -12.5 "));
  assert_non_null(strstr(text, "  branches   93 %  ash\n              7 %  stem\n"));
  assert_non_null(strstr(text, "  stretches  71 %  ash km -13.0 to km -12.0\n"));
  free(text);
  /* 500 m of the 13 km down the ash and the 16.8 km from there to the sensor on the stem */
  const hw_source truth = {.mass_g = 1300, .branch = 1, .location_m = -13000, .time_s = -12900};
  const hw_source share = hw_relative_error(&network, &estimate.source, &truth);
  assert_true(fabs(share.location_m - 500 / 29800.0) < 1e-12);
  const hw_source on_the_stem = {.mass_g = 1300, .branch = 0, .location_m = -13000, .time_s = -12900};
  assert_true(isnan(hw_source_error(&estimate.source, &on_the_stem).location_m));
}

/* Seconds up to two minutes, minutes up to an hour, and then both: where one ends the other begins. */
static void test_times_and_probabilities_change_their_words_where_they_should(void **state) {
  (void)state;
  static const struct {
    double time_s;
    const char *text;
  } times[] = {{119.94, "119.9 s "},    {120, "2.0 min "},     {-119.94, "-119.9 s "},  {-120, "-2.0 min "},
               {3599, "60.0 min "},     {3600, "1 h 00 min "}, {-3600, "-1 h 00 min "}, {0, "0.0 s "},
               {3629.9, "1 h 00 min "}, {3630, "1 h 01 min "}, {86399, "24 h 00 min "}, {-5430, "-1 h 31 min "}};
  static const struct {
    double probability;
    const char *text;
  } shares[] = {{0.9941, "  >99 %  mill"}, {0.994, "   99 %  mill"}, {0.0059, "   <1 %  mill"},
                {0.006, "    1 %  mill"},  {0.125, "   13 %  mill"}, {0.005, "   <1 %  mill"}};
  static const struct {
    double c_g_m3;
    const char *text;
  } levels[] = {{0.1, "peak of     0.1 mg/l ("},   {0.0999, "peak of     99.9 ug/l ("},
                {-0.1, "peak of     -0.1 mg/l ("}, {0.00037, "peak of     0.37 ug/l ("},
                {0, "peak of     0 ug/l ("},       {-1e-12, "peak of     0 ug/l ("}};
  hw_estimate estimate = sample_estimate();
  hw_suspicion suspicion = {0, 0};
  hw_arrival arrival = estimate.arrivals[0];
  estimate.suspicions = &suspicion;
  estimate.suspicion_count = 1;
  estimate.arrivals = &arrival;
  estimate.arrival_count = 1;
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    char *text = NULL, line[64];
    estimate.source.time_s = times[i].time_s;
    suspicion.probability = shares[i % 6].probability;
    arrival.peak_g_m3 = (hw_range){levels[i % 6].c_g_m3, levels[i % 6].c_g_m3, levels[i % 6].c_g_m3};
    const hw_result result = sample_result(&estimate);
    assert_int_equal(hw_result_text(&result, &text), HW_OK);
    snprintf(line, sizeof line, "  released  %s", times[i].text);
    if (!strstr(text, line) || !strstr(text, shares[i % 6].text) || !strstr(text, levels[i % 6].text)) {
      fail_msg("'%s' '%s' '%s' in %s", line, shares[i % 6].text, levels[i % 6].text, text);
    }
    free(text);
  }
}

/* Numbers that methods put into a sentence, and what only looks like one. */
static void test_numbers_in_a_warning_become_what_people_read(void **state) {
  (void)state;
  static const struct {
    const char *said, *read;
  } cases[] = {{"rose to 0.0142 g/m3 at 7260 s", "rose to 14.2 ug/l at 2 h 01 min\n"},
               {"rose to -0.37 g/m3, at -90 s.", "rose to -0.37 mg/l, at -90.0 s.\n"},
               {"0.5 g/m3 first", "  0.5 mg/l first\n"},
               {"at 30 sensors, s1 30 s", "at 30 sensors, s1 30 s\n"},
               {"at 30 s1 and 14.2 g/m3s", "at 30 s1 and 14.2 g/m3s\n"},
               {"x30 g/m3, - 3 and -x", "x30 g/m3, - 3 and -x\n"},
               {"that 30 s ended", "that 30 s ended\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw_estimate estimate = sample_estimate();
    estimate.warnings = &cases[i].said;
    estimate.warning_count = 1;
    const hw_result result = sample_result(&estimate);
    char *text = NULL;
    assert_int_equal(hw_result_text(&result, &text), HW_OK);
    if (!strstr(text, cases[i].read)) {
      fail_msg("no '%s' in %s", cases[i].read, text);
    }
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_json_holds_every_value_to_the_bit),
      cmocka_unit_test(test_a_range_is_null_where_nothing_of_it_is_known),
      cmocka_unit_test(test_json_without_an_estimate_keeps_its_keys),
      cmocka_unit_test(test_calendar_results_give_the_instant),
      cmocka_unit_test(test_text_is_for_people),
      cmocka_unit_test(test_masses_and_places_have_the_digits_that_mean_something),
      cmocka_unit_test(test_high_concentrations_are_written_out),
      cmocka_unit_test(test_no_spill_seen_is_an_answer_of_its_own),
      cmocka_unit_test(test_without_trust_there_is_a_sentence_and_no_number),
      cmocka_unit_test(test_a_release_that_goes_on_says_so),
      cmocka_unit_test(test_errors_are_shares_of_what_matters),
      cmocka_unit_test(test_places_of_a_network_say_their_branch),
      cmocka_unit_test(test_comparison_shows_errors_and_failures),
      cmocka_unit_test(test_times_and_probabilities_change_their_words_where_they_should),
      cmocka_unit_test(test_numbers_in_a_warning_become_what_people_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

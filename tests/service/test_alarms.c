/* Candidates and intakes: told when it is probable, when it changes, when it is no longer so, and never without trust.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "incidents/alarms.h"

static hw_candidate candidates[] = {{.id = "mill", .name = "Paper mill", .location_m = -12000}};
static hw_intake intakes[] = {{.id = "town", .name = "Town intake", .location_m = 15000, .alarm_g_m3 = 0.001}};
static hw__site site = {
    .river = {.candidates = candidates, .candidate_count = 1, .intakes = intakes, .intake_count = 1}};

typedef struct {
  hw__engine engine;
  hw__alarm candidate, intake;
  hw__outcome outcome;
  hw_suspicion suspicion;
  hw_arrival arrival;
  hw_estimate estimate;
} scene;

static scene *set(void) {
  static scene s;
  s = (scene){.candidate = {.from_s = NAN, .until_s = NAN}, .intake = {.from_s = NAN, .until_s = NAN}};
  s.engine = (hw__engine){.site = &site, .calendar = true, .candidates = &s.candidate, .intakes = &s.intake};
  s.engine.incident.origin_s = 1777852800; /* 2026-05-04T00:00:00Z */
  s.engine.options.candidate_probability = 0.8;
  s.engine.options.intake_probability = 0.5;
  s.suspicion = (hw_suspicion){0, 0.37};
  s.arrival = (hw_arrival){0, {3600, 4260, 5400}, {7200, 7800, 8400}, {9000, 9960, 11400}, {0.001, 0.002, 0.003}, 0.42};
  hw_estimate_init(&s.estimate);
  s.estimate.trust = HW_TRUST_FULL;
  s.estimate.suspicions = &s.suspicion;
  s.estimate.suspicion_count = 1;
  s.estimate.arrivals = &s.arrival;
  s.estimate.arrival_count = 1;
  return &s;
}

/* What this estimate makes known: the kinds, one after the other. */
static const char *told(scene *s) {
  static char kinds[200];
  const hw__log_record record = {.seq = 37};
  kinds[0] = '\0';
  hw__alarms_tell(&s->outcome, &s->engine, &record, &s->estimate);
  for (size_t i = 0; i < s->outcome.event_count; i++) {
    snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%s", i ? " " : "", s->outcome.events[i].kind);
  }
  return kinds;
}

static void forget(scene *s) {
  for (size_t i = 0; i < s->outcome.event_count; i++) {
    free(s->outcome.events[i].body);
  }
  free(s->outcome.events);
  s->outcome = (hw__outcome){0};
}

static void check_told(scene *s, const char *kinds, const char *words) {
  assert_string_equal(told(s), kinds);
  if (words) {
    const char *body = s->outcome.events[s->outcome.event_count - 1].body;
    if (!strstr(body, words)) {
      fail_msg("no \"%s\" in %s", words, body);
    }
  }
  forget(s);
}

static void test_an_intake_is_warned_once_and_the_warning_is_taken_back(void **state) {
  (void)state;
  scene *s = set();
  check_told(s, "", NULL);
  s->arrival.exceeds_alarm = 0.97;
  check_told(s, "intake_alarm",
             "Town intake: close from 2026-05-04 01:00 UTC until 2026-05-04 03:10 UTC, probability 97 %.");
  check_told(s, "", NULL);
  s->arrival.exceeds_alarm = 0.26; /* above half of what raises it */
  check_told(s, "", NULL);
  s->arrival.exceeds_alarm = 0.24;
  check_told(s, "intake_alarm_withdrawn", "Town intake: the alarm is withdrawn, probability now 24 %.");
  check_told(s, "", NULL);
  s->arrival.exceeds_alarm = 0.6;
  check_told(s, "intake_alarm", "probability 60 %");
}

/* Without dates a sentence has the hours and minutes of the text. */
static void test_a_river_without_dates_is_told_in_hours_and_minutes(void **state) {
  (void)state;
  scene *s = set();
  s->engine.calendar = false;
  s->engine.incident.origin_s = -7200;
  s->arrival.exceeds_alarm = 0.97;
  check_told(s, "intake_alarm", "Town intake: close from t = -1 h 00 min until t = 1 h 10 min, probability 97 %.");
}

static void test_a_window_that_moves_is_told_again(void **state) {
  (void)state;
  scene *s = set();
  s->arrival.exceeds_alarm = 0.97;
  s->estimate.provisional = true;
  s->estimate.trust = HW_TRUST_PROVISIONAL;
  check_told(s, "intake_alarm", "; provisional.");
  s->arrival.last_s.hi += 1000; /* the window is 7800 s long */
  check_told(s, "", NULL);
  s->arrival.last_s.hi += 1000;
  check_told(s, "intake_alarm_changed", "until 2026-05-04 03:43 UTC");
  s->estimate.provisional = false;
  s->estimate.trust = HW_TRUST_FULL;
  check_told(s, "intake_alarm_changed", "\"trust\":\"full\"");
}

static void test_without_trust_nothing_is_raised_and_nothing_withdrawn(void **state) {
  (void)state;
  scene *s = set();
  s->suspicion.probability = 0.95;
  s->arrival.exceeds_alarm = 0.97;
  s->estimate.trust = HW_TRUST_NONE;
  check_told(s, "", NULL);
  s->estimate.trust = HW_TRUST_FULL;
  check_told(s, "candidate intake_alarm", NULL);
  s->estimate.trust = HW_TRUST_NONE;
  s->estimate.suspicion_count = s->estimate.arrival_count = 0;
  assert_string_equal(told(s), "candidate_changed intake_alarm_changed");
  assert_non_null(strstr(s->outcome.events[0].body, "Paper mill: the suspicion stands, its probability is not known"));
  assert_non_null(strstr(s->outcome.events[0].body, "\"probability\":null"));
  assert_non_null(strstr(s->outcome.events[1].body, "the alarm stands, its times are not known"));
  forget(s);
  check_told(s, "", NULL);
  s->estimate.trust = HW_TRUST_FULL; /* and no spill seen */
  check_told(s, "candidate_withdrawn intake_alarm_withdrawn", "Town intake: the alarm is withdrawn.");
}

static void test_a_candidate_is_named_and_cleared(void **state) {
  (void)state;
  scene *s = set();
  s->suspicion.probability = 0.83;
  s->estimate.provisional = true;
  s->estimate.trust = HW_TRUST_PROVISIONAL;
  check_told(s, "candidate", "Paper mill is the source with a probability of 83 %; provisional.");
  s->suspicion.probability = 0.91;
  check_told(s, "", NULL);
  s->estimate.provisional = false;
  s->estimate.trust = HW_TRUST_FULL;
  check_told(s, "candidate_changed", "Paper mill is the source with a probability of 91 %.");
  check_told(s, "", NULL);
  s->suspicion.probability = 0.41;
  check_told(s, "", NULL);
  s->suspicion.probability = 0.37;
  check_told(s, "candidate_withdrawn", "Paper mill is no longer suspected: probability 37 %.");
}

/* What is right on a bound is told, and stays told. */
static void test_the_bounds_belong_to_the_alarm(void **state) {
  (void)state;
  scene *s = set();
  s->engine.options.candidate_probability = 0.75;
  s->suspicion.probability = 0.7499;
  s->arrival.exceeds_alarm = 0.4999;
  check_told(s, "", NULL);
  s->suspicion.probability = 0.75;
  s->arrival.exceeds_alarm = 0.5;
  check_told(s, "candidate intake_alarm", "probability 50 %.");
  s->suspicion.probability = 0.375;
  s->arrival.exceeds_alarm = 0.25;
  check_told(s, "", NULL);
  s->arrival.first_s.lo -= 1950; /* a quarter of the window of 7800 s */
  check_told(s, "", NULL);
  s->arrival.first_s.lo -= 1;
  check_told(s, "intake_alarm_changed", NULL);
  s->arrival.last_s.hi -= 3000; /* of 9751 s */
  check_told(s, "intake_alarm_changed", NULL);
  s->suspicion.probability = 0.3749;
  s->arrival.exceeds_alarm = 0.2499;
  check_told(s, "candidate_withdrawn intake_alarm_withdrawn", NULL);
}

/* A window of minutes is told again when it moves by more than fifteen of them. */
static void test_a_short_window_is_not_told_of_every_minute(void **state) {
  (void)state;
  scene *s = set();
  s->arrival.exceeds_alarm = 0.97;
  s->arrival.last_s.hi = 4200;
  check_told(s, "intake_alarm", NULL);
  s->arrival.last_s.hi = 4200 + 900;
  check_told(s, "", NULL);
  s->arrival.last_s.hi = 4201 + 900;
  check_told(s, "intake_alarm_changed", NULL);
}

/* Never 0 % and never 100 %. */
static void test_a_probability_is_told_in_whole_percents_short_of_certainty(void **state) {
  (void)state;
  static const struct {
    double probability;
    const char *words;
  } cases[] = {{0.9, "probability 90 %."},
               {0.985, "probability 99 %."},
               {0.994, "probability 99 %."},
               {0.9941, "more than 99 %."},
               {1, "more than 99 %."}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene *s = set();
    s->arrival.exceeds_alarm = cases[i].probability;
    check_told(s, "intake_alarm", cases[i].words);
    s->arrival.exceeds_alarm = i == 4 ? 0 : i == 3 ? 0.0059 : 0.006;
    check_told(s, "intake_alarm_withdrawn", i < 3 ? "probability now 1 %." : "probability now less than 1 %.");
  }
}

/* Several of each, listed in another order than the river's. */
static void test_each_candidate_and_intake_is_told_of_by_its_own_figures(void **state) {
  (void)state;
  scene *s = set();
  hw_candidate three[] = {
      {.id = "a", .name = "Abattoir"}, {.id = "b", .name = "Brewery"}, {.id = "c", .name = "Cannery"}};
  hw_intake two[] = {{.id = "i", .name = "Inn", .alarm_g_m3 = 0.001},
                     {.id = "j", .name = "Jetty", .alarm_g_m3 = 0.001}};
  hw__site own = {.river = {.candidates = three, .candidate_count = 3, .intakes = two, .intake_count = 2}};
  hw__alarm of_candidates[3], of_intakes[2];
  for (size_t i = 0; i < 3; i++) {
    of_candidates[i] = (hw__alarm){.from_s = NAN, .until_s = NAN};
    of_intakes[i % 2] = of_candidates[i];
  }
  s->engine.site = &own;
  s->engine.candidates = of_candidates;
  s->engine.intakes = of_intakes;
  hw_suspicion suspicions[] = {{2, 0.05}, {-1, 0.03}, {1, 0.85}, {0, 0.07}};
  hw_arrival arrivals[] = {s->arrival, s->arrival};
  arrivals[0].intake = 1;
  arrivals[0].exceeds_alarm = 0.9;
  s->estimate.suspicions = suspicions;
  s->estimate.suspicion_count = 4;
  s->estimate.arrivals = arrivals;
  s->estimate.arrival_count = 2;
  assert_string_equal(told(s), "candidate intake_alarm");
  assert_non_null(strstr(s->outcome.events[0].body, "Brewery is the source with a probability of 85 %."));
  assert_non_null(strstr(s->outcome.events[1].body, "Jetty: close from"));
  forget(s);
  suspicions[2].probability = 0.01;
  suspicions[3].probability = 0.91;
  arrivals[1].intake = 0;
  arrivals[1].exceeds_alarm = 0.8;
  assert_string_equal(told(s), "candidate candidate_withdrawn intake_alarm");
  assert_non_null(strstr(s->outcome.events[0].body, "Abattoir"));
  assert_non_null(strstr(s->outcome.events[1].body, "Brewery is no longer suspected"));
  assert_non_null(strstr(s->outcome.events[2].body, "Inn"));
  forget(s);
}

/* As many as there are, at once: nobody is left out because others were told first. */
static void test_every_one_of_many_intakes_is_told(void **state) {
  (void)state;
  enum { MANY = 700 };
  static hw_intake many[MANY];
  static hw__alarm alarms[MANY];
  static hw_arrival arrivals[MANY];
  scene *s = set();
  hw__site own = {.river = {.intakes = many, .intake_count = MANY}};
  for (size_t i = 0; i < MANY; i++) {
    many[i] = (hw_intake){.alarm_g_m3 = 0.001};
    snprintf(many[i].id, sizeof many[i].id, "i%zu", i);
    alarms[i] = (hw__alarm){.from_s = NAN, .until_s = NAN};
    arrivals[i] = s->arrival;
    arrivals[i].intake = i;
    arrivals[i].exceeds_alarm = 0.97;
  }
  s->engine.site = &own;
  s->engine.intakes = alarms;
  s->estimate.arrivals = arrivals;
  s->estimate.arrival_count = MANY;
  const hw__log_record record = {.seq = 37};
  hw__alarms_tell(&s->outcome, &s->engine, &record, &s->estimate);
  assert_int_equal(s->outcome.event_count, MANY);
  assert_string_equal(s->outcome.events[MANY - 1].subject, "i699");
  forget(s);
}

/* A time that becomes known, or is no longer, is a change. */
static void test_a_window_that_appears_or_goes_is_told(void **state) {
  (void)state;
  scene *s = set();
  const hw_range unknown = {NAN, NAN, NAN}, last = s->arrival.last_s;
  s->arrival.exceeds_alarm = 0.97;
  s->arrival.last_s = unknown;
  check_told(s, "intake_alarm", NULL);
  check_told(s, "", NULL);
  s->arrival.last_s = last;
  check_told(s, "intake_alarm_changed", "until 2026-05-04 03:10 UTC");
  s->arrival.first_s.lo += 1e4;
  check_told(s, "intake_alarm_changed", NULL);
  s->arrival.last_s = unknown;
  check_told(s, "intake_alarm_changed", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_intake_is_warned_once_and_the_warning_is_taken_back),
      cmocka_unit_test(test_a_river_without_dates_is_told_in_hours_and_minutes),
      cmocka_unit_test(test_a_window_that_moves_is_told_again),
      cmocka_unit_test(test_without_trust_nothing_is_raised_and_nothing_withdrawn),
      cmocka_unit_test(test_a_candidate_is_named_and_cleared),
      cmocka_unit_test(test_the_bounds_belong_to_the_alarm),
      cmocka_unit_test(test_a_short_window_is_not_told_of_every_minute),
      cmocka_unit_test(test_a_probability_is_told_in_whole_percents_short_of_certainty),
      cmocka_unit_test(test_each_candidate_and_intake_is_told_of_by_its_own_figures),
      cmocka_unit_test(test_every_one_of_many_intakes_is_told),
      cmocka_unit_test(test_a_window_that_appears_or_goes_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

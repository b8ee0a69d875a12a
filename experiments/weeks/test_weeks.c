/* The weeks' own physics: against the library's where the river is exactly known, against mass balance elsewhere. And
 * single weeks in which an answer with full trust was far off, each for a cause of its own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "weeks/answer.h"
#include "weeks/week.h"

static void parse_river(const setting *s, hw_river *river) {
  hw_error error;
  char *text = setting_write(s, 1);
  assert_non_null(text);
  assert_int_equal(hw_river_parse("river", text, strlen(text), NULL, NULL, river, &error), HW_OK);
  free(text);
}

/* Two ways to the same formula: they agree but for rounding, about 1e-12 of the peak. */
static void compare_with_library(const setting *s, hw_rng *rng) {
  const hw_source truth = {.mass_g = 37.3,
                           .location_m = 0.3 * s->box.lo.location_m + 0.7 * s->box.hi.location_m,
                           .time_s = s->box.lo.time_s};
  const double x = s->plan.station[s->plan.sensors - 1].location_m;
  hw_river river;
  hw_transport *transport = NULL;
  water w;
  parse_river(s, &river);
  water_draw(&s->stated, &s->secret, rng, &w);
  assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
  const double travel = water_travel_s(&w, truth.location_m, x), spread = water_spread_s(&w, truth.location_m, x);
  for (double z = -3; z <= 4; z += 0.37) {
    double want = 0;
    const double t = truth.time_s + travel + z * spread, got = water_concentration(&w, &truth, 0, x, t);
    hw_transport_concentration(transport, &truth, x, t, &want);
    assert_true(fabs(got - want) <= 1e-9 * want);
  }
  hw_transport_free(transport);
  hw_river_free(&river);
}

static void test_known_river_flows_as_the_library_says(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 2);
  static setting s;
  size_t uniform = 0, reaches = 0;
  while (uniform < 10 || reaches < 10) {
    setting_draw(ORDINARY, &rng, &s);
    if (s.strata & stratum_bit(HYDRAULICS_KNOWN)) {
      compare_with_library(&s, &rng);
      *(s.reaches ? &reaches : &uniform) += 1;
    }
  }
}

/* What passes a place is what was released, and as late as the stated velocity has it. A thousand steps over a smooth
 * pulse leave 1e-4; the far end of the tails is as much again. */
static void check_balance(stratum special) {
  hw_rng rng;
  hw_rng_seed(&rng, 14, 3);
  static setting s;
  do {
    setting_draw(special, &rng, &s);
  } while (s.velocity_factor > 1 || s.stated.decay_per_s > 0);
  water w;
  water_draw(&s.stated, &s.secret, &rng, &w);
  const hw_source truth = {.mass_g = 37.3, .location_m = s.box.lo.location_m, .time_s = s.box.lo.time_s};
  const double x = s.plan.station[s.plan.sensors - 1].location_m, travel = water_travel_s(&w, truth.location_m, x);
  double mass = 0, moment = 0;
  const double step = travel / 20000;
  for (double age = step / 2; age < 5 * travel + s.plan.duration_s; age += step) {
    const double t = truth.time_s + age;
    const double turn = s.secret.swing > 0 ? 2 * M_PI / s.secret.swing_s : 0;
    const double flow = 1 + s.secret.swing * sin(turn * t + s.secret.swing_phase);
    const double part = step * flow * w.discharge_m3_s * water_concentration(&w, &truth, s.plan.duration_s, x, t);
    mass += part;
    moment += part * age;
  }
  assert_true(fabs(mass / truth.mass_g - 1) < 2e-3);
  if (!(s.secret.swing > 0)) { /* eq. (1) is a pulse in place: seen in time its mean is later by D / v^2 and more */
    const double spread = water_spread_s(&w, truth.location_m, x), late = moment / mass - s.plan.duration_s / 2;
    assert_true(late > 0.999 * travel && late < travel + 2 * spread * spread / travel + 0.001 * travel);
  }
}

static void test_mass_passes_whole(void **state) {
  (void)state;
  check_balance(ORDINARY);
  check_balance(STORAGE);
  check_balance(SWINGING);
  check_balance(LASTING);
  check_balance(LASTING_LONG);
}

/* Standard deviation of ln velocity over the first reach, of many waters behind one statement. */
static double scatter_of_first_reach(const setting *s, hw_rng *rng) {
  enum { WATERS = 400 };
  double sum = 0, squares = 0;
  for (int i = 0; i < WATERS; i++) {
    water w;
    water_draw(&s->stated, &s->secret, rng, &w);
    const double ln_travel = log(water_travel_s(&w, s->stated.from_m, s->to_m[0]));
    sum += ln_travel;
    squares += ln_travel * ln_travel;
  }
  return sqrt(squares / WATERS - pow(sum / WATERS, 2));
}

/* A reach's own factor is what its water scatters by: in common by the 0.8th power, locally by the 0.6th over no more
 * than a point. Of 400 waters the scatter is known to a twentieth; three times that. */
static void test_a_reach_is_as_doubtful_as_the_file_says(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 14, 5);
  static setting s;
  for (int found = 0; found < 5;) {
    setting_draw(ORDINARY, &rng, &s);
    if (!(s.strata & stratum_bit(REACHES_DOUBTFUL))) {
      continue;
    }
    hw_river river;
    parse_river(&s, &river);
    const double stated = log(river.reaches[0].velocity_doubt.factor), scatter = scatter_of_first_reach(&s, &rng);
    assert_true(stated > 0 && scatter > 0.8 * stated * 0.85 && scatter < stated * 1.15);
    hw_river_free(&river);
    found++;
  }
}

static void test_a_week_is_its_number(void **state) {
  (void)state;
  for (uint64_t index = 0; index < 12; index++) {
    week a, b;
    assert_true(week_make(7, index, &a) && week_make(7, index, &b));
    assert_string_equal(a.river, b.river);
    assert_string_equal(a.readings, b.readings);
    for (size_t s = 0; s < STRATA; s++) {
      assert_true(!(a.strata & stratum_bit((stratum)s)) || week_may_be(index, (stratum)s));
    }
    week_free(&a);
    week_free(&b);
  }
}

/* A sound posterior has the truth outside of its inner 99 % in one week of a hundred, and by chance in none of these.
 */
static void test_weeks_that_were_far_off_hold_the_truth(void **state) {
  (void)state;
  static const struct {
    uint64_t seed, index;
    const char *cause;
  } weeks[] = {
      {3, 1166, "a limit hides one background, another shows: the river was taken for clean"},
      {3, 1771, "a single non-detect was taken for a limit that hides the background"},
      {9, 116, "non-detects now and then at three sensors: a release that lasts explained what they hid"},
      {33, 567, "two readings of a narrow pulse at each of two sensors were outvoted by their levels' drift"},
      {202, 967, "three readings of the first pulse, and the draws began near one narrow curve through them"},
      {203, 1615, "the same with two readings and 28 sensors"},
      {811, 9779, "a release that lasted on a river that is known: a glance about the instant did not see it"},
      {101, 1862, "two humps of a level that drifts were two releases, beside a plain pulse that neither explained"},
  };
  for (size_t i = 0; i < sizeof weeks / sizeof weeks[0]; i++) {
    week w;
    answer a;
    double truth[UNKNOWNS];
    assert_true(week_make(weeks[i].seed, weeks[i].index, &w) && answer_week(&w, &a));
    unpack(&w.truth, truth);
    for (size_t u = 0; u < UNKNOWNS; u++) {
      const double room = 0.5 * (a.hi[u] - a.lo[u]);
      if (a.trust == TRUST_FULL && !(truth[u] > a.lo[u] - room && truth[u] < a.hi[u] + room)) {
        fail_msg("seed %d, week %d: %s", (int)weeks[i].seed, (int)weeks[i].index, weeks[i].cause);
      }
    }
    week_free(&w);
  }
}

/* Backgrounds that rise and fall by one to eight noise floors within hours and days, and nothing else. */
static void test_a_background_that_drifts_is_no_spill(void **state) {
  (void)state;
  static const uint64_t index[] = {1534, 4284, 6539, 11544, 12754, 13359};
  for (size_t i = 0; i < sizeof index / sizeof index[0]; i++) {
    week w;
    answer a;
    assert_true(week_make(821, index[i], &w) && answer_week(&w, &a));
    assert_int_equal(a.trust, TRUST_NONE);
    week_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_river_flows_as_the_library_says),
      cmocka_unit_test(test_mass_passes_whole),
      cmocka_unit_test(test_a_reach_is_as_doubtful_as_the_file_says),
      cmocka_unit_test(test_a_week_is_its_number),
      cmocka_unit_test(test_weeks_that_were_far_off_hold_the_truth),
      cmocka_unit_test(test_a_background_that_drifts_is_no_spill),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

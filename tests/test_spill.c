/* The hypothesis "one release" (posterior/spill.h): what the walk down the river (walk.h) makes of a point. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"
#include "paper_river.h"
#include "posterior/coordinates.h"
#include "posterior/walk.h"
#include "river/doubt.h"

enum { STATIONS = 4 };

static hw_river river;
static hw_transport *transport;
static hw__doubts *doubts_along;
static hw__tails tails;
static hw__fit fits[STATIONS];
static hw__station stations[STATIONS];
static hw__spill spill;
static _Alignas(64) hw__walk walk;

/* What the walk makes of a station. */
typedef struct {
  hw__sight sight;
  hw__curve curve;
  bool filtered;
} seen;

/* Stretches of unlike water, the discharge known in the middle one and the area in the others, decay that counts, and a
 * search that reaches beyond the first sensor. */
static int build(void **state) {
  (void)state;
  river = paper_river();
  river.hydraulics.decay_per_s = 3.7e-5;
  river.search.hi.location_m = -3000;
  river.reaches = calloc(2, sizeof *river.reaches);
  river.reach_count = 2;
  river.reaches[0] = (hw_reach){.to_m = -12000, .velocity_m_s = 1.1, .dispersion_m2_s = 37, .area_m2 = 50};
  river.reaches[1] = (hw_reach){.to_m = 8000,
                                .velocity_m_s = 0.9,
                                .dispersion_m2_s = 22,
                                .area_m2 = 61 / 0.9,
                                .decay_per_s = 1.42e-5,
                                .discharge_m3_s = 61};
  if (hw_transport_create(&river, NULL, &transport) != HW_OK || hw__doubts_create(&river, &doubts_along) != HW_OK) {
    return -1;
  }
  hw__tails_build(&tails);
  for (size_t k = 0; k < STATIONS; k++) {
    const double x = river.sensors[k].location_m;
    const hw_leg here = hw_transport_leg(transport, x, x);
    const bool follows = hw__river_discharge_follows(&river, x);
    fits[k] = (hw__fit){.accident = 25, .curve = {.passage_s = -60 * 100.0, .variance_s2 = 1e6}};
    stations[k] = (hw__station){.sensor = k,
                                .x_m = x,
                                .at = hw__transport_integrals(transport, x),
                                .doubt = hw__doubts_at(doubts_along, x),
                                .common_v = hw__doubts_here(doubts_along, x).common_v,
                                .per_discharge = follows ? 0 : 1 / here.discharge_m3_s,
                                .per_area = follows ? 1 / here.discharge_m3_s : 0,
                                .fit = &fits[k]};
  }
  spill = (hw__spill){.river = &river,
                      .transport = transport,
                      .doubts = doubts_along,
                      .tails = &tails,
                      .seed = 37,
                      .station = stations,
                      .count = STATIONS,
                      .mass_lo = 500,
                      .mass_hi = 5000};
  return 0;
}

static int release(void **state) {
  (void)state;
  hw_transport_free(transport);
  hw__doubts_free(doubts_along);
  hw_river_free(&river);
  return 0;
}

/* The coordinates of this source for the anchor: passage there, ln age there, ln mass, then what is in doubt, in ln.
 * The water is `faster` than the river says. */
static double walk_with(const hw_source *source, size_t anchor, double faster, double *doubts, hw__release *r,
                        seen *sight) {
  hw__spill_anchor(&spill, anchor);
  const double theta = stations[anchor].at.theta - hw__transport_integrals(transport, source->location_m).theta;
  const double age = theta / faster;
  double passage = source->time_s + age, ln_age = log(age), ln_mass = log(source->mass_g);
  double *const x[] = {&passage, &ln_age, &ln_mass, doubts, doubts + 1, doubts + 2};
  const size_t first = 0;
  hw__walk_begin(&walk, &spill, (const uint64_t[]){262144}, 1, &first, x);
  for (size_t k = 0; k < STATIONS; k++) {
    assert_true(hw__walk_to(&walk, k));
    sight[k].sight = hw__walk_sight(&walk, 0);
    sight[k].curve = hw__sight_curve(&spill, &walk.release[0], k, &sight[k].sight);
    sight[k].filtered = walk.filtered;
  }
  *r = walk.release[0];
  return walk.ratio[0];
}

static double walk_from(const hw_source *source, size_t anchor, hw__release *r, seen *sight) {
  double none[3] = {0};
  return walk_with(source, anchor, 1, none, r, sight);
}

static void check_station(const hw_transport *truth, const hw_source *source, size_t k, const hw__curve *curve) {
  const hw_leg leg = hw_transport_leg(truth, source->location_m, stations[k].x_m);
  for (double share = 0.3; share < 2; share += 0.037) {
    const double age = share * leg.travel_s, want = source->mass_g * hw_leg_response(&leg, age);
    /* ln age to place and back, and exponents of up to some hundreds: some hundred roundings */
    check_near(hw__curve_at(curve, source->time_s + age, 0), want, 1e-10 * fabs(want) + 1e-30);
  }
}

static void test_with_nothing_in_doubt_every_station_sees_what_the_river_carries(void **state) {
  (void)state;
  static const hw_source sources[] = {{1300, -22106, -215 * 60.0}, {3700, -15420, -160 * 60.0}};
  for (size_t i = 0; i < 2; i++) {
    hw__release r;
    seen sight[STATIONS];
    for (size_t anchor = 0; anchor < STATIONS; anchor++) {
      check_near(walk_from(&sources[i], anchor, &r, sight), 0, 0); /* nothing is drawn on the way */
      assert_true(r.possible);
      check_near(r.source.location_m, sources[i].location_m, 1e-6); /* metres, of 4e4 and a logarithm's rounding */
      check_near(r.source.time_s, sources[i].time_s, 1e-6);
      check_near(r.velocity_factor, 1, 0);
      check_near(r.dispersion_factor, 1, 0);
      for (size_t k = 0; k < STATIONS; k++) {
        check_station(transport, &sources[i], k, &sight[k].curve);
      }
    }
  }
}

static void test_a_station_above_the_source_sees_nothing(void **state) {
  (void)state;
  const hw_source source = {1300, -9420, -215 * 60.0}; /* between the first and the second */
  hw__release r;
  seen sight[STATIONS];
  walk_from(&source, 1, &r, sight);
  assert_true(r.possible);
  check_near(sight[0].curve.travel_s, 0, 0); /* how "it does not pass" is written */
  check_near(sight[0].curve.area_g_s_m3, 0, 0);
  for (double t = source.time_s; t < 3e5; t += 370) {
    check_near(hw__curve_at(&sight[0].curve, t, 0), 0, 0);
  }
  for (size_t k = 1; k < STATIONS; k++) {
    check_station(transport, &source, k, &sight[k].curve);
  }
}

static void test_a_release_outside_the_search_is_impossible(void **state) {
  (void)state;
  const hw_source outside[] = {{1300, -31000, -215 * 60.0}, /* above the box */
                               {1300, -22106, -500 * 60.0}, /* before it */
                               {400, -22106, -215 * 60.0},  /* lighter */
                               {6000, -22106, -215 * 60.0}};
  for (size_t i = 0; i < 4; i++) {
    hw__release r;
    seen sight[STATIONS];
    walk_from(&outside[i], 1, &r, sight);
    assert_false(r.possible);
    assert_true(isinf(r.log_prior) && r.log_prior < 0);
  }
}

/* Uniform in place and time, log-uniform in mass: the density in (passage, ln age, ln mass) is that over the box times
 * dl / d ln age = v age. */
static void test_the_prior_is_uniform_in_place_and_time_and_log_uniform_in_mass(void **state) {
  (void)state;
  const hw_source source = {1300, -22106, -215 * 60.0};
  hw__release r;
  seen sight[STATIONS];
  walk_from(&source, 2, &r, sight);
  const double v = 1.1, age = hw_transport_leg(transport, source.location_m, stations[2].x_m).travel_s;
  const double want = log(v * age / (river.search.hi.location_m - river.search.lo.location_m)) -
                      log(river.search.hi.time_s - river.search.lo.time_s) - log(log(5000 / 500.0));
  check_near(r.log_prior, want, 1e-10); /* roundings of logarithms */
}

static hw__curve carry(const hw__release *r, const seen *sight, double x_m, hw_rng *rng) {
  size_t k = STATIONS;
  while (k > 0 && (stations[k - 1].x_m > x_m || !(sight[k - 1].curve.travel_s > 0))) {
    k--;
  }
  return hw__spill_carry(&spill, r, k > 0 ? k - 1 : 0, k > 0 ? &sight[k - 1].sight : NULL, x_m, rng);
}

/* Drawn on from the stations with nothing in doubt, a place between two of them and one below all see the river. */
static void test_a_curve_carried_on_is_what_the_river_carries(void **state) {
  (void)state;
  const hw_source source = {1300, -22106, -215 * 60.0};
  hw__release r;
  seen sight[STATIONS];
  hw_rng rng;
  hw_rng_seed(&rng, 1, 2);
  walk_from(&source, 1, &r, sight);
  static const double places[] = {-18000, -7000, 5300, 41000};
  for (size_t i = 0; i < 4; i++) {
    const hw__curve curve = carry(&r, sight, places[i], &rng);
    const hw_leg leg = hw_transport_leg(transport, source.location_m, places[i]);
    for (double share = 0.3; share < 2; share += 0.037) {
      const double want = source.mass_g * hw_leg_response(&leg, share * leg.travel_s);
      check_near(hw__curve_at(&curve, source.time_s + share * leg.travel_s, 0), want, 1e-10 * want + 1e-30);
    }
  }
  const hw__curve above = carry(&r, sight, -25000, &rng);
  check_near(hw__curve_at(&above, 0, 0), 0, 0);
}

/* Factors common to all stretches: the curves of a river whose velocities and dispersions are so many times larger. */
static void test_common_factors_give_the_curves_of_a_river_scaled_by_them(void **state) {
  (void)state;
  const hw_source source = {1300, -22106, -215 * 60.0};
  const hw_hydraulic_scale scale = {1.37, 0.59};
  hw_transport *scaled = NULL;
  hw__release r;
  seen sight[STATIONS];
  spill.doubt = (hw__doubt){.common_v = 0.2, .common_d = 0.4};
  assert_int_equal(hw_transport_create(&river, &scale, &scaled), HW_OK);
  double doubts[] = {log(scale.velocity), log(scale.dispersion), 0};
  for (size_t anchor = 0; anchor < STATIONS; anchor++) {
    walk_with(&source, anchor, scale.velocity, doubts, &r, sight);
    assert_int_equal(spill.dims, 5);
    assert_true(r.possible);
    for (size_t k = 0; k < STATIONS; k++) {
      check_station(scaled, &source, k, &sight[k].curve);
    }
  }
  hw_transport_free(scaled);
}

/* Another asymmetry moves neither the passage nor the width of what arrives. */
static void test_doubt_about_the_shape_leaves_passage_width_and_area(void **state) {
  (void)state;
  const hw_source source = {1300, -22106, -215 * 60.0};
  hw__release r;
  seen plain[STATIONS], skewed[STATIONS];
  double shape[] = {-0.37, 0, 0};
  walk_from(&source, 1, &r, plain);
  spill.doubt = (hw__doubt){.shape = 0.5};
  walk_with(&source, 1, 1, shape, &r, skewed);
  assert_int_equal(spill.dims, 4);
  for (size_t k = 0; k < STATIONS; k++) { /* the same sums: roundings of a multiplication */
    const hw__curve *a = &plain[k].curve, *b = &skewed[k].curve;
    check_near(b->passage_s, a->passage_s, 1e-9 * fabs(a->passage_s));
    check_near(b->variance_s2, a->variance_s2, 1e-12 * a->variance_s2);
    check_near(b->area_g_s_m3, a->area_g_s_m3, 1e-12 * a->area_g_s_m3);
    check_near(b->travel_s, a->travel_s * exp(-0.37), 1e-12 * a->travel_s);
    check_near(b->decay_per_s * b->travel_s, a->decay_per_s * a->travel_s, 1e-12);
  }
}

/* The second station's own pulse, told by one number alone: its passage, or its area. */
static void set_own_pulse(size_t what, double at, double sd) {
  fits[1].seen = true;
  fits[1].near = (hw__quadratic){.log_at = -3.7};
  fits[1].near.at[what] = at;
  fits[1].near.curvature[what][what] = 1 / (sd * sd);
  fits[1].log_likelihood = -3.7;
}

/* A gain of its own: the integral of two Gaussians. */
static void test_the_filter_integrates_over_the_gain(void **state) {
  (void)state;
  const hw_source source = {1300, -22106, -215 * 60.0};
  hw__release r;
  seen sight[STATIONS];
  walk_from(&source, 0, &r, sight);
  const double arrives = log(sight[1].curve.area_g_s_m3) - sight[1].curve.decay_per_s * sight[1].sight.travel_s;
  const double gain_sd = 0.2, sd = 0.05, off = 0.37;
  stations[1].gain_sd = gain_sd;
  set_own_pulse(HW__LN_AREA, arrives + off, sd);
  walk_from(&source, 0, &r, sight);
  assert_true(sight[1].filtered);
  const double variance = gain_sd * gain_sd + sd * sd;
  check_near(sight[1].sight.log_likelihood, -3.7 - 0.5 * off * off / variance - 0.5 * log(variance / (sd * sd)), 1e-9);
}

/* A velocity of the stretch's own: the integral over it by sums. It correlates with that of the stretch above over
 * HW__LOCAL_LENGTH_M, and averages over the stretch's length. */
static void test_the_filter_integrates_over_a_stretch_of_its_own_velocity(void **state) {
  (void)state;
  const hw_source source = {1300, -22106, -215 * 60.0};
  hw__release r;
  seen sight[STATIONS];
  double own[3] = {0};
  walk_from(&source, 0, &r, sight);
  const double before = sight[0].sight.travel_s, took = sight[1].sight.travel_s - before;
  const double length = stations[1].x_m - stations[0].x_m, lengths = length / HW__LOCAL_LENGTH_M;
  const double apart = 0.5 * (stations[1].x_m - source.location_m);
  const double field = 0.1, averaged = field * sqrt(2 * (lengths - 1 + exp(-lengths))) / lengths;
  const double sd = averaged * sqrt(1 - exp(-2 * apart / HW__LOCAL_LENGTH_M));
  for (double off = -1.5; off <= 1.5; off += 0.75) {
    const double late = off * sd * took, known = 0.3 * sd * took;
    set_own_pulse(HW__PASSAGE, source.time_s + before + took + late, known);
    spill.doubt = (hw__doubt){.local_v = field};
    walk_with(&source, 0, 1, own, &r, sight);
    assert_true(sight[1].filtered);
    double sum = 0;
    for (double z = -8; z < 8; z += 0.01) {
      const double misfit = (took * exp(-z * sd) - took - late) / known;
      sum += 0.01 * exp(-0.5 * z * z - 0.5 * misfit * misfit) / sqrt(2 * M_PI);
    }
    /* The step is taken as a line about where pulse and prior put it, within 0.29 sd. What is bent over that is half
     * its square, 0.14 sd of what the passage is known to; sd is 0.05, and misfits there stay below 1.5. */
    check_near(sight[1].sight.log_likelihood, -3.7 + log(sum), 0.01);
  }
}

/* The first reach has a doubt of its own, twice that of the second; below both the velocity is known. Stations are put
 * where they were, with what is added up to them. */
static void doubt_reaches(void) {
  river.reaches[0].velocity_doubt = (hw_doubt){1.44, 1};
  river.reaches[1].velocity_doubt = (hw_doubt){1.2, 1};
  hw__doubts_free(doubts_along);
  assert_int_equal(hw__doubts_create(&river, &doubts_along), HW_OK);
  for (size_t k = 0; k < STATIONS; k++) {
    stations[k].doubt = hw__doubts_at(doubts_along, stations[k].x_m);
    stations[k].common_v = hw__doubts_here(doubts_along, stations[k].x_m).common_v;
  }
  spill.doubts = doubts_along;
  spill.doubt = (hw__doubt){.common_v = hw__doubts_velocity(doubts_along).common};
}

static void test_every_stretch_has_the_doubt_of_its_reaches(void **state) {
  (void)state;
  assert_true(hw__doubts_even(doubts_along));
  check_near(hw__doubts_velocity(doubts_along).common, 0, 0); /* the river of this test is known */
  doubt_reaches();
  assert_false(hw__doubts_even(doubts_along));
  check_near(hw__doubts_velocity(doubts_along).common, log(1.44), 1e-12);
  check_near(hw__doubts_here(doubts_along, -20000).common_v, 1, 1e-12);
  check_near(hw__doubts_here(doubts_along, 0).common_v, 0.5, 1e-12);
  check_near(hw__doubts_here(doubts_along, 9000).common_v, 0, 0);
  /* 2000 m at 1.1 m/s and 3000 m at 0.9, by travel time. */
  const double x[] = {-14000, -9000}, first = 2000 / 1.1, second = 3000 / 0.9;
  const hw__integrals at[] = {hw__transport_integrals(transport, x[0]), hw__transport_integrals(transport, x[1])};
  const hw__doubt_sums sums[] = {hw__doubts_at(doubts_along, x[0]), hw__doubts_at(doubts_along, x[1])};
  const hw__doubt_share share =
      hw__doubts_between(doubts_along, (hw__doubt_end){&at[0], &sums[0]}, (hw__doubt_end){&at[1], &sums[1]});
  check_near(share.common_v, (first + 0.5 * second) / (first + second), 1e-12);
}

/* Age and place belong together, and the prior has what the place moves by as the age does. */
static void test_a_release_above_reaches_of_unlike_doubt(void **state) {
  (void)state;
  doubt_reaches();
  hw__spill_anchor(&spill, 2); /* below the second reach */
  double ln_age[3], place[3], prior = NAN;
  for (int i = 0; i < 3; i++) {
    double passage = 0, ln_mass = log(1300), ln_v = 0.2;
    ln_age[i] = log(16000) + 1e-4 * (i - 1);
    double *const x[] = {&passage, &ln_age[i], &ln_mass, &ln_v};
    hw__release r;
    hw__place_release(&spill, x, 0, &r);
    assert_true(r.possible);
    place[i] = r.source.location_m;
    const double between = stations[2].at.theta - hw__transport_integrals(transport, place[i]).theta;
    check_near(between / r.velocity_factor, r.age_s, 1e-4 * r.age_s); /* eight rounds, each a tenth of the one before */
    assert_true(r.velocity_factor > exp(0.5 * 0.2) * 0.9 && r.velocity_factor < exp(0.2));
    prior = i == 1 ? hw__release_log_prior(&spill, &r) : prior;
  }
  const double moves = (place[0] - place[2]) / 2e-4;
  const double want = log(moves / (river.search.hi.location_m - river.search.lo.location_m)) -
                      log(river.search.hi.time_s - river.search.lo.time_s) - log(log(5000 / 500.0)) -
                      0.5 * pow(0.2 / log(1.44), 2) - log(log(1.44) * sqrt(2 * M_PI));
  check_near(prior, want, 2e-3); /* differences of places, and of rounds that have nearly ended */
}

/* A sensor is wrong twice in a hundred; then its readings cost what its own best curve leaves, and 25, or 6 where it
 * shows none. One that is suspect is wrong three times in ten, at a cost of 8 or none. */
static void test_a_station_that_fits_is_believed_and_one_far_off_is_not(void **state) {
  (void)state;
  double wrong = NAN;
  fits[0].log_likelihood = -14.2;
  fits[0].seen = true;
  const double fits_well = hw__station_log_probability(&stations[0], -15, &wrong);
  check_near(fits_well, -15 + log(0.98), 1e-9); /* what is added is e^-28 */
  check_near(wrong, 0, 1e-10);
  const double far_off = hw__station_log_probability(&stations[0], -1e4, &wrong);
  check_near(far_off, -14.2 - 25 + log(0.02), 1e-12);
  check_near(wrong, 1, 1e-12);
  stations[0].suspect = true;
  check_near(hw__station_log_probability(&stations[0], -1e4, NULL), -14.2 - 8 + log(0.3), 1e-12);
  fits[0].seen = false;
  check_near(hw__station_log_probability(&stations[0], -1e4, NULL), -14.2 + log(0.3), 1e-12);
  stations[0].suspect = false;
  check_near(hw__station_log_probability(&stations[0], -1e4, NULL), -14.2 - 6 + log(0.02), 1e-12);
}

/* Each reach in doubt by its own factor: what is added up to a place, and the reach above where two meet. */
static void test_doubts_add_up_reach_by_reach(void **state) {
  (void)state;
  static const char text[] =
      "hydraulics: {velocity_m_s: {median: 0.8, factor: 1.1}, dispersion_m2_s: {median: 14.2, factor: 1.5}, area_m2: "
      "37}\n"
      "reaches:\n"
      "  - {to_m: -2000, velocity_m_s: {median: 0.7, factor: 1.3}}\n"
      "  - {to_m: 3000, dispersion_m2_s: {median: 20, factor: 1.2}}\n"
      "  - {to_m: 20000}\n"
      "search: {mass_g: [100, 5000], location_m: [-9000, -1000], time_s: [-20000, 0]}\n"
      "sensors: [{id: s1, location_m: 370}]\n";
  hw_river doubted;
  hw_error error;
  hw__doubts *d = NULL;
  assert_int_equal(hw_river_parse("r", text, strlen(text), NULL, NULL, &doubted, &error), HW_OK);
  assert_int_equal(hw__doubts_create(&doubted, &d), HW_OK);
  assert_false(hw__doubts_even(d));
  /* shares of the largest common part: ln 1.3 of the velocity, ln 1.5 of the dispersion */
  const double v = log(1.1) / log(1.3), k = log(1.2) / log(1.5), places[] = {-5000, -2000, -1999, 3000, 3001};
  const double of_v[] = {1, 1, v, v, v}, of_d[] = {1, 1, k, k, 1};
  for (size_t i = 0; i < 5; i++) {
    const hw__doubt_share here = hw__doubts_here(d, places[i]);
    assert_true(fabs(here.common_v - of_v[i]) < 1e-12 && fabs(here.common_d - of_d[i]) < 1e-12);
  }
  /* by travel time for the velocity */
  const hw__doubt_sums a = hw__doubts_at(d, -5000), b = hw__doubts_at(d, 4000);
  assert_true(fabs(b.common_v - a.common_v - (3000 / 0.7 + v * 6000 / 0.8)) < 1e-6);
  hw__doubts_free(d);
  hw_river_free(&doubted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_doubts_add_up_reach_by_reach),
      cmocka_unit_test_setup_teardown(test_with_nothing_in_doubt_every_station_sees_what_the_river_carries, build,
                                      release),
      cmocka_unit_test_setup_teardown(test_a_station_above_the_source_sees_nothing, build, release),
      cmocka_unit_test_setup_teardown(test_a_release_outside_the_search_is_impossible, build, release),
      cmocka_unit_test_setup_teardown(test_the_prior_is_uniform_in_place_and_time_and_log_uniform_in_mass, build,
                                      release),
      cmocka_unit_test_setup_teardown(test_a_curve_carried_on_is_what_the_river_carries, build, release),
      cmocka_unit_test_setup_teardown(test_common_factors_give_the_curves_of_a_river_scaled_by_them, build, release),
      cmocka_unit_test_setup_teardown(test_doubt_about_the_shape_leaves_passage_width_and_area, build, release),
      cmocka_unit_test_setup_teardown(test_the_filter_integrates_over_the_gain, build, release),
      cmocka_unit_test_setup_teardown(test_the_filter_integrates_over_a_stretch_of_its_own_velocity, build, release),
      cmocka_unit_test_setup_teardown(test_every_stretch_has_the_doubt_of_its_reaches, build, release),
      cmocka_unit_test_setup_teardown(test_a_release_above_reaches_of_unlike_doubt, build, release),
      cmocka_unit_test_setup_teardown(test_a_station_that_fits_is_believed_and_one_far_off_is_not, build, release),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

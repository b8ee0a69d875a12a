/* Sensor planning: Algorithm 4 with the paper's settings, the direct count, Student intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "headwater/plan.h"
#include "headwater/rng.h"
#include "paper_river.h"

/* Section 5.2: spreads N(0, 50), N(0, 500), N(0, 5 min) about the truth, lengths 200 g, 500 m, 200 min. */
static const hw_source paper_spread = {50, 500, 5 * 60.0};
static const hw_plan_settings paper_settings = {.accepted = {200, 500, 200 * 60.0}, .level = 0.9};

static hw_status simulated(void *context, size_t round, size_t sensor, hw_source *out) {
  hw_rng rng;
  hw_rng_seed(&rng, *(const uint64_t *)context, round * 1000 + sensor);
  out->mass_g = paper_truth.mass_g + paper_spread.mass_g * hw_rng_normal(&rng);
  out->location_m = paper_truth.location_m + paper_spread.location_m * hw_rng_normal(&rng);
  out->time_s = paper_truth.time_s + paper_spread.time_s * hw_rng_normal(&rng);
  return HW_OK;
}

static void test_direct_count_is_thirteen_with_the_papers_settings(void **unused) {
  (void)unused;
  size_t required[3];
  assert_int_equal(hw_plan_direct(&paper_settings, &paper_spread, required), HW_OK);
  assert_int_equal(required[0], 3);
  assert_int_equal(required[1], 13);
  assert_int_equal(required[2], 2);
}

static void test_sequence_settles_near_twenty_and_keeps_a_larger_start(void **unused) {
  (void)unused;
  static const size_t firsts[] = {3, 7, 11, 13, 19, 25};
  double mean = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    for (size_t i = 0; i < 6; i++) {
      hw_plan_settings settings = paper_settings;
      settings.first = firsts[i];
      hw_plan_round rounds[100];
      uint64_t stream = seed;
      assert_int_equal(hw_plan_sequence(&settings, simulated, &stream, rounds), HW_OK);
      for (size_t r = 1; r < 100; r++) {
        assert_true(rounds[r].installed >= rounds[r - 1].installed);
      }
      if (seed == 1) {
        print_message("first %zu: settles at %zu\n", firsts[i], rounds[99].installed);
      }
      mean += i < 4 ? (double)rounds[99].installed / 40 : 0;
      assert_true(i < 5 || rounds[99].installed == 25);
    }
  }
  print_message("mean over ten seeds and A = 3, 7, 11, 13: %.1f\n", mean);
  assert_true(mean > 16 && mean < 23);
}

static void test_interval_matches_the_textbook(void **unused) {
  (void)unused;
  /* t_{0.05, 3} = 2.353363 (NIST handbook, table 1.3.6.7.2) */
  const hw_source four[] = {{1310.5, -1, 5}, {1288.2, -3, 5}, {1297.7, -2, 5}, {1304.4, -6, 5}};
  hw_source mean, spread;
  hw_box interval;
  assert_int_equal(hw_plan_interval(four, 4, 0.9, &mean, &interval, &spread), HW_OK);
  assert_true(fabs(mean.mass_g - 1300.2) < 1e-9);
  const double sd = sqrt((10.3 * 10.3 + 12.0 * 12.0 + 2.5 * 2.5 + 4.2 * 4.2) / 3);
  assert_true(fabs(spread.mass_g - sd) < 1e-9);
  assert_true(fabs(interval.hi.mass_g - (1300.2 + 2.353363 * sd / 2)) < 1e-5);
  assert_true(interval.lo.time_s == 5 && interval.hi.time_s == 5);
  assert_int_equal(hw_plan_interval(four, 1, 0.9, &mean, &interval, &spread), HW_EDOMAIN);
}

static hw_status agreeing(void *context, size_t round, size_t sensor, hw_source *out) {
  (void)round;
  (void)sensor;
  *out = *(const hw_source *)context;
  return HW_OK;
}

static void test_sensors_that_agree_need_no_company(void **unused) {
  (void)unused;
  hw_plan_settings settings = paper_settings;
  settings.rounds = 4;
  settings.first = 2;
  hw_plan_round rounds[4];
  hw_source same = paper_truth;
  assert_int_equal(hw_plan_sequence(&settings, agreeing, &same, rounds), HW_OK);
  assert_int_equal(rounds[3].installed, 2);
}

static hw_status broken(void *context, size_t round, size_t sensor, hw_source *out) {
  (void)context;
  (void)out;
  return round == 1 && sensor == 1 ? HW_EEMPTY : agreeing((void *)(uintptr_t)&paper_truth, round, sensor, out);
}

static void test_sequence_rejects_bad_settings_and_passes_failures_on(void **unused) {
  (void)unused;
  hw_plan_round rounds[100] = {{.installed = 77}};
  assert_int_equal(hw_plan_sequence(&paper_settings, broken, NULL, rounds), HW_EEMPTY);
  assert_int_equal(rounds[0].installed, 77);
  hw_plan_settings bad = paper_settings;
  bad.accepted.location_m = NAN;
  assert_int_equal(hw_plan_sequence(&bad, broken, NULL, rounds), HW_EDOMAIN);
  bad = paper_settings;
  bad.first = 51;
  assert_int_equal(hw_plan_sequence(&bad, broken, NULL, rounds), HW_EDOMAIN);
}

/* Twelve sites from inside the search box to below it. */
static hw_placement *twelve_sites(const hw_river *river) {
  static double sites_m[12];
  hw_place_settings settings = {.sites_m = sites_m, .site_count = 12, .sources = 60, .every_s = 240, .seed = 3};
  for (size_t i = 0; i < 12; i++) {
    sites_m[i] = -24000 + 3700 * (double)i;
  }
  hw_sensor_init(&settings.sensor);
  settings.sensor.noise_absolute_g_m3 = 2e-5;
  settings.sensor.background_g_m3 = 0;
  hw_placement *placement = NULL;
  assert_int_equal(hw_placement_create(river, &settings, &placement), HW_OK);
  return placement;
}

static void test_greedy_placement_keeps_its_guarantee_and_exact_is_best(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  hw_placement *placement = twelve_sites(&river);
  double before = 0;
  for (size_t count = 1; count <= 5; count++) {
    size_t chosen[5];
    hw_place_score greedy, exact, even;
    assert_int_equal(hw_placement_choose(placement, HW_PLACE_GREEDY, count, chosen), HW_OK);
    hw_placement_score(placement, chosen, count, &greedy);
    assert_int_equal(hw_placement_choose(placement, HW_PLACE_EXACT, count, chosen), HW_OK);
    hw_placement_score(placement, chosen, count, &exact);
    assert_int_equal(hw_placement_choose(placement, HW_PLACE_EVEN, count, chosen), HW_OK);
    hw_placement_score(placement, chosen, count, &even);
    print_message("%zu sensors: gain greedy %.2f exact %.2f even %.2f; place sd %.0f %.0f %.0f m\n", count,
                  greedy.gain_nats, exact.gain_nats, even.gain_nats, greedy.sd.location_m, exact.sd.location_m,
                  even.sd.location_m);
    assert_true(greedy.gain_nats >= (1 - exp(-1)) * exact.gain_nats);
    assert_true(exact.gain_nats >= greedy.gain_nats && exact.gain_nats >= even.gain_nats);
    assert_true(exact.gain_nats > before); /* a further sensor never hurts */
    before = exact.gain_nats;
  }
  hw_placement_free(placement);
  hw_river_free(&river);
}

/* One more sensor gains less in larger company: what the guarantee rests on. */
static void test_placement_gain_is_submodular(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  hw_placement *placement = twelve_sites(&river);
  hw_rng rng;
  hw_rng_seed(&rng, 5, 0);
  for (int trial = 0; trial < 50; trial++) {
    size_t order[12];
    for (size_t i = 0; i < 12; i++) {
      const size_t k = (size_t)(hw_rng_uniform(&rng) * (double)(i + 1));
      order[i] = order[k];
      order[k] = i;
    }
    hw_place_score score[4]; /* two sites, two and the sixth, five, five and the sixth */
    hw_placement_score(placement, order, 2, &score[0]);
    hw_placement_score(placement, order, 5, &score[2]);
    hw_placement_score(placement, order, 6, &score[3]);
    const size_t few[] = {order[0], order[1], order[5]};
    hw_placement_score(placement, few, 3, &score[1]);
    assert_true(score[1].gain_nats - score[0].gain_nats >= score[3].gain_nats - score[2].gain_nats - 1e-9);
  }
  hw_placement_free(placement);
  hw_river_free(&river);
}

static void test_placement_rejects_what_it_cannot_do(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  const double unordered[] = {-14.2, -14.2}, many[40] = {0};
  hw_place_settings settings = {.sites_m = unordered, .site_count = 2};
  hw_placement *placement = NULL;
  assert_int_equal(hw_placement_create(&river, &settings, &placement), HW_EDOMAIN);
  assert_null(placement);
  settings.site_count = 0;
  settings.sites_m = many;
  assert_int_equal(hw_placement_create(&river, &settings, &placement), HW_EDOMAIN);
  placement = twelve_sites(&river);
  size_t chosen[13];
  assert_int_equal(hw_placement_choose(placement, HW_PLACE_GREEDY, 0, chosen), HW_EDOMAIN);
  assert_int_equal(hw_placement_choose(placement, HW_PLACE_GREEDY, 13, chosen), HW_EDOMAIN);
  hw_placement_free(placement);
  river.hydraulics.velocity_m_s.certainty = HW_UNKNOWN;
  settings.site_count = 1;
  assert_int_equal(hw_placement_create(&river, &settings, &placement), HW_EHYDRAULICS);
  hw_river_free(&river);
}

/* Dispersion unknown: the place is known to within a share of the distance from the first sensor that sees the pulse.
 * So one site just below the search box sees everything; of two, one goes up into the box, where releases above it are
 * then nearer; and a pulse that comes up between two readings counts for nothing. */
static void test_placement_without_dispersion_goes_where_releases_are_near(void **unused) {
  (void)unused;
  hw_river river = paper_river();
  river.hydraulics.dispersion_m2_s.certainty = HW_UNKNOWN;
  const double top_m = river.search.lo.location_m, end_m = river.search.hi.location_m;
  double sites_m[10];
  for (size_t i = 0; i < 10; i++) { /* the last four lie below the box, each further from it */
    sites_m[i] = i < 6 ? top_m + (end_m - top_m) * ((double)i + 0.37) / 6 : end_m + 4200 * (double)(i - 5);
  }
  hw_place_settings settings = {.sites_m = sites_m, .site_count = 10, .sources = 80, .every_s = 60, .seed = 3};
  hw_sensor_init(&settings.sensor);
  hw_placement *placement = NULL;
  assert_int_equal(hw_placement_create(&river, &settings, &placement), HW_OK);
  size_t one[1], two[2], all[10];
  hw_place_score nearest = {0}, furthest = {0}, best, pair, everywhere;
  for (size_t i = 6; i < 10; i++) {
    all[0] = i;
    hw_placement_score(placement, all, 1, i == 6 ? &nearest : &furthest);
    assert_true(nearest.seen == 1 && furthest.seen <= 1);
  }
  assert_true(furthest.sd.location_m > nearest.sd.location_m && furthest.gain_nats < nearest.gain_nats);
  assert_int_equal(hw_placement_choose(placement, HW_PLACE_EXACT, 1, one), HW_OK);
  hw_placement_score(placement, one, 1, &best);
  assert_int_equal(hw_placement_choose(placement, HW_PLACE_EXACT, 2, two), HW_OK);
  hw_placement_score(placement, two, 2, &pair);
  assert_true(sites_m[two[0]] < end_m && best.gain_nats >= nearest.gain_nats && pair.gain_nats > best.gain_nats);
  for (size_t i = 0; i < 10; i++) {
    all[i] = i;
  }
  hw_placement_score(placement, all, 10, &everywhere);
  assert_true(everywhere.gain_nats >= pair.gain_nats && everywhere.sd.location_m < pair.sd.location_m);
  hw_placement_free(placement);

  settings.every_s = 86400; /* a reading a day: no front is seen */
  assert_int_equal(hw_placement_create(&river, &settings, &placement), HW_OK);
  hw_placement_score(placement, all, 10, &everywhere);
  assert_true(everywhere.seen == 0 && everywhere.gain_nats == 0);
  hw_placement_free(placement);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_direct_count_is_thirteen_with_the_papers_settings),
      cmocka_unit_test(test_sequence_settles_near_twenty_and_keeps_a_larger_start),
      cmocka_unit_test(test_interval_matches_the_textbook),
      cmocka_unit_test(test_sensors_that_agree_need_no_company),
      cmocka_unit_test(test_sequence_rejects_bad_settings_and_passes_failures_on),
      cmocka_unit_test(test_greedy_placement_keeps_its_guarantee_and_exact_is_best),
      cmocka_unit_test(test_placement_gain_is_submodular),
      cmocka_unit_test(test_placement_rejects_what_it_cannot_do),
      cmocka_unit_test(test_placement_without_dispersion_goes_where_releases_are_near),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The engine on a network: which branch, where on it, and what a quiet tributary says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "posterior/network.h"
#include "posterior/network_inside.h"

/* A stem with two tributaries; sensors on the stem below both confluences, and on one tributary. */
static const char *const text =
    "name: Elm and its tributaries\n"
    "hydraulics: {velocity_m_s: {median: 0.7, factor: 1.1}, dispersion_m2_s: {median: 30, factor: 1.4}, decay_per_s: "
    "0}\n"
    "branches:\n"
    "  - {id: stem, head_m: -60000, reaches: [{to_m: -30000, discharge_m3_s: 6}, {to_m: -20000, discharge_m3_s: 9},"
    " {to_m: 0, discharge_m3_s: 11}]}\n"
    "  - {id: ash, head_m: -22000, joins: {branch: stem, at_m: -30000}, reaches: [{to_m: 0, discharge_m3_s: 3}]}\n"
    "  - {id: birch, head_m: -18000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}\n"
    "search: {mass_g: [10, 100000], time_s: [-50000, 60000]}\n"
    "sensors:\n"
    "  - {id: s1, branch: stem, location_m: -15000, noise_relative: 0.04, noise_absolute_g_m3: 2.0e-5,"
    " background_g_m3: 0}\n"
    "  - {id: s2, branch: stem, location_m: -4000, noise_relative: 0.04, noise_absolute_g_m3: 2.0e-5,"
    " background_g_m3: 0}\n"
    "  - {id: a1, branch: ash, location_m: -1000, noise_relative: 0.04, noise_absolute_g_m3: 2.0e-5,"
    " background_g_m3: 0}\n"
    "candidates:\n"
    "  - {id: dairy, branch: ash, location_m: -9000}\n"
    "  - {id: mill, branch: stem, location_m: -38000}\n"
    "intakes:\n"
    "  - {id: town, branch: stem, location_m: -1000, alarm_g_m3: 0.0001}\n";

static hw_river load(void) {
  hw_river river;
  hw_error error;
  assert_int_equal(hw_river_parse("elm.yaml", text, strlen(text), NULL, NULL, &river, &error), HW_OK);
  return river;
}

static hw_run *watch_on(size_t threads, const hw_river *river, const hw_source *truth) {
  hw_run *run = NULL;
  hw_spill *spill = NULL;
  hw_rng rng;
  hw_rng_seed(&rng, 31, 0);
  const hw_problem problem = {.river = river};
  const hw_options options = {.threads = threads};
  assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, &options, &run), HW_OK);
  assert_int_equal(hw_spill_create(river, truth, 0, &spill), HW_OK);
  for (double t = 0; t < 130000; t += 600) {
    for (size_t k = 0; k < river->sensor_count; k++) {
      const hw_sensor *s = &river->sensors[k];
      const double c = hw_spill_concentration(spill, s->branch, s->location_m, t);
      const double noise = hypot(s->noise_absolute_g_m3, s->noise_relative * c) * hw_rng_normal(&rng);
      const hw_reading reading = {.sensor = k, .time_s = t, .concentration_g_m3 = c + noise};
      assert_int_equal(hw_run_observe(run, &reading), HW_OK);
    }
  }
  hw_spill_free(spill);
  return run;
}

static hw_run *watch(const hw_river *river, const hw_source *truth) {
  return watch_on(0, river, truth);
}

static double share_of(const hw_estimate *e, size_t branch) {
  for (size_t k = 0; k < e->branch_count; k++) {
    if (e->branches[k].branch == branch) {
      return e->branches[k].probability;
    }
  }
  return 0;
}

static void check_held(const hw_estimate *e, const hw_source *truth) {
  double held = 0;
  bool there = false;
  for (size_t k = 0; k < e->region_count; k++) {
    held += e->regions[k].probability;
    /* Within half a region's length of its ends: one seed, and 90 % regions. */
    const double slack = 0.5 * (e->regions[k].hi_m - e->regions[k].lo_m);
    there = there || (e->regions[k].branch == truth->branch && truth->location_m > e->regions[k].lo_m - slack &&
                      truth->location_m < e->regions[k].hi_m + slack);
  }
  assert_true(there);
  assert_true(held > 0.8 && held < 1.0001);
  check_near(log(e->source.mass_g / truth->mass_g), 0, 0.1); /* dilution at confluences is exact; 4 % noise */
}

static void test_a_release_on_a_tributary_is_found_there(void **state) {
  (void)state;
  hw_river river = load();
  const hw_source truth = {.mass_g = 900, .location_m = -9000, .time_s = 9000, .branch = 1};
  hw_run *run = watch(&river, &truth);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_true(e.has_source);
  assert_true(share_of(&e, 1) > 0.95); /* its own sensor saw it */
  assert_int_equal(e.source.branch, 1);
  check_held(&e, &truth);
  assert_true(e.suspicion_count == 3 && e.suspicions[0].candidate == 0);
  assert_true(e.arrival_count == 1 && e.arrivals[0].exceeds_alarm > 0.99);
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_answers_do_not_depend_on_the_thread_count(void **state) {
  (void)state;
  hw_river river = load();
  const hw_source truth = {.mass_g = 2500, .location_m = -38000, .time_s = 4000, .branch = 0};
  static hw_sample first[4096], samples[4096];
  size_t first_count = 0;
  for (size_t threads = 1; threads <= 5; threads++) { /* one more than a crew has */
    hw_run *run = watch_on(threads, &river, &truth);
    hw_estimate e;
    size_t count = 0;
    assert_int_equal(hw_run_estimate(run, &e), HW_OK);
    assert_true(e.has_source);
    assert_int_equal(hw_run_samples(run, threads == 1 ? first : samples, 4096, &count), HW_OK);
    if (threads == 1) {
      first_count = count;
    } else {
      assert_int_equal(count, first_count);
      for (size_t i = 0; i < count; i++) {
        assert_true(samples[i].source.location_m == first[i].source.location_m);
        assert_true(samples[i].weight == first[i].weight);
      }
    }
    hw_run_free(run);
  }
  assert_true(first_count > 400);
  hw_river_free(&river);
}

static void test_a_quiet_tributary_speaks_for_the_other_branches(void **state) {
  (void)state;
  hw_river river = load();
  const hw_source truth = {.mass_g = 2500, .location_m = -38000, .time_s = 4000, .branch = 0};
  hw_run *run = watch(&river, &truth);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_true(e.has_source);
  assert_true(share_of(&e, 1) < 0.05); /* ash's sensor would have seen it, but for the last kilometre */
  check_held(&e, &truth);
  double sum = 0;
  for (size_t k = 0; k < e.branch_count; k++) {
    sum += e.branches[k].probability;
  }
  check_near(sum, 1, 1e-9);
  static hw_sample samples[500];
  size_t count = 0;
  assert_int_equal(hw_run_samples(run, samples, 500, &count), HW_OK);
  assert_true(count > 400 && count <= 500);
  hw_run_free(run);
  hw_river_free(&river);
}

/* No branch comes to more than its pulses promise, and one that lacks the first pulse cannot come near the one that has
 * it: it need not be asked. */
static void test_a_branch_keeps_what_it_promises_at_most(void **test) {
  (void)test;
  static const hw_source truths[] = {{.mass_g = 900, .location_m = -9000, .time_s = 9000, .branch = 1},
                                     {.mass_g = 2500, .location_m = -38000, .time_s = 4000, .branch = 0},
                                     {.mass_g = 740, .location_m = -5200, .time_s = 21000, .branch = 2}};
  for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
    hw_river river = load();
    hw_spill *spill = NULL;
    void *state = NULL;
    hw_rng rng;
    hw_rng_seed(&rng, 43, i);
    const hw_options options = {.seed = 1, .level = 0.9};
    assert_int_equal(hw__network_create(&(hw_problem){.river = &river}, &options, &state), HW_OK);
    assert_int_equal(hw_spill_create(&river, &truths[i], 0, &spill), HW_OK);
    for (size_t k = 0; k < 3 * 200; k++) {
      const hw_sensor *s = &river.sensors[k % 3];
      const double t = 600.0 * (double)(k / 3), c = hw_spill_concentration(spill, s->branch, s->location_m, t);
      const double noise = hypot(s->noise_absolute_g_m3, s->noise_relative * c) * hw_rng_normal(&rng);
      const hw_reading r = {.sensor = k % 3, .time_s = t, .concentration_g_m3 = c + noise};
      assert_int_equal(hw__network_observe(state, &r), HW_OK);
    }
    assert_int_equal(hw__network_settle(state), HW_OK);
    const hw__network *n = state;
    const double reached = n->best->engine->log_odds;
    assert_true(i > 0 || n->best->branch == 1); /* the others have no sensor of their own */
    assert_true(n->best->promise > reached && n->best->promise < 2 * reached);
    for (size_t k = 0; k < n->part_count && i == 0; k++) {
      assert_true(n->parts[k].branch == 1 || n->parts[k].promise < reached - 9);
    }
    hw_spill_free(spill);
    hw__network_destroy(state);
    hw_river_free(&river);
  }
}

static void test_a_quiet_network_has_no_spill(void **state) {
  (void)state;
  hw_river river = load();
  const hw_source nothing = {.mass_g = 1e-9, .location_m = -38000, .time_s = 4000, .branch = 0};
  hw_run *run = watch(&river, &nothing);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_false(e.has_source);
  assert_true(e.spill < 0.1);
  hw_run_free(run);
  hw_river_free(&river);
}

/* The flow doubles and more while the pulse is on its way, and two gauges see it: the time of release is told by the
 * wall's clock, though the interval's ends belong to places far apart. */
static void test_a_release_in_a_flood_is_dated_by_the_walls_clock(void **state) {
  (void)state;
  hw_river river = load();
  hw_gauge gauges[2] = {{.id = "up", .branch = 0, .location_m = -15000},
                        {.id = "down", .branch = 0, .location_m = -4000}};
  enum { TIMES = 90 };
  static hw_flow flow[2 * TIMES];
  for (size_t i = 0; i < TIMES; i++) {
    const double t = -36000 + 1800.0 * (double)i, ratio = 1 + 1.6 / (1 + exp(-(t - 9000) / 5000));
    for (size_t g = 0; g < 2; g++) {
      flow[2 * i + g] = (hw_flow){g, t, 11 * ratio};
    }
  }
  river.gauges = gauges;
  river.gauge_count = 2;
  river.flow = flow;
  river.flow_count = 2 * TIMES;
  const hw_source truth = {.mass_g = 2500, .location_m = -38000, .time_s = 4000, .branch = 0};
  hw_run *run = watch(&river, &truth);
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_true(e.has_source);
  assert_int_equal(e.source.branch, 0);
  const double width_s = e.interval.hi.time_s - e.interval.lo.time_s;
  assert_true(e.interval.lo.time_s - 0.25 * width_s < truth.time_s &&
              truth.time_s < e.interval.hi.time_s + 0.25 * width_s);
  /* The interval is that of the samples on this branch. */
  static hw_sample samples[4096];
  size_t count = 0, inside = 0, here = 0;
  assert_int_equal(hw_run_samples(run, samples, 4096, &count), HW_OK);
  for (size_t i = 0; i < count; i++) {
    const double t = samples[i].source.time_s;
    here += samples[i].source.branch == 0;
    inside += samples[i].source.branch == 0 && t >= e.interval.lo.time_s && t <= e.interval.hi.time_s;
  }
  check_near((double)inside / (double)here, 0.9, 0.01); /* resampled: a share of 1 in 4096 each */
  hw_run_free(run);
  river.gauges = NULL;
  river.gauge_count = 0;
  river.flow = NULL;
  river.flow_count = 0;
  hw_river_free(&river);
}

/* A salt that the river always carries stays what it is while the flow doubles and more: that is no spill. Nor does the
 * noise of a sensor grow with the water. */
static void test_a_level_in_a_flood_is_no_spill(void **state) {
  (void)state;
  hw_river river = load();
  hw_gauge gauge = {.id = "down", .branch = 0, .location_m = -4000};
  enum { TIMES = 90 };
  static hw_flow flow[TIMES];
  for (size_t i = 0; i < TIMES; i++) {
    const double t = -36000 + 1800.0 * (double)i;
    flow[i] = (hw_flow){0, t, 11 * (1 + 2 * exp(-pow((t - 30000) / 12000, 2)))};
  }
  river.gauges = &gauge;
  river.gauge_count = 1;
  river.flow = flow;
  river.flow_count = TIMES;
  for (int learned = 0; learned < 2; learned++) {
    const hw_problem problem = {.river = &river};
    hw_run *run = NULL;
    hw_estimate e;
    hw_rng rng;
    hw_rng_seed(&rng, 41, 0);
    for (size_t k = 0; k < river.sensor_count; k++) {
      river.sensors[k].background_g_m3 = learned ? NAN : 0.0037;
    }
    assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, NULL, &run), HW_OK);
    for (double t = 0; t < 80000; t += 600) {
      for (size_t k = 0; k < river.sensor_count; k++) {
        const hw_reading reading = {
            .sensor = k, .time_s = t, .concentration_g_m3 = 0.0037 + 2e-5 * hw_rng_normal(&rng)};
        assert_int_equal(hw_run_observe(run, &reading), HW_OK);
      }
    }
    assert_int_equal(hw_run_estimate(run, &e), HW_OK);
    assert_false(e.has_source);
    assert_true(e.spill < 0.1);
    hw_run_free(run);
  }
  river.gauges = NULL;
  river.gauge_count = 0;
  river.flow = NULL;
  river.flow_count = 0;
  hw_river_free(&river);
}

/* Where one gauge speaks for all, a pulse spreads in the river's clock as its file says; where a flood overtakes it,
 * what it had spread before is pressed together. */
static void test_a_flood_that_overtakes_a_pulse_presses_it_together(void **test) {
  (void)test;
  for (size_t gauges = 1; gauges <= 2; gauges++) {
    hw_river river = load();
    hw_gauge gauge[2] = {{.id = "up", .branch = 0, .location_m = -58000},
                         {.id = "down", .branch = 0, .location_m = -4000}};
    enum { TIMES = 200 };
    static hw_flow flow[2 * TIMES];
    river.flow_count = 0;
    for (size_t i = 0; i < TIMES; i++) {
      const double t = -100000 + 1800.0 * (double)i;
      for (size_t g = 0; g < gauges; g++) { /* the wave runs at v / (1 - m) */
        const double lag = 54000 * (double)g / 0.7 * 0.55;
        flow[river.flow_count++] = (hw_flow){g, t, (g == 0 ? 6 : 11) * (1 + 2 / (1 + exp(-(t - lag - 14000) / 3000)))};
      }
    }
    river.gauges = gauge;
    river.gauge_count = gauges;
    river.flow = flow;
    const hw_source truth = {.mass_g = 2500, .location_m = -52000, .time_s = 4000, .branch = 0};
    void *state = NULL;
    const hw_options options = {.seed = 3, .level = 0.9};
    hw_spill *spill = NULL;
    assert_int_equal(hw__network_create(&(hw_problem){.river = &river}, &options, &state), HW_OK);
    assert_int_equal(hw_spill_create(&river, &truth, 0, &spill), HW_OK);
    for (double t = 0; t < 150000; t += 900) {
      for (size_t k = 0; k < 2; k++) {
        const double c = hw_spill_concentration(spill, 0, river.sensors[k].location_m, t);
        const hw_reading r = {.sensor = k, .time_s = t, .concentration_g_m3 = c};
        assert_int_equal(hw__network_observe(state, &r), HW_OK);
      }
    }
    assert_int_equal(hw__network_settle(state), HW_OK);
    const hw__network *n = state;
    const hw__part *p = &n->parts[0];
    const size_t count = p->river.reach_count;
    assert_true(count > 10); /* cut, so that the flood may differ along the way */
    const double far_up = p->river.reaches[3].dispersion_m2_s, last = p->river.reaches[count - 1].dispersion_m2_s;
    if (gauges == 1) {
      check_near(far_up, 30, 1e-6 * 30);
      check_near(last, 30, 1e-6 * 30);
    } else { /* the clock is kept at the outlet, a kilometre below the last reach's middle */
      assert_true(far_up < 0.4 * 30);
      check_near(last, 30, 0.25 * 30);
    }
    hw_spill_free(spill);
    hw__network_destroy(state);
    river.gauges = NULL;
    river.gauge_count = 0;
    river.flow = NULL;
    river.flow_count = 0;
    hw_river_free(&river);
  }
}

static void test_readings_beyond_all_reason_are_refused_and_those_at_the_bound_taken(void **state) {
  (void)state;
  static const char single[] =
      "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 30, area_m2: 9}\n"
      "search: {mass_g: [10, 1000], location_m: [-9000, -100], time_s: [-5000, 6000]}\n"
      "sensors: [{id: s1, location_m: 37}]\n";
  static const struct {
    double time_s, c_g_m3;
    hw_status status;
  } cases[] = {{1e12, 0.1, HW_OK}, {-1e12, 0.1, HW_OK}, {1.001e12, 0.1, HW_EDOMAIN}, {-1.001e12, 0.1, HW_EDOMAIN},
               {37, 1e12, HW_OK},  {37, -1e12, HW_OK},  {37, 1.001e12, HW_EDOMAIN},  {37, -1.001e12, HW_EDOMAIN}};
  hw_river rivers[2] = {load()};
  assert_int_equal(hw_river_parse("r", single, strlen(single), NULL, NULL, &rivers[1], NULL), HW_OK);
  for (size_t k = 0; k < 2; k++) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      hw_run *run = NULL;
      const hw_reading reading = {.time_s = cases[i].time_s, .concentration_g_m3 = cases[i].c_g_m3};
      assert_int_equal(hw_run_create(hw_method_find("posterior"), &(hw_problem){.river = &rivers[k]}, NULL, &run),
                       HW_OK);
      assert_int_equal(hw_run_observe(run, &reading), cases[i].status);
      hw_run_free(run);
    }
    hw_river_free(&rivers[k]);
  }
}

/* Fewer samples than there are: spread evenly over all of them, as many as asked for, with weights that sum to 1. */
/* Two releases at a time, each past a sensor of its own branch: an answer of one of them must not be sure of itself. */
static void test_a_pulse_that_no_water_brings_there_is_told(void **state) {
  (void)state;
  hw_river river = load();
  strcpy(river.sensors[0].id, "b1");
  river.sensors[0].branch = 2;
  river.sensors[0].location_m = -1000;
  river.sensor_count = 3;
  const hw_source on_ash = {.mass_g = 900, .location_m = -9000, .time_s = 9000, .branch = 1},
                  on_birch = {.mass_g = 700, .location_m = -8000, .time_s = 9500, .branch = 2};
  hw_run *run = NULL;
  hw_spill *spill[2] = {NULL, NULL};
  hw_rng rng;
  hw_rng_seed(&rng, 33, 0);
  const hw_problem problem = {.river = &river};
  assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, NULL, &run), HW_OK);
  assert_int_equal(hw_spill_create(&river, &on_ash, 0, &spill[0]), HW_OK);
  assert_int_equal(hw_spill_create(&river, &on_birch, 0, &spill[1]), HW_OK);
  for (double t = 0; t < 60000; t += 600) {
    for (size_t k = 0; k < river.sensor_count; k += 2) { /* nobody reads the one on the stem */
      const hw_sensor *s = &river.sensors[k];
      const double c = hw_spill_concentration(spill[0], s->branch, s->location_m, t) +
                       hw_spill_concentration(spill[1], s->branch, s->location_m, t);
      const double noise = hypot(s->noise_absolute_g_m3, s->noise_relative * c) * hw_rng_normal(&rng);
      const hw_reading reading = {.sensor = k, .time_s = t, .concentration_g_m3 = c + noise};
      assert_int_equal(hw_run_observe(run, &reading), HW_OK);
    }
  }
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_int_equal(e.trust, HW_TRUST_PROVISIONAL);
  assert_non_null(strstr(e.trust_reason, e.source.branch == 1 ? "sensor b1" : "sensor a1"));
  hw_spill_free(spill[0]);
  hw_spill_free(spill[1]);
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_fewer_samples_keep_the_shares_of_the_branches(void **state) {
  (void)state;
  hw_river river = load();
  const hw_source truth = {.mass_g = 900, .location_m = -500, .time_s = 9000, .branch = 1}; /* below ash's sensor */
  hw_run *run = watch(&river, &truth);
  static hw_sample all[8192], some[8192];
  size_t total = 0;
  assert_int_equal(hw_run_samples(run, all, 8192, &total), HW_OK);
  assert_in_range(total, 400, 8191);
  static const size_t shares[] = {1, 2, 3, 7};
  for (size_t k = 0; k <= 5; k++) {
    const size_t capacity = k < 4 ? total / shares[k] : k == 4 ? total - 1 : total + 37;
    size_t count = 0;
    double sum = 0;
    memset(some, 0, sizeof some);
    assert_int_equal(hw_run_samples(run, some, capacity, &count), HW_OK);
    assert_int_equal(count, capacity < total ? capacity : total);
    for (size_t i = 0; i < count; i++) {
      sum += some[i].weight;
      const size_t at = ((i + 1) * total + count - 1) / count - 1; /* the last of each share of them */
      assert_true(some[i].source.location_m == all[at].source.location_m);
      assert_true(some[i].source.time_s == all[at].source.time_s);
    }
    check_near(sum, 1, 1e-9);
  }
  size_t none = 99;
  assert_int_equal(hw_run_samples(run, some, 0, &none), HW_OK);
  assert_int_equal(none, 0);
  hw_run_free(run);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_release_on_a_tributary_is_found_there),
      cmocka_unit_test(test_a_quiet_tributary_speaks_for_the_other_branches),
      cmocka_unit_test(test_answers_do_not_depend_on_the_thread_count),
      cmocka_unit_test(test_a_branch_keeps_what_it_promises_at_most),
      cmocka_unit_test(test_a_quiet_network_has_no_spill),
      cmocka_unit_test(test_a_release_in_a_flood_is_dated_by_the_walls_clock),
      cmocka_unit_test(test_a_level_in_a_flood_is_no_spill),
      cmocka_unit_test(test_a_flood_that_overtakes_a_pulse_presses_it_together),
      cmocka_unit_test(test_readings_beyond_all_reason_are_refused_and_those_at_the_bound_taken),
      cmocka_unit_test(test_a_pulse_that_no_water_brings_there_is_told),
      cmocka_unit_test(test_fewer_samples_keep_the_shares_of_the_branches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The engine as a method: what it concludes from readings of every kind. Statistical quality is measured by
 * experiments/study_posterior.c; here stand the claims that hold in every run. */
#include "two_sensors.h"

static void test_a_learned_background_is_taken_off(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 9);
  river.sensors[0].background_g_m3 = river.sensors[1].background_g_m3 = NAN;
  const hw_estimate flat = identify(&river, 1);
  check_holds(&flat, &paper_truth);
  for (size_t i = 0; i < reading_count; i++) {
    readings[i].concentration_g_m3 += readings[i].sensor ? 0.0031 : 0.012;
  }
  const hw_estimate raised = identify(&river, 1);
  check_holds(&raised, &paper_truth);
  check_near(raised.source.location_m, flat.source.location_m, 1.0 * place_sd(&flat));
  river.sensors[0].background_g_m3 = 0.012;
  river.sensors[1].background_g_m3 = 0.0031;
  const hw_estimate given = identify(&river, 1);
  check_holds(&given, &paper_truth);
  hw_river_free(&river);
}

/* Clean water reads 0.6 of the detection limit, give or take half of it: two thirds of the quiet readings are censored,
 * and the mean of the others is 1.3 limits. */
static void test_a_background_below_the_detection_limit_is_not_learned_too_high(void **state) {
  (void)state;
  const double limit = 4e-4, background = 0.6 * limit, noise = 0.5 * limit;
  hw_river river = two_sensors();
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].noise_absolute_g_m3 = noise;
    river.sensors[k].detection_limit_g_m3 = limit;
  }
  simulate(&river, &paper_truth, 23);
  size_t hidden = 0, seen = 0;
  double sum = 0;
  for (size_t i = 0; i < reading_count; i++) {
    const bool quiet = readings[i].sensor == 1 && readings[i].time_s < -4000;
    hw_reading *r = &readings[i];
    r->concentration_g_m3 += background;
    r->below_limit = r->concentration_g_m3 < limit;
    r->concentration_g_m3 = fmax(r->concentration_g_m3, limit);
    hidden += quiet && r->below_limit;
    seen += quiet && !r->below_limit;
    sum += quiet && !r->below_limit ? r->concentration_g_m3 : 0;
  }
  assert_true(hidden > 20 && seen > 3 && sum / (double)seen > 1.1 * limit);
  river.sensors[0].background_g_m3 = river.sensors[1].background_g_m3 = NAN;
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  check_holds(&e, &paper_truth);
  const double before = -8000;
  hw_range band;
  const hw_prediction prediction = {river.sensors[1].location_m, &before, 1, &band};
  assert_int_equal(hw_run_predict(run, &prediction), HW_OK);
  check_near(band.mid, background, 0.25 * limit); /* three times noise over the root of what 60 such readings tell */
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_a_source_between_sensors_is_found(void **state) {
  (void)state;
  hw_river river = two_sensors();
  river.search.hi.location_m = -500;
  const hw_source between = {1700, -9000, -11000};
  simulate(&river, &between, 10);
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  check_holds(&e, &between);
  assert_true(e.interval.lo.location_m > -14210.5); /* the silent sensor rules out everything above it */
  assert_true(has_warning(run, "sensor s1 never rose"));
  hw_run_free(run);
  hw_river_free(&river);
}

static void test_non_detects_are_evidence(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 11);
  size_t hidden = 0;
  for (size_t i = 0; i < reading_count; i++) {
    if (readings[i].concentration_g_m3 < 0.002) {
      readings[i].concentration_g_m3 = 0.002;
      readings[i].below_limit = true;
      hidden++;
    }
  }
  assert_true(hidden > 60);
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  /* nothing but non-detects: no spill is seen */
  river.search = (hw_box){{1000, -30000, -24000}, {3000, -14500, -8760}};
  for (size_t i = 0; i < reading_count; i++) {
    readings[i] = (hw_reading){readings[i].sensor, readings[i].time_s, 0.001, true, false};
  }
  const hw_estimate none = identify(&river, 1);
  assert_false(none.has_source);
  hw_river_free(&river);
}

static void test_uncertain_gains_widen_the_mass_and_free_the_place(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 12);
  const hw_estimate sure = identify(&river, 1);
  river.sensors[0].gain_factor = river.sensors[1].gain_factor = 1.25;
  for (size_t i = 0; i < reading_count; i++) {
    readings[i].concentration_g_m3 *= readings[i].sensor ? 0.85 : 1.2;
  }
  const hw_estimate doubtful = identify(&river, 1);
  check_holds(&doubtful, &paper_truth);
  assert_true(doubtful.interval.hi.mass_g - doubtful.interval.lo.mass_g >
              5 * (sure.interval.hi.mass_g - sure.interval.lo.mass_g));
  hw_river_free(&river);
}

/* Of two sensors nobody knows which of them it is: either is named. */
static void test_a_sensor_that_shows_too_little_is_told(void **state) {
  (void)state;
  const double noise = 5e-4;
  for (int broken = 0; broken < 2; broken++) {
    hw_river river = two_sensors();
    river.sensors[0].noise_absolute_g_m3 = river.sensors[1].noise_absolute_g_m3 = noise;
    river.sensors[1].location_m = -9000; /* where the whole pulse passes in time */
    simulate(&river, &paper_truth, 12);
    river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 80 / 60.0, 1.1, 1.06};
    river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 40.5, 1.5, 1.3};
    for (size_t i = 0; i < reading_count && broken; i++) {
      readings[i].concentration_g_m3 *= readings[i].sensor ? 0.7 : 1;
    }
    hw_run *run = run_all(&river, 1);
    answer(run);
    assert_int_equal(has_warning(run, "s1"), broken);
    assert_int_equal(has_warning(run, "s2"), broken);
    hw_run_free(run);
    hw_river_free(&river);
  }
}

/* A little too little to be a contradiction: the amounts alone tell. */
static void test_a_sensor_that_is_a_little_off_its_scale_is_told(void **state) {
  (void)state;
  for (int broken = 0; broken < 2; broken++) {
    hw_river river = two_sensors();
    river.sensor_count = 3;
    for (size_t k = 0; k < 3; k++) {
      river.sensors[k].background_g_m3 = 0;
      river.sensors[k].noise_relative = 0.1;
      river.sensors[k].noise_absolute_g_m3 = 3e-4;
      river.sensors[k].location_m = -14000 + 2500.0 * (double)k;
    }
    simulate(&river, &paper_truth, 12);
    river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 80 / 60.0, 1.1, 1.06};
    river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 40.5, 1.5, 1.3};
    for (size_t i = 0; i < reading_count && broken; i++) {
      readings[i].concentration_g_m3 *= readings[i].sensor == 1 ? 0.82 : 1;
    }
    hw_run *run = run_all(&river, 1);
    answer(run);
    assert_int_equal(has_warning(run, "sensor s2 shows 0.8"), broken);
    hw_run_free(run);
    hw_river_free(&river);
  }
}

/* Of two sensors one is dead, or tells in micrograms: its own noise gives it away, and the other is believed. One that
 * is only silent, below a limit, is outvoted by a plain pulse as well. */
static void test_a_broken_sensor_does_not_hide_the_other(void **state) {
  (void)state;
  static const struct {
    double gain, limit_g_m3;
    const char *told;
  } faults[] = {{0, 0, "s2 reads 0 g/m3 throughout"}, {1000, 0, "s2 scatters"}, {0, 2e-3, "s2 contradicts"}};
  for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
    hw_river river = two_sensors();
    river.sensors[0].noise_absolute_g_m3 = river.sensors[1].noise_absolute_g_m3 = 5e-4;
    river.sensors[1].location_m = -9000; /* where the whole pulse passes in time */
    simulate(&river, &paper_truth, 12);
    for (size_t i = 0; i < reading_count; i++) {
      hw_reading *r = &readings[i];
      r->concentration_g_m3 *= r->sensor ? faults[k].gain : 1;
      r->below_limit = r->concentration_g_m3 < faults[k].limit_g_m3;
      r->concentration_g_m3 = r->below_limit ? faults[k].limit_g_m3 : r->concentration_g_m3;
    }
    river.sensors[0].detection_limit_g_m3 = river.sensors[1].detection_limit_g_m3 = faults[k].limit_g_m3;
    hw_run *run = run_all(&river, 1);
    const hw_estimate e = answer(run);
    assert_true(e.trust != HW_TRUST_NONE);
    check_holds(&e, &paper_truth);
    assert_true(has_warning(run, faults[k].told));
    hw_run_free(run);
    hw_river_free(&river);
  }
}

static void test_unknown_hydraulics_are_inferred(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 13);
  river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.2, 1.2, 1};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 90, 3, 1};
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  check_near(e.velocity_m_s.mid, 80 / 60.0, 5 * (e.velocity_m_s.hi - e.velocity_m_s.lo) / 3.29);
  check_near(e.dispersion_m2_s.mid, 40.5, 5 * (e.dispersion_m2_s.hi - e.dispersion_m2_s.lo) / 3.29);
  assert_true(e.velocity_m_s.hi - e.velocity_m_s.lo < 0.05);
  hw_river_free(&river);
}

static void test_a_river_far_slower_than_thought_is_found(void **state) {
  (void)state;
  hw_source truth;
  hw_river river = slower_than_thought(&truth);
  for (uint64_t seed = 1; seed < 4; seed++) {
    const hw_estimate e = identify(&river, seed);
    check_holds(&e, &truth);
    check_near(e.velocity_m_s.mid, 0.757, 0.01);
  }
  hw_river_free(&river);
}

static void test_reaches_and_decay_are_followed(void **state) {
  (void)state;
  static hw_reach reaches[] = {{-19000, 1.7, 33, 48, 2e-6}, {-6000, 0.9, 52, 80, 1e-5}};
  hw_river river = two_sensors();
  river.reaches = reaches;
  river.reach_count = 2;
  simulate(&river, &paper_truth, 14);
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  hw_bound bound;
  assert_int_equal(hw_fisher_source(&river, &paper_truth, &(hw_schedule){-9000, 6000, 150}, NULL, &bound), HW_OK);
  check_near(place_sd(&e), bound.location_m, 0.25 * bound.location_m);
  river.reaches = NULL;
  hw_river_free(&river);
}

/* A reach's own doubt counts where its water is: above the sensors it widens the place, and there the sensors below
 * cannot correct it; below them it costs next to nothing. */
static void test_a_reach_is_as_doubtful_as_it_says(void **state) {
  (void)state;
  hw_river river = two_sensors();
  const hw_hydraulics *h = &river.hydraulics;
  hw_reach reaches[] = {{river.sensors[0].location_m,
                         h->velocity_m_s.value,
                         h->dispersion_m2_s.value,
                         h->area_m2,
                         h->decay_per_s,
                         h->area_m2 * h->velocity_m_s.value,
                         {0, 0},
                         {0, 0}},
                        {1e5,
                         h->velocity_m_s.value,
                         h->dispersion_m2_s.value,
                         h->area_m2,
                         h->decay_per_s,
                         h->area_m2 * h->velocity_m_s.value,
                         {0, 0},
                         {0, 0}}};
  river.reaches = reaches;
  river.reach_count = 2;
  simulate(&river, &paper_truth, 15);
  const hw_estimate sure = identify(&river, 1);
  const double known = place_sd(&sure);
  reaches[0].velocity_doubt = (hw_doubt){1.15, 0};
  reaches[0].dispersion_doubt = (hw_doubt){1.5, 0};
  const hw_estimate above = identify(&river, 1);
  check_holds(&above, &paper_truth);
  assert_true(place_sd(&above) > 3 * known);
  reaches[0].velocity_doubt = reaches[0].dispersion_doubt = (hw_doubt){0, 0};
  reaches[1].velocity_doubt = (hw_doubt){1.15, 0};
  reaches[1].dispersion_doubt = (hw_doubt){1.5, 0};
  const hw_estimate below = identify(&river, 1);
  check_holds(&below, &paper_truth);
  assert_true(place_sd(&below) < 3 * known);
  river.reaches = NULL;
  hw_river_free(&river);
}

static void test_relative_noise_and_an_estimated_floor(void **state) {
  (void)state;
  hw_river river = two_sensors();
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].noise_relative = 0.05;
    river.sensors[k].noise_absolute_g_m3 = 0.0003;
  }
  simulate(&river, &paper_truth, 15);
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].noise_absolute_g_m3 = 0; /* not told */
    river.sensors[k].background_g_m3 = NAN;
  }
  const hw_estimate e = identify(&river, 1);
  check_holds(&e, &paper_truth);
  assert_true(place_sd(&e) < 600);
  hw_river_free(&river);
}

static void test_degenerate_boxes_fix_what_is_known(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 16);
  river.search.lo.location_m = river.search.hi.location_m = paper_truth.location_m;
  const hw_estimate place = identify(&river, 1);
  assert_true(place.source.location_m == paper_truth.location_m);
  check_holds(&place, &paper_truth);
  hw_river_free(&river);
  river = two_sensors();
  river.search.lo.time_s = river.search.hi.time_s = paper_truth.time_s;
  river.search.lo.mass_g = river.search.hi.mass_g = paper_truth.mass_g;
  const hw_estimate time = identify(&river, 1);
  assert_true(time.source.time_s == paper_truth.time_s && time.source.mass_g == paper_truth.mass_g);
  check_near(time.source.location_m, paper_truth.location_m, 5 * place_sd(&time));
  hw_river_free(&river);
}

/* An accident whose time and place are all but known: hardly any draw about the pulse would fall into such a box. */
/* The level rises and falls once at all sensors, kilometres apart, at the same moment: no water does that. */
static void test_a_daily_cycle_is_no_release(void **state) {
  (void)state;
  static const char text[] =
      "hydraulics: {velocity_m_s: 0.56, dispersion_m2_s: 11.4, discharge_m3_s: 2.12}\n"
      "search: {mass_g: [1000, 100000], location_m: [-24000, -480], time_s: [0, 86400]}\n"
      "sensors:\n"
      "  - {id: s1, location_m: 0, noise_relative: 0.05, noise_absolute_g_m3: 0.00624}\n"
      "  - {id: s2, location_m: 2632, noise_relative: 0.05, noise_absolute_g_m3: 0.00624}\n"
      "  - {id: s3, location_m: 7632, noise_relative: 0.05, noise_absolute_g_m3: 0.00624}\n"
      "  - {id: s4, location_m: 16322, noise_relative: 0.05, noise_absolute_g_m3: 0.00624}\n";
  hw_river river;
  hw_error error;
  assert_int_equal(hw_river_parse("r.yaml", text, strlen(text), NULL, NULL, &river, &error), HW_OK);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    hw_rng rng;
    hw_rng_seed(&rng, seed, 0);
    reading_count = 0;
    for (double t = 17100; t <= 95100; t += 600) {
      for (size_t k = 0; k < river.sensor_count; k++) {
        const double c = 0.31 + 0.19 * cos(2 * 3.14159265358979 * (t - 43500) / 86400) + 0.00624 * hw_rng_normal(&rng);
        readings[reading_count++] = (hw_reading){.sensor = k, .time_s = t + 37 * (double)k, .concentration_g_m3 = c};
      }
    }
    const hw_estimate e = identify(&river, 1);
    assert_false(e.has_source);
    assert_int_equal(e.trust, HW_TRUST_NONE);
  }
  hw_river_free(&river);
}

static void test_a_small_box_is_searched_inside(void **state) {
  (void)state;
  static const struct {
    double length_m, span_s, factor;
  } boxes[] = {{15000, 1, 1}, {0.01, 15240, 1}, {80, 600, 1.15}, {0.01, 1, 1.15}, {15000, 1, 1.15}};
  for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
    hw_river river = two_sensors();
    simulate(&river, &paper_truth, 31);
    if (boxes[i].factor > 1) {
      const double off = sqrt(boxes[i].factor);
      river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 80 / 60.0 / off, boxes[i].factor};
      river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 40.5 * off, boxes[i].factor};
    }
    river.search.lo.location_m = fmax(paper_truth.location_m - 0.3 * boxes[i].length_m, -30000);
    river.search.hi.location_m = fmin(river.search.lo.location_m + boxes[i].length_m, -15000);
    river.search.lo.time_s = paper_truth.time_s - 0.4 * boxes[i].span_s;
    river.search.hi.time_s = river.search.lo.time_s + boxes[i].span_s;
    const hw_estimate e = identify(&river, 1), again = identify(&river, 1);
    check_holds(&e, &paper_truth);
    assert_true(e.source.location_m == again.source.location_m && e.source.time_s == again.source.time_s);
    river.search.lo.time_s -= 40000; /* another time holds releases enough, but none that was seen */
    river.search.hi.time_s = river.search.lo.time_s + boxes[i].span_s;
    assert_int_equal(identify(&river, 1).trust, HW_TRUST_NONE);
    hw_river_free(&river);
  }
}

static void test_a_box_that_cuts_the_answer_off_is_reported(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 17);
  river.search.lo.location_m = -22050; /* the truth lies just outside */
  hw_run *run = run_all(&river, 1);
  assert_true(has_warning(run, "upstream than"));
  hw_run_free(run);
  river.search.lo.location_m = -19000; /* far outside */
  const hw_estimate e = identify(&river, 1);
  assert_int_equal(e.trust, HW_TRUST_NONE);
  hw_river_free(&river);
}

static void test_arrivals_and_bands_follow_the_truth(void **state) {
  (void)state;
  hw_river river = two_sensors();
  simulate(&river, &paper_truth, 18);
  static hw_intake intakes[2] = {{.id = "reno", .location_m = 21999.7, .alarm_g_m3 = 0.004},
                                 {.id = "above", .location_m = -60000}};
  river.intakes = intakes;
  river.intake_count = 2;
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  assert_int_equal(e.arrival_count, 1);
  const hw_arrival a = e.arrivals[0];
  double best = 0, when = 0, first = NAN, last = NAN;
  for (double t = 0; t < 40000; t += 5) {
    double c = 0;
    hw_transport *transport = NULL;
    assert_int_equal(hw_transport_create(&river, NULL, &transport), HW_OK);
    hw_transport_concentration(transport, &paper_truth, 21999.7, t, &c);
    hw_transport_free(transport);
    first = isnan(first) && c > 0.004 ? t : first;
    last = c > 0.004 ? t : last;
    when = c > best ? t : when;
    best = fmax(best, c);
  }
  check_near(a.peak_s.mid, when, 2 * (a.peak_s.hi - a.peak_s.lo) + 5);
  check_near(a.first_s.mid, first, 2 * (a.first_s.hi - a.first_s.lo) + 5);
  check_near(a.last_s.mid, last, 2 * (a.last_s.hi - a.last_s.lo) + 5);
  check_near(a.peak_g_m3.mid, best, 2 * (a.peak_g_m3.hi - a.peak_g_m3.lo));
  check_near(a.exceeds_alarm, 1, 1e-12);
  hw_range band;
  const hw_prediction prediction = {21999.7, &when, 1, &band};
  assert_int_equal(hw_run_predict(run, &prediction), HW_OK);
  assert_true(band.lo <= band.mid && band.mid <= band.hi);
  check_near(band.mid, best, 2 * (band.hi - band.lo));
  hw_run_free(run);
  river.intakes = NULL;
  hw_river_free(&river);
}

/* Water that all of it is somewhat slower than the river file says, or each stretch by itself: what is true, and what
 * is believed. The level is not known. */
static hw_river doubtful(double local_v, double local_d, size_t sensors, hw_river *truly) {
  *truly = two_sensors();
  truly->sensor_count = sensors;
  for (size_t k = 0; k < sensors; k++) {
    truly->sensors[k].noise_absolute_g_m3 = 1e-4;
    truly->sensors[k].noise_relative = k == 1 ? 0.05 : 0;
  }
  hw_river river = *truly;
  river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.4, 1.15, local_v};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 36, 1.3, local_d};
  river.sensors = calloc(sensors, sizeof *river.sensors);
  for (size_t k = 0; k < sensors; k++) {
    river.sensors[k] = truly->sensors[k];
    river.sensors[k].background_g_m3 = NAN;
  }
  return river;
}

/* The sensors read all along but for the second, of which there are these readings only. */
static void sample(const hw_river *truly, uint64_t seed, const double *at_s, size_t count, double times) {
  simulate(truly, &paper_truth, seed);
  size_t n = 0;
  for (size_t i = 0; i < reading_count; i++) {
    bool kept = readings[i].sensor != 1;
    for (size_t k = 0; k < count; k++) {
      kept = kept || !(fabs(readings[i].time_s - at_s[k]) > 1);
    }
    if (kept) {
      readings[n] = readings[i];
      readings[n++].concentration_g_m3 *= readings[i].sensor == 1 ? times : 1;
    }
  }
  reading_count = n;
}

/* One sensor, read ever more often. What is then known to the second and to the gram is no accident of the sensor's. */
static void test_a_plain_pulse_is_a_spill_however_often_it_is_read(void **state) {
  (void)state;
  static const double every_s[] = {120, 20, 5};
  for (size_t i = 0; i < sizeof every_s / sizeof every_s[0]; i++) {
    hw_river truly, river = doubtful(0, 0, 1, &truly);
    truly.sensors[0].noise_relative = river.sensors[0].noise_relative = 0.05;
    truly.sensors[0].noise_absolute_g_m3 = river.sensors[0].noise_absolute_g_m3 = 2e-5;
    hw_rng rng;
    hw_rng_seed(&rng, 37, i);
    reading_count = 0;
    for (double t = -9000; t <= 6000; t += every_s[i]) {
      const double c = concentration(&truly, &paper_truth, 0, t), sd = hypot(2e-5, 0.05 * c);
      readings[reading_count++] = (hw_reading){0, t, c + sd * hw_rng_normal(&rng), false, false};
    }
    const hw_estimate e = identify(&river, 1);
    check_holds(&e, &paper_truth);
    assert_int_equal(e.trust, HW_TRUST_FULL);
    assert_true(e.spill > 0.999);
    hw_river_free(&river);
    free(truly.sensors);
  }
}

/* Readings in another unit, or a box for another kind of spill: no place or time mends that. */
static void test_masses_beyond_the_box_are_told_and_not_pressed_into_it(void **state) {
  (void)state;
  static const struct {
    double lo_g, hi_g, times;
    const char *reason;
  } cases[] = {{1000, 3000, 1000, "more than the search box allows"},
               {37, 370, 1, "more than the search box allows"},
               {5200, 142000, 1, "less than the search box allows"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hw_river truly, river = doubtful(1.08, 1.2, 2, &truly);
    river.search.lo.mass_g = cases[i].lo_g;
    river.search.hi.mass_g = cases[i].hi_g;
    simulate(&truly, &paper_truth, 14);
    for (size_t k = 0; k < reading_count; k++) {
      readings[k].concentration_g_m3 *= cases[i].times;
    }
    hw_run *run = run_all(&river, 1);
    const hw_estimate e = answer(run);
    assert_false(e.has_source);
    assert_int_equal(e.trust, HW_TRUST_NONE);
    assert_non_null(strstr(e.trust_reason, cases[i].reason));
    hw_run_free(run);
    hw_river_free(&river);
    free(truly.sensors);
  }
}

static void test_a_grab_sample_narrows_the_answer(void **state) {
  (void)state;
  static const double rise_s = 2250, top_s = 3600, both_s[] = {2250, 3600};
  static const struct {
    const double *at_s;
    size_t count, sensors;
    double local_v, local_d, narrower; /* in ln of the width, with some room */
  } kinds[] = {{&rise_s, 1, 2, 1, 1, 0.4},
               {&top_s, 1, 2, 1, 1, 0.4},
               {&rise_s, 1, 2, 1.08, 1.2, 0.04},
               {both_s, 2, 2, 1.08, 1.2, 0.12},
               {&top_s, 1, 3, 1.08, 1.2, 0.05}}; /* between two sensors */
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    double narrower = 0;
    for (uint64_t seed = 41; seed <= 42; seed++) {
      hw_river truly, river = doubtful(kinds[i].local_v, kinds[i].local_d, kinds[i].sensors, &truly);
      sample(&truly, seed, NULL, 0, 1);
      const hw_estimate before = identify(&river, 1);
      sample(&truly, seed, kinds[i].at_s, kinds[i].count, 1);
      const hw_estimate after = identify(&river, 1);
      check_holds(&before, &paper_truth);
      check_holds(&after, &paper_truth);
      narrower += 0.5 * log(place_sd(&before) / place_sd(&after));
      hw_river_free(&river);
      free(truly.sensors);
    }
    assert_true(narrower > kinds[i].narrower);
  }
}

static void test_a_mistaken_grab_sample_is_told_and_does_not_mislead(void **state) {
  (void)state;
  static const double top_s = 3600;
  hw_river truly, river = doubtful(1.08, 1.2, 2, &truly);
  sample(&truly, 43, &top_s, 1, 40);
  hw_run *run = run_all(&river, 1);
  const hw_estimate e = answer(run);
  check_holds(&e, &paper_truth);
  assert_true(has_warning(run, "sensor s2"));
  hw_run_free(run);
  hw_river_free(&river);
  free(truly.sensors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_plain_pulse_is_a_spill_however_often_it_is_read),
      cmocka_unit_test(test_masses_beyond_the_box_are_told_and_not_pressed_into_it),
      cmocka_unit_test(test_a_grab_sample_narrows_the_answer),
      cmocka_unit_test(test_a_mistaken_grab_sample_is_told_and_does_not_mislead),
      cmocka_unit_test(test_a_learned_background_is_taken_off),
      cmocka_unit_test(test_a_background_below_the_detection_limit_is_not_learned_too_high),
      cmocka_unit_test(test_a_source_between_sensors_is_found),
      cmocka_unit_test(test_non_detects_are_evidence),
      cmocka_unit_test(test_uncertain_gains_widen_the_mass_and_free_the_place),
      cmocka_unit_test(test_a_sensor_that_shows_too_little_is_told),
      cmocka_unit_test(test_a_sensor_that_is_a_little_off_its_scale_is_told),
      cmocka_unit_test(test_a_broken_sensor_does_not_hide_the_other),
      cmocka_unit_test(test_unknown_hydraulics_are_inferred),
      cmocka_unit_test(test_a_river_far_slower_than_thought_is_found),
      cmocka_unit_test(test_reaches_and_decay_are_followed),
      cmocka_unit_test(test_a_reach_is_as_doubtful_as_it_says),
      cmocka_unit_test(test_relative_noise_and_an_estimated_floor),
      cmocka_unit_test(test_degenerate_boxes_fix_what_is_known),
      cmocka_unit_test(test_a_daily_cycle_is_no_release),
      cmocka_unit_test(test_a_small_box_is_searched_inside),
      cmocka_unit_test(test_a_box_that_cuts_the_answer_off_is_reported),
      cmocka_unit_test(test_arrivals_and_bands_follow_the_truth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Two trusted sensors on the paper's river, readings made by the model, and the engine run over them: what the tests of
 * the engine share. */
#ifndef TESTS_TWO_SENSORS_H
#define TESTS_TWO_SENSORS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "paper_river.h"

enum { MOST = 4000 };
static hw_reading readings[MOST];
static size_t reading_count;

/* The paper's river with two sensors, both trusted: background 0, noise absolute. */
static inline hw_river two_sensors(void) {
  hw_river river = paper_river();
  river.sensor_count = 2;
  for (size_t k = 0; k < 2; k++) {
    river.sensors[k].background_g_m3 = 0;
    river.sensors[k].noise_relative = 0;
    river.sensors[k].noise_absolute_g_m3 = 1e-4;
  }
  return river;
}

static inline double concentration(const hw_river *river, const hw_source *source, size_t sensor, double time_s) {
  hw_transport *transport = NULL;
  double c = 0;
  assert_int_equal(hw_transport_create(river, NULL, &transport), HW_OK);
  hw_transport_concentration(transport, source, river->sensors[sensor].location_m, time_s, &c);
  hw_transport_free(transport);
  return c;
}

/* All sensors read every 150 s from -9000 to 6000 s, with the noise the river states. */
static inline void simulate(const hw_river *river, const hw_source *source, uint64_t seed) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, 0);
  reading_count = 0;
  for (double t = -9000; t <= 6000; t += 150) {
    for (size_t k = 0; k < river->sensor_count; k++) {
      const hw_sensor *s = &river->sensors[k];
      const double c = concentration(river, source, k, t);
      const double sd = hypot(s->noise_absolute_g_m3, s->noise_relative * c);
      readings[reading_count++] = (hw_reading){k, t, c + sd * hw_rng_normal(&rng), false, false};
    }
  }
}

static inline hw_run *start(const hw_river *river, uint64_t seed) {
  hw_run *run = NULL;
  const hw_problem problem = {.river = river};
  const hw_options options = {.seed = seed};
  assert_int_equal(hw_run_create(hw_method_find("posterior"), &problem, &options, &run), HW_OK);
  return run;
}

static inline hw_run *run_all(const hw_river *river, uint64_t seed) {
  hw_run *run = start(river, seed);
  for (size_t i = 0; i < reading_count; i++) {
    assert_int_equal(hw_run_observe(run, &readings[i]), HW_OK);
  }
  return run;
}

static inline hw_estimate answer(hw_run *run) {
  hw_estimate e;
  assert_int_equal(hw_run_estimate(run, &e), HW_OK);
  assert_true(!e.has_source ||
              (isfinite(e.interval.lo.mass_g) && isfinite(e.interval.hi.location_m) && isfinite(e.interval.hi.time_s)));
  return e;
}

static inline hw_estimate identify(const hw_river *river, uint64_t seed) {
  hw_run *run = run_all(river, seed);
  const hw_estimate e = answer(run);
  hw_run_free(run);
  return e; /* its arrays are gone; only numbers are used */
}

static inline double place_sd(const hw_estimate *e) {
  return (e->interval.hi.location_m - e->interval.lo.location_m) / 3.29;
}

static inline void check_holds(const hw_estimate *e, const hw_source *truth) {
  assert_true(e->has_source);
  /* Within five posterior standard deviations: a sound posterior fails this once in a million. */
  check_near(e->source.location_m, truth->location_m, 5 * place_sd(e));
  check_near(e->source.mass_g, truth->mass_g, 5 * (e->interval.hi.mass_g - e->interval.lo.mass_g) / 3.29);
  check_near(e->source.time_s, truth->time_s, 5 * (e->interval.hi.time_s - e->interval.lo.time_s) / 3.29);
}

static inline bool has_warning(hw_run *run, const char *part) {
  const hw_estimate e = answer(run);
  for (size_t i = 0; i < e.warning_count; i++) {
    if (strstr(e.warnings[i], part)) {
      return true;
    }
  }
  return false;
}

/* Three standard deviations slower than thought, and the second sensor read only when a plume at the stated speed had
 * passed. */
static inline hw_river slower_than_thought(hw_source *truth) {
  hw_river river = two_sensors();
  *truth = (hw_source){12516, -11232, -3183};
  river.search = (hw_box){{500, -30000, -20000}, {40000, -1000, 20000}};
  river.hydraulics =
      (hw_hydraulics){.velocity_m_s = {HW_KNOWN, 0.757, 1}, .dispersion_m2_s = {HW_KNOWN, 3.6, 1}, .area_m2 = 40};
  river.sensors[0].location_m = 0;
  river.sensors[1].location_m = 6370;
  river.sensors[0].noise_absolute_g_m3 = river.sensors[1].noise_absolute_g_m3 = 3e-3;
  hw_rng rng;
  hw_rng_seed(&rng, 20, 0);
  reading_count = 0;
  for (size_t i = 0; i < 80; i++) {
    const double t = i < 40 ? 9885 + 102.0 * (double)i : 17853 + 127.5 * (double)(i - 40);
    const double c = concentration(&river, truth, i / 40, t) + 3e-3 * hw_rng_normal(&rng);
    readings[reading_count++] = (hw_reading){i / 40, t, c, false, false};
  }
  river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.3587, 1.2, 1};
  river.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 25, 3, 1};
  return river;
}

#endif

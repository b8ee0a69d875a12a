#include "scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_STEPS = 80 }; /* readings of one sensor */

static double between(hw_rng *rng, double lo, double hi) {
  return lo + (hi - lo) * hw_rng_uniform(rng);
}

static double between_log(hw_rng *rng, double lo, double hi) {
  return exp(between(rng, log(lo), log(hi)));
}

static void make_river(hw_rng *rng, hw_river *river, const hw_source *truth) {
  hw_river_init(river);
  snprintf(river->name, sizeof river->name, "random");
  river->hydraulics.velocity_m_s = (hw_quantity){HW_KNOWN, between_log(rng, 0.3, 2), 1};
  river->hydraulics.dispersion_m2_s = (hw_quantity){HW_KNOWN, between_log(rng, 5, 100), 1};
  river->hydraulics.area_m2 = between_log(rng, 5, 100);
  river->sensor_count = 2 + (size_t)(4 * hw_rng_uniform(rng));
  river->sensors = calloc(river->sensor_count, sizeof *river->sensors);
  double place = truth->location_m + between(rng, 4000, 20000);
  for (size_t i = 0; i < river->sensor_count; i++) {
    hw_sensor *s = &river->sensors[i];
    hw_sensor_init(s);
    snprintf(s->id, sizeof s->id, "s%zu", i + 1);
    s->location_m = place;
    place += between(rng, 3000, 12000);
  }
  /* The truth anywhere between a tenth and nine tenths of each side; the box ends above the first sensor. */
  const double first_m = river->sensors[0].location_m;
  const double share = between(rng, 0.1, 0.9), reach_m = (first_m - truth->location_m) * between(rng, 0.2, 0.9);
  const double length_m = reach_m / share,
               span_s = length_m / river->hydraulics.velocity_m_s.value * between(rng, 1, 2);
  const double time_share = between(rng, 0.1, 0.9), mass_share = between(rng, 0.1, 0.9);
  const double mass_span = 2 * truth->mass_g;
  const double mass_lo = fmax(truth->mass_g - mass_share * mass_span, 0.05 * truth->mass_g);
  river->search.lo = (hw_source){mass_lo, truth->location_m + reach_m - length_m, truth->time_s - time_share * span_s};
  river->search.hi =
      (hw_source){mass_lo + mass_span, truth->location_m + reach_m, truth->time_s + (1 - time_share) * span_s};
}

static int by_time(const void *a, const void *b) {
  const double x = ((const hw_reading *)a)->time_s, y = ((const hw_reading *)b)->time_s;
  return (x > y) - (x < y);
}

/* One reading as the model has it; noise comes at the end. */
static void add_reading(scenario *s, const hw_transport *transport, size_t sensor, double time_s) {
  double c = 0;
  hw_transport_concentration(transport, &s->truth, s->river.sensors[sensor].location_m, time_s, &c);
  s->readings[s->count++] = (hw_reading){sensor, time_s, c, false, false};
}

/* When the pulse passes a sensor: from 3.5 widths before its centre to 4.5 behind. */
static void pulse_times(const scenario *s, const hw_transport *transport, size_t sensor, double *from, double *to) {
  const hw_leg leg = hw_transport_leg(transport, s->truth.location_m, s->river.sensors[sensor].location_m);
  const double width = sqrt(leg.travel_s / leg.sharpness_per_s);
  *from = s->truth.time_s + fmax(leg.travel_s - 3.5 * width, 0.05 * leg.travel_s);
  *to = s->truth.time_s + leg.travel_s + 4.5 * width;
}

/* As in a field study: people sample while the pulse passes. */
static void sample_pulses(scenario *s, const hw_transport *transport, size_t per_pulse) {
  for (size_t m = 0; m < s->river.sensor_count; m++) {
    double from, to;
    pulse_times(s, transport, m, &from, &to);
    for (size_t i = 0; i < per_pulse; i++) {
      add_reading(s, transport, m, from + (to - from) * (double)i / (double)(per_pulse - 1));
    }
  }
}

/* As in a network: every sensor speaks at every step, from before the release until the last pulse has passed. */
static void sample_all(scenario *s, const hw_transport *transport, size_t per_pulse) {
  double from, to, end;
  pulse_times(s, transport, s->river.sensor_count - 1, &from, &end);
  pulse_times(s, transport, 0, &from, &to);
  const double step = fmax((to - from) / (double)per_pulse, (end - s->truth.time_s) / (MOST_STEPS - 6));
  for (double t = s->truth.time_s - 5 * step; t <= end; t += step) {
    for (size_t m = 0; m < s->river.sensor_count; m++) {
      add_reading(s, transport, m, t);
    }
  }
}

static void make_readings(hw_rng *rng, scenario *s, double noise_relative) {
  hw_transport *transport = NULL;
  const size_t per_pulse = 12 + (size_t)(19 * hw_rng_uniform(rng));
  s->readings = calloc(s->river.sensor_count * MOST_STEPS, sizeof *s->readings);
  if (!s->readings || hw_transport_create(&s->river, NULL, &transport) != HW_OK) {
    abort();
  }
  if (hw_rng_uniform(rng) < 0.5) {
    sample_pulses(s, transport, per_pulse);
  } else {
    sample_all(s, transport, per_pulse);
  }
  double largest = 0;
  for (size_t i = 0; i < s->count; i++) {
    largest = fmax(largest, s->readings[i].concentration_g_m3);
  }
  for (size_t i = 0; i < s->count; i++) {
    double *c = &s->readings[i].concentration_g_m3;
    *c = fmax(*c * (1 + noise_relative * hw_rng_normal(rng)) + 1e-3 * largest * hw_rng_normal(rng), 0);
  }
  qsort(s->readings, s->count, sizeof *s->readings, by_time);
  hw_transport_free(transport);
}

void scenario_make(uint64_t seed, uint64_t index, double noise_relative, scenario *out) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, index);
  *out = (scenario){0};
  out->truth = (hw_source){between_log(&rng, 100, 20000), between(&rng, -30000, -10000), between(&rng, -20000, 0)};
  make_river(&rng, &out->river, &out->truth);
  make_readings(&rng, out, noise_relative);
}

void scenario_free(scenario *s) {
  free(s->readings);
  hw_river_free(&s->river);
}

/* Tracer releases in real rivers: the first sensor is read, and samples are readings of the others. */
#include <math.h>
#include <stdio.h>

#include "advise/trial.h"

enum { DECOYS = 4, TIMES = 48 };

/* Of the bottles at the rank-th sensor below: the one nearest to the peak that is expected there. */
static hw_bottle at_sensor(const trial *t, const release *r, size_t rank) {
  const size_t others = r->river.sensor_count - 1;
  const size_t sensor = 1 + (rank < others ? rank : others - 1);
  const double x_m = r->river.sensors[sensor].location_m;
  double times[BOTTLES_MOST];
  hw_bottle here[BOTTLES_MOST];
  size_t n = 0;
  for (size_t i = 0; i < t->count; i++) {
    if (t->bottles[i].location_m == x_m) {
      here[n] = t->bottles[i];
      times[n++] = t->bottles[i].time_s;
    }
  }
  if (n == 0) {
    return t->bottles[0];
  }
  const double peak = expected_peak(t->run, 0, x_m, times, n);
  size_t best = 0;
  for (size_t i = 0; i < n; i++) {
    best = fabs(here[i].time_s - peak) < fabs(here[best].time_s - peak) ? i : best;
  }
  return here[best];
}

/* What would have been read at one sensor at any time: between two readings on the line; nothing before the first, as
 * samplers begin before it comes, nor after the last, where less than a tenth of the peak was left. NAN: not known. */
static double reading_then(const release *r, size_t sensor, double time_s) {
  const hw_reading *before = NULL, *behind = NULL;
  double peak = 0;
  for (size_t i = 0; i < r->count; i++) {
    const hw_reading *one = &r->readings[i];
    if (one->sensor == sensor) {
      peak = fmax(peak, one->concentration_g_m3);
      before = one->time_s <= time_s && (!before || one->time_s > before->time_s) ? one : before;
      behind = one->time_s > time_s && (!behind || one->time_s < behind->time_s) ? one : behind;
    }
  }
  if (before && behind) {
    const double share = (time_s - before->time_s) / (behind->time_s - before->time_s);
    return before->concentration_g_m3 + share * (behind->concentration_g_m3 - before->concentration_g_m3);
  }
  const hw_reading *end = before ? before : behind;
  return end && end->concentration_g_m3 < 0.1 * peak ? 0 : (double)NAN;
}

/* At the other sensors, from now until the last of them has been read. */
static void offer_bottles(const release *r, trial *t) {
  double last_s = t->now_s;
  for (size_t i = 0; i < r->count; i++) {
    last_s = fmax(last_s, r->readings[i].time_s);
  }
  for (size_t s = 1; s < r->river.sensor_count; s++) {
    for (size_t k = 1; k <= TIMES && t->count < BOTTLES_MOST; k++) {
      hw_bottle b = {0, r->river.sensors[s].location_m, t->now_s + (last_s - t->now_s) * (double)k / TIMES, 0};
      b.concentration_g_m3 = reading_then(r, s, b.time_s);
      t->bottles[t->count] = b;
      t->count += isfinite(b.concentration_g_m3) ? 1 : 0;
    }
  }
}

void judge_release(const release *r, hw_rng *rng, results *all) {
  hw_river river = r->river;
  river.sensor_count = 1;
  hw_candidate candidates[1 + DECOYS] = {{.id = "truth", .location_m = r->truth.location_m}};
  const double first_m = r->river.sensors[0].location_m, d = first_m - r->truth.location_m;
  for (size_t i = 1; i <= DECOYS; i++) {
    candidates[i].location_m = first_m - d * exp((hw_rng_uniform(rng) - 0.5) * 3);
    snprintf(candidates[i].id, sizeof candidates[i].id, "decoy%zu", i);
  }
  river.candidates = candidates;
  river.candidate_count = 1 + DECOYS;
  trial t = {.river = &river, .now_s = half_fallen(r->readings, r->count, 0), .truth = r->truth};
  const hw_problem problem = {.river = &river};
  const hw_options options = {.threads = 1};
  if (r->river.sensor_count < 2 || !isfinite(t.now_s) ||
      hw_run_create(hw_method_find("posterior"), &problem, &options, &t.run) != HW_OK) {
    return;
  }
  for (size_t i = 0; i < r->count; i++) {
    const hw_reading *reading = &r->readings[i];
    if (reading->sensor == 0 && reading->time_s <= t.now_s) {
      hw_run_observe(t.run, reading);
    }
  }
  offer_bottles(r, &t);
  hw_estimate e;
  if (t.count && hw_run_estimate(t.run, &e) == HW_OK) {
    for (size_t rule = 0; rule < RULES; rule++) {
      t.fixed[rule] = at_sensor(&t, r, rule);
    }
    trial_judge(&t, NULL, NULL, all);
  }
  hw_run_free(t.run);
}

/* Spills in networks of rivers, through velocities and dispersions that the river file leaves in doubt. */
#include <math.h>

#include "advice/inside.h"
#include "advise/trial.h"

typedef struct {
  hw_spill *spill;
  double noise_relative;
  hw_rng rng;
} simulated;

static double simulated_reading(void *context, const hw_bottle *b) {
  simulated *s = context;
  const double c = hw_spill_concentration(s->spill, b->branch, b->location_m, b->time_s);
  return c * (1 + s->noise_relative * hw_rng_normal(&s->rng));
}

/* The true river: every reach differs from the file by a common factor and by one of its own. */
static void disturb(hw_river *river, hw_rng *rng) {
  const hw_hydraulics *h = &river->hydraulics;
  const double v = log(h->velocity_m_s.factor), d = log(h->dispersion_m2_s.factor);
  const double common_v = exp(0.8 * v * hw_rng_normal(rng)), common_d = exp(0.8 * d * hw_rng_normal(rng));
  for (size_t b = 0; b < river->branch_count; b++) {
    for (size_t i = 0; i < river->branches[b].reach_count; i++) {
      river->branches[b].reaches[i].velocity_m_s *= common_v * exp(0.6 * v * hw_rng_normal(rng));
      river->branches[b].reaches[i].dispersion_m2_s *= common_d * exp(0.6 * d * hw_rng_normal(rng));
    }
  }
  river->flow_count = 0;
}

/* All sensors every ten minutes. Returned: how many readings. */
static size_t simulate(const hw_river *river, simulated *s, double from_s, double to_s, hw_reading *out) {
  size_t n = 0;
  for (double t = from_s; t < to_s; t += 600) {
    for (size_t i = 0; i < river->sensor_count && n < READINGS_MOST; i++) {
      const hw_sensor *sensor = &river->sensors[i];
      const double c = hw_spill_concentration(s->spill, sensor->branch, sensor->location_m, t);
      const double read = c * (1 + sensor->noise_relative * hw_rng_normal(&s->rng)) +
                          sensor->noise_absolute_g_m3 * hw_rng_normal(&s->rng);
      const bool below = read < sensor->detection_limit_g_m3;
      out[n++] = (hw_reading){.sensor = i,
                              .time_s = t,
                              .concentration_g_m3 = below ? sensor->detection_limit_g_m3 : read,
                              .below_limit = below};
    }
  }
  return n;
}

/* Fixed rules: some distance downstream of the sensor that saw the pulse, when the peak is expected there. */
static void fix_rules(trial *t, const hw_river *river, size_t seen, simulated *s) {
  static const double below_m[RULES] = {2500, 5000, 10000};
  const hw_sensor *sensor = &river->sensors[seen];
  for (size_t r = 0; r < RULES; r++) {
    hw_bottle b = {.branch = sensor->branch, .location_m = sensor->location_m + below_m[r]};
    while (b.location_m > 0 && river->branches[b.branch].joins != HW_OUTLET) {
      b.location_m += river->branches[b.branch].joins_at_m;
      b.branch = river->branches[b.branch].joins;
    }
    double times[96];
    for (size_t i = 0; i < 96; i++) {
      times[i] = t->now_s + 900 * (double)i;
    }
    b.time_s = expected_peak(t->run, b.branch, b.location_m, times, 96);
    b.concentration_g_m3 = simulated_reading(s, &b);
    t->fixed[r] = b;
  }
}

/* Places and times as the advice could have chosen them, at random. */
static void random_bottles(trial *t, const hw_river *river, simulated *s, hw_rng *rng) {
  const hw_advice_options options = {.now_s = t->now_s, .most = 48};
  hw_advice *advice = NULL;
  hw_error error;
  if (hw_advise(t->run, river, &options, &advice, &error) != HW_OK) {
    return;
  }
  hw__place_ahead places[HW__PLACES_MOST];
  const size_t count = hw__places_ahead(&advice->ahead, river, places);
  for (t->count = 0; t->count < 40 && count; t->count++) {
    const hw__place_ahead *p = &places[(size_t)(hw_rng_uniform(rng) * (double)count)];
    hw_bottle b = {p->branch, p->x_m, t->now_s + 43200 * hw_rng_uniform(rng), 0};
    b.concentration_g_m3 = simulated_reading(s, &b);
    t->bottles[t->count] = b;
  }
  hw_advice_free(advice);
}

/* Readings up to now: until the first sensor has seen the pulse fall to half. Returned: that sensor. */
static size_t observe_until_half(trial *t, const hw_reading *readings, size_t count) {
  size_t seen = 0;
  for (size_t i = 0; i < t->river->sensor_count; i++) {
    const double half = half_fallen(readings, count, i);
    if (isfinite(half) && half < t->now_s) {
      t->now_s = half;
      seen = i;
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (readings[i].time_s <= t->now_s) {
      hw_run_observe(t->run, &readings[i]);
    }
  }
  return seen;
}

void judge_network(const char *path, uint64_t seed, hw_reading *readings, results *all) {
  hw_river river, real;
  hw_error error;
  hw_rng rng;
  hw_rng_seed(&rng, seed, 0x5EED);
  if (hw_river_load(path, NULL, NULL, &river, &error) != HW_OK) {
    return;
  }
  if (hw_river_load(path, NULL, NULL, &real, &error) != HW_OK) {
    hw_river_free(&river);
    return;
  }
  river.flow_count = 0;
  disturb(&real, &rng);
  const hw_candidate *c = &river.candidates[(size_t)(hw_rng_uniform(&rng) * (double)river.candidate_count)];
  const hw_source truth = {500 * exp(2 * hw_rng_uniform(&rng)), c->location_m, 0, c->branch};
  simulated s = {.noise_relative = 0.04, .rng = rng};
  trial t = {.river = &river, .now_s = INFINITY, .truth = truth};
  const hw_problem problem = {.river = &river};
  const hw_options options = {.threads = 1, .seed = seed};
  if (hw_spill_create(&real, &truth, 0, &s.spill) == HW_OK &&
      hw_run_create(hw_method_find("posterior"), &problem, &options, &t.run) == HW_OK) {
    const size_t n = simulate(&real, &s, -7200, 172800, readings);
    const size_t seen = observe_until_half(&t, readings, n);
    hw_estimate e;
    if (isfinite(t.now_s) && hw_run_estimate(t.run, &e) == HW_OK && e.has_source) {
      fix_rules(&t, &river, seen, &s);
      random_bottles(&t, &river, &s, &rng);
      trial_judge(&t, simulated_reading, &s, all);
    } else {
      all->refused++;
    }
  }
  hw_run_free(t.run);
  hw_spill_free(s.spill);
  hw_river_free(&river);
  hw_river_free(&real);
}

#include "weeks/ideal.h"

#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/headwater.h"
#include "weeks/draw.h"

enum { WALKERS = 24, ROUNDS = 500, WARM_UP = 200, DRAWS = WALKERS * (ROUNDS - WARM_UP) };

typedef struct {
  hw_river river;
  hw_reading *reading;
  size_t count;
} evidence;

/* Mean and variance of the travel time from far above to a place. */
static void run_down(const hw_river *river, double x_m, double *travel_s, double *variance_s2) {
  const hw_hydraulics *h = &river->hydraulics;
  double from = fmin(river->search.lo.location_m, river->sensors[0].location_m) - 1e5;
  *travel_s = *variance_s2 = 0;
  for (size_t i = 0; i <= river->reach_count && from < x_m; i++) {
    const hw_reach *r = i < river->reach_count ? &river->reaches[i] : NULL;
    const double v = r ? r->velocity_m_s : h->velocity_m_s.value, d = r ? r->dispersion_m2_s : h->dispersion_m2_s.value;
    const double to = r ? fmin(r->to_m, x_m) : x_m;
    if (to > from) {
      *travel_s += (to - from) / v;
      *variance_s2 += 2 * d * (to - from) / (v * v * v);
      from = to;
    }
  }
}

/* ln likelihood; u: ln mass, place, time. */
static double log_likelihood(const evidence *e, const double u[UNKNOWNS]) {
  const hw_river *river = &e->river;
  const hw_hydraulics *h = &river->hydraulics;
  const double discharge = h->discharge_m3_s > 0 ? h->discharge_m3_s : h->area_m2 * h->velocity_m_s.value;
  double travel[RECORD_SENSORS], variance[RECORD_SENSORS], above_s, above_s2, sum = 0;
  run_down(river, u[PLACE], &above_s, &above_s2);
  for (size_t k = 0; k < river->sensor_count; k++) {
    run_down(river, river->sensors[k].location_m, &travel[k], &variance[k]);
    travel[k] -= above_s;
    variance[k] -= above_s2;
  }
  const double flux = exp(u[MASS]) / discharge;
  for (size_t i = 0; i < e->count; i++) {
    const hw_reading *r = &e->reading[i];
    const hw_sensor *s = &river->sensors[r->sensor];
    const double age = r->time_s - u[TIME], lag = age - travel[r->sensor];
    double level = s->background_g_m3;
    if (age > 0 && travel[r->sensor] > 0) {
      const double a = travel[r->sensor] / variance[r->sensor];
      level += flux * sqrt(a / (2 * M_PI * age)) * exp(-a * lag * lag / (2 * age) - h->decay_per_s * age);
    }
    const double sd = hypot(s->noise_absolute_g_m3, s->noise_relative * level);
    const double z = (r->concentration_g_m3 - level) / sd;
    /* A zero stands for all that is not above it. */
    const bool below = r->below_limit || r->concentration_g_m3 == 0;
    sum += below ? gsl_sf_log_erfc(-z / M_SQRT2) - M_LN2 : -0.5 * z * z - log(sd);
  }
  return sum;
}

static bool read_all(const week *w, evidence *out) {
  hw_error error;
  hw_reader *reader = NULL;
  *out = (evidence){0};
  if (hw_river_parse("river", w->river, strlen(w->river), NULL, NULL, &out->river, &error) != HW_OK) {
    return false;
  }
  out->reading = malloc((w->rows + 1) * sizeof *out->reading);
  if (!out->reading ||
      hw_reader_memory(w->readings, strlen(w->readings), "readings", &out->river, &reader, &error) != HW_OK) {
    return false;
  }
  while (out->count < w->rows && hw_reader_next(reader, &out->reading[out->count], &error) == HW_OK) {
    out->count++;
  }
  hw_reader_free(reader);
  return true;
}

static bool is_inside(const double u[UNKNOWNS], const double lo[UNKNOWNS], const double hi[UNKNOWNS]) {
  for (size_t d = 0; d < UNKNOWNS; d++) {
    if (!(u[d] >= lo[d] && u[d] <= hi[d])) {
      return false;
    }
  }
  return true;
}

/* Walkers step along differences of two others, now and then as far as from one to the other. */
static void walk(const evidence *e, const hw_source *truth, double (*draws)[UNKNOWNS]) {
  static const double start[UNKNOWNS] = {[MASS] = 0.02, [PLACE] = 30, [TIME] = 30};
  double lo[UNKNOWNS], hi[UNKNOWNS], at[UNKNOWNS], walker[WALKERS][UNKNOWNS], score[WALKERS];
  hw_rng rng;
  hw_rng_seed(&rng, 1, 0);
  unpack(&e->river.search.lo, lo);
  unpack(&e->river.search.hi, hi);
  unpack(truth, at);
  lo[MASS] = log(lo[MASS]);
  hi[MASS] = log(hi[MASS]);
  at[MASS] = log(at[MASS]);
  for (size_t i = 0; i < WALKERS; i++) {
    for (size_t d = 0; d < UNKNOWNS; d++) {
      walker[i][d] = fmin(fmax(at[d] + start[d] * hw_rng_normal(&rng), lo[d]), hi[d]);
    }
    score[i] = log_likelihood(e, walker[i]);
  }
  for (size_t n = 0; n < ROUNDS * WALKERS; n++) {
    const size_t round = n / WALKERS, i = n % WALKERS;
    const size_t j = (i + 1 + (size_t)between(&rng, 0, WALKERS - 1)) % WALKERS;
    const size_t k = (j + 1 + (size_t)between(&rng, 0, WALKERS - 1)) % WALKERS;
    const double length = round % 10 == 0 ? 1 : between(&rng, 0.5, 1.2);
    double step[UNKNOWNS];
    for (size_t d = 0; d < UNKNOWNS; d++) {
      step[d] = walker[i][d] + length * (walker[j][d] - walker[k][d]) + 1e-2 * start[d] * hw_rng_normal(&rng);
    }
    const double there = k != i && is_inside(step, lo, hi) ? log_likelihood(e, step) : -HUGE_VAL;
    if (log(hw_rng_uniform(&rng)) < there - score[i]) {
      memcpy(walker[i], step, sizeof step);
      score[i] = there;
    }
    if (round >= WARM_UP) {
      memcpy(draws[n - WARM_UP * WALKERS], walker[i], sizeof walker[i]);
    }
  }
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sum_up(double (*draws)[UNKNOWNS], const hw_source *truth, answer *out) {
  double at[UNKNOWNS], sorted[DRAWS];
  unpack(truth, at);
  *out = (answer){.trust = TRUST_FULL, .spill = 1};
  for (size_t u = 0; u < UNKNOWNS; u++) {
    size_t below = 0;
    for (size_t i = 0; i < DRAWS; i++) {
      sorted[i] = u == MASS ? exp(draws[i][u]) : draws[i][u];
      below += sorted[i] < at[u];
    }
    qsort(sorted, DRAWS, sizeof sorted[0], by_size);
    out->lo[u] = sorted[DRAWS / 20];
    out->hi[u] = sorted[DRAWS - DRAWS / 20];
    out->rank[u] = (double)below / DRAWS;
  }
}

bool ideal_can(const week *w) {
  const uint64_t within = stratum_bit(HYDRAULICS_KNOWN) | stratum_bit(BACKGROUND_DECLARED);
  return (w->strata & within) == within && !(w->strata & stratum_bit(SPIKES));
}

bool ideal_answer(const week *w, answer *out) {
  evidence e;
  double(*draws)[UNKNOWNS] = malloc(DRAWS * sizeof *draws);
  const bool ok = draws && read_all(w, &e);
  if (ok) {
    walk(&e, &w->truth, draws);
    sum_up(draws, &w->truth, out);
  }
  if (draws) {
    free(e.reading);
    hw_river_free(&e.river);
  }
  free(draws);
  return ok;
}

#include "weeks/ideal.h"

#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/headwater.h"
#include "weeks/draw.h"
#include "weeks/ideal_doubt.h"

enum { WALKERS = 48, KEPT_ROUNDS = 200, MOST_UNKNOWNS = UNKNOWNS + 3 * DOUBT_SENSORS, DRAWS = WALKERS * KEPT_ROUNDS };

/* ln mass, place, time; then, where unknown, two numbers a sensor for the hydraulics, and the backgrounds. */
typedef struct {
  double at[MOST_UNKNOWNS];
} point;

typedef struct {
  hw_river river;
  hw_reading *reading;
  size_t count;
  bool doubtful, learns;
  size_t unknowns;
  double lo[UNKNOWNS], hi[UNKNOWNS];
} evidence;

static const double start[UNKNOWNS] = {[MASS] = 0.02, [PLACE] = 30, [TIME] = 30}; /* of the walkers about the truth */

/* Mean and variance of the travel time to every sensor; not positive for those above the source. */
static void find_legs(const evidence *e, const point *p, double *travel, double *variance) {
  const size_t n = e->river.sensor_count;
  if (e->doubtful) {
    doubt_legs legs;
    doubt_unfold(&e->river, p->at[PLACE], p->at + UNKNOWNS, &legs);
    memcpy(travel, legs.travel_s, n * sizeof *travel);
    memcpy(variance, legs.variance_s2, n * sizeof *variance);
    return;
  }
  double above_s, above_s2;
  median_run(&e->river, p->at[PLACE], &above_s, &above_s2);
  for (size_t k = 0; k < n; k++) {
    median_run(&e->river, e->river.sensors[k].location_m, &travel[k], &variance[k]);
    travel[k] -= above_s;
    variance[k] -= above_s2;
  }
}

/* ln of the share of readings that stay below one z standard deviations from the expected. */
static double log_below(double z) {
  return gsl_sf_log_erfc(-z / M_SQRT2) - M_LN2;
}

static double log_likelihood(const evidence *e, const point *p) {
  const hw_river *river = &e->river;
  const hw_hydraulics *h = &river->hydraulics;
  const double discharge = h->discharge_m3_s > 0 ? h->discharge_m3_s : h->area_m2 * h->velocity_m_s.value;
  const double flux = exp(p->at[MASS]) / discharge;
  const double *background = p->at + e->unknowns - river->sensor_count;
  double travel[RECORD_SENSORS], variance[RECORD_SENSORS], sum = 0;
  find_legs(e, p, travel, variance);
  for (size_t i = 0; i < e->count; i++) {
    const hw_reading *r = &e->reading[i];
    const hw_sensor *s = &river->sensors[r->sensor];
    const double age = r->time_s - p->at[TIME], lag = age - travel[r->sensor];
    double level = e->learns ? background[r->sensor] : s->background_g_m3;
    if (age > 0 && travel[r->sensor] > 0) {
      const double a = travel[r->sensor] / variance[r->sensor];
      level += flux * sqrt(a / (2 * M_PI * age)) * exp(-a * lag * lag / (2 * age) - h->decay_per_s * age);
    }
    const double sd = hypot(s->noise_absolute_g_m3, s->noise_relative * level);
    const double z = (r->concentration_g_m3 - level) / sd;
    /* A zero stands for all that is not above it. */
    const bool below = r->below_limit || r->concentration_g_m3 == 0;
    sum += below ? log_below(z) : -0.5 * z * z - log(sd);
  }
  return sum;
}

/* ln of prior times likelihood. */
static double log_posterior(const evidence *e, const point *p) {
  const size_t n = e->river.sensor_count;
  for (size_t d = 0; d < UNKNOWNS; d++) {
    if (!(p->at[d] >= e->lo[d] && p->at[d] <= e->hi[d])) {
      return -HUGE_VAL;
    }
  }
  double prior = 0;
  for (size_t i = 0; e->doubtful && i < 2 * n; i++) {
    prior -= 0.5 * p->at[UNKNOWNS + i] * p->at[UNKNOWNS + i];
  }
  for (size_t i = 0; e->learns && i < n; i++) {
    if (p->at[e->unknowns - n + i] < 0) {
      return -HUGE_VAL;
    }
  }
  return prior + log_likelihood(e, p);
}

static bool read_all(const week *w, evidence *out) {
  hw_error error;
  hw_reader *reader = NULL;
  *out = (evidence){.doubtful = w->strata & stratum_bit(HYDRAULICS_DOUBTFUL),
                    .learns = !(w->strata & stratum_bit(BACKGROUND_DECLARED))};
  if (hw_river_parse("river", w->river, strlen(w->river), NULL, NULL, &out->river, &error) != HW_OK) {
    return false;
  }
  const size_t n = out->river.sensor_count;
  out->unknowns = UNKNOWNS + (out->doubtful ? 2 * n : 0) + (out->learns ? n : 0);
  unpack(&out->river.search.lo, out->lo);
  unpack(&out->river.search.hi, out->hi);
  out->lo[MASS] = log(out->lo[MASS]);
  out->hi[MASS] = log(out->hi[MASS]);
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

static point truth_of(const week *w, const evidence *e) {
  const size_t n = e->river.sensor_count;
  point p;
  unpack(&w->truth, p.at);
  p.at[MASS] = log(p.at[MASS]);
  if (e->doubtful) {
    doubt_legs legs = {0};
    memcpy(legs.travel_s, w->leg_travel_s, n * sizeof *legs.travel_s);
    memcpy(legs.variance_s2, w->leg_variance_s2, n * sizeof *legs.variance_s2);
    doubt_fold(&e->river, w->truth.location_m, &legs, p.at + UNKNOWNS);
  }
  for (size_t k = 0; e->learns && k < n; k++) {
    p.at[e->unknowns - n + k] = w->background_g_m3[k];
  }
  return p;
}

/* How far about the truth the walkers start, in each unknown. */
static double scatter(const evidence *e, size_t d) {
  if (d < UNKNOWNS) {
    return start[d];
  }
  const bool hydraulic = e->doubtful && d < UNKNOWNS + 2 * e->river.sensor_count;
  return hydraulic ? 0.02 : 0.1 * e->river.sensors[0].noise_absolute_g_m3;
}

/* Walkers step along differences of two others, now and then as far as from one to the other. */
static void walk(const evidence *e, const point *truth, point *draws) {
  const size_t warm_up = 60 * e->unknowns, thin = e->unknowns; /* rounds */
  const double usual = 2.38 / sqrt(2 * (double)e->unknowns);
  point walker[WALKERS];
  double score[WALKERS];
  hw_rng rng;
  hw_rng_seed(&rng, 1, 0);
  for (size_t i = 0; i < WALKERS; i++) {
    walker[i] = *truth;
    for (size_t d = 0; d < e->unknowns; d++) {
      const double at = truth->at[d] + scatter(e, d) * hw_rng_normal(&rng);
      walker[i].at[d] = d < UNKNOWNS                                            ? fmin(fmax(at, e->lo[d]), e->hi[d])
                        : e->learns && d >= e->unknowns - e->river.sensor_count ? fabs(at)
                                                                                : at;
    }
    score[i] = log_posterior(e, &walker[i]);
  }
  for (size_t round = 0; round < warm_up + KEPT_ROUNDS * thin; round++) {
    for (size_t i = 0; i < WALKERS; i++) {
      const size_t j = (i + 1 + (size_t)between(&rng, 0, WALKERS - 1)) % WALKERS;
      const size_t k = (j + 1 + (size_t)between(&rng, 0, WALKERS - 1)) % WALKERS;
      const double length = round % 10 == 0 ? 1 : usual * between(&rng, 0.5, 1.2);
      point step = walker[i];
      for (size_t d = 0; d < e->unknowns; d++) {
        step.at[d] += length * (walker[j].at[d] - walker[k].at[d]) + 1e-2 * scatter(e, d) * hw_rng_normal(&rng);
      }
      const double there = k != i ? log_posterior(e, &step) : -HUGE_VAL;
      if (log(hw_rng_uniform(&rng)) < there - score[i]) {
        walker[i] = step;
        score[i] = there;
      }
    }
    if (round >= warm_up && (round - warm_up) % thin == 0) {
      memcpy(draws + (round - warm_up) / thin * WALKERS, walker, sizeof walker);
    }
  }
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sum_up(const point *draws, const hw_source *truth, answer *out) {
  double at[UNKNOWNS], sorted[DRAWS];
  unpack(truth, at);
  *out = (answer){.trust = TRUST_FULL, .spill = 1};
  for (size_t u = 0; u < UNKNOWNS; u++) {
    size_t below = 0;
    for (size_t i = 0; i < DRAWS; i++) {
      sorted[i] = u == MASS ? exp(draws[i].at[u]) : draws[i].at[u];
      below += sorted[i] < at[u];
    }
    qsort(sorted, DRAWS, sizeof sorted[0], by_size);
    out->lo[u] = sorted[DRAWS / 20];
    out->hi[u] = sorted[DRAWS - DRAWS / 20];
    out->rank[u] = (double)below / DRAWS;
  }
}

bool ideal_can(const week *w) {
  const bool sound = w->strata & stratum_bit(ALL_SOUND), known = w->strata & stratum_bit(HYDRAULICS_KNOWN);
  const bool declared = w->strata & stratum_bit(BACKGROUND_DECLARED), few = w->sensors <= DOUBT_SENSORS;
  const uint64_t beyond = stratum_bit(SPIKES) | stratum_bit(BACKGROUND_DRIFTING) | stratum_bit(REACHES_DOUBTFUL);
  return sound && !(w->strata & beyond) && (declared || few) &&
         (known || (few && (w->strata & stratum_bit(DISCHARGE_GIVEN))));
}

bool ideal_answer(const week *w, answer *out) {
  evidence e = {0};
  point *draws = malloc(DRAWS * sizeof *draws);
  const bool ok = draws && ideal_can(w) && read_all(w, &e);
  if (ok) {
    const point truth = truth_of(w, &e);
    walk(&e, &truth, draws);
    sum_up(draws, &w->truth, out);
  }
  free(e.reading);
  hw_river_free(&e.river);
  free(draws);
  return ok;
}

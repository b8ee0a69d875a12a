/* make study-advise: is one advised sample worth more than one at a fixed place, or anywhere?
 *
 *   study_advise DATA_FOLDER [CASES_A_NETWORK]   (holding rivers/ and networks/)
 *
 * Rivers: tracer releases of which the first sensor is read until its pulse has fallen to half; a sample can be taken
 * at the other sensors, at any time until the last of them was read. The field model answers, and the samples are real.
 * Networks: spills of our own in the river files: from a candidate, through velocities and dispersions drawn from the
 * file's doubt, common and local; every sensor is read until the first has seen the pulse fall to half. Samples can be
 * taken anywhere.
 *
 * Advised: the best by hw_advise. Fixed: the same rule in all cases, of several the best in hindsight. Random: the mean
 * over places and times at random. Judged by log2 of the 90 % region's length and by the entropy over the candidates,
 * both after the true reading (hw_advice_after) and before; differences are paired, with 95 % intervals by bootstrap.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "advice/inside.h"
#include "headwater/headwater.h"
#include "releases.h"

enum { RULES = 3, BOTTLES_MOST = 512, CASES_MOST = 512, READINGS_MOST = 60000, DECOYS = 4 };

/* One case: a run that has seen what it may, and the samples that could be taken. */
typedef struct {
  const hw_river *river;
  hw_run *run;
  double now_s;
  hw_source truth;
  hw_bottle bottles[BOTTLES_MOST]; /* to choose from at random */
  size_t count;
  hw_bottle fixed[RULES];
} trial;

/* What came of it: in units where less is better. */
typedef struct {
  double before[2], advised[2], fixed[RULES][2], random[2]; /* log2 region; entropy over candidates */
  bool covered, covers, fixed_covers[RULES];                /* the region before; after the samples */
  double seconds;
} outcome;

typedef struct {
  outcome list[CASES_MOST];
  size_t count, refused;
} results;

/* The reading that is really there, for places of our choice; NAN: nobody knows. */
typedef double (*reading_at)(void *context, const hw_bottle *where);

/* Of this thread on a processor: the machine may be busy. */
static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double after(const hw_advice *advice, const hw_bottle *bottle, bool place) {
  double entropy, region;
  if (hw_advice_after(advice, bottle, &entropy, &region) != HW_OK) {
    entropy = hw_advice_entropy(advice); /* nothing comes near it: it is set aside */
    region = hw_advice_region(advice);
  }
  return place ? log2(region) : entropy;
}

/* The advised bottle: of those there are, or anywhere where `truth` knows what is read. */
static hw_bottle advised(const hw_advice *advice, const trial *t, reading_at truth, void *context) {
  hw_bottle best = t->bottles[0];
  if (truth) {
    const hw_spot *spot = hw_advice_spot(advice, 0);
    best = (hw_bottle){spot->branch, spot->location_m, spot->time_s, 0};
    best.concentration_g_m3 = truth(context, &best);
    return best;
  }
  double most = -1;
  for (size_t i = 0; i < t->count; i++) {
    const hw_bottle *b = &t->bottles[i];
    const double value = hw_advice_value(advice, b->branch, b->location_m, b->time_s);
    best = value > most ? *b : best;
    most = fmax(most, value);
  }
  return best;
}

/* Is the truth in the 90 % region, after this bottle (NULL: before any)? */
static bool region_covers(const hw_advice *advice, const hw_bottle *bottle, const hw_source *truth) {
  const hw__stretches *fine = &advice->questions[0].fine;
  double *weight = malloc(advice->ahead.count * sizeof *weight);
  bool among[HW__STRETCHES_MOST], covers = false;
  if (weight && (!bottle || hw__bottle_weights(advice, bottle, weight) != HW_OK)) {
    memcpy(weight, advice->even, advice->ahead.count * sizeof *weight);
  }
  if (weight) {
    hw__stretches_region(fine, weight, advice->ahead.count, among);
    for (size_t k = 0; k < fine->count; k++) {
      covers = covers || (among[k] && fine->branch[k] == truth->branch && truth->location_m >= fine->from_m[k] &&
                          truth->location_m <= fine->to_m[k]);
    }
  }
  free(weight);
  return covers;
}

/* One question of one case. False: there was nothing to advise on. */
static bool judge(const trial *t, bool place, reading_at truth, void *context, outcome *out) {
  const hw_advice_options options = {.question = place ? HW_QUESTION_PLACE : HW_QUESTION_WHO, .now_s = t->now_s};
  hw_advice *advice = NULL;
  hw_error error;
  hw_estimate estimate;
  if (hw_run_estimate(t->run, &estimate) != HW_OK || t->count == 0) {
    return false;
  }
  const double begin = now_seconds();
  if (hw_advise(t->run, t->river, &options, &advice, &error) != HW_OK) {
    return false;
  }
  out->seconds = now_seconds() - begin;
  const int q = place ? 0 : 1;
  out->before[q] = place ? log2(hw_advice_region(advice)) : hw_advice_entropy(advice);
  const hw_bottle chosen = advised(advice, t, truth, context);
  out->advised[q] = after(advice, &chosen, place);
  for (size_t r = 0; r < RULES; r++) {
    out->fixed[r][q] = after(advice, &t->fixed[r], place);
  }
  for (size_t i = 0; i < t->count; i++) {
    out->random[q] += after(advice, &t->bottles[i], place) / (double)t->count;
  }
  if (place) {
    out->covered = region_covers(advice, NULL, &t->truth);
    out->covers = region_covers(advice, &chosen, &t->truth);
    for (size_t r = 0; r < RULES; r++) {
      out->fixed_covers[r] = region_covers(advice, &t->fixed[r], &t->truth);
    }
  }
  hw_advice_free(advice);
  return true;
}

static void judge_both(const trial *t, reading_at truth, void *context, results *all) {
  outcome o = {.advised = {0}};
  const bool told = judge(t, true, truth, context, &o);
  if (told && !judge(t, false, truth, context, &o)) {
    o.before[1] = NAN;
  }
  all->refused += !told;
  if (told && all->count < CASES_MOST) {
    all->list[all->count++] = o;
  }
}

/* When this sensor has fallen to half of its highest reading; NAN: it has not. */
static double half_fallen(const hw_reading *readings, size_t count, size_t sensor, double *peak_s) {
  double highest = 0;
  *peak_s = NAN;
  for (size_t i = 0; i < count; i++) {
    const hw_reading *r = &readings[i];
    if (r->sensor == sensor && !r->below_limit && r->concentration_g_m3 > highest) {
      highest = r->concentration_g_m3;
      *peak_s = r->time_s;
    }
  }
  for (size_t i = 0; i < count; i++) {
    const hw_reading *r = &readings[i];
    if (r->sensor == sensor && r->time_s > *peak_s && r->concentration_g_m3 < 0.5 * highest) {
      return r->time_s;
    }
  }
  return NAN;
}

/* Where the run expects the most there, of these times. */
static double expected_peak(hw_run *run, size_t branch, double x_m, const double *times, size_t count) {
  hw_range *band = calloc(count, sizeof *band);
  size_t best = 0;
  const hw_prediction p = {x_m, times, count, band, branch};
  if (band && hw_run_predict(run, &p) == HW_OK) {
    for (size_t i = 0; i < count; i++) {
      best = band[i].mid > band[best].mid ? i : best;
    }
  }
  free(band);
  return times[best];
}

/* --- rivers --- */

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
    for (size_t k = 1; k <= 48 && t->count < BOTTLES_MOST; k++) {
      hw_bottle b = {0, r->river.sensors[s].location_m, t->now_s + (last_s - t->now_s) * (double)k / 48, 0};
      b.concentration_g_m3 = reading_then(r, s, b.time_s);
      t->bottles[t->count] = b;
      t->count += isfinite(b.concentration_g_m3) ? 1 : 0;
    }
  }
}

static void judge_release(const release *r, hw_rng *rng, results *all) {
  hw_river river = r->river;
  double peak_s;
  river.sensor_count = 1;
  hw_candidate candidates[1 + DECOYS] = {{.id = "truth", .location_m = r->truth.location_m}};
  const double first_m = r->river.sensors[0].location_m, d = first_m - r->truth.location_m;
  for (size_t i = 1; i <= DECOYS; i++) {
    candidates[i].location_m = first_m - d * exp((hw_rng_uniform(rng) - 0.5) * 3);
    snprintf(candidates[i].id, sizeof candidates[i].id, "decoy%zu", i);
  }
  river.candidates = candidates;
  river.candidate_count = 1 + DECOYS;
  trial t = {.river = &river, .now_s = half_fallen(r->readings, r->count, 0, &peak_s), .truth = r->truth};
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
    judge_both(&t, NULL, NULL, all);
  }
  hw_run_free(t.run);
}

/* --- networks --- */

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

/* The river as it is: every reach off by what all share and by what is its own. */
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

/* All sensors every five minutes. Returned: how many readings. */
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

/* Fixed rules: a way below the sensor that saw it, when the peak is expected there. */
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

static void judge_network(const char *path, uint64_t seed, hw_reading *readings, results *all) {
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
  size_t seen = 0;
  if (hw_spill_create(&real, &truth, 0, &s.spill) == HW_OK &&
      hw_run_create(hw_method_find("posterior"), &problem, &options, &t.run) == HW_OK) {
    const size_t n = simulate(&real, &s, -7200, 172800, readings);
    for (size_t i = 0; i < river.sensor_count; i++) {
      double peak_s, half = half_fallen(readings, n, i, &peak_s);
      if (isfinite(half) && half < t.now_s) {
        t.now_s = half;
        seen = i;
      }
    }
    for (size_t i = 0; i < n; i++) {
      if (readings[i].time_s <= t.now_s) {
        hw_run_observe(t.run, &readings[i]);
      }
    }
    hw_estimate e;
    if (isfinite(t.now_s) && hw_run_estimate(t.run, &e) == HW_OK && e.has_source) {
      fix_rules(&t, &river, seen, &s);
      random_bottles(&t, &river, &s, &rng);
      judge_both(&t, simulated_reading, &s, all);
    } else {
      all->refused++;
    }
  }
  hw_run_free(t.run);
  hw_spill_free(s.spill);
  hw_river_free(&river);
  hw_river_free(&real);
}

/* --- the table --- */

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Mean of the differences with its 95 % interval. Returned: the lower end. */
static double print_paired(const char *what, const double *difference, size_t n) {
  enum { TIMES = 2000 };
  double means[TIMES], mean = 0;
  hw_rng rng;
  hw_rng_seed(&rng, 1, 0xB007);
  for (size_t i = 0; i < n; i++) {
    mean += difference[i] / (double)n;
  }
  for (size_t k = 0; k < TIMES; k++) {
    means[k] = 0;
    for (size_t i = 0; i < n; i++) {
      means[k] += difference[(size_t)(hw_rng_uniform(&rng) * (double)n)] / (double)n;
    }
  }
  qsort(means, TIMES, sizeof *means, ascending);
  printf("    %-34s %+.3f  [%+.3f, %+.3f]\n", what, mean, means[TIMES / 40], means[TIMES - 1 - TIMES / 40]);
  return means[TIMES / 40];
}

/* Returned: false when the advised sample is shown to be worse than one at random. */
static bool print_question(const results *all, int q) {
  static double of[3 + RULES][CASES_MOST];
  size_t n = 0, best = 0;
  double sum[RULES] = {0};
  for (size_t i = 0; i < all->count; i++) {
    const outcome *o = &all->list[i];
    if (isfinite(o->before[q])) {
      of[0][n] = o->advised[q] - o->before[q];
      of[1][n] = o->random[q] - o->before[q];
      for (size_t r = 0; r < RULES; r++) {
        of[2 + r][n] = o->fixed[r][q] - o->before[q];
        sum[r] += of[2 + r][n];
      }
      n++;
    }
  }
  if (n == 0) {
    return true;
  }
  for (size_t r = 1; r < RULES; r++) {
    best = sum[r] < sum[best] ? r : best;
  }
  printf("  %s, %zu cases, change by one sample and 95 %% interval\n",
         q == 0 ? "90 % region, log2 of its length" : "entropy over the candidates, bits", n);
  print_paired("advised", of[0], n);
  print_paired("fixed, the best rule in hindsight", of[2 + best], n);
  print_paired("random", of[1], n);
  for (size_t i = 0; i < n; i++) {
    of[2 + RULES][i] = of[0][i] - of[2 + best][i];
    of[1][i] = of[0][i] - of[1][i];
  }
  print_paired("advised less fixed, paired", of[2 + RULES], n);
  return !(print_paired("advised less random, paired", of[1], n) > 0);
}

static bool print_results(const char *name, const results *all) {
  size_t covered = 0, covers = 0, fixed = 0;
  double seconds[CASES_MOST];
  for (size_t i = 0; i < all->count; i++) {
    covered += all->list[i].covered;
    covers += all->list[i].covers;
    for (size_t r = 0; r < RULES; r++) {
      fixed += all->list[i].fixed_covers[r];
    }
    seconds[i] = all->list[i].seconds;
  }
  printf("%s: %zu cases, %zu with nothing to advise on\n", name, all->count, all->refused);
  if (all->count == 0) {
    return true;
  }
  bool fine = print_question(all, 0);
  fine = print_question(all, 1) && fine;
  qsort(seconds, all->count, sizeof *seconds, ascending);
  printf(
      "  the 90 %% region covers the truth in %zu of %zu before, %zu after the advised sample, %.1f after fixed ones\n",
      covered, all->count, covers, (double)fixed / RULES);
  printf("  an advice takes %.0f ms of processor (median), %.0f ms at most\n", 1e3 * seconds[all->count / 2],
         1e3 * seconds[all->count - 1]);
  return fine;
}

int main(int argc, char **argv) {
  static results rivers, networks;
  if (argc < 2) {
    fprintf(stderr, "study_advise DATA_FOLDER [CASES_A_NETWORK]\n");
    return 2;
  }
  const long each = argc > 2 ? strtol(argv[2], NULL, 10) : 10;
  char path[512];
  release *list;
  hw_rng rng;
  hw_rng_seed(&rng, 7, 0);
  snprintf(path, sizeof path, "%s/rivers", argv[1]);
  const size_t count = releases_load(path, &list);
  for (size_t i = 0; i < count; i++) {
    judge_release(&list[i], &rng, &rivers);
  }
  releases_free(list, count);
  hw_reading *readings = malloc(READINGS_MOST * sizeof *readings);
  for (long k = 0; k < each && readings; k++) {
    for (int i = 1; i <= 8; i++) {
      snprintf(path, sizeof path, "%s/networks/steady-%02d/river.yaml", argv[1], i);
      judge_network(path, (uint64_t)(100 * k + i), readings, &networks);
    }
  }
  free(readings);
  if (count == 0) {
    printf("no data in %s: left out\n", argv[1]);
    return 0;
  }
  const bool fine = print_results("rivers, real samples of withheld sensors", &rivers);
  return print_results("networks, simulated", &networks) && fine ? 0 : 1;
}

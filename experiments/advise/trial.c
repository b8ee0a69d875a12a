#include "advise/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "advice/inside.h"

/* Processor time of this thread, because the machine may be busy. */
static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double after(const hw_advice *advice, const hw_bottle *bottle, bool place) {
  double entropy, region;
  if (hw_advice_after(advice, bottle, &entropy, &region) != HW_OK) {
    entropy = hw_advice_entropy(advice); /* no sample comes near this reading, so it is ignored */
    region = hw_advice_region(advice);
  }
  return place ? log2(region) : entropy;
}

/* The advised bottle: one of those offered or, where `truth` gives the reading of any place, anywhere. */
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

void trial_judge(const trial *t, reading_at truth, void *context, results *all) {
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

double half_fallen(const hw_reading *readings, size_t count, size_t sensor) {
  double highest = 0, peak_s = NAN;
  for (size_t i = 0; i < count; i++) {
    const hw_reading *r = &readings[i];
    if (r->sensor == sensor && !r->below_limit && r->concentration_g_m3 > highest) {
      highest = r->concentration_g_m3;
      peak_s = r->time_s;
    }
  }
  for (size_t i = 0; i < count; i++) {
    const hw_reading *r = &readings[i];
    if (r->sensor == sensor && r->time_s > peak_s && r->concentration_g_m3 < 0.5 * highest) {
      return r->time_s;
    }
  }
  return NAN;
}

double expected_peak(hw_run *run, size_t branch, double x_m, const double *times, size_t count) {
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

/* Where and when to sample next: see advice.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/inside.h"

/* Less than that is nothing to drive out for. */
static const double least_bits = 0.02;

enum { DRAWS = 2048, SPOTS_MOST = HW__PLACES_MOST };

static const struct {
  const char *word, *text;
} questions[] = {
#define ROW(name, word, text) {word, text},
    HW_QUESTION_LIST(ROW)
#undef ROW
};

const char *hw_question_word(hw_question question) {
  return question < HW_QUESTION_COUNT ? questions[question].word : "";
}

const char *hw_question_text(hw_question question) {
  return question < HW_QUESTION_COUNT ? questions[question].text : "";
}

static hw_status refuse(hw_error *error, const char *sentence) {
  if (error) {
    snprintf(error->text, sizeof error->text, "%s", sentence);
  }
  return HW_EEMPTY;
}

/* --- what a reading errs by --- */

static double median_of(const hw_river *river, double (*part)(const hw_sensor *)) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < river->sensor_count; i++) { /* the geometric mean of those that say */
    const double value = part(&river->sensors[i]);
    sum += value > 0 ? log(value) : 0;
    n += value > 0;
  }
  return n ? exp(sum / (double)n) : 0;
}

static double relative_noise(const hw_sensor *s) {
  return s->noise_relative;
}

static double absolute_noise(const hw_sensor *s) {
  return s->noise_absolute_g_m3;
}

static double detection_limit(const hw_sensor *s) {
  return s->detection_limit_g_m3;
}

/* Where the file says nothing of noise and limit, a hundredth of the highest pulse seen is the floor. */
static hw__reading_error reading_error(const hw_river *river, const hw__foresight *f, double doubt) {
  const double relative = median_of(river, relative_noise), limit = median_of(river, detection_limit);
  double floor = median_of(river, absolute_noise);
  double highest = 0;
  for (size_t i = 0; i < f->landmark_count; i++) {
    const hw__landmark *m = &f->landmarks[i];
    const hw_leg here = hw_transport_leg_between(f->transport, m->branch, m->x_m - 1, m->branch, m->x_m);
    highest = fmax(highest, m->mass_g / here.discharge_m3_s / sqrt(6.2832 * m->variance_s2));
  }
  floor = floor > 0 ? floor : limit > 0 ? 0.5 * limit : highest > 0 ? 0.01 * highest : 1e-6;
  return (hw__reading_error){floor, hypot(relative, doubt), limit > 0 ? limit : 2 * floor};
}

/* --- putting it together --- */

static hw_status ask(hw_advice *a, const hw_river *river, const hw_estimate *e, hw_question asked, hw_error *error) {
  const bool intakes = asked == HW_QUESTION_INTAKE;
  a->questions = calloc(river->intake_count + 1, sizeof *a->questions);
  hw_status status = a->questions ? HW_OK : HW_ENOMEM;
  for (size_t i = 0; i < (intakes ? river->intake_count : 1) && status == HW_OK; i++) {
    if (!intakes || river->intakes[i].alarm_g_m3 > 0) {
      status = hw__question_create(&a->ahead, river, e, asked, i, &a->questions[a->question_count]);
      a->question_count += status == HW_OK;
    }
  }
  if (status == HW_EEMPTY || (status == HW_OK && a->question_count == 0)) {
    return refuse(error, intakes ? "no intake has an alarm level, expected alarm_g_m3 at one in the river file"
                                 : "the river file names no candidates, expected some to ask who it was");
  }
  return status;
}

static hw_status check_options(const hw_advice_options *o) {
  const bool fine = isfinite(o->now_s) && o->delay_s >= 0 && isfinite(o->delay_s) && o->horizon_s >= 0 &&
                    isfinite(o->horizon_s) && o->doubt >= 0 && o->doubt < 10 && o->crews <= HW__CREWS_MOST &&
                    o->most <= SPOTS_MOST && o->question < HW_QUESTION_COUNT;
  return fine ? HW_OK : HW_EDOMAIN;
}

static hw_status check_estimate(const hw_estimate *e, hw_error *error) {
  if (e->trust == HW_TRUST_NONE) {
    char sentence[400];
    snprintf(sentence, sizeof sentence, "the answer is not trusted (%s): there is nothing to advise on",
             e->trust_reason ? e->trust_reason : "no reason given");
    return refuse(error, sentence);
  }
  return e->has_source ? HW_OK : refuse(error, "no spill is seen: there is nothing to advise on");
}

static hw_status fill(hw_advice *a, const hw_river *river, const hw_advice_options *o, hw_error *error) {
  hw__survey *g = calloc(1, sizeof *g);
  a->dealt = malloc(a->ahead.count * sizeof *a->dealt);
  a->picked = malloc(a->ahead.count * sizeof *a->picked);
  a->scratch = malloc(a->ahead.count * sizeof *a->scratch);
  a->even = malloc(a->ahead.count * sizeof *a->even);
  for (size_t j = 0; j < a->ahead.count && a->even; j++) {
    a->even[j] = 1 / (double)a->ahead.count;
  }
  a->spots = calloc(SPOTS_MOST + HW__CREWS_MOST, sizeof *a->spots);
  hw_status status = g && a->dealt && a->picked && a->scratch && a->even && a->spots ? hw__survey_make(a, river, o, g)
                                                                                     : (hw_status)HW_ENOMEM;
  if (status == HW_OK) {
    if (o->crews > 1) {
      status = hw__choose_crews(a, g, o->crews);
    } else {
      hw__choose_alternatives(a, g, o->most ? o->most : 5);
    }
  }
  while (a->spots && a->count && !(a->spots[a->count - 1].bits >= least_bits)) {
    a->count--;
  }
  if (status == HW_EEMPTY || (status == HW_OK && a->count == 0)) {
    status = refuse(error,
                    "no reading from now on is expected to tell anything about this: the pulse has passed, or "
                    "the answer is known as well as readings can tell it");
  }
  if (g) {
    free(g->pulses);
  }
  free(g);
  return status;
}

/* Predictions may use the estimate's arrays, and another estimate costs as much as a forecast for every intake: of what
 * is asked about, a copy is kept. Status: HW_ENOMEM */
static hw_status keep_suspicions(hw_estimate *e, hw_suspicion **kept) {
  *kept = malloc((e->suspicion_count + 1) * sizeof **kept);
  if (!*kept) {
    return HW_ENOMEM;
  }
  if (e->suspicion_count) {
    memcpy(*kept, e->suspicions, e->suspicion_count * sizeof **kept);
  }
  e->suspicions = *kept;
  return HW_OK;
}

hw_status hw_advise(hw_run *run, const hw_river *river, const hw_advice_options *options, hw_advice **out,
                    hw_error *error) {
  *out = NULL;
  hw_estimate estimate;
  hw_suspicion *suspicions = NULL;
  hw_status status = check_options(options);
  if (status == HW_OK) {
    status = hw_run_estimate(run, &estimate);
  }
  if (status == HW_OK) {
    status = check_estimate(&estimate, error);
  }
  if (status == HW_OK) {
    status = keep_suspicions(&estimate, &suspicions);
  }
  if (status != HW_OK) {
    return status;
  }
  hw_advice *a = calloc(1, sizeof *a);
  if (!a) {
    free(suspicions);
    return HW_ENOMEM;
  }
  const uint64_t seed = options->seed ? options->seed : 1;
  a->provisional = estimate.provisional;
  hw_rng_seed(&a->rng, seed, 0xADD);
  status = hw__foresight_create(run, river, options->now_s, DRAWS, seed, &a->ahead);
  if (status == HW_OK) {
    a->error = reading_error(river, &a->ahead, options->doubt > 0 ? options->doubt : 0.15);
    status = ask(a, river, &estimate, options->question, error);
  }
  free(suspicions);
  if (status == HW_OK) {
    status = fill(a, river, options, error);
  }
  if (status != HW_OK) {
    hw_advice_free(a);
    return status;
  }
  *out = a;
  return HW_OK;
}

void hw_advice_free(hw_advice *a) {
  if (a) {
    for (size_t i = 0; i < a->question_count; i++) {
      hw__question_free(&a->questions[i]);
    }
    hw__foresight_free(&a->ahead);
    free(a->questions);
    free(a->dealt);
    free(a->picked);
    free(a->scratch);
    free(a->even);
    free(a->spots);
    free(a);
  }
}

bool hw_advice_provisional(const hw_advice *a) {
  return a->provisional;
}

size_t hw_advice_count(const hw_advice *a) {
  return a->count;
}

const hw_spot *hw_advice_spot(const hw_advice *a, size_t index) {
  return &a->spots[index];
}

double hw_advice_entropy(const hw_advice *a) {
  double bits = 0;
  for (size_t i = 0; i < a->question_count; i++) {
    bits += hw__entropy_bits(a->questions[i].share, a->questions[i].answers);
  }
  return bits;
}

double hw_advice_region(const hw_advice *a) {
  const hw__stretches *fine = &a->questions[0].fine;
  return fine->count ? hw__stretches_region(fine, a->even, a->ahead.count, NULL) : (double)NAN;
}

/* --- any place and time --- */

static double *readings_at(const hw_advice *a, size_t branch, double location_m, double time_s) {
  hw__pulse_ahead *pulses = malloc(a->ahead.count * sizeof *pulses);
  double *z = malloc(a->ahead.count * sizeof *z);
  if (pulses && z) {
    hw__pulses_at(a, (hw__place_ahead){branch, location_m}, pulses);
    for (size_t j = 0; j < a->ahead.count; j++) {
      z[j] = hw__stabilised(&a->error, hw__foresight_read(&a->ahead, j, &pulses[j], time_s));
    }
  }
  if (!pulses) {
    free(z);
    z = NULL;
  }
  free(pulses);
  return z;
}

double hw_advice_value(const hw_advice *a, size_t branch, double location_m, double time_s) {
  const size_t n = a->ahead.count;
  double *z = readings_at(a, branch, location_m, time_s);
  size_t *order = malloc(2 * n * sizeof *order);
  double bits = 0;
  if (z && order) {
    hw_rng rng = a->rng;
    hw__shuffle(order + n, n, &rng);
    for (size_t j = 0; j < n; j++) {
      order[j] = j;
    }
    for (size_t i = 0; i < a->question_count; i++) {
      bits += hw__information(&a->questions[i], &a->error, order, z, order + n, n);
    }
  }
  free(z);
  free(order);
  return bits > 0 ? bits : 0;
}

hw_status hw__bottle_weights(const hw_advice *a, const hw_bottle *bottle, double *weight) {
  if (!isfinite(bottle->time_s) || !isfinite(bottle->location_m) || !isfinite(bottle->concentration_g_m3)) {
    return HW_EDOMAIN;
  }
  double *z = readings_at(a, bottle->branch, bottle->location_m, bottle->time_s);
  if (!z) {
    return HW_ENOMEM;
  }
  const double limit = hw__stabilised(&a->error, a->error.limit_g_m3);
  const double read = hw__stabilised(&a->error, fmax(bottle->concentration_g_m3, 0));
  const bool near = hw__weigh(z, a->ahead.count, read, limit, weight);
  free(z);
  return near ? HW_OK : HW_EEMPTY;
}

/* What is left of a question with these weights, in bits. */
static double question_left(const hw__question *q, const double *weight) {
  double share[HW__ANSWERS_MOST], total = 0;
  for (size_t k = 0; k < q->answers; k++) {
    share[k] = 0;
    for (size_t j = 0; j < q->draws; j++) {
      share[k] += q->joint[k * q->draws + j] * weight[j];
    }
    total += share[k];
  }
  for (size_t k = 0; k < q->answers; k++) {
    share[k] /= total;
  }
  return hw__entropy_bits(share, q->answers);
}

hw_status hw_advice_after(const hw_advice *a, const hw_bottle *bottle, double *entropy, double *region_m) {
  double *weight = malloc(a->ahead.count * sizeof *weight);
  const hw_status status = weight ? hw__bottle_weights(a, bottle, weight) : HW_ENOMEM;
  if (status == HW_OK) {
    const hw__stretches *fine = &a->questions[0].fine;
    *entropy = 0;
    for (size_t i = 0; i < a->question_count; i++) {
      *entropy += question_left(&a->questions[i], weight);
    }
    *region_m = fine->count ? hw__stretches_region(fine, weight, a->ahead.count, NULL) : (double)NAN;
  }
  free(weight);
  return status;
}

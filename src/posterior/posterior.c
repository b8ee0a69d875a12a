/* The method `posterior`: the river file decides which of its models answers. With the dispersion known or doubtful,
 * the advection-dispersion equation, on one line of water (ade.h) or on a network and in changing flow (network.h);
 * with the dispersion unknown, the field model that learned from real rivers how pulses widen (field/field.h).
 *
 * Where the equation with the stated hydraulics does not explain the pulses that were seen (still water along the
 * banks, a velocity that changes, a dispersion that is wrong) others are asked in its place, from the same readings:
 * the equation with hydraulics in wider doubt (looser.h), and where that does not explain them either, the field
 * model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field/field.h"
#include "posterior/ade.h"
#include "posterior/looser.h"
#include "posterior/network.h"
#include "posterior/wider.h"

typedef struct {
  hw_status (*create)(const hw_problem *problem, const hw_options *options, void **state);
  hw_status (*observe)(void *state, const hw_reading *reading);
  hw_status (*estimate)(void *state, hw_estimate *out);
  void (*destroy)(void *state);
  hw_status (*samples)(void *state, hw_sample *out, size_t capacity, size_t *count);
  hw_status (*predict)(void *state, const hw_prediction *prediction);
} model;

static const model on_a_line = {hw__ade_create,  hw__ade_observe, hw__ade_estimate,
                                hw__ade_destroy, hw__ade_samples, hw__ade_predict};
static const model on_a_network = {hw__network_create,  hw__network_observe, hw__network_estimate,
                                   hw__network_destroy, hw__network_samples, hw__network_predict};
static const model field_model = {hw__field_create,  hw__field_observe, hw__field_estimate,
                                  hw__field_destroy, hw__field_samples, hw__field_predict};

typedef struct {
  const model *model;
  void *state;
  hw_options options;
  hw_river line;         /* a network of one branch as the river that it is; empty: the river as it came */
  hw_river as_field;     /* the river without its dispersion and as one line, borrowing the rest */
  hw__looser looser;     /* gave the last answer, unless its ade is NULL */
  void *field;           /* the field model's engine that gave it; NULL: the equation gave it */
  const char **warnings; /* theirs, and first of all why they answer */
  char instead[HW__WARNING_SIZE];
} engine;

/* A velocity that does not fit is no better known than this. */
static const double least_factor = 1.15;
/* Where its pulses fall short of their own best curves by more than this (ln), the equation fails. */
static const double plain_failure = 8;

/* The field model knows one line of water; whatever the flow does it takes as steady. */
static hw_status set_up_field(engine *e, const hw_river *river) {
  if (river->branch_count > 1) {
    return HW_EUNSUPPORTED;
  }
  e->model = &field_model;
  e->as_field = *river;
  if (river->branch_count == 1) {
    const hw_branch *only = &river->branches[0];
    e->as_field.branches = NULL;
    e->as_field.branch_count = 0;
    e->as_field.reaches = only->reaches;
    e->as_field.reach_count = only->reach_count;
    e->as_field.search.lo.location_m = only->search_lo_m;
    e->as_field.search.hi.location_m = only->search_hi_m;
  }
  return hw__field_create(&(hw_problem){.river = &e->as_field}, &e->options, &e->state);
}

static hw_status set_up(engine *e, const hw_river *river) {
  if (river->hydraulics.dispersion_m2_s.certainty == HW_UNKNOWN) {
    return set_up_field(e, river);
  }
  if (river->branch_count == 1 && river->flow_count == 0) {
    /* To the bit: no other model may answer only because of how the river is written. */
    const hw_status status = hw_river_lay_line(river, &e->line);
    if (status != HW_OK) {
      return status;
    }
    river = &e->line;
  }
  e->model = river->branch_count > 0 || river->flow_count > 0 ? &on_a_network : &on_a_line;
  e->as_field = *river;
  hw_quantity *v = &e->as_field.hydraulics.velocity_m_s;
  *v = (hw_quantity){.certainty = HW_UNCERTAIN, .value = v->value, .factor = fmax(v->factor, least_factor)};
  e->as_field.hydraulics.dispersion_m2_s.certainty = HW_UNKNOWN;
  return e->model->create(&(hw_problem){.river = river}, &e->options, &e->state);
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  *state = NULL;
  engine *e = calloc(1, sizeof *e);
  if (!e) {
    return HW_ENOMEM;
  }
  e->options = *options;
  hw_river_init(&e->line);
  const hw_status status = set_up(e, problem->river);
  if (status != HW_OK) {
    hw_river_free(&e->line);
    free(e);
    return status;
  }
  *state = e;
  return HW_OK;
}

static hw_status observe(void *state, const hw_reading *reading) {
  engine *e = state;
  return e->model->observe(e->state, reading);
}

static void forget(engine *e) {
  hw__looser_free(&e->looser);
  hw__field_destroy(e->field);
  free(e->warnings);
  e->field = NULL;
  e->warnings = NULL;
}

/* What is filed, told to an engine of the field model. */
static hw_status tell_field(const hw__ade *a, void *field) {
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    for (size_t i = 0; i < a->series[s].count; i++) {
      const hw__span *span = &a->series[s].span[i];
      const hw_reading reading = {.sensor = s,
                                  .time_s = span->time_s,
                                  .concentration_g_m3 = span->value_g_m3,
                                  .below_limit = span->side == HW__BELOW,
                                  .above_limit = span->side == HW__ABOVE};
      const hw_status status = hw__field_observe(field, &reading);
      if (status != HW_OK) {
        return status;
      }
    }
  }
  return HW_OK;
}

/* Why another answers, and the sensors, three at most, that the equation fails at most of all. Where only two saw
 * a pulse, it may be the one as well as the other. */
static void explain(engine *e, const char *instead) {
  const hw__ade *a = e->state;
  size_t worst[3], count = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    if (!a->fit[k].seen || !(a->seen == 2 || a->wrong[k] > 0.5 || a->missing[k] > plain_failure)) {
      continue;
    }
    size_t at = count < 3 ? count++ : 3;
    for (; at > 0 && !(a->missing[worst[at - 1]] > a->missing[k]); at--) {
      if (at < 3) {
        worst[at] = worst[at - 1];
      }
    }
    if (at < 3) {
      worst[at] = k;
    }
  }
  char names[HW__WARNING_SIZE / 4] = "";
  for (size_t i = 0, used = 0; i < count && used < sizeof names; i++) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? ", least of all at " : " and ",
                             a->river->sensors[a->station[worst[i]].sensor].id);
  }
  snprintf(e->instead, sizeof e->instead,
           "the advection-dispersion equation with the stated hydraulics does not explain the pulses%s: this answer %s",
           names, instead);
}

/* This one's answer, with a sentence why it is not the stated river's. */
static hw_status take(engine *e, hw_estimate *other, const char *instead, hw_estimate *out) {
  e->warnings = calloc(other->warning_count + 1, sizeof *e->warnings);
  if (!e->warnings) {
    return HW_ENOMEM;
  }
  explain(e, instead);
  e->warnings[0] = e->instead;
  memcpy(e->warnings + 1, other->warnings, other->warning_count * sizeof *e->warnings);
  other->warnings = e->warnings;
  other->warning_count++;
  *out = *other;
  return HW_OK;
}

/* The equation's answer with hydraulics in wider doubt, if the pulses speak for it. */
static hw_status ask_looser(engine *e, bool *answered, hw_estimate *out) {
  hw_estimate other;
  hw_status status = hw__looser_ask(e->state, &e->looser);
  *answered = status == HW_OK && hw__looser_explains(&e->looser, e->state);
  if (*answered) {
    status = hw__ade_estimate(e->looser.ade, &other);
  }
  if (*answered && status == HW_OK) {
    status = take(e, &other, "takes velocity, dispersion and discharge to be far less well known", out);
  }
  if (status != HW_OK || !*answered) {
    forget(e);
  }
  return status;
}

/* Plain pulses at sensors so far apart: by this distance, and by so many widths of the pulse in the time that the
 * stated water needs. */
static size_t pulses_apart(const hw__ade *a, double least_m, double widths) {
  const hw__station *last = NULL;
  size_t count = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__station *s = &a->station[k];
    const bool broken = s->suspect && a->wrong[k] > 0.5;
    const double least_s = widths * sqrt(a->fit[k].curve.variance_s2);
    if (a->fit[k].strong && !broken &&
        (!last || (s->x_m - last->x_m > least_m && s->at.theta - last->at.theta > least_s))) {
      last = s;
      count++;
    }
  }
  return count;
}

/* The field model leaves out pulses that tell it nothing, those that came at the same time as others among them. Where
 * it leaves out most of those that must have come one after the other, or all but one of three at different places, it
 * does not explain them: a level that rises and falls everywhere at once (a daily cycle) would be a release, read at
 * one sensor. It has room for six; three are enough. */
static bool stands_on_enough(const engine *e) {
  enum { ENOUGH = 3 };
  static const double another_place_m = 500;
  const hw__ade *a = e->state;
  const size_t used = hw__field_pulses(e->field), apart = pulses_apart(a, 0, 1), half = (apart + 1) / 2;
  const bool several = apart >= 2 || pulses_apart(a, another_place_m, 0) >= 3;
  return used >= (half < ENOUGH ? half : ENOUGH) && (used >= 2 || !several);
}

/* The field model's answer in place of the equation's, if it has one. */
static hw_status ask_field(engine *e, bool *answered, hw_estimate *out) {
  const hw_problem problem = {.river = &e->as_field};
  hw_estimate other;
  *answered = false;
  hw_status status = hw__field_create(&problem, &e->options, &e->field);
  if (status == HW_OK) {
    status = tell_field(e->state, e->field);
  }
  if (status == HW_OK) {
    status = hw__field_estimate(e->field, &other);
  }
  if (status == HW_OK && other.has_source && other.trust != HW_TRUST_NONE && stands_on_enough(e)) {
    status = take(e, &other, "is the field model's, which knows how pulses widen in real rivers", out);
    *answered = status == HW_OK;
  }
  if (!*answered) {
    forget(e);
  }
  return status;
}

/* The equation with the stated hydraulics does not explain the pulses, or perhaps not: who does? */
static hw_status ask_others(engine *e, hw_estimate *out) {
  hw__ade *a = e->state;
  bool answered = false, explained = false;
  const bool failed = a->misfit || a->pressed || (a->unfit && a->trust == HW_TRUST_NONE);
  hw_status status = failed ? hw__wider_ask(a, &explained) : HW_OK;
  if (status == HW_OK && explained) {
    hw__ade_blame_box(a);
    return hw__ade_estimate(a, out);
  }
  if (status == HW_OK) {
    status = ask_looser(e, &answered, out);
  }
  if (status == HW_OK && !answered && a->misfit) {
    status = ask_field(e, &answered, out);
    if (status == HW_OK && !answered) {
      hw__ade_give_up(a);
      status = hw__ade_estimate(a, out);
    }
  }
  return status;
}

static hw_status estimate(void *state, hw_estimate *out) {
  engine *e = state;
  forget(e);
  const hw_status status = e->model->estimate(e->state, out);
  if (status != HW_OK || e->model != &on_a_line) {
    return status;
  }
  const hw__ade *a = e->state;
  return !a->two.found && a->suspect ? ask_others(e, out) : HW_OK;
}

static void destroy(void *state) {
  engine *e = state;
  if (e) {
    forget(e);
    e->model->destroy(e->state);
    hw_river_free(&e->line);
    free(e);
  }
}

static hw_status samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  engine *e = state;
  return e->field        ? hw__field_samples(e->field, out, capacity, count)
         : e->looser.ade ? hw__ade_samples(e->looser.ade, out, capacity, count)
                         : e->model->samples(e->state, out, capacity, count);
}

static hw_status predict(void *state, const hw_prediction *prediction) {
  engine *e = state;
  return e->field        ? hw__field_predict(e->field, prediction)
         : e->looser.ade ? hw__ade_predict(e->looser.ade, prediction)
                         : e->model->predict(e->state, prediction);
}

const hw_method hw_method_posterior = {
    .name = "posterior",
    .summary = "every mass, place and time with its probability, after every reading",
    .traits = HW_KNOWS_BRANCHES,
    .create = create,
    .observe = observe,
    .estimate = estimate,
    .destroy = destroy,
    .samples = samples,
    .predict = predict,
};

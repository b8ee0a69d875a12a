#include "posterior/ade.h"

#include <math.h>
#include <stdlib.h>

#include "posterior/stations.h"
#include "posterior/suppose.h"
#include "posterior/walk.h"
#include "river/doubt.h"

/* Beyond it squares of times and concentrations would leave the numbers. */
static const double furthest = 1e12;
/* Of ln asymmetry where the water varies along its way. */
static const double shape_doubt = 0.3;
/* How often a river that somebody looks at has a spill. */
static const double spill_share = 0.05;
/* And how often no single release with the stated hydraulics explains it. */
static const double unexplained_share = 0.1;

static void *take(hw__ade *a, size_t count, size_t size) {
  a->bytes += count * size;
  return calloc(count ? count : 1, size);
}

static bool allocate(hw__ade *a) {
  const size_t n = a->river->sensor_count;
  a->order = take(a, n, sizeof *a->order);
  a->series = take(a, n, sizeof *a->series);
  a->own = take(a, n, sizeof *a->own);
  a->dirty = take(a, n, sizeof *a->dirty);
  a->station = take(a, n, sizeof *a->station);
  a->fit = take(a, n, sizeof *a->fit);
  a->view = take(a, n, sizeof *a->view);
  a->wrong = take(a, n, sizeof *a->wrong);
  a->missing = take(a, n, sizeof *a->missing);
  a->residuals = take(a, n, sizeof *a->residuals);
  a->samples = take(a, HW__FINAL, sizeof *a->samples);
  a->mixing = take(a, HW__FINAL, sizeof *a->mixing);
  a->expected = take(a, n, sizeof *a->expected);
  a->kept[0].near = take(a, n, sizeof *a->kept[0].near);
  a->kept[1].near = take(a, n, sizeof *a->kept[1].near);
  a->released = take(a, HW__PICKED, sizeof *a->released);
  a->sight = take(a, HW__PICKED * n, sizeof *a->sight);
  a->passages = take(a, HW__PICKED, sizeof *a->passages);
  a->sorting.capacity = HW__FINAL;
  a->sorting.value = take(a, HW__FINAL, sizeof *a->sorting.value);
  a->sorting.weight = take(a, HW__FINAL, sizeof *a->sorting.weight);
  a->suspicions = take(a, a->river->candidate_count + 1, sizeof *a->suspicions);
  a->arrivals = take(a, a->river->intake_count, sizeof *a->arrivals);
  a->spill.walk = hw__walk_create();
  a->bytes += sizeof *a->spill.walk;
  const bool drawn = hw__draws_create(&a->draws);
  a->bytes += a->draws.bytes;
  return drawn && a->order && a->series && a->own && a->dirty && a->station && a->fit && a->view && a->wrong &&
         a->missing && a->residuals && a->samples && a->mixing && a->expected && a->kept[0].near && a->kept[1].near &&
         a->released && a->sight && a->passages && a->sorting.value && a->sorting.weight && a->suspicions &&
         a->arrivals && a->spill.walk;
}

static int by_place(const hw_river *river, size_t a, size_t b) {
  const double x = river->sensors[a].location_m, y = river->sensors[b].location_m;
  return (x > y) - (x < y);
}

/* Insertion sort: ties keep the river file's order. */
static void order_sensors(hw__ade *a) {
  for (size_t i = 0; i < a->river->sensor_count; i++) {
    size_t j = i;
    for (; j > 0 && by_place(a->river, a->order[j - 1], i) > 0; j--) {
      a->order[j] = a->order[j - 1];
    }
    a->order[j] = i;
  }
}

hw_status hw__ade_create(const hw_problem *problem, const hw_options *options, void **state) {
  *state = NULL;
  hw__ade *a = calloc(1, sizeof *a);
  if (!a) {
    return HW_ENOMEM;
  }
  a->bytes = sizeof *a;
  a->river = problem->river;
  a->options = *options;
  hw_status status = hw_transport_create(problem->river, NULL, &a->transport);
  if (status == HW_OK) {
    status = hw__doubts_create(problem->river, &a->doubts);
  }
  if (status == HW_OK && !allocate(a)) {
    status = HW_ENOMEM;
  }
  if (status != HW_OK) {
    hw__ade_destroy(a);
    return status;
  }
  hw__tails_build(&a->tails);
  order_sensors(a);
  a->rivals.log_odds[0] = a->rivals.log_odds[1] = -INFINITY;
  const hw__spread v = hw__doubts_velocity(a->doubts), d = hw__doubts_dispersion(a->doubts);
  a->spill.river = a->river;
  a->spill.transport = a->transport;
  a->spill.doubts = a->doubts;
  a->spill.tails = &a->tails;
  a->spill.seed = options->seed;
  a->spill.doubt = (hw__doubt){v.common, d.common, v.local, d.local, v.local > 0 || d.local > 0 ? shape_doubt : 0};
  a->spill.station = a->station;
  a->spill.mass_hi = a->river->search.hi.mass_g;
  a->spill.mass_lo = fmax(a->river->search.lo.mass_g, 1e-6 * a->spill.mass_hi);
  *state = a;
  return HW_OK;
}

void hw__ade_destroy(void *state) {
  hw__ade *a = state;
  if (!a) {
    return;
  }
  hw__two_free(&a->two, &hw__ade_asked);
  hw_transport_free(a->transport);
  hw__doubts_free(a->doubts);
  hw__draws_free(&a->draws);
  free(a->order);
  free(a->series);
  free(a->own);
  free(a->dirty);
  free(a->station);
  free(a->fit);
  free(a->view);
  free(a->wrong);
  free(a->missing);
  free(a->residuals);
  free(a->samples);
  free(a->mixing);
  free(a->expected);
  free(a->kept[0].near);
  free(a->kept[1].near);
  free(a->released);
  free(a->sight);
  free(a->passages);
  free(a->sorting.value);
  free(a->sorting.weight);
  free(a->suspicions);
  free(a->arrivals);
  free(a->spill.walk);
  free(a);
}

hw_status hw__ade_observe(void *state, const hw_reading *reading) {
  hw__ade *a = state;
  if (!(fabs(reading->time_s) <= furthest) || !(fabs(reading->concentration_g_m3) <= furthest)) {
    return HW_EDOMAIN;
  }
  hw__series_insert(&a->series[reading->sensor], reading);
  a->dirty[reading->sensor] = true;
  a->settled = false;
  return HW_OK;
}

void hw__ade_borrow(hw__ade *a, const hw__ade *from) {
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    a->series[s] = from->series[s];
    a->own[s] = from->own[s];
    a->view[s] = from->view[s];
    a->dirty[s] = from->dirty[s];
  }
  a->settled = false;
}

static void fit_sensor(void *context, size_t s) {
  hw__ade *a = context;
  if (a->dirty[s] && a->series[s].count > 0) { /* a half of two may leave nothing */
    hw__pulse_fit(&a->series[s], &a->river->sensors[s], &a->tails, &a->own[s], &a->view[s]);
    a->dirty[s] = false;
  }
}

static size_t fit_sensors(hw__ade *a) {
  hw__crew_share(&a->spill.crew, a->river->sensor_count, fit_sensor, a);
  size_t seen = 0;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    seen += a->series[s].count > 0 && a->own[s].seen;
  }
  return seen;
}

/* A spill that no release of this model explains, over no spill at all: every strong pulse is one of any kind, instead
 * of an accident of a sensor that is wrong. Without it, several plain pulses that contradict the stated hydraulics
 * would be called improbable. */
static double log_odds_unexplained(const hw__ade *a) {
  double sum = log(unexplained_share);
  size_t strong = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    if (a->fit[k].strong) {
      sum += hw__station_log_pulse(&a->station[k]) - hw__station_log_without(&a->station[k]);
      strong++;
    }
  }
  return strong > 0 ? sum : -INFINITY;
}

double hw__spill_probability(double log_odds) {
  return 1 / (1 + exp(-(log_odds + log(spill_share / (1 - spill_share)))));
}

static hw_status again(const void *whole, size_t threads, void **state) {
  const hw__ade *a = whole;
  hw_options options = a->options;
  options.threads = threads;
  return hw__ade_create(&(hw_problem){.river = a->river}, &options, state);
}

static void fill(void *state, const void *whole, const hw__series *series) {
  hw__ade *a = state;
  (void)whole;
  a->single = true;
  a->settled = false;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    a->series[s] = series[s];
    a->dirty[s] = true;
  }
}

const hw__asked hw__ade_asked = {again, fill, hw__ade_estimate, hw__ade_predict, hw__ade_destroy};

/* From the evidence to how probable a spill is, and how far to trust all that. */
static void conclude(hw__ade *a, bool supposed) {
  if (supposed) {
    const double other = log_odds_unexplained(a), most = fmax(a->log_odds, other);
    a->probability =
        isfinite(most) ? hw__spill_probability(most + log(exp(a->log_odds - most) + exp(other - most))) : 0;
  }
  hw__ade_judge(a);
}

static hw_status settle(hw__ade *a) {
  size_t anchor[HW__ANCHORS];
  a->settled = true;
  a->log_odds = -INFINITY;
  a->probability = a->lasting = 0;
  a->reached[0] = a->reached[1] = -INFINITY;
  a->outdone = a->deferred = false;
  a->bar = -INFINITY;
  a->kept[0].found = a->kept[1].found = false;
  a->found = (hw__annealed){0};
  a->spill.count = 0;
  a->seen = fit_sensors(a);
  if (!a->single) {
    const hw__whole whole = {.river = a->river,
                             .sensors = a->river->sensors,
                             .series = a->series,
                             .own = a->own,
                             .view = a->view,
                             .engine = a,
                             .threads = a->options.threads};
    const hw_status status = hw__two_ask(&a->two, &hw__ade_asked, &whole, &a->tails);
    if (status != HW_OK || a->two.found) {
      a->settled = status == HW_OK;
      return status;
    }
  }
  const size_t anchors = hw__ade_anchors(a, anchor);
  if (anchors > 0) {
    hw__ade_suppose(a, anchor, anchors);
  }
  conclude(a, anchors > 0);
  return HW_OK;
}

hw_status hw__ade_settle(hw__ade *a) {
  if (a->settled) {
    return HW_OK;
  }
  hw__crew_begin(&a->spill.crew, a->options.threads);
  const hw_status status = settle(a);
  hw__crew_end(&a->spill.crew);
  return status;
}

void hw__ade_settle_duration(hw__ade *a) {
  hw__crew_begin(&a->spill.crew, a->options.threads);
  hw__ade_suppose_duration(a);
  conclude(a, true);
  hw__crew_end(&a->spill.crew);
}

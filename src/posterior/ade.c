#include "posterior/ade.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "river/doubt.h"

/* Beyond it squares of times and concentrations would leave the numbers. */
static const double furthest = 1e12;
/* Of ln asymmetry where the water varies along its way. */
static const double shape_doubt = 0.3;
/* How often a river that somebody looks at has a spill. */
static const double spill_share = 0.05;
/* A duration is told where it is more probable than an instant. Where it is not, the readings do not speak for one, and
 * what the prior says of durations would widen every answer by what nobody saw. */
static const double worth_telling = 0.5;
/* Odds at a glance from which on it is looked at, and how much worse in ln than by its own pulse a sensor may be
 * explained. */
static const double worth_a_look = 0.5, plain_deficit = 6.5;
/* By so much in ln a sensor's own pulse must prefer a duration to be supposed at first to have one. */
static const double plainly_worse = 15;
/* Random numbers of the hypothesis of a release that lasts. */
static const uint64_t lasting_stream = UINT64_C(1) << 40;
/* Beyond so many pulses the way to the answer goes by their second order; the answer itself is by their readings. */
enum { MANY = 8, ANCHORS = 3, LOOKS = 3, EASED_LOOKS = 5 };

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
  a->samples = take(a, HW__FINAL, sizeof *a->samples);
  a->mixing = take(a, HW__FINAL, sizeof *a->mixing);
  a->expected = take(a, n, sizeof *a->expected);
  a->released = take(a, HW__PICKED, sizeof *a->released);
  a->sight = take(a, HW__PICKED * n, sizeof *a->sight);
  a->passages = take(a, HW__PICKED, sizeof *a->passages);
  a->sorting.capacity = HW__FINAL;
  a->sorting.value = take(a, HW__FINAL, sizeof *a->sorting.value);
  a->sorting.weight = take(a, HW__FINAL, sizeof *a->sorting.weight);
  a->suspicions = take(a, a->river->candidate_count + 1, sizeof *a->suspicions);
  a->arrivals = take(a, a->river->intake_count, sizeof *a->arrivals);
  a->spill.block = take(a, n * HW__SPILL_COLUMNS, sizeof *a->spill.block);
  a->spill.sight = take(a, n, sizeof *a->spill.sight);
  const bool drawn = hw__draws_create(&a->draws);
  a->bytes += a->draws.bytes;
  return drawn && a->order && a->series && a->own && a->dirty && a->station && a->fit && a->view && a->wrong &&
         a->missing && a->samples && a->mixing && a->expected && a->released && a->sight && a->passages &&
         a->sorting.value && a->sorting.weight && a->suspicions && a->arrivals && a->spill.block && a->spill.sight;
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
  if (status == HW_OK && !allocate(a)) {
    status = HW_ENOMEM;
  }
  if (status != HW_OK) {
    hw__ade_destroy(a);
    return status;
  }
  hw__tails_build(&a->tails);
  order_sensors(a);
  const hw__spread v = hw__spread_of_quantity(&a->river->hydraulics.velocity_m_s);
  const hw__spread d = hw__spread_of_quantity(&a->river->hydraulics.dispersion_m2_s);
  a->spill.river = a->river;
  a->spill.transport = a->transport;
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
  free(a->samples);
  free(a->mixing);
  free(a->expected);
  free(a->released);
  free(a->sight);
  free(a->passages);
  free(a->sorting.value);
  free(a->sorting.weight);
  free(a->suspicions);
  free(a->arrivals);
  free(a->spill.block);
  free(a->spill.sight);
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

/* ---- The answer ---- */

static size_t fit_sensors(hw__ade *a) {
  size_t seen = 0;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    if (a->dirty[s]) {
      if (a->series[s].count == 0) {
        continue; /* a half of two may leave nothing */
      }
      hw__pulse_fit(&a->series[s], &a->river->sensors[s], &a->tails, &a->own[s], &a->view[s]);
      a->dirty[s] = false;
    }
    seen += a->series[s].count > 0 && a->own[s].seen;
  }
  return seen;
}

static hw__station station_of(const hw__ade *a, size_t sensor) {
  const hw_sensor *s = &a->river->sensors[sensor];
  const hw_leg here = hw_transport_leg(a->transport, s->location_m, s->location_m);
  const bool follows = hw__river_discharge_follows(a->river, s->location_m);
  return (hw__station){.sensor = sensor,
                       .x_m = s->location_m,
                       .at = hw__transport_integrals(a->transport, s->location_m),
                       .per_discharge = follows ? 0 : 1 / here.discharge_m3_s,
                       .per_area = follows ? 1 / here.discharge_m3_s : 0,
                       .gain_sd = log(s->gain_factor)};
}

/* Where the anchor's pulse would pass this station, and how far off that may be. */
static hw__focus expected_at(const hw__ade *a, const hw__station *from, const hw__fit *pulse, const hw__station *to) {
  const hw__doubt *d = &a->spill.doubt;
  const double travel = to->at.theta - from->at.theta, more = to->at.variance - from->at.variance;
  const double width = sqrt(fmax(pulse->curve.variance_s2 + more, 0.1 * pulse->curve.variance_s2));
  /* Above the anchor the source may lie next to the sensor, and its pulse have passed between two readings. */
  static const double narrowest_s = 60;
  return (hw__focus){.middle_s = pulse->curve.passage_s + travel,
                     .width_s = travel < 0 ? fmin(narrowest_s, width) : width,
                     .reach_s = 5 * width + 3 * fabs(travel) * hypot(d->common_v, d->local_v)};
}

/* Shares of the variance that a release which lasted has left to an instant's pulse, where a sensor's own pulse does
 * not tell: there the second order of its likelihood begins. */
static const double first_log_share = -0.3, glance_log_share = -0.03;

/* What the pulses look like to a release that lasts, and how long it can have been: from a minute to what the search
 * and the record allow. `expected`: seen where draws of an instant's release last expected them. */
static void expect_lasting(hw__ade *a, size_t anchor, bool expected) {
  double y[HW__PULSE_SIZE];
  for (size_t k = 0; k < a->spill.count; k++) {
    hw__fit *fit = &a->fit[k];
    if (fit->seen) {
      hw__curve_to(&fit->curve, y);
      if (expected && k != anchor && a->expected[k].count > 0.5 * HW__PICKED) {
        memcpy(y, a->expected[k].y, sizeof y);
      }
      y[HW__LN_SHARE] = fmin(y[HW__LN_SHARE], expected ? glance_log_share : first_log_share);
      hw__view_expand(a->station[k].view, &a->tails, HW__PULSE_SIZE, y, &fit->near);
    }
  }
  hw__curve_to(&a->fit[anchor].curve, y);
  hw__lasting_set(&a->spill.last, exp(0.5 * y[HW__LN_VARIANCE]), a->last_s - a->river->search.lo.time_s);
}

/* Stations: every sensor that has spoken, from upstream to downstream, as the river looks at it when the pulse at the
 * sensor `anchor` is followed. Returned: the anchor's place among them. */
static size_t set_stations(hw__ade *a, size_t anchor) {
  const hw__station from = station_of(a, anchor);
  size_t n = 0, at = 0;
  for (size_t i = 0; i < a->river->sensor_count; i++) {
    const size_t s = a->order[i];
    if (a->series[s].count == 0) {
      continue;
    }
    a->station[n] = station_of(a, s);
    if (a->own[s].seen) {
      a->fit[n] = a->own[s];
    } else {
      const hw__focus focus = expected_at(a, &from, &a->own[anchor], &a->station[n]);
      hw__pulse_look(&a->series[s], &a->river->sensors[s], &a->tails, &focus, &a->fit[n], &a->view[s]);
    }
    a->station[n].fit = &a->fit[n];
    a->station[n].view = &a->view[s];
    at = s == anchor ? n : at;
    n++;
  }
  a->last_s = -INFINITY;
  for (size_t k = 0; k < n; k++) {
    a->last_s = fmax(a->last_s, a->fit[k].last_s);
  }
  a->spill.count = n;
  return at;
}

static double log_without(const hw__ade *a) {
  double sum = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    sum += hw__station_log_without(&a->station[k]);
  }
  return sum;
}

double hw__spill_probability(double log_odds) {
  return 1 / (1 + exp(-(log_odds + log(spill_share / (1 - spill_share)))));
}

/* ---- From draws to samples ---- */

/* Of a release that goes on: what has come of it so far. */
static double so_far(const hw__ade *a, const hw__release *r) {
  const double flowed = a->last_s - r->source.time_s;
  return r->duration_s > flowed && flowed > 0 ? flowed / r->duration_s : 1;
}

static hw_sample sample_of(const hw__ade *a, const hw__release *r, double weight) {
  const hw_hydraulics *h = &a->river->hydraulics;
  hw_source source = r->source;
  source.mass_g *= so_far(a, r);
  return (hw_sample){.source = source,
                     .velocity_m_s = h->velocity_m_s.value * r->velocity_factor,
                     .dispersion_m2_s = h->dispersion_m2_s.value * r->dispersion_factor,
                     .weight = r->possible ? weight : 0,
                     .duration_s = r->duration_s};
}

/* Draw by draw: what it supposes, and how many of `wanted` equally weighted ones it stands for. */
typedef struct {
  size_t wanted, given, times;
  double running;
} picking;

static void take_next(picking *p, double weight) {
  p->running += weight;
  for (p->times = 0; p->given < p->wanted && (0.5 + (double)p->given) / (double)p->wanted < p->running; p->given++) {
    p->times++;
  }
}

static hw__release pick(hw__ade *a, size_t i, picking *p) {
  hw__release r;
  hw__spill_walk(&a->spill, a->found.stage, i, a->draws.x, &r, a->spill.sight);
  take_next(p, r.possible ? a->draws.weight[i] : 0);
  return r;
}

static void keep_pick(hw__ade *a, size_t at, const hw__release *r) {
  memcpy(&a->sight[at * a->spill.count], a->spill.sight, a->spill.count * sizeof *a->sight);
  a->released[at] = *r;
}

/* What rounding leaves open at the very end. */
static void repeat_pick(hw__ade *a, size_t given, size_t wanted) {
  for (; given < wanted && given > 0; given++) {
    memcpy(&a->sight[given * a->spill.count], &a->sight[(given - 1) * a->spill.count],
           a->spill.count * sizeof *a->sight);
    a->released[given] = a->released[given - 1];
  }
}

/* The draws at hand become the samples. */
static void set_samples(hw__ade *a) {
  picking p = {.wanted = HW__PICKED};
  for (size_t i = 0; i < a->drawn; i++) {
    const hw__release r = pick(a, i, &p);
    a->samples[i] = sample_of(a, &r, a->draws.weight[i]);
    for (size_t k = 0; k < p.times; k++) {
      keep_pick(a, p.given - p.times + k, &r);
    }
  }
  repeat_pick(a, p.given, HW__PICKED);
}

/* The draws at hand take `share` of the samples, those in place keep the rest; all equally weighted then. */
static void mix_samples(hw__ade *a, double share) {
  const size_t fresh = (size_t)(share * HW__FINAL + 0.5), kept = HW__FINAL - fresh;
  const size_t kept_picks = HW__PICKED - (size_t)(share * HW__PICKED + 0.5);
  picking old = {.wanted = kept}, new = {.wanted = fresh}, picks = {.wanted = HW__PICKED - kept_picks};
  size_t n = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    for (take_next(&old, a->samples[i].weight); old.times > 0; old.times--) {
      a->mixing[n++] = a->samples[i];
    }
  }
  for (size_t i = 0; i < a->drawn; i++) {
    const hw__release r = pick(a, i, &new);
    for (; new.times > 0; new.times--) {
      a->mixing[n++] = sample_of(a, &r, 1);
    }
    take_next(&picks, r.possible ? a->draws.weight[i] : 0);
    for (size_t k = 0; k < picks.times; k++) {
      keep_pick(a, kept_picks + picks.given - picks.times + k, &r);
    }
  }
  repeat_pick(a, kept_picks + picks.given, HW__PICKED);
  for (size_t i = 0; i < HW__FINAL; i++) {
    a->samples[i] = a->mixing[i < n ? i : n - 1];
    a->samples[i].weight = 1.0 / HW__FINAL;
  }
}

/* A station's readings under the curve that a draw expects there, the filter's local factors in it. */
static double log_expected(const hw__ade *a, size_t k, const hw__sight *sight) {
  return hw__view_log_likelihood(a->station[k].view, &a->tails, sight->curve.travel_s > 0 ? &sight->curve : NULL);
}

/* How probable it is that each sensor is wrong, and how much better its own pulse explains its readings. */
static void blame(hw__ade *a) {
  enum { EVERY = 8 }; /* draw for what is missing: it need not be exact */
  a->deficit = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    double reached = 0, weighed = 0;
    a->wrong[k] = 0;
    for (size_t j = 0; j < HW__PICKED; j++) {
      const hw__sight *sight = &a->sight[j * a->spill.count + k];
      const bool counted = j % EVERY == 0;
      const double expected = counted || !sight->filtered ? log_expected(a, k, sight) : 0;
      const double found = sight->filtered ? sight->log_likelihood : expected;
      double wrong;
      weighed += hw__station_log_probability(&a->station[k], found, &wrong) / HW__PICKED;
      a->wrong[k] += wrong / HW__PICKED;
      reached += counted ? expected * EVERY / HW__PICKED : 0;
    }
    a->deficit = fmax(a->deficit, a->fit[k].log_likelihood - weighed);
    a->missing[k] = a->station[k].gain_sd > 0 ? 0 : a->fit[k].log_likelihood - reached;
  }
}

static bool any_gain(const hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    if (a->station[k].gain_sd > 0) {
      return true;
    }
  }
  return false;
}

static void anneal(hw__ade *a, uint64_t stream, const hw__mixture *from, size_t final) {
  const hw__target target = hw__spill_target(&a->spill);
  a->found = hw__anneal(&target, a->options.seed, stream, from, final, &a->draws);
  a->drawn = final;
  for (size_t k = 0; k < a->spill.count; k++) {
    a->evaluations += a->found.evaluations * a->station[k].view->count;
  }
}

static void expect(hw__ade *a, const hw__release *r) {
  for (size_t k = 0; k < a->spill.count; k++) {
    hw__expected *e = &a->expected[k];
    const hw__sight *s = a->spill.sight;
    const hw__curve c =
        s[k].curve.travel_s > 0 ? s[k].curve : hw__spill_carry(&a->spill, r, s, a->station[k].x_m, &e->rng);
    if (!(c.travel_s > 0)) {
      continue;
    }
    double y[HW__PULSE_SIZE];
    hw__curve_to(&c, y);
    e->count++;
    for (size_t i = 0; i < HW__PULSE_SIZE; i++) {
      e->y[i] += (y[i] - e->y[i]) / e->count;
    }
  }
}

/* What the draws at hand expect at every station. */
static void set_expected(hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    a->expected[k] = (hw__expected){.count = 0};
    hw_rng_seed(&a->expected[k].rng, a->options.seed, UINT64_MAX - a->river->intake_count - k);
  }
  picking p = {.wanted = HW__PICKED};
  for (size_t i = 0; i < a->drawn; i++) {
    const hw__release r = pick(a, i, &p);
    for (size_t k = 0; k < p.times; k++) {
      expect(a, &r);
    }
  }
}

static size_t pulse_size(const hw__ade *a) {
  return a->spill.lasting ? HW__PULSE_SIZE : HW__INSTANT_SIZE;
}

/* Stations that were looked at by themselves are looked at again where the river expects their pulse: there the second
 * order is right, whatever the shape of the likelihood elsewhere. */
static void look_again(hw__ade *a) {
  set_expected(a);
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__expected *e = &a->expected[k]; /* worth something where most of the draws pass */
    if (a->fit[k].seen && k != a->spill.anchor && e->count > 0.5 * HW__PICKED) {
      hw__view_expand(a->station[k].view, &a->tails, pulse_size(a), e->y, &a->fit[k].near);
    }
  }
}

/* How much of the common doubt is let in below the anchor as a local one, look by look. Where all doubt is common a
 * draw would have to meet the next sensor's pulse to the second, and none does at first. */
static double easing(const hw__ade *a, size_t look) {
  static const double share[] = {1, 0.2, 0.04, 0.008};
  const hw__doubt *d = &a->spill.doubt;
  const bool common_alone = (d->common_v > 0 && !(d->local_v > 0)) || (d->common_d > 0 && !(d->local_d > 0));
  return common_alone && look < sizeof share / sizeof share[0] ? share[look] : 0;
}

static bool is_filtering(const hw__ade *a) {
  const hw__doubt *d = &a->spill.doubt;
  return d->local_v > 0 || d->local_d > 0 || any_gain(a) || a->spill.eased_v > 0 || a->spill.many;
}

/* Draws of the hypothesis at hand, following the pulse of this sensor. */
static void explore(hw__ade *a, size_t sensor) {
  const hw__doubt *d = &a->spill.doubt;
  const size_t anchor = set_stations(a, sensor);
  if (a->spill.lasting) {
    expect_lasting(a, anchor, false);
  }
  hw__spill_anchor(&a->spill, anchor);
  a->found = (hw__annealed){0};
  const bool eased = easing(a, 0) > 0;
  const size_t looks = eased ? EASED_LOOKS : LOOKS;
  for (size_t look = 0; look < looks; look++) {
    const hw__mixture from = a->found.proposal;
    a->spill.first_look = look == 0;
    a->spill.eased_v = d->local_v > 0 ? 0 : easing(a, look) * d->common_v;
    a->spill.eased_d = d->local_d > 0 ? 0 : easing(a, look) * d->common_d;
    a->spill.many = a->seen > MANY && look + 1 < looks;
    const bool last = look + 1 == looks || (!is_filtering(a) && !eased);
    anneal(a, (a->spill.lasting ? lasting_stream : 0) + 8 * sensor + look, look > 0 ? &from : NULL,
           last ? HW__FINAL : HW__STAGE);
    if (!a->found.found || last) {
      break;
    }
    look_again(a);
  }
  a->spill.eased_v = a->spill.eased_d = 0;
}

/* Supposes the hypothesis at hand, following the pulse of this sensor. */
static void suppose(hw__ade *a, size_t sensor) {
  explore(a, sensor);
  a->lasting = a->spill.lasting ? 1 : 0;
  a->log_odds = -INFINITY;
  if (a->found.found) {
    const double odds = a->found.log_evidence - log_without(a);
    a->log_odds = a->spill.lasting ? hw__lasting_log_odds(&a->spill.last, 0, odds) : odds;
    set_samples(a);
    blame(a);
  }
}

/* An instant explains what was seen: may it have lasted all the same? A glance at the evidence, with all but the
 * duration drawn as the instant has it. */
static double glance_at_lasting(hw__ade *a) {
  hw__mixture from;
  const hw__mixture *instant = &a->found.proposal;
  a->spill.lasting = true;
  expect_lasting(a, a->spill.anchor, true);
  hw__spill_anchor(&a->spill, a->spill.anchor);
  hw__mixture_extend(instant, log(6 * a->spill.last.shortest_s), 0.7, &from);
  const hw__target target = hw__spill_target(&a->spill);
  const double evidence = hw__anneal_glance(&target, a->options.seed, lasting_stream - 1, &from, &a->draws);
  a->spill.lasting = false;
  return hw__lasting_log_odds(&a->spill.last, a->found.log_evidence, evidence);
}

/* Worth the time to suppose? Where the readings might speak for it, or where a sensor can be explained better. */
static bool may_have_lasted(hw__ade *a) {
  return a->deficit > plain_deficit || (a->fit[a->spill.anchor].complete && glance_at_lasting(a) > log(worth_a_look));
}

/* Both hypotheses share the samples by what they explain, the instant's being in place. */
static void suppose_lasting_too(hw__ade *a, size_t sensor) {
  const hw__annealed instant = a->found;
  a->spill.lasting = true;
  explore(a, sensor);
  const double more =
      a->found.found ? hw__lasting_log_odds(&a->spill.last, instant.log_evidence, a->found.log_evidence) : -INFINITY;
  const double share = 1 / (1 + exp(-more));
  if (share < worth_telling) {
    a->found = instant;
  } else {
    a->lasting = share;
    a->log_odds += more > 0 ? more + log1p(exp(-more)) : log1p(exp(more));
    mix_samples(a, share);
    blame(a);
    a->found = share > 0.5 ? a->found : instant;
  }
  a->spill.lasting = false;
}

/* Most of the sensors that saw a pulse do not fit this one. */
static bool most_are_wrong(const hw__ade *a) {
  const hw__pulse_count n = hw__ade_count(a);
  return 2 * n.wrong >= n.seen || a->wrong[a->spill.anchor] > 0.5;
}

/* Sensors whose pulse may be followed, the likeliest first: pulses that stand out before those that may be the level
 * wandering, from upstream to downstream. */
static size_t anchors_of(const hw__ade *a, size_t out[ANCHORS]) {
  size_t count = 0;
  for (int strong = 1; strong >= 0; strong--) {
    for (size_t i = 0; i < a->river->sensor_count && count < ANCHORS; i++) {
      const size_t s = a->order[i];
      const bool seen = a->series[s].count > 0 && a->own[s].seen;
      if (seen && (int)a->own[s].strong == strong) {
        out[count++] = s;
      }
    }
  }
  return count;
}

static bool is_explained(const hw__ade *a) {
  return a->found.found && !most_are_wrong(a);
}

/* The most upstream pulse is the one to follow, unless it turns out to be another thing than what the others saw.
 * Returned: the one followed. */
static size_t follow(hw__ade *a, const size_t *anchor, size_t anchors) {
  size_t best = 0, tried = 0;
  double evidence = -INFINITY;
  while (tried < anchors) {
    suppose(a, anchor[tried]);
    if (tried == 0 || a->found.log_evidence > evidence) {
      evidence = a->found.log_evidence;
      best = tried;
    }
    tried++;
    if (is_explained(a)) {
      break;
    }
  }
  if (best != tried - 1) {
    suppose(a, anchor[best]);
  }
  return anchor[best];
}

/* One release, an instant's or one that lasted. What the first pulse looks like is tried first, the other where that
 * does not explain the readings, or where it may explain them too. */
static void try_one_release(hw__ade *a, const size_t *anchor, size_t anchors) {
  const hw__fit *first = &a->own[anchor[0]];
  const bool plain = first->lasting && first->near.log_at < first->log_likelihood - plainly_worse;
  a->spill.lasting = plain;
  const size_t followed = follow(a, anchor, anchors);
  if (is_explained(a)) {
    if (!plain && may_have_lasted(a)) {
      suppose_lasting_too(a, followed);
    }
    return;
  }
  const double odds = a->log_odds;
  a->spill.lasting = !plain;
  follow(a, anchor, 1);
  if (!is_explained(a) && !(a->log_odds > odds)) {
    a->spill.lasting = plain;
    suppose(a, followed);
  }
}

static void fill(void *state, const hw__series *series) {
  hw__ade *a = state;
  a->single = true;
  a->settled = false;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    a->series[s] = series[s];
    a->dirty[s] = true;
  }
}

const hw__asked hw__ade_asked = {hw__ade_create, fill, hw__ade_estimate, hw__ade_predict, hw__ade_destroy};

hw_status hw__ade_settle(hw__ade *a) {
  if (a->settled) {
    return HW_OK;
  }
  size_t anchor[ANCHORS];
  a->settled = true;
  a->log_odds = -INFINITY;
  a->probability = a->lasting = 0;
  a->found = (hw__annealed){0};
  a->spill.count = 0;
  a->seen = fit_sensors(a);
  if (!a->single) {
    const hw_problem problem = {.river = a->river};
    const hw_status status = hw__two_ask(&a->two, &hw__ade_asked, &problem, &a->options, a->series, a->own, &a->tails);
    if (status != HW_OK || a->two.found) {
      a->settled = status == HW_OK;
      return status;
    }
  }
  const size_t anchors = anchors_of(a, anchor);
  if (anchors > 0) {
    try_one_release(a, anchor, anchors);
    a->probability = hw__spill_probability(a->log_odds);
  }
  hw__ade_judge(a);
  return HW_OK;
}

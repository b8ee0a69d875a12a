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
/* Points that the views of quiet sensors together may have, and how many pulses are still looked at reading by reading:
 * they bound the time of an answer. */
enum { QUIET_POINTS = 1200, LEAST_POINTS = 12, MOST_POINTS = 96, MANY = 8, ANCHORS = 3, LOOKS = 3, EASED_LOOKS = 5 };

static void *take(hw__ade *a, size_t count, size_t size) {
  a->bytes += count * size;
  return calloc(count ? count : 1, size);
}

static bool allocate(hw__ade *a) {
  const size_t n = a->river->sensor_count;
  a->order = take(a, n, sizeof *a->order);
  a->series = take(a, n, sizeof *a->series);
  a->own = take(a, n, sizeof *a->own);
  a->own_view = take(a, n, sizeof *a->own_view);
  a->dirty = take(a, n, sizeof *a->dirty);
  a->station = take(a, n, sizeof *a->station);
  a->fit = take(a, n, sizeof *a->fit);
  a->view = take(a, n, sizeof *a->view);
  a->wrong = take(a, n, sizeof *a->wrong);
  a->samples = take(a, HW__FINAL, sizeof *a->samples);
  a->picked = take(a, HW__PICKED, sizeof *a->picked);
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
  return drawn && a->order && a->series && a->own && a->own_view && a->dirty && a->station && a->fit && a->view &&
         a->wrong && a->samples && a->picked && a->released && a->sight && a->passages && a->sorting.value &&
         a->sorting.weight && a->suspicions && a->arrivals && a->spill.block && a->spill.sight;
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
  hw_transport_free(a->transport);
  hw__draws_free(&a->draws);
  free(a->order);
  free(a->series);
  free(a->own);
  free(a->own_view);
  free(a->dirty);
  free(a->station);
  free(a->fit);
  free(a->view);
  free(a->wrong);
  free(a->samples);
  free(a->picked);
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

static size_t fit_sensors(hw__ade *a, size_t *heard) {
  size_t seen = 0;
  *heard = 0;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    if (a->dirty[s]) {
      hw__pulse_fit(&a->series[s], &a->river->sensors[s], &a->tails, MOST_POINTS, &a->own[s], &a->own_view[s]);
      a->dirty[s] = false;
    }
    *heard += a->series[s].count > 0;
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
  return (hw__focus){.middle_s = pulse->curve.passage_s + travel,
                     .width_s = width,
                     .reach_s = 5 * width + 3 * fabs(travel) * hypot(d->common_v, d->local_v)};
}

/* Stations: every sensor that has spoken, from upstream to downstream, as the river looks at it when the pulse at the
 * sensor `anchor` is followed. Returned: the anchor's place among them. */
static size_t set_stations(hw__ade *a, size_t anchor, size_t heard) {
  const size_t share = heard > a->seen ? QUIET_POINTS / (heard - a->seen) : 0;
  const size_t most = share < LEAST_POINTS ? LEAST_POINTS : share > MOST_POINTS / 2 ? MOST_POINTS / 2 : share;
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
      a->view[n] = a->own_view[s];
    } else {
      const hw__focus focus = expected_at(a, &from, &a->own[anchor], &a->station[n]);
      hw__pulse_look(&a->series[s], &a->river->sensors[s], &a->tails, &focus, most, &a->fit[n], &a->view[n]);
    }
    a->station[n].fit = &a->fit[n];
    a->station[n].view = &a->view[n];
    at = s == anchor ? n : at;
    n++;
  }
  a->spill.count = n;
  a->spill.many = a->seen > MANY;
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

static void set_samples(hw__ade *a) {
  const hw_hydraulics *h = &a->river->hydraulics;
  size_t given = 0;
  double running = 0;
  for (size_t i = 0; i < a->drawn; i++) {
    hw__release r;
    hw__spill_walk(&a->spill, a->found.stage, i, a->draws.x, &r, a->spill.sight);
    const bool possible = r.possible && a->draws.weight[i] > 0;
    a->samples[i] = (hw_sample){.source = r.source,
                                .velocity_m_s = h->velocity_m_s.value * r.velocity_factor,
                                .dispersion_m2_s = h->dispersion_m2_s.value * r.dispersion_factor,
                                .weight = possible ? a->draws.weight[i] : 0};
    running += a->samples[i].weight;
    while (given < HW__PICKED && (0.5 + (double)given) / HW__PICKED < running) {
      memcpy(&a->sight[given * a->spill.count], a->spill.sight, a->spill.count * sizeof *a->sight);
      a->released[given] = r;
      a->picked[given++] = i;
    }
  }
  for (; given < HW__PICKED && given > 0; given++) { /* rounding at the very end */
    memcpy(&a->sight[given * a->spill.count], &a->sight[(given - 1) * a->spill.count],
           a->spill.count * sizeof *a->sight);
    a->released[given] = a->released[given - 1];
    a->picked[given] = a->picked[given - 1];
  }
}

/* How probable it is that each sensor is wrong. */
static void blame(hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    a->wrong[k] = 0;
    for (size_t j = 0; j < HW__PICKED; j++) {
      const hw__sight *sight = &a->sight[j * a->spill.count + k];
      double wrong;
      const double found = sight->filtered ? sight->log_likelihood
                                           : hw__view_log_likelihood(&a->view[k], &a->tails,
                                                                     sight->curve.travel_s > 0 ? &sight->curve : NULL);
      hw__station_log_probability(&a->station[k], found, &wrong);
      a->wrong[k] += wrong / HW__PICKED;
    }
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
    a->evaluations += a->found.evaluations * a->view[k].count;
  }
  if (a->found.found) {
    set_samples(a);
  }
}

/* The middle of what the picked draws expect at a station, in the pulse's coordinates; false when few of them pass it.
 */
static bool expected_pulse(const hw__ade *a, size_t k, double y[HW__PULSE_SIZE]) {
  double n = 0;
  hw_rng rng;
  hw_rng_seed(&rng, a->options.seed, UINT64_MAX - a->river->intake_count - k);
  memset(y, 0, HW__PULSE_SIZE * sizeof *y);
  for (size_t j = 0; j < HW__PICKED; j++) {
    const hw__sight *s = &a->sight[j * a->spill.count];
    const hw__curve c =
        s[k].curve.travel_s > 0 ? s[k].curve : hw__spill_carry(&a->spill, &a->released[j], s, a->station[k].x_m, &rng);
    if (!(c.travel_s > 0)) {
      continue;
    }
    const double pulse[HW__PULSE_SIZE] = {c.passage_s, log(c.variance_s2),
                                          log(c.area_g_s_m3) - c.decay_per_s * c.travel_s,
                                          0.5 * log(c.variance_s2) - log(c.travel_s)};
    n++;
    for (size_t i = 0; i < HW__PULSE_SIZE; i++) {
      y[i] += (pulse[i] - y[i]) / n;
    }
  }
  return n > 0.5 * HW__PICKED;
}

/* Stations that were looked at by themselves are looked at again where the river expects their pulse: there the second
 * order is right, whatever the shape of the likelihood elsewhere. */
static void look_again(hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    double y[HW__PULSE_SIZE];
    if (a->fit[k].seen && k != a->spill.anchor && expected_pulse(a, k, y)) {
      hw__view_expand(&a->view[k], &a->tails, y, &a->fit[k].near);
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

/* Follows the pulse of this sensor. */
static void suppose(hw__ade *a, size_t sensor, size_t heard) {
  const hw__doubt *d = &a->spill.doubt;
  hw__spill_anchor(&a->spill, set_stations(a, sensor, heard));
  a->found = (hw__annealed){0};
  const bool eased = easing(a, 0) > 0;
  const size_t looks = eased ? EASED_LOOKS : LOOKS;
  for (size_t look = 0; look < looks; look++) {
    const hw__mixture from = a->found.proposal;
    a->spill.first_look = look == 0;
    a->spill.eased_v = d->local_v > 0 ? 0 : easing(a, look) * d->common_v;
    a->spill.eased_d = d->local_d > 0 ? 0 : easing(a, look) * d->common_d;
    const bool last = look + 1 == looks || (!is_filtering(a) && !eased);
    anneal(a, 8 * sensor + look, look > 0 ? &from : NULL, last ? HW__FINAL : HW__STAGE);
    if (!a->found.found || last) {
      break;
    }
    look_again(a);
  }
  a->spill.eased_v = a->spill.eased_d = 0;
  a->log_odds = a->found.found ? a->found.log_evidence - log_without(a) : -INFINITY;
  a->probability = hw__spill_probability(a->log_odds);
  if (a->found.found) {
    blame(a);
  }
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

void hw__ade_settle(hw__ade *a) {
  if (a->settled) {
    return;
  }
  size_t heard = 0, anchor[ANCHORS], best = 0, tried = 0;
  double evidence = -INFINITY;
  a->settled = true;
  a->log_odds = -INFINITY;
  a->probability = 0;
  a->found = (hw__annealed){0};
  a->spill.count = 0;
  a->seen = fit_sensors(a, &heard);
  /* The most upstream pulse is the one to follow, unless it turns out to be another thing than what the others saw. */
  const size_t anchors = anchors_of(a, anchor);
  while (tried < anchors) {
    suppose(a, anchor[tried], heard);
    if (tried == 0 || a->found.log_evidence > evidence) {
      evidence = a->found.log_evidence;
      best = tried;
    }
    tried++;
    if (a->found.found && !most_are_wrong(a)) {
      break;
    }
  }
  if (tried > 0 && best != tried - 1) {
    suppose(a, anchor[best], heard);
  }
  hw__ade_judge(a);
}

#include "posterior/looks.h"

#include <math.h>
#include <string.h>

#include "posterior/near_draws.h"
#include "posterior/samples.h"
#include "posterior/stations.h"
#include "posterior/walk.h"

/* Beyond so many pulses the way to the answer goes by their second order; the answer itself is by their readings. */
enum { MANY = 8, LOOKS = 3, EASED_LOOKS = 5, MOST_LOOKS = 10 };
/* A second order is worth what it says near where it was taken. Looks go on until no station's has moved by more than
 * this, twice its ln likelihood: with dozens of sensors each draws the others along only a little at a time. */
static const double settled = 1;

/* Shares of the variance that a release which lasted has left to an instant's pulse, where a sensor's own pulse does
 * not tell: there the second order of its likelihood begins. */
static const double first_log_share = -0.3, glance_log_share = -0.03;

/* ln of the share that a release as long as the anchor's pulse tells leaves to an instant's pulse of this variance. */
static double log_share_left(const hw__fit *anchor, double log_variance) {
  static const double least = 0.05;
  const double lasted = anchor->curve.duration_s * anchor->curve.duration_s / 12;
  return log(fmax(1 - lasted * exp(-log_variance), least));
}

void hw__ade_expect_lasting(hw__ade *a, size_t anchor, bool expected) {
  double y[HW__PULSE_SIZE];
  const bool told = a->spill.from_pulse && a->fit[anchor].lasting && !expected;
  for (size_t k = 0; k < a->spill.count; k++) {
    hw__fit *fit = &a->fit[k];
    if (fit->seen) {
      hw__curve_to(&fit->curve, y);
      if (expected && k != anchor && a->expected[k].count > 0.5 * HW__PICKED) {
        memcpy(y, a->expected[k].y, sizeof y);
      }
      const double share =
          told && !fit->lasting ? log_share_left(&a->fit[anchor], y[HW__LN_VARIANCE]) : y[HW__LN_SHARE];
      y[HW__LN_SHARE] = fmin(share, expected || told ? glance_log_share : first_log_share);
      hw__view_expand(a->station[k].view, &a->tails, HW__PULSE_SIZE, y, &fit->near);
    }
  }
  hw__curve_to(&a->fit[anchor].curve, y);
  hw__lasting_set(&a->spill.last, exp(0.5 * y[HW__LN_VARIANCE]), a->last_s - a->river->search.lo.time_s);
}

static bool any_gain(const hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    if (a->station[k].gain_sd > 0) {
      return true;
    }
  }
  return false;
}

/* ln odds of one release over none, for this evidence of the hypothesis at hand. */
static double odds_of(const hw__ade *a, double log_evidence) {
  const double odds = log_evidence - hw__ade_log_without(a);
  return a->spill.lasting ? hw__lasting_log_odds(&a->spill.last, 0, odds) : odds;
}

/* `least`: ln odds below which the hypothesis is given up. */
static void anneal(hw__ade *a, uint64_t stream, const hw__mixture *from, bool last, double least) {
  hw__target target = hw__spill_target(&a->spill);
  target.contested = isfinite(least);
  target.least = target.contested ? least - odds_of(a, 0) : 0;
  a->found = hw__anneal(&target, a->options.seed, stream, from, !last, &a->draws);
  for (size_t k = 0; k < a->spill.count; k++) {
    a->evaluations += a->found.evaluations * a->station[k].view->count;
  }
}

/* The pulse that a point is expected to make at station k, which the walk has come to or passes by. */
static hw__curve expected_curve(hw__ade *a, size_t i, size_t k, bool seen) {
  const hw__walk *w = a->spill.walk;
  const hw__release *r = &w->release[i];
  const hw__sight sight = w->before ? hw__walk_sight(w, i) : (hw__sight){0};
  return seen ? hw__sight_curve(&a->spill, r, k, &sight)
              : hw__spill_carry(&a->spill, r, w->station, sight.travel_s > 0 ? &sight : NULL, a->station[k].x_m,
                                &a->expected[k].rng);
}

/* What the draws at hand expect at every station. */
static void set_expected(hw__ade *a) {
  size_t index[HW__PICKED];
  const size_t n = hw__ade_pick(a, HW__PICKED, index);
  hw__walk_begin(a->spill.walk, &a->spill, a->draws.chance, n, index, a->draws.x);
  for (size_t k = 0; k < a->spill.count; k++) {
    hw__expected *e = &a->expected[k];
    *e = (hw__expected){.count = 0};
    hw_rng_seed(&e->rng, a->options.seed, UINT64_MAX - a->river->intake_count - k);
    const bool seen = hw__walk_to(a->spill.walk, k);
    for (size_t i = 0; i < n; i++) {
      const hw__curve c = expected_curve(a, i, k, seen);
      if (!(c.travel_s > 0)) {
        continue;
      }
      double y[HW__PULSE_SIZE];
      hw__curve_to(&c, y);
      e->count++;
      for (size_t j = 0; j < HW__PULSE_SIZE; j++) {
        e->y[j] += (y[j] - e->y[j]) / e->count;
      }
    }
  }
}

static size_t pulse_size(const hw__ade *a) {
  return a->spill.lasting ? HW__PULSE_SIZE : HW__INSTANT_SIZE;
}

/* Twice what a station's ln likelihood changes, to second order, between where it was looked at and here. */
static double distance(const hw__quadratic *q, size_t size, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < size; j++) {
      sum += (y[i] - q->at[i]) * q->curvature[i][j] * (y[j] - q->at[j]);
    }
  }
  return sum;
}

/* Stations that were looked at by themselves are looked at again where the river expects their pulse: there the second
 * order is right, whatever the shape of the likelihood elsewhere. Returned: how far the furthest of them moved. */
static double look_again(hw__ade *a) {
  double most = 0;
  set_expected(a);
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__expected *e = &a->expected[k]; /* worth something where most of the draws pass */
    if (a->fit[k].seen && k != a->spill.anchor && e->count > 0.5 * HW__PICKED) {
      most = fmax(most, distance(&a->fit[k].near, pulse_size(a), e->y));
      hw__view_expand(a->station[k].view, &a->tails, pulse_size(a), e->y, &a->fit[k].near);
    }
  }
  return most;
}

/* How much of the common doubt is let in below the anchor as a local one, look by look. Where all doubt is common a
 * draw would have to meet the next sensor's pulse to the second, and none does at first. */
static double easing(const hw__ade *a, size_t look) {
  static const double share[] = {1, 0.2, 0.04, 0.008};
  const hw__doubt *d = &a->spill.doubt;
  const bool common_alone = (d->common_v > 0 && !(d->local_v > 0)) || (d->common_d > 0 && !(d->local_d > 0));
  return common_alone && look < sizeof share / sizeof share[0] ? share[look] : 0;
}

bool hw__ade_is_filtering(const hw__ade *a) {
  const hw__doubt *d = &a->spill.doubt;
  return d->local_v > 0 || d->local_d > 0 || any_gain(a) || a->spill.eased_v > 0 || a->spill.many;
}

void hw__ade_add_durations(const hw__ade *a, const hw__mixture *instant, hw__mixture *out) {
  hw__mixture_extend(instant, log(6 * a->spill.last.shortest_s), 0.7, out);
}

double hw__ade_odds(const hw__ade *a) {
  return odds_of(a, a->found.log_evidence);
}

/* Behind the rivals by so much (ln) after a first look, which passes by pulses that cannot tell, and after a later one,
 * a hypothesis is given up. */
static const double far_behind = 50, behind = 18;
/* Draws that began near others must keep this many of themselves, or they begin anywhere. */
static const double least_effective = 100;

static void look_first(hw__ade *a, uint64_t stream, const hw__mixture *near, bool last, double least) {
  hw__mixture extended;
  if (near) {
    hw__ade_add_durations(a, near, &extended);
  }
  anneal(a, stream, near ? &extended : NULL, last, least);
  const bool enough = a->found.found && (a->found.effective > least_effective || hw__ade_odds(a) < least);
  if (near && !enough) {
    anneal(a, stream, NULL, last, least);
  }
  if (!a->found.found && hw__can_draw_near(&a->spill)) {
    a->spill.anywhere = true;
    anneal(a, stream, NULL, last, least);
  }
}

static void begin(hw__ade *a, size_t sensor) {
  const size_t anchor = hw__ade_set_stations(a, sensor);
  if (a->spill.lasting) {
    hw__ade_expect_lasting(a, anchor, false);
  }
  hw__spill_anchor(&a->spill, anchor);
  a->spill.anywhere = a->spill.boxed;
}

static uint64_t stream_of(const hw__ade *a, size_t sensor, size_t look) {
  return (a->spill.lasting ? HW__LASTING_STREAM : 0) + 16 * sensor + look;
}

void hw__ade_keep(hw__ade *a) {
  hw__kept *kept = &a->kept[a->spill.lasting];
  kept->found = a->found.found;
  kept->proposal = a->found.proposal;
  for (size_t k = 0; k < a->spill.count; k++) {
    kept->near[k] = a->fit[k].near;
  }
}

void hw__ade_take_up(hw__ade *a, size_t sensor) {
  const hw__kept *kept = &a->kept[a->spill.lasting];
  begin(a, sensor);
  for (size_t k = 0; k < a->spill.count; k++) {
    a->fit[k].near = kept->near[k];
  }
  a->outdone = a->spill.first_look = a->spill.many = false;
  anneal(a, stream_of(a, sensor, MOST_LOOKS), &kept->proposal, true, -INFINITY);
}

void hw__ade_explore(hw__ade *a, size_t sensor, const hw__mixture *near) {
  const hw__doubt *d = &a->spill.doubt;
  begin(a, sensor);
  a->found = (hw__annealed){0};
  a->outdone = false;
  const bool eased = easing(a, 0) > 0;
  const size_t looks = eased ? EASED_LOOKS : LOOKS;
  double moved = 0;
  for (size_t look = 0; look < MOST_LOOKS; look++) {
    const bool enough = (look + 1 >= looks && moved < settled) || look + 1 == MOST_LOOKS;
    const hw__mixture from = a->found.proposal;
    a->spill.first_look = look == 0;
    a->spill.eased_v = d->local_v > 0 ? 0 : easing(a, look) * d->common_v;
    a->spill.eased_d = d->local_d > 0 ? 0 : easing(a, look) * d->common_d;
    a->spill.many = a->seen > MANY && !enough;
    const bool last = enough || (!hw__ade_is_filtering(a) && !eased);
    const double rival = a->rivals.log_odds[a->spill.lasting];
    const double least = last ? -INFINITY : look == 0 ? fmax(rival, a->bar) - far_behind : fmax(rival - behind, a->bar);
    if (look == 0) {
      look_first(a, stream_of(a, sensor, look), near, last, least);
    } else {
      anneal(a, stream_of(a, sensor, look), &from, last, least);
    }
    a->outdone = a->found.found && hw__ade_odds(a) < least;
    if (!a->found.found || last || a->outdone) {
      break;
    }
    moved = look_again(a);
  }
  a->spill.eased_v = a->spill.eased_d = 0;
}

#include "posterior/suppose.h"

#include <math.h>
#include <string.h>

#include "posterior/kernel.h"
#include "posterior/looks.h"
#include "posterior/samples.h"
#include "posterior/stations.h"
#include "posterior/walk.h"

/* A duration is told where it is more probable than an instant. Where it is not, the readings do not speak for one, and
 * what the prior says of durations would widen every answer by what nobody saw. */
static const double worth_telling = 0.5;
/* A duration whose evidence is on the way less than an instant's by so much (ln) will not be told, and a hypothesis
 * that is behind another by so much will not take its place. */
static const double plainly_less = 2, far_less = 9;
/* Odds at a glance from which on it is looked at, and how much worse in ln than by its own pulse a sensor may be
 * explained. */
static const double worth_a_look = 0.5, plain_deficit = 6.5;
/* By so much in ln a sensor's own pulse must prefer a duration to be supposed at first to have one. */
static const double plainly_worse = 15;

/* Station k's readings under the curves that every `step`th pick expects there, the filter's local factors in them:
 * of the picks that lasted, or of the instants. */
static void log_expected(const hw__ade *a, size_t k, size_t step, bool lasting, double *out) {
  hw__curves four[HW__FOURS] = {{{0}}};
  double found[HW__PICKED], clean[HW__PICKED];
  size_t n = 0, at[HW__PICKED];
  for (size_t j = 0; j < HW__PICKED; j += step) {
    if ((a->released[j].duration_s > 0) == lasting) {
      at[n++] = j;
    }
  }
  for (size_t i = 0; i < (n + HW__LANES - 1) / HW__LANES * HW__LANES; i++) { /* the last one again to fill the lanes */
    const size_t j = at[i < n ? i : n - 1];
    const hw__sight *sight = &a->sight[j * a->spill.count + k];
    const hw__curve nothing = {.travel_s = 1, .variance_s2 = 1, .duration_s = 1};
    hw__curves_set(&four[i / HW__LANES], i % HW__LANES,
                   sight->travel_s > 0 ? hw__sight_curve(&a->spill, &a->released[j], k, sight) : nothing);
  }
  hw__kernel_log_likelihood(a->station[k].view, &a->tails, n, four, lasting, found, clean);
  for (size_t i = 0; i < n; i++) {
    out[at[i] / step] = found[i];
  }
}

/* How probable it is that each sensor is wrong, and how much better its own pulse explains its readings. */
static void blame(hw__ade *a) {
  enum { EVERY = 8 }; /* pick for what is missing where a filter has been: it need not be exact */
  double expected[HW__PICKED];
  a->deficit = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    double reached = 0, weighed = 0;
    const bool filtered = !isnan(a->sight[k].log_likelihood);
    const size_t step = filtered ? EVERY : 1;
    log_expected(a, k, step, false, expected);
    log_expected(a, k, step, true, expected);
    a->wrong[k] = 0;
    for (size_t j = 0; j < HW__PICKED; j++) {
      const hw__sight *sight = &a->sight[j * a->spill.count + k];
      const double found = isnan(sight->log_likelihood) ? expected[j / step] : sight->log_likelihood;
      double wrong;
      weighed += hw__station_log_probability(&a->station[k], found, &wrong) / HW__PICKED;
      a->wrong[k] += wrong / HW__PICKED;
    }
    for (size_t j = 0; j < HW__PICKED / step; j++) {
      reached += expected[j] * (double)step / HW__PICKED;
    }
    a->deficit = fmax(a->deficit, a->fit[k].log_likelihood - weighed);
    a->missing[k] = a->station[k].gain_sd > 0 ? 0 : a->fit[k].log_likelihood - reached;
  }
}

/* Draws of the hypothesis at hand; with them what it has reached. */
static void explore(hw__ade *a, size_t sensor, const hw__mixture *near) {
  hw__ade_explore(a, sensor, near);
  if (a->found.found) {
    a->reached[a->spill.lasting] = fmax(a->reached[a->spill.lasting], hw__ade_odds(a));
  }
}

/* Supposes what the draws at hand suppose: samples, evidence, blame. */
static void settle_on(hw__ade *a) {
  a->lasting = a->spill.lasting ? 1 : 0;
  a->log_odds = a->found.found ? hw__ade_odds(a) : -INFINITY;
  if (a->outdone) {
    a->found.found = false;
  } else if (a->found.found) {
    hw__ade_set_samples(a);
    blame(a);
  }
}

/* The hypothesis at hand, following the pulse of this sensor. */
static void suppose(hw__ade *a, size_t sensor) {
  explore(a, sensor, NULL);
  settle_on(a);
}

/* The same once more, where something else has been tried in between. */
static void suppose_again(hw__ade *a, size_t sensor) {
  if (a->kept[a->spill.lasting].found) {
    hw__ade_take_up(a, sensor);
    settle_on(a);
  } else {
    suppose(a, sensor);
  }
}

/* An instant explains what was seen: may it have lasted all the same? A glance at the evidence, with all but the
 * duration drawn as the instant has it. */
static double glance_at_lasting(hw__ade *a) {
  hw__mixture from;
  const hw__mixture *instant = &a->found.proposal;
  a->spill.lasting = true;
  hw__ade_expect_lasting(a, a->spill.anchor, true);
  hw__spill_anchor(&a->spill, a->spill.anchor);
  hw__ade_add_durations(a, instant, &from);
  const hw__target target = hw__spill_target(&a->spill);
  const double evidence = hw__anneal_glance(&target, a->options.seed, HW__LASTING_STREAM - 1, &from, &a->draws);
  a->spill.lasting = false;
  return hw__lasting_log_odds(&a->spill.last, a->found.log_evidence, evidence);
}

static bool any_pulse_lasts(const hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    if (a->fit[k].strong && a->fit[k].lasting) {
      return true;
    }
  }
  return false;
}

/* A glance sees what lies near the instant. Where all of the river is known an instant is placed so well that a release
 * that lasted, which began elsewhere, is out of its sight: it is asked, and with so few coordinates soon answered. */
static bool is_out_of_sight(const hw__ade *a) {
  enum { TIME_PLACE_MASS = 3 };
  return a->spill.dims <= TIME_PLACE_MASS;
}

/* Worth the time to suppose? Where a pulse by itself looks like it, where a sensor can be explained better (which only
 * shows where the river leaves nothing open between sensors), or where the readings might speak for it. */
static bool may_have_lasted(hw__ade *a) {
  return any_pulse_lasts(a) || (!hw__ade_is_filtering(a) && a->deficit > plain_deficit) ||
         (a->fit[a->spill.anchor].complete && (is_out_of_sight(a) || glance_at_lasting(a) > log(worth_a_look)));
}

/* Both hypotheses share the samples by what they explain, the instant's being in place. */
static void suppose_lasting_too(hw__ade *a, size_t sensor) {
  const hw__annealed instant = a->found;
  a->spill.lasting = true;
  a->bar = a->log_odds - plainly_less;
  explore(a, sensor, &instant.proposal);
  const double more = a->found.found && !a->outdone
                          ? hw__lasting_log_odds(&a->spill.last, instant.log_evidence, a->found.log_evidence)
                          : -INFINITY;
  const double share = 1 / (1 + exp(-more));
  if (share < worth_telling) {
    a->found = instant;
  } else {
    a->lasting = share;
    a->log_odds += more > 0 ? more + log1p(exp(-more)) : log1p(exp(more));
    hw__ade_mix_samples(a, share);
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

static bool is_explained(const hw__ade *a) {
  return a->found.found && !most_are_wrong(a);
}

/* The most upstream pulse is the one to follow, unless it turns out to be another thing than what the others saw.
 * Returned: the one followed. */
static size_t follow(hw__ade *a, const size_t *anchor, size_t anchors) {
  size_t best = 0, tried = 0;
  double evidence = -INFINITY;
  bool given_up = false;
  while (tried < anchors) {
    suppose(a, anchor[tried]);
    if (tried == 0 || a->found.log_evidence > evidence) {
      evidence = a->found.log_evidence;
      best = tried;
      given_up = a->outdone;
      a->bar = fmax(a->bar, a->log_odds - far_less);
      hw__ade_keep(a);
    }
    tried++;
    /* Where another branch explains every pulse, one that has to call a sensor wrong cannot come near it. */
    if (is_explained(a) || (a->outdone && a->rivals.explained)) {
      break;
    }
  }
  if (best != tried - 1 && !given_up) {
    suppose_again(a, anchor[best]);
  }
  return anchor[best];
}

void hw__ade_suppose_duration(hw__ade *a) {
  a->deferred = false;
  if (may_have_lasted(a)) {
    suppose_lasting_too(a, a->followed);
  }
}

/* One release, an instant's or one that lasted. What the first pulse looks like is tried first, the other where that
 * does not explain the readings, or where it may explain them too. */
static void suppose_either(hw__ade *a, const size_t *anchor, size_t anchors) {
  const hw__fit *first = &a->own[anchor[0]];
  const bool plain = first->lasting && first->near.log_at < first->log_likelihood - plainly_worse;
  if (a->brief) {
    a->spill.lasting = false;
    follow(a, anchor, 1);
    return;
  }
  a->spill.lasting = plain;
  const size_t followed = follow(a, anchor, anchors);
  if (is_explained(a)) {
    a->followed = followed;
    a->deferred = a->defers && !plain;
    if (!plain && !a->defers) {
      hw__ade_suppose_duration(a);
    }
    return;
  }
  const double odds = a->log_odds;
  const bool given_up = a->outdone;
  if (given_up && a->rivals.explained && (plain || !any_pulse_lasts(a))) {
    return;
  }
  a->spill.lasting = !plain;
  follow(a, anchor, 1);
  if (!is_explained(a) && !(a->log_odds > odds) && !given_up) {
    a->spill.lasting = plain;
    suppose_again(a, followed);
  }
}

/* No draw about the pulses falls into the search box: it may be as small as an accident whose time and place are known.
 * Then time and place are drawn inside it. That counts only if it explains the pulse that was followed: a box of
 * another season holds releases enough, all of them with sensors that are wrong. */
static void suppose_in_box(hw__ade *a, const size_t *anchor, size_t anchors) {
  const double lasting = a->lasting;
  a->spill.boxed = true;
  a->bar = -INFINITY;
  suppose_either(a, anchor, anchors);
  if (a->found.found && !(a->log_odds > 0 && a->wrong[a->spill.anchor] < 0.5)) {
    a->found.found = false;
  }
  if (!a->found.found) {
    a->log_odds = a->reached[0] = a->reached[1] = -INFINITY;
    a->lasting = lasting;
    memset(a->wrong, 0, a->spill.count * sizeof *a->wrong);
  }
}

void hw__ade_suppose(hw__ade *a, const size_t *anchor, size_t anchors) {
  a->spill.boxed = false;
  suppose_either(a, anchor, anchors);
  /* Not where others compete for the same readings: branches, halves of two releases, wider boxes, looser rivers. */
  if (!a->found.found && !a->outdone && !a->single && !a->spill.from_pulse) {
    suppose_in_box(a, anchor, anchors);
  }
}

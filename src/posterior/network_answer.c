/* What the engine of a network answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "posterior/network.h"
#include "posterior/network_inside.h"

static hw_range wall_range(const hw__network *n, const hw_intake *k, hw_range tau) {
  return (hw_range){hw__network_wall_s(n, k->branch, k->location_m, tau.lo),
                    hw__network_wall_s(n, k->branch, k->location_m, tau.mid),
                    hw__network_wall_s(n, k->branch, k->location_m, tau.hi)};
}

static bool is_larger(const hw_suspicion *a, const hw_suspicion *b) {
  return a->probability > b->probability;
}

static size_t suspect(hw__network *n) {
  const size_t count = n->river->candidate_count;
  const double total = hw__network_all_odds(n);
  for (size_t k = 0; k <= count && count > 0; k++) {
    const double odds = k < count ? n->odds[k] : n->river->none_prior;
    const hw_suspicion row = {k < count ? (ptrdiff_t)k : -1, total > 0 ? odds / total : 0};
    size_t at = k;
    for (; at > 0 && is_larger(&row, &n->suspicions[at - 1]); at--) {
      n->suspicions[at] = n->suspicions[at - 1];
    }
    n->suspicions[at] = row;
  }
  return count > 0 ? count + 1 : 0;
}

/* The times of the likeliest branch, the probabilities of all. */
static size_t foresee(hw__network *n) {
  hw__ade *a = n->best->engine;
  const size_t count = hw__ade_forecast(a);
  size_t kept = 0;
  for (size_t k = 0; k < count; k++) {
    hw_arrival arrival = a->arrivals[k];
    for (size_t i = 0; i < n->river->intake_count; i++) {
      if (strcmp(n->river->intakes[i].id, n->best->river.intakes[a->arrivals[k].intake].id) == 0) {
        const hw_intake *at = &n->river->intakes[i];
        arrival.intake = i;
        arrival.first_s = wall_range(n, at, arrival.first_s);
        arrival.peak_s = wall_range(n, at, arrival.peak_s);
        arrival.last_s = wall_range(n, at, arrival.last_s);
        const double dilution = isfinite(arrival.peak_s.mid)
                                    ? hw__clock_dilution(n->clock, at->branch, at->location_m, arrival.peak_s.mid)
                                    : 1;
        arrival.peak_g_m3 = (hw_range){arrival.peak_g_m3.lo / dilution, arrival.peak_g_m3.mid / dilution,
                                       arrival.peak_g_m3.hi / dilution};
        arrival.exceeds_alarm = isnan(arrival.exceeds_alarm) ? arrival.exceeds_alarm : n->exceeds[i] * n->probability;
        n->arrivals[kept++] = arrival;
      }
    }
  }
  return kept;
}

/* The densest stretches of all branches together: each branch by itself, its regions weighed by its probability, until
 * the level is held. */
static size_t regions_of(hw__network *n, double level) {
  size_t count = 0;
  double held = 0;
  for (size_t k = 0; k < n->part_count && held < level && count < HW__MOST_REGIONS; k++) {
    const hw_branch_share *share = &n->shares[k];
    size_t here = 0;
    static const double least = 1e-3;
    if (share->probability < least) {
      break;
    }
    hw_sample *own = n->samples; /* samples stand branch by branch */
    for (size_t i = 0; i < n->sample_count; i++) {
      if (n->samples[i].source.branch == share->branch) {
        own = here == 0 ? &n->samples[i] : own;
        here++;
      }
    }
    if (here == 0) {
      continue;
    }
    hw_box box = n->river->search;
    if (n->river->branch_count > 0) {
      box.lo.location_m = n->river->branches[share->branch].search_lo_m;
      box.hi.location_m = n->river->branches[share->branch].search_hi_m;
    }
    const double wanted = fmin((level - held) / share->probability, level);
    hw_region found[HW__MOST_REGIONS];
    const size_t stretches = hw__summary_regions(&box, own, here, wanted, &n->sorting, found);
    for (size_t i = 0; i < stretches && count < HW__MOST_REGIONS; i++) {
      found[i].branch = share->branch;
      found[i].probability *= share->probability;
      held += found[i].probability;
      n->regions[count++] = found[i];
    }
  }
  return count;
}

static void warn_nothing_seen(hw__network *n) {
  hw__warnings_clear(&n->warnings);
  for (size_t s = 0; s < n->river->sensor_count; s++) {
    if (n->series[s].count > 0) {
      hw__warn_never_rose(&n->warnings, &n->river->sensors[s], n->own[s].level_g_m3);
    }
  }
}

static bool is_on_course(const hw__part *p, size_t sensor) {
  for (size_t k = 0; k < p->river.sensor_count; k++) {
    if (p->sensors[k] == sensor) {
      return true;
    }
  }
  return false;
}

/* A plain pulse that no water from the answer's branch brings there: another release, or that sensor is wrong. Where
 * there are more of these than the answer explains, it is none. NULL: no such pulse. */
static const hw_sensor *find_another(hw__network *n) {
  hw__ade *a = n->best->engine;
  const hw_sensor *first = NULL;
  size_t others = 0, explained = 0;
  for (size_t s = 0; s < n->river->sensor_count; s++) {
    if (n->series[s].count > 0 && n->own[s].strong && !is_on_course(n->best, s)) {
      first = others++ == 0 ? &n->river->sensors[s] : first;
    }
  }
  for (size_t k = 0; k < a->spill.count; k++) {
    explained += a->fit[k].strong && a->wrong[k] < 0.5;
  }
  if (first && a->trust != HW_TRUST_NONE) {
    a->trust = others > explained ? HW_TRUST_NONE : a->trust;
    snprintf(a->reason, sizeof a->reason,
             "sensor %s shows a plain pulse that this release does not bring there: there may be another one, or the "
             "sensor is wrong",
             first->id);
  }
  return first;
}

hw_status hw__network_estimate(void *state, hw_estimate *out) {
  hw__network *n = state;
  const hw_status status = hw__network_settle(n);
  if (status != HW_OK) {
    return status;
  }
  if (n->two.found) {
    hw__two_estimate(&n->two, out);
    return HW_OK;
  }
  hw_estimate e;
  if (!n->best) {
    hw_estimate_init(&e);
    e.level = n->options.level;
    e.stop = HW_STOP_COMPLETE;
    e.loss = NAN;
    e.spill = n->probability;
    e.trust = HW_TRUST_FULL;
    e.trust_reason = "no sensor shows a pulse above its noise";
    e.has_source = false;
    warn_nothing_seen(n);
    e.warnings = n->warnings.pointers;
    e.warning_count = n->warnings.count;
    e.cost.state_bytes = n->bytes;
    *out = e;
    return HW_OK;
  }
  const hw_sensor *another = find_another(n);
  const hw_status answered = hw__ade_estimate(n->best->engine, &e);
  if (answered != HW_OK) {
    return answered;
  }
  e.spill = n->probability;
  e.cost.state_bytes = n->bytes + n->best->engine->bytes;
  if (e.has_source) {
    e.trust = another ? HW_TRUST_PROVISIONAL : e.trust;
    e.provisional = e.trust == HW_TRUST_PROVISIONAL;
    const double lasted = e.duration_s.mid;
    hw__summary_source(n->best->samples, HW__FINAL, e.level, &n->sorting, &e.source, &e.interval);
    e.source.branch = n->best->branch;
    e.duration_s = hw__summary_range(n->best->samples, HW__FINAL, hw__sample_duration, e.level, &n->sorting);
    e.rate_g_s *= lasted > 0 && e.duration_s.mid > 0 ? lasted / e.duration_s.mid : 1;
    e.suspicion_count = suspect(n);
    e.suspicions = n->suspicions;
    e.arrival_count = foresee(n);
    e.arrivals = n->arrivals;
    e.region_count = regions_of(n, e.level);
    e.regions = n->regions;
    e.branches = n->shares;
    e.branch_count = n->part_count;
  }
  *out = e;
  return HW_OK;
}

hw_status hw__network_samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  hw__network *n = state;
  const hw_status status = hw__network_settle(n);
  *count = 0;
  if (status == HW_OK && n->two.found) { /* the larger one's */
    return hw__network_samples(n->two.state[hw__two_larger(&n->two)], out, capacity, count);
  }
  for (size_t i = 0; status == HW_OK && i < n->sample_count && *count < capacity; i++) {
    /* Evenly, so that fewer keep the branches' shares. */
    if (capacity >= n->sample_count || i * capacity / n->sample_count != (i + 1) * capacity / n->sample_count) {
      out[(*count)++] = n->samples[i];
    }
  }
  for (size_t i = 0; i < *count; i++) {
    out[i].weight = 1 / (double)*count;
  }
  return status;
}

/* One time at a time: each has its own place in the river's clock, and its own dilution. */
hw_status hw__network_predict(void *state, const hw_prediction *prediction) {
  hw__network *n = state;
  hw_status status = isfinite(prediction->x_m) ? hw__network_settle(n) : HW_EDOMAIN;
  if (status == HW_OK && n->two.found) {
    return hw__two_predict(&n->two, &hw__network_asked, prediction);
  }
  double x_m = prediction->x_m;
  const bool passes =
      status == HW_OK && n->best && hw__course_place(n->best->course, prediction->branch, prediction->x_m, &x_m);
  for (size_t i = 0; status == HW_OK && i < prediction->count; i++) {
    const double wall = prediction->time_s[i];
    hw_range *out = &prediction->out_g_m3[i];
    *out = (hw_range){0, 0, 0};
    if (!isfinite(wall)) {
      status = HW_EDOMAIN;
    } else if (passes) {
      const double tau = hw__clock_in(n->clock, prediction->branch, prediction->x_m, wall);
      const double dilution = hw__clock_dilution(n->clock, prediction->branch, prediction->x_m, wall);
      const hw_prediction on_course = {.x_m = x_m, .time_s = &tau, .count = 1, .out_g_m3 = out};
      status = hw__ade_predict(n->best->engine, &on_course);
      *out = (hw_range){out->lo / dilution, out->mid / dilution, out->hi / dilution};
    }
  }
  return status;
}

/* What the engine says: estimate, samples, predictive bands. */
#include <math.h>
#include <string.h>

#include "posterior/ade.h"
#include "posterior/scales.h"
#include "posterior/walk.h"

/* A rate is given where the release goes on with at least this probability. */
static const double least_flowing = 0.05;

static const hw_sensor *sensor_at(const hw__ade *a, size_t k) {
  return &a->river->sensors[a->station[k].sensor];
}

/* The only other station that saw a pulse; as many as there are: none, or several. */
static size_t only_other_pulse(const hw__ade *a, size_t k) {
  size_t other = a->spill.count, seen = 0;
  for (size_t i = 0; i < a->spill.count; i++) {
    if (a->fit[i].seen && i != k) {
      other = i;
      seen++;
    }
  }
  return seen == 1 ? other : a->spill.count;
}

static void warn_wrong(hw__ade *a, size_t k) {
  const hw__fit *fit = &a->fit[k];
  const size_t other = only_other_pulse(a, k);
  if (a->station[k].suspect && fit->flat) {
    hw__warn(&a->warnings, "sensor %s reads %g g/m3 throughout, without any noise: it is not believed, it may be dead",
             sensor_at(a, k)->id, fit->level_g_m3);
  } else if (a->station[k].suspect) {
    hw__warn(
        &a->warnings,
        "sensor %s scatters %.3g times as much as its stated noise while it is quiet: it is not believed, its unit "
        "may be another",
        sensor_at(a, k)->id, fit->scatter);
  } else if (fit->seen && other < a->spill.count) {
    hw__warn(&a->warnings, "sensors %s and %s contradict each other: either may be wrong, and %s is not believed here",
             sensor_at(a, k)->id, sensor_at(a, other)->id, sensor_at(a, k)->id);
  } else {
    hw__warn(&a->warnings, "sensor %s contradicts the others and is not believed: %s", sensor_at(a, k)->id,
             fit->seen  ? "its pulse is not the one they saw"
             : fit->few ? "what was read there is not what the plume would bring"
                        : "it shows nothing where the plume passes");
  }
}

static bool is_quiet(const hw__ade *a, size_t k) {
  return !a->fit[k].seen && !a->fit[k].few && !(a->found.found && a->wrong[k] > 0.5);
}

/* One by one while they are few: sixty of them would hide what matters. */
static void warn_quiet(hw__ade *a) {
  static const size_t few = 6;
  size_t quiet = 0, last = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    quiet += is_quiet(a, k);
    last = is_quiet(a, k) ? k : last;
  }
  for (size_t k = 0; k < a->spill.count && quiet <= few; k++) {
    if (is_quiet(a, k)) {
      hw__warn_never_rose(&a->warnings, sensor_at(a, k), a->fit[k].level_g_m3);
    }
  }
  if (quiet > few) {
    hw__warn(&a->warnings,
             "%zu of %zu sensors never rose above their background or detection limit, %s the last of them", quiet,
             a->spill.count, sensor_at(a, last)->id);
  }
}

static void warn_sensors(hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw_sensor *sensor = sensor_at(a, k);
    const hw__fit *fit = &a->fit[k];
    if (a->found.found && a->wrong[k] > 0.5) {
      warn_wrong(a, k);
    }
    if (fit->seen && isfinite(fit->clipped_at_g_m3)) {
      hw__warn(&a->warnings, "sensor %s stays at its highest value, %g g/m3, which is taken as 'at least that'",
               sensor->id, fit->clipped_at_g_m3);
    }
    if (fit->seen && fit->inflation > 2.5 && !(fit->memory > 0)) {
      hw__warn(&a->warnings, "sensor %s scatters %.1f times as much as its stated noise, which the intervals allow for",
               sensor->id, sqrt(fit->inflation));
    }
    if (fit->seen && fit->memory > 0) {
      hw__warn(
          &a->warnings,
          "the noise of sensor %s goes on from reading to reading (autocorrelation %.1f), so its readings count as "
          "fewer",
          sensor->id, fit->memory);
    }
  }
}

static void warn(hw__ade *a, bool has_source) {
  size_t conflicts = 0;
  hw__warnings_clear(&a->warnings);
  hw__warn_incomplete(&a->warnings, a->trust == HW_TRUST_PROVISIONAL);
  if (has_source) {
    hw__warn_box(&a->warnings, &a->river->search, a->samples, HW__FINAL);
  }
  warn_sensors(a);
  if (a->found.found) {
    hw__ade_warn_scales(a);
  }
  warn_quiet(a);
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    conflicts += a->series[s].conflicts;
  }
  if (conflicts > 0) {
    hw__warn(&a->warnings, "%zu readings came twice with different values; the first was kept", conflicts);
  }
}

/* Lone readings far off are told. Returned: the mean squared misfit. */
static double tell_residuals(hw__ade *a) {
  double sum = 0, count = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__view *v = a->station[k].view;
    const hw__residuals *r = &a->residuals[k];
    sum += r->squares;
    count += r->readings;
    if (a->wrong[k] < 0.5 &&
        (a->fit[k].few || r->spikes <= v->count / 10)) { /* more of them are another thing than spikes */
      hw__warn_spike(&a->warnings, &a->river->sensors[a->station[k].sensor], r->spikes, v->time_s[r->last],
                     v->value_g_m3[r->last]);
    }
  }
  return count > 0 ? sum / count : NAN;
}

static hw_range hydraulic_range(hw__ade *a, hw__sample_part part, double median, bool known) {
  if (known) {
    return (hw_range){median, median, median};
  }
  return hw__summary_range(a->samples, HW__FINAL, part, a->options.level, &a->sorting);
}

static double flowed_s(const hw__ade *a, const hw_sample *s) {
  return fmin(s->duration_s, a->last_s - s->source.time_s);
}

/* Does the release go on as far as anybody has read? Returned: the probability; the rate of those draws that say so,
 * NAN where they are few. */
static double still_flowing(hw__ade *a, double *rate_g_s) {
  double flowing = 0;
  size_t n = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    const hw_sample *s = &a->samples[i];
    if (s->weight > 0 && s->duration_s > flowed_s(a, s)) {
      flowing += s->weight;
      a->sorting.value[n] = s->source.mass_g / fmax(flowed_s(a, s), 1);
      a->sorting.weight[n++] = s->weight;
    }
  }
  *rate_g_s = flowing > least_flowing ? hw__scratch_range(&a->sorting, n, a->options.level).mid : NAN;
  return flowing;
}

hw_status hw__ade_estimate(void *state, hw_estimate *out) {
  hw__ade *a = state;
  const hw_status status = hw__ade_settle(a);
  if (status != HW_OK) {
    return status;
  }
  if (a->two.found) {
    hw__two_estimate(&a->two, out);
    return HW_OK;
  }
  hw_estimate e;
  hw_estimate_init(&e);
  e.level = a->options.level;
  e.stop = HW_STOP_COMPLETE;
  e.loss = NAN;
  e.spill = a->probability;
  e.trust = a->trust;
  e.trust_reason = a->reason[0] ? a->reason : NULL;
  e.provisional = a->trust == HW_TRUST_PROVISIONAL;
  e.has_source = a->trust != HW_TRUST_NONE && a->found.found && a->probability >= 0.5;
  if (e.has_source) {
    const hw_hydraulics *h = &a->river->hydraulics;
    e.has_interval = true;
    hw__summary_source(a->samples, HW__FINAL, e.level, &a->sorting, &e.source, &e.interval);
    e.duration_s = hw__summary_range(a->samples, HW__FINAL, hw__sample_duration, e.level, &a->sorting);
    e.still_flowing = still_flowing(a, &e.rate_g_s);
    if (e.provisional && !(a->lasting > 0)) {
      e.still_flowing = NAN; /* what rises may go on: that an instant explains it too does not say that it ended */
    }
    e.region_count = hw__summary_regions(&a->river->search, a->samples, HW__FINAL, e.level, &a->sorting, a->regions);
    e.regions = a->regions;
    e.branches = &hw__only_branch;
    e.branch_count = 1;
    e.has_hydraulics = true;
    e.velocity_m_s = hydraulic_range(a, hw__sample_velocity, h->velocity_m_s.value, !(a->spill.doubt.common_v > 0));
    e.dispersion_m2_s =
        hydraulic_range(a, hw__sample_dispersion, h->dispersion_m2_s.value, !(a->spill.doubt.common_d > 0));
    e.suspicion_count = hw__summary_suspicions(a->river, a->samples, HW__FINAL, NULL, NULL, &a->sorting, a->suspicions);
    e.suspicions = a->suspicions;
    e.arrival_count = hw__ade_forecast(a);
    e.arrivals = a->arrivals;
  }
  warn(a, e.has_source);
  if (e.has_source) {
    e.loss = tell_residuals(a);
  }
  e.warnings = a->warnings.pointers;
  e.warning_count = a->warnings.count;
  e.cost = (hw_cost){.model_evaluations = a->evaluations, .state_bytes = a->bytes};
  *out = e;
  return HW_OK;
}

hw_status hw__ade_samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  hw__ade *a = state;
  const hw_status status = hw__ade_settle(a);
  *count = 0;
  if (status == HW_OK && a->two.found) { /* the larger one's */
    return hw__ade_samples(a->two.state[hw__two_larger(&a->two)], out, capacity, count);
  }
  if (status != HW_OK || !a->found.found) {
    return status;
  }
  if (capacity >= HW__FINAL) {
    memcpy(out, a->samples, HW__FINAL * sizeof *out);
    *count = HW__FINAL;
    return HW_OK;
  }
  /* Fewer are wanted: equally weighted ones, chosen systematically. */
  double running = 0;
  for (size_t i = 0; i < HW__FINAL && *count < capacity; i++) {
    running += a->samples[i].weight;
    while (*count < capacity && ((double)*count + 0.5) / (double)capacity < running) {
      out[*count] = a->samples[i];
      out[(*count)++].weight = 1 / (double)capacity;
    }
  }
  return HW_OK;
}

hw_status hw__ade_predict(void *state, const hw_prediction *prediction) {
  hw__ade *a = state;
  if (!isfinite(prediction->x_m)) {
    return HW_EDOMAIN;
  }
  for (size_t i = 0; i < prediction->count; i++) {
    if (!isfinite(prediction->time_s[i])) {
      return HW_EDOMAIN;
    }
  }
  const hw_status status = hw__ade_settle(a);
  if (status != HW_OK) {
    return status;
  }
  if (a->two.found) {
    return hw__two_predict(&a->two, &hw__ade_asked, prediction);
  }
  double background = 0;
  size_t at = a->spill.count; /* the station there, if it is one */
  for (size_t k = 0; k < a->spill.count; k++) {
    if (!(fabs(a->station[k].x_m - prediction->x_m) > 0)) {
      background = a->station[k].view->background_g_m3;
      at = k;
    }
  }
  for (size_t i = 0; i < prediction->count; i++) {
    hw_rng rng;
    hw_rng_seed(&rng, a->options.seed, UINT64_MAX / 2);
    for (size_t j = 0; j < HW__PICKED; j++) {
      hw__curve c = {0};
      if (a->found.found) {
        const hw__sight *own = &a->sight[j * a->spill.count];
        c = at < a->spill.count ? hw__sight_curve(&a->spill, &a->released[j], at, &own[at])
                                : hw__picked_curve(a, j, prediction->x_m, &rng);
      }
      a->sorting.value[j] = background + (c.travel_s > 0 ? hw__curve_at(&c, prediction->time_s[i], 0) : 0);
      a->sorting.weight[j] = 1;
    }
    prediction->out_g_m3[i] = hw__scratch_range(&a->sorting, HW__PICKED, a->options.level);
  }
  return HW_OK;
}

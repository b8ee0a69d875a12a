/* What people read: the draws summed up, and a sentence for everything that is not as it should be. */
#include <math.h>

#include "field/engine.h"

/* Prior density of the place, flat in ln distance above the first pulse; for candidates. */
static double place_density(void *context, double location_m) {
  const hw__field *f = context;
  const hw_box *box = &f->river->search;
  if (f->pulse_count == 0) {
    const double length = box->hi.location_m - box->lo.location_m;
    return location_m >= box->lo.location_m && location_m <= box->hi.location_m ? 1 / fmax(length, 1e-6) : 0;
  }
  const double x = f->river->sensors[f->pulse_sensor[0]].location_m;
  const double far = x - box->lo.location_m, distance = x - location_m;
  const double near = fmax(x - box->hi.location_m, far / 1000);
  return far > near && distance >= near && distance <= far ? 1 / (distance * log(far / near)) : 0;
}

/* When the first pulse has risen to half its height. Given: there is one. */
static double risen_s(const hw__trace *trace) {
  size_t up = trace->onset;
  while (trace->clean[up] < trace->height_g_m3 / 2) {
    up++;
  }
  return trace->entry[up].time_s;
}

/* From half its height up to half down: as long as the release, when the top is flat. Good to some 15 %. */
static hw_range duration(const hw__field *f) {
  const hw__trace *trace = f->pulse_count > 0 ? &f->trace[f->pulse_sensor[0]] : NULL;
  if (!trace || !hw__trace_lasts(trace)) {
    return (hw_range){0};
  }
  if (!trace->fallen) {
    return (hw_range){NAN, NAN, NAN};
  }
  size_t down = trace->peak;
  for (size_t i = trace->peak; i < trace->count; i++) {
    down = trace->clean[i] >= trace->height_g_m3 / 2 ? i : down;
  }
  const double lasted = trace->entry[down].time_s - risen_s(trace);
  return (hw_range){lasted / 1.15, lasted, 1.15 * lasted};
}

/* Does a release with a flat top go on as far as its sensor has been read? The top says that it lasted at least so
 * long; what has ended since has not come down yet. How long it lasts is known to no scale, so it lasts longer than b,
 * given that it lasts longer than a, with probability a / b. */
static void judge_flowing(const hw__field *f, hw_estimate *e) {
  const hw_sensor *sensor = &f->river->sensors[f->pulse_sensor[0]];
  const hw__trace *trace = &f->trace[f->pulse_sensor[0]];
  if (!hw__trace_lasts(trace)) {
    return;
  }
  if (trace->fallen) {
    e->still_flowing = 0;
    return;
  }
  const double last_s = trace->entry[trace->count - 1].time_s, held_s = last_s - risen_s(trace);
  e->still_flowing = fmin(held_s / (last_s - e->source.time_s), 1);
  if (hw__discharge_of(f->river, sensor, e->velocity_m_s.mid) > 0) {
    e->rate_g_s = e->source.mass_g / held_s;
  }
}

static size_t heaviest(const hw__field *f) {
  size_t best = 0;
  for (size_t i = 1; i < HW__DRAWS; i++) {
    best = f->sample[i].weight > f->sample[best].weight ? i : best;
  }
  return best;
}

/* Mean square misfit at the first pulse's sensor, for the heaviest draw. */
static double mean_square_misfit(const hw__field *f) {
  const hw__trace *trace = &f->trace[f->pulse_sensor[0]];
  const hw__pulse *best = &f->pulse[heaviest(f) * f->pulse_capacity];
  double sum = 0;
  for (size_t i = 0; i < trace->count; i++) {
    const double off = trace->clean[i] - hw__pulse_height_at(f, best, trace->entry[i].time_s);
    sum += off * off;
  }
  return sum / (double)trace->count;
}

/* Probability that a sensor stayed quiet although the pulse went past it. */
static double passed_unseen(const hw__field *f, size_t sensor) {
  double sum = 0;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    sum += f->sample[i].weight > 0 && hw__field_quiet_weight(f, i, sensor) < -1 ? f->sample[i].weight : 0;
  }
  return sum;
}

/* Probability that a grab sample has nothing to do with the pulse. */
static double mistaken(const hw__field *f, size_t sensor) {
  double sum = 0;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    double wrong = 0;
    if (f->sample[i].weight > 0) {
      hw__field_grab_weight(f, i, sensor, &wrong);
    }
    sum += f->sample[i].weight * wrong;
  }
  return sum;
}

static void warn_sensors(hw__field *f) {
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    const hw__trace *trace = &f->trace[s];
    const hw_sensor *sensor = &f->river->sensors[s];
    hw__warn_spike(&f->warnings, sensor, trace->spikes, trace->spike_s, trace->spike_g_m3);
    if (f->pulse_count > 0 && hw__field_is_grab(f, s)) {
      if (mistaken(f, s) > 0.5) {
        hw__warn(&f->warnings,
                 "sensor %s: what was read there is not what the pulse would bring, and counts for little", sensor->id);
      }
    } else if (f->pulse_count > 0 && trace->count > 0 && !hw__field_is_pulse(f, s)) {
      const double unseen = passed_unseen(f, s);
      if (trace->height_g_m3 > 0) {
        hw__warn(&f->warnings,
                 "sensor %s rose to %.3g g/m3, not used: too little beside the others, too close to another sensor, "
                 "too vague a front, or one of too many",
                 sensor->id, trace->height_g_m3);
      } else if (unseen > 0.05) {
        hw__warn(&f->warnings,
                 "sensor %s stayed quiet although the pulse went past it with a probability of %.0f %%: is it working?",
                 sensor->id, 100 * unseen);
      } else {
        hw__warn_never_rose(&f->warnings, sensor, trace->background_g_m3);
      }
    }
  }
}

static void warn_model(hw__field *f) {
  const hw_hydraulics *own = &f->river->hydraulics;
  if (f->pulse_count == 0) {
    return;
  }
  const hw_sensor *first = &f->river->sensors[f->pulse_sensor[0]];
  if (!(hw__discharge_of(f->river, first, 1) > 0)) {
    hw__warn(&f->warnings, "neither discharge nor area is known: the mass is only what the search box says");
  }
  if (f->river->reach_count > 0 && own->velocity_m_s.certainty == HW_UNKNOWN) {
    hw__warn(&f->warnings, "the velocity is unknown: the reaches' velocities are not used");
  }
  for (size_t m = 0; m < f->pulse_count; m++) {
    const double misfit = f->gist[f->pulse_sensor[m]].misfit;
    if (misfit > 2.5 * f->population.shape_noise && f->trace[f->pulse_sensor[m]].fallen) {
      hw__warn(&f->warnings,
               "sensor %s: the pulse does not have the shape of a single release (misfit %.0f %% of its peak)",
               f->river->sensors[f->pulse_sensor[m]].id, 100 * misfit);
    }
  }
}

/* A discharge a hundred times that of the sensor above or below is a slip in its unit. */
static void warn_discharge(hw__field *f) {
  const hw_sensor *above = NULL;
  for (size_t i = 0; i < f->river->sensor_count; i++) {
    const hw_sensor *s = &f->river->sensors[f->order[i]];
    if (!(s->discharge_m3_s > 0)) {
      continue;
    }
    if (above && fabs(log(s->discharge_m3_s / above->discharge_m3_s)) > log(100)) {
      hw__warn(&f->warnings, "discharge_m3_s is %g at sensor %s and %g at %s: is one of them in another unit?",
               above->discharge_m3_s, above->id, s->discharge_m3_s, s->id);
    }
    above = s;
  }
}

/* A velocity given by the river file against the one the sensors show. */
static void warn_velocity(hw__field *f) {
  if (!f->velocity.given || f->pulse_count < 2) {
    return;
  }
  const hw__pulse *best = &f->pulse[heaviest(f) * f->pulse_capacity];
  const double distance =
      f->river->sensors[f->pulse_sensor[1]].location_m - f->river->sensors[f->pulse_sensor[0]].location_m;
  const double seen = distance / (best[1].phi_s - best[0].phi_s);
  const double off = fabs(log(seen) + f->population.reach_shift - f->velocity.mean);
  if (off > 3 * hypot(f->velocity.scale, 2 * f->population.reach_scale)) {
    hw__warn(&f->warnings,
             "the pulse moved at %.3g m/s between the first two sensors, against a given velocity of %.3g m/s", seen,
             exp(f->velocity.mean));
  }
}

/* Without a source no intake is given a time. Where no spill is seen, an alarm is at most as probable as a spill that
 * has not come by yet. */
static void withhold_arrivals(hw__field *f, hw_estimate *e) {
  const hw_range none = {NAN, NAN, NAN};
  for (size_t k = 0; k < f->river->intake_count; k++) {
    const bool says = f->river->intakes[k].alarm_g_m3 > 0 && e->trust != HW_TRUST_NONE;
    f->arrivals[k] = (hw_arrival){k, none, none, none, none, says ? e->spill : (double)NAN};
  }
  e->arrival_count = f->river->intake_count;
}

hw_status hw__field_estimate(void *state, hw_estimate *out) {
  hw__field *f = state;
  hw__field_settle(f);
  const double level = f->options.level;
  hw_estimate e;
  hw_estimate_init(&e);
  hw__summary_source(f->sample, HW__DRAWS, level, &f->scratch, &e.source, &e.interval);
  e.has_interval = true;
  e.level = level;
  hw__field_judge(f, &e);
  e.duration_s = duration(f);
  e.region_count = hw__summary_regions(&f->river->search, f->sample, HW__DRAWS, level, &f->scratch, f->regions);
  e.regions = f->regions;
  e.branches = &hw__only_branch;
  e.branch_count = 1;
  e.has_hydraulics = true;
  e.velocity_m_s = hw__summary_range(f->sample, HW__DRAWS, hw__sample_velocity, level, &f->scratch);
  e.dispersion_m2_s = (hw_range){NAN, NAN, NAN};
  if (e.has_source) {
    judge_flowing(f, &e);
  }
  e.suspicion_count =
      hw__summary_suspicions(f->river, f->sample, HW__DRAWS, place_density, f, &f->scratch, f->suspicions);
  e.suspicions = f->suspicions;
  hw__field_arrivals(f, &e.arrival_count);
  if (!e.has_source) {
    withhold_arrivals(f, &e);
  }
  for (size_t k = 0; k < e.arrival_count && e.has_source; k++) {
    f->arrivals[k].exceeds_alarm *= e.spill;
  }
  e.arrivals = f->arrivals;
  if (f->pulse_count > 0) {
    e.loss = mean_square_misfit(f);
  }
  e.stop = HW_STOP_COMPLETE;
  e.cost = (hw_cost){.model_evaluations = f->evaluations, .state_bytes = f->bytes};
  hw__warnings_clear(&f->warnings);
  hw__warn_incomplete(&f->warnings, f->pulse_count > 0 && !f->trace[f->pulse_sensor[0]].fallen);
  warn_model(f);
  warn_discharge(f);
  warn_velocity(f);
  warn_sensors(f);
  if (f->pulse_count > 0) {
    hw__warn_box(&f->warnings, &f->river->search, f->sample, HW__DRAWS);
  }
  e.warnings = f->warnings.pointers;
  e.warning_count = f->warnings.count;
  *out = e;
  return HW_OK;
}

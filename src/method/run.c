/* Every reading and estimate passes through here: defaults are filled in, input is checked, and neither a number
 * that is not finite gets in nor a source that is not finite gets out. Methods may rely on that. */
#include <math.h>
#include <stdlib.h>

#include "headwater/transport.h"
#include "method/paths.h"
#include "river/flow_doubt.h"
#include "river/substance.h"

struct hw_run {
  const hw_method *method;
  void *state;
  hw__paths *paths;      /* in place of the state, where the method knows no branches and the river has some */
  const hw_river *river; /* borrowed */
  hw_arrival *arrivals;  /* with the doubt of the flow; NULL: none yet */
  size_t sensor_count;
  size_t readings;
};

hw_status hw_options_fill(hw_options *o) {
  o->seed = o->seed ? o->seed : HW_DEFAULT_SEED;
  o->level = o->level != 0 ? o->level : HW_DEFAULT_LEVEL;
  /* The paper runs with a window of one; made to work, a window must span a whole pulse. */
  o->window = o->window ? o->window : o->variant == HW_RESOLVED ? HW_DEFAULT_WINDOW : 1;
  o->starts = o->starts ? o->starts : HW_DEFAULT_STARTS;
  o->tolerance = o->tolerance != 0 ? o->tolerance : HW_DEFAULT_TOLERANCE;
  o->iterations = o->iterations ? o->iterations : HW_DEFAULT_ITERATIONS;
  o->perturbation = o->perturbation != 0 ? o->perturbation : HW_DEFAULT_PERTURBATION;
  const hw_source *s = &o->start;
  const bool start_ok = !o->has_start || (isfinite(s->mass_g) && isfinite(s->location_m) && isfinite(s->time_s));
  const bool ok = o->level > 0 && o->level < 1 && o->tolerance > 0 && isfinite(o->tolerance) && o->perturbation > 0 &&
                  o->perturbation <= 1 && o->window <= 10000000 && o->starts <= 100000 && start_ok &&
                  o->variant <= HW_CORRECTED && o->line_search <= HW_SEARCH_CONSTANT;
  return ok ? HW_OK : HW_EDOMAIN;
}

hw_status hw_run_create(const hw_method *method, const hw_problem *problem, const hw_options *options, hw_run **out) {
  *out = NULL;
  hw_options filled = options ? *options : (hw_options){0};
  hw_status status = !method ? HW_ENAME : !problem->river ? HW_EDOMAIN : hw_options_fill(&filled);
  if (status == HW_OK) {
    status = hw_river_check(problem->river, NULL);
  }
  if (status == HW_OK && (method->traits & HW_NEEDS_HYDRAULICS) && !hw_river_has_hydraulics(problem->river) &&
      !((method->traits & HW_USES_FORWARD) && problem->forward)) {
    status = HW_EHYDRAULICS;
  }
  if (status != HW_OK) {
    return status;
  }
  hw_run *run = calloc(1, sizeof *run);
  if (!run) {
    return HW_ENOMEM;
  }
  run->method = method;
  run->river = problem->river;
  run->sensor_count = problem->river->sensor_count;
  status = hw__paths_needed(method, problem->river) ? hw__paths_create(method, problem, &filled, &run->paths)
                                                    : method->create(problem, &filled, &run->state);
  if (status != HW_OK) {
    free(run);
    return status;
  }
  *out = run;
  return HW_OK;
}

hw_status hw_run_observe(hw_run *run, const hw_reading *reading) {
  if (reading->sensor >= run->sensor_count || !isfinite(reading->time_s) || !isfinite(reading->concentration_g_m3) ||
      (reading->below_limit && reading->above_limit)) {
    return HW_EDOMAIN;
  }
  const hw_status status =
      run->paths ? hw__paths_observe(run->paths, reading) : run->method->observe(run->state, reading);
  run->readings += status == HW_OK;
  return status;
}

static bool source_is_finite(const hw_source *s) {
  return isfinite(s->mass_g) && isfinite(s->location_m) && isfinite(s->time_s);
}

/* Without a source everything that depends on one is removed, whatever the method has left there. */
static void drop_source(hw_estimate *e) {
  e->source = (hw_source){NAN, NAN, NAN};
  e->has_interval = false;
  e->duration_s = (hw_range){NAN, NAN, NAN};
  e->still_flowing = e->rate_g_s = NAN;
  e->suspicion_count = e->region_count = e->branch_count = e->release_count = 0;
}

/* Half the width of an interval of this level in standard deviations of a normal distribution: by Newton. */
static double half_width(double level) {
  static const double first_guess = 1.6; /* about right for 90 % */
  double z = first_guess;
  for (int i = 0; i < 20; i++) {
    z -= (erf(z * M_SQRT1_2) - level) / (sqrt(2 / M_PI) * exp(-0.5 * z * z));
    z = fmin(fmax(z, 0), 8);
  }
  return z;
}

/* A substance may have been lost before it was measured; methods take the rate of that loss as known. */
static hw_status doubt_mass(const hw_river *river, hw_estimate *e) {
  hw_transport *transport = NULL;
  const bool doubtful = river->substance.loss_factor > 1 && e->has_source && e->has_interval;
  const hw_status status = doubtful ? hw_transport_create(river, NULL, &transport) : HW_EHYDRAULICS;
  if (status != HW_OK) {
    return status == HW_EHYDRAULICS ? HW_OK : status; /* the field model knows of it by itself */
  }
  double lost = INFINITY;
  for (size_t i = 0; i < river->sensor_count; i++) {
    const hw_sensor *s = &river->sensors[i];
    const hw_leg leg =
        hw_transport_leg_between(transport, e->source.branch, e->source.location_m, s->branch, s->location_m);
    lost = leg.travel_s > 0 ? fmin(lost, leg.decay_per_s * leg.travel_s) : lost;
  }
  hw_transport_free(transport);
  if (isfinite(lost)) {
    hw__substance_mass_doubt(&river->substance, lost, half_width(e->level), &e->interval.lo.mass_g, &e->source.mass_g,
                             &e->interval.hi.mass_g);
  }
  return HW_OK;
}

/* After the last discharge that is known, the flow is assumed to stay as it was, and in a long silence to change
 * evenly; the doubt about it grows with time. Velocities follow discharge^m, and with them the times of what has still
 * to come. */
static void doubt_flow(hw_run *run, hw_estimate *e) {
  const hw_river *river = run->river;
  const double z = half_width(e->level), m = hw__velocity_exponent(river);
  if (!river->flow_count || e->arrival_count == 0) {
    return;
  }
  double last_s = 0, next_s = 0;
  hw_arrival *doubted = realloc(run->arrivals, e->arrival_count * sizeof *doubted);
  if (!doubted) {
    return; /* without memory the intervals stay as narrow as they are */
  }
  run->arrivals = doubted;
  for (size_t i = 0; i < e->arrival_count; i++) {
    doubted[i] = e->arrivals[i];
    hw_range *times[] = {&doubted[i].first_s, &doubted[i].peak_s, &doubted[i].last_s};
    for (size_t k = 0; k < 3; k++) {
      if (hw__flow_silence(river, times[k]->mid, &last_s, &next_s)) {
        hw__flow_doubt(times[k], last_s, next_s, m, z);
      }
    }
  }
  e->arrivals = doubted;
}

hw_status hw_run_estimate(hw_run *run, hw_estimate *out) {
  if (run->readings == 0) {
    return HW_EEMPTY;
  }
  hw_estimate estimate;
  hw_estimate_init(&estimate);
  const hw_status status =
      run->paths ? hw__paths_estimate(run->paths, &estimate) : run->method->estimate(run->state, &estimate);
  if (status != HW_OK) {
    return status;
  }
  estimate.readings = run->readings;
  if (!estimate.has_source) {
    drop_source(&estimate);
  } else if (!source_is_finite(&estimate.source)) {
    return HW_ENONFINITE;
  }
  doubt_flow(run, &estimate);
  const hw_status doubted = doubt_mass(run->river, &estimate);
  if (doubted == HW_OK) {
    *out = estimate;
  }
  return doubted;
}

hw_status hw_run_samples(hw_run *run, hw_sample *out, size_t capacity, size_t *count) {
  if (!run->method->samples) {
    return HW_EUNSUPPORTED;
  }
  if (run->readings == 0) {
    return HW_EEMPTY;
  }
  return run->paths ? hw__paths_samples(run->paths, out, capacity, count)
                    : run->method->samples(run->state, out, capacity, count);
}

hw_status hw_run_predict(hw_run *run, const hw_prediction *prediction) {
  if (!run->method->predict || run->paths) {
    return HW_EUNSUPPORTED;
  }
  return run->readings ? run->method->predict(run->state, prediction) : HW_EEMPTY;
}

void hw_run_free(hw_run *run) {
  if (run) {
    if (run->paths) {
      hw__paths_free(run->paths);
    } else {
      run->method->destroy(run->state);
    }
    free(run->arrivals);
    free(run);
  }
}

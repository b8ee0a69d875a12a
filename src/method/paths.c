#include "method/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/transport.h"
#include "river/clock.h"
#include "river/course.h"

/* Readings by which paths are compared: the last so many. */
enum { KEPT = 16384, MOST_WARNINGS = 64 };

/* One branch at work. */
typedef struct {
  size_t branch;
  hw_river river; /* its course */
  size_t *own;    /* by sensor of the network: the course's sensor, or HW_OUTLET */
  void *state;
  bool heard;
} path;

struct hw__paths {
  const hw_method *method;
  const hw_river *river; /* borrowed */
  hw_transport *transport;
  hw__clock *clock;
  path *paths;
  size_t count;
  hw_reading *kept; /* a ring, in the river's clock */
  size_t kept_count, next;
  hw_leg *legs; /* by sensor */
  hw_arrival *arrivals;
  hw_suspicion *suspicions;
  hw_region *regions;
  const char *warnings[MOST_WARNINGS];
  char sentence[256];
};

bool hw__paths_needed(const hw_method *method, const hw_river *river) {
  const bool otherwise = river->branch_count > 0 || (river->flow_count > 0 && hw_river_has_hydraulics(river));
  return otherwise && !(method->traits & HW_KNOWS_BRANCHES);
}

/* The search's times in the river's clock, at both ends of the stretch. */
static void warp_search(const hw__paths *p, path *one) {
  hw_box *box = &one->river.search;
  const double lo_m = box->lo.location_m, hi_m = box->hi.location_m, from_s = box->lo.time_s, to_s = box->hi.time_s;
  box->lo.time_s =
      fmin(hw__clock_in(p->clock, one->branch, lo_m, from_s), hw__clock_in(p->clock, one->branch, hi_m, from_s));
  box->hi.time_s =
      fmax(hw__clock_in(p->clock, one->branch, lo_m, to_s), hw__clock_in(p->clock, one->branch, hi_m, to_s));
}

static hw_status lay_path(hw__paths *p, size_t branch, path *one) {
  const hw_river *river = p->river;
  const bool network = river->branch_count > 0;
  hw__course *course = NULL;
  size_t *sensors = calloc(river->sensor_count, sizeof *sensors);
  one->branch = branch;
  one->own = calloc(river->sensor_count, sizeof *one->own);
  hw_status status = sensors && one->own ? hw__course_create(river, branch, &course) : HW_ENOMEM;
  if (status == HW_OK) {
    status = hw__course_river(
        course, river, network ? river->branches[branch].search_lo_m : river->search.lo.location_m,
        network ? river->branches[branch].search_hi_m : river->search.hi.location_m, &one->river, sensors);
  }
  for (size_t i = 0; status == HW_OK && i < river->sensor_count; i++) {
    one->own[i] = HW_OUTLET;
  }
  for (size_t i = 0; status == HW_OK && i < one->river.sensor_count; i++) {
    one->own[sensors[i]] = i;
  }
  hw__course_free(course);
  free(sensors);
  return status;
}

static bool is_searched(const hw_river *river, size_t branch) {
  return !river->branch_count || river->branches[branch].search_lo_m <= river->branches[branch].search_hi_m;
}

static hw_status lay_paths(hw__paths *p, const hw_problem *problem, const hw_options *options) {
  const size_t branches = p->river->branch_count ? p->river->branch_count : 1;
  p->paths = calloc(branches, sizeof *p->paths);
  hw_status status = p->paths ? HW_OK : HW_ENOMEM;
  for (size_t b = 0; status == HW_OK && b < branches; b++) {
    if (!is_searched(p->river, b)) {
      continue;
    }
    path *one = &p->paths[p->count];
    status = lay_path(p, b, one);
    p->count++;
    if (status == HW_OK && one->river.sensor_count == 0) {
      hw_river_free(&one->river);
      free(one->own);
      *one = (path){0};
      p->count--;
      continue;
    }
    if (status == HW_OK) {
      warp_search(p, one);
      hw_problem alone = *problem;
      alone.river = &one->river;
      status = p->method->create(&alone, options, &one->state);
    }
  }
  return status == HW_OK && p->count == 0 ? HW_EINPUT : status;
}

hw_status hw__paths_create(const hw_method *method, const hw_problem *problem, const hw_options *options,
                           hw__paths **out) {
  *out = NULL;
  if (problem->forward) {
    return HW_EUNSUPPORTED;
  }
  const hw_river *river = problem->river;
  hw__paths *p = calloc(1, sizeof *p);
  if (!p) {
    return HW_ENOMEM;
  }
  p->method = method;
  p->river = river;
  p->kept = calloc(KEPT, sizeof *p->kept);
  p->legs = calloc(river->sensor_count, sizeof *p->legs);
  p->arrivals = calloc(river->intake_count + 1, sizeof *p->arrivals);
  p->suspicions = calloc(river->candidate_count + 1, sizeof *p->suspicions);
  p->regions = calloc(MOST_WARNINGS, sizeof *p->regions);
  hw_status status = p->kept && p->legs && p->arrivals && p->suspicions && p->regions ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    status = hw_transport_create(river, NULL, &p->transport);
  }
  if (status == HW_OK) {
    status = hw__clock_create(river, &p->clock);
  }
  if (status == HW_OK) {
    status = lay_paths(p, problem, options);
  }
  if (status != HW_OK) {
    hw__paths_free(p);
    return status;
  }
  *out = p;
  return HW_OK;
}

void hw__paths_free(hw__paths *p) {
  if (!p) {
    return;
  }
  for (size_t i = 0; i < p->count; i++) {
    p->method->destroy(p->paths[i].state);
    hw_river_free(&p->paths[i].river);
    free(p->paths[i].own);
  }
  hw_transport_free(p->transport);
  hw__clock_free(p->clock);
  free(p->paths);
  free(p->kept);
  free(p->legs);
  free(p->arrivals);
  free(p->suspicions);
  free(p->regions);
  free(p);
}

hw_status hw__paths_observe(hw__paths *p, const hw_reading *reading) {
  const hw_sensor *s = &p->river->sensors[reading->sensor];
  hw_reading steady = *reading;
  steady.time_s = hw__clock_in(p->clock, s->branch, s->location_m, reading->time_s);
  steady.concentration_g_m3 *= hw__clock_dilution(p->clock, s->branch, s->location_m, reading->time_s);
  p->kept[p->next] = steady;
  p->next = (p->next + 1) % KEPT;
  p->kept_count += p->kept_count < KEPT;
  for (size_t i = 0; i < p->count; i++) {
    path *one = &p->paths[i];
    hw_reading own = steady;
    own.sensor = one->own[reading->sensor];
    if (own.sensor != HW_OUTLET) {
      const hw_status status = p->method->observe(one->state, &own);
      if (status != HW_OK) {
        return status;
      }
      one->heard = true;
    }
  }
  return HW_OK;
}

/* Sum of squares that this source, in the river's clock, leaves. A non-detect agrees with any prediction below its
 * limit. */
static double misfit(hw__paths *p, size_t branch, const hw_source *source) {
  for (size_t i = 0; i < p->river->sensor_count; i++) {
    const hw_sensor *s = &p->river->sensors[i];
    p->legs[i] = hw_transport_leg_between(p->transport, branch, source->location_m, s->branch, s->location_m);
  }
  double sum = 0;
  for (size_t i = 0; i < p->kept_count; i++) {
    const hw_reading *r = &p->kept[i];
    const hw_sensor *s = &p->river->sensors[r->sensor];
    const double background = isnan(s->background_g_m3) ? 0 : s->background_g_m3;
    const double c = background + source->mass_g * hw_leg_response(&p->legs[r->sensor], r->time_s - source->time_s);
    const double off = r->concentration_g_m3 - c;
    sum += (r->below_limit && off > 0) || (r->above_limit && off < 0) ? 0 : off * off;
  }
  return sum;
}

/* The path whose estimate fits best, and that estimate. Status: of the last one asked when none has an answer */
static hw_status choose(hw__paths *p, size_t *best, hw_estimate *out) {
  hw_status status = HW_EEMPTY;
  double least = INFINITY;
  bool found = false;
  for (size_t i = 0; i < p->count; i++) {
    path *one = &p->paths[i];
    hw_estimate e;
    hw_estimate_init(&e);
    status = one->heard ? p->method->estimate(one->state, &e) : HW_EEMPTY;
    if (status != HW_OK) {
      continue;
    }
    const double sum = e.has_source ? misfit(p, one->branch, &e.source) : 1e300;
    if (!found || sum < least) {
      *best = i;
      *out = e;
      least = sum;
      found = true;
    }
  }
  return found ? HW_OK : status;
}

static double wall_s(const hw__paths *p, size_t branch, double x_m, double tau_s) {
  return isfinite(tau_s) ? hw__clock_out(p->clock, branch, x_m, tau_s) : tau_s;
}

static hw_range wall_range(const hw__paths *p, const hw_intake *k, hw_range tau) {
  return (hw_range){wall_s(p, k->branch, k->location_m, tau.lo), wall_s(p, k->branch, k->location_m, tau.mid),
                    wall_s(p, k->branch, k->location_m, tau.hi)};
}

static size_t find_intake(const hw_river *river, const char *id) {
  size_t i = 0;
  while (i + 1 < river->intake_count && strcmp(river->intakes[i].id, id) != 0) {
    i++;
  }
  return i;
}

static ptrdiff_t find_candidate(const hw_river *river, const char *id) {
  size_t i = 0;
  while (i + 1 < river->candidate_count && strcmp(river->candidates[i].id, id) != 0) {
    i++;
  }
  return (ptrdiff_t)i;
}

/* Lists of the course's intakes and candidates become the network's. */
static void translate_lists(hw__paths *p, const path *one, hw_estimate *e) {
  for (size_t i = 0; i < e->arrival_count; i++) {
    hw_arrival *a = &p->arrivals[i];
    *a = e->arrivals[i];
    a->intake = find_intake(p->river, one->river.intakes[a->intake].id);
    const hw_intake *k = &p->river->intakes[a->intake];
    const double dilution =
        isfinite(a->peak_s.mid)
            ? hw__clock_dilution(p->clock, k->branch, k->location_m, wall_s(p, k->branch, k->location_m, a->peak_s.mid))
            : 1;
    a->first_s = wall_range(p, k, a->first_s);
    a->peak_s = wall_range(p, k, a->peak_s);
    a->last_s = wall_range(p, k, a->last_s);
    a->peak_g_m3 = (hw_range){a->peak_g_m3.lo / dilution, a->peak_g_m3.mid / dilution, a->peak_g_m3.hi / dilution};
  }
  e->arrivals = p->arrivals;
  for (size_t i = 0; i < e->suspicion_count; i++) {
    p->suspicions[i] = e->suspicions[i];
    if (p->suspicions[i].candidate >= 0) {
      p->suspicions[i].candidate = find_candidate(p->river, one->river.candidates[e->suspicions[i].candidate].id);
    }
  }
  e->suspicions = p->suspicions;
  e->region_count = e->region_count < MOST_WARNINGS ? e->region_count : MOST_WARNINGS;
  for (size_t i = 0; i < e->region_count; i++) {
    p->regions[i] = e->regions[i];
    p->regions[i].branch = one->branch;
  }
  e->regions = p->regions;
}

static void translate_source(const hw__paths *p, const path *one, hw_estimate *e) {
  const double x_m = e->source.location_m;
  e->source.branch = e->interval.lo.branch = e->interval.hi.branch = one->branch;
  e->source.time_s = wall_s(p, one->branch, x_m, e->source.time_s);
  if (e->has_interval) {
    e->interval.lo.time_s = wall_s(p, one->branch, x_m, e->interval.lo.time_s);
    e->interval.hi.time_s = wall_s(p, one->branch, x_m, e->interval.hi.time_s);
  }
}

hw_status hw__paths_estimate(hw__paths *p, hw_estimate *out) {
  size_t best = 0;
  hw_estimate e;
  const hw_status status = choose(p, &best, &e);
  if (status != HW_OK) {
    return status;
  }
  const path *one = &p->paths[best];
  translate_source(p, one, &e);
  translate_lists(p, one, &e);
  e.releases = NULL; /* only the source itself is reported */
  e.release_count = 0;
  size_t warnings = 0;
  if (p->count > 1) {
    snprintf(
        p->sentence, sizeof p->sentence,
        "%s knows one river at a time: of %zu ways down, the one from branch %s fits best, by the sum of squares alone",
        p->method->name, p->count, p->river->branches[one->branch].id);
    p->warnings[warnings++] = p->sentence;
  }
  for (size_t i = 0; i < e.warning_count && warnings < MOST_WARNINGS; i++) {
    p->warnings[warnings++] = e.warnings[i];
  }
  e.warnings = p->warnings;
  e.warning_count = warnings;
  *out = e;
  return HW_OK;
}

hw_status hw__paths_samples(hw__paths *p, hw_sample *out, size_t capacity, size_t *count) {
  size_t best = 0;
  hw_estimate e;
  hw_status status = choose(p, &best, &e);
  if (status == HW_OK) {
    status = p->method->samples(p->paths[best].state, out, capacity, count);
  }
  for (size_t i = 0; status == HW_OK && i < *count; i++) {
    out[i].source.branch = p->paths[best].branch;
    out[i].source.time_s = wall_s(p, p->paths[best].branch, out[i].source.location_m, out[i].source.time_s);
  }
  return status;
}

#include "posterior/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "posterior/network_inside.h"

/* Beyond it squares of times and concentrations would leave the numbers. */
static const double furthest = 1e12;

static void *take(hw__network *n, size_t count, size_t size) {
  n->bytes += count * size;
  return calloc(count ? count : 1, size);
}

static bool allocate(hw__network *n) {
  const hw_river *r = n->river;
  n->filed = take(n, n->clock ? r->sensor_count : 0, sizeof *n->filed);
  n->series = take(n, r->sensor_count, sizeof *n->series);
  n->sensors = take(n, r->sensor_count, sizeof *n->sensors);
  n->own = take(n, r->sensor_count, sizeof *n->own);
  n->view = take(n, r->sensor_count, sizeof *n->view);
  n->dirty = take(n, r->sensor_count, sizeof *n->dirty);
  n->parts = take(n, n->ways, sizeof *n->parts);
  n->samples = take(n, HW__FINAL, sizeof *n->samples);
  n->odds = take(n, r->candidate_count, sizeof *n->odds);
  n->suspicions = take(n, r->candidate_count + 1, sizeof *n->suspicions);
  n->shares = take(n, n->ways, sizeof *n->shares);
  n->arrivals = take(n, r->intake_count, sizeof *n->arrivals);
  n->exceeds = take(n, r->intake_count, sizeof *n->exceeds);
  n->sorting = (hw__scratch){take(n, HW__FINAL, sizeof(double)), take(n, HW__FINAL, sizeof(double)), HW__FINAL};
  return n->filed && n->series && n->sensors && n->own && n->view && n->dirty && n->parts && n->samples && n->odds &&
         n->suspicions && n->shares && n->arrivals && n->exceeds && n->sorting.value && n->sorting.weight;
}

/* The search's times in the river's clock, at both ends of the stretch. */
static void warp_search(const hw__network *n, size_t branch, hw_box *box) {
  const double lo_m = box->lo.location_m, hi_m = box->hi.location_m, from_s = box->lo.time_s, to_s = box->hi.time_s;
  box->lo.time_s = fmin(hw__clock_in(n->clock, branch, lo_m, from_s), hw__clock_in(n->clock, branch, hi_m, from_s));
  box->hi.time_s = fmax(hw__clock_in(n->clock, branch, lo_m, to_s), hw__clock_in(n->clock, branch, hi_m, to_s));
}

static hw_status add_part(hw__network *n, size_t branch) {
  const bool branched = n->river->branch_count > 0;
  const double lo_m = branched ? n->river->branches[branch].search_lo_m : n->river->search.lo.location_m;
  const double hi_m = branched ? n->river->branches[branch].search_hi_m : n->river->search.hi.location_m;
  if (branched && !(hi_m > lo_m)) {
    return HW_OK; /* not looked at */
  }
  hw__part *p = &n->parts[n->part_count];
  hw_river_init(&p->river);
  p->branch = branch;
  p->length_m = fmax(hi_m - lo_m, 1e-3);
  p->sensors = take(n, n->river->sensor_count, sizeof *p->sensors);
  n->part_count++;
  hw_status status = p->sensors ? hw__course_create(n->river, branch, &p->course) : HW_ENOMEM;
  if (status == HW_OK) {
    status = hw__course_river(p->course, n->river, lo_m, hi_m, &p->river, p->sensors);
  }
  if (status == HW_OK) {
    warp_search(n, branch, &p->river.search);
  }
  n->searched_m += p->length_m;
  return status;
}

/* `clock`: borrowed from another engine of the same river; NULL: its own. */
static hw_status create(const hw_river *river, const hw_options *options, const hw__clock *clock, void **state) {
  *state = NULL;
  hw__network *n = calloc(1, sizeof *n);
  if (!n) {
    return HW_ENOMEM;
  }
  n->bytes = sizeof *n;
  n->river = river;
  n->options = *options;
  n->ways = n->river->branch_count > 0 ? n->river->branch_count : 1;
  hw_status status = clock ? HW_OK : hw__clock_create(n->river, &n->own_clock);
  n->clock = clock ? clock : n->own_clock;
  if (status == HW_OK && !allocate(n)) {
    status = HW_ENOMEM;
  }
  for (size_t b = 0; status == HW_OK && b < n->ways; b++) {
    status = add_part(n, b);
  }
  if (status != HW_OK) {
    hw__network_destroy(n);
    return status;
  }
  memcpy(n->sensors, river->sensors, river->sensor_count * sizeof *n->sensors);
  hw__tails_build(&n->tails);
  *state = n;
  return HW_OK;
}

hw_status hw__network_create(const hw_problem *problem, const hw_options *options, void **state) {
  return create(problem->river, options, NULL, state);
}

void hw__part_forget(hw__part *part) {
  hw__ade_destroy(part->engine);
  free(part->samples);
  part->engine = NULL;
  part->samples = NULL;
}

void hw__network_destroy(void *state) {
  hw__network *n = state;
  if (!n) {
    return;
  }
  hw__two_free(&n->two, &hw__network_asked);
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part_forget(&n->parts[k]);
    hw__course_free(n->parts[k].course);
    hw_river_free(&n->parts[k].river);
    free(n->parts[k].sensors);
    free(n->parts[k].steady);
  }
  hw__clock_free(n->own_clock);
  free(n->filed);
  free(n->series);
  free(n->sensors);
  free(n->own);
  free(n->view);
  free(n->dirty);
  free(n->parts);
  free(n->samples);
  free(n->odds);
  free(n->suspicions);
  free(n->shares);
  free(n->arrivals);
  free(n->exceeds);
  free(n->sorting.value);
  free(n->sorting.weight);
  free(n);
}

hw_status hw__network_observe(void *state, const hw_reading *reading) {
  hw__network *n = state;
  if (!(fabs(reading->time_s) <= furthest) || !(fabs(reading->concentration_g_m3) <= furthest)) {
    return HW_EDOMAIN;
  }
  hw__series_insert(n->clock ? &n->filed[reading->sensor] : &n->series[reading->sensor], reading);
  n->dirty[reading->sensor] = true;
  n->settled = false;
  return HW_OK;
}

/* ---- Asked twice ---- */

static hw_status again(const void *whole, size_t threads, void **state) {
  const hw__network *n = whole;
  hw_options options = n->options;
  options.threads = threads;
  return create(n->river, &options, n->clock, state);
}

/* The series are in the river's clock already. */
static void fill(void *state, const void *whole, const hw__series *series) {
  hw__network *n = state;
  const hw__network *from = whole;
  n->single = true;
  n->settled = false;
  for (size_t s = 0; s < n->river->sensor_count; s++) {
    n->series[s] = series[s];
    n->sensors[s] = from->sensors[s];
    n->dirty[s] = true;
  }
}

const hw__asked hw__network_asked = {again, fill, hw__network_estimate, hw__network_predict, hw__network_destroy};

static void fit_sensor(void *context, size_t s) {
  hw__network *n = context;
  if (!n->dirty[s]) {
    return;
  }
  if (n->clock && !n->single) {
    hw__network_warp(n, s);
  }
  if (n->series[s].count > 0) { /* a half of two may leave nothing */
    hw__pulse_fit(&n->series[s], &n->sensors[s], &n->tails, &n->own[s], &n->view[s]);
    n->dirty[s] = false;
  }
}

static void fit_sensors(hw__network *n) {
  hw__crew crew;
  hw__crew_begin(&crew, n->options.threads);
  hw__crew_share(&crew, n->river->sensor_count, fit_sensor, n);
  hw__crew_end(&crew);
}

hw_status hw__network_settle(hw__network *n) {
  if (n->settled) {
    return HW_OK;
  }
  fit_sensors(n);
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part_forget(&n->parts[k]);
  }
  n->best = NULL;
  n->sample_count = 0;
  hw_status status = HW_OK;
  if (!n->single) {
    const hw__whole whole = {.river = n->river,
                             .sensors = n->sensors,
                             .series = n->series,
                             .own = n->own,
                             .view = n->view,
                             .engine = n,
                             .threads = n->options.threads};
    status = hw__two_ask(&n->two, &hw__network_asked, &whole, &n->tails);
  }
  if (status == HW_OK && !n->two.found) {
    status = hw__network_ask(n);
  }
  n->settled = status == HW_OK;
  return status;
}

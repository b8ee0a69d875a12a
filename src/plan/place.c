/* Where to put sensors: Bayesian D-optimal choice from a pool of sites. See plan.h.
 *
 * Everything is worked out in box widths (and natural logs of velocity and dispersion), so that the determinant does
 * not depend on units. Information adds up over sensors, so one matrix per source and site is all there is to know, and
 * a choice is scored by adding matrices.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/rng.h"
#include "plan/placement.h"
#include "river/network.h"

enum { MOST_TIMES = 2000 };

/* 1 / variance of a uniform density over one box width. */
static const double box_information = 12;

/* The box as a prior, and which of the five unknowns count. */
static void set_prior(hw_placement *p, const hw_river *river, const hw_fisher *clear, size_t kept[HW_FISHER_SIZE]) {
  const hw_box *box = &river->search;
  const double width[3] = {box->hi.mass_g - box->lo.mass_g, box->hi.location_m - box->lo.location_m,
                           box->hi.time_s - box->lo.time_s};
  for (size_t i = 0; i < HW_FISHER_SIZE; i++) {
    const bool counts = i < 3 || clear->information[i][i] > 0;
    if (counts) {
      p->width[p->size] = i < 3 && width[i] > 0 ? width[i] : 1;
      p->prior.m[p->size][p->size] = i < 3 ? box_information : clear->information[i][i];
      kept[p->size++] = i;
    }
  }
  hw__matrix factor = p->prior;
  p->log_det_prior = hw__matrix_factorise(&factor, p->size);
}

/* When a sensor there would be read while the pulse passes, by its own clock. */
static size_t times_of_passage(const hw_leg *leg, const hw_source *source, double every_s, double *time_s) {
  const double sd_s = sqrt(leg->travel_s / leg->sharpness_per_s);
  const double from_s = source->time_s + fmax(leg->travel_s - 6 * sd_s, 0),
               to_s = source->time_s + leg->travel_s + 6 * sd_s;
  const double step_s = fmax(every_s, (to_s - from_s) / (MOST_TIMES - 1));
  size_t count = 0;
  for (double t = ceil(from_s / step_s) * step_s; t <= to_s && count < MOST_TIMES; t += step_s) {
    time_s[count++] = t;
  }
  return count;
}

/* The information of one sensor about one source. Returned: false when it does not lie downstream. */
static bool inform(const hw_placement *p, const hw_river *pool, const hw_transport *transport, double every_s,
                   const size_t *kept, const hw_source *source, size_t k, double *time_s, hw__matrix *to) {
  const hw_leg leg = hw_transport_leg_between(transport, source->branch, source->location_m, pool->sensors[k].branch,
                                              pool->sensors[k].location_m);
  if (!(leg.travel_s > 0)) {
    return false;
  }
  hw_fisher fisher = {{{0}}};
  const size_t count = times_of_passage(&leg, source, every_s, time_s);
  hw_fisher_add(pool, transport, source, k, time_s, count, &fisher);
  for (size_t r = 0; r < p->size; r++) {
    for (size_t c = 0; c < p->size; c++) {
      to->m[r][c] += fisher.information[kept[r]][kept[c]] * p->width[r] * p->width[c];
    }
  }
  return true;
}

/* The pool's sensors are the sites, followed by the sensors that stay. */
static void gather(hw_placement *p, const hw_river *pool, const hw_transport *transport, const hw_place_settings *s,
                   const size_t *kept, double *time_s) {
  const hw_box *box = &pool->search;
  hw_rng rng;
  hw_rng_seed(&rng, s->seed, 0);
  for (size_t i = 0; i < p->source_count; i++) {
    hw_source source = {0};
    source.mass_g = box->lo.mass_g + hw_rng_uniform(&rng) * (box->hi.mass_g - box->lo.mass_g);
    source.location_m = hw_river_search_place(pool, hw_rng_uniform(&rng), &source.branch);
    source.time_s = box->lo.time_s + hw_rng_uniform(&rng) * (box->hi.time_s - box->lo.time_s);
    p->branch[i] = source.branch;
    p->base[i] = p->prior;
    for (size_t k = 0; k < pool->sensor_count; k++) {
      const bool site = k < p->site_count;
      hw__matrix *to = site ? &p->information[i * p->site_count + k] : &p->base[i];
      const bool sees = inform(p, pool, transport, s->every_s, kept, &source, k, time_s, to);
      if (site) {
        p->downstream[i * p->site_count + k] = sees;
      } else if (sees) {
        p->seen_by[i] += hw__placement_mark(k);
      }
    }
  }
}

static bool settings_ok(const hw_river *river, const hw_place_settings *s) {
  bool ok = s->site_count >= 1 && s->sites_m && s->every_s > 0 && isfinite(s->every_s) && s->site_count <= 100000;
  for (size_t i = 0; ok && i < s->site_count; i++) {
    const bool first = i == 0 || (s->branches && s->branches[i] != s->branches[i - 1]);
    ok = isfinite(s->sites_m[i]) && (first || s->sites_m[i] > s->sites_m[i - 1]);
  }
  for (size_t i = 0; ok && s->branches && i < s->site_count; i++) {
    ok = hw__place_check(river, s->branches[i], s->sites_m[i], "site", "", NULL) == HW_OK;
  }
  return ok;
}

/* The sites with the sensor that would be installed there, followed by the sensors that stay. */
static void fill_pool(hw_river *pool, const hw_river *river, const hw_place_settings *s, double *sites_m) {
  for (size_t i = 0; i < pool->sensor_count; i++) {
    hw_sensor *to = &pool->sensors[i];
    if (i >= s->site_count) {
      *to = river->sensors[i - s->site_count];
      continue;
    }
    *to = s->sensor;
    to->location_m = sites_m[i] = s->sites_m[i];
    to->branch = s->branches ? s->branches[i] : 0;
  }
}

/* All there is to know of every source and site. */
static hw_status learn_pool(hw_placement *p, const hw_river *river, const hw_river *pool, const hw_place_settings *s) {
  hw_transport *transport = NULL;
  hw_status status = hw_transport_create(river, NULL, &transport);
  double *time_s = calloc(MOST_TIMES, sizeof *time_s);
  p->information = calloc(s->site_count * s->sources, sizeof *p->information);
  p->downstream = calloc(s->site_count * s->sources, sizeof *p->downstream);
  p->branch_count = river->branch_count;
  p->branch = calloc(s->sources, sizeof *p->branch);
  p->base = calloc(s->sources, sizeof *p->base);
  p->seen_by = calloc(s->sources, sizeof *p->seen_by);
  p->sets = calloc(s->sources, sizeof *p->sets);
  if (status == HW_OK &&
      (!time_s || !p->information || !p->downstream || !p->branch || !p->base || !p->seen_by || !p->sets)) {
    status = HW_ENOMEM;
  }
  if (status == HW_OK) {
    hw_fisher clear;
    size_t kept[HW_FISHER_SIZE];
    hw_fisher_clear(river, &clear);
    set_prior(p, river, &clear, kept);
    gather(p, pool, transport, s, kept, time_s);
  }
  free(time_s);
  hw_transport_free(transport);
  return status;
}

hw_status hw_placement_create(const hw_river *river, const hw_place_settings *settings, hw_placement **out) {
  *out = NULL;
  hw_place_settings s = *settings;
  s.every_s = s.every_s != 0 ? s.every_s : 300;
  s.sources = s.sources ? s.sources : 200;
  s.seed = s.seed ? s.seed : 1;
  if (!settings_ok(river, &s)) {
    return HW_EDOMAIN;
  }
  hw_river pool = *river; /* the river with the pool for sensors; arrays stay the river's own */
  pool.sensor_count = s.site_count + (s.beside ? river->sensor_count : 0);
  pool.sensors = calloc(pool.sensor_count, sizeof *pool.sensors);
  hw_placement *p = calloc(1, sizeof *p);
  double *sites_m = calloc(s.site_count, sizeof *sites_m);
  hw_status status = pool.sensors && p && sites_m ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    fill_pool(&pool, river, &s, sites_m);
    p->site_count = s.site_count;
    p->source_count = s.sources;
    p->sites_m = sites_m;
    sites_m = NULL;
    const bool known = river->hydraulics.dispersion_m2_s.certainty != HW_UNKNOWN;
    status = known ? learn_pool(p, river, &pool, &s) : hw__field_sites_create(&pool, &s, &p->field);
  }
  if (status == HW_OK) {
    *out = p;
    p = NULL;
  }
  hw_placement_free(p);
  free(sites_m);
  free(pool.sensors);
  return status;
}

void hw_placement_free(hw_placement *placement) {
  if (placement) {
    free(placement->information);
    free(placement->downstream);
    free(placement->sites_m);
    free(placement->branch);
    free(placement->base);
    free(placement->seen_by);
    free(placement->sets);
    hw__field_sites_free(placement->field);
    free(placement);
  }
}

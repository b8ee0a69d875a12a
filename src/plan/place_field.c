#include "plan/place_field.h"

#include <math.h>
#include <stdlib.h>

#include "headwater/outlook.h"
#include "headwater/rng.h"

/* The field model uses no more pulses of one release than this. */
enum { MOST_SEEN = 6 };

/* Readings while the pulse comes up, at the least. */
static const double on_front_least = 2;

/* The outlook's level, and how many standard deviations of a normal distribution its interval spans. */
static const double level = HW_DEFAULT_LEVEL, spanned = 2 * 1.6448536269514722;

/* One release at one site. */
typedef struct {
  bool sees;
  double distance_m, travel_s, mass_sd_g;
} view_of_release;

struct hw__field_sites {
  size_t site_count, source_count;
  size_t sensor_count; /* the sites, and behind them sensors that stay */
  double box_variance[3];
  view_of_release *view;                /* per source and sensor */
  double (*relative)[MOST_SEEN + 1][2]; /* per sensor and number that see it: sd of distance and age, as shares */
};

static double share_of(hw_range range) {
  return (range.hi - range.lo) / spanned;
}

static hw_status learn_ranges(const hw_river *pool, hw__field_sites *sites) {
  hw_status status = HW_OK;
  for (size_t k = 0; k < sites->sensor_count; k++) {
    for (size_t seen = 1; status == HW_OK && seen <= MOST_SEEN; seen++) {
      hw_range distance, age;
      status = hw_outlook_ranges(pool, k, seen, level, &distance, &age);
      if (status == HW_OK) {
        sites->relative[k][seen][0] = share_of(distance);
        sites->relative[k][seen][1] = share_of(age);
      }
    }
  }
  return status;
}

static hw_source draw_source(const hw_box *box, hw_rng *rng) {
  hw_source source = {0};
  source.mass_g = box->lo.mass_g + hw_rng_uniform(rng) * (box->hi.mass_g - box->lo.mass_g);
  source.location_m = box->lo.location_m + hw_rng_uniform(rng) * (box->hi.location_m - box->lo.location_m);
  source.time_s = box->lo.time_s + hw_rng_uniform(rng) * (box->hi.time_s - box->lo.time_s);
  return source;
}

static hw_status look(const hw_river *pool, const hw_place_settings *s, hw__field_sites *sites) {
  hw_outlook_passage *passages = calloc(sites->sensor_count, sizeof *passages);
  hw_status status = passages ? HW_OK : HW_ENOMEM;
  hw_rng rng;
  hw_rng_seed(&rng, s->seed, 0);
  for (size_t i = 0; status == HW_OK && i < sites->source_count; i++) {
    const hw_source source = draw_source(&pool->search, &rng);
    status = hw_outlook_passages(pool, &source, level, passages);
    for (size_t k = 0; status == HW_OK && k < sites->sensor_count; k++) {
      const hw_outlook_passage *at = &passages[k];
      sites->view[i * sites->sensor_count + k] =
          (view_of_release){.sees = at->lead_s >= on_front_least * s->every_s,
                            .distance_m = pool->sensors[k].location_m - source.location_m,
                            .travel_s = at->travel_s,
                            .mass_sd_g = source.mass_g * share_of(at->mass)};
    }
  }
  free(passages);
  return status;
}

hw_status hw__field_sites_create(const hw_river *pool, const hw_place_settings *settings, hw__field_sites **out) {
  *out = NULL;
  if (pool->branch_count > 0) {
    return HW_EUNSUPPORTED;
  }
  hw__field_sites *sites = calloc(1, sizeof *sites);
  if (!sites) {
    return HW_ENOMEM;
  }
  const hw_box *box = &pool->search;
  const double width[3] = {box->hi.mass_g - box->lo.mass_g, box->hi.location_m - box->lo.location_m,
                           box->hi.time_s - box->lo.time_s};
  for (size_t d = 0; d < 3; d++) {
    sites->box_variance[d] = width[d] * width[d] / 12;
  }
  sites->site_count = settings->site_count;
  sites->sensor_count = pool->sensor_count;
  sites->source_count = settings->sources;
  sites->view = calloc(sites->sensor_count * sites->source_count, sizeof *sites->view);
  sites->relative = calloc(sites->sensor_count, sizeof *sites->relative);
  hw_status status = sites->view && sites->relative ? learn_ranges(pool, sites) : HW_ENOMEM;
  if (status == HW_OK) {
    status = look(pool, settings, sites);
  }
  if (status != HW_OK) {
    hw__field_sites_free(sites);
    return status;
  }
  *out = sites;
  return HW_OK;
}

void hw__field_sites_free(hw__field_sites *sites) {
  if (sites) {
    free(sites->view);
    free(sites->relative);
    free(sites);
  }
}

/* Variances of mass, place and time of one release; false when no chosen site sees it: then those of the box. */
static bool variances_of(const hw__field_sites *sites, size_t source, const size_t *chosen, size_t count,
                         double variance[3]) {
  const view_of_release *views = &sites->view[source * sites->sensor_count], *first = NULL;
  size_t seen = 0, site = 0;
  const size_t staying = sites->sensor_count - sites->site_count;
  for (size_t k = 0; k < count + staying; k++) {
    const size_t at = k < count ? chosen[k] : sites->site_count + k - count;
    seen += views[at].sees;
    if (views[at].sees && (!first || views[at].distance_m < first->distance_m)) {
      first = &views[at];
      site = at;
    }
  }
  double sd[3] = {INFINITY, INFINITY, INFINITY};
  if (first) {
    const double *relative = sites->relative[site][seen < MOST_SEEN ? seen : MOST_SEEN];
    sd[0] = isfinite(first->mass_sd_g) ? first->mass_sd_g : INFINITY;
    sd[1] = first->distance_m * relative[0];
    sd[2] = first->travel_s * relative[1];
  }
  for (size_t d = 0; d < 3; d++) {
    variance[d] = sites->box_variance[d] > 0 ? 1 / (1 / sites->box_variance[d] + 1 / (sd[d] * sd[d])) : 0;
  }
  return first != NULL;
}

double hw__field_sites_gain(const hw__field_sites *sites, const size_t *chosen, size_t count) {
  double gain = 0;
  for (size_t i = 0; i < sites->source_count; i++) {
    double variance[3];
    variances_of(sites, i, chosen, count, variance);
    gain += variance[1] > 0 ? 0.5 * log(sites->box_variance[1] / variance[1]) : 0;
  }
  return gain / (double)sites->source_count;
}

void hw__field_sites_score(const hw__field_sites *sites, const size_t *chosen, size_t count, hw_place_score *out) {
  double sd[3] = {0}, seen = 0;
  for (size_t i = 0; i < sites->source_count; i++) {
    double variance[3];
    seen += variances_of(sites, i, chosen, count, variance);
    for (size_t d = 0; d < 3; d++) {
      sd[d] += sqrt(variance[d]) / (double)sites->source_count;
    }
  }
  *out = (hw_place_score){.gain_nats = hw__field_sites_gain(sites, chosen, count),
                          .sd = {sd[0], sd[1], sd[2]},
                          .seen = seen / (double)sites->source_count,
                          .branch = 1};
}

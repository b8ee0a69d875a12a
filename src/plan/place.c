/* Where to put sensors: Bayesian D-optimal choice from a pool of sites. See plan.h.
 *
 * Everything is worked out in box widths (and natural logs of velocity and dispersion), so that the
 * determinant does not care for units. Information adds up over sensors, hence one matrix per source and
 * site is all there is to know; a choice is scored by adding matrices.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/fisher.h"
#include "headwater/plan.h"
#include "headwater/rng.h"
#include "plan/place_field.h"
#include "river/network.h"

enum { N = HW_FISHER_SIZE, MOST_TIMES = 2000, MOST_CHOICES = 200000 };

typedef struct {
  double m[N][N];
} matrix;

struct hw_placement {
  size_t site_count, source_count;
  size_t size; /* unknowns that count: 3, and the uncertain ones of velocity and dispersion */
  double width[N];
  double log_det_prior;
  matrix prior;
  matrix *base;        /* per source: the prior, and what sensors tell that stay */
  matrix *information; /* per source and site */
  bool *downstream;    /* per source and site */
  double *sites_m;
  size_t branch_count; /* 0: the river has none */
  size_t *branch;      /* of each source */
  uint64_t *seen_by;   /* per source: which of the sensors that stay see it, as a mixed-up number; 0: none */
  uint64_t *sets;      /* the same with the chosen sites, while a choice is looked at */

  hw__field_sites *field; /* dispersion unknown: this instead of all that */
};

/* Cholesky factor in place of the lower triangle. All matrices here are a positive prior plus
 * information, so pivots are positive up to rounding; the clamp keeps them so. */
static double factorise(matrix *a, size_t n) {
  double log_det = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k <= i; k++) {
      double sum = a->m[i][k];
      for (size_t p = 0; p < k; p++) {
        sum -= a->m[i][p] * a->m[k][p];
      }
      a->m[i][k] = i == k ? sqrt(fmax(sum, 1e-300)) : sum / a->m[k][k];
    }
    log_det += 2 * log(a->m[i][i]);
  }
  return log_det;
}

/* Entry (e, e) of the inverse, from the factor. */
static double inverse_entry(const matrix *factor, size_t n, size_t e) {
  double y[N] = {0}, sum_square = 0;
  for (size_t i = e; i < n; i++) {
    double sum = i == e ? 1 : 0;
    for (size_t k = e; k < i; k++) {
      sum -= factor->m[i][k] * y[k];
    }
    y[i] = sum / factor->m[i][i];
    sum_square += y[i] * y[i];
  }
  return sum_square;
}

static void add(matrix *to, const matrix *what, size_t n) {
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      to->m[r][c] += what->m[r][c];
    }
  }
}

/* The box as a prior, and which of the five unknowns count. */
static void set_prior(hw_placement *p, const hw_river *river, const hw_fisher *clear, size_t kept[N]) {
  const hw_box *box = &river->search;
  const double width[3] = {box->hi.mass_g - box->lo.mass_g, box->hi.location_m - box->lo.location_m,
                           box->hi.time_s - box->lo.time_s};
  for (size_t i = 0; i < N; i++) {
    const bool counts = i < 3 || clear->information[i][i] > 0;
    if (counts) {
      p->width[p->size] = i < 3 && width[i] > 0 ? width[i] : 1;
      p->prior.m[p->size][p->size] = i < 3 ? 12 : clear->information[i][i];
      kept[p->size++] = i;
    }
  }
  matrix factor = p->prior;
  p->log_det_prior = factorise(&factor, p->size);
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

/* What one sensor tells of one source. Returned: false when it does not lie downstream. */
static bool inform(const hw_placement *p, const hw_river *pool, const hw_transport *transport, double every_s,
                   const size_t *kept, const hw_source *source, size_t k, double *time_s, matrix *to) {
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

/* A number for the fact that sensor k sees it; sums of these tell sets apart. */
static uint64_t mark_of(size_t k) {
  uint64_t x = (uint64_t)k + UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* The pool's sensors are the sites, and behind them those that stay. */
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
      matrix *to = site ? &p->information[i * p->site_count + k] : &p->base[i];
      const bool sees = inform(p, pool, transport, s->every_s, kept, &source, k, time_s, to);
      if (site) {
        p->downstream[i * p->site_count + k] = sees;
      } else if (sees) {
        p->seen_by[i] += mark_of(k);
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

/* The sites with what would be installed there, and behind them what stays. */
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
    size_t kept[N];
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

/* Prior and chosen sites for one source. */
static matrix posterior_of(const hw_placement *p, size_t source, const size_t *chosen, size_t count) {
  matrix sum = p->base[source];
  for (size_t k = 0; k < count; k++) {
    add(&sum, &p->information[source * p->site_count + chosen[k]], p->size);
  }
  return sum;
}

/* Which sensors see this source, chosen ones and those that stay. */
static uint64_t set_of(const hw_placement *p, size_t source, const size_t *chosen, size_t count) {
  uint64_t set = p->seen_by[source];
  for (size_t k = 0; k < count; k++) {
    set += p->downstream[source * p->site_count + chosen[k]] ? mark_of(chosen[k]) : 0;
  }
  return set;
}

/* I(branch; set of sensors that see it) = mean of ln(n(set, branch) n / (n(set) n(branch))) over the sources; and the
 * mean of n(set, branch) / n(set), the probability of the branch given the set. */
static double branch_gain(const hw_placement *p, const size_t *chosen, size_t count, double *told) {
  double gain = 0;
  *told = 1;
  if (!p->branch_count) {
    return 0;
  }
  *told = 0;
  for (size_t i = 0; i < p->source_count; i++) {
    p->sets[i] = set_of(p, i, chosen, count);
  }
  for (size_t i = 0; i < p->source_count; i++) {
    double same_set = 0, same_branch = 0, same_both = 0;
    for (size_t j = 0; j < p->source_count; j++) {
      const bool set = p->sets[j] == p->sets[i], branch = p->branch[j] == p->branch[i];
      same_set += set;
      same_branch += branch;
      same_both += set && branch;
    }
    gain += log(same_both * (double)p->source_count / (same_set * same_branch));
    *told += same_both / same_set;
  }
  *told /= (double)p->source_count;
  return gain / (double)p->source_count;
}

static double gain_of(const hw_placement *p, const size_t *chosen, size_t count) {
  if (p->field) {
    return hw__field_sites_gain(p->field, chosen, count);
  }
  double gain = 0;
  for (size_t i = 0; i < p->source_count; i++) {
    matrix sum = posterior_of(p, i, chosen, count);
    const double log_det = factorise(&sum, p->size);
    gain += p->branch_count ? -0.5 * log(p->prior.m[1][1] * inverse_entry(&sum, p->size, 1))
                            : 0.5 * (log_det - p->log_det_prior);
  }
  double told;
  return gain / (double)p->source_count + branch_gain(p, chosen, count, &told);
}

void hw_placement_score(const hw_placement *p, const size_t *chosen, size_t count, hw_place_score *out) {
  if (p->field) {
    hw__field_sites_score(p->field, chosen, count, out);
    return;
  }
  double sd[3] = {0}, seen = 0;
  for (size_t i = 0; i < p->source_count; i++) {
    matrix sum = posterior_of(p, i, chosen, count);
    factorise(&sum, p->size);
    for (size_t d = 0; d < 3; d++) {
      sd[d] += p->width[d] * sqrt(inverse_entry(&sum, p->size, d)) / (double)p->source_count;
    }
    bool any = p->seen_by[i] != 0;
    for (size_t k = 0; k < count; k++) {
      any = any || p->downstream[i * p->site_count + chosen[k]];
    }
    seen += any;
  }
  *out = (hw_place_score){
      .gain_nats = gain_of(p, chosen, count), .sd = {sd[0], sd[1], sd[2]}, .seen = seen / (double)p->source_count};
  branch_gain(p, chosen, count, &out->branch);
}

static int ascending(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static void choose_greedily(const hw_placement *p, size_t count, size_t *chosen) {
  for (size_t k = 0; k < count; k++) {
    double best = -INFINITY;
    size_t best_site = 0;
    for (size_t site = 0; site < p->site_count; site++) {
      bool taken = false;
      for (size_t i = 0; i < k; i++) {
        taken = taken || chosen[i] == site;
      }
      chosen[k] = site;
      const double gain = taken ? -INFINITY : gain_of(p, chosen, k + 1);
      if (gain > best) {
        best = gain;
        best_site = site;
      }
    }
    chosen[k] = best_site;
  }
  qsort(chosen, count, sizeof *chosen, ascending);
}

static double choices(size_t pool, size_t count) {
  double product = 1;
  for (size_t i = 0; i < count; i++) {
    product *= (double)(pool - i) / (double)(i + 1);
  }
  return product;
}

/* The next combination in lexicographic order; false after the last. */
static bool advance(size_t *choice, size_t count, size_t pool) {
  for (size_t i = count; i-- > 0;) {
    if (choice[i] < pool - count + i) {
      choice[i]++;
      for (size_t k = i + 1; k < count; k++) {
        choice[k] = choice[k - 1] + 1;
      }
      return true;
    }
  }
  return false;
}

static hw_status choose_exactly(const hw_placement *p, size_t count, size_t *chosen) {
  if (choices(p->site_count, count) > MOST_CHOICES) {
    return HW_EUNSUPPORTED;
  }
  size_t *choice = calloc(count, sizeof *choice);
  if (!choice) {
    return HW_ENOMEM;
  }
  for (size_t k = 0; k < count; k++) {
    choice[k] = k;
  }
  double best = -INFINITY;
  do {
    const double gain = gain_of(p, choice, count);
    if (gain > best) {
      best = gain;
      memcpy(chosen, choice, count * sizeof *chosen);
    }
  } while (advance(choice, count, p->site_count));
  free(choice);
  return HW_OK;
}

/* The middles of `count` equal stretches of the pool's extent, each moved to the nearest free site; with branches every
 * so many sites of the list. */
static void choose_evenly(const hw_placement *p, size_t count, size_t *chosen) {
  for (size_t k = 0; p->branch_count && k < count; k++) {
    chosen[k] = (2 * k + 1) * p->site_count / (2 * count);
  }
  if (p->branch_count) {
    return;
  }
  const double from = p->sites_m[0], length = p->sites_m[p->site_count - 1] - from;
  for (size_t k = 0; k < count; k++) {
    const double target = from + length * ((double)k + 0.5) / (double)count;
    size_t site = k ? chosen[k - 1] + 1 : 0;
    const size_t last = p->site_count - (count - k);
    while (site < last && fabs(p->sites_m[site + 1] - target) < fabs(p->sites_m[site] - target)) {
      site++;
    }
    chosen[k] = site;
  }
}

hw_status hw_placement_choose(const hw_placement *placement, hw_place_kind kind, size_t count, size_t *chosen) {
  if (count < 1 || count > placement->site_count) {
    return HW_EDOMAIN;
  }
  if (kind == HW_PLACE_EXACT) {
    return choose_exactly(placement, count, chosen);
  }
  (kind == HW_PLACE_EVEN ? choose_evenly : choose_greedily)(placement, count, chosen);
  return HW_OK;
}

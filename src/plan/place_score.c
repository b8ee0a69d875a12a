/* What a choice of sites is worth: the information of its sites is added to the prior, source by source. */
#include <math.h>

#include "plan/placement.h"

double hw__matrix_factorise(hw__matrix *a, size_t n) {
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
static double inverse_entry(const hw__matrix *factor, size_t n, size_t e) {
  double y[HW_FISHER_SIZE] = {0}, sum_square = 0;
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

static void add(hw__matrix *to, const hw__matrix *what, size_t n) {
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      to->m[r][c] += what->m[r][c];
    }
  }
}

uint64_t hw__placement_mark(size_t k) {
  uint64_t x = (uint64_t)k + UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Prior and chosen sites for one source. */
static hw__matrix posterior_of(const hw_placement *p, size_t source, const size_t *chosen, size_t count) {
  hw__matrix sum = p->base[source];
  for (size_t k = 0; k < count; k++) {
    add(&sum, &p->information[source * p->site_count + chosen[k]], p->size);
  }
  return sum;
}

/* Which sensors see this source, chosen ones and those that stay. */
static uint64_t set_of(const hw_placement *p, size_t source, const size_t *chosen, size_t count) {
  uint64_t set = p->seen_by[source];
  for (size_t k = 0; k < count; k++) {
    set += p->downstream[source * p->site_count + chosen[k]] ? hw__placement_mark(chosen[k]) : 0;
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

double hw__placement_gain(const hw_placement *p, const size_t *chosen, size_t count) {
  if (p->field) {
    return hw__field_sites_gain(p->field, chosen, count);
  }
  double gain = 0;
  for (size_t i = 0; i < p->source_count; i++) {
    hw__matrix sum = posterior_of(p, i, chosen, count);
    const double log_det = hw__matrix_factorise(&sum, p->size);
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
    hw__matrix sum = posterior_of(p, i, chosen, count);
    hw__matrix_factorise(&sum, p->size);
    for (size_t d = 0; d < 3; d++) {
      sd[d] += p->width[d] * sqrt(inverse_entry(&sum, p->size, d)) / (double)p->source_count;
    }
    bool any = p->seen_by[i] != 0;
    for (size_t k = 0; k < count; k++) {
      any = any || p->downstream[i * p->site_count + chosen[k]];
    }
    seen += any;
  }
  *out = (hw_place_score){.gain_nats = hw__placement_gain(p, chosen, count),
                          .sd = {sd[0], sd[1], sd[2]},
                          .seen = seen / (double)p->source_count};
  branch_gain(p, chosen, count, &out->branch);
}

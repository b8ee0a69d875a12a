/* How probable each candidate is: Bayes' rule on the density of the samples at its place, when it was active. */
#include <math.h>

#include "river/when.h"
#include "summary/summary.h"

/* Silverman's rule for a weighted sample: 0.9 min(sd, interquartile range / 1.34) n_eff^(-1/5). */
static double bandwidth(const hw_sample *samples, size_t n, const hw_box *box, hw__scratch *scratch) {
  double total = 0, squares = 0, mean = 0;
  for (size_t i = 0; i < n; i++) {
    total += samples[i].weight;
    squares += samples[i].weight * samples[i].weight;
    mean += samples[i].weight * samples[i].source.location_m;
  }
  mean /= total;
  double variance = 0;
  for (size_t i = 0; i < n; i++) {
    const double d = samples[i].source.location_m - mean;
    variance += samples[i].weight * d * d;
  }
  const double sd = sqrt(variance / total);
  const hw_range quartiles = hw__summary_range(samples, n, hw__sample_location, 0.5, scratch);
  const double robust = (quartiles.hi - quartiles.lo) / 1.34;
  const double spread = robust > 0 && robust < sd ? robust : sd;
  const double smallest = 1e-6 * (box->hi.location_m - box->lo.location_m) + 1e-6;
  return fmax(0.9 * spread * pow(total * total / squares, -0.2), smallest);
}

static double normal_share(double from, double to) {
  return 0.5 * (erf(to / M_SQRT2) - erf(from / M_SQRT2));
}

/* When this candidate could have discharged, over when anybody could: the factor on a release inside and outside its
 * windows. A log that is wrong says nothing. */
typedef struct {
  double inside, outside;
} activity;

static activity activity_of(const hw_river *river, const hw_candidate *c) {
  if (c->active_count == 0) {
    return (activity){1, 1};
  }
  const double trust = c->active_trust > 0 ? c->active_trust : 0.9;
  double share = 0;
  for (size_t i = 0; i < c->active_count; i++) {
    share += hw__when_share(river, &c->active[i]);
  }
  return (activity){1 - trust + (share > 0 ? trust / share : 0), 1 - trust};
}

static bool is_active(const hw_candidate *c, double time_s) {
  for (size_t i = 0; i < c->active_count; i++) {
    if (time_s >= c->active[i].from_s && time_s <= c->active[i].to_s) {
      return true;
    }
  }
  return false;
}

/* Mean over the candidate's extent of the kernel estimate of the posterior density, 1/m, each sample counting by what
 * the candidate's windows say of its time. */
static double density_at(const hw_river *river, const hw_candidate *c, const hw_sample *samples, size_t n,
                         double width) {
  const activity factor = activity_of(river, c);
  double sum = 0, total = 0;
  for (size_t i = 0; i < n; i++) {
    const double d = c->location_m - samples[i].source.location_m;
    const double weight = samples[i].weight * (is_active(c, samples[i].source.time_s) ? factor.inside : factor.outside);
    total += samples[i].weight;
    if (c->extent_m > 1e-3 * width) {
      sum += weight * normal_share((d - c->extent_m) / width, (d + c->extent_m) / width) / (2 * c->extent_m);
    } else {
      sum += weight * exp(-0.5 * d * d / (width * width)) / (width * sqrt(2 * M_PI));
    }
  }
  return sum / total;
}

static double uniform_density(const hw_box *box, double location_m) {
  const double length = box->hi.location_m - box->lo.location_m;
  if (location_m < box->lo.location_m || location_m > box->hi.location_m) {
    return 0;
  }
  return 1 / fmax(length, 1e-6);
}

void hw__sort_suspicions(hw_suspicion *rows, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const hw_suspicion row = rows[i];
    size_t j = i;
    for (; j > 0 && rows[j - 1].probability < row.probability; j--) {
      rows[j] = rows[j - 1];
    }
    rows[j] = row;
  }
}

double hw__candidate_weight(const hw_candidate *c) {
  return c->prior > 0 ? c->prior : 1;
}

size_t hw__summary_suspicions(const hw_river *river, const hw_sample *samples, size_t n, hw__place_density density,
                              void *context, hw__scratch *scratch, hw_suspicion *out) {
  const size_t count = river->candidate_count;
  if (count == 0 || n == 0) {
    return 0;
  }
  const double width = bandwidth(samples, n, &river->search, scratch);
  double weights = 0;
  for (size_t k = 0; k < count; k++) {
    weights += hw__candidate_weight(&river->candidates[k]);
  }
  double total = river->none_prior;
  for (size_t k = 0; k < count; k++) {
    const hw_candidate *c = &river->candidates[k];
    const double prior = density ? density(context, c->location_m) : uniform_density(&river->search, c->location_m);
    const double own = (1 - river->none_prior) * hw__candidate_weight(c) / weights;
    const double odds = prior > 0 ? own * density_at(river, c, samples, n, width) / prior : 0;
    out[k] = (hw_suspicion){.candidate = (ptrdiff_t)k, .probability = odds};
    total += odds;
  }
  out[count] = (hw_suspicion){.candidate = -1, .probability = river->none_prior};
  /* Every candidate ruled out and "none of these" excluded beforehand: then it is none of these after all. */
  if (!(total > 0)) {
    total = out[count].probability = 1;
  }
  for (size_t k = 0; k <= count; k++) {
    out[k].probability /= total;
  }
  hw__sort_suspicions(out, count + 1);
  return count + 1;
}

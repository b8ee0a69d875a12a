#include "posterior/summary.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#include "river/when.h"

static void swap_pairs(double *value, double *weight, size_t i, size_t j) {
  const double v = value[i], w = weight[i];
  value[i] = value[j];
  weight[i] = weight[j];
  value[j] = v;
  weight[j] = w;
}

static void sort_few(double *value, double *weight, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const double v = value[i], w = weight[i];
    size_t j = i;
    for (; j > 0 && value[j - 1] > v; j--) {
      value[j] = value[j - 1];
      weight[j] = weight[j - 1];
    }
    value[j] = v;
    weight[j] = w;
  }
}

/* Moves a middle value to its place: nothing greater before it, nothing smaller behind. */
static size_t partition(double *value, double *weight, size_t n) {
  const size_t middle = n / 2, last = n - 1;
  if (value[middle] < value[0]) {
    swap_pairs(value, weight, middle, 0);
  }
  if (value[last] < value[0]) {
    swap_pairs(value, weight, last, 0);
  }
  if (value[last] < value[middle]) {
    swap_pairs(value, weight, last, middle);
  }
  swap_pairs(value, weight, middle, last - 1);
  const double pivot = value[last - 1];
  size_t i = 0, j = last - 1;
  for (;;) {
    while (value[++i] < pivot) {
    }
    while (pivot < value[--j]) {
    }
    if (i >= j) {
      break;
    }
    swap_pairs(value, weight, i, j);
  }
  swap_pairs(value, weight, i, last - 1);
  return i;
}

/* Quicksort by the median of three, the shorter side first put off, so that the stack stays within 64
 * levels; a heap sort takes over should the splits go badly. In place and the same on every machine,
 * where qsort may allocate. */
static void sort_pairs(double *value, double *weight, size_t n, int splits) {
  while (n > 24) {
    if (splits-- == 0) {
      gsl_sort2(value, 1, weight, 1, n);
      return;
    }
    const size_t at = partition(value, weight, n);
    if (at < n - at - 1) {
      sort_pairs(value, weight, at, splits);
      value += at + 1;
      weight += at + 1;
      n -= at + 1;
    } else {
      sort_pairs(value + at + 1, weight + at + 1, n - at - 1, splits);
      n = at;
    }
  }
  sort_few(value, weight, n);
}

void hw__scratch_sort(hw__scratch *scratch, size_t n) {
  sort_pairs(scratch->value, scratch->weight, n, 48);
}

double hw__scratch_quantile(const hw__scratch *sorted, size_t n, double q) {
  double total = 0;
  for (size_t i = 0; i < n; i++) {
    total += sorted->weight[i];
  }
  if (!(total > 0)) {
    return NAN;
  }
  const double target = q * total;
  double below = 0, last_middle = 0;
  size_t last = n;
  for (size_t i = 0; i < n; i++) {
    const double weight = sorted->weight[i];
    if (!(weight > 0)) {
      continue;
    }
    const double middle = below + weight / 2;
    if (middle >= target) {
      if (last == n) {
        return sorted->value[i];
      }
      const double share = (target - last_middle) / (middle - last_middle);
      return sorted->value[last] + share * (sorted->value[i] - sorted->value[last]);
    }
    below += weight;
    last_middle = middle;
    last = i;
  }
  return sorted->value[last];
}

hw_range hw__scratch_range(hw__scratch *scratch, size_t n, double level) {
  hw__scratch_sort(scratch, n);
  const double tail = (1 - level) / 2;
  return (hw_range){.lo = hw__scratch_quantile(scratch, n, tail),
                    .mid = hw__scratch_quantile(scratch, n, 0.5),
                    .hi = hw__scratch_quantile(scratch, n, 1 - tail)};
}

double hw__sample_mass(const hw_sample *sample) {
  return sample->source.mass_g;
}

double hw__sample_location(const hw_sample *sample) {
  return sample->source.location_m;
}

double hw__sample_time(const hw_sample *sample) {
  return sample->source.time_s;
}

double hw__sample_velocity(const hw_sample *sample) {
  return sample->velocity_m_s;
}

double hw__sample_dispersion(const hw_sample *sample) {
  return sample->dispersion_m2_s;
}

static size_t fill(hw__scratch *scratch, const hw_sample *samples, size_t n, hw__sample_part part) {
  const size_t kept = n < scratch->capacity ? n : scratch->capacity;
  for (size_t i = 0; i < kept; i++) {
    scratch->value[i] = part(&samples[i]);
    scratch->weight[i] = samples[i].weight;
  }
  return kept;
}

hw_range hw__summary_range(const hw_sample *samples, size_t n, hw__sample_part part, double level,
                           hw__scratch *scratch) {
  const size_t kept = fill(scratch, samples, n, part);
  return hw__scratch_range(scratch, kept, level);
}

void hw__summary_source(const hw_sample *samples, size_t n, double level, hw__scratch *scratch, hw_source *median,
                        hw_box *interval) {
  const hw_range mass = hw__summary_range(samples, n, hw__sample_mass, level, scratch);
  const hw_range location = hw__summary_range(samples, n, hw__sample_location, level, scratch);
  const hw_range time = hw__summary_range(samples, n, hw__sample_time, level, scratch);
  *median = (hw_source){mass.mid, location.mid, time.mid};
  interval->lo = (hw_source){mass.lo, location.lo, time.lo};
  interval->hi = (hw_source){mass.hi, location.hi, time.hi};
}

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

static void sort_suspicions(hw_suspicion *rows, size_t count) {
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
  sort_suspicions(out, count + 1);
  return count + 1;
}

hw_arrival hw__summary_arrival(const hw_intake *intake, size_t index, const hw__passage *passages, size_t n,
                               double level, hw__scratch *scratch) {
  const hw_range never = {NAN, NAN, NAN};
  hw_arrival arrival = {.intake = index, .first_s = never, .peak_s = never, .last_s = never, .exceeds_alarm = NAN};
  size_t kept = 0;
  double passing = 0, total = 0;
  for (size_t i = 0; i < n && kept < scratch->capacity; i++) {
    total += passages[i].weight;
    if (isfinite(passages[i].first_s)) {
      passing += passages[i].weight;
      scratch->value[kept] = passages[i].first_s;
      scratch->weight[kept++] = passages[i].weight;
    }
  }
  if (passing >= (1 - level) / 2 * total) {
    arrival.first_s = hw__scratch_range(scratch, kept, level);
    kept = 0;
    for (size_t i = 0; i < n && kept < scratch->capacity; i++) {
      if (isfinite(passages[i].last_s)) {
        scratch->value[kept] = passages[i].last_s;
        scratch->weight[kept++] = passages[i].weight;
      }
    }
    arrival.last_s = hw__scratch_range(scratch, kept, level);
  }
  if (intake->alarm_g_m3 > 0) {
    arrival.exceeds_alarm = passing / total;
  }
  kept = 0;
  for (size_t i = 0; i < n && kept < scratch->capacity; i++) {
    if (passages[i].peak_g_m3 > 0) {
      scratch->value[kept] = passages[i].peak_s;
      scratch->weight[kept++] = passages[i].weight;
    }
  }
  if (kept > 0) {
    arrival.peak_s = hw__scratch_range(scratch, kept, level);
  }
  kept = 0;
  for (size_t i = 0; i < n && kept < scratch->capacity; i++) {
    scratch->value[kept] = passages[i].peak_g_m3;
    scratch->weight[kept++] = passages[i].weight;
  }
  arrival.peak_g_m3 = hw__scratch_range(scratch, kept, level);
  return arrival;
}

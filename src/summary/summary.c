#include "summary/summary.h"

#include <gsl/gsl_sort.h>
#include <math.h>

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

double hw__sample_duration(const hw_sample *sample) {
  return sample->duration_s;
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

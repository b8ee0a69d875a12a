#include "posterior/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hw__history_create(size_t sensor_count, size_t capacity, hw__history *out) {
  *out = (hw__history){.sensor_count = sensor_count, .capacity = capacity, .idle_before_s = -INFINITY};
  out->start = calloc(sensor_count + 1, sizeof *out->start);
  out->entries = calloc(capacity, sizeof *out->entries);
  if (!out->start || !out->entries) {
    hw__history_free(out);
    return false;
  }
  return true;
}

void hw__history_free(hw__history *history) {
  free(history->start);
  free(history->entries);
  *history = (hw__history){0};
}

void hw__history_clear(hw__history *history) {
  memset(history->start, 0, (history->sensor_count + 1) * sizeof *history->start);
}

size_t hw__history_bytes(const hw__history *history) {
  return (history->sensor_count + 1) * sizeof *history->start + history->capacity * sizeof *history->entries;
}

size_t hw__history_count(const hw__history *history) {
  return history->start[history->sensor_count];
}

bool hw__history_heard(const hw__history *history, size_t sensor) {
  return history->start[sensor + 1] > history->start[sensor];
}

size_t hw__history_after(const hw__history *history, size_t sensor, double time_s) {
  size_t at = history->start[sensor + 1];
  while (at > history->start[sensor] && history->entries[at - 1].time_s > time_s) {
    at--;
  }
  return at;
}

bool hw__history_has(const hw__history *history, size_t sensor, double time_s) {
  const size_t at = hw__history_after(history, sensor, time_s);
  return at > history->start[sensor] && history->entries[at - 1].time_s == time_s &&
         history->entries[at - 1].count == 1;
}

/* Can the two become one? Not while a reading is on probation, and only like with like. */
static bool mergeable(const hw__entry *a, const hw__entry *b) {
  if (a->held || b->held || a->share < 1 || b->share < 1 || a->below_limit != b->below_limit || a->aside != b->aside) {
    return false;
  }
  return !a->below_limit || (a->value_g_m3 == b->value_g_m3 && a->quiet == b->quiet);
}

static hw__entry merged(const hw__entry *a, const hw__entry *b) {
  const double n = a->count + b->count, fa = a->count / n, fb = b->count / n;
  const double dt = b->time_s - a->time_s, dc = b->value_g_m3 - a->value_g_m3;
  hw__entry out = *a;
  out.count = n;
  out.time_s = a->time_s + fb * dt;
  out.value_g_m3 = a->value_g_m3 + fb * dc;
  out.spread_s2 = fa * a->spread_s2 + fb * b->spread_s2 + fa * fb * dt * dt;
  out.slope_g_s = fa * a->slope_g_s + fb * b->slope_g_s + fa * fb * dt * dc;
  out.variance = fa * a->variance + fb * b->variance;
  out.first_s = a->first_s < b->first_s ? a->first_s : b->first_s;
  out.last_s = a->last_s > b->last_s ? a->last_s : b->last_s;
  return out;
}

/* How much a merger would blur: the bin's width squared, times how much is going on there. Where the sensor shows
 * nothing (a thousandth of its peak, neighbours included) bins may grow a thousand times wider than on the pulse. */
static double merge_cost(const hw__history *history, size_t sensor, size_t at, double lowest, double peak) {
  const hw__entry *a = &history->entries[at], *b = a + 1;
  if (!mergeable(a, b)) {
    return INFINITY;
  }
  if (b->last_s <= history->idle_before_s || a->aside) {
    return 0;
  }
  double signal = 1e-3;
  const size_t from = at >= history->start[sensor] + 2 ? at - 2 : history->start[sensor];
  for (size_t i = from; i <= at + 3 && i < history->start[sensor + 1]; i++) {
    const hw__entry *e = &history->entries[i];
    if (!e->below_limit && !e->aside && peak > lowest) {
      signal = fmax(signal, (e->value_g_m3 - lowest) / (peak - lowest));
    }
  }
  const double width = b->last_s - a->first_s;
  return width * width * signal * signal;
}

static void sensor_range(const hw__history *history, size_t sensor, double *lowest, double *peak) {
  *lowest = INFINITY;
  *peak = -INFINITY;
  for (size_t i = history->start[sensor]; i < history->start[sensor + 1]; i++) {
    const hw__entry *e = &history->entries[i];
    if (!e->below_limit && !e->aside) {
      *lowest = fmin(*lowest, e->value_g_m3);
      *peak = fmax(*peak, e->value_g_m3);
    }
  }
}

/* One sweep: merges disjoint neighbouring pairs that cost at most `most`. Returned: the cheapest pair's cost. */
static double sweep(hw__history *history, double most, size_t enough) {
  double cheapest = INFINITY;
  size_t to = 0, removed = 0;
  for (size_t k = 0; k < history->sensor_count; k++) {
    double lowest, peak;
    sensor_range(history, k, &lowest, &peak);
    const size_t begin = history->start[k], end = history->start[k + 1], kept_from = to;
    for (size_t i = begin; i < end; i++, to++) {
      const double cost = i + 1 < end ? merge_cost(history, k, i, lowest, peak) : INFINITY;
      cheapest = fmin(cheapest, cost);
      hw__entry entry = history->entries[i];
      if (cost <= most && removed < enough) {
        entry = merged(&entry, &history->entries[i + 1]);
        removed++;
        i++;
      }
      history->entries[to] = entry;
    }
    history->start[k] = kept_from;
  }
  history->start[history->sensor_count] = to;
  return cheapest;
}

/* Non-detects and readings in turn cannot be merged; then the oldest of the longest series goes. */
static void drop_one(hw__history *history) {
  size_t longest = 0;
  for (size_t k = 1; k < history->sensor_count; k++) {
    const size_t length = history->start[k + 1] - history->start[k];
    longest = length > history->start[longest + 1] - history->start[longest] ? k : longest;
  }
  const size_t at = history->start[longest];
  memmove(&history->entries[at], &history->entries[at + 1],
          (hw__history_count(history) - at - 1) * sizeof *history->entries);
  for (size_t k = longest + 1; k <= history->sensor_count; k++) {
    history->start[k]--;
  }
}

static void compress(hw__history *history) {
  const size_t goal = history->capacity - history->capacity / 8;
  double most = -1; /* the first sweep only looks */
  while (hw__history_count(history) > goal) {
    const double cheapest = sweep(history, most, hw__history_count(history) - goal);
    if (isinf(cheapest)) {
      drop_one(history);
      return;
    }
    most = 1.5 * fmax(cheapest, most);
  }
}

size_t hw__history_insert(hw__history *history, size_t sensor, const hw__entry *entry) {
  if (hw__history_count(history) == history->capacity) {
    compress(history);
  }
  const size_t at = hw__history_after(history, sensor, entry->time_s);
  const size_t tail = hw__history_count(history) - at;
  memmove(&history->entries[at + 1], &history->entries[at], tail * sizeof *entry);
  history->entries[at] = *entry;
  for (size_t k = sensor + 1; k <= history->sensor_count; k++) {
    history->start[k]++;
  }
  return at;
}

/* Times spread evenly with variance v have mean fourth power 9/5 v^2, and a Gaussian's fourth derivative is at most
 * 3/w^4 of its height: 9/5 * 3 / 24 (v / w^2)^2 of the signal. */
double hw__history_blur(const hw__history *history, size_t sensor, double base_g_m3, double width_s, double *widest_s) {
  double sum = 0;
  *widest_s = 0;
  for (size_t i = history->start[sensor]; width_s > 0 && i < history->start[sensor + 1]; i++) {
    const hw__entry *e = &history->entries[i];
    if (e->below_limit || e->aside || !(e->count > 1) || e->last_s <= history->idle_before_s) {
      continue;
    }
    const double narrow = e->spread_s2 / (width_s * width_s), signal = fmax(e->value_g_m3 - base_g_m3, 0);
    const double off = 0.225 * narrow * narrow * signal, part = e->count * off * off / e->variance;
    sum += part;
    *widest_s = part > 0.01 ? fmax(*widest_s, e->last_s - e->first_s) : *widest_s;
  }
  return sum;
}

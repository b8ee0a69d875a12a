#include "posterior/series.h"

#include <math.h>
#include <string.h>

/* First span not before this time. */
static size_t find_place(const hw__series *series, double time_s) {
  size_t lo = 0, hi = series->count;
  if (hi > 0 && series->span[hi - 1].time_s < time_s) {
    return hi; /* in order, as nearly always */
  }
  while (lo < hi) {
    const size_t middle = (lo + hi) / 2;
    if (series->span[middle].time_s < time_s) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static double plain_value(const hw__span *span) {
  return span->side == HW__BELOW ? 0.5 * span->value_g_m3 : span->value_g_m3;
}

hw__span hw__span_merged(const hw__span *a, const hw__span *b) {
  const bool alike = a->side == b->side;
  const double n = a->count + b->count, fb = b->count / n, fa = a->count / n, dt = b->time_s - a->time_s;
  const double va = alike ? a->value_g_m3 : plain_value(a), vb = alike ? b->value_g_m3 : plain_value(b);
  return (hw__span){.time_s = a->time_s + fb * dt,
                    .spread_s2 = fa * a->spread_s2 + fb * b->spread_s2 + fa * fb * dt * dt,
                    .value_g_m3 = va + fb * (vb - va),
                    .count = n,
                    .side = alike ? a->side : HW__MEASURED};
}

typedef struct {
  double gap_s, quiet_below;
  bool unlike; /* sides may be mixed */
} merge_rule;

static bool may_merge(const hw__span *a, const hw__span *b, const merge_rule *rule) {
  if (!hw__span_alike(a, b) && !rule->unlike) {
    return false;
  }
  const bool quiet = (a->side == HW__BELOW || a->value_g_m3 < rule->quiet_below) &&
                     (b->side == HW__BELOW || b->value_g_m3 < rule->quiet_below);
  return b->time_s - a->time_s <= (quiet ? 1000 : 1) * rule->gap_s;
}

/* Merges neighbours two by two until `target` spans are left or all have been tried. */
static void merge_pairs(hw__series *series, size_t target, const merge_rule *rule) {
  size_t kept = 0, left = series->count;
  for (size_t i = 0; i < series->count; i++) {
    hw__span span = series->span[i];
    if (i + 1 < series->count && left > target && may_merge(&span, &series->span[i + 1], rule)) {
      span = hw__span_merged(&span, &series->span[i + 1]);
      i++;
      left--;
    }
    series->span[kept++] = span;
  }
  series->count = kept;
}

static void make_room(hw__series *series) {
  const size_t target = HW__SERIES_SIZE * 3 / 4;
  double lowest = INFINITY, highest = -INFINITY, gap = INFINITY;
  for (size_t i = 0; i < series->count; i++) {
    lowest = fmin(lowest, plain_value(&series->span[i]));
    highest = fmax(highest, plain_value(&series->span[i]));
    gap = i > 0 ? fmin(gap, series->span[i].time_s - series->span[i - 1].time_s) : gap;
  }
  const double length = series->span[series->count - 1].time_s - series->span[0].time_s;
  merge_rule rule = {gap, lowest + 0.05 * (highest - lowest), false};
  while (series->count > target) {
    merge_pairs(series, target, &rule);
    rule.unlike = rule.unlike || rule.gap_s > length;
    rule.gap_s *= 1.5;
  }
}

void hw__series_insert(hw__series *series, const hw_reading *reading) {
  const hw__side side = reading->below_limit ? HW__BELOW : reading->above_limit ? HW__ABOVE : HW__MEASURED;
  const hw__span span = {reading->time_s, 0, reading->concentration_g_m3, 1, side};
  size_t place = find_place(series, span.time_s);
  if (place < series->count && !(series->span[place].time_s > span.time_s)) {
    const hw__span *there = &series->span[place];
    const bool same = there->side == side && !(fabs(there->value_g_m3 - span.value_g_m3) > 0);
    series->duplicates += same;
    series->conflicts += !same && there->count == 1;
    return;
  }
  if (series->count == HW__SERIES_SIZE) {
    make_room(series);
    place = find_place(series, span.time_s);
  }
  memmove(&series->span[place + 1], &series->span[place], (series->count - place) * sizeof span);
  series->span[place] = span;
  series->count++;
  series->readings++;
}

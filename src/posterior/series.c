#include "posterior/series.h"

#include <math.h>
#include <stdlib.h>
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
                    .side = alike ? a->side : HW__MEASURED,
                    .varied = a->varied || b->varied || fabs(va - vb) > 0};
}

/* How much further apart quiet readings may be merged than those of a pulse. */
static const double sooner = 20;

typedef struct {
  double gap_s, quiet_below;
  double jump_g_m3; /* values further apart are not the same water, or one of them is a spike: never noise alone, or
                       high and low noise would be merged apart from each other */
  bool unlike;      /* sides and jumps may be mixed: there is no other room */
} merge_rule;

/* `apart_s`: how far both are from any pulse; negative: not quiet. A span smears the curve that it is compared with,
 * so that one as wide as its distance would see the pulse. */
static bool may_merge(const hw__span *a, const hw__span *b, double apart_s, const merge_rule *rule) {
  if (!rule->unlike && (!hw__span_alike(a, b) || fabs(a->value_g_m3 - b->value_g_m3) > rule->jump_g_m3)) {
    return false;
  }
  const double quiet_s = apart_s < 0 ? 0 : fmin(sooner * rule->gap_s, 0.25 * apart_s);
  return b->time_s - a->time_s <= fmax(rule->gap_s, quiet_s);
}

static bool is_low(const hw__span *span, const merge_rule *rule) {
  return span->side == HW__BELOW || span->value_g_m3 < rule->quiet_below;
}

/* How far each span is from any pulse, if it is quiet, and -1 if not. Quiet are low ones, but for those as near to a
 * pulse as its front and tail may reach, half as many spans as it has above them. Where readings are dense the foot of
 * a pulse tells as much as its top. */
static void find_quiet(const hw__series *series, const merge_rule *rule, double apart_s[HW__SERIES_SIZE]) {
  size_t high = 0, since = HW__SERIES_SIZE;
  double last_s = -INFINITY;
  for (size_t i = 0; i < series->count; i++) {
    high += !is_low(&series->span[i], rule);
  }
  const size_t margin = 8 + high / 2;
  for (size_t i = 0; i < series->count; i++) {
    const bool low = is_low(&series->span[i], rule);
    since = low ? since + 1 : 0;
    last_s = low ? last_s : series->span[i].time_s;
    apart_s[i] = since > margin ? series->span[i].time_s - last_s : -1;
  }
  since = HW__SERIES_SIZE;
  last_s = INFINITY;
  for (size_t i = series->count; i-- > 0;) {
    const bool low = is_low(&series->span[i], rule);
    since = low ? since + 1 : 0;
    last_s = low ? last_s : series->span[i].time_s;
    apart_s[i] = since > margin ? fmin(apart_s[i], last_s - series->span[i].time_s) : -1;
  }
}

/* The spans in order of time again: merging over one another moves them a place or two. */
static void sort_again(hw__series *series) {
  for (size_t i = 1; i < series->count; i++) {
    const hw__span span = series->span[i];
    size_t j = i;
    for (; j > 0 && series->span[j - 1].time_s > span.time_s; j--) {
      series->span[j] = series->span[j - 1];
    }
    series->span[j] = span;
  }
}

/* Merges neighbours two by two, if need be over one of another kind that stands between them, until `target` spans are
 * left or all have been tried. Where a limit lies amid the noise, non-detects and measured values come in turn: those
 * of a kind merge, and never with the other. */
static void merge_pairs(hw__series *series, size_t target, const merge_rule *rule) {
  bool taken[HW__SERIES_SIZE] = {false};
  double apart_s[HW__SERIES_SIZE];
  find_quiet(series, rule, apart_s);
  size_t kept = 0, left = series->count;
  for (size_t i = 0; i < series->count; i++) {
    hw__span span = series->span[i];
    for (size_t j = i + 1; j < series->count && j <= i + 2 && !taken[i] && left > target; j++) {
      if (!taken[j] && may_merge(&span, &series->span[j], fmin(apart_s[i], apart_s[j]), rule)) {
        span = hw__span_merged(&span, &series->span[j]);
        taken[j] = true;
        left--;
        break;
      }
    }
    if (!taken[i]) {
      series->span[kept++] = span;
    }
  }
  series->count = kept;
  sort_again(series);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Standard deviation of a single reading, by what neighbours differ: most of them are of the same water. */
static double scatter_of(const hw__series *series) {
  double step[HW__SERIES_SIZE];
  size_t n = 0;
  for (size_t i = 1; i < series->count; i++) {
    const hw__span *a = &series->span[i - 1], *b = &series->span[i];
    if (a->side == HW__MEASURED && b->side == HW__MEASURED) {
      step[n++] = fabs(b->value_g_m3 - a->value_g_m3) / sqrt(1 / a->count + 1 / b->count);
    }
  }
  qsort(step, n, sizeof *step, by_size);
  return n > 0 ? 1.4826 * step[n / 2] : 0;
}

static void make_room(hw__series *series) {
  const size_t target = HW__SERIES_SIZE * 3 / 4;
  double lowest = INFINITY, highest = -INFINITY, gap = INFINITY;
  for (size_t i = 0; i < series->count; i++) {
    lowest = fmin(lowest, plain_value(&series->span[i]));
    /* The highest that a neighbour confirms: a spike must not make a pulse look quiet. */
    const double a = i > 0 ? plain_value(&series->span[i - 1]) : -INFINITY;
    const double b = i + 1 < series->count ? plain_value(&series->span[i + 1]) : -INFINITY;
    highest = fmax(highest, fmin(plain_value(&series->span[i]), fmax(a, b)));
    gap = i > 0 ? fmin(gap, series->span[i].time_s - series->span[i - 1].time_s) : gap;
  }
  const double length = series->span[series->count - 1].time_s - series->span[0].time_s;
  const double range = highest - lowest;
  gap = fmax(gap, 1e-6 * length); /* merged over one another, two may have the same middle */
  /* From a twentieth of it: quiet readings make what room they can before a pulse loses any of its own. */
  merge_rule rule = {gap / sooner, lowest + 0.05 * range, fmax(0.5 * range, 8 * scatter_of(series)), false};
  while (series->count > target) {
    merge_pairs(series, target, &rule);
    rule.unlike = rule.unlike || rule.gap_s > length;
    rule.gap_s *= 1.5;
  }
}

void hw__series_insert(hw__series *series, const hw_reading *reading) {
  const hw__side side = reading->below_limit ? HW__BELOW : reading->above_limit ? HW__ABOVE : HW__MEASURED;
  const hw__span span = {reading->time_s, 0, reading->concentration_g_m3, 1, side, false};
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

#include "field/trace.h"

#include <math.h>
#include <string.h>

/* First entry not before this time. */
static size_t find_place(const hw__trace *trace, double time_s) {
  size_t lo = 0, hi = trace->count;
  while (lo < hi) {
    const size_t middle = (lo + hi) / 2;
    if (trace->entry[middle].time_s < time_s) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static void merge_into(hw__entry *into, const hw__entry *from) {
  if (into->below_limit != from->below_limit) {
    if (into->below_limit) {
      *into = *from;
    }
    return;
  }
  const double total = into->count + from->count;
  const double share = from->count / total;
  /* The difference form leaves exact copies exactly as they are. */
  into->time_s += share * (from->time_s - into->time_s);
  into->value_g_m3 += share * (from->value_g_m3 - into->value_g_m3);
  into->count = total;
  into->clipped = into->clipped || from->clipped;
}

/* Merge neighbours two by two, where they lie at most `gap` apart, or a thousand times that where both lie below
 * quiet_below, until `target` entries are left or all have been tried. */
static void merge_pairs(hw__trace *trace, size_t target, double gap, double quiet_below) {
  size_t kept = 0, left = trace->count;
  for (size_t i = 0; i < trace->count; i++) {
    hw__entry entry = trace->entry[i];
    if (i + 1 < trace->count && left > target) {
      const hw__entry *next = &trace->entry[i + 1];
      const bool quiet = entry.value_g_m3 < quiet_below && next->value_g_m3 < quiet_below;
      if (next->time_s - entry.time_s <= (quiet ? 1000 : 1) * gap) {
        merge_into(&entry, next);
        i++;
        left--;
      }
    }
    trace->entry[kept++] = entry;
  }
  trace->count = kept;
}

/* The densest go first: merging the oldest, whatever they already stood for, once made one entry of a whole pulse. */
static void make_room(hw__trace *trace) {
  double lowest = INFINITY, highest = -INFINITY, gap = INFINITY;
  for (size_t i = 0; i < trace->count; i++) {
    lowest = fmin(lowest, trace->entry[i].value_g_m3);
    highest = fmax(highest, trace->entry[i].value_g_m3);
    gap = i > 0 ? fmin(gap, trace->entry[i].time_s - trace->entry[i - 1].time_s) : gap;
  }
  for (; trace->count > HW__TRACE_SIZE * 3 / 4; gap *= 1.5) {
    merge_pairs(trace, HW__TRACE_SIZE * 3 / 4, gap, lowest + 0.05 * (highest - lowest));
  }
}

void hw__trace_insert(hw__trace *trace, const hw_reading *reading) {
  const hw__entry entry = {reading->time_s, reading->concentration_g_m3, 1, reading->below_limit, reading->above_limit};
  size_t place = find_place(trace, entry.time_s);
  if (place < trace->count && !(trace->entry[place].time_s > entry.time_s)) {
    merge_into(&trace->entry[place], &entry);
    return;
  }
  if (trace->count == HW__TRACE_SIZE) {
    make_room(trace);
    place = find_place(trace, entry.time_s);
  }
  memmove(&trace->entry[place + 1], &trace->entry[place], (trace->count - place) * sizeof entry);
  trace->entry[place] = entry;
  trace->count++;
}

/* What a reading says of the concentration: a non-detect says "little", taken as half its limit. */
static double value_of(const hw__entry *entry) {
  return entry->below_limit ? entry->value_g_m3 / 2 : entry->value_g_m3;
}

/* The higher of two neighbours, those beyond the record's ends left out. */
static double higher_neighbour(const hw__trace *trace, size_t i, size_t apart) {
  const double before = i >= apart ? value_of(&trace->entry[i - apart]) : -INFINITY;
  const double after = i + apart < trace->count ? value_of(&trace->entry[i + apart]) : -INFINITY;
  return fmax(before, after);
}

/* A lone reading more than twice both neighbours is cut down to the higher of them, unless that one stands out from its
 * own neighbours too: then it is the top of a pulse of which few readings were made. So few readings that nobody could
 * tell are left alone. */
static void cut_spikes(hw__trace *trace, double floor) {
  enum { FEWEST = 6 };
  trace->spikes = 0;
  trace->smallest_g_m3 = INFINITY;
  for (size_t i = 0; i < trace->count; i++) {
    const hw__entry *entry = &trace->entry[i];
    trace->clean[i] = value_of(entry);
    if (entry->value_g_m3 > 0 && !entry->below_limit) {
      trace->smallest_g_m3 = fmin(trace->smallest_g_m3, entry->value_g_m3);
    }
  }
  for (size_t i = 1; i + 1 < trace->count && trace->count >= FEWEST; i++) {
    const double value = value_of(&trace->entry[i]);
    const double highest = higher_neighbour(trace, i, 1), around = higher_neighbour(trace, i, 2);
    const bool pulse = highest > 1.5 * around + 3 * floor;
    if (value > 2 * highest && value > highest + 3 * floor && !pulse) {
      trace->clean[i] = highest;
      trace->spikes++;
      trace->spike_s = trace->entry[i].time_s;
      trace->spike_g_m3 = value;
    }
  }
}

static void measure_top(hw__trace *trace) {
  const double tenth = 0.1 * trace->height_g_m3, high = 0.8 * trace->height_g_m3;
  size_t rise = trace->onset, last = trace->peak;
  while (rise < trace->peak && trace->clean[rise] < tenth) {
    rise++;
  }
  trace->top = rise;
  while (trace->top < trace->peak && trace->clean[trace->top] < high) {
    trace->top++;
  }
  bool clipped = false;
  for (size_t i = trace->onset; i < trace->count; i++) {
    last = i >= trace->peak && trace->clean[i] >= high ? i : last;
    clipped = clipped || trace->entry[i].clipped;
  }
  const hw__entry *entry = trace->entry;
  trace->flatness = hw__trace_front_seen(trace) && !clipped && trace->top >= rise + 3
                        ? (entry[last].time_s - entry[trace->top].time_s) /
                              (entry[trace->top].time_s - entry[rise > 0 ? rise - 1 : 0].time_s)
                        : (double)NAN;
}

void hw__trace_settle(hw__trace *trace, const hw_sensor *sensor) {
  trace->height_g_m3 = 0;
  trace->fallen = false;
  trace->flatness = NAN;
  trace->onset = trace->peak = trace->top = trace->count;
  if (trace->count == 0) {
    return;
  }
  cut_spikes(trace, fmax(sensor->noise_absolute_g_m3, sensor->detection_limit_g_m3 / 2));
  hw__trace_learn_background(trace, sensor);
  for (size_t i = 0; i < trace->count; i++) {
    trace->clean[i] -= trace->background_g_m3;
    if (i >= trace->onset && trace->clean[i] > trace->height_g_m3) {
      trace->height_g_m3 = trace->clean[i];
      trace->peak = i;
    }
  }
  if (!(trace->height_g_m3 > 5 * trace->floor_g_m3)) {
    trace->height_g_m3 = 0;
    return;
  }
  for (size_t i = trace->peak; i < trace->count; i++) {
    trace->fallen = trace->fallen || trace->clean[i] <= trace->height_g_m3 / 2;
  }
  measure_top(trace);
}

bool hw__trace_front_seen(const hw__trace *trace) {
  return trace->onset > 0 || trace->clean[0] < 0.1 * trace->height_g_m3;
}

double hw__trace_area(const hw__trace *trace) {
  double sum = 0;
  for (size_t i = trace->onset > 0 ? trace->onset : 1; i < trace->count; i++) {
    sum += 0.5 * (trace->clean[i - 1] + trace->clean[i]) * (trace->entry[i].time_s - trace->entry[i - 1].time_s);
  }
  return sum;
}

double hw__trace_end_s(const hw__trace *trace) {
  size_t i = trace->peak;
  while (i + 1 < trace->count && !(trace->clean[i] < 0.1 * trace->height_g_m3)) {
    i++;
  }
  return trace->entry[i].time_s;
}

/* The limit a non-detect stayed below. A bare zero is one too: its limit is not known, but the smallest
 * positive reading bounds it. */
static double limit_of(const hw__trace *trace, const hw__entry *entry) {
  if (entry->below_limit) {
    return entry->value_g_m3;
  }
  return entry->value_g_m3 > 0 ? 0 : trace->smallest_g_m3;
}

/* Where the sensor was at the end of its range nobody knows how high the pulse stood; its flanks must tell. */
static void add_point(hw__outline *outline, const hw__trace *trace, size_t from, size_t to, double noise) {
  double time = 0, value = 0, limit = 0, n = 0;
  for (size_t i = from; i < to; i++) {
    if (!trace->entry[i].clipped) {
      time += trace->entry[i].time_s - outline->anchor_s;
      value += trace->clean[i];
      limit = fmax(limit, limit_of(trace, &trace->entry[i]) / 2);
      n++;
    }
  }
  if (!(n > 0)) {
    return;
  }
  const double height = outline->height_g_m3;
  const double share = value / n / height, floor = (trace->floor_g_m3 + limit) / height;
  outline->point[outline->count++] = (hw__point){time / n, share, 1 / (noise * noise + floor * floor)};
}

void hw__trace_outline(const hw__trace *trace, const hw__population *population, hw__outline *out) {
  const double height = trace->height_g_m3, noise = population->shape_noise;
  out->count = 0;
  out->height_g_m3 = height;
  const bool lasts = hw__trace_lasts(trace);
  size_t tail = lasts ? trace->top : trace->peak, end = tail; /* last entries at or above 10 % and 3 % */
  for (size_t i = trace->onset; i < trace->count && !lasts; i++) {
    tail = trace->clean[i] >= 0.1 * height ? i : tail;
    end = trace->clean[i] >= 0.03 * height ? i : end;
  }
  out->anchor_s = trace->entry[tail].time_s;
  if (!lasts) {
    end = end + 8 < trace->count ? end + 8 : trace->count - 1;
  }

  /* Before the onset a few readings do, ever wider apart: they say when the pulse was not there. */
  size_t before[16], befores = 0;
  for (size_t back = 1; back <= trace->onset && befores < 16; back += 1 + back / 3) {
    before[befores++] = trace->onset - back;
  }
  while (befores > 0) {
    befores--;
    add_point(out, trace, before[befores], before[befores] + 1, noise);
  }
  const size_t room = HW__OUTLINE_SIZE - out->count;
  const size_t stride = (end - trace->onset) / room + 1;
  for (size_t i = trace->onset; i <= end; i += stride) {
    add_point(out, trace, i, i + stride <= end + 1 ? i + stride : end + 1, noise);
  }

  /* Neighbouring misfits go together: a pulse is worth only so many independent readings. */
  double high = 0;
  for (size_t i = 0; i < out->count; i++) {
    high += out->point[i].value > 0.1;
  }
  const double temper = fmin(1, population->shape_readings / fmax(high, 1));
  for (size_t i = 0; i < out->count; i++) {
    out->point[i].weight *= temper;
  }
}

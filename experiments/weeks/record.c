#include "weeks/record.h"

#include <string.h>

#include "weeks/draw.h"

enum { MOST_ROWS = 24000, MOST_GAPS = 3 };

static const double clear = 5;            /* standard deviations above the background that count as seen */
static const double clearly_fallen = 0.4; /* of the peak: to half, beyond what the noise may hide */

static double background_at(const station *s, double t_s) {
  return s->background_g_m3 + s->wave_g_m3 * sin(2 * M_PI * t_s / s->wave_period_s + s->wave_phase);
}

static double noise_sd(const record_plan *plan, double level_g_m3) {
  return hypot(plan->noise_absolute_g_m3, plan->noise_relative * fmax(level_g_m3, 0));
}

/* When the last sensor has seen it all; NAN when none lies below the source. */
static double passed_s(const record_plan *plan, const water *w, const hw_source *truth) {
  const double last_m = plan->station[plan->sensors - 1].location_m;
  if (last_m <= truth->location_m) {
    return NAN;
  }
  return truth->time_s + plan->duration_s + water_travel_s(w, truth->location_m, last_m) +
         5 * water_spread_s(w, truth->location_m, last_m);
}

static int by_time(const void *a, const void *b) {
  const record_row *x = a, *y = b;
  if (x->time_s != y->time_s) {
    return x->time_s < y->time_s ? -1 : 1;
  }
  return (x->sensor > y->sensor) - (x->sensor < y->sensor);
}

typedef struct {
  double from_s[MOST_GAPS], to_s[MOST_GAPS];
  size_t count;
} silence;

static silence draw_silence(const record_plan *plan, double end_s, hw_rng *rng) {
  silence gaps = {.count = plan->gaps ? 1 + (size_t)between(rng, 0, MOST_GAPS) : 0};
  for (size_t i = 0; i < gaps.count; i++) {
    gaps.from_s[i] = between(rng, plan->begin_s, end_s);
    gaps.to_s[i] = gaps.from_s[i] + between_log(rng, 1800, 43200);
  }
  return gaps;
}

static bool is_silent(const silence *gaps, double t_s) {
  for (size_t i = 0; i < gaps->count; i++) {
    if (t_s >= gaps->from_s[i] && t_s < gaps->to_s[i]) {
      return true;
    }
  }
  return false;
}

static double next_step(const record_plan *plan, hw_rng *rng) {
  return plan->irregular ? round(plan->every_s * between(rng, 0.5, 1.5)) : plan->every_s;
}

/* One sensor read from begin to end. Correlated noise keeps 0.8 of the last reading's. */
static void read_sensor(const record_plan *plan, const water *w, const hw_source *truth, size_t k, double end_s,
                        hw_rng *rng, record *out) {
  const station *s = &plan->station[k];
  const silence gaps = draw_silence(plan, end_s, rng);
  const double kept = plan->special == FAULT_CORRELATED ? 0.8 : 0;
  const double first_s = round(plan->begin_s + between(rng, 0, plan->every_s));
  double noise = hw_rng_normal(rng);
  for (double t = first_s; t <= end_s && out->count < out->capacity; t += next_step(plan, rng)) {
    noise = kept * noise + sqrt(1 - kept * kept) * hw_rng_normal(rng);
    if (is_silent(&gaps, t)) {
      continue;
    }
    const double signal = water_concentration(w, truth, plan->duration_s, s->location_m, t);
    const double level = signal + background_at(s, t);
    out->rows[out->count++] = (record_row){
        .time_s = t, .sensor = (unsigned)k, .signal_g_m3 = signal, .value_g_m3 = level + noise * noise_sd(plan, level)};
  }
}

/* The record is closed when a sensor that clearly rose has fallen far enough. Decided by the readings alone. */
static void close_record(const record_plan *plan, record *r) {
  double highest[RECORD_SENSORS] = {0};
  for (size_t i = 0; plan->end_share > 0 && i < r->count; i++) {
    const record_row *row = &r->rows[i];
    const station *s = &plan->station[row->sensor];
    const double above = row->value_g_m3 - background_at(s, row->time_s);
    double *high = &highest[row->sensor];
    *high = fmax(*high, above);
    if (*high > 12 * noise_sd(plan, s->background_g_m3) && above < plan->end_share * *high) {
      r->count = i + 1;
    }
  }
}

static bool is_seen(const record_plan *plan, const record *r) {
  size_t seen[RECORD_SENSORS] = {0}, most = 0;
  bool begun[RECORD_SENSORS] = {false}, inside = false;
  for (size_t i = 0; i < r->count; i++) {
    const record_row *row = &r->rows[i];
    const station *s = &plan->station[row->sensor];
    const double sd = noise_sd(plan, s->background_g_m3);
    const bool above = row->value_g_m3 > background_at(s, row->time_s) + clear * sd;
    inside = inside || (!begun[row->sensor] && row->signal_g_m3 > clear * sd);
    begun[row->sensor] = true;
    seen[row->sensor] += above;
    most = seen[row->sensor] > most ? seen[row->sensor] : most;
  }
  const double ratio = record_peak(r) / plan->noise_absolute_g_m3;
  return most >= 4 && ratio >= 20 && ratio <= 3000 && inside == (plan->special == BEGINS_INSIDE);
}

static void peaks_of(const record *r, double *peak) {
  for (size_t i = 0; i < r->count; i++) {
    peak[r->rows[i].sensor] = fmax(peak[r->rows[i].sensor], r->rows[i].signal_g_m3);
  }
}

/* A sensor that saw the pulse, while another did too; RECORD_SENSORS when there is none. */
static size_t choose_faulty(const record_plan *plan, const double *peak, hw_rng *rng) {
  size_t saw[RECORD_SENSORS], count = 0;
  for (size_t k = 0; k < plan->sensors; k++) {
    if (peak[k] > 2 * clear * noise_sd(plan, plan->station[k].background_g_m3)) {
      saw[count++] = k;
    }
  }
  return count < 2 ? RECORD_SENSORS : saw[(size_t)between(rng, 0, (double)count)];
}

static bool strike(const record_plan *plan, record *r, hw_rng *rng) {
  r->faulty = RECORD_SENSORS;
  if (!(plan->special < STRATA && stratum_kind_of(plan->special) == BROKEN) || plan->special == FAULT_CORRELATED) {
    return true;
  }
  double peak[RECORD_SENSORS] = {0};
  peaks_of(r, peak);
  r->faulty = choose_faulty(plan, peak, rng);
  if (r->faulty == RECORD_SENSORS) {
    return false;
  }
  const double top = plan->station[r->faulty].background_g_m3 + 0.6 * peak[r->faulty];
  const double begin_s = r->rows[0].time_s, length_s = r->rows[r->count - 1].time_s - begin_s;
  const double gain = plan->special == FAULT_UNIT   ? 1000
                      : plan->special == FAULT_GAIN ? 0.7
                      : chance(rng, 0.5)            ? 0.8
                                                    : 1.2;
  const double ramp = between(rng, 0.2, 1) * peak[r->faulty];
  const double shift_s = round((chance(rng, 0.5) ? -1 : 1) * between(rng, 1800, 7200));
  for (size_t i = 0; i < r->count; i++) {
    record_row *row = &r->rows[i];
    if (row->sensor != r->faulty) {
      continue;
    }
    double *value = &row->value_g_m3;
    switch (plan->special) {
      case FAULT_CLIPPED:
        *value = fmin(*value, top);
        break;
      case FAULT_DEAD:
        *value = 0;
        break;
      case FAULT_DRIFT:
        *value += ramp * (row->time_s - begin_s) / length_s;
        break;
      case FAULT_CLOCK:
        row->time_s += shift_s;
        break;
      default:
        *value *= gain;
    }
  }
  qsort(r->rows, r->count, sizeof *r->rows, by_time);
  return true;
}

/* Single readings far above what is there: a bubble, a fish. */
static void add_spikes(record *r, hw_rng *rng) {
  const double peak = record_peak(r);
  const size_t count = 1 + (size_t)(between(rng, 0.0005, 0.004) * (double)r->count);
  for (size_t i = 0; i < count; i++) {
    r->rows[(size_t)between(rng, 0, (double)r->count)].value_g_m3 += peak * between_log(rng, 0.5, 10);
  }
}

bool record_make(const record_plan *plan, const water *w, const hw_source *truth, hw_rng *rng, record *out) {
  *out = (record){.faulty = RECORD_SENSORS};
  const double passed = passed_s(plan, w, truth);
  const double end_s = passed + between(rng, 0, 0.25) * (passed - truth->time_s);
  const double steps = (end_s - plan->begin_s) / plan->every_s + 1, rows = steps * (double)plan->sensors;
  if (!(steps >= 8 && rows <= MOST_ROWS)) {
    return false;
  }
  const bool empty = plan->special == EMPTY_ZEROS || plan->special == EMPTY_NOISE || plan->special == EMPTY_NONDETECTS;
  const hw_source none = {.location_m = truth->location_m, .time_s = truth->time_s};
  out->capacity = (size_t)rows + plan->sensors;
  out->capacity *= plan->irregular ? 2 : 1;
  out->rows = malloc(out->capacity * sizeof *out->rows);
  if (!out->rows) {
    return false;
  }
  for (size_t k = 0; k < plan->sensors; k++) {
    read_sensor(plan, w, empty ? &none : truth, k, end_s, rng, out);
  }
  qsort(out->rows, out->count, sizeof *out->rows, by_time);
  close_record(plan, out);
  if ((!empty && !is_seen(plan, out)) || !strike(plan, out, rng)) {
    return false;
  }
  if (plan->spikes) {
    add_spikes(out, rng);
  }
  for (size_t i = 0; i < out->count; i++) {
    record_row *row = &out->rows[i];
    row->value_g_m3 = plan->special == EMPTY_ZEROS ? 0 : row->value_g_m3;
    row->below_limit = plan->limit_g_m3 > 0 && row->value_g_m3 < plan->limit_g_m3;
    row->value_g_m3 = row->below_limit ? plan->limit_g_m3 : plan->zeros ? fmax(row->value_g_m3, 0) : row->value_g_m3;
  }
  return true;
}

double record_peak(const record *r) {
  double peak = 0;
  for (size_t i = 0; i < r->count; i++) {
    peak = fmax(peak, r->rows[i].signal_g_m3);
  }
  return peak;
}

bool record_fallen(const record_plan *plan, const record *r) {
  double peak[RECORD_SENSORS] = {0};
  for (size_t i = 0; i < r->count; i++) {
    const record_row *row = &r->rows[i];
    double *high = &peak[row->sensor];
    *high = fmax(*high, row->signal_g_m3);
    const double sd = noise_sd(plan, plan->station[row->sensor].background_g_m3);
    if (row->sensor != r->faulty && *high > 2 * clear * sd && row->signal_g_m3 < clearly_fallen * *high) {
      return true;
    }
  }
  return false;
}

typedef struct {
  size_t row;
  double position;
} place_in_file;

static int by_position(const void *a, const void *b) {
  const place_in_file *x = a, *y = b;
  if (x->position != y->position) {
    return x->position < y->position ? -1 : 1;
  }
  return (x->row > y->row) - (x->row < y->row);
}

static void write_row(FILE *out, const record_row *row, bool missing) {
  fprintf(out, "%.0f,s%u,", row->time_s, row->sensor + 1);
  if (!missing) {
    fprintf(out, "%s%.5g", row->below_limit ? "<" : "", row->value_g_m3);
  }
  fputc('\n', out);
}

char *record_write(const record_plan *plan, const record *r, hw_rng *rng) {
  place_in_file *order = malloc((r->count + 1) * sizeof *order);
  char *text = NULL;
  size_t size = 0;
  FILE *out = order ? open_memstream(&text, &size) : NULL;
  if (!out) {
    free(order);
    return NULL;
  }
  for (size_t i = 0; i < r->count; i++) {
    const double delay = plan->late && chance(rng, 0.03) ? between(rng, 1, 40) * (double)plan->sensors : 0;
    order[i] = (place_in_file){i, (double)i + delay};
  }
  qsort(order, r->count, sizeof *order, by_position);
  fprintf(out, "time_s,sensor,concentration_g_m3\n");
  for (size_t i = 0; i < r->count; i++) {
    const record_row *row = &r->rows[order[i].row];
    write_row(out, row, plan->gaps && chance(rng, 0.02));
    if (plan->duplicates && chance(rng, 0.03)) {
      write_row(out, row, false);
    }
  }
  free(order);
  fclose(out);
  return text;
}

void record_free(record *r) {
  free(r->rows);
  r->rows = NULL;
}

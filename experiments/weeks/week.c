#include "weeks/week.h"

#include <string.h>

#include "weeks/draw.h"

/* At most 60 km of search and 50 km of sensors: 441 cells of the water's 640. */
enum { MOST_REACHES = 4, TRIES_PER_RIVER = 40, MOST_PLANNED_ROWS = 5000 };

static const double minute = 60, hour = 3600, day = 86400;

typedef struct {
  double velocity_m_s, dispersion_m2_s; /* of the river, below the last reach */
  size_t reaches;
  double to_m[MOST_REACHES], reach_velocity_m_s[MOST_REACHES], reach_dispersion_m2_s[MOST_REACHES];
  double area_m2;
  water_stated stated;
  record_plan plan;
  hw_box box;
  bool declared; /* the file states the background */
  double candidate_m[WEEK_CANDIDATES];
  uint64_t strata;
} setting;

static void mark(setting *s, stratum which) {
  s->strata |= stratum_bit(which);
}

static size_t draw_sensor_count(hw_rng *rng, bool several) {
  static const double lo[] = {1, 2, 5, 13, 31}, hi[] = {2, 5, 13, 31, 61};
  static const double share[] = {0.15, 0.4, 0.2, 0.13, 0.12};
  double u = hw_rng_uniform(rng);
  size_t class = 0;
  while (class < 4 && u >= share[class]) {
    u -= share[class ++];
  }
  return (size_t)between(rng, several && class == 0 ? 3 : lo[class], hi[class]);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sensors and the stretch that is searched: above all of them, or reaching down between them. */
static void draw_places(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  plan->sensors = draw_sensor_count(rng, plan->fault != NO_FAULT);
  const double span_m = between_log(rng, 3000, 50000), origin_m = round(between(rng, -60000, 60000));
  double place[RECORD_SENSORS] = {0};
  for (size_t k = 1; k < plan->sensors; k++) {
    place[k] = round(between(rng, 0, span_m));
  }
  qsort(place, plan->sensors, sizeof place[0], by_value);
  for (size_t k = 0; k < plan->sensors; k++) {
    plan->station[k].location_m = origin_m + place[k];
  }
  const double last_m = plan->station[plan->sensors - 1].location_m;
  const bool among = plan->sensors > 1 && chance(rng, 0.35);
  s->box.hi.location_m = round(among ? between(rng, origin_m, last_m - 100) : origin_m - between(rng, 50, 2000));
  s->box.lo.location_m = round(s->box.hi.location_m - between_log(rng, 2000, 60000));
  s->stated.from_m = fmin(s->box.lo.location_m, origin_m) - WATER_CELL_M;
  s->stated.cells = (size_t)((last_m - s->stated.from_m) / WATER_CELL_M) + 2;
}

static void draw_reaches(setting *s, hw_rng *rng) {
  s->reaches = chance(rng, 0.3) ? 2 + (size_t)between(rng, 0, MOST_REACHES - 1) : 0;
  size_t end[MOST_REACHES];
  for (size_t i = 0; i < s->reaches; i++) {
    end[i] = (i + 1) * s->stated.cells / (s->reaches + 1) + (size_t)between(rng, 0, 3);
    s->to_m[i] = s->stated.from_m + (double)(end[i] * WATER_CELL_M);
    s->reach_velocity_m_s[i] = as_written(fmin(fmax(s->velocity_m_s * exp(0.25 * hw_rng_normal(rng)), 0.2), 1.6));
    s->reach_dispersion_m2_s[i] = as_written(fmin(fmax(s->dispersion_m2_s * exp(0.4 * hw_rng_normal(rng)), 4), 90));
  }
  for (size_t c = 0, i = 0; c < s->stated.cells; c++) {
    i += i < s->reaches && c >= end[i];
    s->stated.velocity_m_s[c] = i < s->reaches ? s->reach_velocity_m_s[i] : s->velocity_m_s;
    s->stated.dispersion_m2_s[c] = i < s->reaches ? s->reach_dispersion_m2_s[i] : s->dispersion_m2_s;
  }
}

static void draw_hydraulics(setting *s, hw_rng *rng) {
  s->velocity_m_s = as_written(between_log(rng, 0.2, 1.6));
  s->dispersion_m2_s = as_written(between_log(rng, 4, 90));
  s->area_m2 = as_written(between_log(rng, 3, 150));
  draw_reaches(s, rng);
  const bool doubtful = chance(rng, 0.5);
  s->stated.velocity_factor = doubtful ? as_written(between_log(rng, 1.03, 1.3)) : 1;
  s->stated.dispersion_factor = doubtful ? as_written(between_log(rng, 1.2, 2.5)) : 1;
  /* Reaches with one area and several velocities would gain and lose water: there the discharge is given. */
  const bool by_area = s->reaches == 0 && chance(rng, 0.3);
  s->stated.discharge_follows = by_area && doubtful;
  s->stated.discharge_m3_s = s->velocity_m_s * s->area_m2;
  if (!by_area) {
    s->stated.discharge_m3_s = as_written(s->stated.discharge_m3_s);
    s->area_m2 = 0;
  }
  const double longest_s = (double)s->stated.cells * WATER_CELL_M / s->velocity_m_s;
  s->stated.decay_per_s = chance(rng, 0.7) ? 0 : as_written(between(rng, 0.05, 0.7) / longest_s);
  mark(s, doubtful ? HYDRAULICS_DOUBTFUL : HYDRAULICS_KNOWN);
  mark(s, by_area ? AREA_GIVEN : DISCHARGE_GIVEN);
  s->strata |= s->reaches ? stratum_bit(REACHES) : 0;
}

static void draw_times(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  s->box.lo.time_s = round(between(rng, -2 * day, 2 * day));
  const double width_s = between_log(rng, 2 * hour, 4 * day);
  s->box.hi.time_s = round(s->box.lo.time_s + width_s);
  plan->begin_s =
      round(s->box.lo.time_s + (chance(rng, 0.5) ? -between(rng, 0, 2 * day) : between(rng, 0, width_s / 2)));
  water median;
  water_stated sure = s->stated;
  sure.velocity_factor = sure.dispersion_factor = 1;
  water_draw(&sure, rng, &median);
  const double last_m = plan->station[plan->sensors - 1].location_m;
  const double longest_s =
      s->box.hi.time_s - plan->begin_s + 1.3 * water_travel_s(&median, s->box.lo.location_m, last_m);
  const double least_s = longest_s * (double)plan->sensors / MOST_PLANNED_ROWS;
  plan->every_s =
      10 * round(fmin(between_log(rng, fmin(fmax(minute, least_s), 60 * minute), 60 * minute), 60 * minute) / 10);
  const double ending = hw_rng_uniform(rng);
  plan->end_share = ending < 0.25 ? between(rng, 0.75, 0.98) : ending < 0.55 ? between(rng, 0.05, 0.5) : 0;
  mark(s, ending < 0.25 ? ENDS_PEAK : ending < 0.55 ? ENDS_AFTER : ENDS_LAST);
}

static void draw_mass(setting *s, hw_rng *rng) {
  const double decades = between(rng, 1, 4);
  s->box.lo.mass_g = as_written(between_log(rng, 1, 1e4));
  s->box.hi.mass_g = as_written(s->box.lo.mass_g * pow(10, decades));
  mark(s, decades < 2 ? MASS_1_2 : decades < 3 ? MASS_2_3 : MASS_3_4);
}

/* Noise such that a spill of middling size from the middle of the stretch stands out by the drawn ratio. */
static void draw_noise(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  const double middle_m = 0.5 * (s->box.lo.location_m + s->box.hi.location_m);
  const double way = fmax(plan->station[plan->sensors / 2].location_m - middle_m, 1000);
  const double mass = sqrt(s->box.lo.mass_g * s->box.hi.mass_g), v = s->velocity_m_s;
  const double spread_s = sqrt(2 * s->dispersion_m2_s * way / (v * v * v));
  const double height = mass / (s->stated.discharge_m3_s * spread_s * sqrt(2 * M_PI));
  plan->noise_relative = as_written(between(rng, 0.02, 0.1));
  plan->noise_absolute_g_m3 = as_written(height / between_log(rng, 20, 3000));
}

static void draw_background(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  const double kind = hw_rng_uniform(rng);
  const bool drifting = kind >= 0.75, clean = !drifting && chance(rng, 0.4);
  s->declared = kind < 0.4;
  for (size_t k = 0; k < plan->sensors; k++) {
    station *x = &plan->station[k];
    x->background_g_m3 = clean ? 0 : as_written(plan->noise_absolute_g_m3 * between_log(rng, 0.5, 30));
    x->wave_g_m3 = drifting ? plan->noise_absolute_g_m3 * between(rng, 0.5, 4) : 0;
    x->background_g_m3 += x->wave_g_m3;
    x->wave_period_s = between_log(rng, 0.5 * day, 4 * day);
    x->wave_phase = between(rng, 0, 2 * M_PI);
  }
  mark(s, s->declared ? BACKGROUND_DECLARED : drifting ? BACKGROUND_DRIFTING : BACKGROUND_LEARNED);
}

static void draw_habits(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  const bool censored = chance(rng, 0.5);
  const double above = chance(rng, 0.5) ? plan->station[0].background_g_m3 : 0;
  plan->limit_g_m3 = censored ? as_written(above + plan->noise_absolute_g_m3 * between_log(rng, 2, 10)) : 0;
  plan->zeros = !censored && chance(rng, 0.5);
  mark(s, censored ? CENSORED : UNCENSORED);
  plan->gaps = chance(rng, 0.2);
  plan->duplicates = chance(rng, 0.15);
  plan->late = chance(rng, 0.15);
  plan->spikes = plan->fault == NO_FAULT && chance(rng, 0.12);
  s->strata |= (plan->gaps ? stratum_bit(GAPS) : 0) | (plan->duplicates ? stratum_bit(DUPLICATES) : 0) |
               (plan->late ? stratum_bit(LATE) : 0) | (plan->spikes ? stratum_bit(SPIKES) : 0);
}

static void draw_setting(stratum fault, hw_rng *rng, setting *s) {
  *s = (setting){.plan.fault = fault};
  draw_places(s, rng);
  draw_hydraulics(s, rng);
  draw_times(s, rng);
  draw_mass(s, rng);
  draw_noise(s, rng);
  draw_background(s, rng);
  draw_habits(s, rng);
  for (size_t i = 0; i < WEEK_CANDIDATES; i++) {
    s->candidate_m[i] = round(between(rng, s->box.lo.location_m, s->box.hi.location_m));
  }
}

/* From the prior that the file states. */
static hw_source draw_truth(const setting *s, hw_rng *rng, int *guilty) {
  *guilty = chance(rng, 0.8) ? (int)between(rng, 0, WEEK_CANDIDATES) : -1;
  return (hw_source){
      .mass_g = between_log(rng, s->box.lo.mass_g, s->box.hi.mass_g),
      .location_m = *guilty >= 0 ? s->candidate_m[*guilty] : between(rng, s->box.lo.location_m, s->box.hi.location_m),
      .time_s = between(rng, s->box.lo.time_s, s->box.hi.time_s),
  };
}

static void mark_outcome(setting *s, const hw_source *truth, const record *r) {
  const record_plan *plan = &s->plan;
  const double every = plan->every_s / minute, ratio = record_peak(r) / plan->noise_absolute_g_m3;
  const size_t n = plan->sensors;
  mark(s, n == 1 ? SENSORS_1 : n < 5 ? SENSORS_2_4 : n < 13 ? SENSORS_5_12 : n < 31 ? SENSORS_13_30 : SENSORS_31_60);
  mark(s, every < 5 ? EVERY_1_5 : every < 20 ? EVERY_5_20 : EVERY_20_60);
  mark(s, truth->time_s - plan->begin_s > 0.5 * day ? BEGINS_DAYS : BEGINS_MINUTES);
  mark(s, ratio < 100 ? NOISE_LARGE : ratio < 600 ? NOISE_MIDDLE : NOISE_SMALL);
  s->strata |= plan->station[0].location_m < truth->location_m ? stratum_bit(SENSORS_ABOVE) : 0;
  mark(s, ALL_SOUND);
  if (plan->fault != NO_FAULT) {
    s->strata = stratum_bit(ALL_BROKEN) | stratum_bit(plan->fault);
  }
}

static void write_quantity(FILE *out, const char *name, double value, double factor) {
  if (factor > 1) {
    fprintf(out, "  %s: {median: %.5g, factor: %.5g}\n", name, value, factor);
  } else {
    fprintf(out, "  %s: %.5g\n", name, value);
  }
}

static void write_sensor(FILE *out, const setting *s, size_t k) {
  const record_plan *plan = &s->plan;
  fprintf(out, "  - {id: s%zu, location_m: %.0f, noise_relative: %.5g, noise_absolute_g_m3: %.5g", k + 1,
          plan->station[k].location_m, plan->noise_relative, plan->noise_absolute_g_m3);
  if (plan->limit_g_m3 > 0) {
    fprintf(out, ", detection_limit_g_m3: %.5g", plan->limit_g_m3);
  }
  if (s->declared) {
    fprintf(out, ", background_g_m3: %.5g", plan->station[k].background_g_m3);
  }
  fprintf(out, "}\n");
}

static char *write_river(const setting *s, uint64_t index) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return NULL;
  }
  fprintf(out, "name: Week %llu\nhydraulics:\n", (unsigned long long)index);
  write_quantity(out, "velocity_m_s", s->velocity_m_s, s->stated.velocity_factor);
  write_quantity(out, "dispersion_m2_s", s->dispersion_m2_s, s->stated.dispersion_factor);
  if (s->area_m2 > 0) {
    write_quantity(out, "area_m2", s->area_m2, 1);
  } else {
    write_quantity(out, "discharge_m3_s", s->stated.discharge_m3_s, 1);
  }
  fprintf(out, "  decay_per_s: %.5g\n%s", s->stated.decay_per_s, s->reaches ? "reaches:\n" : "");
  for (size_t i = 0; i < s->reaches; i++) {
    fprintf(out, "  - {to_m: %.0f, velocity_m_s: %.5g, dispersion_m2_s: %.5g}\n", s->to_m[i], s->reach_velocity_m_s[i],
            s->reach_dispersion_m2_s[i]);
  }
  fprintf(out, "search:\n  mass_g: [%.5g, %.5g]\n  location_m: [%.0f, %.0f]\n  time_s: [%.0f, %.0f]\nsensors:\n",
          s->box.lo.mass_g, s->box.hi.mass_g, s->box.lo.location_m, s->box.hi.location_m, s->box.lo.time_s,
          s->box.hi.time_s);
  for (size_t k = 0; k < s->plan.sensors; k++) {
    write_sensor(out, s, k);
  }
  fprintf(out, "candidates:\n");
  for (size_t i = 0; i < WEEK_CANDIDATES; i++) {
    fprintf(out, "  - {id: c%zu, location_m: %.0f}\n", i + 1, s->candidate_m[i]);
  }
  fclose(out);
  return text;
}

static void describe(const setting *s, const water *w, const record *r, week *out) {
  out->strata = s->strata;
  out->fallen = record_fallen(&s->plan, r);
  out->rows = r->count;
  if (r->faulty < RECORD_SENSORS) {
    snprintf(out->faulty, sizeof out->faulty, "s%zu", r->faulty + 1);
  }
  size_t first = 0;
  while (s->plan.station[first].location_m <= out->truth.location_m) {
    first++;
  }
  const double first_m = s->plan.station[first].location_m;
  out->distance_m = first_m - out->truth.location_m;
  out->travel_s = water_travel_s(w, out->truth.location_m, first_m);
}

/* One river, and a truth that its sensors saw; false when none of the tries was. */
static bool try_river(stratum fault, uint64_t index, hw_rng *rng, setting *s, week *out) {
  draw_setting(fault, rng, s);
  for (int i = 0; i < TRIES_PER_RIVER; i++) {
    water w;
    record r;
    out->truth = draw_truth(s, rng, &out->guilty);
    water_draw(&s->stated, rng, &w);
    if (record_make(&s->plan, &w, &out->truth, rng, &r)) {
      mark_outcome(s, &out->truth, &r);
      out->river = write_river(s, index);
      out->readings = record_write(&s->plan, &r, rng);
      describe(s, &w, &r, out);
      record_free(&r);
      return true;
    }
    record_free(&r);
  }
  return false;
}

static stratum fault_of(uint64_t index) {
  return index % 4 == 3 ? (stratum)(FIRST_FAULT + index / 4 % FAULTS) : NO_FAULT;
}

bool week_may_be(uint64_t index, stratum which) {
  const stratum fault = fault_of(index);
  return which == STRATA || (which < ALL_BROKEN    ? fault == NO_FAULT
                             : which == ALL_BROKEN ? fault != NO_FAULT
                                                   : fault == which);
}

bool week_make(uint64_t seed, uint64_t index, week *out) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, index);
  const stratum fault = fault_of(index);
  *out = (week){0};
  setting *s = malloc(sizeof *s);
  if (!s) {
    return false;
  }
  while (!try_river(fault, index, &rng, s, out)) {
  }
  free(s);
  return out->river && out->readings;
}

void week_free(week *w) {
  free(w->river);
  free(w->readings);
}

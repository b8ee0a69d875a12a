#include "weeks/setting.h"

#include "weeks/draw.h"

enum { MOST_PLANNED_ROWS = 5000 };

static const double minute = 60, hour = 3600, day = 86400;

void setting_mark(setting *s, stratum which) {
  s->strata |= stratum_bit(which);
}

bool is_broken(stratum special) {
  return special < STRATA && stratum_kind_of(special) == BROKEN;
}

static size_t draw_sensor_count(hw_rng *rng, bool several) {
  static const double lo[] = {1, 2, 5, 13, 31}, hi[] = {2, 5, 13, 31, 61};
  static const double share[] = {0.15, 0.4, 0.2, 0.13, 0.12};
  double u = hw_rng_uniform(rng);
  size_t group = 0;
  while (group < 4 && u >= share[group]) {
    u -= share[group++];
  }
  const size_t count = (size_t)between(rng, lo[group], hi[group]);
  return several && count < 2 ? 2 : count;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sensors and the stretch that is searched: above all of them, or reaching down between them. */
static void draw_places(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  plan->sensors = draw_sensor_count(rng, is_broken(plan->special));
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
  s->reaches =
      chance(rng, 0.3) && s->plan.special != HYDRAULICS_UNKNOWN ? 2 + (size_t)between(rng, 0, SETTING_REACHES - 1) : 0;
  size_t end[SETTING_REACHES];
  for (size_t i = 0; i < s->reaches; i++) {
    end[i] = (i + 1) * s->stated.cells / (s->reaches + 1) + (size_t)between(rng, 0, 3);
    end[i] += i > 0 && end[i] <= end[i - 1] ? end[i - 1] + 1 - end[i] : 0; /* of a short river */
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

/* Some reaches were surveyed better than the river, others worse, and their numbers come with a doubt of their own.
 * Drawn apart from the rest of the week, which stays what it is without them. */
static void draw_reach_factors(setting *s) {
  hw_rng own;
  hw_rng_seed(&own, (uint64_t)(1e5 * s->velocity_m_s), (uint64_t)(1e5 * s->dispersion_m2_s));
  if (s->plan.special != ORDINARY || s->reaches == 0 || !(s->velocity_factor > 1) || chance(&own, 0.5)) {
    return;
  }
  for (size_t i = 0; i < s->reaches; i++) {
    const double velocity = as_written(between_log(&own, 1.02, 1.5));
    const double dispersion = as_written(between_log(&own, 1.1, 3.5));
    s->reach_velocity_factor[i] = i == 0 || chance(&own, 0.7) ? velocity : 0;
    s->reach_dispersion_factor[i] = i == 0 || chance(&own, 0.7) ? dispersion : 0;
  }
  setting_mark(s, REACHES_DOUBTFUL);
}

static void spread_factors(setting *s) {
  for (size_t c = 0, i = 0; c < s->stated.cells; c++) {
    const double end_m = s->stated.from_m + (double)((c + 1) * WATER_CELL_M);
    i += i < s->reaches && end_m > s->to_m[i];
    const double v = i < s->reaches ? s->reach_velocity_factor[i] : 0;
    const double d = i < s->reaches ? s->reach_dispersion_factor[i] : 0;
    s->stated.velocity_factor[c] = v > 0 ? v : s->velocity_factor;
    s->stated.dispersion_factor[c] = d > 0 ? d : s->dispersion_factor;
  }
}

static void draw_hydraulics(setting *s, hw_rng *rng) {
  s->velocity_m_s = as_written(between_log(rng, 0.2, 1.6));
  s->dispersion_m2_s = as_written(between_log(rng, 4, 90));
  s->area_m2 = as_written(between_log(rng, 3, 150));
  draw_reaches(s, rng);
  const bool doubtful = chance(rng, 0.5);
  s->velocity_factor = doubtful ? as_written(between_log(rng, 1.03, 1.3)) : 1;
  s->dispersion_factor = doubtful ? as_written(between_log(rng, 1.2, 2.5)) : 1;
  draw_reach_factors(s);
  spread_factors(s);
  /* Reaches with one area and several velocities would gain and lose water: there the discharge is given. */
  const bool by_area = s->reaches == 0 && s->plan.special != HYDRAULICS_UNKNOWN && chance(rng, 0.3);
  s->stated.discharge_follows = by_area && doubtful;
  s->stated.discharge_m3_s = s->velocity_m_s * s->area_m2;
  if (!by_area) {
    s->stated.discharge_m3_s = as_written(s->stated.discharge_m3_s);
    s->area_m2 = 0;
  }
  const double longest_s = (double)s->stated.cells * WATER_CELL_M / s->velocity_m_s;
  s->stated.decay_per_s = chance(rng, 0.7) ? 0 : as_written(between(rng, 0.05, 0.7) / longest_s);
  setting_mark(s, doubtful ? HYDRAULICS_DOUBTFUL : HYDRAULICS_KNOWN);
  setting_mark(s, by_area ? AREA_GIVEN : DISCHARGE_GIVEN);
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
  for (size_t c = 0; c < sure.cells; c++) {
    sure.velocity_factor[c] = sure.dispersion_factor[c] = 1;
  }
  water_draw(&sure, &(water_secret){0}, rng, &median);
  const double last_m = plan->station[plan->sensors - 1].location_m;
  const double longest_s =
      s->box.hi.time_s - plan->begin_s + 1.3 * water_travel_s(&median, s->box.lo.location_m, last_m);
  if (plan->special == BEGINS_INSIDE) {
    plan->begin_s = round(between(rng, s->box.lo.time_s, s->box.lo.time_s + longest_s));
  }
  const double least_s = longest_s * (double)plan->sensors / MOST_PLANNED_ROWS;
  plan->every_s =
      10 * round(fmin(between_log(rng, fmin(fmax(minute, least_s), 60 * minute), 60 * minute), 60 * minute) / 10);
  if (plan->special == GRABS) {
    plan->irregular = true;
    plan->every_s = round(between_log(rng, hour, 4 * hour));
  }
  const double ending = hw_rng_uniform(rng);
  plan->end_share = ending < 0.25 ? between(rng, 0.75, 0.98) : ending < 0.55 ? between(rng, 0.05, 0.5) : 0;
  setting_mark(s, ending < 0.25 ? ENDS_PEAK : ending < 0.55 ? ENDS_AFTER : ENDS_LAST);
}

static void draw_mass(setting *s, hw_rng *rng) {
  const double decades = between(rng, 1, 4);
  s->box.lo.mass_g = as_written(between_log(rng, 1, 1e4));
  s->box.hi.mass_g = as_written(s->box.lo.mass_g * pow(10, decades));
  setting_mark(s, decades < 2 ? MASS_1_2 : decades < 3 ? MASS_2_3 : MASS_3_4);
}

/* Noise such that a spill of middling size from the middle of the stretch stands out by the drawn ratio. */
static void draw_noise(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  const double middle_m = 0.5 * (s->box.lo.location_m + s->box.hi.location_m);
  const double way = fmax(plan->station[plan->sensors / 2].location_m - middle_m, 1000);
  const double mass = sqrt(s->box.lo.mass_g * s->box.hi.mass_g), v = s->velocity_m_s;
  const double spread_s = sqrt(2 * s->dispersion_m2_s * way / (v * v * v));
  const double height = mass / (s->stated.discharge_m3_s * spread_s * sqrt(2 * M_PI));
  const bool small = plan->special == LARGE_BACKGROUND;
  plan->noise_relative = as_written(small ? between_log(rng, 0.001, 0.01) : between(rng, 0.02, 0.1));
  plan->noise_absolute_g_m3 = as_written(height / between_log(rng, 20, 3000));
}

static void draw_background(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  const bool large = plan->special == LARGE_BACKGROUND;
  const bool zero = plan->special == EMPTY_NONDETECTS || plan->special == EMPTY_ZEROS;
  const double kind = large ? 0.5 : zero ? between(rng, 0, 0.75) : hw_rng_uniform(rng);
  const bool drifting = kind >= 0.75, clean = zero || (!drifting && !large && chance(rng, 0.4));
  const double least = large ? 200 : 0.5, most = large ? 2000 : 30; /* times the absolute noise */
  s->declared = kind < 0.4;
  for (size_t k = 0; k < plan->sensors; k++) {
    station *x = &plan->station[k];
    x->background_g_m3 = clean ? 0 : as_written(plan->noise_absolute_g_m3 * between_log(rng, least, most));
    x->wave_g_m3 = drifting ? plan->noise_absolute_g_m3 * between(rng, 0.5, 4) : 0;
    x->background_g_m3 += x->wave_g_m3;
    x->wave_period_s = between_log(rng, 0.5 * day, 4 * day);
    x->wave_phase = between(rng, 0, 2 * M_PI);
  }
  setting_mark(s, s->declared ? BACKGROUND_DECLARED : drifting ? BACKGROUND_DRIFTING : BACKGROUND_LEARNED);
}

static void draw_habits(setting *s, hw_rng *rng) {
  record_plan *plan = &s->plan;
  const bool nondetects = plan->special == EMPTY_NONDETECTS;
  const bool censored = nondetects || (plan->special != LARGE_BACKGROUND && chance(rng, 0.5));
  const double above = chance(rng, 0.5) ? plan->station[0].background_g_m3 : 0;
  plan->limit_g_m3 =
      censored ? as_written(above + plan->noise_absolute_g_m3 * between_log(rng, nondetects ? 6 : 2, 10)) : 0;
  plan->zeros = !censored && chance(rng, 0.5);
  setting_mark(s, censored ? CENSORED : UNCENSORED);
  plan->gaps = chance(rng, 0.2);
  plan->duplicates = chance(rng, 0.15);
  plan->late = chance(rng, 0.15);
  plan->spikes = plan->special == ORDINARY && chance(rng, 0.12);
  s->strata |= (plan->gaps ? stratum_bit(GAPS) : 0) | (plan->duplicates ? stratum_bit(DUPLICATES) : 0) |
               (plan->late ? stratum_bit(LATE) : 0) | (plan->spikes ? stratum_bit(SPIKES) : 0);
}

/* What the file does not say. */
static void draw_secret(setting *s, hw_rng *rng) {
  water_secret *w = &s->secret;
  switch (s->plan.special) {
    case WRONG_DISPERSION:
      w->dispersion_ratio = chance(rng, 0.5) ? 5 : 0.2;
      break;
    case STORAGE: /* pools of 5 to 40 % of the channel, met every quarter of an hour to every day */
      w->rests_per_s = between_log(rng, 1e-5, 1e-3);
      w->rest_s = between(rng, 0.05, 0.4) / w->rests_per_s;
      break;
    case SWINGING:
      w->swing = 0.3;
      w->swing_s = between_log(rng, 0.25 * day, 2 * day);
      w->swing_phase = between(rng, 0, 2 * M_PI);
      break;
    case LASTING:
      s->plan.duration_s = between(rng, 0.5 * hour, 1.5 * hour);
      break;
    case LASTING_LONG:
      s->plan.duration_s = between_log(rng, 2 * hour, 24 * hour);
      break;
    default:
      break;
  }
}

void setting_draw(stratum special, hw_rng *rng, setting *s) {
  *s = (setting){.plan.special = special};
  draw_places(s, rng);
  draw_hydraulics(s, rng);
  draw_times(s, rng);
  draw_mass(s, rng);
  draw_noise(s, rng);
  draw_background(s, rng);
  draw_habits(s, rng);
  draw_secret(s, rng);
  for (size_t i = 0; i < SETTING_CANDIDATES; i++) {
    s->candidate_m[i] = round(between(rng, s->box.lo.location_m, s->box.hi.location_m));
  }
}

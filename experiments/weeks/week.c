#include "weeks/week.h"

#include "weeks/draw.h"
#include "weeks/setting.h"

enum { TRIES_PER_RIVER = 40 };

/* From the prior that the file states. */
static hw_source draw_truth(const setting *s, hw_rng *rng, int *guilty) {
  *guilty = chance(rng, 0.8) ? (int)between(rng, 0, SETTING_CANDIDATES) : -1;
  return (hw_source){
      .mass_g = between_log(rng, s->box.lo.mass_g, s->box.hi.mass_g),
      .location_m = *guilty >= 0 ? s->candidate_m[*guilty] : between(rng, s->box.lo.location_m, s->box.hi.location_m),
      .time_s = between(rng, s->box.lo.time_s, s->box.hi.time_s),
  };
}

static void mark_outcome(setting *s, const hw_source *truth, int guilty, const record *r) {
  const record_plan *plan = &s->plan;
  const double every = plan->every_s / 60, ratio = record_peak(r) / plan->noise_absolute_g_m3;
  const size_t n = plan->sensors;
  setting_mark(s, n == 1   ? SENSORS_1
                  : n < 5  ? SENSORS_2_4
                  : n < 13 ? SENSORS_5_12
                  : n < 31 ? SENSORS_13_30
                           : SENSORS_31_60);
  setting_mark(s, every < 5 ? EVERY_1_5 : every < 20 ? EVERY_5_20 : EVERY_20_60);
  setting_mark(s, truth->time_s - plan->begin_s > 43200 ? BEGINS_DAYS : BEGINS_MINUTES);
  setting_mark(s, ratio < 100 ? NOISE_LARGE : ratio < 600 ? NOISE_MIDDLE : NOISE_SMALL);
  s->strata |= plan->station[0].location_m < truth->location_m ? stratum_bit(SENSORS_ABOVE) : 0;
  s->strata |= guilty < 0 ? stratum_bit(NO_CANDIDATE) : 0;
  setting_mark(s, ALL_SOUND);
  if (plan->special != ORDINARY) {
    s->strata = stratum_bit(plan->special) | (is_broken(plan->special) ? stratum_bit(ALL_BROKEN) : 0);
  }
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
  out->sensors = s->plan.sensors;
  for (size_t k = 0; k < out->sensors; k++) {
    const double x = s->plan.station[k].location_m;
    out->background_g_m3[k] = s->plan.station[k].background_g_m3;
    if (k >= first) {
      out->leg_travel_s[k] = water_travel_s(w, out->truth.location_m, x);
      out->leg_variance_s2[k] = pow(water_spread_s(w, out->truth.location_m, x), 2);
    }
  }
}

/* The share of a release that lasts which has been released when the record ends: while it goes on its mass is the mass
 * so far. */
static double released_share(const record_plan *plan, const record *r, const hw_source *truth) {
  double last_s = truth->time_s;
  for (size_t i = 0; i < r->count; i++) {
    last_s = fmax(last_s, r->rows[i].time_s);
  }
  return plan->duration_s > 0 ? fmin((last_s - truth->time_s) / plan->duration_s, 1) : 1;
}

/* One river, and a truth that its sensors saw; false when none of the tries was. */
static bool try_river(stratum special, uint64_t index, hw_rng *rng, setting *s, week *out) {
  setting_draw(special, rng, s);
  for (int i = 0; i < TRIES_PER_RIVER; i++) {
    water w;
    record r;
    out->truth = draw_truth(s, rng, &out->guilty);
    water_draw(&s->stated, &s->secret, rng, &w);
    if (record_make(&s->plan, &w, &out->truth, rng, &r)) {
      mark_outcome(s, &out->truth, out->guilty, &r);
      out->river = setting_write(s, index);
      out->readings = record_write(&s->plan, &r, rng);
      describe(s, &w, &r, out);
      out->truth.mass_g *= released_share(&s->plan, &r, &out->truth);
      record_free(&r);
      return true;
    }
    record_free(&r);
  }
  return false;
}

/* Two weeks of five are special, each kind in its turn. */
static stratum special_of(uint64_t index) {
  enum { KINDS = STRATA - FIRST_SPECIAL - 1 };
  if (index % 5 < 3) {
    return ORDINARY;
  }
  const stratum s = (stratum)(FIRST_SPECIAL + (2 * (index / 5) + index % 5 - 3) % KINDS);
  return s < ALL_BROKEN ? s : (stratum)(s + 1); /* which is the sum of several */
}

bool week_may_be(uint64_t index, stratum which) {
  const stratum special = special_of(index);
  if (which == STRATA || which == ALL_BROKEN) {
    return which == STRATA || is_broken(special);
  }
  return which < FIRST_SPECIAL ? special == ORDINARY : special == which;
}

bool week_make(uint64_t seed, uint64_t index, week *out) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, index);
  const stratum special = special_of(index);
  *out = (week){0};
  setting *s = malloc(sizeof *s);
  if (!s) {
    return false;
  }
  while (!try_river(special, index, &rng, s, out)) {
  }
  free(s);
  return out->river && out->readings;
}

void week_free(week *w) {
  free(w->river);
  free(w->readings);
}

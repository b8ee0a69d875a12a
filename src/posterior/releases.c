#include "posterior/releases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "posterior/crew.h"
#include "river/network.h"

/* A second pulse stands out of the valley by so many standard deviations of what few readings together tell, by so many
 * noise floors and by this share of its own height, which is at least that of the first one's; on so many readings.
 * Whether one pulse would not do as well is asked later. */
static const double out_of_noise = 4, out_of_floor = 10, out_of_own = 0.1, least_height = 0.15;
enum { LEAST_READINGS = 3, FEW = 4 };
/* Where a pulse that is taken off is larger than so many floors and this share of what stays, the reading goes. */
static const double hidden_floors = 3, hidden_share = 0.5;
/* A pulse that leaves so much over what is stated is perhaps two that have run into each other. */
static const double blurred = 1.5;
/* Either pulse is fitted at most so often to what the other leaves, and until a round explains no more than this, ln.
 */
enum { ROUNDS = 8 };
static const double settled = 0.5;
/* How often there are two releases where there is one, and what the second one's curve costs as an accident (a place in
 * time, a height, a width), ln. */
static const double second_share = 0.05, accident = 25;

static double value_at(const hw__series *s, size_t i) {
  return s->span[i].side == HW__BELOW ? 0 : s->span[i].value_g_m3;
}

/* Middle one of three: a lone spike is no pulse, a lone gap no valley. */
static double smooth_at(const hw__series *s, size_t i) {
  const double b = value_at(s, i), a = i > 0 ? value_at(s, i - 1) : b, c = i + 1 < s->count ? value_at(s, i + 1) : b;
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Readings in a row about `at` that are higher than `level`. */
static double readings_above(const hw__series *s, size_t at, double level) {
  double count = 0;
  for (size_t i = at; i < s->count && value_at(s, i) > level; i++) {
    count += s->span[i].count;
  }
  for (size_t i = at; i-- > 0 && value_at(s, i) > level;) {
    count += s->span[i].count;
  }
  return count;
}

typedef struct {
  size_t peak, valley;
  double rise; /* of the peak over the valley */
} hump;

/* The hump on one side of the highest reading that stands furthest out of the valley before it. */
static hump best_hump(const hw__series *s, size_t top, bool later) {
  hump best = {top, top, 0};
  double lowest = INFINITY;
  size_t valley = top;
  for (size_t n = 1; later ? top + n < s->count : n <= top; n++) {
    const size_t i = later ? top + n : top - n;
    const double v = smooth_at(s, i);
    if (v < lowest) {
      lowest = v;
      valley = i;
    }
    if (v - lowest > best.rise) {
      best = (hump){i, valley, v - lowest};
    }
  }
  return best;
}

bool hw__two_pulses(const hw__series *s, const hw_sensor *sensor, const hw__fit *own, double *valley_s) {
  if (!own->seen || s->count < 4 * LEAST_READINGS) {
    return false;
  }
  size_t top = 0;
  double low = INFINITY;
  for (size_t i = 0; i < s->count; i++) {
    top = smooth_at(s, i) > smooth_at(s, top) ? i : top;
    low = fmin(low, smooth_at(s, i));
  }
  const hump before = best_hump(s, top, false), after = best_hump(s, top, true);
  const hump h = before.rise > after.rise ? before : after;
  const double peak = smooth_at(s, h.peak), floor = own->floor_g_m3; /* what wanders about one pulse may be the other */
  const double few = fmin(fmax(readings_above(s, h.peak, peak - 0.5 * h.rise), 1), FEW);
  const double noise = hypot(own->floor_g_m3, sensor->noise_relative * peak) * sqrt(2 / few);
  *valley_s = s->span[h.valley].time_s;
  return h.rise > out_of_noise * noise && h.rise > out_of_floor * floor && h.rise > out_of_own * (peak - low) &&
         peak - low > least_height * (smooth_at(s, top) - low) &&
         readings_above(s, h.peak, peak - 0.75 * h.rise) >= LEAST_READINGS;
}

/* ---- One curve or two? ---- */

/* Curves on one level. */
typedef struct {
  const hw__fit *fit;
  size_t count;
  double level_g_m3;
} curves;

typedef struct {
  double log_likelihood, square, readings;
} match;

/* The readings that were measured against what the curves add up to, by the stated noise. */
static match match_of(const hw__series *s, const hw_sensor *sensor, double floor_g_m3, const curves *c) {
  match m = {0, 0, 0};
  for (size_t i = 0; i < s->count; i++) {
    const hw__span *span = &s->span[i];
    double signal = 0;
    for (size_t k = 0; k < c->count; k++) {
      signal += hw__curve_at(&c->fit[k].curve, span->time_s, span->spread_s2);
    }
    const double noise = hypot(floor_g_m3, sensor->noise_relative * signal) / sqrt(span->count);
    const double off = (span->value_g_m3 - c->level_g_m3 - signal) / noise;
    const bool contradicts = span->side == HW__MEASURED || (span->side == HW__BELOW ? off < 0 : off > 0);
    const double square = contradicts ? off * off * hw__soft(off * off, span->count) : 0;
    m.log_likelihood -= 0.5 * square + (span->side == HW__MEASURED ? log(noise / floor_g_m3) : 0);
    m.square += square;
    m.readings += 1;
  }
  return m;
}

/* How much better two curves explain a sensor than its own one, ln; noise larger than stated counts for both. */
static double gain_of(const hw__series *s, const hw_sensor *sensor, const curves *one, const curves *two) {
  const double floor = fmin(fmin(one->fit->floor_g_m3, two->fit[0].floor_g_m3), two->fit[1].floor_g_m3);
  const match m1 = match_of(s, sensor, floor, one), m2 = match_of(s, sensor, floor, two);
  return (m2.log_likelihood - m1.log_likelihood) / fmax(m2.square / fmax(m2.readings, 1), 1);
}

/* ---- Taking apart ---- */

static void cut(const hw__series *s, double from_s, double to_s, hw__series *out) {
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < s->count; i++) {
    if (s->span[i].time_s >= from_s && s->span[i].time_s < to_s) {
      out->span[out->count++] = s->span[i];
    }
  }
  out->readings = out->count;
}

/* The series without one of its pulses. Where that hides what stays, the readings go with it: their noise is its. */
static void take_off(const hw__series *s, const hw__fit *gone, const hw__fit *stays, hw__series *out) {
  *out = *s;
  out->count = 0;
  for (size_t i = 0; i < s->count; i++) {
    hw__span span = s->span[i];
    const double off = hw__curve_at(&gone->curve, span.time_s, span.spread_s2);
    const double left = hw__curve_at(&stays->curve, span.time_s, span.spread_s2);
    if (off > fmax(hidden_floors * gone->floor_g_m3, hidden_share * left)) {
      continue;
    }
    span.value_g_m3 -= span.side == HW__MEASURED ? off : 0;
    out->span[out->count++] = span;
  }
}

/* What comes of one sensor. */
typedef struct {
  bool twice; /* it shows two pulses, and the following holds */
  double valley_s;
  double gain; /* of two curves over one, ln */
} parting;

typedef struct {
  const hw__whole *whole;
  const hw__tails *tails;
  hw__series *half[2]; /* by sensor */
  parting *parting;    /* by sensor */
} room;

/* Cut off at the valley each pulse still has the other's flank on it, and comes out too wide; what is then taken off is
 * too much, and no release makes what stays. So either is fitted again to what the other leaves, all along the record,
 * as long as the two together explain the readings better for it. */
static void part_flanks(const room *r, size_t at, hw__fit fit[2], double level[2]) {
  const hw__series *s = &r->whole->series[at];
  const hw_sensor *sensor = &r->whole->sensors[at];
  hw__series part;
  hw__view view;
  hw__fit better[2] = {fit[0], fit[1]};
  double under[2] = {level[0], level[1]};
  const double floor = fmin(fit[0].floor_g_m3, fit[1].floor_g_m3);
  const curves first = {fit, 2, 0.5 * (level[0] + level[1])};
  double reached = match_of(s, sensor, floor, &first).log_likelihood;
  for (int round = 0; round < ROUNDS; round++) {
    for (int k = 0; k < 2; k++) {
      take_off(s, &better[1 - k], &better[k], &part);
      if (part.count < LEAST_READINGS) {
        return;
      }
      hw__pulse_fit(&part, sensor, r->tails, &better[k], &view);
      under[k] = view.background_g_m3;
      if (!better[k].seen) {
        return;
      }
    }
    const curves both = {better, 2, 0.5 * (under[0] + under[1])};
    const double now = match_of(s, sensor, floor, &both).log_likelihood;
    if (!(now > reached + settled)) {
      return;
    }
    reached = now;
    memcpy(fit, better, sizeof better);
    memcpy(level, under, sizeof under);
  }
}

/* One sensor's series as either release alone would have it. */
static void take_apart(const room *r, size_t at) {
  const hw__series *s = &r->whole->series[at];
  const hw_sensor *sensor = &r->whole->sensors[at];
  parting *p = &r->parting[at];
  hw__series part;
  hw__view view;
  hw__fit fit[2];
  double level[2];
  for (int k = 0; k < 2; k++) {
    cut(s, k == 0 ? -INFINITY : p->valley_s, k == 0 ? p->valley_s : INFINITY, &part);
    hw__pulse_fit(&part, sensor, r->tails, &fit[k], &view);
    level[k] = view.background_g_m3;
  }
  if (!fit[0].seen || !fit[1].seen) {
    return;
  }
  part_flanks(r, at, fit, level);
  const curves one = {&r->whole->own[at], 1, r->whole->view[at].background_g_m3},
               two = {fit, 2, 0.5 * (level[0] + level[1])};
  p->gain = gain_of(s, sensor, &one, &two);
  for (int k = 0; k < 2; k++) {
    take_off(s, &fit[1 - k], &fit[k], &r->half[k][at]);
  }
}

static void look_at(void *context, size_t k) {
  const room *r = context;
  const hw__whole *w = r->whole;
  parting *p = &r->parting[k];
  r->half[0][k] = r->half[1][k] = w->series[k];
  p->twice = w->series[k].count > 0 && hw__two_pulses(&w->series[k], &w->sensors[k], &w->own[k], &p->valley_s);
  if (p->twice) {
    take_apart(r, k);
  }
}

/* Whether what passes one sensor passes the other. */
static bool is_below(const hw_river *river, size_t upper, size_t lower) {
  const hw_sensor *from = &river->sensors[upper], *to = &river->sensors[lower];
  double enters_m = from->location_m;
  if (from->branch != to->branch &&
      !(river->branch_count && hw__branch_enters(river, from->branch, to->branch, &enters_m))) {
    return false;
  }
  return to->location_m > enters_m;
}

/* Both have passed a sensor further up. */
static bool is_below_two(const room *r, size_t sensor) {
  const hw_river *river = r->whole->river;
  for (size_t i = 0; i < river->sensor_count; i++) {
    if (r->parting[i].twice && i != sensor && is_below(river, i, sensor)) {
      return true;
    }
  }
  return false;
}

/* Takes every sensor apart that shows two pulses. Below one of them both have passed: a single pulse there, and one
 * that is neither one nor two, is nobody's. *gain: of two curves over one at all of them, ln. Returned: whether there
 * may be two. */
static bool halve(const hw__crew *crew, room *r, double *gain) {
  const hw__whole *w = r->whole;
  size_t singles = 0, pairs = 0;
  hw__crew_share(crew, w->river->sensor_count, look_at, r);
  for (size_t k = 0; k < w->river->sensor_count; k++) {
    const parting *p = &r->parting[k];
    const bool below = is_below_two(r, k), seen = w->series[k].count > 0 && w->own[k].seen;
    if (seen && !p->twice && (below || w->own[k].misfit > blurred)) {
      r->half[0][k].count = r->half[1][k].count = 0;
    }
    pairs += p->twice;
    *gain += p->gain;
    singles += seen && !p->twice && !below && w->own[k].peak_g_m3 > out_of_floor * w->own[k].floor_g_m3;
  }
  return pairs > 0 && pairs >= singles;
}

static bool any_two(const hw__whole *whole) {
  double valley_s;
  for (size_t k = 0; k < whole->river->sensor_count; k++) {
    const hw__series *series = &whole->series[k];
    if (series->count > 0 && hw__two_pulses(series, &whole->sensors[k], &whole->own[k], &valley_s)) {
      return true;
    }
  }
  return false;
}

/* ---- Asking twice ---- */

static hw_release release_of(const hw_estimate *e, double two) {
  return (hw_release){.probability = two * e->spill,
                      .source = e->source,
                      .has_interval = e->has_interval,
                      .interval = e->interval,
                      .duration_s = e->duration_s,
                      .regions = e->regions,
                      .region_count = e->region_count,
                      .suspicions = e->suspicions,
                      .suspicion_count = e->suspicion_count};
}

/* Both halves, side by side. */
typedef struct {
  hw__two *two;
  const hw__asked *engine;
  const room *room;
  size_t threads; /* for each */
  hw_status status[2];
} asking;

static void ask_half(void *context, size_t k) {
  asking *a = context;
  const void *whole = a->room->whole->engine;
  hw__two *two = a->two;
  a->status[k] = a->engine->again(whole, a->threads, &two->state[k]);
  if (a->status[k] == HW_OK) {
    a->engine->fill(two->state[k], whole, a->room->half[k]);
    a->status[k] = a->engine->estimate(two->state[k], &two->answer[k]);
  }
}

static hw_status ask_halves(hw__two *two, const hw__asked *engine, const hw__crew *crew, const room *r) {
  asking a = {.two = two, .engine = engine, .room = r, .threads = (crew->others + 2) / 2};
  hw__crew_share(crew, 2, ask_half, &a);
  return a.status[0] != HW_OK ? a.status[0] : a.status[1];
}

/* A plain pulse of a sensor that shows one is of one of the two releases, unless both have passed above it. Where
 * neither makes a good part of it, what was taken apart elsewhere is no pair of pulses but a level that drifts. */
static hw_status check_singles(hw__two *two, const hw__asked *engine, const room *r) {
  static const double good_part = 0.2;
  const hw__whole *whole = r->whole;
  hw_status status = HW_OK;
  for (size_t k = 0; k < whole->river->sensor_count && two->found && status == HW_OK; k++) {
    const hw__fit *own = &whole->own[k];
    if (whole->series[k].count == 0 || r->parting[k].twice || !own->seen || !own->strong || is_below_two(r, k)) {
      continue;
    }
    const hw_sensor *sensor = &whole->river->sensors[k];
    hw_range there = {0, 0, 0};
    const hw_prediction top = {
        .x_m = sensor->location_m, .branch = sensor->branch, .time_s = &own->peak_s, .count = 1, .out_g_m3 = &there};
    status = hw__two_predict(two, engine, &top);
    two->found = status == HW_OK && there.hi > good_part * own->peak_g_m3;
  }
  return status;
}

/* Takes apart, and asks where there may be two. Status: HW_ENOMEM, HW_EHYDRAULICS */
static hw_status ask_apart(hw__two *two, const hw__asked *engine, room *r) {
  double gain = 0;
  hw_status status = HW_OK;
  hw__crew crew;
  hw__crew_begin(&crew, r->whole->threads);
  const bool paired = halve(&crew, r, &gain);
  two->probability = 1 / (1 + exp(-(gain - accident + log(second_share / (1 - second_share)))));
  const bool may_be = paired && two->probability > 0.5;
  if (may_be) {
    status = ask_halves(two, engine, &crew, r);
  }
  hw__crew_end(&crew);
  two->found = may_be && status == HW_OK && two->answer[0].has_source && two->answer[1].has_source;
  two->unanswered = may_be && status == HW_OK && !two->found;
  return two->found ? check_singles(two, engine, r) : status;
}

hw_status hw__two_ask(hw__two *two, const hw__asked *engine, const hw__whole *whole, const hw__tails *tails) {
  const hw_river *river = whole->river;
  hw__two_free(two, engine);
  if (!any_two(whole)) {
    return HW_OK;
  }
  room r = {.whole = whole, .tails = tails};
  hw__series *halves = calloc(2 * river->sensor_count, sizeof *halves);
  r.parting = calloc(river->sensor_count, sizeof *r.parting);
  hw_status status = halves && r.parting ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    r.half[0] = halves;
    r.half[1] = halves + river->sensor_count;
    status = ask_apart(two, engine, &r);
  }
  free(r.parting);
  free(halves);
  if (!two->found) {
    const bool unanswered = two->unanswered;
    hw__two_free(two, engine);
    two->unanswered = unanswered;
    return status;
  }
  const int first = two->answer[0].source.time_s <= two->answer[1].source.time_s ? 0 : 1;
  two->release[0] = release_of(&two->answer[first], two->probability);
  two->release[1] = release_of(&two->answer[1 - first], two->probability);
  status = hw__two_unite_arrivals(two, river->intake_count);
  if (status == HW_OK) {
    status = hw__two_unite_suspicions(two, river->candidate_count);
  }
  if (status != HW_OK) {
    hw__two_free(two, engine);
  }
  return status;
}

void hw__two_free(hw__two *two, const hw__asked *engine) {
  for (int k = 0; k < 2; k++) {
    engine->destroy(two->state[k]);
  }
  free(two->arrivals);
  free(two->suspicions);
  memset(two, 0, sizeof *two);
}

int hw__two_larger(const hw__two *two) {
  return two->answer[1].source.mass_g > two->answer[0].source.mass_g ? 1 : 0;
}

void hw__two_estimate(const hw__two *two, hw_estimate *out) {
  *out = two->answer[hw__two_larger(two)];
  out->releases = two->release;
  out->release_count = 2;
  out->arrivals = two->arrivals;
  out->arrival_count = two->arrival_count;
  out->suspicions = two->suspicions;
  out->suspicion_count = two->suspicion_count;
}

hw_status hw__two_predict(const hw__two *two, const hw__asked *engine, const hw_prediction *prediction) {
  hw_range *other = calloc(prediction->count ? prediction->count : 1, sizeof *other);
  if (!other) {
    return HW_ENOMEM;
  }
  hw_prediction second = *prediction;
  second.out_g_m3 = other;
  hw_status status = engine->predict(two->state[0], prediction);
  if (status == HW_OK) {
    status = engine->predict(two->state[1], &second);
  }
  for (size_t i = 0; status == HW_OK && i < prediction->count; i++) {
    hw_range *r = &prediction->out_g_m3[i];
    *r = (hw_range){r->lo + other[i].lo, r->mid + other[i].mid, r->hi + other[i].hi};
  }
  free(other);
  return status;
}

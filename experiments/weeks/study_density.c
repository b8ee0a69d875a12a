/* Do more readings ever make an answer worse? The same rivers read every 1200 s to every second, and a million times:
 * velocity and dispersion exactly known, white noise as stated. The width of the 90 % interval is compared with the
 * Cramer-Rao bound of the same schedule, 3.29 standard deviations: it must follow the bound down, to within 1.3 of it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/headwater.h"
#include "weeks/answer.h"
#include "weeks/draw.h"

enum { MOST_SENSORS = 60, ROWS = 9, FIRST_OF_MANY = 5 };

/* How the rivers are watched. */
static const struct {
  size_t sensors;
  double every_s; /* 0: a million readings in all */
} rows[ROWS] = {{3, 1200}, {3, 300}, {3, 60}, {3, 10}, {3, 1}, {4, 300}, {20, 300}, {60, 300}, {3, 0}};

static const double noise_relative = 0.03, sds_of_interval = 2 * 1.6448536, most_ratio = 1.3;

typedef struct {
  water_stated stated;
  hw_source truth;
  hw_box box;
  size_t sensors;
  double sensor_m[MOST_SENSORS], noise_absolute_g_m3, begin_s, end_s;
} scene;

static scene draw_scene(size_t sensors, hw_rng *rng) {
  scene s = {.sensors = sensors, .stated = {.cells = WATER_CELLS}};
  const double v = as_written(between_log(rng, 0.3, 1.2)), d = as_written(between_log(rng, 5, 50));
  for (size_t i = 0; i < WATER_CELLS; i++) {
    s.stated.velocity_m_s[i] = v;
    s.stated.dispersion_m2_s[i] = d;
    s.stated.velocity_factor[i] = s.stated.dispersion_factor[i] = 1;
  }
  s.stated.discharge_m3_s = as_written(between_log(rng, 2, 100));
  const double length_m = round(v * between(rng, 5400, 10800)), window_s = 14400;
  s.box = (hw_box){.lo = {.mass_g = 1000, .location_m = -round(length_m * 0.95)},
                   .hi = {.mass_g = 100000, .location_m = -round(length_m * 0.05), .time_s = window_s}};
  s.truth = (hw_source){.mass_g = between_log(rng, 1000, 100000),
                        .location_m = between(rng, s.box.lo.location_m, s.box.hi.location_m),
                        .time_s = between(rng, 0, window_s)};
  for (size_t k = 0; k < sensors; k++) {
    s.sensor_m[k] = round(length_m * 1.2 * (double)k / (double)(sensors - 1));
  }
  s.stated.from_m = s.box.lo.location_m - WATER_CELL_M;
  return s;
}

/* The record runs from before the release until the last sensor has seen the pulse; the noise is a 500th of the first
 * sensor's peak. */
static void settle(scene *s, const water *w) {
  const double last_m = s->sensor_m[s->sensors - 1], from_m = s->truth.location_m;
  s->begin_s = s->box.lo.time_s - 1800;
  s->end_s = s->truth.time_s + water_travel_s(w, from_m, last_m) + 6 * water_spread_s(w, from_m, last_m);
  const double passage_s = s->truth.time_s + water_travel_s(w, from_m, s->sensor_m[0]);
  s->noise_absolute_g_m3 = as_written(water_concentration(w, &s->truth, 0, s->sensor_m[0], passage_s) / 500);
}

static char *write_river(const scene *s) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return NULL;
  }
  fprintf(out, "hydraulics: {velocity_m_s: %.5g, dispersion_m2_s: %.5g, discharge_m3_s: %.5g}\n",
          s->stated.velocity_m_s[0], s->stated.dispersion_m2_s[0], s->stated.discharge_m3_s);
  fprintf(out, "search: {mass_g: [%.0f, %.0f], location_m: [%.0f, %.0f], time_s: [%.0f, %.0f]}\nsensors:\n",
          s->box.lo.mass_g, s->box.hi.mass_g, s->box.lo.location_m, s->box.hi.location_m, s->box.lo.time_s,
          s->box.hi.time_s);
  for (size_t k = 0; k < s->sensors; k++) {
    fprintf(out,
            "  - {id: s%zu, location_m: %.0f, noise_relative: %g, noise_absolute_g_m3: %.5g, background_g_m3: 0}\n",
            k + 1, s->sensor_m[k], noise_relative, s->noise_absolute_g_m3);
  }
  fclose(out);
  return text;
}

static char *write_readings(const scene *s, const water *w, double step_s, hw_rng *rng) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return NULL;
  }
  fprintf(out, "time_s,sensor,concentration_g_m3\n");
  for (size_t i = 0; s->begin_s + (double)i * step_s <= s->end_s; i++) {
    const double t = s->begin_s + (double)i * step_s;
    for (size_t k = 0; k < s->sensors; k++) {
      const double c = water_concentration(w, &s->truth, 0, s->sensor_m[k], t);
      fprintf(out, "%.3f,s%zu,%.6g\n", t, k + 1,
              c + hypot(s->noise_absolute_g_m3, noise_relative * c) * hw_rng_normal(rng));
    }
  }
  fclose(out);
  return text;
}

static bool find_bound(const week *w, const hw_schedule *schedule, double out[UNKNOWNS]) {
  hw_river river;
  hw_bound bound;
  if (hw_river_parse("river", w->river, strlen(w->river), NULL, NULL, &river, NULL) != HW_OK) {
    return false;
  }
  const hw_status status = hw_fisher_source(&river, &w->truth, schedule, NULL, &bound);
  hw_river_free(&river);
  out[MASS] = bound.mass_g;
  out[PLACE] = bound.location_m;
  out[TIME] = bound.time_s;
  return status == HW_OK && bound.identifiable;
}

typedef struct {
  double cases, refused, hold[UNKNOWNS], ln_width[UNKNOWNS], ln_ratio[UNKNOWNS], longest_s, rows, seconds, every_s;
} tally;

static bool add_case(uint64_t seed, size_t row, tally *t) {
  hw_rng rng;
  hw_rng_seed(&rng, seed, 0);
  scene *s = malloc(sizeof *s);
  water *w = malloc(sizeof *w);
  bool ok = s && w;
  week k = {0};
  double bound[UNKNOWNS], truth[UNKNOWNS];
  answer a;
  if (ok) {
    *s = draw_scene(rows[row].sensors, &rng);
    water_draw(&s->stated, &(water_secret){0}, &rng, w);
    settle(s, w);
    const double sensors = (double)s->sensors, length_s = s->end_s - s->begin_s;
    const double step = rows[row].every_s > 0 ? rows[row].every_s : length_s * sensors / 1e6;
    const hw_schedule schedule = {s->begin_s, s->end_s, step};
    hw_rng_seed(&rng, seed, 1 + row);
    k = (week){.truth = s->truth, .river = write_river(s), .readings = write_readings(s, w, step, &rng)};
    t->every_s = step;
    t->rows += floor(length_s / step + 1) * sensors;
    ok = k.river && k.readings && find_bound(&k, &schedule, bound) && answer_week(&k, &a);
  }
  if (ok) {
    unpack(&k.truth, truth);
    t->cases++;
    t->refused += a.trust == TRUST_NONE;
    t->longest_s = fmax(t->longest_s, a.longest_s);
    t->seconds += a.total_s;
    for (size_t u = 0; u < UNKNOWNS && a.trust != TRUST_NONE; u++) {
      t->hold[u] += truth[u] >= a.lo[u] && truth[u] <= a.hi[u];
      t->ln_width[u] += log(a.hi[u] - a.lo[u]);
      t->ln_ratio[u] += log((a.hi[u] - a.lo[u]) / (sds_of_interval * bound[u]));
    }
  }
  week_free(&k);
  free(s);
  free(w);
  return ok;
}

/* Returned: whether the widths follow the bound, and do not grow. A geometric mean of n widths that scatter by a tenth
 * is good to 0.1 / sqrt(n); three of that are allowed, and a twentieth for the particles' own scatter. */
static bool report(size_t row, const tally *t, const tally *coarser) {
  static const size_t shown[UNKNOWNS] = {PLACE, TIME, MASS};
  const double n = t->cases - t->refused, slack = 1.05 + 0.3 / sqrt(fmax(n, 1));
  bool met = t->refused == 0;
  printf("%7zu %8.4g s %8.0f %6.0f %7.0f  ", rows[row].sensors, t->every_s, t->rows / t->cases, t->cases, t->refused);
  for (size_t i = 0; i < UNKNOWNS; i++) {
    const double ratio = exp(t->ln_ratio[shown[i]] / n);
    const bool grows = coarser && exp(t->ln_width[shown[i]] / n -
                                      coarser->ln_width[shown[i]] / (coarser->cases - coarser->refused)) > slack;
    met = met && ratio <= most_ratio && !grows;
    printf(" %6.2f%c", ratio, ratio > most_ratio ? '*' : grows ? '+' : ' ');
  }
  for (size_t i = 0; i < UNKNOWNS; i++) {
    printf(" %5.0f", 100 * t->hold[shown[i]] / n);
  }
  printf("   %8.3f %8.1f\n", 1e3 * t->seconds / t->rows, 1e3 * t->longest_s);
  fflush(stdout);
  return met;
}

int main(int argc, char **argv) {
  const long cases = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
  const long seed = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
  const long count = argc > 3 ? strtol(argv[3], NULL, 10) : ROWS;
  const long from = argc > 4 ? strtol(argv[4], NULL, 10) : 1;
  if (cases < 1 || seed < 1 || count < 1 || count > ROWS || from < 1 || from > count) {
    fprintf(stderr,
            "study_density: expected a number of rivers, a first seed, a last row up to %d and a first row up to it\n",
            ROWS);
    return 2;
  }
  printf("                                             width over the bound   90 %% coverage        ms a  slowest\n");
  printf("sensors      every readings rivers refused     place   time    mass  place  time  mass  reading       ms\n");
  tally t[ROWS] = {{0}};
  bool met = true;
  for (size_t r = (size_t)from - 1; r < (size_t)count; r++) {
    const bool million = !(rows[r].every_s > 0), first = r + 1 == (size_t)from || r == FIRST_OF_MANY || million;
    for (long i = 0; i < (million ? (cases + 9) / 10 : cases); i++) {
      if (!add_case((uint64_t)(seed + i), r, &t[r])) {
        return 3;
      }
    }
    met = report(r, &t[r], first ? NULL : &t[r - 1]) && met;
  }
  return met ? 0 : 1;
}

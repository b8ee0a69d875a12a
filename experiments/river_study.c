#include "river_study.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const study_stage_names[STUDY_STAGES] = {"10 % of rise", "25 %",           "50 %",   "75 %",
                                                     "peak",         "fallen to 50 %", "to 10 %"};

static double first_place(const hw_river *river) {
  double place = INFINITY;
  for (size_t s = 0; s < river->sensor_count; s++) {
    place = fmin(place, river->sensors[s].location_m);
  }
  return place;
}

static bool covers(hw_range range, double truth) {
  return range.lo <= truth && truth <= range.hi;
}

/* Truth against four decoys, ranked by the engine; the river must have been created with five candidates. */
static void judge_candidates(hw__field *f, hw_river *river, const hw_source *truth, int sets, verdict *out) {
  hw_rng rng;
  hw_rng_seed(&rng, 1, 0);
  const double lo = river->search.lo.location_m, hi = river->search.hi.location_m;
  int first = 0, second = 0;
  for (int k = 0; k < sets; k++) {
    river->candidates[0].location_m = truth->location_m;
    for (size_t c = 1; c < river->candidate_count; c++) {
      river->candidates[c].location_m = lo + hw_rng_uniform(&rng) * (hi - lo);
    }
    hw_estimate e;
    if (hw__field_estimate(f, &e) != HW_OK) {
      continue;
    }
    int ahead = 0;
    for (size_t i = 0; i < e.suspicion_count && e.suspicions[i].candidate != 0; i++) {
      ahead += e.suspicions[i].candidate > 0;
    }
    first += ahead == 0;
    second += ahead == 1;
  }
  out->first = (double)first / sets;
  out->first_two = (double)(first + second) / sets;
}

bool study_judge(const release *r, const hw__population *population, int sets, verdict *out) {
  hw_candidate candidates[5] = {{.id = "truth"}, {.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}};
  hw_river river = r->river; /* a shallow copy: only the candidates are its own */
  river.candidates = candidates;
  river.candidate_count = 5;
  hw__field *f = field_on(&river, population);
  if (!f) {
    return false;
  }
  field_read(f, r);
  hw_estimate e;
  const bool ok = hw__field_estimate(f, &e) == HW_OK;
  if (ok) {
    hw__scratch scratch = f->scratch;
    const hw_range fifty = hw__summary_range(f->sample, HW__DRAWS, hw__sample_location, 0.5, &scratch);
    const hw_range ninety = {e.interval.lo.location_m, e.source.location_m, e.interval.hi.location_m};
    const double distance = first_place(&river) - r->truth.location_m;
    out->place_error = (e.source.location_m - r->truth.location_m) / distance;
    out->width90 = (ninety.hi - ninety.lo) / distance;
    out->covers90 = covers(ninety, r->truth.location_m);
    out->covers50 = covers(fifty, r->truth.location_m);
    out->mass_error = release_mass_is_comparable(r->name) ? fabs(e.source.mass_g / r->truth.mass_g - 1) : (double)NAN;
    const double phi = f->pulse[0].phi_s;
    out->log_age_error = log((phi - e.source.time_s) / (phi - r->truth.time_s));
    judge_candidates(f, &river, &r->truth, sets, out);
  }
  hw__field_destroy(f);
  return ok;
}

static int by_time(const void *a, const void *b) {
  const double x = ((const hw_reading *)a)->time_s, y = ((const hw_reading *)b)->time_s;
  return (x > y) - (x < y);
}

/* How many of the first sensor's readings, in time order, have been made at each stage. */
static void find_stages(const hw_reading *reading, size_t n, size_t stage[STUDY_STAGES]) {
  static const double share[STUDY_STAGES] = {0.1, 0.25, 0.5, 0.75, 1, 0.5, 0.1};
  size_t peak = 0;
  for (size_t i = 0; i < n; i++) {
    peak = reading[i].concentration_g_m3 > reading[peak].concentration_g_m3 ? i : peak;
  }
  for (int k = 0; k < STUDY_STAGES; k++) {
    const double level = share[k] * reading[peak].concentration_g_m3;
    size_t i = k < 5 ? 0 : peak;
    while (k < 5 ? reading[i].concentration_g_m3 < level : i + 1 < n && reading[i].concentration_g_m3 > level) {
      i++;
    }
    stage[k] = i + 1;
  }
}

static size_t readings_of_first(const release *r, hw_reading *out) {
  const double place = first_place(&r->river);
  size_t n = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (!(r->river.sensors[r->readings[i].sensor].location_m > place)) {
      out[n++] = r->readings[i];
    }
  }
  qsort(out, n, sizeof *out, by_time);
  return n;
}

static bool stage_run(const hw_river *river, const hw__population *population, const hw_reading *reading,
                      const size_t stage[STUDY_STAGES], const hw_source *truth, double cover[STUDY_STAGES],
                      double ratio[STUDY_STAGES], calibration *score) {
  hw__field *f = field_on(river, population);
  if (!f) {
    return false;
  }
  size_t made = 0;
  for (int k = 0; k < STUDY_STAGES; k++) {
    for (; made < stage[k]; made++) {
      (void)hw__field_observe(f, &reading[made]);
    }
    hw_estimate e;
    if (hw__field_estimate(f, &e) == HW_OK) {
      const hw_range place = {e.interval.lo.location_m, e.source.location_m, e.interval.hi.location_m};
      cover[k] += covers(place, truth->location_m);
      ratio[k] += log((first_place(river) - place.lo) / (first_place(river) - place.hi));
      calibration_add(score, f, first_place(river), truth, 1);
    }
  }
  hw__field_destroy(f);
  return true;
}

bool study_stages(const release *r, const hw__population *population, int velocities, double cover[STUDY_STAGES],
                  double ratio[STUDY_STAGES], calibration *score) {
  hw_reading *reading = calloc(r->count, sizeof *reading);
  measured m;
  if (!reading || !population_measure(r, population, &m)) {
    free(reading);
    return false;
  }
  const size_t n = readings_of_first(r, reading);
  size_t stage[STUDY_STAGES];
  find_stages(reading, n, stage);
  memset(cover, 0, STUDY_STAGES * sizeof *cover);
  memset(ratio, 0, STUDY_STAGES * sizeof *ratio);
  for (int k = 0; k < velocities; k++) {
    hw_river river = r->river; /* shallow: only the velocity differs */
    const double off = gsl_cdf_ugaussian_Pinv((k + 0.5) / velocities) * log(1.15);
    river.hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, m.place_m[0] / m.age_s[0] * exp(off), 1.15};
    stage_run(&river, population, reading, stage, &r->truth, cover, ratio, score);
  }
  for (int k = 0; k < STUDY_STAGES; k++) {
    cover[k] /= velocities;
    ratio[k] = exp(ratio[k] / velocities);
  }
  free(reading);
  return true;
}

double study_follow(const release *r, const hw__population *population, hw_estimate *last) {
  hw__field *f = field_on(&r->river, population);
  if (!f) {
    return NAN;
  }
  double counted = 0, covered = 0;
  for (size_t i = 0; i < r->count; i++) {
    (void)hw__field_observe(f, &r->readings[i]);
    if (hw__field_estimate(f, last) != HW_OK || f->pulse_count < 2 || !f->trace[f->pulse_sensor[1]].fallen) {
      continue;
    }
    const hw_range place = {last->interval.lo.location_m, last->source.location_m, last->interval.hi.location_m};
    counted++;
    covered += covers(place, r->truth.location_m);
  }
  hw__field_destroy(f);
  return covered / counted;
}

/* What really passed a sensor: its peak and the first passing of a tenth of it, between readings linearly. */
typedef struct {
  double first_s, peak_s, peak_g_m3;
} passed;

static passed what_passed(const hw_reading *reading, size_t n, size_t sensor) {
  passed p = {NAN, NAN, 0};
  for (size_t i = 0; i < n; i++) {
    if (reading[i].sensor == sensor && reading[i].concentration_g_m3 > p.peak_g_m3) {
      p.peak_g_m3 = reading[i].concentration_g_m3;
      p.peak_s = reading[i].time_s;
    }
  }
  double time = NAN, value = NAN;
  for (size_t i = 0; i < n && isnan(p.first_s); i++) {
    if (reading[i].sensor == sensor) {
      const double next = reading[i].concentration_g_m3, level = 0.1 * p.peak_g_m3;
      if (next >= level) {
        p.first_s =
            value < level ? time + (reading[i].time_s - time) * (level - value) / (next - value) : reading[i].time_s;
      }
      time = reading[i].time_s;
      value = next;
    }
  }
  return p;
}

static void forecast(const release *r, const hw_reading *reading, size_t next, const hw__population *population,
                     forecasts *sum) {
  hw_intake intake = {.id = "next", .location_m = r->river.sensors[next].location_m};
  hw_river river = r->river; /* a shallow copy: only the intake is its own */
  river.intakes = &intake;
  river.intake_count = 1;
  hw__field *f = field_on(&river, population);
  if (!f) {
    return;
  }
  for (size_t i = 0; i < r->count; i++) {
    if (r->river.sensors[reading[i].sensor].location_m < intake.location_m) {
      (void)hw__field_observe(f, &reading[i]);
    }
  }
  hw_estimate e;
  if (hw__field_estimate(f, &e) == HW_OK && e.arrival_count == 1) {
    const passed real = what_passed(reading, r->count, next);
    sum->made++;
    sum->first += covers(e.arrivals[0].first_s, real.first_s);
    sum->peak_time += covers(e.arrivals[0].peak_s, real.peak_s);
    sum->peak += covers(e.arrivals[0].peak_g_m3, real.peak_g_m3);
  }
  hw__field_destroy(f);
}

void study_forecasts(const release *r, const hw__population *population, forecasts *sum) {
  hw_reading *reading = calloc(r->count, sizeof *reading);
  if (!reading) {
    return;
  }
  memcpy(reading, r->readings, r->count * sizeof *reading);
  qsort(reading, r->count, sizeof *reading, by_time);
  for (size_t next = 0; next < r->river.sensor_count; next++) {
    if (r->river.sensors[next].location_m > first_place(&r->river)) {
      forecast(r, reading, next, population, sum);
    }
  }
  free(reading);
}

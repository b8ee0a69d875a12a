#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "songhua.h"

static const double day_s = 86400, china_s = 8 * 3600.0; /* bulletins count days in China */

static bool read_story(const char *folder, songhua_story *out) {
  char path[512];
  hw_error error = {{0}};
  hw_reader *reader = NULL;
  snprintf(path, sizeof path, "%s/river.yaml", folder);
  hw_status status = hw_river_load(path, NULL, NULL, &out->river, &error);
  snprintf(path, sizeof path, "%s/bulletins.csv", folder);
  if (status == HW_OK) {
    status = hw_reader_open(path, &out->river, &reader, &error);
  }
  while (status == HW_OK && out->reading_count < SONGHUA_SAMPLES) {
    status = hw_reader_next(reader, &out->readings[out->reading_count], &error);
    out->reading_count += status == HW_OK;
  }
  hw_reader_free(reader);
  if (status != HW_EEND) {
    fprintf(stderr, "%s\n", error.text[0] ? error.text : hw_status_text(status));
  }
  return status == HW_EEND;
}

/* How far down the water holds more than the level now: the furthest place where the band's low end, its middle and its
 * high end do. */
static hw_range front_now(hw_run *run, const hw_river *river, double now_s, double level_g_m3) {
  enum { STEPS = 400 };
  const double from_m = river->search.hi.location_m, to_m = river->sensors[river->sensor_count - 1].location_m;
  hw_range front = {NAN, NAN, NAN};
  for (size_t i = 0; i <= STEPS; i++) {
    hw_range band;
    const double x_m = from_m + (to_m - from_m) * (double)i / STEPS;
    const hw_prediction here = {.x_m = x_m, .time_s = &now_s, .count = 1, .out_g_m3 = &band};
    if (hw_run_predict(run, &here) == HW_OK) {
      front.lo = band.lo >= level_g_m3 ? x_m : front.lo;
      front.mid = band.mid >= level_g_m3 ? x_m : front.mid;
      front.hi = band.hi >= level_g_m3 ? x_m : front.hi;
    }
  }
  return front;
}

static songhua_day day_of(const songhua_story *story, hw_run *run, const hw_estimate *e, double end_s) {
  songhua_day day = {
      .end_s = end_s, .samples = e->readings, .trust = e->trust, .has_source = e->has_source && e->has_interval};
  snprintf(day.reason, sizeof day.reason, "%s", e->trust_reason ? e->trust_reason : "");
  const hw_range unknown = {NAN, NAN, NAN};
  day.front_m = unknown;
  for (size_t k = 0; k < SONGHUA_TOWNS; k++) {
    day.first_s[k] = day.peak_s[k] = unknown;
    day.exceeds[k] = NAN;
  }
  if (day.has_source) {
    day.place_m = (hw_range){e->interval.lo.location_m, e->source.location_m, e->interval.hi.location_m};
    day.released_s = (hw_range){e->interval.lo.time_s, e->source.time_s, e->interval.hi.time_s};
    day.front_m = front_now(run, &story->river, end_s, story->river.intakes[0].alarm_g_m3);
  }
  for (size_t i = 0; i < e->arrival_count; i++) {
    const hw_arrival *a = &e->arrivals[i];
    day.first_s[a->intake] = a->first_s;
    day.peak_s[a->intake] = a->peak_s;
    day.exceeds[a->intake] = a->exceeds_alarm;
  }
  return day;
}

static double day_end(double time_s) {
  return (floor((time_s + china_s) / day_s) + 1) * day_s - china_s;
}

bool songhua_tell(const char *folder, songhua_story *out) {
  *out = (songhua_story){0};
  hw_run *run = NULL;
  if (!read_story(folder, out) || out->river.intake_count != SONGHUA_TOWNS) {
    return false;
  }
  const hw_problem problem = {.river = &out->river};
  hw_status status = hw_run_create(hw_method_find("posterior"), &problem, NULL, &run);
  for (size_t i = 0; i < out->reading_count && status == HW_OK; i++) {
    status = hw_run_observe(run, &out->readings[i]);
    const double end_s = day_end(out->readings[i].time_s);
    const bool last = i + 1 == out->reading_count || day_end(out->readings[i + 1].time_s) > end_s;
    hw_estimate e;
    if (status == HW_OK && last && out->day_count < SONGHUA_DAYS && hw_run_estimate(run, &e) == HW_OK) {
      out->days[out->day_count++] = day_of(out, run, &e, out->readings[i].time_s);
    }
  }
  hw_run_free(run);
  if (status != HW_OK) {
    fprintf(stderr, "%s: %s\n", folder, hw_status_text(status));
  }
  return status == HW_OK;
}

void songhua_free(songhua_story *story) {
  hw_river_free(&story->river);
}

hw_range songhua_passed(const songhua_story *story, double location_m, double level_g_m3) {
  hw_range passed = {NAN, NAN, NAN};
  for (size_t i = 0; i < story->reading_count; i++) {
    const hw_reading *r = &story->readings[i];
    if (story->river.sensors[r->sensor].location_m != location_m || isfinite(passed.hi)) {
      continue;
    }
    const bool above = !r->below_limit && r->concentration_g_m3 > level_g_m3;
    *(above ? &passed.hi : &passed.lo) = r->time_s;
  }
  if (!isfinite(passed.hi)) {
    passed.lo = NAN;
  }
  return passed;
}

double songhua_highest_s(const songhua_story *story, double location_m) {
  double highest = 0, at_s = NAN;
  for (size_t i = 0; i < story->reading_count; i++) {
    const hw_reading *r = &story->readings[i];
    if (story->river.sensors[r->sensor].location_m == location_m && !r->below_limit &&
        r->concentration_g_m3 > highest) {
      highest = r->concentration_g_m3;
      at_s = r->time_s;
    }
  }
  return at_s;
}

/* make study-field: incidents and releases of other kinds than those the field model learned from.
 *
 *   study_field DATA_FOLDER   (holding one folder a case, each with river.yaml, readings.csv, truth.csv)
 *
 * A real incident told by grab samples, salt on a large background, releases that last or go on, streams of tens of
 * metres. For every case: what the engine thinks of its answer, and whether the 90 % intervals of place and time cover
 * the truth, give or take how well that is known. For cases of many stations the same after every station, and the
 * forecast from the stations so far to the next.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "population_fit.h"

typedef struct {
  double distance_m, location_sd_m, time_sd_s;
} knowledge;

/* The second line of truth.csv: place and time are the origin in all of them. */
static bool read_truth(const char *path, release *r, knowledge *known) {
  FILE *file = fopen(path, "r");
  char line[1024] = "";
  const bool read = file && fgets(line, sizeof line, file) && fgets(line, sizeof line, file);
  if (file) {
    fclose(file);
  }
  double part[9] = {0};
  const char *at = line;
  for (int i = 0; read && i < 9 && at; i++) {
    part[i] = strtod(at, NULL);
    at = strchr(at, ',');
    at = at ? at + 1 : NULL;
  }
  r->truth = (hw_source){part[3], part[4], part[5]};
  *known = (knowledge){part[6], part[7], part[8]};
  return read;
}

static bool covers(double lo, double hi, double truth, double sd) {
  return lo - 2 * sd <= truth && truth <= hi + 2 * sd;
}

/* One answer as a row. Returned: does the place's interval cover the truth, or does the engine not trust itself? */
static bool print_answer(const char *name, const hw_estimate *e, const release *r, const knowledge *known) {
  const char *trust = hw_trust_text(e->trust);
  if (!e->has_source) {
    printf("%-22s %-12s %s\n", name, trust ? trust : "", e->trust_reason ? e->trust_reason : "");
    return true;
  }
  const hw_box *i = &e->interval;
  const bool place = covers(i->lo.location_m, i->hi.location_m, r->truth.location_m, known->location_sd_m);
  const bool time = covers(i->lo.time_s, i->hi.time_s, r->truth.time_s, known->time_sd_s);
  printf("%-22s %-12s %10.0f [%.0f, %.0f] %-7s %10.0f [%.0f, %.0f] %s\n", name, trust ? trust : "",
         e->source.location_m, i->lo.location_m, i->hi.location_m, place ? "covered" : "missed", e->source.time_s,
         i->lo.time_s, i->hi.time_s, time ? "covered" : "missed");
  return place;
}

static hw_status answer(const release *r, const hw_river *river, double until_m, hw_estimate *e, hw__field **out) {
  hw__field *f = *out = field_on(river, &hw__population_shipped);
  if (!f) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < r->count; i++) {
    if (r->river.sensors[r->readings[i].sensor].location_m <= until_m) {
      (void)hw__field_observe(f, &r->readings[i]);
    }
  }
  return hw__field_estimate(f, e);
}

/* When the next station read highest; NAN with fewer than three readings, which show no peak. */
static double peak_time(const release *r, size_t sensor) {
  double peak = 0, time = NAN;
  size_t count = 0;
  for (size_t i = 0; i < r->count; i++) {
    count += r->readings[i].sensor == sensor;
    if (r->readings[i].sensor == sensor && r->readings[i].concentration_g_m3 > peak && !r->readings[i].below_limit) {
      peak = r->readings[i].concentration_g_m3;
      time = r->readings[i].time_s;
    }
  }
  return count >= 3 ? time : (double)NAN;
}

/* Stations in the order of the river file, which is downstream. */
static void follow_stations(const release *r, const knowledge *known) {
  double made = 0, covered = 0;
  for (size_t s = 0; s < r->river.sensor_count; s++) {
    const bool last = s + 1 == r->river.sensor_count;
    hw_intake next = {.id = "next", .location_m = last ? 0 : r->river.sensors[s + 1].location_m};
    hw_river river = r->river; /* a shallow copy: only the intake is its own */
    river.intakes = &next;
    river.intake_count = last ? 0 : 1;
    char name[96];
    hw_estimate e;
    hw__field *f = NULL;
    snprintf(name, sizeof name, "  up to %s", r->river.sensors[s].id);
    if (answer(r, &river, r->river.sensors[s].location_m, &e, &f) == HW_OK) {
      print_answer(name, &e, r, known);
      const double real = last ? (double)NAN : peak_time(r, s + 1);
      if (e.arrival_count == 1 && isfinite(real)) {
        made++;
        covered += covers(e.arrivals[0].peak_s.lo, e.arrivals[0].peak_s.hi, real, 0);
      }
    }
    hw__field_destroy(f);
  }
  printf("  peaks at the next station inside their 90 %% interval: %.0f of %.0f\n", covered, made);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_case(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "../shared/data/field";
  struct dirent **entries = NULL;
  const int count = scandir(folder, &entries, is_case, by_name);
  if (count <= 0) {
    printf("study-field: skipped, no cases under %s\n", folder);
    return 0;
  }
  int cases = 0, covered = 0;
  printf("%-22s %-12s place in m, 90 %% interval; time of release in s, 90 %% interval\n", "case", "trust");
  for (int i = 0; i < count; i++) {
    release r = {0};
    knowledge known = {0};
    char river[512], readings[512], truth[512];
    snprintf(river, sizeof river, "%s/%s/river.yaml", folder, entries[i]->d_name);
    snprintf(readings, sizeof readings, "%s/%s/readings.csv", folder, entries[i]->d_name);
    snprintf(truth, sizeof truth, "%s/%s/truth.csv", folder, entries[i]->d_name);
    hw_estimate e;
    hw__field *f = NULL;
    if (read_truth(truth, &r, &known) && release_read(river, readings, &r) &&
        answer(&r, &r.river, INFINITY, &e, &f) == HW_OK) {
      cases++;
      covered += print_answer(entries[i]->d_name, &e, &r, &known);
      if (e.trust_reason && e.has_source) {
        printf("  %s\n", e.trust_reason);
      }
      if (r.river.sensor_count > 2) {
        follow_stations(&r, &known);
      }
    }
    hw__field_destroy(f);
    hw_river_free(&r.river);
    free(r.readings);
    free(entries[i]);
  }
  free(entries);
  printf("%d of %d cases: the place is covered, or the engine does not trust itself\n", covered, cases);
  return covered == cases ? 0 : 1;
}

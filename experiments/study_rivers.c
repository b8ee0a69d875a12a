/* make study-rivers: does the field model tell the truth on real rivers it has not seen?
 *
 *   study_rivers DATA_FOLDER [RELEASES]   (holding rivers/ and truckee/; the short form judges the first few)
 *
 * Prints one row a release, then every target beside what was measured. Exit code 0 also when a target is
 * missed by little: the table says so; 1 when intervals fail so often that something must be broken.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field/engine.h"
#include "river_dead.h"
#include "river_study.h"
#include "river_subsets.h"
#include "river_suspects.h"
#include "river_when.h"

enum { CANDIDATE_SETS = 200, VELOCITIES = 9 };

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof *values, ascending);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void print_target(const char *what, double lo, double hi, double measured_value) {
  const bool pass = measured_value >= lo && measured_value <= hi;
  char target[64];
  if (!(lo > 0)) {
    snprintf(target, sizeof target, "<= %.2f", hi);
  } else if (hi >= 1 && lo < 1) {
    snprintf(target, sizeof target, ">= %.2f", lo);
  } else {
    snprintf(target, sizeof target, "%.2f to %.2f", lo, hi);
  }
  printf("%-58s %-14s %6.3f  %s\n", what, target, measured_value, pass ? "PASS" : "short");
}

/* Constants for each release, learned without its river. */
static void learn_without(const release *releases, size_t count, size_t judged, hw__population *out) {
  for (size_t i = 0; i < judged; i++) {
    size_t same = 0;
    while (!release_same_river(releases[same].name, releases[i].name)) {
      same++;
    }
    if (same < i) {
      out[i] = out[same];
    } else {
      population_learn(releases, count, releases[i].name, &hw__population_shipped, &out[i]);
    }
  }
}

/* Returned: the coverage of the 90 % intervals. */
static double study_releases(const release *releases, size_t count, const hw__population *without) {
  double error[64], width[64], mass[64];
  double n = 0, cover90 = 0, cover50 = 0, first = 0, first_two = 0, squares = 0;
  size_t masses = 0;
  printf("%-16s %8s %8s %5s %5s %8s %6s %7s\n", "release", "place", "width90", "in90", "in50", "mass", "first",
         "ln age");
  for (int multi = 1; multi >= 0; multi--) {
    for (size_t i = 0; i < count; i++) {
      verdict v = {0};
      if ((releases[i].river.sensor_count > 1) != multi ||
          !study_judge(&releases[i], &without[i], CANDIDATE_SETS, &v)) {
        continue;
      }
      printf("%-16s %+8.2f %8.2f %5s %5s %8.2f %6.2f %+7.2f%s\n", releases[i].name, v.place_error, v.width90,
             v.covers90 ? "yes" : "no", v.covers50 ? "yes" : "no", v.mass_error, v.first, v.log_age_error,
             multi ? "" : "  (one sensor)");
      if (!multi) {
        continue;
      }
      error[(size_t)n] = fabs(v.place_error);
      width[(size_t)n] = v.width90;
      n++;
      cover90 += v.covers90;
      cover50 += v.covers50;
      first += v.first;
      first_two += v.first_two;
      squares += v.log_age_error * v.log_age_error;
      if (isfinite(v.mass_error)) {
        mass[masses++] = v.mass_error;
      }
    }
  }
  printf("\n%.0f releases with several sensors, velocity and dispersion unknown, each river held out in turn\n", n);
  print_target("90 % intervals that cover the true place", 0.87, 0.95, cover90 / n);
  print_target("50 % intervals that cover the true place", 0.40, 0.62, cover50 / n);
  print_target("median place error, distances to the first sensor", 0, 0.25, median(error, (size_t)n));
  print_target("median width of the 90 % interval, likewise", 0, 1.6, median(width, (size_t)n));
  print_target("median mass error where comparable", 0, 0.15, masses ? median(mass, masses) : (double)NAN);
  print_target("truth first of 5 candidates (4 uniform decoys, 200 sets)", 0.60, 1, first / n);
  printf("%-58s %-14s %6.3f\n", "truth among the first two", "", first_two / n);
  printf("%-58s %-14s %6.3f\n", "root mean square error of ln age", "", sqrt(squares / n));
  return cover90 / n;
}

static void study_all_stages(const release *releases, size_t count, const hw__population *without, calibration *score) {
  double cover[STUDY_STAGES] = {0}, ratio[STUDY_STAGES][64], one_cover[STUDY_STAGES], one_ratio[STUDY_STAGES];
  size_t n = 0;
  for (size_t i = 0; i < count && n < 64; i++) {
    if (study_stages(&releases[i], &without[i], VELOCITIES, one_cover, one_ratio, score)) {
      for (int k = 0; k < STUDY_STAGES; k++) {
        cover[k] += one_cover[k];
        ratio[k][n] = one_ratio[k];
      }
      n++;
    }
  }
  printf("\n%zu releases, first sensor only, velocity known within 15 %%, at stages of its pulse\n", n);
  for (int k = 0; k < STUDY_STAGES; k++) {
    char what[96];
    snprintf(what, sizeof what, "90 %% coverage, %s (far/near end %.1f)", study_stage_names[k], median(ratio[k], n));
    print_target(what, 0.85, 0.97, cover[k] / (double)n);
  }
}

static void print_calibration(const char *what, const calibration *c) {
  const double w = c->weight;
  printf("%-26s %5zu  %6.3f %6.3f %6.3f %6.3f  %9.3f %9.2f %9.3f\n", what, c->cases, c->cover50 / w, c->cover80 / w,
         c->cover90 / w, c->cover98 / w, c->crps / w, c->interval90 / w, c->log_score / w);
}

/* Every subset of the sensors as if the others were not there, velocity and dispersion unknown; and the stages. */
static void study_calibration(const release *releases, size_t count, const hw__population *without,
                              const calibration *stages) {
  calibration single = {0}, several = {0};
  for (size_t i = 0; i < count; i++) {
    study_subsets(&releases[i], &without[i], &single, &several);
  }
  printf("\nevery subset of the sensors, a release counting once; and all stages above\n");
  printf("%-26s %5s  %6s %6s %6s %6s  %9s %9s %9s\n", "", "cases", "in 50", "in 80", "in 90", "in 98", "crps",
         "interval", "-ln p");
  print_calibration("several sensors", &several);
  print_calibration("one sensor", &single);
  print_calibration("stages, velocity given", stages);
}

static void study_arrivals(const release *releases, size_t count, const hw__population *without) {
  forecasts sum = {0};
  for (size_t i = 0; i < count; i++) {
    study_forecasts(&releases[i], &without[i], &sum);
  }
  printf("\n%.0f forecasts from the sensors so far to the next one; 90 %% coverage\n", sum.made);
  printf("%-58s %-14s %6.3f\n", "first passing of a tenth of the peak", "", sum.first / sum.made);
  printf("%-58s %-14s %6.3f\n", "time of the peak", "", sum.peak_time / sum.made);
  printf("%-58s %-14s %6.3f\n", "height of the peak", "", sum.peak / sum.made);
}

/* With the time of release known about, with all sensors. */
static void study_times(const release *releases, size_t count, const hw__population *without) {
  static const double shares[] = {0, 0.2, 0.1, 0.001};
  static const char *const names[] = {"nothing known of the time", "within 20 % of the age", "within 10 %", "exactly"};
  printf("\nthe time of release known, all sensors, every release counting once\n");
  printf("%-26s %5s  %6s %6s %6s  %9s %12s %12s\n", "", "cases", "in 50", "in 80", "in 90", "crps", "median error",
         "median width");
  for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
    calibration score = {0};
    place_errors errors = {0};
    for (size_t i = 0; i < count; i++) {
      if (releases[i].river.sensor_count > 1) {
        study_when(&releases[i], &without[i], shares[k], &score, &errors);
      }
    }
    const double w = score.weight;
    printf("%-26s %5zu  %6.3f %6.3f %6.3f  %9.3f %12.3f %12.3f\n", names[k], score.cases, score.cover50 / w,
           score.cover80 / w, score.cover90 / w, score.crps / w, median(errors.error, errors.cases),
           median(errors.width, errors.cases));
  }
}

static void study_dead_sensors(const release *releases, size_t count, const hw__population *without) {
  dead_sensors sum = {0};
  for (size_t i = 0; i < count; i++) {
    study_dead(&releases[i], &without[i], &sum);
  }
  printf("\n%.0f records of three sensors or more with one of them dead (flat zero)\n", sum.cases);
  printf("%-58s %-14s %6.3f\n", "90 % intervals that cover the true place", "", sum.covers / sum.cases);
  printf("%-58s %-14s %6.3f\n", "the dead sensor is named", "", sum.named / sum.cases);
}

static void study_reliability(const release *releases, size_t count, const hw__population *without) {
  reliability sum = {0};
  for (size_t i = 0; i < count; i++) {
    study_suspects(&releases[i], &without[i], CANDIDATE_SETS / 4, &sum);
  }
  printf("\n%.0f sets of 5 candidates, the guilty one among them in four of five\n", sum.sets);
  printf("%-26s %10s %10s %10s\n", "probability said", "statements", "said", "true");
  for (int b = 0; b < RELIABILITY_BINS; b++) {
    printf("%.2f to %.2f %27.0f %10.3f %10.3f\n", reliability_edges[b], reliability_edges[b + 1], sum.count[b],
           sum.said[b] / sum.count[b], sum.true_ones[b] / sum.count[b]);
  }
  printf("%-58s %-14s %6.3f\n", "the guilty one comes first where it is a candidate", "",
         sum.guilty_first / (sum.sets - sum.none_sets));
  printf("%-58s %-14s %6.3f\n", "\"none of these\" comes first where it is not", "", sum.none_first / sum.none_sets);
  printf("%-58s %-14s %6.3f\n", "sets in which an innocent one has more than 80 %", "",
         sum.innocent_over_80 / sum.sets);
}

/* Returned: the share of readings after two sensors whose interval covers the true place; 1 without the data. */
static double study_truckee(const char *folder) {
  char river[512], readings[512];
  snprintf(river, sizeof river, "%s/truckee/river-unknown.yaml", folder);
  snprintf(readings, sizeof readings, "%s/truckee/readings.csv", folder);
  release truckee = {.name = "Truckee", .truth = {1300, -22106, -12900}};
  hw_estimate last = {0};
  if (!release_read(river, readings, &truckee)) {
    return 1;
  }
  const double covered = study_follow(&truckee, &hw__population_shipped, &last);
  printf(
      "\nTruckee River, never fitted, nothing known: %.0f [%.0f, %.0f] m, %.0f [%.0f, %.0f] min, %.0f [%.0f, %.0f] g\n",
      last.source.location_m, last.interval.lo.location_m, last.interval.hi.location_m, last.source.time_s / 60,
      last.interval.lo.time_s / 60, last.interval.hi.time_s / 60, last.source.mass_g, last.interval.lo.mass_g,
      last.interval.hi.mass_g);
  print_target("90 % coverage over the readings after two sensors", 1, 1, covered);
  hw_river_free(&truckee.river);
  free(truckee.readings);
  return covered;
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "../shared/data";
  char path[512];
  snprintf(path, sizeof path, "%s/rivers", folder);
  release *releases = NULL;
  const size_t count = releases_load(path, &releases);
  if (count == 0) {
    printf("study-rivers: skipped, no releases under %s\n", folder);
    return 0;
  }
  const size_t asked = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : count;
  const size_t judged = asked < count ? asked : count;
  hw__population *without = calloc(count, sizeof *without);
  double covered = 0, truckee = 0;
  if (without) {
    learn_without(releases, count, judged, without);
    covered = study_releases(releases, judged, without);
    calibration stages = {0};
    study_all_stages(releases, judged, without, &stages);
    study_calibration(releases, judged, without, &stages);
    study_times(releases, judged, without);
    study_dead_sensors(releases, judged, without);
    study_reliability(releases, judged, without);
    study_arrivals(releases, judged, without);
    truckee = study_truckee(folder);
  }
  free(without);
  releases_free(releases, count);
  return covered >= 0.75 && truckee >= 1 ? 0 : 1;
}

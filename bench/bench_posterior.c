/* What one more reading costs the posterior engine, and how much it remembers.
 *
 *   bench_posterior [most readings, default 1000000] [RIVER READINGS]
 *
 * Two sensors watch one pulse; 100, 10,000 or 1,000,000 readings spread over the same passage, so that nearly all of
 * them carry information. A reading is filed with its sensor, and the work is done when an answer is asked for, so both
 * are timed. Times are of this thread alone. A river and its readings, the bundled spill say, are played as they are,
 * with an answer after every reading and without.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "headwater/headwater.h"
#include "timing.h"

typedef struct {
  const char *name;
  bool uncertain;
  double relative;
  bool field; /* the field model: neither is known */
} setting;

static const setting settings[] = {
    {"v, D known, absolute noise", false, 0, false},
    {"v, D known, relative noise", false, 0.05, false},
    {"v, D uncertain, absolute noise", true, 0, false},
    {"v, D unknown: field model", false, 0, true},
};

static const hw_source truth = {1300, -22106, -12900};

static void make_river(const setting *what, hw_river *river, hw_sensor *sensors) {
  hw_river_init(river);
  river->hydraulics = (hw_hydraulics){.velocity_m_s = {HW_KNOWN, 80 / 60.0, 1},
                                      .dispersion_m2_s = {HW_KNOWN, 40.5, 1},
                                      .area_m2 = 60,
                                      .decay_per_s = 1e-8 / 60};
  if (what->uncertain) {
    river->hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.25, 1.2};
    river->hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 60, 3};
  }
  if (what->field) {
    river->hydraulics.velocity_m_s = river->hydraulics.dispersion_m2_s = (hw_quantity){HW_UNKNOWN, 0, 1};
  }
  river->search = (hw_box){{500, -30000, -24000}, {5000, -15000, -8760}};
  for (size_t k = 0; k < 2; k++) {
    hw_sensor_init(&sensors[k]);
    snprintf(sensors[k].id, sizeof sensors[k].id, "s%zu", k + 1);
    sensors[k].location_m = k ? 0 : -14210.5;
    sensors[k].noise_relative = what->relative;
    sensors[k].noise_absolute_g_m3 = k ? 1e-4 : 1.5e-4;
    sensors[k].background_g_m3 = 0;
  }
  river->sensors = sensors;
  river->sensor_count = 2;
}

/* What reading the clock twice costs by itself. */
static double microseconds_clock(void) {
  enum { REPEATS = 4001 };
  static double spent[REPEATS];
  for (size_t r = 0; r < REPEATS; r++) {
    const double start = thread_seconds_now();
    spent[r] = 1e6 * (thread_seconds_now() - start);
  }
  return quantile(spent, REPEATS, 0.5);
}

/* One passage in n readings; spent[i] microseconds each, *answer_ms for the answer in the end. */
static hw_estimate one_record(const setting *what, size_t n, double *spent, double *answer_ms) {
  hw_river river, actual;
  hw_sensor sensors[2], actual_sensors[2];
  make_river(what, &river, sensors);
  make_river(&(setting){.relative = what->relative}, &actual, actual_sensors);
  hw_transport *transport = NULL;
  hw_run *run = NULL;
  const hw_problem problem = {.river = &river};
  hw_rng rng;
  hw_rng_seed(&rng, 5, n);
  if (hw_transport_create(&actual, NULL, &transport) != HW_OK ||
      hw_run_create(hw_method_find("posterior"), &problem, NULL, &run) != HW_OK) {
    exit(3);
  }
  for (size_t i = 0; i < n; i++) {
    const hw_sensor *s = &sensors[i % 2];
    const double t = -9000 + 18000 * (double)(i / 2) / (double)(n / 2);
    double c = 0;
    hw_transport_concentration(transport, &truth, s->location_m, t, &c);
    const double sd = hypot(s->noise_absolute_g_m3, s->noise_relative * c);
    const hw_reading reading = {i % 2, t, c + sd * hw_rng_normal(&rng), false, false};
    const double start = thread_seconds_now();
    hw_run_observe(run, &reading);
    spent[i] = 1e6 * (thread_seconds_now() - start);
  }
  hw_estimate e;
  const double start = thread_seconds_now();
  if (hw_run_estimate(run, &e) != HW_OK) {
    exit(3);
  }
  *answer_ms = 1e3 * (thread_seconds_now() - start);
  static char reason[240]; /* the run's own goes with it */
  snprintf(reason, sizeof reason, "%s", e.trust_reason ? e.trust_reason : "");
  e.trust_reason = reason;
  hw_run_free(run);
  hw_transport_free(transport);
  return e;
}

static double mean_of(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += x[i];
  }
  return sum / (double)n;
}

/* Sorts spent. */
static void print_row(const char *name, size_t n, double *spent, size_t bytes, const char *rest) {
  const double clock = microseconds_clock(), mean = mean_of(spent, n) - clock;
  const double median = quantile(spent, n, 0.5) - clock;
  printf("%-38s %9zu  %8.2f %8.1f %8.1f %9.0f  %9zu  %s\n", name, n, median, mean, quantile(spent, n, 0.99),
         spent[n - 1], bytes, rest);
  fflush(stdout);
}

static void bench_passages(size_t most, double *spent) {
  for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
    for (size_t n = 100; n <= most; n *= 100) {
      double answer_ms = 0;
      const hw_estimate e = one_record(&settings[k], n, spent, &answer_ms);
      char rest[320];
      const int used = snprintf(rest, sizeof rest, "%9.1f  ", answer_ms);
      if (e.has_interval) {
        snprintf(rest + used, sizeof rest - (size_t)used, "%.1f .. %.1f", e.interval.lo.location_m,
                 e.interval.hi.location_m);
      } else {
        snprintf(rest + used, sizeof rest - (size_t)used, "no source: %s", e.trust_reason);
      }
      print_row(settings[k].name, n, spent, e.cost.state_bytes, rest);
    }
  }
}

/* A record as it was read: spent[i] microseconds for each reading or, when asked for, for the answer after it. */
static size_t play(const hw_river *river, const hw_reading *readings, size_t count, bool answers, double *spent) {
  const hw_problem problem = {.river = river};
  hw_run *run = NULL;
  hw_estimate e = {0};
  if (hw_run_create(hw_method_find("posterior"), &problem, NULL, &run) != HW_OK) {
    exit(3);
  }
  for (size_t i = 0; i < count; i++) {
    double start = thread_seconds_now();
    hw_run_observe(run, &readings[i]);
    if (answers) {
      start = thread_seconds_now();
      hw_run_estimate(run, &e);
    }
    spent[i] = 1e6 * (thread_seconds_now() - start);
  }
  if (hw_run_estimate(run, &e) != HW_OK) {
    exit(3);
  }
  hw_run_free(run);
  return e.cost.state_bytes;
}

static int bench_spill(const char *river_path, const char *readings_path, double *spent) {
  enum { MOST = 10000 };
  hw_river river;
  hw_reader *reader = NULL;
  hw_error error = {{0}};
  hw_reading *readings = NULL;
  size_t count = 0;
  hw_status status = hw_river_load(river_path, NULL, NULL, &river, &error);
  if (status == HW_OK) {
    status = hw_reader_open(readings_path, &river, &reader, &error);
  }
  if (status == HW_OK) {
    status = hw_reader_rest(reader, MOST, &readings, &count, &error);
  }
  hw_reader_free(reader);
  if (status != HW_OK) {
    fprintf(stderr, "bench_posterior: %s\n", error.text);
    return 1;
  }
  hw_river unknown = river; /* shallow: only the hydraulics differ */
  unknown.hydraulics.velocity_m_s = unknown.hydraulics.dispersion_m2_s = (hw_quantity){HW_UNKNOWN, 0, 1};
  const hw_river *rivers[] = {&river, &unknown};
  static const char *const names[2][2] = {
      {"bundled spill, readings", "bundled spill, answers"},
      {"the same by the field model, readings", "the same by the field model, answers"}};
  for (size_t k = 0; k < 2; k++) {
    for (int answers = 0; answers < 2; answers++) {
      const size_t bytes = play(rivers[k], readings, count, answers, spent);
      print_row(names[k][answers], count, spent, bytes, "");
    }
  }
  hw_river_free(&river);
  free(readings);
  return 0;
}

int main(int argc, char **argv) {
  const long most = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
  double *spent = calloc(most > 10000 ? (size_t)most : 10000, sizeof *spent);
  if (!spent || most < 100 || argc == 3) {
    fprintf(stderr, "bench_posterior: expected a number of readings, 100 or more, and a river with its readings\n");
    free(spent);
    return 2;
  }
  printf("posterior engine: microseconds per reading\n");
  printf("%-38s %9s  %8s %8s %8s %9s  %9s  %9s  %s\n", "", "readings", "median", "mean", "p99", "longest", "bytes",
         "answer,ms", "90 % of the place, m");
  bench_passages((size_t)most, spent);
  const int code = argc > 3 ? bench_spill(argv[2], argv[3], spent) : 0;
  free(spent);
  return code;
}

/* simulate: what the sensors would read after a given release. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/session.h"

/* A reading belongs to a sensor's pulse while it exceeds this share of the pulse's peak. */
#define PULSE_SHARE 1e-3

typedef struct {
  cli_source source;
  cli_time from, to;
  double duration_s, every_s, noise_relative, noise_absolute_g_m3;
  uint64_t seed;
  bool censor;
  const char *format;
} simulate_request;

/* One sensor at work. */
typedef struct {
  double from_s, to_s; /* its window; from > to: nothing to say */
  hw_rng rng;
} station;

static void print_reading(const cli_session *session, const simulate_request *request, const hw_sensor *sensor,
                          double time_s, double c_g_m3) {
  const bool below = request->censor && sensor->detection_limit_g_m3 > 0 && c_g_m3 < sensor->detection_limit_g_m3;
  const double value = below ? sensor->detection_limit_g_m3 : c_g_m3;
  const bool ndjson = strcmp(request->format, "ndjson") == 0;
  char when[48];
  if (session->river.search_is_calendar) {
    hw_time_format(time_s, when, sizeof when);
  } else {
    snprintf(when, sizeof when, "%.12g", time_s);
  }
  const char *quote = session->river.search_is_calendar ? "\"" : "";
  if (ndjson) {
    printf("{\"%s\": %s%s%s, \"sensor\": \"%s\", \"concentration_g_m3\": %s%s%.12g%s}\n",
           session->river.search_is_calendar ? "time" : "time_s", quote, when, quote, sensor->id, below ? "\"" : "",
           below ? "<" : "", value, below ? "\"" : "");
  } else {
    printf("%s,%s,%s%.12g\n", when, sensor->id, below ? "<" : "", value);
  }
}

/* Characters that would need quoting in CSV or JSON do not belong into an id that is written there. */
static int check_ids(const cli_session *session) {
  for (size_t i = 0; i < session->river.sensor_count; i++) {
    const char *id = session->river.sensors[i].id;
    if (strpbrk(id, ",\"\\#") || id[0] == ' ') {
      return cli_fail(EXIT_INPUT, "%s: sensor id '%s', expected one without comma, quote, backslash or #",
                      session->river_path, id);
    }
  }
  return -1;
}

static int place_stations(cli_session *session, const simulate_request *request, const hw_source *source,
                          const hw_spill *spill, station *stations) {
  const bool window_given = request->from.given || request->to.given;
  for (size_t i = 0; i < session->river.sensor_count; i++) {
    station *s = &stations[i];
    const hw_sensor *sensor = &session->river.sensors[i];
    hw_rng_seed(&s->rng, request->seed, i + 1);
    s->from_s = 0;
    s->to_s = -1;
    const bool sees = hw_spill_window(spill, sensor->branch, sensor->location_m, PULSE_SHARE, &s->from_s, &s->to_s);
    if (!sees && !window_given) {
      cli_warn("sensor %s at %g m sees nothing of a release at %g m and has no rows; give --from and --to for zeros",
               sensor->id, sensor->location_m, source->location_m);
    }
    if ((request->from.given && !cli_resolve_time(&session->river, session->river_path, &request->from, &s->from_s)) ||
        (request->to.given && !cli_resolve_time(&session->river, session->river_path, &request->to, &s->to_s))) {
      return EXIT_USAGE;
    }
    if (request->from.given && request->to.given && s->from_s > s->to_s) {
      return cli_fail(EXIT_USAGE, "--from after --to, expected --from at or before --to");
    }
  }
  return -1;
}

/* Written out as text they take some tens of gigabytes. */
static const double most_readings = 1e9;

static int check_count(const simulate_request *request, const station *stations, size_t count) {
  double readings = 0;
  for (size_t i = 0; i < count; i++) {
    const double span_s = stations[i].to_s - stations[i].from_s;
    readings += span_s >= 0 ? floor(span_s / request->every_s) + 1 : 0;
  }
  return readings <= most_readings
             ? -1
             : cli_fail(EXIT_USAGE,
                        "--every %g: %.3g readings, expected at most %g; a longer --every, a shorter --duration, or "
                        "--from and --to less far apart",
                        request->every_s, readings, most_readings);
}

/* Row by row in time order, sensors of one instant in the river's order. Times are whole multiples of the
 * spacing, counted from --from when given. */
static void print_rows(const cli_session *session, const simulate_request *request, const hw_spill *spill,
                       station *stations) {
  const size_t count = session->river.sensor_count;
  double begin_s = INFINITY, end_s = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    if (stations[i].from_s <= stations[i].to_s) {
      begin_s = fmin(begin_s, stations[i].from_s);
      end_s = fmax(end_s, stations[i].to_s);
    }
  }
  const double origin_s = request->from.given ? begin_s : request->every_s * floor(begin_s / request->every_s);
  for (uint64_t n = 0;; n++) {
    const double time_s = origin_s + (double)n * request->every_s;
    if (!(time_s <= end_s) || ferror(stdout) || cli_interrupted) {
      return;
    }
    for (size_t i = 0; i < count; i++) {
      station *s = &stations[i];
      const hw_sensor *sensor = &session->river.sensors[i];
      if (time_s < s->from_s || time_s > s->to_s) {
        continue;
      }
      const double background = isnan(sensor->background_g_m3) ? 0 : sensor->background_g_m3;
      const double c = background + hw_spill_concentration(spill, sensor->branch, sensor->location_m, time_s);
      const double share = 1 + request->noise_relative * hw_rng_normal(&s->rng);
      print_reading(session, request, sensor, time_s,
                    c * share + request->noise_absolute_g_m3 * hw_rng_normal(&s->rng));
    }
  }
}

/* Beyond any spill and any river: what came of it would be readings that no file may hold, or none at all. */
static const double most_g = 1e15, most_m = 1e9, most_noise = 1e12;

static int simulate(cli_session *session, const simulate_request *request) {
  hw_source source;
  if (!cli_resolve_source(&session->river, session->river_path, &request->source, &source)) {
    return EXIT_USAGE;
  }
  if (!(source.mass_g > 0)) {
    return cli_fail(EXIT_USAGE, "--source with a mass of %g g, expected a positive one", source.mass_g);
  }
  if (!(source.mass_g <= most_g) || !(fabs(source.location_m) <= most_m)) {
    return cli_fail(EXIT_USAGE, "--source of %g g at %g m, expected at most %g g within %g m", source.mass_g,
                    source.location_m, most_g, most_m);
  }
  if (!(request->noise_relative <= most_noise) || !(request->noise_absolute_g_m3 <= most_noise)) {
    return cli_fail(EXIT_USAGE, "--noise-relative %g, --noise-absolute %g, expected at most %g",
                    request->noise_relative, request->noise_absolute_g_m3, most_noise);
  }
  int code = check_ids(session);
  if (code >= 0) {
    return code;
  }
  hw_spill *spill = NULL;
  const hw_status status = hw_spill_create(&session->river, &source, request->duration_s, &spill);
  if (status != HW_OK) {
    return status == HW_EHYDRAULICS ? cli_explain_hydraulics(session, "simulate")
                                    : cli_fail(cli_exit_code(status), "%s", hw_status_text(status));
  }
  station *stations = calloc(session->river.sensor_count, sizeof *stations);
  if (!stations) {
    hw_spill_free(spill);
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  code = place_stations(session, request, &source, spill, stations);
  if (code < 0) {
    code = check_count(request, stations, session->river.sensor_count);
  }
  if (code < 0) {
    if (strcmp(request->format, "csv") == 0) {
      printf("%s,sensor,concentration_g_m3\n", session->river.search_is_calendar ? "time" : "time_s");
    }
    print_rows(session, request, spill, stations);
    code = cli_finish(cli_interrupted ? EXIT_INTERRUPTED : EXIT_DONE);
  }
  free(stations);
  hw_spill_free(spill);
  return code;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", NULL};
  static const char *const formats[] = {"csv", "ndjson", NULL};
  simulate_request request = {.every_s = 300, .seed = 1, .format = "csv"};
  const cli_option options[] = {
      {"source", OPTION_SOURCE, &request.source, "M,L,T", "MASS_G,[BRANCH:]LOCATION_M,TIME_S of the release; required",
       NULL},
      {"duration", OPTION_AMOUNT, &request.duration_s, "S", "duration of the release in seconds; default 0: an instant",
       NULL},
      {"every", OPTION_POSITIVE, &request.every_s, "S", "seconds between readings; default 300", NULL},
      {"from", OPTION_TIME, &request.from, "T", "time of the first reading; default where each sensor's pulse begins",
       NULL},
      {"to", OPTION_TIME, &request.to, "T", "time of the last reading; default where each sensor's pulse ends", NULL},
      {"noise-relative", OPTION_AMOUNT, &request.noise_relative, "R",
       "standard deviation as a share of the truth; default 0", NULL},
      {"noise-absolute", OPTION_AMOUNT, &request.noise_absolute_g_m3, "G_M3", "standard deviation in g/m3; default 0",
       NULL},
      {"censor", OPTION_FLAG, &request.censor, NULL, "write what is below a sensor's detection limit as <limit", NULL},
      {"seed", OPTION_SEED, &request.seed, "N", "seed of the noise; default 1", NULL},
      {"format", OPTION_CHOICE, &request.format, "csv|ndjson", "format of the readings; default csv", formats},
  };
  const cli_usage usage = {
      &cli_verb_simulate,
      "RIVER --source MASS_G,[BRANCH:]LOCATION_M,TIME_S [options]",
      "Prints the readings the river's sensors would give after a release, in time order. Where the\n"
      "river has gauges with flow readings, the release drifts with that flow. Without --from and --to\n"
      "each sensor reports while its pulse exceeds a thousandth of its peak. Times are seconds, or\n"
      "instants where the river's search box is on the calendar.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[1];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (code >= 0) {
    return code;
  }
  if (!request.source.given) {
    return cli_fail(EXIT_USAGE, "simulate: no --source given, expected --source MASS_G,[BRANCH:]LOCATION_M,TIME_S");
  }
  cli_session session;
  code = cli_session_open(&session, operands[0], NULL);
  if (code < 0) {
    cli_catch_interrupt();
    code = simulate(&session, &request);
  }
  cli_session_close(&session);
  return code;
}

const cli_verb cli_verb_simulate = {"simulate", "readings of a given release, as CSV", run};

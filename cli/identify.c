/* identify: who, where, when, how much, how sure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "cli/plot.h"
#include "cli/sensors.h"
#include "cli/session.h"
#include "map.h"

typedef struct {
  cli_method_options method_options;
  const char *method, *format, *plot, *report, *map;
  bool each, per_sensor;
  size_t round; /* readings of a sensor in a round, with per_sensor */
  int argc;     /* as typed */
  char **argv;
  cli_album album; /* filled when there is something to draw */
} identify_request;

/* One JSON line, out at once, so that whoever reads the pipe sees it now. */
static int print_line(const cli_session *session, cli_worker *worker, const identify_request *request,
                      const hw_estimate *estimate) {
  const hw_result result = cli_result(session, worker, &request->method_options.options, estimate);
  char *text = NULL;
  if (hw_result_json(&result, true, &text) != HW_OK) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  puts(text);
  free(text);
  return cli_finish(-1);
}

/* What takes the readings in. */
typedef struct {
  cli_session *session;
  cli_worker *worker;
  identify_request *request;
} identification;

/* One reading, and with --each its estimate; the clock counts both. -1 or an exit code. */
static int observe(void *context, const hw_reading *reading) {
  const identification *on = context;
  cli_worker *worker = on->worker;
  identify_request *request = on->request;
  hw_estimate estimate;
  const double begin_s = cli_now_s();
  hw_status status = hw_run_observe(worker->run, reading);
  if (status == HW_OK && request->each) {
    status = hw_run_estimate(worker->run, &estimate);
  }
  cli_timing_add(&worker->timing, cli_now_s() - begin_s);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s:%llu: method %s: %s", on->session->readings_path,
                    (unsigned long long)hw_reader_line(on->session->reader), worker->method->name,
                    hw_status_text(status));
  }
  if (request->plot || request->report) {
    cli_album_add(&request->album, reading);
  }
  return request->each ? print_line(on->session, worker, request, &estimate) : -1;
}

static int write_map(const char *path, const hw_result *result) {
  char *text = NULL;
  hw_error error;
  if (hw_result_json(result, true, &text) != HW_OK) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  const hw_status status = hw_map_write(path, result->river, text, &error);
  free(text);
  return status == HW_OK ? -1 : cli_fail(cli_exit_code(status), "%s", error.text);
}

/* Picture, report and map, where asked for. */
static int write_files(const cli_session *session, const cli_worker *worker, const identify_request *request,
                       const hw_result *result) {
  const cli_picture picture = {
      .picture = request->plot, .result = result, .run = worker->run, .album = &request->album};
  int code = request->plot ? cli_plot(&picture) : -1;
  if (code < 0 && request->report) {
    code = cli_report_write(&(cli_report){request->report, picture, session, request->argc, request->argv});
  }
  return code < 0 && request->map ? write_map(request->map, result) : code;
}

/* The answer, unless it went out reading by reading, and the picture. */
static int print_result(cli_session *session, cli_worker *worker, const identify_request *request) {
  hw_estimate estimate;
  const double begin_s = cli_now_s();
  const hw_status status = hw_run_estimate(worker->run, &estimate);
  worker->timing.total_s += cli_now_s() - begin_s;
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s: method %s: %s", session->readings_path, worker->method->name,
                    hw_status_text(status));
  }
  const hw_result result = cli_result(session, worker, &request->method_options.options, &estimate);
  const bool json = strcmp(request->format, "json") == 0;
  char *text = NULL;
  if (!request->each) {
    if ((json ? hw_result_json(&result, false, &text) : hw_result_text(&result, &text)) != HW_OK) {
      return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
    }
    cli_print(text);
    cli_print(json ? "\n" : "");
    free(text);
  }
  return write_files(session, worker, request, &result);
}

static int identify(cli_session *session, cli_worker *worker, identify_request *request) {
  int code = cli_method_settle(&request->method_options, session);
  if (code >= 0) {
    return code;
  }
  if (request->per_sensor) {
    const sensors_request alone = {worker->method, &request->method_options.options, request->round,
                                   strcmp(request->format, "json") == 0};
    return cli_identify_sensors(session, &alone);
  }
  const hw_problem problem = {.river = &session->river};
  const hw_status status = hw_run_create(worker->method, &problem, &request->method_options.options, &worker->run);
  if (status != HW_OK) {
    return cli_explain_create(status, worker->method, session);
  }
  if ((request->plot || request->report) && !cli_album_create(&request->album, session->river.sensor_count)) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  code = cli_each_reading(session, observe, &(identification){session, worker, request});
  if (code >= 0) {
    return code;
  }
  cli_note_readings(session);
  code = print_result(session, worker, request);
  return code >= 0 ? code : cli_finish(cli_interrupted ? EXIT_INTERRUPTED : EXIT_DONE);
}

static int check_map(const char *path) {
  const char *dot = strrchr(path, '.');
  const bool good = dot && (strcmp(dot, ".geojson") == 0 || strcmp(dot, ".gpkg") == 0);
  return good ? -1 : cli_fail(EXIT_USAGE, "--map '%s', expected a file name that ends in .geojson or .gpkg", path);
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", "READINGS", NULL};
  identify_request request = {.format = "text", .argc = argc, .argv = argv};
  cli_option options[8 + CLI_METHOD_ROWS] = {
      {"method", OPTION_TEXT, &request.method, "NAME", "see 'headwater methods'; default " CLI_DEFAULT_METHOD, NULL},
      {"format", OPTION_CHOICE, &request.format, "text|json", "format of the answer; default text", cli_formats},
      {"each", OPTION_FLAG, &request.each, NULL, "one JSON line after every reading, flushed at once", NULL},
      {"plot", OPTION_TEXT, &request.plot, "FILE.svg|png", "also draw the fit and the estimate; needs gnuplot", NULL},
      {"per-sensor", OPTION_FLAG, &request.per_sensor, NULL,
       "identify from each sensor alone; prints their answers and the mean with its interval", NULL},
      {"round", OPTION_COUNT, &request.round, "N",
       "with --per-sensor: number of readings of a sensor in a round; default all", NULL},
      {"report", OPTION_TEXT, &request.report, "FILE.html|pdf", "also a report with everything in it; needs gnuplot",
       NULL},
      {"map", OPTION_TEXT, &request.map, "FILE.geojson|gpkg", "also the answer as a layer for map programs", NULL},
  };
  cli_method_rows(&request.method_options, options + 8);
  const cli_usage usage = {
      &cli_verb_identify,
      "RIVER READINGS [options]",
      "Takes the readings one by one and says how much was released, where and when, and how sure that\n"
      "is. RIVER is a YAML file; READINGS a CSV or NDJSON file, or - for standard input.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[2];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (code >= 0) {
    return code;
  }
  if (request.per_sensor && (request.plot || request.each)) {
    return cli_fail(EXIT_USAGE, "--per-sensor with --plot or --each, expected it alone");
  }
  if (request.round && !request.per_sensor) {
    return cli_fail(EXIT_USAGE, "--round without --per-sensor, expected both");
  }
  code = request.plot ? cli_plot_check(request.plot) : -1;
  code = code < 0 && request.report ? cli_report_check(request.report) : code;
  code = code < 0 && request.map ? check_map(request.map) : code;
  if (code >= 0) {
    return code;
  }
  cli_worker worker = {.method = cli_method(request.method)};
  if (!worker.method) {
    return EXIT_USAGE;
  }
  cli_session session;
  code = cli_session_open_as(&session, operands[0], operands[1], &request.method_options.import);
  if (code < 0) {
    code = identify(&session, &worker, &request);
  }
  hw_run_free(worker.run);
  cli_album_free(&request.album);
  cli_session_close(&session);
  return code;
}

const cli_verb cli_verb_identify = {"identify", "who, where, when, how much, how sure", run};

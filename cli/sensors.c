#include "cli/sensors.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/collect.h"

enum { MOST_READINGS = 1000000 };

typedef struct {
  const cli_session *session;
  const sensors_request *request;
  hw_reading *readings;
  size_t count;
  hw_source *found; /* of the round at work, one for each sensor that has one */
  size_t *which;    /* whose they are */
  size_t found_count;
  size_t speaking; /* sensors in the first round */
} alone;

/* A sensor by itself on its readings of one round. *used is how many there were. */
static hw_status identify_one(const alone *a, size_t sensor, size_t round, hw_source *out, size_t *used) {
  hw_river river = a->session->river;
  hw_sensor there = a->session->river.sensors[sensor];
  river.sensors = &there;
  river.sensor_count = 1;
  const hw_problem problem = {.river = &river};
  hw_options options = *a->request->options;
  options.per_sensor = false;
  hw_run *run = NULL;
  hw_status status = hw_run_create(a->request->method, &problem, &options, &run);
  const size_t length = a->request->round ? a->request->round : a->count;
  size_t seen = 0;
  *used = 0;
  for (size_t i = 0; status == HW_OK && i < a->count; i++) {
    if (a->readings[i].sensor == sensor && seen++ / length == round) {
      hw_reading reading = a->readings[i];
      reading.sensor = 0;
      status = hw_run_observe(run, &reading);
      (*used)++;
    }
  }
  hw_estimate estimate;
  if (status == HW_OK && *used) {
    status = hw_run_estimate(run, &estimate);
  }
  if (status == HW_OK && *used) {
    *out = estimate.source;
  }
  hw_run_free(run);
  return status;
}

static void print_source_json(const hw_source *s) {
  printf("{\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g}", s->mass_g, s->location_m, s->time_s);
}

/* The mean over the sensors that have said something, and its interval. */
static void print_mean(const alone *a) {
  hw_source mean, spread;
  hw_box interval;
  const double level = a->request->options->level != 0 ? a->request->options->level : HW_DEFAULT_LEVEL;
  const bool known = hw_plan_interval(a->found, a->found_count, level, &mean, &interval, &spread) == HW_OK;
  const hw_source *lo = &interval.lo, *hi = &interval.hi;
  if (a->request->json) {
    printf("\n   ], \"mean\": ");
    if (known) {
      print_source_json(&mean);
      printf(", \"spread\": ");
      print_source_json(&spread);
      printf(
          ",\n   \"interval\": {\"level\": %.9g, \"mass_g\": [%.9g, %.9g], \"location_m\": [%.9g, %.9g], \"time_s\": "
          "[%.9g, %.9g]}}",
          level, lo->mass_g, hi->mass_g, lo->location_m, hi->location_m, lo->time_s, hi->time_s);
    } else {
      printf("null, \"spread\": null, \"interval\": null}");
    }
  } else if (known) {
    printf("# mean of %zu sensors: %.1f g, %.0f m, %.0f s\n", a->found_count, mean.mass_g, mean.location_m,
           mean.time_s);
    printf("# %g %% interval of the mean (eq. 8): %.1f to %.1f g, %.0f to %.0f m, %.0f to %.0f s\n", 100 * level,
           lo->mass_g, hi->mass_g, lo->location_m, hi->location_m, lo->time_s, hi->time_s);
  } else {
    printf("# %zu sensor%s: no interval, it takes two\n", a->found_count, a->found_count == 1 ? "" : "s");
  }
}

static void print_round(alone *a, size_t round) {
  const hw_sensor *sensors = a->session->river.sensors;
  if (a->request->json) {
    printf("%s\n  {\"round\": %zu, \"sensors\": [", round ? "," : "", round + 1);
  }
  for (size_t i = 0; i < a->found_count; i++) {
    const hw_source *s = &a->found[i];
    if (a->request->json) {
      printf("%s\n    {\"sensor\": ", i ? "," : "");
      cli_print_json_text(sensors[a->which[i]].id);
      printf(", \"source\": ");
      print_source_json(s);
      printf("}");
    } else {
      /* Numbered among the sensors that report, like a pool of sensors to install; the id comes last. */
      printf("%zu,%zu,%.9g,%.9g,%.9g # %s\n", round + 1, i + 1, s->mass_g, s->location_m, s->time_s,
             sensors[a->which[i]].id);
    }
  }
  print_mean(a);
}

/* -1 while there may be another round, EXIT_DONE after the last, or a fault's exit code. A round counts while every
 * sensor that spoke in the first has readings for it: Algorithm 4 compares all of them. */
static int run_round(alone *a, size_t round) {
  a->found_count = 0;
  for (size_t m = 0; m < a->session->river.sensor_count; m++) {
    size_t used = 0;
    const hw_status status = identify_one(a, m, round, &a->found[a->found_count], &used);
    if (status != HW_OK) {
      return cli_explain_create(status, a->request->method, a->session);
    }
    if (used) {
      a->which[a->found_count++] = m;
    }
  }
  if (a->found_count == 0 || a->found_count < a->speaking) {
    return EXIT_DONE;
  }
  a->speaking = a->found_count;
  print_round(a, round);
  return -1;
}

int cli_identify_sensors(cli_session *session, const sensors_request *request) {
  alone a = {.session = session, .request = request};
  int code = cli_collect(session, MOST_READINGS, &a.readings, &a.count);
  if (code >= 0) {
    return code;
  }
  a.found = calloc(session->river.sensor_count, sizeof *a.found);
  a.which = calloc(session->river.sensor_count, sizeof *a.which);
  if (!a.found || !a.which) {
    code = cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  } else if (request->json) {
    printf("{\"schema\": \"headwater.sensors/1\", \"method\": \"%s\", \"seed\": %llu, \"rounds\": [",
           request->method->name, (unsigned long long)request->options->seed);
  } else {
    printf("# every sensor alone, method %s, seed %llu; for `headwater plan --identifications`\n",
           request->method->name, (unsigned long long)request->options->seed);
    printf("round,sensor,mass_g,location_m,time_s\n");
  }
  for (size_t round = 0; code < 0; round++) {
    code = run_round(&a, round);
  }
  if (code == EXIT_DONE && request->json) {
    printf("\n ]}\n");
  }
  free(a.readings);
  free(a.found);
  free(a.which);
  return code == EXIT_DONE ? cli_finish(EXIT_DONE) : code;
}

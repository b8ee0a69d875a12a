/* check: could these sensors identify a source at all, and how well; with readings, is the estimate well conditioned.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check_bound.h"
#include "cli/check_field.h"
#include "cli/collect.h"

enum { MOST_READINGS = 20000, MOST_PLACES = 1000 };

typedef struct {
  size_t places;
  double every_s, mass_g;
  const char *format;
  uint64_t seed;
} check_request;

/* How well the sensors could identify a release at one place. */
typedef struct {
  hw_source source;
  size_t seen; /* sensors downstream */
  hw_bound bound;
  double told; /* of all the channel searched that exactly the same sensors see, the share on this branch */
} outlook;

/* From these readings: the estimate and how well they determine it, in steady flow; and on one steady river the paper's
 * error bound at its own answer. */
typedef struct {
  bool bounded, error_bounded;
  hw_estimate estimate;
  hw_bound bound;
  hw_error_bound error_bound;
} verdict;

static int explain(const cli_session *session, hw_status status) {
  return status == HW_EHYDRAULICS
             ? cli_fail(EXIT_INPUT, "%s: velocity, dispersion or area unknown, expected all of them to check",
                        session->river_path)
             : cli_fail(cli_exit_code(status), "check: %s", hw_status_text(status));
}

static double geometric_middle(double lo, double hi) {
  return lo > 0 ? sqrt(lo * hi) : 0.1 * hi;
}

static bool sees(const hw_river *river, const hw_transport *transport, size_t sensor, const hw_source *source) {
  const hw_sensor *s = &river->sensors[sensor];
  return hw_transport_leg_between(transport, source->branch, source->location_m, s->branch, s->location_m).travel_s > 0;
}

/* How much is known of a release's branch from which sensors see it and which do not. */
static double branch_told(const hw_river *river, const hw_transport *transport, const hw_source *source) {
  enum { PLACES = 400 };
  double all = 0, own = 0;
  for (size_t i = 0; i < PLACES; i++) {
    hw_source other = *source;
    other.location_m = hw_river_search_place(river, ((double)i + 0.5) / PLACES, &other.branch);
    bool same = true;
    for (size_t k = 0; same && k < river->sensor_count; k++) {
      same = sees(river, transport, k, &other) == sees(river, transport, k, source);
    }
    all += same;
    own += same && other.branch == source->branch;
  }
  return all > 0 ? own / all : 1;
}

/* Readings every every_s, as far as a hundred thousand of them reach past the pulse. */
static int look_from(const cli_session *session, const check_request *r, double share, outlook *out) {
  const hw_river *river = &session->river;
  const hw_box *box = &river->search;
  *out = (outlook){.source = {.mass_g = r->mass_g, .time_s = 0.5 * (box->lo.time_s + box->hi.time_s)},
                   .bound = {.mass_g = INFINITY, .location_m = INFINITY, .time_s = INFINITY}};
  out->source.location_m = hw_river_search_place(river, share, &out->source.branch);
  hw_transport *transport = NULL;
  const hw_status made = hw_transport_create(river, NULL, &transport);
  if (made != HW_OK) {
    return explain(session, made);
  }
  for (size_t k = 0; k < river->sensor_count; k++) {
    out->seen += sees(river, transport, k, &out->source);
  }
  out->told = river->branch_count ? branch_told(river, transport, &out->source) : 1;
  hw_transport_free(transport);
  hw_schedule schedule;
  hw_status status = hw_fisher_schedule(river, &out->source, 2, &schedule);
  if (status == HW_EDOMAIN) {
    return -1; /* no sensor downstream: nothing is seen */
  }
  if (status == HW_OK) {
    schedule.every_s = fmax(r->every_s, (schedule.to_s - schedule.from_s) / 1e5);
    status = hw_fisher_source(river, &out->source, &schedule, NULL, &out->bound);
  }
  return status == HW_OK ? -1 : explain(session, status);
}

static int look_along(const cli_session *session, const check_request *r, outlook *outlooks) {
  int code = -1;
  for (size_t i = 0; code < 0 && i < r->places; i++) {
    code = look_from(session, r, r->places > 1 ? (double)i / (double)(r->places - 1) : 0.5, &outlooks[i]);
  }
  return code;
}

/* The bound with the readings' own times. */
static hw_status bound_of_readings(const hw_river *river, const hw_reading *readings, size_t count,
                                   const hw_source *source, hw_bound *out) {
  hw_transport *transport = NULL;
  double *time_s = calloc(count, sizeof *time_s);
  hw_status status = time_s ? hw_transport_create(river, NULL, &transport) : HW_ENOMEM;
  hw_fisher fisher;
  hw_fisher_clear(river, &fisher);
  for (size_t k = 0; status == HW_OK && k < river->sensor_count; k++) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
      if (readings[i].sensor == k) {
        time_s[n++] = readings[i].time_s;
      }
    }
    hw_fisher_add(river, transport, source, k, time_s, n, &fisher);
  }
  if (status == HW_OK) {
    hw_fisher_bound(river, &fisher, out);
  }
  hw_transport_free(transport);
  free(time_s);
  return status;
}

static int judge(cli_session *session, const check_request *r, verdict *out) {
  const hw_problem problem = {.river = &session->river};
  const hw_options options = {.seed = r->seed};
  hw_reading *readings = NULL;
  size_t count = 0;
  hw_run *run = NULL;
  int code = cli_collect(session, MOST_READINGS, &readings, &count);
  if (code >= 0) {
    return code;
  }
  const hw_method *method = cli_method(NULL);
  hw_status status = hw_run_create(method, &problem, &options, &run);
  for (size_t i = 0; status == HW_OK && i < count; i++) {
    status = hw_run_observe(run, &readings[i]);
  }
  if (status == HW_OK) {
    status = hw_run_estimate(run, &out->estimate);
  }
  out->bounded = session->river.flow_count == 0;
  out->error_bounded = cli_is_one_steady_river(&session->river);
  if (status == HW_OK && out->estimate.has_source && out->bounded) {
    status = bound_of_readings(&session->river, readings, count, &out->estimate.source, &out->bound);
  }
  if (status == HW_OK && out->error_bounded) {
    const hw_error_bound_options settings = {.seed = r->seed};
    status = hw_error_bound_check(&session->river, readings, count, &settings, &out->error_bound);
  }
  hw_run_free(run);
  free(readings);
  return status == HW_OK ? -1 : explain(session, status);
}

static void print_number(double value, int width, int digits) {
  if (isfinite(value)) {
    printf("%*.*f", width, digits, value);
  } else {
    printf("%*s", width, "-");
  }
}

static void print_row(const hw_river *river, const outlook *o) {
  if (river->branch_count) {
    printf("  %-12s", river->branches[o->source.branch].id);
  }
  printf("  %9.2f %8zu ", o->source.location_m / 1000, o->seen);
  print_number(o->bound.location_m, 10, 0);
  print_number(o->bound.time_s / 60, 12, 1);
  print_number(100 * o->bound.mass_g / o->source.mass_g, 11, 1);
  if (river->branch_count) {
    printf("%11.0f", 100 * o->told);
  }
  printf("   %s\n", o->bound.identifiable ? "yes" : "no");
}

static void print_outlooks(const cli_session *session, const check_request *r, const outlook *outlooks) {
  size_t known = 0;
  double worst = 0;
  printf("%s\nCould these %zu sensors identify a release of %.6g kg, read every %g s?\n\n", session->river.name,
         session->river.sensor_count, r->mass_g / 1000, r->every_s);
  const bool network = session->river.branch_count > 0;
  printf(network ? "  %-12s" : "%s", network ? "branch" : "");
  printf("  %9s %8s %10s %11s %10s%s   %s\n", "place, km", "seen by", "sd, m", "sd, min", "sd, %",
         network ? "  branch, %" : "", "identifiable");
  for (size_t i = 0; i < r->places; i++) {
    print_row(&session->river, &outlooks[i]);
    if (outlooks[i].bound.identifiable) {
      known++;
      worst = fmax(worst, outlooks[i].bound.location_m);
    }
  }
  printf(
      "\nsd: the least standard deviation of place, time and mass that any unbiased method can reach (Cramer-Rao).\n");
  if (network) {
    printf("branch: of all the channel that the same sensors would see, the share on that branch.\n");
  }
  if (known == r->places) {
    printf("Yes, everywhere in the search box; the place to %.0f m at worst.\n", worst);
  } else if (known > 0) {
    printf(
        "Only in part: from %zu of %zu places. A source below the last sensor, or too weak for the noise, stays "
        "hidden.\n",
        known, r->places);
  } else {
    printf("No: from nowhere in the search box.\n");
  }
}

/* Which of velocity and dispersion the river file gives as plain numbers. */
static size_t plain_numbers(const hw_hydraulics *h, const char *names[2]) {
  size_t count = 0;
  if (h->velocity_m_s.certainty == HW_KNOWN) {
    names[count++] = "velocity_m_s";
  }
  if (h->dispersion_m2_s.certainty == HW_KNOWN) {
    names[count++] = "dispersion_m2_s";
  }
  return count;
}

static void print_plain_numbers(const hw_hydraulics *h) {
  const char *names[2];
  const size_t count = plain_numbers(h, names);
  if (count > 0) {
    printf(
        "\n%s%s%s%s, taken as known to the last digit on every stretch and at today's discharge.\n"
        "That is rarely true, and where it is not, answers are far too narrow: write {median: M, factor: F}.\n",
        names[0], count > 1 ? " and " : "", count > 1 ? names[1] : "",
        count > 1 ? " are plain numbers" : " is a plain number");
  }
}

static void print_estimate(const hw_river *river, const verdict *v) {
  if (!v->estimate.has_source) {
    printf("\n%s\n", v->estimate.trust == HW_TRUST_NONE ? "The readings cannot be explained; `identify` says why."
                                                        : "No spill seen in these readings.");
    return;
  }
  const hw_source *s = &v->estimate.source;
  printf("\nAt the estimate: %.6g kg at %s%skm %.2f\n", s->mass_g / 1000,
         river->branch_count ? river->branches[s->branch].id : "", river->branch_count ? " " : "",
         s->location_m / 1000);
  if (!v->bounded) {
    printf("  how well these readings identify it is not known: the bound stands on steady flow\n");
  } else if (v->bound.identifiable) {
    printf("  identifiable from these readings: sd at least %.0f m, %.1f min, %.1f %% of the mass\n",
           v->bound.location_m, v->bound.time_s / 60, 100 * v->bound.mass_g / v->estimate.source.mass_g);
  } else {
    printf("  not identifiable from these readings\n");
  }
}

static void print_error_bound(const verdict *v) {
  if (v->error_bounded) {
    cli_print_error_bound(&v->error_bound);
  } else {
    printf("\nThe paper's local error bound stands on one river in steady flow: not checked.\n");
  }
}

static void print_bound_json(const hw_bound *b) {
  if (!b->identifiable || !isfinite(b->location_m)) {
    printf("{\"identifiable\": false, \"sd\": null}");
    return;
  }
  printf("{\"identifiable\": true, \"sd\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g}}", b->mass_g,
         b->location_m, b->time_s);
}

static void print_branch_json(const hw_river *river, const outlook *o) {
  if (river->branch_count) {
    printf("\"branch\": ");
    cli_print_json_text(river->branches[o->source.branch].id);
    printf(", \"branch_told\": %.9g, ", o->told);
  }
}

static void print_json(const cli_session *session, const check_request *r, const outlook *outlooks, const verdict *v) {
  printf("{\"schema\": \"headwater.check/1\", \"river\": ");
  cli_print_json_text(session->river.name);
  printf(", \"seed\": %llu, \"every_s\": %.9g, \"mass_g\": %.9g,\n \"places\": [", (unsigned long long)r->seed,
         r->every_s, r->mass_g);
  for (size_t i = 0; i < r->places; i++) {
    printf("%s\n  {", i ? "," : "");
    print_branch_json(&session->river, &outlooks[i]);
    printf("\"location_m\": %.9g, \"seen_by\": %zu, \"bound\": ", outlooks[i].source.location_m, outlooks[i].seen);
    print_bound_json(&outlooks[i].bound);
    printf("}");
  }
  const char *names[2];
  const size_t plain = plain_numbers(&session->river.hydraulics, names);
  printf("\n ],\n \"plain_numbers\": [");
  for (size_t i = 0; i < plain; i++) {
    printf("%s\"%s\"", i ? ", " : "", names[i]);
  }
  printf("],\n \"estimate\": ");
  if (!v) {
    printf("null}\n");
    return;
  }
  const hw_source *s = &v->estimate.source;
  if (v->estimate.has_source) {
    printf("{");
    if (session->river.branch_count) {
      printf("\"branch\": ");
      cli_print_json_text(session->river.branches[s->branch].id);
      printf(", ");
    }
    printf("\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g, \"bound\": ", s->mass_g, s->location_m,
           s->time_s);
  } else {
    printf("{\"mass_g\": null, \"location_m\": null, \"time_s\": null, \"bound\": ");
  }
  if (v->bounded) {
    print_bound_json(&v->bound);
  } else {
    printf("null");
  }
  printf(",\n  \"error_bound\": ");
  if (v->error_bounded) {
    cli_print_error_bound_json(&v->error_bound);
  } else {
    printf("null");
  }
  printf("}}\n");
}

static int check(cli_session *session, check_request *r, bool with_readings) {
  static verdict v;
  const hw_box *box = &session->river.search;
  r->mass_g = r->mass_g > 0 ? r->mass_g : geometric_middle(box->lo.mass_g, box->hi.mass_g);
  if (session->river.hydraulics.dispersion_m2_s.certainty == HW_UNKNOWN) {
    if (with_readings) {
      return cli_fail(EXIT_USAGE,
                      "dispersion unknown: with readings, how well is what `identify` says; check takes none");
    }
    const check_field_request q = {r->places, r->every_s, r->mass_g, strcmp(r->format, "json") == 0, r->seed};
    const int told = cli_check_field(session, &q);
    return told < 0 ? cli_finish(EXIT_DONE) : told;
  }
  outlook *outlooks = calloc(r->places, sizeof *outlooks);
  if (!outlooks) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  int code = look_along(session, r, outlooks);
  if (code < 0 && with_readings) {
    code = judge(session, r, &v);
  }
  if (code < 0) {
    if (strcmp(r->format, "json") == 0) {
      print_json(session, r, outlooks, with_readings ? &v : NULL);
    } else {
      print_outlooks(session, r, outlooks);
      print_plain_numbers(&session->river.hydraulics);
      if (with_readings) {
        print_estimate(&session->river, &v);
        print_error_bound(&v);
      }
    }
    code = cli_finish(EXIT_DONE);
  }
  free(outlooks);
  return code;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", "[READINGS]", NULL};
  check_request r = {.places = 9, .every_s = 300, .format = "text", .seed = 1};
  cli_import import = {0};
  const cli_option options[] = {
      {"every", OPTION_POSITIVE, &r.every_s, "S", "seconds between readings of a sensor; default 300", NULL},
      {"mass", OPTION_POSITIVE, &r.mass_g, "G", "mass of the release; default the geometric middle of the search box",
       NULL},
      {"places", OPTION_COUNT, &r.places, "N", "number of places along the search box; default 9", NULL},
      {"seed", OPTION_SEED, &r.seed, "N", "seed of the random numbers; default 1", NULL},
      {"format", OPTION_CHOICE, &r.format, "text|json", "format of the answer; default text", cli_formats},
      CLI_IMPORT_ROWS(import),
  };
  const cli_usage usage = {
      &cli_verb_check,
      "RIVER [READINGS] [options]",
      "Could the sensors identify a source at all, and how well? Without readings it prints the Cramer-Rao\n"
      "bound of mass, place and time for releases at places along the search box. With readings it adds\n"
      "the bound at the estimate, for the times that were read, and the paper's local error bound at the\n"
      "answer of its Algorithm 5 (Example 4.5, Assumption 4.6).",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[2];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (code >= 0) {
    return code;
  }
  if (r.places > MOST_PLACES) {
    return cli_fail(EXIT_USAGE, "--places %zu, expected 1 to %d", r.places, MOST_PLACES);
  }
  cli_session session;
  code = cli_session_open_as(&session, operands[0], operands[1], &import);
  if (code < 0) {
    code = check(&session, &r, operands[1] != NULL);
  }
  cli_session_close(&session);
  return code;
}

const cli_verb cli_verb_check = {"check", "could these sensors identify a source at all, and how well", run};

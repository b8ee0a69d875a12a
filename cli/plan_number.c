/* plan, first half: how many sensors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/plan.h"
#include "cli/plan_table.h"

/* Where single-sensor identifications come from: drawn, read, or worked out from simulated readings. */
typedef struct {
  const plan_request *request;
  const hw_river *river;
  hw_source truth;
  /* Simulated readings. */
  hw_transport *transport;
  const hw_method *method;
  const double *sites_m;
  /* Read from a file. */
  plan_table table;
  char fault[160];
} identifier;

static hw_rng stream_of(const identifier *id, size_t round, size_t sensor) {
  hw_rng rng;
  hw_rng_seed(&rng, id->request->seed, round * id->request->pool + sensor);
  return rng;
}

static hw_status draw(void *context, size_t round, size_t sensor, hw_source *out) {
  const identifier *id = context;
  hw_rng rng = stream_of(id, round, sensor);
  out->mass_g = id->truth.mass_g + id->request->spread.mass_g * hw_rng_normal(&rng);
  out->location_m = id->truth.location_m + id->request->spread.location_m * hw_rng_normal(&rng);
  out->time_s = id->truth.time_s + id->request->spread.time.value * hw_rng_normal(&rng);
  return HW_OK;
}

static hw_status look_up(void *context, size_t round, size_t sensor, hw_source *out) {
  identifier *id = context;
  if (!plan_table_find(&id->table, round + 1, sensor + 1, out)) {
    snprintf(id->fault, sizeof id->fault, "no identification of round %zu by sensor %zu, expected one", round + 1,
             sensor + 1);
    return HW_EINPUT;
  }
  return HW_OK;
}

/* Where the dispersion is unknown nothing can be simulated, but the field model says how far off a sensor alone would
 * be: distance, age and mass by factors that vary from river to river and, here, from sensor to sensor. */
static hw_status draw_from_outlook(void *context, size_t round, size_t sensor, hw_source *out) {
  static const double normal_90 = 1.6448536269514722; /* the outlook's 90 % in standard deviations */
  const identifier *id = context;
  hw_river alone = *id->river;
  hw_sensor there = id->river->sensors[0];
  there.location_m = id->sites_m[sensor];
  alone.sensors = &there;
  alone.sensor_count = 1;
  hw_outlook o;
  const hw_status status = hw_outlook_source(&alone, &id->truth, HW_DEFAULT_LEVEL, &o);
  if (status != HW_OK) {
    return status;
  }
  hw_rng rng = stream_of(id, round, sensor);
  const hw_range *const ranges[] = {&o.distance, &o.age, &o.mass};
  double factor[3];
  for (size_t i = 0; i < 3; i++) {
    const double sd = isfinite(ranges[i]->lo) ? log(ranges[i]->hi / ranges[i]->lo) / (2 * normal_90) : 0;
    factor[i] = exp(sd * hw_rng_normal(&rng));
  }
  const double travel_s = isfinite(o.travel_s) ? o.travel_s : 0;
  out->location_m = there.location_m - (there.location_m - id->truth.location_m) * factor[0];
  out->time_s = id->truth.time_s + travel_s * (1 - factor[1]);
  out->mass_g = id->truth.mass_g * factor[2];
  return HW_OK;
}

/* The spill once more: as many readings as a round has while the pulse passes the sensor, new noise, a fresh start. */
static hw_status identify(void *context, size_t round, size_t sensor, hw_source *out) {
  identifier *id = context;
  hw_river alone = *id->river;
  hw_sensor there = id->river->sensors[0];
  there.location_m = id->sites_m[sensor];
  alone.sensors = &there;
  alone.sensor_count = 1;
  const hw_problem problem = {.river = &alone};
  const hw_options options = {.seed = id->request->seed, .threads = 1};
  const hw_leg leg = hw_transport_leg(id->transport, id->truth.location_m, there.location_m);
  const double sd_s = sqrt(leg.travel_s / leg.sharpness_per_s);
  hw_rng rng = stream_of(id, round, sensor);
  hw_run *run = NULL;
  hw_status status = hw_run_create(id->method, &problem, &options, &run);
  const size_t count = id->request->round_length;
  for (size_t i = 0; status == HW_OK && i < count; i++) {
    const double share = count > 1 ? 2 * (double)i / (double)(count - 1) - 1 : 0;
    const double age_s = leg.travel_s + 2.5 * sd_s * share;
    const double c = id->truth.mass_g * hw_leg_response(&leg, age_s);
    hw_reading reading = {.time_s = id->truth.time_s + age_s};
    reading.concentration_g_m3 =
        c * (1 + there.noise_relative * hw_rng_normal(&rng)) + there.noise_absolute_g_m3 * hw_rng_normal(&rng);
    status = hw_run_observe(run, &reading);
  }
  hw_estimate estimate;
  if (status == HW_OK) {
    status = hw_run_estimate(run, &estimate);
  }
  if (status == HW_OK && !estimate.has_source) {
    status = HW_ENONFINITE;
  }
  if (status == HW_OK) {
    *out = estimate.source;
  }
  hw_run_free(run);
  return status;
}

static size_t most_required(const hw_plan_round *round) {
  const size_t *n = round->required, most = n[0] > n[1] ? n[0] : n[1];
  return most > n[2] ? most : n[2];
}

/* What to do, in a sentence. */
static void print_advice(const plan_request *r, const hw_plan_round *rounds, size_t count, size_t pool) {
  const size_t installed = rounds[count - 1].installed;
  size_t settled = count, asked = 0;
  while (settled > 1 && rounds[settled - 2].installed == installed) {
    settled--;
  }
  for (size_t i = 0; i < count; i++) {
    asked = most_required(&rounds[i]) > asked ? most_required(&rounds[i]) : asked;
  }
  if (asked > pool) {
    printf(asked > 100000 ? "\nThe pool of %zu sensors is too small: more than a hundred thousand were asked for"
                          : "\nThe pool of %zu sensors is too small: up to %zu were asked for",
           pool, asked);
  } else {
    printf("\nInstall %zu sensors: ", installed);
    if (installed == r->first && settled == 1) {
      printf("the first %zu were enough in all %zu rounds", installed, count);
    } else if (settled < count) {
      printf("no round after number %zu of %zu asked for more", settled, count);
    } else {
      printf("the last of %zu rounds asked for them, and another might ask for more", count);
    }
  }
  printf(", for %g %% intervals no longer than %g g, %g m, %g s.\n", 100 * r->level, r->accept.mass_g,
         r->accept.location_m, r->accept.time.value);
}

static void print_rounds(const plan_request *r, const hw_plan_round *rounds, size_t count, size_t pool,
                         const size_t direct[3], bool has_direct) {
  printf(
      "In every round each installed sensor identifies the source alone; so many would do by mass, place and "
      "time.\n\n");
  printf("round    mass   place    time  installed\n");
  for (size_t i = 0; i < count; i++) {
    printf("%5zu %7zu %7zu %7zu %10zu\n", i + 1, rounds[i].required[0], rounds[i].required[1], rounds[i].required[2],
           rounds[i].installed);
  }
  if (has_direct) {
    const size_t most = direct[0] > direct[1] ? direct[0] : direct[1];
    printf("\nWith these spreads known beforehand: %zu by mass, %zu by place, %zu by time, so %zu.\n", direct[0],
           direct[1], direct[2], most > direct[2] ? most : direct[2]);
  }
  print_advice(r, rounds, count, pool);
}

static void print_rounds_json(const plan_request *r, const hw_river *river, const hw_plan_round *rounds, size_t count,
                              size_t pool, const size_t direct[3], bool has_direct) {
  printf("{\"schema\": \"headwater.plan/1\", \"river\": ");
  cli_print_json_text(river->name);
  printf(", \"seed\": %llu, \"level\": %.9g, \"accept\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g},\n",
         (unsigned long long)r->seed, r->level, r->accept.mass_g, r->accept.location_m, r->accept.time.value);
  printf(" \"first\": %zu, \"pool\": %zu, \"install\": %zu, \"direct\": ", r->first, pool, rounds[count - 1].installed);
  if (has_direct) {
    printf("{\"mass\": %zu, \"place\": %zu, \"time\": %zu},\n", direct[0], direct[1], direct[2]);
  } else {
    printf("null,\n");
  }
  printf(" \"rounds\": [");
  for (size_t i = 0; i < count; i++) {
    printf("%s\n  {\"mass\": %zu, \"place\": %zu, \"time\": %zu, \"installed\": %zu}", i ? "," : "",
           rounds[i].required[0], rounds[i].required[1], rounds[i].required[2], rounds[i].installed);
  }
  printf("\n ]}\n");
}

static int count_sensors(identifier *id, hw_plan_identify source, size_t round_count, size_t pool) {
  const plan_request *r = id->request;
  const hw_plan_settings settings = {.accepted = {r->accept.mass_g, r->accept.location_m, r->accept.time.value},
                                     .level = r->level,
                                     .rounds = round_count,
                                     .first = r->first < pool ? r->first : pool,
                                     .pool = pool};
  hw_plan_round *rounds = calloc(round_count, sizeof *rounds);
  hw_status status = rounds ? hw_plan_sequence(&settings, source, id, rounds) : HW_ENOMEM;
  int code;
  if (status != HW_OK) {
    code = cli_fail(cli_exit_code(status), "%s: %s", id->fault[0] ? r->identifications : "plan",
                    id->fault[0] ? id->fault : hw_status_text(status));
  } else {
    size_t direct[3] = {0};
    const hw_source spread = {r->spread.mass_g, r->spread.location_m, r->spread.time.value};
    const bool has_direct = r->spread.given && hw_plan_direct(&settings, &spread, direct) == HW_OK;
    if (strcmp(r->format, "json") == 0) {
      print_rounds_json(r, id->river, rounds, round_count, pool, direct, has_direct);
    } else {
      print_rounds(r, rounds, round_count, pool, direct, has_direct);
    }
    code = cli_finish(EXIT_DONE);
  }
  free(rounds);
  return code;
}

/* The truth to simulate about: --source, or the centre of the box. */
static bool set_truth(const cli_session *session, identifier *id) {
  const hw_source *lo = &session->river.search.lo, *hi = &session->river.search.hi;
  id->truth = (hw_source){0.5 * (lo->mass_g + hi->mass_g), 0.5 * (lo->location_m + hi->location_m),
                          0.5 * (lo->time_s + hi->time_s)};
  return !id->request->source.given ||
         cli_resolve_source(&session->river, session->river_path, &id->request->source, &id->truth);
}

/* Sites for the whole pool, any first few of them spread over the stretch (the golden-ratio sequence). */
static bool lay_sites(const cli_session *session, identifier *id, double *sites_m) {
  double from_m, to_m;
  plan_stretch(session, id->request, &from_m, &to_m);
  from_m = fmax(from_m, id->truth.location_m); /* only sites below the release can see it */
  for (size_t i = 0; i < id->request->pool; i++) {
    const double share = fmod(0.5 + 0.6180339887498949 * (double)i, 1);
    sites_m[i] = from_m + (to_m - from_m) * (0.05 + 0.95 * share);
  }
  id->sites_m = sites_m;
  return to_m > from_m;
}

static int simulate_sensors(const cli_session *session, identifier *id, size_t rounds) {
  const bool unknown = session->river.hydraulics.dispersion_m2_s.certainty == HW_UNKNOWN;
  id->method = cli_method(id->request->method);
  if (!id->method) {
    return EXIT_USAGE;
  }
  const hw_status status = unknown ? HW_OK : hw_transport_create(&session->river, NULL, &id->transport);
  if (status != HW_OK) {
    return cli_explain_create(status, id->method, session);
  }
  double *sites_m = calloc(id->request->pool, sizeof *sites_m);
  if (!sites_m) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  int code = lay_sites(session, id, sites_m)
                 ? count_sensors(id, unknown ? draw_from_outlook : identify, rounds, id->request->pool)
                 : cli_fail(EXIT_USAGE, "no site below the release, expected --sites that reach further downstream");
  free(sites_m);
  return code;
}

/* Algorithm 4 on identifications that were read. */
static int count_from_file(identifier *id) {
  const plan_request *r = id->request;
  int code = plan_table_read(r->identifications, &id->table);
  if (code >= 0) {
    return code;
  }
  const size_t pool = r->pool ? r->pool : id->table.sensors;
  const size_t rounds = r->readings ? (r->readings + r->round_length - 1) / r->round_length : id->table.rounds;
  if (pool < 2) {
    return cli_fail(EXIT_INPUT, "%s: identifications by %zu sensor, expected two or more", r->identifications, pool);
  }
  return count_sensors(id, look_up, rounds, pool);
}

int plan_how_many(const cli_session *session, const plan_request *request) {
  identifier id = {.request = request, .river = &session->river};
  const size_t rounds = (request->readings + request->round_length - 1) / request->round_length;
  int code;
  if (!set_truth(session, &id)) {
    return EXIT_USAGE;
  }
  if (request->identifications) {
    code = count_from_file(&id);
  } else if (request->spread.given) {
    code = count_sensors(&id, draw, rounds, request->pool);
  } else {
    code = cli_require_steady_river(session, "plan without --place");
    code = code < 0 ? simulate_sensors(session, &id, rounds) : code;
  }
  plan_table_free(&id.table);
  hw_transport_free(id.transport);
  return code;
}

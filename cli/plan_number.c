/* plan, first half: how many sensors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/plan.h"

/* Where single-sensor identifications come from: drawn, read, or worked out from simulated readings. */
typedef struct {
  const plan_request *request;
  const hw_river *river;
  hw_source truth;
  /* Simulated readings. */
  hw_transport *transport;
  const hw_method *method;
  const double *sites_m;
  /* Read from a file: round-major, NAN where the file has none. */
  hw_source *table;
  size_t table_rounds, table_sensors;
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
  const hw_source *found =
      round < id->table_rounds && sensor < id->table_sensors ? &id->table[round * id->table_sensors + sensor] : NULL;
  if (!found || isnan(found->mass_g)) {
    snprintf(id->fault, sizeof id->fault, "no identification of round %zu by sensor %zu, expected one", round + 1,
             sensor + 1);
    return HW_EINPUT;
  }
  *out = *found;
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

/* One line of the file: round,sensor,mass_g,location_m,time_s. */
static bool parse_line(const char *line, double field[5]) {
  char copy[256], *rest = NULL;
  size_t count = 0;
  const size_t length = strlen(line);
  if (length >= sizeof copy) {
    return false;
  }
  memcpy(copy, line, length + 1);
  for (char *part = strtok_r(copy, ",\r\n", &rest); part; part = strtok_r(NULL, ",\r\n", &rest)) {
    if (count == 5 || !cli_number(part, &field[count])) {
      return false;
    }
    count++;
  }
  return count == 5;
}

static int load_table(identifier *id, size_t rounds) {
  const char *path = id->request->identifications;
  FILE *file = fopen(path, "r");
  if (!file) {
    return cli_fail(EXIT_MACHINE, "%s: cannot be opened, expected a file that can be read", path);
  }
  id->table_rounds = rounds;
  id->table_sensors = id->request->pool;
  id->table = malloc(rounds * id->table_sensors * sizeof *id->table);
  if (!id->table) {
    fclose(file);
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  for (size_t i = 0; i < rounds * id->table_sensors; i++) {
    id->table[i] = (hw_source){NAN, NAN, NAN};
  }
  int code = -1;
  char line[512];
  for (size_t number = 1; code < 0 && fgets(line, sizeof line, file); number++) {
    double f[5];
    if (line[0] == '#' || line[0] == '\n' || strncmp(line, "round,", 6) == 0) {
      continue;
    }
    if (!parse_line(line, f)) {
      code = cli_fail(EXIT_INPUT, "%s:%zu: found '%.*s', expected round,sensor,mass_g,location_m,time_s", path, number,
                      (int)strcspn(line, "\r\n"), line);
    } else if (f[0] >= 1 && f[0] <= (double)rounds && f[1] >= 1 && f[1] <= (double)id->table_sensors) {
      id->table[((size_t)f[0] - 1) * id->table_sensors + (size_t)f[1] - 1] = (hw_source){f[2], f[3], f[4]};
    } else {
      code = cli_fail(EXIT_INPUT, "%s:%zu: round %g, sensor %g, expected rounds 1 to %zu and sensors 1 to %zu", path,
                      number, f[0], f[1], rounds, id->table_sensors);
    }
  }
  fclose(file);
  return code;
}

static void print_rounds(const plan_request *r, const hw_plan_round *rounds, size_t count, const size_t direct[3],
                         bool has_direct) {
  size_t settled = count;
  while (settled > 1 && rounds[settled - 2].installed == rounds[count - 1].installed) {
    settled--;
  }
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
  printf("\nInstall %zu sensors: reached in round %zu of %zu, for %g %% intervals no longer than %g g, %g m, %g s%s.\n",
         rounds[count - 1].installed, settled, count, 100 * r->level, r->accept.mass_g, r->accept.location_m,
         r->accept.time.value, rounds[count - 1].installed == r->pool ? "; the pool is used up" : "");
}

static void print_rounds_json(const plan_request *r, const hw_river *river, const hw_plan_round *rounds, size_t count,
                              const size_t direct[3], bool has_direct) {
  printf("{\"schema\": \"headwater.plan/1\", \"river\": ");
  cli_print_json_text(river->name);
  printf(", \"seed\": %llu, \"level\": %.9g, \"accept\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g},\n",
         (unsigned long long)r->seed, r->level, r->accept.mass_g, r->accept.location_m, r->accept.time.value);
  printf(" \"first\": %zu, \"pool\": %zu, \"install\": %zu, \"direct\": ", r->first, r->pool,
         rounds[count - 1].installed);
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

static int count_sensors(identifier *id, hw_plan_identify source, size_t round_count) {
  const plan_request *r = id->request;
  const hw_plan_settings settings = {.accepted = {r->accept.mass_g, r->accept.location_m, r->accept.time.value},
                                     .level = r->level,
                                     .rounds = round_count,
                                     .first = r->first,
                                     .pool = r->pool};
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
      print_rounds_json(r, id->river, rounds, round_count, direct, has_direct);
    } else {
      print_rounds(r, rounds, round_count, direct, has_direct);
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

static int simulate_sensors(const cli_session *session, identifier *id, size_t rounds) {
  id->method = cli_method(id->request->method);
  if (!id->method) {
    return EXIT_USAGE;
  }
  const hw_status status = hw_transport_create(&session->river, NULL, &id->transport);
  if (status != HW_OK) {
    return cli_explain_create(status, id->method, session);
  }
  double from_m, to_m, *sites_m = calloc(id->request->pool, sizeof *sites_m);
  if (!sites_m) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  plan_stretch(session, id->request, &from_m, &to_m);
  from_m = fmax(from_m, id->truth.location_m); /* only sites below the release can see it */
  for (size_t i = 0; i < id->request->pool; i++) {
    /* The golden-ratio sequence: any first few of the pool are spread over the whole stretch. */
    const double share = fmod(0.5 + 0.6180339887498949 * (double)i, 1);
    sites_m[i] = from_m + (to_m - from_m) * (0.05 + 0.95 * share);
  }
  id->sites_m = sites_m;
  const int code = count_sensors(id, identify, rounds);
  free(sites_m);
  return code;
}

int plan_how_many(const cli_session *session, const plan_request *request) {
  identifier id = {.request = request, .river = &session->river};
  const size_t rounds = (request->readings + request->round_length - 1) / request->round_length;
  int code;
  if (!set_truth(session, &id)) {
    return EXIT_USAGE;
  }
  if (request->identifications) {
    code = load_table(&id, rounds);
    code = code < 0 ? count_sensors(&id, look_up, rounds) : code;
  } else if (request->spread.given) {
    code = count_sensors(&id, draw, rounds);
  } else {
    code = simulate_sensors(session, &id, rounds);
  }
  free(id.table);
  hw_transport_free(id.transport);
  return code;
}

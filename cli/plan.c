/* plan: how many sensors a river needs, and where. */
#include "cli/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The paper's settings (section 5.2): 200 g, 500 m, 200 minutes. */
static const double default_accept[3] = {200, 500, 200 * 60.0};

void plan_stretch(const cli_session *session, const plan_request *request, double *from_m, double *to_m) {
  const hw_river *river = &session->river;
  if (request->sites.given) {
    *from_m = request->sites.from_m;
    *to_m = request->sites.to_m;
    return;
  }
  *from_m = river->search.lo.location_m;
  *to_m = river->sensors[0].location_m;
  for (size_t i = 0; i < river->sensor_count; i++) {
    *to_m = fmax(*to_m, river->sensors[i].location_m);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    *to_m = fmax(*to_m, river->intakes[i].location_m);
  }
}

/* As many as a river file may have sensors; what is kept of every release at every site takes 200 bytes. */
enum { MOST_SENSORS = 10000, MOST_READINGS = 1000000, MOST_LOOKS = 10000000 };

static int check_count(const char *option, size_t count, size_t most) {
  return count <= most ? -1 : cli_fail(EXIT_USAGE, "--%s %zu, expected at most %zu", option, count, most);
}

/* Numbers that no machine would come to the end of. */
static int check_counts(const plan_request *r) {
  const size_t sites = r->sites.given ? r->sites.count : r->pool;
  int code = check_count("readings", r->readings, MOST_READINGS);
  code = code < 0 ? check_count("round", r->round_length, MOST_READINGS) : code;
  code = code < 0 ? check_count("pool", r->pool, MOST_SENSORS) : code;
  return code < 0 && r->place ? check_count("sources", r->sources, MOST_LOOKS / (sites ? sites : 1)) : code;
}

/* Options that contradict each other. */
static int check_request(const plan_request *r) {
  const int code = check_counts(r);
  if (code >= 0) {
    return code;
  }
  if (r->level >= 1) {
    return cli_fail(EXIT_USAGE, "--level '%g', expected a number between 0 and 1", r->level);
  }
  if (r->first < 2 || (r->first > r->pool && !r->identifications)) {
    return cli_fail(EXIT_USAGE, "--first %zu, expected 2 to the pool's %zu", r->first, r->pool);
  }
  if (!(r->accept.mass_g > 0 && r->accept.location_m > 0 && r->accept.time.value > 0) || r->accept.time.calendar) {
    return cli_fail(EXIT_USAGE, "--accept, expected three positive lengths: MASS_G,LENGTH_M,SECONDS");
  }
  if (r->spread.given &&
      (!(r->spread.mass_g >= 0 && r->spread.location_m >= 0 && r->spread.time.value >= 0) || r->spread.time.calendar)) {
    return cli_fail(EXIT_USAGE, "--spread, expected three standard deviations: MASS_G,LENGTH_M,SECONDS");
  }
  if (r->sites.given && (r->sites.count < 2 || r->sites.count > MOST_SENSORS || !(r->sites.to_m > r->sites.from_m))) {
    return cli_fail(EXIT_USAGE,
                    "--sites, expected FROM_M,TO_M,COUNT from upstream to downstream with a count of 2 to %d",
                    MOST_SENSORS);
  }
  if (r->beside && !r->place) {
    return cli_fail(EXIT_USAGE, "--beside without --place, expected --place N");
  }
  if (r->spread.given && r->identifications) {
    return cli_fail(EXIT_USAGE, "both --spread and --identifications given, expected one of them");
  }
  return -1;
}

/* A river written as one branch is that river: its plan is the same. */
static int where(cli_session *session, const plan_request *r) {
  const hw_river written = session->river;
  hw_river line;
  if (written.branch_count != 1 || hw_river_lay_line(&written, &line) != HW_OK) {
    return plan_where(session, r);
  }
  session->river = line;
  const int code = plan_where(session, r);
  session->river = written;
  hw_river_free(&line);
  return code;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", NULL};
  plan_request r = {.accept = {.mass_g = default_accept[0], .location_m = default_accept[1]},
                    .level = HW_DEFAULT_LEVEL,
                    .round_length = 10,
                    .first = 3,
                    .method = "atgd",
                    .sources = 200,
                    .every_s = 300,
                    .seed = 1,
                    .format = "text"};
  r.accept.time.value = default_accept[2];
  const cli_option options[] = {
      {"accept", OPTION_SOURCE, &r.accept, "G,M,S", "interval lengths to reach; default 200,500,12000", NULL},
      {"level", OPTION_POSITIVE, &r.level, "P", "confidence of the intervals; default " CLI_TEXT(HW_DEFAULT_LEVEL),
       NULL},
      {"readings", OPTION_COUNT, &r.readings, "N",
       "readings of each sensor over all rounds; default 1000, or the file's", NULL},
      {"round", OPTION_COUNT, &r.round_length, "N", "readings in a round; default 10", NULL},
      {"first", OPTION_COUNT, &r.first, "N", "sensors installed before the first round; default 3", NULL},
      {"pool", OPTION_COUNT, &r.pool, "N", "most sensors, or sites to choose from; default 50, or the file's", NULL},
      {"source", OPTION_SOURCE, &r.source, "M,L,T", "release to simulate; default the centre of the search box", NULL},
      {"method", OPTION_TEXT, &r.method, "NAME", "method that identifies from each sensor alone; default atgd", NULL},
      {"spread", OPTION_SOURCE, &r.spread, "G,M,S",
       "draw identifications about the source with these standard deviations instead", NULL},
      {"identifications", OPTION_TEXT, &r.identifications, "FILE",
       "read identifications instead, as `identify --per-sensor` prints them", NULL},
      {"place", OPTION_COUNT, &r.place, "N", "choose the best sites for N sensors instead", NULL},
      {"sites", OPTION_SPAN, &r.sites, "FROM,TO,COUNT",
       "the sites to choose from, metres; default --pool of them from the search box to the last sensor or intake",
       NULL},
      {"beside", OPTION_FLAG, &r.beside, NULL,
       "for --place: add sites to the river file's sensors instead of replacing them", NULL},
      {"every", OPTION_POSITIVE, &r.every_s, "S", "seconds between readings, for --place; default 300", NULL},
      {"sources", OPTION_COUNT, &r.sources, "N", "releases drawn from the search box, for --place; default 200", NULL},
      {"seed", OPTION_SEED, &r.seed, "N", "seed of the random numbers; default 1", NULL},
      {"format", OPTION_CHOICE, &r.format, "text|json", "format of the answer; default text", cli_formats},
  };
  const cli_usage usage = {
      &cli_verb_plan,
      "RIVER [options]",
      "How many sensors to install, by the paper's sequential procedure (Algorithm 4): every installed\n"
      "sensor identifies the source alone in each round, and sensors are added until Student's interval\n"
      "across them is as short as --accept asks. A round repeats the spill with new noise; where the\n"
      "dispersion is unknown, sensors differ as much as rivers do.\n"
      "With --place N it chooses sites for N sensors by the expected information (Cramer-Rao) about sources\n"
      "drawn from the search box, greedily (at least 63 % of the best gain) and exactly where the pool is\n"
      "small, and compares them with even spacing. With branches the sites lie above and below every\n"
      "confluence and along the branches, and knowing the branch counts too. Where the dispersion is\n"
      "unknown, the criterion is how well the source's place would be known.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[1];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (!r.identifications) { /* a file of identifications has its own number of rounds and sensors */
    r.readings = r.readings ? r.readings : 1000;
    r.pool = r.pool ? r.pool : 50;
  }
  if (code < 0) {
    code = check_request(&r);
  }
  if (code < 0) {
    cli_session session;
    code = cli_session_open(&session, operands[0], NULL);
    if (code < 0) {
      code = r.place ? where(&session, &r) : plan_how_many(&session, &r);
    }
    cli_session_close(&session);
  }
  return code;
}

const cli_verb cli_verb_plan = {"plan", "how many sensors to install, and where", run};

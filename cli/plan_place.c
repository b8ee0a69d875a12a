/* plan --place, second half: where to put the sensors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/plan.h"

static const struct {
  hw_place_kind kind;
  const char *name;
} kinds[] = {{HW_PLACE_EVEN, "even"}, {HW_PLACE_GREEDY, "greedy"}, {HW_PLACE_EXACT, "exact"}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct {
  bool possible; /* exact is not for large pools */
  size_t *chosen;
  hw_place_score score;
} layout;

static int choose(const hw_placement *placement, size_t count, layout layouts[KINDS]) {
  for (size_t k = 0; k < KINDS; k++) {
    layouts[k].chosen = calloc(count, sizeof *layouts[k].chosen);
    if (!layouts[k].chosen) {
      cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
      return EXIT_MACHINE;
    }
    const hw_status status = hw_placement_choose(placement, kinds[k].kind, count, layouts[k].chosen);
    if (status != HW_OK && status != HW_EUNSUPPORTED) {
      cli_fail(cli_exit_code(status), "plan: %s", hw_status_text(status));
      return EXIT_MACHINE;
    }
    layouts[k].possible = status == HW_OK;
    if (layouts[k].possible) {
      hw_placement_score(placement, layouts[k].chosen, count, &layouts[k].score);
    }
  }
  return -1;
}

/* "ash mouth", "stem above ash", "stem below ash", "stem -31.20 km": a site as people call it. */
static void print_place(const hw_river *river, const plan_sites *sites, size_t i) {
  const double x_m = sites->at_m[i];
  if (!river->branch_count) {
    printf("%.0f", x_m);
    return;
  }
  const hw_branch *own = &river->branches[sites->branch[i]];
  if (own->joins != HW_OUTLET && x_m >= -2 * PLAN_ASIDE_M) {
    printf("%s mouth", own->id);
    return;
  }
  for (size_t b = 0; b < river->branch_count; b++) {
    const hw_branch *t = &river->branches[b];
    if (t->joins == sites->branch[i] && fabs(t->joins_at_m - x_m) <= 2 * PLAN_ASIDE_M) {
      printf("%s %s %s", own->id, x_m < t->joins_at_m ? "above" : "below", t->id);
      return;
    }
  }
  printf("%s km %.2f", own->id, x_m / 1000);
}

static void print_places(const hw_river *river, const plan_sites *sites, const size_t *chosen, size_t count,
                         const char *separator) {
  for (size_t i = 0; chosen && i < count; i++) {
    printf("%s", i ? separator : "");
    print_place(river, sites, chosen[i]);
  }
}

static const layout *best_of(const layout layouts[KINDS]) {
  const layout *best = &layouts[0];
  for (size_t k = 1; k < KINDS; k++) {
    best = layouts[k].possible && layouts[k].score.gain_nats >= best->score.gain_nats ? &layouts[k] : best;
  }
  return best;
}

static void print_network(const hw_river *river, const plan_request *r, const plan_sites *sites,
                          const layout layouts[KINDS]) {
  printf("%zu sensor%s%s among %zu sites of %zu branches; %zu sources drawn from the search, a reading every %g s\n\n",
         r->place, r->place == 1 ? "" : "s", r->beside ? " beside those there are" : "", sites->count,
         river->branch_count, r->sources, r->every_s);
  printf("layout   gain, nats  expected sd:  mass, g  place, m  time, s   seen  branch told  sites\n");
  for (size_t k = 0; k < KINDS; k++) {
    const hw_place_score *s = &layouts[k].score;
    if (!layouts[k].possible) {
      printf("%-8s more than 200,000 choices: not tried\n", kinds[k].name);
      continue;
    }
    printf("%-8s %10.3f %22.1f %9.0f %8.0f %5.0f %% %10.0f %%  ", kinds[k].name, s->gain_nats, s->sd.mass_g,
           s->sd.location_m, s->sd.time_s, 100 * s->seen, 100 * s->branch);
    print_places(river, sites, layouts[k].chosen, r->place, ", ");
    printf("\n");
  }
  const layout *best = best_of(layouts);
  printf("\nPlace %zu sensor%s at ", r->place, r->place > 1 ? "s" : "");
  print_places(river, sites, best->chosen, r->place, "; ");
  printf(
      ": %.0f %% of the releases are seen, and the branch told of %.0f %%, against %.0f %% and %.0f %% spread "
      "evenly.\n",
      100 * best->score.seen, 100 * best->score.branch, 100 * layouts[0].score.seen, 100 * layouts[0].score.branch);
}

static void print_text(const hw_river *river, const plan_request *r, const plan_sites *sites,
                       const layout layouts[KINDS]) {
  const double *sites_m = sites->at_m;
  const size_t site_count = sites->count;
  printf(
      "%zu sensors among %zu sites from %.0f m to %.0f m; %zu sources drawn from the search box, a reading every %g "
      "s\n\n",
      r->place, site_count, sites_m[0], sites_m[site_count - 1], r->sources, r->every_s);
  if (river->hydraulics.dispersion_m2_s.certainty == HW_UNKNOWN) {
    printf("The dispersion is unknown: what limits the answer is how much rivers differ. The gain is the place's.\n\n");
  }
  printf("layout   gain, nats  expected sd:  mass, g  place, m  time, s   seen  sites, m\n");
  for (size_t k = 0; k < KINDS; k++) {
    const hw_place_score *s = &layouts[k].score;
    if (!layouts[k].possible) {
      printf("%-8s more than 200,000 choices: not tried\n", kinds[k].name);
      continue;
    }
    printf("%-8s %10.3f %22.1f %9.0f %8.0f %5.0f %%  ", kinds[k].name, s->gain_nats, s->sd.mass_g, s->sd.location_m,
           s->sd.time_s, 100 * s->seen);
    print_places(river, sites, layouts[k].chosen, r->place, " ");
    printf("\n");
  }
  const layout *best = best_of(layouts);
  printf("\nPlace %zu sensor%s at ", r->place, r->place > 1 ? "s" : "");
  print_places(river, sites, best->chosen, r->place, ", ");
  printf(" m: the expected sd of the source's place is %.0f m, against %.0f m with even spacing.\n",
         best->score.sd.location_m, layouts[0].score.sd.location_m);
}

/* On a river without branches a list of metres. */
static void print_sites_json(const hw_river *river, const plan_sites *sites, const size_t *chosen, size_t count,
                             double told) {
  if (!river->branch_count) {
    printf("\"sites_m\": [");
    print_places(river, sites, chosen, count, ", ");
    printf("]}");
    return;
  }
  printf("\"branch_told\": %.9g, \"sites\": [", told);
  for (size_t i = 0; i < count; i++) {
    printf("%s{\"branch\": ", i ? ", " : "");
    cli_print_json_text(river->branches[sites->branch[chosen[i]]].id);
    printf(", \"location_m\": %.9g, \"name\": \"", sites->at_m[chosen[i]]);
    print_place(river, sites, chosen[i]);
    printf("\"}");
  }
  printf("]}");
}

static void print_json(const plan_request *r, const hw_river *river, const plan_sites *sites,
                       const layout layouts[KINDS]) {
  printf("{\"schema\": \"headwater.placement/1\", \"river\": ");
  cli_print_json_text(river->name);
  printf(", \"seed\": %llu, \"sensors\": %zu, \"sites\": %zu, \"sources\": %zu, \"every_s\": %.9g,\n \"layouts\": [",
         (unsigned long long)r->seed, r->place, sites->count, r->sources, r->every_s);
  bool first = true;
  for (size_t k = 0; k < KINDS; k++) {
    const hw_place_score *s = &layouts[k].score;
    if (!layouts[k].possible) {
      continue;
    }
    printf(
        "%s\n  {\"layout\": \"%s\", \"gain_nats\": %.9g, \"sd\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": "
        "%.9g}, \"seen\": %.9g, ",
        first ? "" : ",", kinds[k].name, s->gain_nats, s->sd.mass_g, s->sd.location_m, s->sd.time_s, s->seen);
    print_sites_json(river, sites, layouts[k].chosen, r->place, s->branch);
    first = false;
  }
  printf("\n ]}\n");
}

int plan_where(const cli_session *session, const plan_request *r) {
  plan_sites sites = {0};
  int code = plan_sites_lay_out(session, r, &sites);
  if (code < 0 && r->place > sites.count) {
    code = cli_fail(EXIT_USAGE, "--place %zu, expected no more than the %zu sites", r->place, sites.count);
  }
  const hw_place_settings settings = {.sites_m = sites.at_m,
                                      .branches = sites.branch,
                                      .site_count = sites.count,
                                      .sensor = session->river.sensors[0],
                                      .beside = r->beside,
                                      .every_s = r->every_s,
                                      .sources = r->sources,
                                      .seed = r->seed};
  hw_placement *placement = NULL;
  layout layouts[KINDS] = {{0}};
  const hw_status status = code < 0 ? hw_placement_create(&session->river, &settings, &placement) : HW_OK;
  if (status == HW_EHYDRAULICS) {
    code =
        cli_fail(EXIT_INPUT,
                 "%s: the dispersion is given but not velocity and area, expected all three, or the dispersion unknown",
                 session->river_path);
  } else if (status == HW_EUNSUPPORTED) {
    code = cli_fail(EXIT_INPUT, "%s: branches with the dispersion unknown, expected one river, or its dispersion",
                    session->river_path);
  } else if (status != HW_OK) {
    code = cli_fail(cli_exit_code(status), "plan: %s", hw_status_text(status));
  }
  if (code < 0 && (code = choose(placement, r->place, layouts)) < 0) {
    if (strcmp(r->format, "json") == 0) {
      print_json(r, &session->river, &sites, layouts);
    } else if (session->river.branch_count) {
      print_network(&session->river, r, &sites, layouts);
    } else {
      print_text(&session->river, r, &sites, layouts);
    }
    code = cli_finish(EXIT_DONE);
  }
  for (size_t k = 0; k < KINDS; k++) {
    free(layouts[k].chosen);
  }
  hw_placement_free(placement);
  free(sites.at_m);
  free(sites.branch);
  return code;
}

/* plan --place, second half: where to put the sensors. */
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

static void print_places(const double *sites_m, const size_t *chosen, size_t count, const char *separator) {
  for (size_t i = 0; chosen && i < count; i++) {
    printf("%s%.0f", i ? separator : "", sites_m[chosen[i]]);
  }
}

static void print_text(const plan_request *r, const double *sites_m, size_t site_count, const layout layouts[KINDS]) {
  printf(
      "%zu sensors among %zu sites from %.0f m to %.0f m; %zu sources drawn from the search box, a reading every %g "
      "s\n\n",
      r->place, site_count, sites_m[0], sites_m[site_count - 1], r->sources, r->every_s);
  printf("layout   gain, nats  expected sd:  mass, g  place, m  time, s   seen  sites, m\n");
  for (size_t k = 0; k < KINDS; k++) {
    const hw_place_score *s = &layouts[k].score;
    if (!layouts[k].possible) {
      printf("%-8s more than 200,000 choices: not tried\n", kinds[k].name);
      continue;
    }
    printf("%-8s %10.3f %22.1f %9.0f %8.0f %5.0f %%  ", kinds[k].name, s->gain_nats, s->sd.mass_g, s->sd.location_m,
           s->sd.time_s, 100 * s->seen);
    print_places(sites_m, layouts[k].chosen, r->place, " ");
    printf("\n");
  }
  const layout *best = layouts[KINDS - 1].possible ? &layouts[KINDS - 1] : &layouts[KINDS - 2];
  printf("\nPlace %zu sensor%s at ", r->place, r->place > 1 ? "s" : "");
  print_places(sites_m, best->chosen, r->place, ", ");
  printf(" m: the expected sd of the source's place is %.0f m, against %.0f m with even spacing.\n",
         best->score.sd.location_m, layouts[0].score.sd.location_m);
}

static void print_json(const plan_request *r, const hw_river *river, const double *sites_m, size_t site_count,
                       const layout layouts[KINDS]) {
  printf("{\"schema\": \"headwater.placement/1\", \"river\": ");
  cli_print_json_text(river->name);
  printf(", \"seed\": %llu, \"sensors\": %zu, \"sites\": %zu, \"sources\": %zu, \"every_s\": %.9g,\n \"layouts\": [",
         (unsigned long long)r->seed, r->place, site_count, r->sources, r->every_s);
  bool first = true;
  for (size_t k = 0; k < KINDS; k++) {
    const hw_place_score *s = &layouts[k].score;
    if (!layouts[k].possible) {
      continue;
    }
    printf(
        "%s\n  {\"layout\": \"%s\", \"gain_nats\": %.9g, \"sd\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": "
        "%.9g}, \"seen\": %.9g, \"sites_m\": [",
        first ? "" : ",", kinds[k].name, s->gain_nats, s->sd.mass_g, s->sd.location_m, s->sd.time_s, s->seen);
    print_places(sites_m, layouts[k].chosen, r->place, ", ");
    printf("]}");
    first = false;
  }
  printf("\n ]}\n");
}

/* The sites to choose from, the last at the stretch's end; to be freed. */
static double *lay_out_sites(const cli_session *session, const plan_request *r, size_t count) {
  double from_m, to_m, *sites_m = calloc(count, sizeof *sites_m);
  plan_stretch(session, r, &from_m, &to_m);
  for (size_t i = 0; sites_m && i < count; i++) {
    sites_m[i] = from_m + (to_m - from_m) * ((double)i + 1) / (double)count;
  }
  return sites_m;
}

int plan_where(const cli_session *session, const plan_request *r) {
  const size_t site_count = r->sites.given ? r->sites.count : r->pool;
  double *sites_m = lay_out_sites(session, r, site_count);
  if (!sites_m) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  if (r->place > site_count) {
    free(sites_m);
    return cli_fail(EXIT_USAGE, "--place %zu, expected no more than the %zu sites", r->place, site_count);
  }
  const hw_place_settings settings = {.sites_m = sites_m,
                                      .site_count = site_count,
                                      .sensor = session->river.sensors[0],
                                      .every_s = r->every_s,
                                      .sources = r->sources,
                                      .seed = r->seed};
  hw_placement *placement = NULL;
  layout layouts[KINDS] = {{0}};
  const hw_status status = hw_placement_create(&session->river, &settings, &placement);
  int code = -1;
  if (status == HW_EHYDRAULICS) {
    code = cli_fail(
        EXIT_INPUT,
        "%s: velocity, dispersion or area unknown, expected all of them to say where; without --place, how many",
        session->river_path);
  } else if (status != HW_OK) {
    code = cli_fail(cli_exit_code(status), "plan: %s", hw_status_text(status));
  } else if ((code = choose(placement, r->place, layouts)) < 0) {
    if (strcmp(r->format, "json") == 0) {
      print_json(r, &session->river, sites_m, site_count, layouts);
    } else {
      print_text(r, sites_m, site_count, layouts);
    }
    code = cli_finish(EXIT_DONE);
  }
  for (size_t k = 0; k < KINDS; k++) {
    free(layouts[k].chosen);
  }
  hw_placement_free(placement);
  free(sites_m);
  return code;
}

/* make choose-population: how far do rivers stray? Degrees of freedom chosen on held-out rivers.
 *
 *   choose_population DATA_FOLDER
 *
 * Every variant's constants are learned without the river it is judged on. Scores are -ln of the density that the
 * answer gives the true place (smaller is better), a release counting once in each of three tables: every single
 * sensor, every subset of several sensors, and seven stages of the first pulse with a velocity given. The last lines
 * choose for each river by the scores of all others, and say how the choices score: what choosing on these rivers
 * flatters cannot flatter that.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "river_study.h"
#include "river_subsets.h"

enum { MOST_RELEASES = 64, VELOCITIES = 3, TABLES = 3 };

/* Degrees of freedom of what strays from river to river. */
typedef struct {
  double law, reach, velocity;
} variant;

static const variant variants[] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {2, 3, 1}, {2, 2, 2}, {3, 2, 2}, {4, 2, 2},
                                   {2, 1, 2}, {3, 1, 2}, {2, 3, 2}, {3, 3, 2}, {3, 2, 3}, {2, 2, 4}};

enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

static double log_score[VARIANT_COUNT][MOST_RELEASES];

static void print_variant(const variant *v) {
  printf("leads %.0f, reach %.0f, velocity %.0f", v->law, v->reach, v->velocity);
}

/* Every release by constants without its river; a row of figures, and a score a release. */
static void judge(const release *releases, size_t count, const variant *v, double *score) {
  hw__population chosen = hw__population_shipped, without = chosen;
  calibration all[TABLES] = {{0}};
  chosen.law_freedom = v->law;
  chosen.reach_freedom = v->reach;
  chosen.velocity_freedom = v->velocity;
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || !release_same_river(releases[i].name, releases[i - 1].name)) {
      population_learn(releases, count, releases[i].name, &chosen, &without);
    }
    calibration one[TABLES] = {{0}};
    double cover[STUDY_STAGES], ratio[STUDY_STAGES];
    study_subsets(&releases[i], &without, &one[0], &one[1]);
    study_stages(&releases[i], &without, VELOCITIES, cover, ratio, &one[2]);
    score[i] = 0;
    for (int k = 0; k < TABLES; k++) {
      if (one[k].weight > 0) {
        score[i] += one[k].log_score / one[k].weight;
        calibration_join(&all[k], &one[k]);
      }
    }
  }
  print_variant(v);
  for (int k = 0; k < TABLES; k++) {
    const double w = all[k].weight;
    printf("  %.3f %.3f %.3f %.3f %.3f", all[k].cover50 / w, all[k].cover80 / w, all[k].cover90 / w, all[k].crps / w,
           all[k].log_score / w);
  }
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += score[i] / (double)count;
  }
  printf("  %.3f\n", sum);
  fflush(stdout);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const release *)a)->name, ((const release *)b)->name);
}

static size_t best_without(const release *releases, size_t count, const char *river) {
  size_t best = 0;
  double least = INFINITY;
  for (size_t v = 0; v < VARIANT_COUNT; v++) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
      sum += river && release_same_river(releases[i].name, river) ? 0 : log_score[v][i];
    }
    if (sum < least) {
      least = sum;
      best = v;
    }
  }
  return best;
}

int main(int argc, char **argv) {
  release *releases = NULL;
  const size_t count = releases_load(argc > 1 ? argv[1] : "../shared/data/rivers", &releases);
  if (count == 0 || count > MOST_RELEASES) {
    printf("choose-population: skipped, no releases found\n");
    releases_free(releases, count);
    return 0;
  }
  qsort(releases, count, sizeof *releases, by_name); /* rivers together */
  printf("%zu variants, each with three times: in 50, in 80, in 90, CRPS, -ln p; last the sum of -ln p\n",
         (size_t)VARIANT_COUNT);
  for (size_t v = 0; v < VARIANT_COUNT; v++) {
    judge(releases, count, &variants[v], log_score[v]);
  }
  double nested = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t v = best_without(releases, count, releases[i].name);
    nested += log_score[v][i] / (double)count;
    if (i == 0 || !release_same_river(releases[i].name, releases[i - 1].name)) {
      printf("without %.3s: ", releases[i].name);
      print_variant(&variants[v]);
      printf("\n");
    }
  }
  printf("chosen without each river %.3f; chosen on all: ", nested);
  print_variant(&variants[best_without(releases, count, NULL)]);
  printf("\n");
  releases_free(releases, count);
  return 0;
}

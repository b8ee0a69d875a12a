/* The table of the study: what one sample changed, and differences of pairs with their intervals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advise/trial.h"

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Mean of the differences with its 95 % interval. Returned: the lower end. */
static double print_paired(const char *what, const double *difference, size_t n) {
  enum { TIMES = 2000 };
  double means[TIMES], mean = 0;
  hw_rng rng;
  hw_rng_seed(&rng, 1, 0xB007);
  for (size_t i = 0; i < n; i++) {
    mean += difference[i] / (double)n;
  }
  for (size_t k = 0; k < TIMES; k++) {
    means[k] = 0;
    for (size_t i = 0; i < n; i++) {
      means[k] += difference[(size_t)(hw_rng_uniform(&rng) * (double)n)] / (double)n;
    }
  }
  qsort(means, TIMES, sizeof *means, ascending);
  printf("    %-34s %+.3f  [%+.3f, %+.3f]\n", what, mean, means[TIMES / 40], means[TIMES - 1 - TIMES / 40]);
  return means[TIMES / 40];
}

/* Returned: false when the advised sample is shown to be worse than one at random. */
static bool print_question(const results *all, int q) {
  static double of[3 + RULES][CASES_MOST];
  size_t n = 0, best = 0;
  double sum[RULES] = {0};
  for (size_t i = 0; i < all->count; i++) {
    const outcome *o = &all->list[i];
    if (isfinite(o->before[q])) {
      of[0][n] = o->advised[q] - o->before[q];
      of[1][n] = o->random[q] - o->before[q];
      for (size_t r = 0; r < RULES; r++) {
        of[2 + r][n] = o->fixed[r][q] - o->before[q];
        sum[r] += of[2 + r][n];
      }
      n++;
    }
  }
  if (n == 0) {
    return true;
  }
  for (size_t r = 1; r < RULES; r++) {
    best = sum[r] < sum[best] ? r : best;
  }
  printf("  %s, %zu cases, change by one sample and 95 %% interval\n",
         q == 0 ? "90 % region, log2 of its length" : "entropy over the candidates, bits", n);
  print_paired("advised", of[0], n);
  print_paired("fixed, the best rule in hindsight", of[2 + best], n);
  print_paired("random", of[1], n);
  for (size_t i = 0; i < n; i++) {
    of[2 + RULES][i] = of[0][i] - of[2 + best][i];
    of[1][i] = of[0][i] - of[1][i];
  }
  print_paired("advised less fixed, paired", of[2 + RULES], n);
  return !(print_paired("advised less random, paired", of[1], n) > 0);
}

bool print_results(const char *name, const results *all) {
  size_t covered = 0, covers = 0, fixed = 0;
  double seconds[CASES_MOST];
  for (size_t i = 0; i < all->count; i++) {
    covered += all->list[i].covered;
    covers += all->list[i].covers;
    for (size_t r = 0; r < RULES; r++) {
      fixed += all->list[i].fixed_covers[r];
    }
    seconds[i] = all->list[i].seconds;
  }
  printf("%s: %zu cases, %zu with nothing to advise on\n", name, all->count, all->refused);
  if (all->count == 0) {
    return true;
  }
  bool fine = print_question(all, 0);
  fine = print_question(all, 1) && fine;
  qsort(seconds, all->count, sizeof *seconds, ascending);
  printf(
      "  the 90 %% region covers the truth in %zu of %zu before, %zu after the advised sample, %.1f after fixed ones\n",
      covered, all->count, covers, (double)fixed / RULES);
  printf("  an advice takes %.0f ms of processor (median), %.0f ms at most\n", 1e3 * seconds[all->count / 2],
         1e3 * seconds[all->count - 1]);
  return fine;
}

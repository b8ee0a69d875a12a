/* Do the learners reach the best fit there is?
 *
 * 100 random rivers, sensors and sources (scenario.h), 5 % noise, the window holding all readings. After the
 * last reading each learner's loss is set against the optimum in hindsight (regret.h: mass profiled out,
 * place and time searched on a grid, polished). A learner has arrived when its loss is within 1 % of that.
 *
 *   study_online [SCENARIOS]     fewer for a quick look; exit 1 when a target is missed
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "headwater/regret.h"
#include "scenario.h"

typedef struct {
  const char *label;
  const char *method;
  hw_options options;
  double target; /* share of scenarios; 0: shown as it is */
  size_t arrived;
  double seconds;
  double *ratios; /* loss over the optimum's, per scenario */
  double *place;  /* location error in shares of the distance to the first sensor */
} contender;

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof *values, by_value);
  return n ? values[n / 2] : 0;
}

static double hindsight_loss(const scenario *s) {
  const hw_regret_options options = {.readings = s->count, .window = s->count};
  hw_regret *regret = NULL;
  hw_source best;
  double sum = 0;
  if (hw_regret_create(&s->river, &options, &regret) != HW_OK) {
    abort();
  }
  for (size_t i = 0; i < s->count; i++) {
    if (hw_regret_add(regret, &s->readings[i], NULL, NULL) != HW_OK) {
      abort();
    }
  }
  if (hw_regret_hindsight(regret, &best, &sum) != HW_OK) {
    abort();
  }
  hw_regret_free(regret);
  return sum / (double)s->count;
}

static void compete(contender *c, const scenario *s, size_t index, double optimum) {
  const hw_problem problem = {.river = &s->river};
  hw_options options = c->options;
  options.window = options.window ? options.window : s->count;
  hw_run *run = NULL;
  hw_estimate e;
  if (hw_run_create(hw_method_find(c->method), &problem, &options, &run) != HW_OK) {
    abort();
  }
  const double start = seconds_now();
  for (size_t i = 0; i < s->count; i++) {
    hw_run_observe(run, &s->readings[i]);
  }
  c->seconds += seconds_now() - start;
  if (hw_run_estimate(run, &e) != HW_OK) {
    abort();
  }
  c->ratios[index] = e.loss / optimum;
  c->place[index] =
      fabs(e.source.location_m - s->truth.location_m) / (s->river.sensors[0].location_m - s->truth.location_m);
  c->arrived += c->ratios[index] <= 1.01;
  hw_run_free(run);
}

int main(int argc, char **argv) {
  const long asked = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  if (asked < 1 || asked > 100000) {
    fprintf(stderr, "study_online: expected a number of scenarios from 1 to 100000\n");
    return 2;
  }
  const size_t n = (size_t)asked;
  contender contenders[] = {
      {.label = "ATGD", .method = "atgd", .target = 0.98},
      {.label = "ATGD, no moment start", .method = "atgd", .options = {.no_moment_start = true}},
      {.label = "APTGD", .method = "aptgd"},
      {.label = "MTGD, 10 paths", .method = "mtgd", .options = {.starts = 10}, .target = 0.90},
      {.label = "MTGD 10, no moment start", .method = "mtgd", .options = {.starts = 10, .no_moment_start = true}},
      {.label = "MPTGD, 10 paths", .method = "mptgd", .options = {.starts = 10}, .target = 0.98},
      {.label = "TGD", .method = "tgd"},
      {.label = "TGD as printed", .method = "tgd", .options = {.variant = HW_PRINTED, .window = 1}},
      {.label = "ATGD as printed", .method = "atgd", .options = {.variant = HW_PRINTED, .window = 1}},
      {.label = "ATGD as printed, all", .method = "atgd", .options = {.variant = HW_PRINTED}},
  };
  const size_t count = sizeof contenders / sizeof contenders[0];
  for (size_t k = 0; k < count; k++) {
    contenders[k].ratios = calloc(n, sizeof(double));
    contenders[k].place = calloc(n, sizeof(double));
  }
  for (size_t i = 0; i < n; i++) {
    scenario s;
    scenario_make(20261, i, 0.05, &s);
    const double optimum = hindsight_loss(&s);
    for (size_t k = 0; k < count; k++) {
      compete(&contenders[k], &s, i, optimum);
    }
    scenario_free(&s);
    if (isatty(STDERR_FILENO)) {
      fprintf(stderr, "\r%zu of %zu scenarios%s", i + 1, n, i + 1 == n ? "\n" : "");
    }
  }
  int missed = 0;
  double least = HUGE_VAL;
  printf("%zu random rivers, sensors and sources; 5 %% noise; seed 20261\n", n);
  printf("%-26s %9s %9s %14s %14s %10s\n", "learner", "arrived", "target", "median loss", "median place", "ms per");
  printf("%-26s %9s %9s %14s %14s %10s\n", "", "of all", "", "over optimum", "error", "spill");
  for (size_t k = 0; k < count; k++) {
    contender *c = &contenders[k];
    const double share = (double)c->arrived / (double)n;
    char target[16] = "";
    if (c->target > 0) {
      snprintf(target, sizeof target, "%.0f %%", 100 * c->target);
      missed += share < c->target;
    }
    printf("%-26s %7.0f %% %9s %14.4f %12.2f %% %10.2f%s\n", c->label, 100 * share, target, median(c->ratios, n),
           100 * median(c->place, n), 1e3 * c->seconds / (double)n, c->target > share ? "   MISSED" : "");
    least = fmin(least, c->ratios[0]); /* sorted by now */
    free(c->ratios);
    free(c->place);
  }
  if (least < 0.999) {
    printf("the optimum in hindsight was missed: a learner found %.4f of its loss\n", least);
    missed++;
  }
  return missed ? 1 : 0;
}

/* Where a sensor's pulse begins, and on what it stands. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "field/trace.h"

/* The mean of the first n readings with non-detects among them: a normal of which only that it lies below the limit is
 * known, by expectation and maximisation from the plain mean on. Half the limit for each, or the mean of the others
 * alone, would be too high where the background lies deep below the limit. */
static double censored_mean(const hw__trace *trace, size_t n, double mean, double least_sd) {
  double sd = fmax(least_sd, 0.5 * mean);
  for (int round = 0; round < 60 && sd > 0; round++) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
      if (!trace->entry[i].below_limit) {
        sum += trace->clean[i];
        squares += (trace->clean[i] - mean) * (trace->clean[i] - mean);
        continue;
      }
      const double z = fmax((trace->entry[i].value_g_m3 - mean) / sd, -30);
      const double r = exp(-0.5 * z * z) / (sqrt(2 * M_PI) * 0.5 * erfc(-z / M_SQRT2));
      sum += mean - sd * r;
      squares += sd * sd * fmax(1 - z * r, 0);
    }
    mean = fmax(sum / (double)n, 0);
    sd = fmax(sqrt(squares / (double)n), least_sd);
  }
  return mean;
}

/* A run of readings from the first on that stay within four standard deviations of their own mean. */
typedef struct {
  size_t count;
  double mean, sd;
  bool undercut; /* later readings, or its own, lie below it: it was the pulse, or part of one */
} quiet_run;

/* How much readings of the first n differ from the ones after them, as a standard deviation: noise does, a pulse or a
 * drift hardly. By the size that nine of ten steps stay within: loggers repeat themselves, so the middle one may be 0,
 * and a few large ones do not matter. 0 for too few to tell. */
static double step_sd(const hw__trace *trace, size_t n, double *room) {
  enum { FEWEST = 8 };
  if (n < FEWEST) {
    return 0;
  }
  for (size_t i = 0; i + 1 < n; i++) {
    room[i] = fabs(trace->clean[i + 1] - trace->clean[i]);
  }
  gsl_sort(room, 1, n - 1);
  return room[(n - 1) * 9 / 10] / (1.645 * M_SQRT2);
}

/* least: standard deviation below which nothing is taken for a difference; of_level: more of it, as a share of the
 * level. */
static quiet_run find_run(const hw__trace *trace, const hw_sensor *sensor, double least, double of_level) {
  const bool given = !isnan(sensor->background_g_m3);
  quiet_run run = {.count = given ? 0 : 1, .mean = given ? sensor->background_g_m3 : trace->clean[0]};
  double squares = 0;
  run.sd = fmax(least, of_level * fabs(run.mean));
  while (run.count < trace->count && !(trace->clean[run.count] > run.mean + 4 * run.sd)) {
    const double off = trace->clean[run.count] - run.mean;
    run.count++;
    if (!given) {
      run.mean += off / (double)run.count;
    }
    squares += off * (trace->clean[run.count - 1] - run.mean);
    const double scatter = run.count >= 4 ? sqrt(fmax(squares, 0) / (double)(run.count - 1)) : 0;
    run.sd = fmax(fmax(least, of_level * fabs(run.mean)), scatter);
  }
  return run;
}

typedef struct {
  double lo, hi;
} extremes;

/* Of many readings the lowest few may be a probe out of the water. */
static extremes extremes_of(const hw__trace *trace, double *room) {
  const size_t n = trace->count;
  memcpy(room, trace->clean, n * sizeof *room);
  gsl_sort(room, 1, n);
  return (extremes){room[n / 32], room[n - 1]};
}

/* Do other readings lie so far below the run that it was the pulse, or a part of one? A probe that drifts or is taken
 * out of the water at the end goes below its background too, but not by half of what it rose, nor to nothing. */
static bool is_undercut(const quiet_run *run, extremes all, double sd) {
  const double below = run->mean - all.lo;
  return below > 4 * sd && (below > 0.5 * (all.hi - run->mean) || all.lo < 0.1 * run->mean);
}

/* The noise to hold a fall against. Where every reading of the run lies below the one before, its scatter is the fall;
 * otherwise it is noise, which many readings tell by their steps. */
static double noise_of_run(const hw__trace *trace, const quiet_run *run, double level, double steps) {
  bool down = true;
  for (size_t i = 0; i + 1 < run->count; i++) {
    down = down && trace->clean[i + 1] <= trace->clean[i];
  }
  return fmax(level, down ? 0 : steps > 0 ? steps : run->sd);
}

/* Readings up to the onset tell the background. A share of the level is a noise to begin with; where the run itself
 * shows that it reads more steadily than that (conductivity: a small signal on a large background), its own steps
 * are. */
static quiet_run find_quiet(const hw__trace *trace, const hw_sensor *sensor, double declared) {
  const bool given = !isnan(sensor->background_g_m3);
  double room[HW__TRACE_SIZE];
  const extremes all = extremes_of(trace, room);
  quiet_run run = find_run(trace, sensor, declared, sensor->noise_relative);
  const double steps = step_sd(trace, run.count, room);
  const double level = fmax(declared, sensor->noise_relative * fabs(run.mean));
  run.undercut = !given && is_undercut(&run, all, noise_of_run(trace, &run, level, steps));
  if (steps > 0 && steps < level && !run.undercut) {
    quiet_run steady = find_run(trace, sensor, fmax(declared, steps), 0);
    steady.undercut = !given && is_undercut(&steady, all, steady.sd);
    if (steady.count >= 8 && !steady.undercut) {
      return steady;
    }
  }
  return run;
}

void hw__trace_learn_background(hw__trace *trace, const hw_sensor *sensor) {
  const bool given = !isnan(sensor->background_g_m3);
  const double declared = fmax(sensor->noise_absolute_g_m3, sensor->detection_limit_g_m3 / 2);
  quiet_run run = find_quiet(trace, sensor, declared);
  const size_t n = run.count;
  /* Two readings make no background; nor does a run that other readings undercut: it was the pulse. */
  const bool trusted = given || (!run.undercut && (n >= 3 || n == trace->count));
  bool censored = false;
  for (size_t i = 0; i < n; i++) {
    censored = censored || trace->entry[i].below_limit;
  }
  if (censored && !given) {
    run.mean = censored_mean(trace, n, run.mean, declared);
  }
  trace->background_g_m3 = trusted ? run.mean : 0;
  trace->floor_g_m3 = trusted ? run.sd : declared;
  trace->onset = trusted ? n : 0;
  while (!trusted && trace->onset < n && !(trace->clean[trace->onset] > 4 * declared)) {
    trace->onset++;
  }
}

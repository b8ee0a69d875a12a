#include "posterior/memory.h"

#include <math.h>

/* Readings between which next to nothing is left of a memory, and fewest pairs that tell one. */
enum { APART = 10, FEWEST = 24 };
static const double most_memory = 0.9;
/* A spike is no noise: differences of more standard deviations do not count. */
static const double spike = 6;
/* Below this share of the stated variance the noise is smaller than stated, and the intervals are wide enough. */
static const double as_stated = 0.4;
/* Standard deviations by which neighbours must be more alike than those of white noise are by chance. */
static const double chance = 2.5;

typedef struct {
  double squares, pairs;
} differences;

static void add(differences *d, const hw__span *a, const hw__span *b, double variance) {
  const double off = b->value_g_m3 - a->value_g_m3;
  if (off * off < spike * spike * variance) {
    d->squares += 0.5 * off * off;
    d->pairs++;
  }
}

double hw__memory_of(const hw__series *series, const hw__curve *pulse, double level_g_m3, double variance) {
  differences near = {0, 0}, far = {0, 0};
  const double sd = sqrt(variance);
  size_t quiet[HW__SERIES_SIZE], n = 0;
  for (size_t i = 0; i < series->count; i++) {
    const hw__span *s = &series->span[i];
    if (s->side == HW__MEASURED && !(s->count > 1) && hw__curve_at(pulse, s->time_s, 0) < 0.3 * sd &&
        fabs(s->value_g_m3 - level_g_m3) < spike * sd) {
      quiet[n++] = i;
    }
  }
  for (size_t i = 0; i + 1 < n; i++) {
    if (quiet[i + 1] == quiet[i] + 1) {
      add(&near, &series->span[quiet[i]], &series->span[quiet[i + 1]], variance);
    }
    if (i + APART < n) {
      add(&far, &series->span[quiet[i]], &series->span[quiet[i + APART]], variance);
    }
  }
  if (!(near.pairs >= FEWEST) || !(far.pairs >= FEWEST) || !(far.squares > as_stated * variance * far.pairs)) {
    return 0;
  }
  const double whole = fmin(far.squares / far.pairs, variance), kept = 1 - near.squares / near.pairs / whole;
  return kept > chance * sqrt(3 / near.pairs) ? fmin(kept, most_memory) : 0;
}

/* Sequential sensor installation: the paper's Algorithm 4 and its direct counterpart. See plan.h.
 *
 * Where we deviate from the printed text, and why: it compares the half length of the interval with the
 * accepted full length (a factor 2 is missing), its inner search can cycle (m -> m' -> m), its last round
 * is empty when T divides N, and it uninstalls sensors that were paid for. HW_PRINTED keeps the factor and
 * the uninstalling, HW_CORRECTED the uninstalling only; a cycle is left there too, because a text that never ends
 * cannot be run.
 *
 * Check values (level 0.9): spreads 50 g, 500 m, 300 s against 200 g, 500 m, 12000 s need 3, 13 and 2 sensors directly.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/plan.h"
#include "loss/box.h"
#include "online/across.h"

enum { DIMENSIONS = 3, MOST_SENSORS = 1000000 };

static double component(const hw_source *s, size_t dimension) {
  return dimension == 0 ? s->mass_g : dimension == 1 ? s->location_m : s->time_s;
}

/* Two-sided Student value for this confidence. */
static double student(double level, size_t count) {
  return gsl_cdf_tdist_Pinv(0.5 + 0.5 * level, (double)(count - 1));
}

static hw__across gather(const hw_source *identified, size_t count) {
  hw__across across = {0};
  for (size_t i = 0; i < count; i++) {
    hw__across_add(&across, &identified[i]);
  }
  return across;
}

static double spread_of(const hw__across *across, size_t dimension) {
  return sqrt(across->square[dimension] / (double)(across->count - 1));
}

hw_status hw_plan_interval(const hw_source *identified, size_t count, double level, hw_source *mean, hw_box *interval,
                           hw_source *spread) {
  if (count < 2 || !(level > 0 && level < 1)) {
    return HW_EDOMAIN;
  }
  const hw__across across = gather(identified, count);
  hw__across_interval(&across, level, interval);
  *mean = hw__source_from(across.mean);
  if (spread) {
    *spread = (hw_source){spread_of(&across, 0), spread_of(&across, 1), spread_of(&across, 2)};
  }
  return HW_OK;
}

static hw_status fill_defaults(const hw_plan_settings *given, hw_plan_settings *s) {
  *s = *given;
  s->level = s->level != 0 ? s->level : HW_DEFAULT_LEVEL;
  s->rounds = s->rounds ? s->rounds : 100;
  s->first = s->first ? s->first : 3;
  s->pool = s->pool ? s->pool : 50;
  bool ok = s->level > 0 && s->level < 1 && s->first >= 2 && s->first <= s->pool && s->pool <= MOST_SENSORS;
  for (size_t d = 0; d < DIMENSIONS; d++) {
    const double length = component(&s->accepted, d);
    ok = ok && length > 0 && isfinite(length);
  }
  return ok ? HW_OK : HW_EDOMAIN;
}

/* One sequence at work. */
typedef struct {
  hw_plan_settings settings;
  double *student;       /* two-sided values for 2 .. pool sensors; quantiles are dear */
  hw_source *identified; /* of the round, by sensor */
  bool *met;             /* scratch of the inner search */
  size_t installed;
} sequence;

/* Sensors that would make the interval short enough, were the spread and degrees of freedom those of m. */
static size_t needed(const sequence *q, size_t m, size_t dimension) {
  const double factor = q->settings.variant == HW_PRINTED ? 1 : 2;
  const hw__across across = gather(q->identified, m);
  const double root =
      factor * q->student[m] * spread_of(&across, dimension) / component(&q->settings.accepted, dimension);
  const double count = ceil(root * root);
  return count < 2 ? 2 : count < MOST_SENSORS ? (size_t)count : MOST_SENSORS;
}

/* The inner search from n sensors. */
static size_t search_from(sequence *q, size_t n, size_t dimension, size_t *cycles) {
  memset(q->met, 0, (q->installed + 1) * sizeof *q->met);
  for (size_t m = n;;) {
    q->met[m] = true;
    const size_t hat = needed(q, m, dimension);
    const size_t next = (m + hat + 1) / 2;
    if (next > q->installed || hat == m) {
      return next;
    }
    if (q->met[next]) {
      *cycles += next != m;
      return next;
    }
    m = next;
  }
}

static size_t required_in(sequence *q, size_t dimension, size_t *cycles) {
  size_t least = MOST_SENSORS;
  for (size_t n = 2; n <= q->installed; n++) {
    const size_t found = search_from(q, n, dimension, cycles);
    least = found < least ? found : least;
  }
  return least;
}

static hw_status run_rounds(sequence *q, hw_plan_identify identify, void *context, hw_plan_round *rounds) {
  for (size_t m = 2; m <= q->settings.pool; m++) {
    q->student[m] = student(q->settings.level, m);
  }
  q->installed = q->settings.first;
  for (size_t round = 0; round < q->settings.rounds; round++) {
    for (size_t i = 0; i < q->installed; i++) {
      const hw_status status = identify(context, round, i, &q->identified[i]);
      if (status != HW_OK) {
        return status;
      }
    }
    hw_plan_round *r = &rounds[round];
    size_t next = q->settings.variant == HW_RESOLVED ? q->installed : 2;
    for (size_t d = 0; d < DIMENSIONS; d++) {
      r->required[d] = required_in(q, d, &r->cycles);
      next = r->required[d] > next ? r->required[d] : next;
    }
    q->installed = next < q->settings.pool ? next : q->settings.pool;
    r->installed = q->installed;
  }
  return HW_OK;
}

hw_status hw_plan_sequence(const hw_plan_settings *settings, hw_plan_identify identify, void *context,
                           hw_plan_round *out) {
  sequence q;
  hw_status status = fill_defaults(settings, &q.settings);
  if (status != HW_OK) {
    return status;
  }
  q.student = calloc(q.settings.pool + 1, sizeof *q.student);
  q.identified = calloc(q.settings.pool, sizeof *q.identified);
  q.met = calloc(q.settings.pool + 1, sizeof *q.met);
  hw_plan_round *rounds = calloc(q.settings.rounds, sizeof *rounds);
  status = q.student && q.identified && q.met && rounds ? run_rounds(&q, identify, context, rounds) : HW_ENOMEM;
  if (status == HW_OK) {
    memcpy(out, rounds, q.settings.rounds * sizeof *rounds);
  }
  free(q.student);
  free(q.identified);
  free(q.met);
  free(rounds);
  return status;
}

hw_status hw_plan_direct(const hw_plan_settings *settings, const hw_source *spread, size_t required[3]) {
  hw_plan_settings s;
  hw_status status = fill_defaults(settings, &s);
  if (status != HW_OK) {
    return status;
  }
  for (size_t d = 0; d < DIMENSIONS; d++) {
    if (!(component(spread, d) >= 0) || !isfinite(component(spread, d))) {
      return HW_EDOMAIN;
    }
  }
  for (size_t d = 0; d < DIMENSIONS; d++) {
    /* The length falls with every sensor, so the count can be bisected. */
    size_t lo = 1, hi = MOST_SENSORS;
    const double ratio = component(&s.accepted, d) / component(spread, d);
    if (2 * student(s.level, hi) / sqrt((double)hi) > ratio) {
      required[d] = 0;
      continue;
    }
    while (hi - lo > 1) {
      const size_t middle = lo + (hi - lo) / 2;
      const bool enough = 2 * student(s.level, middle) / sqrt((double)middle) <= ratio;
      lo = enough ? lo : middle;
      hi = enough ? middle : hi;
    }
    required[d] = hi;
  }
  return HW_OK;
}

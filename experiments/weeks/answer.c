#include "weeks/answer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "headwater/headwater.h"

enum { MOST_DRAWS = 1 << 17, MOST_SECONDS = 60 }; /* of one week: a study must end */

/* Processor time: other work on the machine does not count. */
static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void unpack(const hw_source *s, double out[UNKNOWNS]) {
  out[MASS] = s->mass_g;
  out[PLACE] = s->location_m;
  out[TIME] = s->time_s;
}

static bool fail(const char *what, const char *why) {
  fprintf(stderr, "study_weeks: %s: %s\n", what, why);
  return false;
}

/* Every reading of the file, in the file's order. */
static bool observe(const week *w, const hw_river *river, hw_run *run, answer *out) {
  hw_reader *reader = NULL;
  hw_error error;
  if (hw_reader_memory(w->readings, strlen(w->readings), "readings", river, &reader, &error) != HW_OK) {
    return fail("readings", error.text);
  }
  hw_reading reading;
  hw_status status = HW_EEND;
  while (out->total_s < MOST_SECONDS && (status = hw_reader_next(reader, &reading, &error)) == HW_OK) {
    const double begin_s = now_s();
    const hw_status taken = hw_run_observe(run, &reading);
    const double took_s = now_s() - begin_s;
    out->longest_s = fmax(out->longest_s, took_s);
    out->total_s += took_s;
    if (taken != HW_OK) {
      fail("a reading", hw_status_text(taken));
    }
  }
  hw_reader_free(reader);
  if (out->total_s >= MOST_SECONDS) {
    return fail("readings", "they take more than a minute");
  }
  return status == HW_EEND || fail("readings", error.text);
}

typedef struct {
  double value, weight;
} draw;

static int by_value(const void *a, const void *b) {
  const double x = ((const draw *)a)->value, y = ((const draw *)b)->value;
  return (x > y) - (x < y);
}

/* Share of the draws below x; half of those that are equal. */
static double share_below(const draw *d, size_t n, double x) {
  double below = 0, total = 0;
  for (size_t i = 0; i < n; i++) {
    below += d[i].value < x ? d[i].weight : d[i].value == x ? d[i].weight / 2 : 0;
    total += d[i].weight;
  }
  return below / total;
}

/* Where the truth stands among the draws, and whether the interval is theirs. */
static void rank_truth(const hw_source *truth, const hw_sample *samples, size_t n, draw *d, answer *out) {
  double at[UNKNOWNS];
  unpack(truth, at);
  for (size_t u = 0; u < UNKNOWNS; u++) {
    for (size_t i = 0; i < n; i++) {
      double value[UNKNOWNS];
      unpack(&samples[i].source, value);
      d[i] = (draw){value[u], samples[i].weight};
    }
    qsort(d, n, sizeof *d, by_value);
    out->rank[u] = share_below(d, n, at[u]);
    out->apart = out->apart || fabs(share_below(d, n, out->lo[u]) - 0.05) > 0.02 ||
                 fabs(share_below(d, n, out->hi[u]) - 0.95) > 0.02;
  }
}

static bool take_draws(const week *w, hw_run *run, answer *out) {
  hw_sample *samples = malloc(MOST_DRAWS * sizeof *samples);
  draw *d = malloc(MOST_DRAWS * sizeof *d);
  size_t n = 0;
  const hw_status status = samples && d ? hw_run_samples(run, samples, MOST_DRAWS, &n) : HW_ENOMEM;
  if (status == HW_OK) {
    rank_truth(&w->truth, samples, n, d, out);
  }
  free(samples);
  free(d);
  return status == HW_OK || fail("samples", hw_status_text(status));
}

/* s1 is not named by a sentence about s12. */
static bool mentions(const char *sentence, const char *id) {
  for (const char *at = sentence; (at = strstr(at, id)); at++) {
    const int after = at[strlen(id)];
    if ((at == sentence || !isalnum(at[-1])) && !isdigit(after)) {
      return true;
    }
  }
  return false;
}

/* An engine that does not judge itself still says what is provisional. */
static trust trust_of(const hw_estimate *e) {
  if (!e->has_source || !e->has_interval || e->trust == HW_TRUST_NONE) {
    return TRUST_NONE;
  }
  return e->provisional || e->trust == HW_TRUST_PROVISIONAL ? TRUST_PROVISIONAL : TRUST_FULL;
}

static void read_estimate(const week *w, const hw_estimate *e, answer *out) {
  out->trust = trust_of(e);
  unpack(&e->interval.lo, out->lo);
  unpack(&e->interval.hi, out->hi);
  out->spill = e->spill;
  out->state_bytes = (double)e->cost.state_bytes;
  for (size_t i = 0; i < e->suspicion_count; i++) {
    const ptrdiff_t k = e->suspicions[i].candidate;
    out->accused[k < 0 ? SETTING_CANDIDATES : k] = e->suspicions[i].probability;
  }
  out->named = w->faulty[0] && e->trust_reason && mentions(e->trust_reason, w->faulty);
  for (size_t i = 0; i < e->warning_count; i++) {
    out->named = out->named || (w->faulty[0] && mentions(e->warnings[i], w->faulty));
  }
}

static bool ask(const week *w, hw_run *run, answer *out) {
  hw_estimate estimate;
  const double begin_s = now_s();
  const hw_status status = hw_run_estimate(run, &estimate);
  out->answer_s = now_s() - begin_s;
  out->total_s += out->answer_s;
  if (status != HW_OK) {
    return fail("estimate", hw_status_text(status));
  }
  read_estimate(w, &estimate, out);
  return true;
}

bool answer_week(const week *w, answer *out) {
  *out = (answer){.trust = TRUST_NONE};
  hw_river river;
  hw_error error;
  if (hw_river_parse("river", w->river, strlen(w->river), NULL, NULL, &river, &error) != HW_OK) {
    return fail("river", error.text);
  }
  const hw_problem problem = {.river = &river};
  const hw_options options = {.threads = 1};
  hw_run *run = NULL;
  const hw_status status = hw_run_create(hw_method_find("posterior"), &problem, &options, &run);
  const bool ok = status == HW_OK ? observe(w, &river, run, out) && ask(w, run, out) &&
                                        (out->trust == TRUST_NONE || take_draws(w, run, out))
                                  : fail("posterior", hw_status_text(status));
  hw_run_free(run);
  hw_river_free(&river);
  return ok;
}

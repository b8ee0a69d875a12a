#include "weeks/answer.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "headwater/headwater.h"

enum { MOST_DRAWS = 1 << 17 };

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
  hw_status status;
  while ((status = hw_reader_next(reader, &reading, &error)) == HW_OK) {
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
    const char after = at[strlen(id)];
    if ((at == sentence || at[-1] == ' ') && !(after >= '0' && after <= '9')) {
      return true;
    }
  }
  return false;
}

static trust trust_of(const json_t *result) {
  const char *said = json_string_value(json_object_get(result, "trust"));
  if (said) {
    return strcmp(said, "none") == 0 ? TRUST_NONE : strcmp(said, "full") == 0 ? TRUST_FULL : TRUST_PROVISIONAL;
  }
  return json_is_true(json_object_get(result, "provisional")) ? TRUST_PROVISIONAL : TRUST_FULL;
}

static void read_result(const week *w, const json_t *result, answer *out) {
  static const char *const names[UNKNOWNS] = {[MASS] = "mass_g", [PLACE] = "location_m", [TIME] = "time_s"};
  const json_t *interval = json_object_get(result, "interval");
  out->trust = json_is_object(interval) ? trust_of(result) : TRUST_NONE;
  for (size_t u = 0; u < UNKNOWNS; u++) {
    const json_t *pair = json_object_get(interval, names[u]);
    out->lo[u] = json_is_array(pair) ? json_number_value(json_array_get(pair, 0)) : NAN;
    out->hi[u] = json_is_array(pair) ? json_number_value(json_array_get(pair, 1)) : NAN;
  }
  size_t i;
  const json_t *row;
  json_array_foreach(json_object_get(result, "candidates"), i, row) {
    const char *id = json_string_value(json_object_get(row, "id"));
    const size_t k = id ? (size_t)(id[1] - '1') : WEEK_CANDIDATES;
    out->accused[k] = json_number_value(json_object_get(row, "probability"));
  }
  json_array_foreach(json_object_get(result, "warnings"), i, row) {
    out->named = out->named || (w->faulty[0] && mentions(json_string_value(row), w->faulty));
  }
}

static bool ask(const week *w, const hw_river *river, hw_run *run, answer *out) {
  hw_estimate estimate;
  const double begin_s = now_s();
  const hw_status status = hw_run_estimate(run, &estimate);
  out->answer_s = now_s() - begin_s;
  out->total_s += out->answer_s;
  if (status != HW_OK) {
    return fail("estimate", hw_status_text(status));
  }
  out->state_bytes = (double)estimate.cost.state_bytes;
  const hw_result result = {.river = river, .method = "posterior", .seed = 1, .estimate = &estimate};
  char *text = NULL;
  json_t *json = hw_result_json(&result, true, &text) == HW_OK ? json_loads(text, 0, NULL) : NULL;
  free(text);
  if (!json) {
    return fail("result", "not JSON");
  }
  read_result(w, json, out);
  json_decref(json);
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
  const bool ok = status == HW_OK ? observe(w, &river, run, out) && ask(w, &river, run, out) &&
                                        (out->trust == TRUST_NONE || take_draws(w, run, out))
                                  : fail("posterior", hw_status_text(status));
  hw_run_free(run);
  hw_river_free(&river);
  return ok;
}

#include "weeks/result.h"

#include <inttypes.h>
#include <stdlib.h>

/* All numbers of a result that are doubles, in the order of the line. */
static size_t numbers_of(result *r, double **out) {
  size_t n = 0;
  answer *a = &r->answer;
  out[n++] = &r->distance_m;
  out[n++] = &r->travel_s;
  for (size_t u = 0; u < UNKNOWNS; u++) {
    out[n++] = &r->truth[u];
    out[n++] = &a->lo[u];
    out[n++] = &a->hi[u];
    out[n++] = &a->rank[u];
  }
  for (size_t k = 0; k <= SETTING_CANDIDATES; k++) {
    out[n++] = &a->accused[k];
  }
  out[n++] = &a->longest_s;
  out[n++] = &a->answer_s;
  out[n++] = &a->total_s;
  out[n++] = &a->state_bytes;
  out[n++] = &a->spill;
  return n;
}

void result_write(const result *r, char line[RESULT_LINE]) {
  result copy = *r;
  double *number[64];
  const size_t n = numbers_of(&copy, number);
  const answer *a = &r->answer;
  int at = snprintf(line, RESULT_LINE, "%" PRIu64 " %" PRIx64 " %d %d %d %d %d %d %zu", r->index, r->strata,
                    (int)a->trust, r->fallen, r->failed, a->apart, a->named, r->guilty, r->rows);
  for (size_t i = 0; i < n; i++) {
    at += snprintf(line + at, RESULT_LINE - (size_t)at, " %.10g", *number[i]);
  }
  snprintf(line + at, RESULT_LINE - (size_t)at, "\n");
}

bool result_read(const char *line, result *out) {
  int trusted, fallen, failed, apart, named, used = 0;
  *out = (result){0};
  if (sscanf(line, "%" SCNu64 " %" SCNx64 " %d %d %d %d %d %d %zu%n", &out->index, &out->strata, &trusted, &fallen,
             &failed, &apart, &named, &out->guilty, &out->rows, &used) != 9) {
    return false;
  }
  out->answer.trust = (trust)trusted;
  out->fallen = fallen;
  out->failed = failed;
  out->answer.apart = apart;
  out->answer.named = named;
  double *number[64];
  const size_t n = numbers_of(out, number);
  const char *at = line + used;
  for (size_t i = 0; i < n; i++) {
    char *end;
    *number[i] = strtod(at, &end);
    if (end == at) {
      return false;
    }
    at = end;
  }
  return *at == '\n'; /* a line cut short by a kill has none */
}

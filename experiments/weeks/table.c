#include "weeks/table.h"

#include <math.h>
#include <stdlib.h>

/* In the order of the table. */
static const size_t shown[UNKNOWNS] = {PLACE, TIME, MASS};

typedef struct {
  double weeks, refused, provisional, early, answered, full, far, flat, named, accusing;
  double hold90[UNKNOWNS], hold50[UNKNOWNS];
  double score; /* sum of interval scores of the place, in distances */
  double *width;
} tally;

static bool is_flat(const answer *a) {
  for (size_t u = 0; u < UNKNOWNS; u++) {
    if (!(a->hi[u] > a->lo[u])) {
      return true;
    }
  }
  return false;
}

/* The truth lies more than three widths outside an interval. */
static bool is_far(const result *r) {
  const answer *a = &r->answer;
  for (size_t u = 0; u < UNKNOWNS; u++) {
    const double outside = fmax(a->lo[u] - r->truth[u], r->truth[u] - a->hi[u]);
    if (outside > 3 * (a->hi[u] - a->lo[u])) {
      return true;
    }
  }
  return false;
}

/* Somebody who did not do it is said to have, with more than 80 % and full trust. */
static bool accuses_innocent(const result *r) {
  for (int k = 0; k < SETTING_CANDIDATES; k++) {
    if (k != r->guilty && r->answer.accused[k] > 0.8) {
      return r->answer.trust == TRUST_FULL;
    }
  }
  return false;
}

static void add(tally *t, const result *r) {
  const answer *a = &r->answer;
  t->weeks++;
  t->named += a->named;
  if (a->trust == TRUST_NONE) {
    t->refused++;
    return;
  }
  t->provisional += a->trust == TRUST_PROVISIONAL;
  t->early += a->trust == TRUST_PROVISIONAL && r->fallen;
  t->full += a->trust == TRUST_FULL;
  t->far += a->trust == TRUST_FULL && is_far(r);
  t->flat += is_flat(a);
  t->accusing += accuses_innocent(r);
  for (size_t u = 0; u < UNKNOWNS; u++) {
    t->hold90[u] += r->truth[u] >= a->lo[u] && r->truth[u] <= a->hi[u];
    t->hold50[u] += fabs(a->rank[u] - 0.5) < 0.25;
  }
  const double width = a->hi[PLACE] - a->lo[PLACE];
  const double outside = fmax(fmax(a->lo[PLACE] - r->truth[PLACE], r->truth[PLACE] - a->hi[PLACE]), 0);
  t->score += (width + 20 * outside) / r->distance_m;
  t->width[(size_t)t->answered++] = width / r->distance_m;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof *values, by_size);
  return n ? values[n / 2] : NAN;
}

/* Outside [lo, hi] by more than two standard errors of n weeks. */
static bool is_outside(double share, double n, double lo, double hi) {
  return share < lo - 2 * sqrt(lo * (1 - lo) / n) - 1e-9 || share > hi + 2 * sqrt(hi * (1 - hi) / n) + 1e-9;
}

static size_t print_share(double part, double n, double lo, double hi) {
  if (!(n > 0)) {
    printf("    - ");
    return 0;
  }
  const bool outside = is_outside(part / n, n, lo, hi);
  printf(" %4.0f%c", 100 * part / n, outside ? '*' : ' ');
  return outside;
}

/* What is asked of a kind of stratum, as shares. */
typedef struct {
  double least_refused, most_refused, most_early;
  double hold90[2], hold50[2];
  bool never_far;
} asked;

static const asked asked_of[] = {
    [SOUND] = {0, 0.05, 0, {0.87, 0.94}, {0.44, 0.56}, true},
    [BROKEN] = {0, 0.3, 1, {0.8, 1}, {0, 1}, false},
    [WRONG] = {0, 1, 1, {0.8, 1}, {0, 1}, false},
    [EMPTY] = {0.95, 1, 1, {0, 1}, {0, 1}, false},
};

static bool has_faulty_sensor(stratum s) {
  return stratum_kind_of(s) == BROKEN && s != ALL_BROKEN && s != FAULT_CORRELATED;
}

static size_t print_row(stratum s, tally *t) {
  const asked *a = &asked_of[stratum_kind_of(s)];
  size_t outside = 0;
  printf("%-26s%5.0f ", stratum_name(s), t->weeks);
  outside += print_share(t->refused, t->weeks, a->least_refused, a->most_refused);
  outside += print_share(t->provisional, t->weeks, 0, 1);
  outside += print_share(t->early, t->weeks, 0, a->most_early);
  printf("  ");
  for (size_t i = 0; i < UNKNOWNS; i++) {
    outside += print_share(t->hold90[shown[i]], t->answered, a->hold90[0], a->hold90[1]);
  }
  printf("  ");
  for (size_t i = 0; i < UNKNOWNS; i++) {
    outside += print_share(t->hold50[shown[i]], t->answered, a->hold50[0], a->hold50[1]);
  }
  const bool far = a->never_far && t->far > 0, flat = t->flat > 0;
  if (t->answered > 0) {
    printf("   %6.3f %8.3g", median(t->width, (size_t)t->answered), t->score / t->answered);
  } else {
    printf("   %6s %8s", "-", "-");
  }
  printf(" %5.0f%c %4.0f%c  %4.0f ", t->far, far ? '*' : ' ', t->flat, flat ? '*' : ' ', t->accusing);
  outside += far;
  outside += flat;
  if (has_faulty_sensor(s)) {
    outside += print_share(t->named, t->weeks, 0.8, 1);
  }
  printf("\n");
  return outside;
}

static bool is_kind(const result *r, stratum_kind kind) {
  for (size_t s = 0; s < STRATA; s++) {
    if ((r->strata & stratum_bit((stratum)s)) && stratum_kind_of((stratum)s) == kind) {
      return true;
    }
  }
  return false;
}

/* Outside [lo, hi] by more than three standard errors, which chance does to one figure in 400. */
static bool is_far_outside(double part, double n, double lo, double hi) {
  const double share = part / n;
  return n > 0 && (share < lo - 3 * sqrt(lo * (1 - lo) / n) - 1e-9 || share > hi + 3 * sqrt(hi * (1 - hi) / n) + 1e-9);
}

static size_t check_kind(const result *r, size_t count, stratum_kind kind, double *scratch) {
  const asked *a = &asked_of[kind];
  tally t = {.width = scratch};
  for (size_t i = 0; i < count; i++) {
    if (is_kind(&r[i], kind)) {
      add(&t, &r[i]);
    }
  }
  size_t outside = is_far_outside(t.refused, t.weeks, a->least_refused, a->most_refused);
  for (size_t u = 0; u < UNKNOWNS; u++) {
    outside += is_far_outside(t.hold90[u], t.answered, a->hold90[0], a->hold90[1]);
    outside += is_far_outside(t.hold50[u], t.answered, a->hold50[0], a->hold50[1]);
  }
  outside += a->never_far && t.far > 0.01 * t.weeks;
  outside += t.flat > 0;
  return outside;
}

size_t table_check(const result *r, size_t count) {
  double *scratch = malloc((count + 1) * sizeof *scratch);
  size_t outside = scratch ? 0 : 1;
  for (size_t kind = 0; scratch && kind < sizeof asked_of / sizeof asked_of[0]; kind++) {
    outside += check_kind(r, count, (stratum_kind)kind, scratch);
  }
  free(scratch);
  return outside;
}

static void print_weeks(const char *title, const result *r, size_t count, bool (*which)(const result *)) {
  size_t found = 0;
  for (size_t i = 0; i < count && found < 40; i++) {
    if (!which(&r[i])) {
      continue;
    }
    printf("%s%llu", found++ ? " " : title, (unsigned long long)r[i].index);
  }
  printf("%s", found ? "\n" : "");
}

static bool is_far_in_full(const result *r) {
  return (r->strata & stratum_bit(ALL_SOUND)) && r->answer.trust == TRUST_FULL && is_far(r);
}

static bool is_refused(const result *r) {
  return (r->strata & stratum_bit(ALL_SOUND)) && r->answer.trust == TRUST_NONE;
}

static bool has_failed(const result *r) {
  return r->failed;
}

static bool is_apart(const result *r) {
  return r->answer.apart;
}

static void print_times(const result *r, size_t count, double *scratch) {
  double longest = 0, latest = 0, bytes = 0, total = 0, rows = 0;
  for (size_t i = 0; i < count; i++) {
    longest = fmax(longest, r[i].answer.longest_s);
    latest = fmax(latest, r[i].answer.answer_s);
    bytes = fmax(bytes, r[i].answer.state_bytes);
    total += r[i].answer.total_s;
    rows += (double)r[i].rows;
    scratch[i] = r[i].answer.longest_s;
  }
  const double usual = median(scratch, count);
  for (size_t i = 0; i < count; i++) {
    scratch[i] = r[i].answer.answer_s;
  }
  printf(
      "slowest reading of a week: median %.2f ms, most %.1f ms; answer: median %.2f ms, most %.1f ms; "
      "%.3f ms a reading; state at most %.2f MB\n",
      1e3 * usual, 1e3 * longest, 1e3 * median(scratch, count), 1e3 * latest, 1e3 * total / fmax(rows, 1),
      1e-6 * bytes);
}

size_t table_print(const result *r, size_t count) {
  double *scratch = malloc((count + 1) * sizeof *scratch);
  if (!scratch) {
    return 1;
  }
  printf("%-26s%5s %17s   %16s    %16s\n", "", "", "% of weeks", "90 % coverage", "50 % coverage");
  printf(
      "%-26s%5s  none prov early   place  time  mass   place  time  mass    width    score   far  flat accuse named\n",
      "stratum", "weeks");
  size_t outside = 0;
  for (size_t s = 0; s < STRATA; s++) {
    tally t = {.width = scratch};
    for (size_t i = 0; i < count; i++) {
      if (r[i].strata & stratum_bit((stratum)s)) {
        add(&t, &r[i]);
      }
    }
    outside += t.weeks > 0 ? print_row((stratum)s, &t) : 0;
  }
  print_weeks("far off with full trust: ", r, count, is_far_in_full);
  print_weeks("refused: ", r, count, is_refused);
  print_weeks("no answer at all: ", r, count, has_failed);
  print_weeks("draws and interval disagree: ", r, count, is_apart);
  print_times(r, count, scratch);
  printf("%zu figures outside what is asked (*)\n", outside);
  free(scratch);
  return outside;
}

void table_candidates(const result *r, size_t count) {
  static const double edges[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 1};
  enum { BINS = sizeof edges / sizeof edges[0] - 1 };
  double n[BINS][2] = {{0}}, said[BINS][2] = {{0}}, was[BINS][2] = {{0}};
  for (size_t i = 0; i < count; i++) {
    const bool used = (r[i].strata & stratum_bit(ALL_SOUND)) && r[i].answer.trust != TRUST_NONE;
    for (size_t k = 0; used && k <= SETTING_CANDIDATES; k++) {
      const double p = r[i].answer.accused[k];
      const size_t none = k == SETTING_CANDIDATES;
      size_t bin = 0;
      while (bin + 1 < BINS && p >= edges[bin + 1]) {
        bin++;
      }
      n[bin][none]++;
      said[bin][none] += p;
      was[bin][none] += none ? r[i].guilty < 0 : r[i].guilty == (int)k;
    }
  }
  printf("\nprobability      candidates                  none of these\n");
  printf("               number   mean  true in      number   mean  true in\n");
  for (size_t b = 0; b < BINS; b++) {
    printf("%.2f to %.2f ", edges[b], edges[b + 1]);
    for (size_t none = 0; none < 2; none++) {
      const double m = n[b][none];
      const bool off = m > 0 && fabs(was[b][none] - said[b][none]) / m >
                                    2 * sqrt(fmax(said[b][none] / m * (1 - said[b][none] / m), 1e-4) / m) + 0.02;
      printf("  %7.0f  %5.3f   %5.3f%c   ", m, m > 0 ? said[b][none] / m : 0, m > 0 ? was[b][none] / m : 0,
             off ? '*' : ' ');
    }
    printf("\n");
  }
}

#include "posterior/scales.h"

#include <math.h>

#include "posterior/walk.h"

/* Standard deviations from the other that make a sensor's scale doubtful, more of them the more sensors there are to be
 * far off by chance; and how well gauges and sections are known at best, ln. */
static const double plain = 2, more_each = 0.3, least_sd = 0.03;
/* What is supposed of a pulse's asymmetry where its readings do not tell it, ln. */
static const double skew_sd = 0.8;
/* How well a curve of the equation can be told to pass as the answer has it: in widths, ln variance, ln asymmetry. */
static const double least_off[HW__INSTANT_SIZE] = {[HW__PASSAGE] = 0.05, [HW__LN_VARIANCE] = 0.05, [HW__LN_SKEW] = 0.1};

/* What a sensor's own pulse holds, ln, over what the answer expects there. */
typedef struct {
  size_t station;
  double more, variance;
} scale;

/* The pulse that the draws expect at a station, mean and variance. */
typedef struct {
  double y[HW__PULSE_SIZE], variance[HW__PULSE_SIZE];
} expectation;

/* False where most of them do not pass. */
static bool expect_at(const hw__ade *a, size_t k, expectation *e) {
  double count = 0;
  *e = (expectation){{0}, {0}};
  for (size_t j = 0; j < HW__PICKED; j++) {
    const hw__curve c = hw__sight_curve(&a->spill, &a->released[j], k, &a->sight[j * a->spill.count + k]);
    if (!(c.travel_s > 0)) {
      continue;
    }
    double y[HW__PULSE_SIZE];
    hw__curve_to(&c, y);
    count++;
    for (size_t i = 0; i < HW__PULSE_SIZE; i++) { /* a running mean and sum of squares about it */
      const double off = y[i] - e->y[i];
      e->y[i] += off / count;
      e->variance[i] += off * (y[i] - e->y[i]);
    }
  }
  for (size_t i = 0; i < HW__PULSE_SIZE; i++) {
    e->variance[i] /= fmax(count, 1);
  }
  return 2 * count > HW__PICKED;
}

/* How well each coordinate of a pulse is known besides by its readings. One that was seen whole tells by itself what it
 * holds. One that was seen in part does where it passes when and as wide as the answer has it, give or take the
 * answer's own doubt. */
static void set_known(bool whole, const expectation *e, double known[HW__INSTANT_SIZE]) {
  const double width = exp(0.5 * e->y[HW__LN_VARIANCE]);
  for (size_t x = 0; x < HW__INSTANT_SIZE; x++) {
    const double least = least_off[x] * (x == HW__PASSAGE ? width : 1);
    known[x] = whole || x == HW__LN_AREA ? 0 : 1 / (e->variance[x] + least * least);
  }
  known[HW__LN_SKEW] = whole ? 1 / (skew_sd * skew_sd) : known[HW__LN_SKEW];
}

/* ln area of a pulse by the second order of its likelihood; the other coordinates are eliminated. */
static void find_area(const hw__quadratic *q, const double known[HW__INSTANT_SIZE], double *area, double *variance) {
  static const size_t order[HW__INSTANT_SIZE] = {HW__PASSAGE, HW__LN_VARIANCE, HW__LN_SKEW, HW__LN_AREA};
  double m[HW__INSTANT_SIZE][HW__INSTANT_SIZE], right[HW__INSTANT_SIZE];
  for (size_t a = 0; a < HW__INSTANT_SIZE; a++) {
    for (size_t b = 0; b < HW__INSTANT_SIZE; b++) {
      m[a][b] = q->curvature[order[a]][order[b]];
    }
    m[a][a] += known[order[a]];
    right[a] = q->slope[order[a]];
  }
  for (size_t k = 0; k + 1 < HW__INSTANT_SIZE; k++) {
    for (size_t a = k + 1; a < HW__INSTANT_SIZE && m[k][k] > 0; a++) {
      const double share = m[a][k] / m[k][k];
      for (size_t b = k; b < HW__INSTANT_SIZE; b++) {
        m[a][b] -= share * m[k][b];
      }
      right[a] -= share * right[k];
    }
  }
  const double left = m[HW__INSTANT_SIZE - 1][HW__INSTANT_SIZE - 1];
  *variance = left > 0 ? 1 / left : INFINITY;
  *area = q->at[HW__LN_AREA] + right[HW__INSTANT_SIZE - 1] / left;
}

/* Of a pulse that is the release's. */
static bool weigh(const hw__ade *a, size_t k, scale *out) {
  const hw__fit *own = &a->own[a->station[k].sensor];
  expectation e;
  if (!own->seen || !own->strong || own->lasting || isfinite(own->clipped_at_g_m3) || a->wrong[k] > 0.5 ||
      !expect_at(a, k, &e)) {
    return false;
  }
  hw__quadratic there = own->near;
  double known[HW__INSTANT_SIZE], area, variance;
  if (!own->complete) {
    hw__view_expand(a->station[k].view, &a->tails, HW__INSTANT_SIZE, e.y, &there);
  }
  set_known(own->complete, &e, known);
  find_area(&there, known, &area, &variance);
  *out = (scale){.station = k,
                 .more = area - e.y[HW__LN_AREA],
                 .variance = variance + least_sd * least_sd + pow(a->station[k].gain_sd, 2)};
  return isfinite(out->more) && isfinite(out->variance);
}

/* By how many standard deviations station k is off the mean of the stations before and after it; ln of the factor. */
static double off_the_others(const scale *all, size_t count, size_t k, double *ln_factor) {
  double sum = 0, precision = 0;
  for (size_t i = 0; i < count; i++) {
    sum += i == k ? 0 : all[i].more / all[i].variance;
    precision += i == k ? 0 : 1 / all[i].variance;
  }
  *ln_factor = all[k].more - sum / precision;
  return fabs(*ln_factor) / sqrt(all[k].variance + 1 / precision);
}

static const char *id_of(const hw__ade *a, const scale *s) {
  return a->river->sensors[a->station[s->station].sensor].id;
}

void hw__ade_warn_scales(hw__ade *a) {
  enum { MOST = 64 };
  scale all[MOST];
  size_t count = 0, worst = 0;
  for (size_t k = 0; k < a->spill.count && count < MOST; k++) {
    count += weigh(a, k, &all[count]);
  }
  if (count < 2) {
    return;
  }
  double most = 0, factor = 0;
  for (size_t k = 0; k < count; k++) {
    double ln_factor;
    const double off = off_the_others(all, count, k, &ln_factor);
    if (off > most) {
      most = off;
      worst = k;
      factor = exp(ln_factor);
    }
  }
  const double doubtful = plain + more_each * log(0.5 * (double)count);
  if (most > doubtful && count == 2) {
    hw__warn(&a->warnings,
             "sensors %s and %s differ by a factor of %.2g in what passed them: one may be wrongly scaled",
             id_of(a, &all[0]), id_of(a, &all[1]), fmax(factor, 1 / factor));
  } else if (most > doubtful) {
    hw__warn(&a->warnings, "sensor %s shows %.2g times what the others show to have passed: it may be wrongly scaled",
             id_of(a, &all[worst]), factor);
  }
}

#include "posterior/scales.h"

#include <math.h>

#include "posterior/walk.h"

/* Standard deviations from the others that make a sensor's scale doubtful, and how well gauges and sections are known
 * at best, ln. */
static const double plain = 2.5, least_sd = 0.03;
/* What is supposed of a pulse's asymmetry where its readings do not tell it, ln. */
static const double skew_sd = 0.8;

/* What a sensor's own pulse holds, ln, over what the answer expects there. */
typedef struct {
  size_t station;
  double more, variance;
} scale;

/* Of ln area, by the curvature of the pulse's likelihood: the last of its coordinates once the others are eliminated.
 */
static double variance_of_area(const hw__quadratic *q) {
  static const size_t order[HW__INSTANT_SIZE] = {HW__PASSAGE, HW__LN_VARIANCE, HW__LN_SKEW, HW__LN_AREA};
  double m[HW__INSTANT_SIZE][HW__INSTANT_SIZE];
  for (size_t a = 0; a < HW__INSTANT_SIZE; a++) {
    for (size_t b = 0; b < HW__INSTANT_SIZE; b++) {
      m[a][b] = q->curvature[order[a]][order[b]];
    }
    m[a][a] += order[a] == HW__LN_SKEW ? 1 / (skew_sd * skew_sd) : 0;
  }
  for (size_t k = 0; k + 1 < HW__INSTANT_SIZE; k++) {
    for (size_t a = k + 1; a < HW__INSTANT_SIZE && m[k][k] > 0; a++) {
      const double share = m[a][k] / m[k][k];
      for (size_t b = k; b < HW__INSTANT_SIZE; b++) {
        m[a][b] -= share * m[k][b];
      }
    }
  }
  const double left = m[HW__INSTANT_SIZE - 1][HW__INSTANT_SIZE - 1];
  return left > 0 ? 1 / left : INFINITY;
}

/* The mean of what the draws expect at a station, ln area; NAN where most of them do not pass. */
static double expected_area(const hw__ade *a, size_t k) {
  double sum = 0, count = 0;
  for (size_t j = 0; j < HW__PICKED; j++) {
    const hw__curve c = hw__sight_curve(&a->spill, &a->released[j], k, &a->sight[j * a->spill.count + k]);
    if (c.travel_s > 0) {
      double y[HW__PULSE_SIZE];
      hw__curve_to(&c, y);
      sum += y[HW__LN_AREA];
      count++;
    }
  }
  return 2 * count > HW__PICKED ? sum / count : NAN;
}

/* Of a pulse that was seen whole and that is the release's. */
static bool weigh(const hw__ade *a, size_t k, scale *out) {
  const hw__fit *own = &a->own[a->station[k].sensor];
  if (!own->seen || !own->strong || !own->complete || own->lasting || isfinite(own->clipped_at_g_m3) ||
      a->wrong[k] > 0.5) {
    return false;
  }
  *out = (scale){.station = k,
                 .more = own->near.at[HW__LN_AREA] - expected_area(a, k),
                 .variance = variance_of_area(&own->near) + least_sd * least_sd + pow(a->station[k].gain_sd, 2)};
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
  if (most > plain && count == 2) {
    hw__warn(&a->warnings,
             "sensors %s and %s differ by a factor of %.2g in what passed them: one may be wrongly scaled",
             id_of(a, &all[0]), id_of(a, &all[1]), fmax(factor, 1 / factor));
  } else if (most > plain) {
    hw__warn(&a->warnings, "sensor %s shows %.2g times what the others show to have passed: it may be wrongly scaled",
             id_of(a, &all[worst]), factor);
  }
}

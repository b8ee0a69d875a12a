#include "posterior/residuals.h"

#include <math.h>

#include "posterior/ade.h"
#include "posterior/walk.h"

/* Squared distance from the expected value, in noise, that makes a lone reading a spike. */
static const double spike = 64;
/* A pulse as high, in noise, has plainly risen; and fallen where a later reading is below this share of it. */
static const double plain_height = 12, fallen_share = 0.4;
/* While the plume passes: within so many standard deviations of its middle. */
static const double passing_sd = 5;
/* Every so many of the picked draws are compared: a mean need not be exact. */
enum { EVERY = 8, COMPARED = HW__PICKED / EVERY };

/* The curves that some of the picked draws expect at one station, and when they pass it. */
typedef struct {
  hw__curve curve[COMPARED];
  double middle_s, variance_s2; /* NAN: most of them do not pass */
} expectation;

static void expect_at(const hw__ade *a, size_t k, expectation *e) {
  double count = 0, sum = 0, squares = 0, widths = 0;
  for (size_t j = 0; j < COMPARED; j++) {
    const size_t pick = j * EVERY;
    e->curve[j] = hw__sight_curve(&a->spill, &a->released[pick], k, &a->sight[pick * a->spill.count + k]);
    const hw__curve *c = &e->curve[j];
    if (c->travel_s > 0) {
      const double middle = c->passage_s + 0.5 * c->duration_s;
      count++;
      sum += middle;
      squares += (middle - a->last_s) * (middle - a->last_s); /* about a time near by, for the digits */
      widths += c->variance_s2 + c->duration_s * c->duration_s / 12;
    }
  }
  const bool passes = 2 * count > COMPARED;
  e->middle_s = passes ? sum / count : NAN;
  const double off = e->middle_s - a->last_s;
  e->variance_s2 = passes ? widths / count + fmax(squares / count - off * off, 0) : NAN;
}

/* At the points of the view, background included. */
static void expect_values(const expectation *e, const hw__view *v, double out[HW__VIEW_POINTS]) {
  double one[HW__VIEW_POINTS], sum[HW__VIEW_POINTS] = {0};
  for (size_t j = 0; j < COMPARED; j++) {
    hw__curve_over(&e->curve[j], v->count, v->time_s, v->spread_s2, one);
    for (size_t i = 0; i < v->count; i++) {
      sum[i] += one[i];
    }
  }
  for (size_t i = 0; i < v->count; i++) {
    out[i] = hw__view_level(v, i) + sum[i] / COMPARED;
  }
}

static hw__residuals compare(const hw__ade *a, size_t k) {
  const hw__view *v = a->station[k].view;
  hw__residuals r = {0};
  expectation e;
  expect_at(a, k, &e);
  double value[HW__VIEW_POINTS];
  expect_values(&e, v, value);
  double top = 0, top_s = INFINITY; /* of the pulse, by readings that the answer explains */
  for (size_t i = 0; i < v->count; i++) {
    if (v->side[i] != HW__MEASURED) {
      continue;
    }
    const double expected = value[i], off = v->value_g_m3[i] - expected;
    const double above = v->value_g_m3[i] - hw__view_level(v, i);
    const double late = v->time_s[i] - e.middle_s;
    const bool passing = late * late < passing_sd * passing_sd * e.variance_s2;
    r.squares += v->readings[i] * off * off;
    r.readings += v->readings[i];
    r.within += passing ? v->readings[i] : 0;
    const double variance = hw__view_variance(v, i, fmax(expected - hw__view_level(v, i), 0));
    if (off * off > spike * variance && v->readings[i] < 2) {
      r.spikes++;
      r.last = i;
      r.passing += passing;
    } else if (above > top && above > plain_height * sqrt(hw__view_variance(v, i, 0))) {
      top = above;
      top_s = v->time_s[i];
    }
  }
  for (size_t i = 0; i < v->count; i++) {
    r.fallen = r.fallen || (v->time_s[i] > top_s && v->side[i] != HW__ABOVE &&
                            v->value_g_m3[i] - hw__view_level(v, i) < fallen_share * top);
  }
  return r;
}

void hw__ade_compare(hw__ade *a) {
  for (size_t k = 0; k < a->spill.count; k++) {
    a->residuals[k] = compare(a, k);
  }
}

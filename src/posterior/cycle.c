#include "posterior/cycle.h"

#include <math.h>

static const double day_s = 86400;
/* A cycle is a level and so many harmonics of the day, the more the longer the record: in half a day the second one
 * would draw any hump, and the third, which makes a cycle's peaks sharper than its valleys, in a day. And the more the
 * more readings there are: through as many of them as it has terms it goes whatever they show. */
enum { MOST_HARMONICS = 3, TERMS = 1 + 2 * MOST_HARMONICS, READINGS_A_TERM = 3 };
static const double days_for[MOST_HARMONICS] = {0.5, 1, 2.5};
/* It may leave this much more than the pulse does, and so many readings' noise: no two days are alike. */
static const double about_as_well = 1.2, room = 10;

static size_t terms_for(double days, size_t readings) {
  size_t terms = 1;
  for (size_t k = 0; k < MOST_HARMONICS && days >= days_for[k] && readings >= READINGS_A_TERM * (terms + 2); k++) {
    terms += 2;
  }
  return terms;
}

static void basis_at(double time_s, size_t terms, double out[TERMS]) {
  out[0] = 1;
  for (size_t k = 1; k < terms; k += 2) {
    const size_t harmonic = (k + 1) / 2;
    const double turn = 2 * M_PI * (double)harmonic * time_s / day_s;
    out[k] = cos(turn);
    out[k + 1] = sin(turn);
  }
}

/* Least squares by elimination; `normal` is positive once its diagonal has grown a little. */
static void solve(size_t n, double normal[TERMS][TERMS], double right[TERMS]) {
  for (size_t k = 0; k < n; k++) {
    normal[k][k] *= 1 + 1e-9;
    for (size_t a = k + 1; a < n; a++) {
      const double share = normal[a][k] / normal[k][k];
      for (size_t b = k; b < n; b++) {
        normal[a][b] -= share * normal[k][b];
      }
      right[a] -= share * right[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t b = k + 1; b < n; b++) {
      right[k] -= normal[k][b] * right[b];
    }
    right[k] /= normal[k][k];
  }
}

/* The cycle that fits best. */
static void fit_cycle(const hw__series *s, size_t terms, double out[TERMS]) {
  double normal[TERMS][TERMS] = {{0}};
  for (size_t k = 0; k < TERMS; k++) {
    out[k] = 0;
  }
  for (size_t i = 0; i < s->count; i++) {
    double at[TERMS];
    basis_at(s->span[i].time_s, terms, at);
    for (size_t a = 0; a < terms; a++) {
      out[a] += s->span[i].count * at[a] * s->span[i].value_g_m3;
      for (size_t b = 0; b < terms; b++) {
        normal[a][b] += s->span[i].count * at[a] * at[b];
      }
    }
  }
  solve(terms, normal, out);
}

/* What the readings of a span are off by; those beyond a limit only where they are expected on its other side. */
static double square_off(const hw__span *span, double expected_g_m3) {
  const double off = span->value_g_m3 - expected_g_m3;
  const bool speaks = span->side == HW__MEASURED || (span->side == HW__BELOW ? off < 0 : off > 0);
  return speaks ? span->count * off * off : 0;
}

bool hw__cycle_explains(const hw__series *s, const hw__fit *pulse) {
  const size_t terms = terms_for((pulse->last_s - pulse->first_s) / day_s, s->count);
  if (terms == 1) {
    return false;
  }
  double cycle[TERMS], by_cycle = 0, by_pulse = 0;
  fit_cycle(s, terms, cycle);
  for (size_t i = 0; i < s->count; i++) {
    const hw__span *span = &s->span[i];
    double at[TERMS], there = 0;
    basis_at(span->time_s, terms, at);
    for (size_t k = 0; k < terms; k++) {
      there += cycle[k] * at[k];
    }
    by_cycle += square_off(span, there);
    by_pulse += square_off(span, pulse->level_g_m3 + hw__curve_at(&pulse->curve, span->time_s, span->spread_s2));
  }
  return by_cycle < about_as_well * by_pulse + room * pulse->floor_g_m3 * pulse->floor_g_m3;
}

#include "river/hydrograph.h"

#include <math.h>

size_t hw__last_before(const double *list, size_t count, double v) {
  size_t lo = 0, hi = count - 1;
  for (int guess = 0; guess < 3 && hi - lo > 1; guess++) {
    const double at = (double)lo + (double)(hi - lo) * (v - list[lo]) / (list[hi] - list[lo]);
    const size_t i = at <= (double)lo ? lo : at >= (double)(hi - 1) ? hi - 1 : (size_t)at;
    if (list[i] <= v && v < list[i + 1]) {
      return i;
    }
    lo = list[i] <= v ? i : lo;
    hi = list[i] <= v ? hi : i;
  }
  while (hi - lo > 1) {
    const size_t middle = lo + (hi - lo) / 2;
    if (list[middle] <= v) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

/* The last reading at or before v, count - 1 at most. v is not before the first. */
static size_t last_before(const double *list, size_t count, double v) {
  return v >= list[count - 1] ? count - 1 : hw__last_before(list, count, v);
}

double hw__hydrograph_ratio(const hw__hydrograph *s, double time_s) {
  if (time_s <= s->time_s[0]) {
    return s->ratio[0];
  }
  const size_t i = last_before(s->time_s, s->count, time_s);
  if (i + 1 == s->count) {
    return s->ratio[i];
  }
  const double share = (time_s - s->time_s[i]) / (s->time_s[i + 1] - s->time_s[i]);
  return s->ratio[i] + share * (s->ratio[i + 1] - s->ratio[i]);
}

double hw__hydrograph_log_ratio(const hw__hydrograph *s, double time_s) {
  if (time_s <= s->time_s[0]) {
    return s->log_ratio[0];
  }
  const size_t i = last_before(s->time_s, s->count, time_s);
  if (i + 1 == s->count) {
    return s->log_ratio[i];
  }
  const double share = (time_s - s->time_s[i]) / (s->time_s[i + 1] - s->time_s[i]);
  return s->log_ratio[i] + share * (s->log_ratio[i + 1] - s->log_ratio[i]);
}

/* int_0^dt (from + slope u)^m du. Where the ratio hardly changes the closed form cancels; the midpoint is exact then.
 */
static double grown(double from, double slope, double dt, double m) {
  const double to = from + slope * dt;
  if (fabs(to - from) < 1e-5 * from) {
    return dt * pow(0.5 * (from + to), m);
  }
  return (pow(to, m + 1) - pow(from, m + 1)) / ((m + 1) * slope);
}

static double slope_after(const hw__hydrograph *s, size_t i) {
  return i + 1 == s->count ? 0 : (s->ratio[i + 1] - s->ratio[i]) / (s->time_s[i + 1] - s->time_s[i]);
}

void hw__hydrograph_finish(hw__hydrograph *s) {
  s->elapsed[0] = 0;
  for (size_t i = 0; i < s->count; i++) {
    s->log_ratio[i] = log(s->ratio[i]);
  }
  for (size_t i = 0; i + 1 < s->count; i++) {
    s->elapsed[i + 1] =
        s->elapsed[i] + grown(s->ratio[i], slope_after(s, i), s->time_s[i + 1] - s->time_s[i], s->exponent);
  }
}

double hw__hydrograph_elapsed(const hw__hydrograph *s, double time_s) {
  if (time_s <= s->time_s[0]) {
    return (time_s - s->time_s[0]) * pow(s->ratio[0], s->exponent);
  }
  const size_t i = last_before(s->time_s, s->count, time_s);
  return s->elapsed[i] + grown(s->ratio[i], slope_after(s, i), time_s - s->time_s[i], s->exponent);
}

double hw__hydrograph_time(const hw__hydrograph *s, double elapsed_s) {
  if (elapsed_s <= 0) {
    return s->time_s[0] + elapsed_s / pow(s->ratio[0], s->exponent);
  }
  const size_t i = last_before(s->elapsed, s->count, elapsed_s);
  const double rest = elapsed_s - s->elapsed[i], slope = slope_after(s, i), m = s->exponent;
  const double even = rest / pow(s->ratio[i], m);
  if (fabs(slope * even) < 1e-5 * s->ratio[i]) {
    return s->time_s[i] + rest / pow(s->ratio[i] + 0.5 * slope * even, m);
  }
  const double to = pow(pow(s->ratio[i], m + 1) + (m + 1) * slope * rest, 1 / (m + 1));
  return s->time_s[i] + (to - s->ratio[i]) / slope;
}

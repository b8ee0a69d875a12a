#include "posterior/glance.h"

#include <math.h>

#include "posterior/noise.h"

static int by_size(double a, double b) {
  return (a > b) - (a < b);
}

static void sort_values(double *x, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const double v = x[i];
    size_t j = i;
    for (; j > 0 && by_size(x[j - 1], v) > 0; j--) {
      x[j] = x[j - 1];
    }
    x[j] = v;
  }
}

enum { SAMPLED = 256 };

static double confirmed(const hw__series *s, size_t i) {
  const double v = s->span[i].side == HW__BELOW ? 0 : s->span[i].value_g_m3;
  if (s->count == 1) {
    return v; /* nobody is there to ask */
  }
  const double a = i > 0 ? (s->span[i - 1].side == HW__BELOW ? 0 : s->span[i - 1].value_g_m3) : -INFINITY;
  const double b = i + 1 < s->count ? (s->span[i + 1].side == HW__BELOW ? 0 : s->span[i + 1].value_g_m3) : -INFINITY;
  return fmin(v, fmax(a, b)); /* the higher neighbour confirms */
}

/* The step in which this value is written: a power of ten. */
static double written_to(double value) {
  double step = 1;
  for (int digits = 0; digits < 15; digits++, step /= 10) {
    const double steps = value / step;
    if (fabs(steps) > 0.5 && fabs(steps - round(steps)) < 1e-7 * fabs(steps)) {
      return step;
    }
  }
  return step;
}

/* Two noisy readings are rarely alike to the last digit. So a sensor whose highest value comes twice is at the end of
 * its range, if its digits are much finer than its noise; if they are not, three times in a row. */
void hw__glance_clipping(const hw__series *s, double floor, double share, hw__glance *g) {
  static const double fine = 0.02; /* of the noise */
  double top = -INFINITY, digit = INFINITY, run = 0, longest = 0, all = 0;
  for (size_t i = 0; i < s->count; i++) {
    const hw__span *span = &s->span[i];
    if (span->side == HW__MEASURED && !span->varied && span->value_g_m3 > g->low + floor) {
      digit = fmin(digit, written_to(span->value_g_m3));
    }
    top = span->side == HW__MEASURED ? fmax(top, span->value_g_m3) : top;
  }
  for (size_t i = 0; i < s->count; i++) {
    const bool there = s->span[i].side == HW__MEASURED && !s->span[i].varied && !(s->span[i].value_g_m3 < top);
    run = there ? run + s->span[i].count : 0;
    longest = fmax(longest, run);
    all += there ? s->span[i].count : 0;
  }
  const bool ends = longest >= 3 || (all >= 2 && digit < fine * hypot(floor, share * top));
  g->clipped_at = ends && top > g->low + 10 * floor ? top : INFINITY;
}

/* Non-detects, where hardly a reading among them shows: then the level lies somewhere below the limit. Where some do,
 * their share tells how far. And where most of what is not plainly above the limit shows, there is no telling that the
 * level lies below it: a few non-detects are then the lower tail of its noise. */
static double hidden_by(const hw__series *s, double plain_g_m3) {
  double below = 0, among = 0, near = 0;
  for (size_t i = 0; i < s->count; i++) {
    const hw__span *span = &s->span[i];
    const bool before = i == 0 || s->span[i - 1].side == HW__BELOW;
    const bool after = i + 1 == s->count || s->span[i + 1].side == HW__BELOW;
    below += span->side == HW__BELOW ? span->count : 0;
    among += span->side == HW__MEASURED && before && after ? span->count : 0;
    near += span->side == HW__MEASURED && span->value_g_m3 < plain_g_m3 ? span->count : 0;
  }
  return among <= 0.03 * below && near <= below ? below : 0;
}

/* Of readings that a limit does not cut off: three standard deviations above it. */
static double plainly_above(const hw_sensor *sensor, double limit_g_m3, double high_g_m3) {
  const double floor = hw__noise_floor(sensor, fmax(high_g_m3, 0));
  return limit_g_m3 + 3 * sqrt(hw__noise_variance(sensor, floor, limit_g_m3));
}

/* Noise that is cut off at zero leaves no more than every second reading there. */
static bool is_flat(const hw__series *s) {
  static const double often = 16;
  double count = 0;
  for (size_t i = 0; i < s->count; i++) {
    const hw__span *span = &s->span[i];
    if (span->side != HW__MEASURED || span->varied || span->value_g_m3 != s->span[0].value_g_m3) {
      return false;
    }
    count += span->count;
  }
  return count >= often;
}

/* The level of the first readings, where it lies plainly below `low`: a release that flows on may fill nearly all of a
 * record, and what most of the readings show is then its plateau. */
static double level_at_first(const hw__series *s, const hw_sensor *sensor, double low) {
  enum { FIRST = 9, FEWEST = 5 };
  static const double plainly = 10; /* standard deviations of a reading */
  double value[FIRST];
  size_t n = 0;
  for (size_t i = 0; i < s->count && n < FIRST && s->span[i].side == HW__MEASURED; i++) {
    value[n++] = s->span[i].value_g_m3;
  }
  if (n < FEWEST) {
    return low;
  }
  sort_values(value, n);
  const double first = value[n / 2], sd = sqrt(hw__noise_variance(sensor, hw__noise_floor(sensor, low - first), low));
  return first < low - plainly * sd ? first : low;
}

hw__glance hw__glance_at(const hw__series *s, const hw_sensor *sensor) {
  hw__glance g = {.low = 0, .high = -INFINITY, .lowest_limit = INFINITY, .clipped_at = INFINITY};
  double value[SAMPLED], step[SAMPLED];
  size_t n = 0, steps = 0;
  double all = 0;
  const size_t stride = (s->count + SAMPLED - 1) / SAMPLED;
  for (size_t i = 0; i < s->count; i++) {
    const double c = confirmed(s, i);
    if (c > g.high) {
      g.high = c;
      g.high_at = i;
    }
    all += s->span[i].count;
    if (s->span[i].side == HW__BELOW) {
      g.below += s->span[i].count;
      g.lowest_limit = fmin(g.lowest_limit, s->span[i].value_g_m3);
    } else if (i % stride == 0 && n < SAMPLED) {
      value[n++] = s->span[i].value_g_m3;
    }
  }
  g.below /= fmax(all, 1);
  g.high_s = s->span[g.high_at].time_s;
  sort_values(value, n);
  g.low = n > 0 ? level_at_first(s, sensor, value[n / 5]) : 0;
  g.hidden = isfinite(g.lowest_limit) ? hidden_by(s, plainly_above(sensor, g.lowest_limit, g.high)) : 0;
  if (isfinite(g.lowest_limit)) {
    g.low = fmin(g.low, (g.hidden > 0 ? 0.3 : 0.8) * g.lowest_limit);
  }
  const double quiet = g.low + 0.25 * (g.high - g.low);
  for (size_t i = 1; i < s->count && steps < SAMPLED; i++) {
    const hw__span *a = &s->span[i - 1], *b = &s->span[i];
    if (a->side == HW__MEASURED && b->side == HW__MEASURED && a->value_g_m3 < quiet && b->value_g_m3 < quiet) {
      step[steps++] = fabs(b->value_g_m3 - a->value_g_m3) / sqrt(1 / a->count + 1 / b->count);
    }
  }
  sort_values(step, steps);
  g.scatter = steps >= 8 ? 1.4826 * step[steps / 2] : 0;
  g.flat = is_flat(s);
  if (!isnan(sensor->background_g_m3)) {
    g.low = sensor->background_g_m3;
  }
  return g;
}

double hw__glance_floor(const hw_sensor *sensor, const hw__glance *g) {
  const double height = fmax(g->high, 0) - fmax(g->low, 0);
  double floor = hw__noise_floor(sensor, fmax(height, 0));
  if (!(sensor->noise_absolute_g_m3 > 0)) {
    floor = fmax(floor, g->scatter);
  }
  return fmax(floor, fmax(1e-6 * fabs(g->high), 1e-300));
}

void hw__glance_guess(const hw__series *s, hw__glance *g, double *passage, double *width) {
  const double half = g->low + 0.5 * (g->high - g->low), top = s->span[g->high_at].time_s;
  double left = NAN, right = NAN;
  g->above_half = s->span[g->high_at].count;
  for (size_t i = g->high_at; i-- > 0 && isnan(left);) {
    left = confirmed(s, i) < half ? 0.5 * (s->span[i].time_s + s->span[i + 1].time_s) : left;
    g->above_half += isnan(left) ? s->span[i].count : 0;
  }
  for (size_t i = g->high_at + 1; i < s->count && isnan(right); i++) {
    right = confirmed(s, i) < half ? 0.5 * (s->span[i].time_s + s->span[i - 1].time_s) : right;
    g->above_half += isnan(right) ? s->span[i].count : 0;
  }
  const double span = s->span[s->count - 1].time_s - s->span[0].time_s;
  const double closest = fmax(span / (double)s->count, 1e-3);
  *passage = top;
  if (!isnan(left) && !isnan(right)) {
    *passage = 0.5 * (left + right);
    *width = (right - left) / 2.355;
  } else if (!isnan(left)) {
    *width = (top - left) / 1.18;
  } else {
    *width = isnan(right) ? 0.25 * span : (right - top) / 1.18;
  }
  *width = fmax(*width, 0.3 * closest);
}

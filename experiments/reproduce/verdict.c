#include "experiments/reproduce/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

static const double tie_share = 0.01, normal_95 = 1.959963984540054;

void hw_tally_add(hw_tally *tally, bool won) {
  won ? tally->won++ : tally->lost++;
}

void hw_tally_lower(hw_tally *tally, double a, double b) {
  if (!(fabs(a - b) > tie_share * fmax(fabs(a), fabs(b)))) {
    tally->tied++;
  } else {
    hw_tally_add(tally, a < b);
  }
}

/* Wilson (1927): an interval for a share that is right near 0 and 1 too. */
static void interval_of(const hw_tally *tally, double *lo, double *hi) {
  const double n = (double)(tally->won + tally->lost), p = (double)tally->won / n, z2 = normal_95 * normal_95;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = normal_95 / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  *lo = middle - half;
  *hi = middle + half;
}

hw_verdict hw_tally_verdict(const hw_tally *tally) {
  double lo, hi;
  if (tally->won + tally->lost == 0) {
    return HW_UNDECIDED;
  }
  interval_of(tally, &lo, &hi);
  return lo > 0.5 ? HW_HOLDS : hi < 0.5 ? HW_FAILS : HW_UNDECIDED;
}

const char *hw_tally_say(const hw_tally *tally, char *out, size_t size) {
  const size_t decided = tally->won + tally->lost, all = decided + tally->tied;
  double lo, hi;
  if (decided == 0) {
    snprintf(out, size, "a tie in all %zu seeds", all);
    return out;
  }
  interval_of(tally, &lo, &hi);
  const int length = snprintf(out, size, "%zu of %zu seeds (%.0f to %.0f %%)", tally->won, decided, 100 * fmax(lo, 0),
                              100 * fmin(hi, 1));
  if (tally->tied && length > 0 && (size_t)length < size) {
    snprintf(out + length, size - (size_t)length, ", %zu tie%s", tally->tied, tally->tied > 1 ? "s" : "");
  }
  return out;
}

void hw_judge(hw_page *page, const char *item, const char *claim, const hw_tally *tally, const char *format, ...) {
  char counted[80], measured[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(measured, sizeof measured, format, arguments);
  va_end(arguments);
  hw_page_finding(page, item, claim, hw_tally_verdict(tally), "%s%s%s", hw_tally_say(tally, counted, sizeof counted),
                  measured[0] ? "; " : "", measured);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double hw_quantile(double *values, size_t count, double share) {
  if (count == 0) {
    return NAN;
  }
  qsort(values, count, sizeof *values, by_size);
  const double at = share * (double)(count - 1);
  const size_t below = (size_t)at;
  const double above = below + 1 < count ? values[below + 1] : values[below];
  return values[below] + (at - (double)below) * (above - values[below]);
}

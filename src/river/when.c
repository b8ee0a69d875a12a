#include "river/when.h"

#include <math.h>

double hw__when_log_density(const hw_river *river, double time_s) {
  if (!(river->when.sd_s > 0)) {
    return 0;
  }
  const double z = (time_s - river->when.median_s) / river->when.sd_s;
  return -0.5 * z * z;
}

static double below(const hw_when *when, double time_s) {
  return 0.5 * erfc((when->median_s - time_s) / (when->sd_s * M_SQRT2));
}

double hw__when_share(const hw_river *river, const hw_span *span) {
  const double lo = river->search.lo.time_s, hi = river->search.hi.time_s;
  const double from = fmax(span->from_s, lo), to = fmin(span->to_s, hi);
  if (!(to > from)) {
    return 0;
  }
  if (!(river->when.sd_s > 0)) {
    return (to - from) / (hi - lo);
  }
  const hw_when *when = &river->when;
  return (below(when, to) - below(when, from)) / (below(when, hi) - below(when, lo));
}

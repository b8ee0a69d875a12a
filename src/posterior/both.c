/* What two releases mean together: for the intakes, and for the candidates. */
#include <math.h>
#include <stdlib.h>

#include "posterior/releases.h"
#include "summary/summary.h"

static double unless_absent(double a, double b, double (*choose)(double, double)) {
  return isnan(a) ? b : isnan(b) ? a : choose(a, b);
}

static hw_range outer(hw_range a, hw_range b, double (*choose)(double, double)) {
  return (hw_range){unless_absent(a.lo, b.lo, choose), unless_absent(a.mid, b.mid, choose),
                    unless_absent(a.hi, b.hi, choose)};
}

/* An intake has to stay closed from the first release's front to the last one's tail; the peak is the higher one's.
 * Where the two overlap their sum may be higher: that is in hw__two_predict, not here. */
static hw_arrival both_arrive(const hw_arrival *a, const hw_arrival *b) {
  hw_arrival both = b->peak_g_m3.mid > a->peak_g_m3.mid ? *b : *a;
  both.first_s = outer(a->first_s, b->first_s, fmin);
  both.last_s = outer(a->last_s, b->last_s, fmax);
  both.exceeds_alarm = isnan(a->exceeds_alarm)   ? b->exceeds_alarm
                       : isnan(b->exceeds_alarm) ? a->exceeds_alarm
                                                 : 1 - (1 - a->exceeds_alarm) * (1 - b->exceeds_alarm);
  return both;
}

hw_status hw__two_unite_arrivals(hw__two *two, size_t intake_count) {
  two->arrivals = calloc(intake_count ? intake_count : 1, sizeof *two->arrivals);
  if (!two->arrivals) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < intake_count; i++) {
    const hw_arrival *at[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
      for (size_t j = 0; j < two->answer[k].arrival_count; j++) {
        at[k] = two->answer[k].arrivals[j].intake == i ? &two->answer[k].arrivals[j] : at[k];
      }
    }
    if (at[0] || at[1]) {
      two->arrivals[two->arrival_count++] = at[0] && at[1] ? both_arrive(at[0], at[1]) : at[0] ? *at[0] : *at[1];
    }
  }
  return HW_OK;
}

/* ---- Who it was ---- */

static double suspicion_of(const hw_estimate *answer, ptrdiff_t candidate) {
  for (size_t i = 0; i < answer->suspicion_count; i++) {
    if (answer->suspicions[i].candidate == candidate) {
      return answer->suspicions[i].probability;
    }
  }
  return 0;
}

/* A candidate is suspected as it is of the release it is suspected of most, and "none of these" must have made both.
 * What one answer says of it is not taken as evidence beside what the other says: both have the same errors of the
 * river. */
static double suspected(const hw__two *two, ptrdiff_t candidate) {
  const double a = suspicion_of(&two->answer[0], candidate), b = suspicion_of(&two->answer[1], candidate);
  return candidate < 0 ? fmin(a, b) : fmax(a, b);
}

hw_status hw__two_unite_suspicions(hw__two *two, size_t candidate_count) {
  two->suspicions = calloc(candidate_count + 1, sizeof *two->suspicions);
  if (!two->suspicions) {
    return HW_ENOMEM;
  }
  if (candidate_count > 0) {
    for (size_t k = 0; k <= candidate_count; k++) {
      const ptrdiff_t candidate = k < candidate_count ? (ptrdiff_t)k : -1;
      two->suspicions[k] = (hw_suspicion){candidate, suspected(two, candidate)};
    }
    two->suspicion_count = candidate_count + 1;
    hw__sort_suspicions(two->suspicions, two->suspicion_count);
  }
  return HW_OK;
}

#include "advice/places.h"

#include <math.h>

static const double closest_m = 250;  /* two places nearer than that are one */
static const double beyond_m = 10000; /* how far below the last thing that is known */

typedef struct {
  double lo_m, hi_m;
} span;

/* Where the branch ends for our purposes: its mouth, or a way below the last of everything known on the outlet. */
static double lower_end(const hw_river *river, size_t branch) {
  if (river->branch_count && river->branches[branch].joins != HW_OUTLET) {
    return 0;
  }
  double end = river->search.hi.location_m;
  for (size_t i = 0; i < river->sensor_count; i++) {
    end = river->sensors[i].branch == branch ? fmax(end, river->sensors[i].location_m) : end;
  }
  double known = end;
  for (size_t i = 0; i < river->intake_count; i++) {
    known = river->intakes[i].branch == branch ? fmax(known, river->intakes[i].location_m) : known;
  }
  return known > end ? known : end + beyond_m;
}

/* From where on the branch carries some of the spill: its draws begin there, or another branch that does comes in. */
static span wet_span(const hw__foresight *f, const hw_river *river, size_t branch) {
  span s = {INFINITY, lower_end(river, branch)};
  for (size_t j = 0; j < f->count; j++) {
    const hw_source *source = &f->draws[j].source;
    if (source->branch == branch) {
      s.lo_m = fmin(s.lo_m, source->location_m);
    }
  }
  for (size_t b = 0; b < river->branch_count; b++) {
    if (river->branches[b].joins == branch && isfinite(wet_span(f, river, b).lo_m)) {
      s.lo_m = fmin(s.lo_m, river->branches[b].joins_at_m);
    }
  }
  return s;
}

static bool has_sensor(const hw_river *river, size_t branch, double x_m) {
  for (size_t i = 0; i < river->sensor_count; i++) {
    if (river->sensors[i].branch == branch && fabs(river->sensors[i].location_m - x_m) < closest_m) {
      return true;
    }
  }
  return false;
}

size_t hw__places_ahead(const hw__foresight *f, const hw_river *river, hw__place_ahead *out) {
  const size_t branches = river->branch_count ? river->branch_count : 1;
  double length = 0;
  for (size_t b = 0; b < branches; b++) {
    const span s = wet_span(f, river, b);
    length += s.hi_m > s.lo_m ? s.hi_m - s.lo_m : 0;
  }
  const double step = fmax(closest_m, length / (HW__PLACES_MOST - (double)(branches < 16 ? branches : 16)));
  size_t count = 0;
  for (size_t b = 0; b < branches; b++) {
    const span s = wet_span(f, river, b);
    for (double x = s.lo_m + 0.5 * step; x <= s.hi_m && count < HW__PLACES_MOST; x += step) {
      if (!has_sensor(river, b, x)) {
        out[count++] = (hw__place_ahead){b, x};
      }
    }
  }
  return count;
}

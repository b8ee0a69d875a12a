#include "incidents/search_window.h"

#include <math.h>
#include <stdio.h>

static const double unknown_m_s = 0.1, day_s = 86400;

/* The longest way water may have to go: from where the search begins, or through every branch, to the last sensor. */
static double longest_way_m(const hw_river *river) {
  double last_m = -INFINITY, way_m = 0;
  for (size_t s = 0; s < river->sensor_count; s++) {
    last_m = fmax(last_m, river->sensors[s].location_m);
  }
  for (size_t b = 0; b < river->branch_count; b++) {
    const hw_branch *branch = &river->branches[b];
    way_m += fmax(0, (branch->joins == HW_OUTLET ? last_m : 0) - branch->head_m);
  }
  return river->branch_count ? way_m : fmax(0, last_m - river->search.lo.location_m);
}

static double slower(double a, double b) {
  return b > 0 && b < a ? b : a;
}

static double slowest_m_s(const hw_river *river) {
  const hw_quantity *v = &river->hydraulics.velocity_m_s;
  double slowest = INFINITY;
  if (v->certainty != HW_UNKNOWN) {
    slowest = v->value / (v->certainty == HW_UNCERTAIN ? v->factor * v->factor : 1);
  }
  for (size_t i = 0; i < river->reach_count; i++) {
    slowest = slower(slowest, river->reaches[i].velocity_m_s);
  }
  for (size_t b = 0; b < river->branch_count; b++) {
    for (size_t i = 0; i < river->branches[b].reach_count; i++) {
      slowest = slower(slowest, river->branches[b].reaches[i].velocity_m_s);
    }
  }
  return isfinite(slowest) && slowest > 0 ? slowest : unknown_m_s;
}

static const char *date(double unix_s, char out[48]) {
  hw_time_format(60 * round(unix_s / 60), out, 48);
  out[16] = '\0'; /* to the minute */
  out[10] = ' ';
  return out;
}

bool hw__search_excludes(const hw_river *river, double rise_s, char *sentence, size_t size) {
  const double from_s = river->search.lo.time_s, to_s = river->search.hi.time_s;
  const double late_s = to_s + 2 * longest_way_m(river) / slowest_m_s(river) + day_s;
  if (!river->search_is_calendar || !isfinite(rise_s) || (rise_s >= from_s && rise_s <= late_s)) {
    return false;
  }
  char from[48], to[48], rise[48];
  snprintf(
      sentence, size,
      "the search box of the river file is of %s to %s UTC, the readings of %s UTC: its dates are out of date; leave "
      "time_s out, or give seconds from an incident's first reading",
      date(from_s, from), date(to_s, to), date(rise_s, rise));
  return true;
}

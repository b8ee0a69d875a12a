/* How far an answer is from the truth, measured by what a place and a time mean on this river. */
#include <math.h>

#include "headwater/io.h"
#include "headwater/transport.h"

/* The distance that the water travels from one place to another; NAN when it does not get there. */
static double way_m(const hw_river *river, const hw_source *from, const hw_sensor *to) {
  double gone_m = 0, at_m = from->location_m;
  size_t branch = from->branch;
  while (branch != to->branch) {
    const hw_branch *b = branch < river->branch_count ? &river->branches[branch] : NULL;
    if (!b || b->joins == HW_OUTLET) {
      return NAN;
    }
    gone_m -= at_m; /* to the branch's own metre 0 */
    at_m = b->joins_at_m;
    branch = b->joins;
  }
  return to->location_m > at_m ? gone_m + to->location_m - at_m : (double)NAN;
}

/* The first sensor that a release there can reach; NULL: none. */
static const hw_sensor *first_below(const hw_river *river, const hw_source *truth, double *distance_m) {
  const hw_sensor *first = NULL;
  *distance_m = NAN;
  for (size_t i = 0; i < river->sensor_count; i++) {
    const double way = way_m(river, truth, &river->sensors[i]);
    if (isfinite(way) && !(way >= *distance_m)) {
      first = &river->sensors[i];
      *distance_m = way;
    }
  }
  return first;
}

static double travel_s(const hw_river *river, const hw_source *from, const hw_sensor *to, double distance_m) {
  hw_transport *transport = NULL;
  if (hw_transport_create(river, NULL, &transport) != HW_OK) {
    const hw_quantity *velocity = &river->hydraulics.velocity_m_s;
    const bool even = velocity->certainty != HW_UNKNOWN && !river->reach_count && !river->branch_count;
    return even ? distance_m / velocity->value : (double)NAN;
  }
  const hw_leg leg = hw_transport_leg_between(transport, from->branch, from->location_m, to->branch, to->location_m);
  hw_transport_free(transport);
  return leg.travel_s;
}

hw_source hw_source_error(const hw_source *found, const hw_source *truth) {
  return (hw_source){.mass_g = found->mass_g - truth->mass_g,
                     .branch = found->branch,
                     .location_m = found->branch == truth->branch ? found->location_m - truth->location_m : (double)NAN,
                     .time_s = found->time_s - truth->time_s};
}

hw_source hw_relative_error(const hw_river *river, const hw_source *found, const hw_source *truth) {
  double distance_m;
  const hw_sensor *first = first_below(river, truth, &distance_m);
  const double age_s = first ? travel_s(river, truth, first, distance_m) : NAN;
  const hw_source off = hw_source_error(found, truth);
  return (hw_source){.mass_g = fabs(off.mass_g) / truth->mass_g,
                     .branch = found->branch,
                     .location_m = fabs(off.location_m) / distance_m,
                     .time_s = fabs(off.time_s) / age_s};
}

/* How far an answer is from the truth, measured by what a place and a time mean on this river. */
#include <math.h>

#include "headwater/io.h"
#include "headwater/transport.h"

/* The first sensor that a release there can reach; NULL: none. */
static const hw_sensor *first_below(const hw_river *river, double location_m) {
  const hw_sensor *first = NULL;
  for (size_t i = 0; i < river->sensor_count; i++) {
    const hw_sensor *s = &river->sensors[i];
    if (s->location_m > location_m && (!first || s->location_m < first->location_m)) {
      first = s;
    }
  }
  return first;
}

static double travel_s(const hw_river *river, double from_m, double to_m) {
  hw_transport *transport = NULL;
  if (hw_transport_create(river, NULL, &transport) != HW_OK) {
    const hw_quantity *velocity = &river->hydraulics.velocity_m_s;
    return velocity->certainty == HW_UNKNOWN || river->reach_count ? NAN : (to_m - from_m) / velocity->value;
  }
  const hw_leg leg = hw_transport_leg(transport, from_m, to_m);
  hw_transport_free(transport);
  return leg.travel_s;
}

hw_source hw_relative_error(const hw_river *river, const hw_source *found, const hw_source *truth) {
  const hw_sensor *first = first_below(river, truth->location_m);
  const double distance_m = first ? first->location_m - truth->location_m : NAN;
  const double age_s = first ? travel_s(river, truth->location_m, first->location_m) : NAN;
  return (hw_source){.mass_g = fabs(found->mass_g - truth->mass_g) / truth->mass_g,
                     .location_m = fabs(found->location_m - truth->location_m) / distance_m,
                     .time_s = fabs(found->time_s - truth->time_s) / age_s};
}

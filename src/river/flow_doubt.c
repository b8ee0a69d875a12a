#include "river/flow_doubt.h"

#include <math.h>

double hw__velocity_exponent(const hw_river *river) {
  const double m = river->hydraulics.velocity_exponent;
  return m > 0 ? m : HW__VELOCITY_EXPONENT;
}

double hw__velocity_exponent_sd(const hw_river *river) {
  return river->hydraulics.velocity_exponent > 0 ? 0 : HW__EXPONENT_DOUBT;
}

void hw__flow_doubt(hw_range *time_s, double last_s, double next_s, double exponent, double z) {
  const double left_s = time_s->mid - last_s;
  if (!(left_s > 0)) {
    return; /* NAN included */
  }
  const double wandered_s = left_s * fmax(1 - left_s / (next_s - last_s), 0);
  const double sd = fmin(HW__FLOW_DOUBT_A_DAY * sqrt(wandered_s / 86400), HW__FLOW_DOUBT_MOST);
  const double slower = exp(z * exponent * sd);
  time_s->hi = time_s->mid + hypot(time_s->hi - time_s->mid, left_s * (slower - 1));
  time_s->lo = time_s->mid - hypot(time_s->mid - time_s->lo, left_s * (1 - 1 / slower));
}

bool hw__flow_silence(const hw_river *river, double t_s, double *last_s, double *next_s) {
  size_t known = 0, later = river->flow_count; /* rows before `known` are not after t_s */
  while (known < later) {
    const size_t middle = known + (later - known) / 2;
    if (river->flow[middle].time_s <= t_s) {
      known = middle + 1;
    } else {
      later = middle;
    }
  }
  if (known == 0) {
    return false;
  }
  *last_s = river->flow[known - 1].time_s;
  *next_s = known < river->flow_count ? river->flow[known].time_s : INFINITY;
  return *next_s - *last_s > HW__FLOW_SILENCE_S;
}

/* What a release on a branch can come to at most, told by the sensors' own pulses before anything is drawn. A branch
 * that cannot come near the best is not asked at all.
 *
 * A release that explains a pulse is worth what the sensor's own curve explains, less what it pays for meeting it: the
 * first pulse might have come at any time of the search, with any mass, width and asymmetry; the next ones at any time
 * and width that the local doubt of the water in between leaves. So the best that can be is known in closed form
 * (quadratic.h). Where a pulse costs more than it is worth, its sensor is better taken for wrong. */
#include <float.h>
#include <math.h>

#include "posterior/coordinates.h"
#include "posterior/network_inside.h"
#include "posterior/quadratic.h"

/* Standard deviations are taken for so much less than they are: what other pulses tell of the water in between. */
static const double learned = 0.5;

/* What a pulse that is explained is worth at most: its sensor right, with a curve as good as its own. */
static double worth(const hw__network *n, size_t sensor) {
  const hw__station station = {.fit = &n->own[sensor]};
  return n->series[sensor].count > 0 && n->own[sensor].seen
             ? hw__station_log_probability(&station, n->own[sensor].log_likelihood, NULL) -
                   hw__station_log_without(&station)
             : 0;
}

/* Of the first pulse: passage and mass anywhere in the search, the width by an age that is as likely as it is long,
 * the asymmetry as water that varies makes it. A uniform prior is as dense as a normal one of its width / sqrt(2 pi).
 */
static double first_price(const hw__part *p, const hw__fit *own) {
  static const double as_dense = 0.3989422804014327, shape = 0.5;
  const hw_box *box = &p->river.search;
  const double masses = log(box->hi.mass_g / fmax(box->lo.mass_g, 1e-6 * box->hi.mass_g));
  const double sd[HW__INSTANT_SIZE] = {[HW__PASSAGE] = as_dense * (box->hi.time_s - box->lo.time_s),
                                       [HW__LN_VARIANCE] = own->lasting ? 0 : learned * as_dense,
                                       [HW__LN_AREA] = as_dense * masses,
                                       [HW__LN_SKEW] = own->lasting ? 0 : learned * shape};
  return hw__price_of_meeting(&own->near, sd);
}

/* Of one more pulse. */
static double next_price(const hw__doubt *least, const hw__fit *own, double open_s) {
  const double sd[HW__INSTANT_SIZE] = {
      [HW__PASSAGE] = learned * open_s, [HW__LN_VARIANCE] = own->lasting ? 0 : learned * least->local_d};
  return hw__price_of_meeting(&own->near, sd);
}

/* The least local doubt of any reach. */
static hw__doubt least_doubt(const hw_river *river) {
  const hw_hydraulics *h = &river->hydraulics;
  hw__doubt least = {.local_v = hw__spread_of_quantity(&h->velocity_m_s).local,
                     .local_d = hw__spread_of_quantity(&h->dispersion_m2_s).local};
  for (size_t i = 0; i < river->reach_count; i++) {
    least.local_v = fmin(least.local_v, hw__spread_of_reach(&river->reaches[i].velocity_doubt, &h->velocity_m_s).local);
    least.local_d =
        fmin(least.local_d, hw__spread_of_reach(&river->reaches[i].dispersion_doubt, &h->dispersion_m2_s).local);
  }
  return least;
}

/* How far off, s, the nearest other pulse leaves this one by the local doubt of the water between them; INFINITY: there
 * is no other. */
static double left_open(const hw__network *n, const hw__part *p, const hw__doubt *least, size_t i) {
  const hw__quadratic *here = &n->own[p->sensors[i]].near;
  double open_s = INFINITY;
  for (size_t j = 0; j < p->river.sensor_count; j++) {
    if (j != i && worth(n, p->sensors[j]) > 0) {
      const double apart_m = fabs(p->river.sensors[i].location_m - p->river.sensors[j].location_m);
      const double apart_s = fabs(here->at[HW__PASSAGE] - n->own[p->sensors[j]].near.at[HW__PASSAGE]);
      open_s = fmin(open_s, least->local_v * hw__averaged(apart_m) * apart_s);
    }
  }
  return open_s;
}

double hw__part_promise(const hw__network *n, const hw__part *p) {
  const hw__doubt least = least_doubt(&p->river);
  double sum = 0, dearer = INFINITY;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const size_t s = p->sensors[i];
    const double here = worth(n, s);
    if (!(here > 0)) {
      continue;
    }
    const double open_s = left_open(n, p, &least, i);
    const double next = isfinite(open_s) ? next_price(&least, &n->own[s], open_s) : 0;
    sum += fmax(here - next, 0);
    dearer = fmin(dearer, fmax(first_price(p, &n->own[s]) - next, 0)); /* one of them is the first */
  }
  return sum > 0 ? fmax(sum - dearer, DBL_MIN) : 0;
}

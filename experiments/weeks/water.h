/* The water of a week as it truly is, which its river file only says with doubt.
 *
 * An instantaneous release in a uniform river (Huang, Jiang and Liu, eq. (1)):
 *
 *   c = s / (A sqrt(4 pi D T)) exp(-(X - v T)^2 / (4 D T) - k T)
 *
 * Where velocity and dispersion change along the way, the mean and the variance of the travel time add up over cells
 * of 250 m (dx / v and 2 D dx / v^3), and the pulse has the shape of eq. (1) with the v and D that give this mean and
 * variance over the whole way. Written without the library's transport, so that the two can be held against each other.
 *
 * What real water does besides:
 *   storage   water rests in pools: rests are met at a rate per time under way, and last exponentially. Their sum over
 *             a way of lambda expected rests of mean length tau has the density
 *               exp(-lambda - u / tau) sqrt(lambda / (tau u)) I1(2 sqrt(lambda u / tau)),  and exp(-lambda) at u = 0
 *   swinging  velocity, discharge and dispersion swing together: eq. (1) in the clock of the water that has passed
 *   lasting   a release of some duration: the mean of eq. (1) over its instants
 */
#ifndef WEEKS_WATER_H
#define WEEKS_WATER_H

#include "headwater/river.h"
#include "headwater/rng.h"

enum { WATER_CELLS = 640, WATER_CELL_M = 250 };

/* What the river file says, by cells. */
typedef struct {
  double from_m; /* upper end of the first cell */
  size_t cells;
  double velocity_m_s[WATER_CELLS], dispersion_m2_s[WATER_CELLS];      /* medians */
  double velocity_factor[WATER_CELLS], dispersion_factor[WATER_CELLS]; /* 1: exactly known */
  double discharge_m3_s;                                               /* at the median velocity */
  bool discharge_follows;                                              /* only the area is known */
  double decay_per_s;
} water_stated;

/* What it does not say; all zero: nothing. */
typedef struct {
  double dispersion_ratio;            /* true over stated; 0: 1 */
  double rests_per_s, rest_s;         /* storage; the stated velocity is that of the pulse, rests included */
  double swing, swing_s, swing_phase; /* share, period, phase */
} water_secret;

typedef struct {
  double from_m;
  size_t cells;
  double travel_s[WATER_CELLS + 1], variance_s2[WATER_CELLS + 1]; /* from from_m to each cell's lower end */
  double discharge_m3_s, decay_per_s;
  water_secret secret;
} water;

/* The truth behind a statement: a factor F is doubt of F^0.8 common to the river and F^0.6 that changes along it with a
 * correlation length of 5 km. Where the factor changes along the river, one cause moves all of it, each place by as
 * much as it is in doubt. A discharge that follows the velocity follows the common part: locally a river is faster
 * where it is narrower. */
void water_draw(const water_stated *stated, const water_secret *secret, hw_rng *rng, water *out);

/* Time the water takes from a place to another further down. */
double water_travel_s(const water *w, double from_m, double to_m);

/* Standard deviation of that time in a pulse, rests not counted. */
double water_spread_s(const water *w, double from_m, double to_m);

/* The source's time is when the release begins; duration 0: an instant.
 * Returned: 0 at and above the source, and before the release. */
double water_concentration(const water *w, const hw_source *source, double duration_s, double x_m, double t_s);

#endif

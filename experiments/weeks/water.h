/* The water of a week as it truly is, which its river file only says with doubt.
 *
 * An instantaneous release in a uniform river (Huang, Jiang and Liu, eq. (1)):
 *
 *   c = s / (A sqrt(4 pi D T)) exp(-(X - v T)^2 / (4 D T) - k T)
 *
 * Where velocity and dispersion change along the way, the mean and the variance of the travel time add up over cells
 * of 250 m (dx / v and 2 D dx / v^3), and the pulse has the shape of eq. (1) with the v and D that give this mean and
 * variance over the whole way. Written without the library's transport, so that the two can be held against each other.
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
  double velocity_m_s[WATER_CELLS], dispersion_m2_s[WATER_CELLS]; /* medians */
  double velocity_factor, dispersion_factor;                      /* 1: exactly known */
  double discharge_m3_s;                                          /* at the median velocity */
  bool discharge_follows;                                         /* only the area is known */
  double decay_per_s;
} water_stated;

typedef struct {
  double from_m;
  size_t cells;
  double travel_s[WATER_CELLS + 1], variance_s2[WATER_CELLS + 1]; /* from from_m to each cell's lower end */
  double discharge_m3_s, decay_per_s;
} water;

/* The truth behind a statement: a factor F is doubt of F^0.8 common to the river and F^0.6 that changes along it with a
 * correlation length of 5 km. A discharge that follows the velocity follows the common part: locally a river is faster
 * where it is narrower. */
void water_draw(const water_stated *stated, hw_rng *rng, water *out);

/* Time the water takes from a place to another further down. */
double water_travel_s(const water *w, double from_m, double to_m);

/* Standard deviation of that time in a pulse. */
double water_spread_s(const water *w, double from_m, double to_m);

/* 0 at and above the source, and before the release. */
double water_concentration(const water *w, const hw_source *source, double x_m, double t_s);

#endif

/* The river's own clock: time in which a river with changing flow is steady.
 *
 * Where all velocities change by one factor f(t), and dispersion with them, the flow is steady in tau = int f dt, and
 * eq. (1) holds there to the letter. With several gauges f depends on the place too; then the clock is made by
 * following the water: tau(x, t) is such that whoever drifts from x to y needs theta(x, y) of it, the travel time of
 * the river file. So times are warped at the door and back at the window, and between them the river is steady:
 *
 *   tau_release + theta(source, sensor) = tau_arrival.
 *
 * Velocity follows discharge^m, the area discharge^(1 - m). What passes a place in a second is s h(tau) dtau/dt, with h
 * the steady answer; divided by Q(x, t) it is the concentration:
 *
 *   c(x, t) = c_steady(tau) / dilution,   dilution = (Q(x, t) / Q_reference) / (dtau/dt),
 *
 * so a reading times the dilution is what the steady river would have shown. With one factor the dilution is the
 * area's, f^((1 - m) / m). Decay goes by the clock on the wall: use it with the ages in t.
 *
 * One gauge: one factor, in closed form. Several: the discharge at a place is the reference there times the geometric
 * mean of what the nearest gauges above and below show, each with the lag of the wave, whose speed is v / (1 - m).
 * Spreading in tau is then taken as in the steady river, which holds to first order in how f differs along the way.
 *
 * Every function takes NULL for a river whose flow is steady: tau is t, and the dilution 1. */
#ifndef HW_RIVER_CLOCK_H
#define HW_RIVER_CLOCK_H

#include "headwater/river.h"

typedef struct hw__clock hw__clock;

/* Returned: *out, NULL when the river has no flow readings
 * Status:   HW_EHYDRAULICS without velocities and discharges, HW_ENOMEM */
hw_status hw__clock_create(const hw_river *river, hw__clock **out);
void hw__clock_free(hw__clock *clock);

/* One gauge speaks for the whole river, so that the clock is exact. */
bool hw__clock_is_one_factor(const hw__clock *clock);

/* Time on the wall to the river's own at this place, and back. Both grow without bound in both directions: before the
 * first and after the last flow reading its discharge stays. */
double hw__clock_in(const hw__clock *clock, size_t branch, double x_m, double time_s);
double hw__clock_out(const hw__clock *clock, size_t branch, double x_m, double tau_s);
/* Discharge here and now over the reference discharge. */
double hw__clock_ratio(const hw__clock *clock, size_t branch, double x_m, double time_s);
/* A concentration times this is what the steady river would show at the same tau. */
double hw__clock_dilution(const hw__clock *clock, size_t branch, double x_m, double time_s);

#endif

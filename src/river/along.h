/* Travel time as a coordinate along the river, for code inside the library. */
#ifndef HW_RIVER_ALONG_H
#define HW_RIVER_ALONG_H

#include "headwater/transport.h"

/* Flow velocity at a place. */
double hw__transport_velocity(const hw_transport *transport, double x_m);
/* Running travel time Theta(x): Theta(b) - Theta(a) is what water takes from a to b. */
double hw__transport_theta(const hw_transport *transport, double x_m);
/* The place where Theta has this value: the inverse of the above. */
double hw__transport_place(const hw_transport *transport, double theta_s);

/* The three running integrals that a leg is made of, for those who keep many sources at once. Differences between two
 * places give the leg. They scale: with velocities times p and dispersions times q, theta and decay are divided by p
 * and the variance is multiplied by q / p^3. */
typedef struct {
  double theta;    /* int dx / v, s */
  double variance; /* int 2 D / v^3 dx, s^2 */
  double decay;    /* int k / v dx */
} hw__integrals;
hw__integrals hw__transport_integrals(const hw_transport *transport, double x_m);
/* The same on a branch of a network. Differences count where the water of one place passes the other. */
hw__integrals hw__transport_integrals_on(const hw_transport *transport, size_t branch, double x_m);

/* Does the discharge at this place follow the velocity (the area is what is known), or is it itself known? */
bool hw__river_discharge_follows(const hw_river *river, double x_m);

#endif

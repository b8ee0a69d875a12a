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

#endif

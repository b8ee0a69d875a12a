/* The posterior by brute force, for rivers whose velocity and dispersion are known: a lattice over passage time and ln
 * age, the mass summed on a lattice of its own. Nothing here is shared with the engine but the transport. */
#ifndef QUADRATURE_H
#define QUADRATURE_H

#include "headwater/headwater.h"

/* Given:    truth, only to take the relative part of the noise from
 * Returned: medians and standard deviations of mass, place and time */
void hw_quadrature(const hw_river *river, const hw_reading *readings, size_t count, const hw_source *truth,
                   hw_source *median, hw_source *spread);

#endif

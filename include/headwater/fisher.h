/* How well could these sensors know a source at all: the Cramer-Rao bound.
 *
 * Readings c_i = s g_i + noise carry the Fisher information
 *
 *   J = sum_i (dc_i/dy)(dc_i/dy)' / sigma_i^2,   y = (mass, location, time, ln velocity, ln dispersion),
 *
 * and no unbiased method has a covariance below the inverse of J. Where the river file gives velocity or
 * dispersion with a factor, 1/ln(factor)^2 is added for it; where they are known, their rows are left
 * out. A sensor's uncertain gain and its unknown background are worked in as further unknowns. Sigma is
 * the sensor's noise as the posterior engine takes it (noise_absolute and noise_relative, with the same
 * floor where no absolute part is given).
 *
 * Use: hw_fisher_clear, hw_fisher_add per sensor, hw_fisher_bound. Or hw_fisher_source for all at once.
 */
#ifndef HEADWATER_FISHER_H
#define HEADWATER_FISHER_H

#include "headwater/river.h"
#include "headwater/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HW_FISHER_SIZE = 5 };

typedef struct {
  double information[HW_FISHER_SIZE][HW_FISHER_SIZE];
} hw_fisher;

/* Smallest standard deviations any unbiased method can reach. All infinite when not identifiable. */
typedef struct {
  bool identifiable; /* the readings determine mass, place and time at all */
  double mass_g;
  double location_m;
  double time_s;
  double velocity_ratio; /* of ln velocity: 0.02 is 2 %; 0 when known */
  double dispersion_ratio;
} hw_bound;

/* Every sensor read every `every_s` from from_s to to_s. */
typedef struct {
  double from_s;
  double to_s;
  double every_s;
} hw_schedule;

/* Nothing measured yet: what the river file says of velocity and dispersion. */
void hw_fisher_clear(const hw_river *river, hw_fisher *fisher);

/* One sensor's readings at these times added.
 * Given:    transport made from the river; all readings of the sensor in one call
 * Returned: *fisher increased */
void hw_fisher_add(const hw_river *river, const hw_transport *transport, const hw_source *source, size_t sensor,
                   const double *time_s, size_t count, hw_fisher *fisher);

/* The bound of this information. */
void hw_fisher_bound(const hw_river *river, const hw_fisher *fisher, hw_bound *out);

/* The bound for a source seen by the river's sensors on a schedule.
 * Given:    use: one flag per sensor, which of them take part (NULL: all)
 * Status:   HW_EHYDRAULICS without velocity and dispersion; HW_EDOMAIN for a schedule that is not finite, has
 *           every_s <= 0 or more than 1,000,000 times; HW_ENOMEM */
hw_status hw_fisher_source(const hw_river *river, const hw_source *source, const hw_schedule *schedule, const bool *use,
                           hw_bound *out);

/* A schedule that sees all of a source's pulse at all sensors downstream: from the release until the pulse
 * has passed the last one, `count` times.
 * Status: HW_EHYDRAULICS, HW_ENOMEM; HW_EDOMAIN when no sensor lies downstream or count < 2 */
hw_status hw_fisher_schedule(const hw_river *river, const hw_source *source, size_t count, hw_schedule *out);

#ifdef __cplusplus
}
#endif

#endif

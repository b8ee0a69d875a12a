/* Fitting the field model's constants to releases with known truth. */
#ifndef EXPERIMENTS_POPULATION_FIT_H
#define EXPERIMENTS_POPULATION_FIT_H

#include "field/engine.h"
#include "releases.h"

/* What the engine itself reads off the completed pulses of a release, beside its true age. */
typedef struct {
  const release *release;
  size_t count; /* pulses, upstream first */
  double age_s[HW__PULSES], log_lead[HW__PULSES], lead_variance[HW__PULSES], skew[HW__PULSES],
      skew_variance[HW__PULSES];
  double place_m[HW__PULSES];
  double log_recovery[HW__PULSES]; /* discharge x area / mass released; NAN when not comparable */
  const hw_sensor *sensor[HW__PULSES];
} measured;

/* The field model with these constants, seed 1 and 90 % intervals; hw__field_destroy ends it. NULL without memory. */
hw__field *field_on(const hw_river *river, const hw__population *population);
/* All readings of a release, in file order. */
void field_read(hw__field *f, const release *r);

/* Run the engine over the whole release and note its pulses. */
bool population_measure(const release *r, const hw__population *population, measured *out);

/* Learn all fitted constants from the releases that are not of the held-out river (NULL: from all); the
 * chosen ones are taken over from `chosen`, and nothing else of it is used.
 * Returned: *out, and the number of rivers learned from; 0 when memory ran out. */
size_t population_learn(const release *releases, size_t count, const char *left_out, const hw__population *chosen,
                        hw__population *out);

#endif

/* The field model of the posterior engine, for rivers whose dispersion nobody knows.
 *
 * Two levels. Per sensor (trace, lattice): what its readings say about the pulse that passed. For the
 * river (draws): a pulse's age is read from the length of its front by a law learned across rivers, its
 * place follows from age and velocity, the mass from discharge and the area under the pulse.
 *
 * The functions have the signatures of the hw_method table; the method `posterior` hands over to them
 * when the river's dispersion is unknown.
 */
#ifndef HW_FIELD_FIELD_H
#define HW_FIELD_FIELD_H

#include "field/population.h"
#include "headwater/method.h"

hw_status hw__field_create(const hw_problem *problem, const hw_options *options, void **state);
/* The same with other constants than the shipped ones (copied): for studies that leave rivers out. */
hw_status hw__field_create_with(const hw_problem *problem, const hw_options *options, const hw__population *population,
                                void **state);
/* Status: HW_EDOMAIN for a time beyond 1e12 s or a concentration beyond 1e12 g/m3 in size. */
hw_status hw__field_observe(void *state, const hw_reading *reading);
hw_status hw__field_estimate(void *state, hw_estimate *out);
/* How many sensors' pulses the answer stands on. */
size_t hw__field_pulses(const void *state);
void hw__field_destroy(void *state);
hw_status hw__field_samples(void *state, hw_sample *out, size_t capacity, size_t *count);
hw_status hw__field_predict(void *state, const hw_prediction *prediction);

#endif

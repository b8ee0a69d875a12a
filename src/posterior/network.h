/* The engine on a river network: which branch, and where on it?
 *
 * A release on one branch is a release in a river without branches, the branch's course (river/course.h), where sensors
 * of other branches see nothing. So every branch that the pulses allow is asked by itself, by the engine of ade.h, and
 * the evidence it comes to says how probable the branch is, with its share of the channel searched as the prior. A
 * quiet sensor on a tributary speaks against the branches above it by what it should have read, not by a rule.
 *
 * Where the flow changes everything happens in the river's own clock (river/clock.h): readings are warped at the door,
 * answers at the window. Readings are filed with their sensor, and each sensor is fitted once for all branches.
 */
#ifndef HW_POSTERIOR_NETWORK_H
#define HW_POSTERIOR_NETWORK_H

#include "headwater/method.h"

hw_status hw__network_create(const hw_problem *problem, const hw_options *options, void **state);
hw_status hw__network_observe(void *state, const hw_reading *reading);
hw_status hw__network_estimate(void *state, hw_estimate *out);
void hw__network_destroy(void *state);
hw_status hw__network_samples(void *state, hw_sample *out, size_t capacity, size_t *count);
hw_status hw__network_predict(void *state, const hw_prediction *prediction);

#endif

/* Methods that know one steady river without branches, on rivers that are otherwise.
 *
 * Such a method runs once per branch that is searched, along the branch's course (river/course.h), on readings in the
 * river's own clock (river/clock.h), and the run whose estimate fits all readings best is reported: the sum of squares
 * over the readings kept, sensors that its water does not pass being predicted nothing. On a network of one branch that
 * is the method on that river, to the bit. */
#ifndef HW_METHOD_PATHS_H
#define HW_METHOD_PATHS_H

#include "headwater/method.h"

typedef struct hw__paths hw__paths;

/* Does this river ask for it? */
bool hw__paths_needed(const hw_method *method, const hw_river *river);
/* problem->river is borrowed. options are filled. Status: as the method's create; HW_EUNSUPPORTED with a forward model
 * of the user's own, HW_EINPUT when no branch that is searched has a sensor below */
hw_status hw__paths_create(const hw_method *method, const hw_problem *problem, const hw_options *options,
                           hw__paths **out);
hw_status hw__paths_observe(hw__paths *paths, const hw_reading *reading);
hw_status hw__paths_estimate(hw__paths *paths, hw_estimate *out);
hw_status hw__paths_samples(hw__paths *paths, hw_sample *out, size_t capacity, size_t *count);
void hw__paths_free(hw__paths *paths);

#endif

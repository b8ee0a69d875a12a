/* How Table 1's rows of TGD and ATGD came about: not by Algorithms 6 and 1, but by what the authors' public program
 * (github.com/WenjieHuangWayne/OnlineIdentification) does instead. Worked out from what it does, in code of our own,
 * and kept out of the library because it is not causal: the line search looks at all readings, those to come among
 * them.
 *
 *  - both take the vector step 110000, 11000000, 75000 (g, m, min); the paper gives TGD a step of 10
 *  - the tolerance is 5e-5, the paper says 5e-6
 *  - a reading is a time: all four sensors are read at every one, and those that were not read then count as 0
 *  - the gradient takes a thousand times the model against the readings in mg/l
 *  - the second term of the derivative by time lacks the factor 2C
 *  - the line search compares the summed loss over the whole record, there without the thousand, and stops at a time
 * step of 100; trial and step are alike, without the normalisation of Algorithm 2
 */
#ifndef HW_REPRODUCE_PUBLISHED_H
#define HW_REPRODUCE_PUBLISHED_H

#include "headwater/headwater.h"

/* Given:    the paper's river, its real readings in time order, with the line search (ATGD) or without (TGD)
 * Returned: *found after the last reading, *steps taken
 * Status:   HW_EHYDRAULICS, HW_ENOMEM */
hw_status hw_published_learner(const hw_river *river, const hw_reading *readings, size_t count, bool line_search,
                               hw_source *found, size_t *steps);

#endif

/* Standard normal numbers for whoever needs millions: the ziggurat (Marsaglia and Tsang 2000) of 256 layers, from one
 * word of hw_rng_bits as a rule. About eight times as fast as hw_rng_normal, which keeps its numbers for all that is
 * pinned to them. */
#ifndef HW_CORE_NORMAL_H
#define HW_CORE_NORMAL_H

#include "headwater/rng.h"

/* Where the layers end: of equal area under e^(-x^2/2), the lowest with the tail beyond the second entry. */
enum { HW__NORMAL_LAYERS = 256 };
extern const double hw__normal_layer[HW__NORMAL_LAYERS + 1];

double hw__normal(hw_rng *rng);

#endif

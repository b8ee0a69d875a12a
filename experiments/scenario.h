/* Spills that never happened: random rivers, sensors and sources, with readings made by the model itself. */
#ifndef HW_EXPERIMENTS_SCENARIO_H
#define HW_EXPERIMENTS_SCENARIO_H

#include "headwater/headwater.h"

typedef struct {
  hw_river river;
  hw_source truth;
  hw_reading *readings; /* all sensors together, in time order */
  size_t count;
} scenario;

/* Scenario number `index` of a seed: velocity 0.3 to 2 m/s, dispersion 5 to 100 m2/s, 2 to 5 sensors up to 60 km below
 * the source, 12 to 30 readings per pulse, sampled while it passes or by all sensors all the time, and a box in which
 * the truth may lie anywhere. Noise is relative, with a floor of a thousandth of the largest concentration. */
void scenario_make(uint64_t seed, uint64_t index, double noise_relative, scenario *out);
void scenario_free(scenario *s);

#endif

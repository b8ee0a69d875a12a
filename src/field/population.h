/* The constants of the field model as one value, so that a study can run the engine on constants that
 * were fitted without the river under test. The numbers and their meaning: data/population.def. */
#ifndef HW_FIELD_POPULATION_H
#define HW_FIELD_POPULATION_H

typedef struct {
#define HW_POPULATION(name, value, meaning) double name;
#include "../../data/population.def"
#undef HW_POPULATION
} hw__population;

/* What the library ships. */
extern const hw__population hw__population_shipped;

#endif

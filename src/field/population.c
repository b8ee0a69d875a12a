#include "field/population.h"

const hw__population hw__population_shipped = {
#define HW_POPULATION(name, value, meaning) .name = value,
#include "../../data/population.def"
#undef HW_POPULATION
};

/* make fit-population: refit data/population.def on the development releases.
 *
 *   fit_population DATA_FOLDER > data/population.def
 *
 * The engine's own reading of each completed pulse is what is fitted, and that reading leans a little on
 * the constants (the prior of the skew), so it goes round three times.
 */
#include <stdio.h>
#include <stdlib.h>

#include "population_fit.h"

static void print_constant(const char *name, double value, const char *meaning) {
  printf("HW_POPULATION(%s, %.6g, \"%s\")\n", name, value, meaning);
}

static void print_population(const hw__population *p, size_t releases, size_t rivers) {
  printf(
      "/* What real rivers taught the field model: every number it was not told by the river file.\n"
      " *\n"
      " * Written by `make fit-population`; do not edit the fitted ones by hand. Provenance: %zu dye and salt\n"
      " * releases in %zu rivers of the TIERRAS compilation (zenodo 17051166; mostly USGS dye studies compiled by\n"
      " * Nordin and Sabol, 1974), each with known mass, place and time. The data are not part of this project.\n"
      " * The first five rows were chosen by `make study-rivers`; the others are fitted.\n"
      " *\n"
      " * One row a constant: name, value, meaning. SI units; ln of seconds, m/s, m3/s.\n"
      " */\n",
      releases, rivers);
#define HW_POPULATION(name, value, meaning) print_constant(#name, p->name, meaning);
#include "../data/population.def"
#undef HW_POPULATION
}

int main(int argc, char **argv) {
  release *releases = NULL;
  const size_t count = releases_load(argc > 1 ? argv[1] : "../shared/data/rivers", &releases);
  if (count == 0) {
    fprintf(stderr, "fit-population: skipped, no releases found\n");
    return 1;
  }
  measured *pulses = calloc(count, sizeof *pulses);
  hw__population population = hw__population_shipped;
  size_t rivers = 0;
  for (int round = 0; pulses && round < 3; round++) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
      used += population_measure(&releases[i], &population, &pulses[used]);
    }
    rivers = population_fit(pulses, used, NULL, &population, &population);
  }
  print_population(&population, count, rivers);
  free(pulses);
  releases_free(releases, count);
  return 0;
}

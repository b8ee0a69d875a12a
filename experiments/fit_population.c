/* make fit-population: refit data/population.def on the development releases.
 *
 *   fit_population DATA_FOLDER > data/population.def
 */
#include <stdio.h>
#include <stdlib.h>

#include "population_fit.h"

static void print_constant(const char *name, double value, const char *meaning) {
  printf("HW_POPULATION(%s, %.5g, \"%s\")\n", name, value, meaning);
}

static void print_population(const hw__population *p, size_t releases, size_t rivers) {
  printf(
      "/* What real rivers taught the field model: every number it was not told by the river file.\n"
      " *\n"
      " * Written by `make fit-population`; do not edit the fitted ones by hand. Provenance: %zu dye and salt\n"
      " * releases in %zu rivers of the TIERRAS compilation (zenodo 17051166; mostly USGS dye studies compiled by\n"
      " * Nordin and Sabol, 1974), each with known mass, place and time. The data are not part of this project.\n"
      " * The first three rows were chosen by `make study-rivers`, the next three by `make choose-population`; the "
      "others are\n"
      " * fitted.\n"
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
  hw__population population;
  const size_t rivers = population_learn(releases, count, NULL, &hw__population_shipped, &population);
  print_population(&population, count, rivers);
  releases_free(releases, count);
  return 0;
}

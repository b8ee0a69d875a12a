/* make study-advise: is one advised sample worth more than one at a fixed place, or anywhere?
 *
 *   study_advise DATA_FOLDER [CASES_A_NETWORK]   (holding rivers/ and networks/)
 *
 * Rivers: tracer releases of which the first sensor is read until its pulse has fallen to half; a sample can be taken
 * at the other sensors, at any time until the last of them was read. The field model answers, and the samples are real.
 * Networks: spills of our own in the river files: from a candidate, through velocities and dispersions drawn from the
 * file's doubt, common and local; every sensor is read until the first has seen the pulse fall to half. Samples can be
 * taken anywhere.
 *
 * Advised: the best by hw_advise. Fixed: the same rule in all cases, of several the best in hindsight. Random: the mean
 * over places and times at random. Judged by log2 of the 90 % region's length and by the entropy over the candidates,
 * both after the true reading (hw_advice_after) and before; differences are paired, with 95 % intervals by bootstrap.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "advise/trial.h"

int main(int argc, char **argv) {
  static results rivers, networks;
  if (argc < 2) {
    fprintf(stderr, "study_advise DATA_FOLDER [CASES_A_NETWORK]\n");
    return 2;
  }
  const long each = argc > 2 ? strtol(argv[2], NULL, 10) : 10;
  char path[512];
  release *list;
  hw_rng rng;
  hw_rng_seed(&rng, 7, 0);
  snprintf(path, sizeof path, "%s/rivers", argv[1]);
  const size_t count = releases_load(path, &list);
  for (size_t i = 0; i < count; i++) {
    judge_release(&list[i], &rng, &rivers);
  }
  releases_free(list, count);
  hw_reading *readings = malloc(READINGS_MOST * sizeof *readings);
  for (long k = 0; k < each && readings; k++) {
    for (int i = 1; i <= 8; i++) {
      snprintf(path, sizeof path, "%s/networks/steady-%02d/river.yaml", argv[1], i);
      judge_network(path, (uint64_t)(100 * k + i), readings, &networks);
    }
  }
  free(readings);
  if (count == 0) {
    printf("no data in %s: left out\n", argv[1]);
    return 0;
  }
  const bool fine = print_results("rivers, real samples of withheld sensors", &rivers);
  return print_results("networks, simulated", &networks) && fine ? 0 : 1;
}

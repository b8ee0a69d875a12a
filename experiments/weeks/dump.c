#include "weeks/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

static bool write_file(const char *folder, const char *name, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "w");
  return out && fputs(text, out) >= 0 && fclose(out) == 0;
}

bool dump_week(const char *folder, uint64_t index, const week *w) {
  char path[4000], truth[4096];
  snprintf(path, sizeof path, "%s/week-%" PRIu64, folder, index);
  int at = snprintf(truth, sizeof truth, "%.10g,%.10g,%.10g\ncandidate %d\nfaulty %s\nstrata", w->truth.mass_g,
                    w->truth.location_m, w->truth.time_s, w->guilty + 1, w->faulty[0] ? w->faulty : "none");
  for (size_t s = 0; s < STRATA; s++) {
    if (w->strata & stratum_bit((stratum)s)) {
      at += snprintf(truth + at, sizeof truth - (size_t)at, " %s", stratum_name((stratum)s));
    }
  }
  snprintf(truth + at, sizeof truth - (size_t)at, "\n");
  mkdir(folder, 0777);
  mkdir(path, 0777);
  return write_file(path, "river.yaml", w->river) && write_file(path, "readings.csv", w->readings) &&
         write_file(path, "truth.txt", truth);
}

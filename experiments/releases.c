#include "releases.h"

#include <stdlib.h>
#include <string.h>

enum { READINGS_MOST = 4096 };

bool release_read(const char *river_path, const char *readings_path, release *out) {
  hw_error error = {{0}};
  hw_reader *reader = NULL;
  out->readings = NULL;
  out->count = 0;
  hw_status status = hw_river_load(river_path, NULL, NULL, &out->river, &error);
  if (status == HW_OK) {
    status = hw_reader_open(readings_path, &out->river, &reader, &error);
  }
  if (status == HW_OK) {
    status = hw_reader_rest(reader, READINGS_MOST, &out->readings, &out->count, &error);
  }
  hw_reader_free(reader);
  if (status != HW_OK) {
    fprintf(stderr, "%s\n", error.text[0] ? error.text : hw_status_text(status));
    return false;
  }
  return true;
}

size_t releases_load(const char *folder, release **out) {
  char path[512], readings[512], line[512];
  snprintf(path, sizeof path, "%s/truth.csv", folder);
  FILE *truth = fopen(path, "r");
  *out = NULL;
  if (!truth) {
    return 0;
  }
  release *list = calloc(256, sizeof *list);
  size_t count = 0;
  while (list && count < 256 && fgets(line, sizeof line, truth)) {
    release *r = &list[count];
    if (sscanf(line, "%63[^,],%*d,%*d,%lf,%lf,%lf", r->name, &r->truth.mass_g, &r->truth.location_m,
               &r->truth.time_s) != 4) {
      continue; /* the header */
    }
    snprintf(path, sizeof path, "%s/%s/river.yaml", folder, r->name);
    snprintf(readings, sizeof readings, "%s/%s/readings.csv", folder, r->name);
    if (release_read(path, readings, r)) {
      r->river.substance = *hw_substance_find("rhodamine_wt");
      count++;
    }
  }
  fclose(truth);
  *out = list;
  return count;
}

void releases_free(release *releases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hw_river_free(&releases[i].river);
    free(releases[i].readings);
  }
  free(releases);
}

bool release_same_river(const char *a, const char *b) {
  return strncmp(a, b, 3) == 0;
}

bool release_mass_is_comparable(const char *name) {
  return strncmp(name, "SAB_4-16-72", 11) != 0 && strncmp(name, "LOO", 3) != 0;
}

/* The measured releases with known truth (../shared/data), for fitting and judging the field model. */
#ifndef EXPERIMENTS_RELEASES_H
#define EXPERIMENTS_RELEASES_H

#include "headwater/headwater.h"

typedef struct {
  char name[64];
  hw_river river;
  hw_reading *readings; /* in file order */
  size_t count;
  hw_source truth;
} release;

/* Given:    the folder that holds truth.csv and one folder a release
 * Returned: *out and its length, to be released with releases_free; 0 when the folder is not there */
size_t releases_load(const char *folder, release **out);
/* One release from its two files. Returned: false, with a line on stderr, when they cannot be read. */
bool release_read(const char *river_path, const char *readings_path, release *out);
void releases_free(release *releases, size_t count);

/* The same river? Releases are named RIVER_date, so the first three letters tell. */
bool release_same_river(const char *a, const char *b);
/* Is the mass that passed comparable with the mass released? Not where the README of the data says so. */
bool release_mass_is_comparable(const char *name);

#endif

/* The Songhua in 2005, told from its bulletins: what was known at the end of each day. */
#ifndef EXPERIMENTS_SONGHUA_H
#define EXPERIMENTS_SONGHUA_H

#include "headwater/headwater.h"

enum { SONGHUA_DAYS = 40, SONGHUA_SAMPLES = 256, SONGHUA_TOWNS = 2 };

typedef struct {
  double end_s; /* seconds since 1970 */
  size_t samples;
  hw_trust trust;
  char reason[160]; /* of the trust */
  bool has_source;
  hw_range place_m, released_s; /* 90 % intervals */
  hw_range front_m;             /* how far down the level of the alarm has come; NANs: not known */
  hw_range first_s[SONGHUA_TOWNS], peak_s[SONGHUA_TOWNS];
  double exceeds[SONGHUA_TOWNS];
} songhua_day;

typedef struct {
  hw_river river;
  hw_reading readings[SONGHUA_SAMPLES];
  size_t reading_count;
  songhua_day days[SONGHUA_DAYS];
  size_t day_count;
} songhua_story;

/* Reads river.yaml and bulletins.csv of the folder and tells the story. Returned: false, with a line on stderr. */
bool songhua_tell(const char *folder, songhua_story *out);
void songhua_free(songhua_story *story);

/* Between which samples the level was first passed at a station; NANs: never seen to be passed. lo: the last one below
 * before it, NAN when the record begins above. */
hw_range songhua_passed(const songhua_story *story, double location_m, double level_g_m3);
/* When the highest sample was taken there; NAN: none. */
double songhua_highest_s(const songhua_story *story, double location_m);

/* One picture: river kilometre against date, what was said of the source, and of Jiamusi. */
hw_status songhua_draw(const songhua_story *story, const char *picture, hw_error *error);

#endif

/* A river and how it is watched: all of a week but the truth. */
#ifndef WEEKS_SETTING_H
#define WEEKS_SETTING_H

#include "weeks/record.h"

enum { SETTING_CANDIDATES = 5, SETTING_REACHES = 4 };

typedef struct {
  double velocity_m_s, dispersion_m2_s;      /* of the river, below the last reach */
  double velocity_factor, dispersion_factor; /* 1: exactly known */
  size_t reaches;
  double to_m[SETTING_REACHES], reach_velocity_m_s[SETTING_REACHES], reach_dispersion_m2_s[SETTING_REACHES];
  double reach_velocity_factor[SETTING_REACHES], reach_dispersion_factor[SETTING_REACHES]; /* 0: the river's */
  double area_m2;
  water_stated stated;
  water_secret secret;
  record_plan plan;
  hw_box box;
  bool declared; /* the file states the background */
  double candidate_m[SETTING_CANDIDATES];
  uint64_t strata;
} setting;

/* At most 60 km of search and 50 km of sensors: 441 cells of the water's 640. */
void setting_draw(stratum special, hw_rng *rng, setting *out);

void setting_mark(setting *s, stratum which);

/* Is a sensor of such a week broken, or its noise not what it should be? */
bool is_broken(stratum special);

/* The river file. NULL: out of memory. */
char *setting_write(const setting *s, uint64_t index);

#endif

/* What the sensors of a week put on paper. */
#ifndef WEEKS_RECORD_H
#define WEEKS_RECORD_H

#include "weeks/strata.h"
#include "weeks/water.h"

enum { RECORD_SENSORS = 60 };

typedef struct {
  double location_m;
  double background_g_m3;
  double wave_g_m3, wave_period_s, wave_phase; /* of a background that drifts */
} station;

/* How the record is kept. */
typedef struct {
  size_t sensors;
  station station[RECORD_SENSORS]; /* from upstream to downstream */
  double begin_s, every_s;
  bool irregular;   /* each step half to one and a half times as long */
  double end_share; /* of the highest reading: the record ends when a sensor has fallen to it; 0: after the last */
  double noise_relative, noise_absolute_g_m3;
  double limit_g_m3; /* 0: not censored */
  bool zeros;        /* negative readings are written as 0 */
  bool gaps, duplicates, late, spikes;
  double duration_s; /* of the release */
  stratum special;   /* or ORDINARY */
} record_plan;

typedef struct {
  double time_s, value_g_m3, signal_g_m3; /* what is written, and the pulse alone without noise */
  unsigned sensor;
  bool below_limit;
} record_row;

typedef struct {
  record_row *rows; /* in the order of time, until record_write */
  size_t count, capacity;
  size_t faulty; /* sensor, or RECORD_SENSORS */
} record;

/* Readings of a source in this water. False: nobody saw enough of the pulse to speak of a spill (no sensor has four
 * readings five standard deviations above its background), or somebody's record begins inside the pulse (or nobody's,
 * in a week that is about that), or the peak is not 20 to 3000 times the absolute noise, or the fault has no sensor to
 * strike; *out must then be freed all the same. In a week without a spill the source only says how long the record is.
 */
bool record_make(const record_plan *plan, const water *w, const hw_source *truth, hw_rng *rng, record *out);

/* Largest signal in the record. */
double record_peak(const record *r);
/* Some sensor's signal has risen to its highest and fallen clearly below half of it. */
bool record_fallen(const record_plan *plan, const record *r);

/* The CSV, with what clerks do to it: duplicates, rows that come late. NULL: out of memory. */
char *record_write(const record_plan *plan, const record *r, hw_rng *rng);
void record_free(record *r);

#endif

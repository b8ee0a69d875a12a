/* What one sensor has said: a bounded, time-ordered history and what it shows at a glance.
 *
 * Readings may arrive in any order: each is put where it belongs, so late and in-order arrival give the
 * same history as long as it fits (HW__TRACE_SIZE different times). Beyond that neighbours are merged,
 * densest first and quiet ones much sooner, so that a pulse keeps its resolution and memory stays as it is.
 */
#ifndef HW_FIELD_TRACE_H
#define HW_FIELD_TRACE_H

#include <stdbool.h>

#include "field/population.h"
#include "headwater/reading.h"
#include "headwater/river.h"

enum { HW__TRACE_SIZE = 512, HW__OUTLINE_SIZE = 96 };

typedef struct {
  double time_s;
  double value_g_m3; /* mean of the readings merged here; for a non-detect its limit */
  double count;
  bool below_limit;
  bool clipped; /* at or above its value: the sensor cannot read more */
} hw__entry;

typedef struct {
  size_t count;
  hw__entry entry[HW__TRACE_SIZE];
  double clean[HW__TRACE_SIZE]; /* above background, lone spikes cut; valid after hw__trace_settle */

  double background_g_m3;
  double floor_g_m3;    /* scatter of the background, at least what the sensor declares */
  double smallest_g_m3; /* smallest positive reading */
  size_t onset;         /* first entry above the background; count when there is none */
  size_t peak;          /* highest entry from the onset on */
  double height_g_m3;   /* its height above background; 0 when nothing rose */
  bool fallen;          /* the pulse has come down to half its height */
  double flatness; /* how long it stayed above eight tenths of its height, over how long it took to rise there: about
                      1 after an instant's release, 2.7 for the longest of a hundred real ones. NAN with fewer than
                      three readings on the rise */
  size_t top;      /* the first entry above eight tenths */
  size_t spikes;
  double spike_s, spike_g_m3; /* the last one */
} hw__trace;

/* Put a reading where it belongs. Readings of one instant are averaged (a copy changes nothing); a
 * measured value outranks a non-detect. */
void hw__trace_insert(hw__trace *trace, const hw_reading *reading);

/* Work out background, spikes, onset and peak afresh from the history. */
void hw__trace_settle(hw__trace *trace, const hw_sensor *sensor);

/* background.c: the background, its noise and the onset, from the values cleaned of spikes; part of settling. */
void hw__trace_learn_background(hw__trace *trace, const hw_sensor *sensor);

/* Did the record begin before the pulse had risen to a tenth? Given: a settled trace with a positive height. */
bool hw__trace_front_seen(const hw__trace *trace);
/* A top too flat for an instant's release: it lasted, or goes on. */
static inline bool hw__trace_lasts(const hw__trace *trace) {
  return trace->flatness > 4;
}
/* Area under the readings from the onset on, g s/m3. */
double hw__trace_area(const hw__trace *trace);
/* The first reading below a tenth of the height after the peak; the last one of all where there is none. */
double hw__trace_end_s(const hw__trace *trace);

/* A pulse's readings, thinned to what its shape can use. */
typedef struct {
  double time_s; /* from the outline's anchor */
  double value;  /* share of the height */
  double weight; /* inverse variance, tempered */
} hw__point;

typedef struct {
  size_t count;
  hw__point point[HW__OUTLINE_SIZE];
  double height_g_m3;
  double anchor_s; /* last time at or above a tenth of the height */
} hw__outline;

/* Given: a settled trace with a positive height. Of a release that lasted only the rise is shown: what follows is the
 * release's doing, not the river's. */
void hw__trace_outline(const hw__trace *trace, const hw__population *population, hw__outline *out);

#endif

/* What one sensor has said: its readings in order of time, in bounded room.
 *
 * A reading is put where it belongs, whenever it comes, so that late and early arrival leave the same series as long as
 * it fits. Beyond HW__SERIES_SIZE different times neighbours are merged, the densest first and quiet ones, away from
 * any pulse, twenty times sooner, so that a pulse keeps its resolution. A merged span keeps mean and spread of its
 * times: an expected curve is compared with its mean over that spread (view.h).
 */
#ifndef HW_POSTERIOR_SERIES_H
#define HW_POSTERIOR_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/reading.h"

enum { HW__SERIES_SIZE = 384 };

typedef enum {
  HW__BELOW = -1, /* below the value: a non-detect */
  HW__MEASURED = 0,
  HW__ABOVE = 1 /* at or above the value: a sensor at the end of its range */
} hw__side;

typedef struct {
  double time_s;    /* mean */
  double spread_s2; /* variance of the times about it */
  double value_g_m3;
  double count;
  hw__side side;
  bool varied; /* its readings have more than one value */
} hw__span;

typedef struct {
  size_t count;
  hw__span span[HW__SERIES_SIZE];
  size_t readings;   /* taken in, duplicates not counted */
  size_t duplicates; /* of the same time and value */
  size_t conflicts;  /* of the same time and another value; the first was kept */
} hw__series;

void hw__series_insert(hw__series *series, const hw_reading *reading);

/* Censored the same way, by limits that are alike: their mean then stands for both. */
static inline bool hw__span_alike(const hw__span *a, const hw__span *b) {
  const double apart = a->value_g_m3 - b->value_g_m3,
               limit = a->value_g_m3 > b->value_g_m3 ? a->value_g_m3 : b->value_g_m3;
  return a->side == b->side && (a->side == HW__MEASURED || (apart <= 0.2 * limit && -apart <= 0.2 * limit));
}

/* `a` and the later `b` as one. Of unlike sides the measured one's kind stays, and a non-detect counts as half its
 * limit: only where there is no room for both. */
hw__span hw__span_merged(const hw__span *a, const hw__span *b);

#endif

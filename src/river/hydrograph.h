/* The discharge at one gauge over time, as a share of its reference. */
#ifndef HW_RIVER_HYDROGRAPH_H
#define HW_RIVER_HYDROGRAPH_H

#include <stddef.h>

/* Between readings it changes evenly; before the first and after the last it stays. */
typedef struct {
  size_t count;    /* at least one */
  double *time_s;  /* strictly growing */
  double *ratio;   /* > 0 */
  double *elapsed; /* int ratio^m dt from the first reading on */
  double exponent; /* m */
} hw__hydrograph;

double hw__hydrograph_ratio(const hw__hydrograph *graph, double time_s);
/* int ratio^m dt since the first reading, in closed form, and the time at which it has a given value. */
double hw__hydrograph_elapsed(const hw__hydrograph *graph, double time_s);
double hw__hydrograph_time(const hw__hydrograph *graph, double elapsed_s);
/* Fills elapsed, once the rest is there. */
void hw__hydrograph_finish(hw__hydrograph *graph);

#endif

/* The discharge at one gauge over time, as a share of its reference. */
#ifndef HW_RIVER_HYDROGRAPH_H
#define HW_RIVER_HYDROGRAPH_H

#include <stddef.h>

/* The last entry at or before v in a growing list, at most the last but one; v may lie outside. Where entries lie about
 * evenly it is found at once. */
size_t hw__last_before(const double *list, size_t count, double v);

/* Between readings it changes evenly; before the first and after the last it stays. */
typedef struct {
  size_t count;   /* at least one */
  double *time_s; /* strictly growing */
  double *ratio;  /* > 0 */
  double *log_ratio;
  double *elapsed; /* int ratio^m dt from the first reading on */
  double exponent; /* m */
} hw__hydrograph;

double hw__hydrograph_ratio(const hw__hydrograph *graph, double time_s);
/* ln of it, where that is what changes evenly between readings: what several gauges are weighed by. */
double hw__hydrograph_log_ratio(const hw__hydrograph *graph, double time_s);
/* int ratio^m dt since the first reading, in closed form, and the time at which it has a given value. */
double hw__hydrograph_elapsed(const hw__hydrograph *graph, double time_s);
double hw__hydrograph_time(const hw__hydrograph *graph, double elapsed_s);
/* Fills log_ratio and elapsed, once the rest is there. */
void hw__hydrograph_finish(hw__hydrograph *graph);

#endif

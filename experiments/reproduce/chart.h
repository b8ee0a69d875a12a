/* Pictures by gnuplot: lines or steps over a common pair of axes, written as SVG. */
#ifndef HW_EXPERIMENTS_CHART_H
#define HW_EXPERIMENTS_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/status.h"

typedef struct {
  const char *label;
  size_t count;
  const double *x; /* NULL: 1, 2, 3, ... */
  const double *y;
  int dash;   /* 1 solid, 2 dashed, 3 dotted; 0 is solid too */
  int colour; /* which of the palette; series of one method share theirs */
} hw_series;

typedef struct {
  const char *title;
  const char *x_label;
  const char *y_label;
  bool log_x, log_y;
  bool marks; /* points on the lines */
  const hw_series *series;
  size_t series_count;
} hw_chart;

/* Draw into the file `path`; its script stays beside it.
 * Status: HW_EIO with a sentence in *error when gnuplot is missing or fails */
hw_status hw_chart_draw(const hw_chart *chart, const char *path, hw_error *error);

#endif

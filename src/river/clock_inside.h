/* What a clock is made of: the gauges' hydrographs, and with several of them a table: for a number of drops of water,
 * the time at which each passes each of many places. A drop is known by the tau at which it passes the reference place,
 * far down. */
#ifndef HW_RIVER_CLOCK_INSIDE_H
#define HW_RIVER_CLOCK_INSIDE_H

#include "river/clock.h"
#include "river/hydrograph.h"

/* Drops leave this often, unless there would be too many of them. */
#define HW__DROP_EVERY_S 600.0

/* What the gauges say about one place. */
typedef struct {
  size_t above, below;     /* gauges; HW_OUTLET: none */
  double above_s, below_s; /* the wave's time from the one above, to the one below */
  double below_weight;     /* 0 .. 1 */
} hw__clock_view;

typedef struct {
  double x_m;
  double theta_s; /* running travel time of the steady river */
  hw__clock_view view;
  double *passes_s; /* by drop, growing */
} hw__clock_node;

typedef struct {
  hw__clock_node *nodes; /* from upstream to downstream */
  size_t count;
} hw__clock_line;

struct hw__clock {
  double exponent;
  size_t gauge_count; /* gauges with readings */
  hw__hydrograph *graphs;
  double *room; /* of all graphs */
  size_t line_count;
  hw__clock_line *lines; /* NULL with one gauge */
  hw__clock_node *nodes;
  double *times; /* of all nodes */
  double *tau_s; /* of the drops, theta taken off */
  size_t drops;
};

/* ln of the discharge over its reference. */
double hw__clock_log_ratio(const hw__clock *clock, const hw__clock_view *view, double time_s);
/* The node at or above x, at most the last but one; and how far x lies on the way to the next, 0 .. 1. */
size_t hw__clock_node_above(const hw__clock_line *line, double x_m);
double hw__clock_share_below(const hw__clock_line *line, size_t i, double x_m);

#endif

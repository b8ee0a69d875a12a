/* What a sensor's series shows at a glance, before anything is fitted. */
#ifndef HW_POSTERIOR_GLANCE_H
#define HW_POSTERIOR_GLANCE_H

#include "headwater/river.h"
#include "posterior/series.h"

typedef struct {
  double low, high; /* a low level and the highest value that a neighbour confirms */
  size_t high_at;
  double high_s;       /* when */
  double scatter;      /* of single readings about the level, by neighbours' differences; 0: not known */
  bool flat;           /* every reading has the same value, more often than readings cut off at zero would */
  double clipped_at;   /* the end of the sensor's range; INFINITY: not met */
  double lowest_limit; /* of non-detects; INFINITY: none */
  double below;        /* non-detects, as a share of all readings */
  double hidden;       /* non-detects that hide the level; 0: it shows */
  double above_half;   /* readings higher than half of the highest, about it */
} hw__glance;

/* All but where the sensor's range ends. */
hw__glance hw__glance_at(const hw__series *s, const hw_sensor *sensor);
/* Sets clipped_at, given the noise: its floor and its share of the signal. */
void hw__glance_clipping(const hw__series *s, double floor, double share, hw__glance *g);
/* The noise that does not shrink with the signal, g/m3. */
double hw__glance_floor(const hw_sensor *sensor, const hw__glance *g);
/* Half-height crossings about the highest span: a first guess of passage and width. Sets above_half. */
void hw__glance_guess(const hw__series *s, hw__glance *g, double *passage, double *width);

#endif

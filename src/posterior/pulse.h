/* What one sensor's readings say by themselves: is there a pulse, and which?
 *
 * A curve of the advection-dispersion equation with passage, width, asymmetry and area of its own, and a level below
 * it, is fitted to the sensor's readings (Levenberg-Marquardt). Nothing is asked of the river, so the fit tells what
 * any explanation could reach: where the pulse is, how well it is known, how large the noise really is, and how badly a
 * release supposed elsewhere does (spill.h).
 */
#ifndef HW_POSTERIOR_PULSE_H
#define HW_POSTERIOR_PULSE_H

#include "posterior/view.h"

typedef struct {
  bool seen;                /* a pulse plainly above the noise */
  bool complete;            /* seen, and come down to half its height */
  bool begun;               /* the record shows its front */
  bool sketchy;             /* seen, by too few readings to tell its shape */
  bool strong;              /* seen, and no wandering of the level could look like it */
  bool lasting;             /* seen, and plainly of a release that lasted: so the curve is one */
  bool few;                 /* readings, a grab sample or two: no pulse can be seen by them, nor a level */
  double peak_s, peak_g_m3; /* of the fitted curve, above background */
  hw__curve curve;
  hw__quadratic near;     /* the ln likelihood of the readings about the best curve of the hypothesis at hand (an
                             instant's, at first), or about what the river expects there */
  double level_g_m3;      /* under the pulse, as best known */
  double floor_g_m3;      /* noise that does not shrink with the signal */
  double inflation;       /* of the variance, over what is stated */
  double memory;          /* of the noise, by its quiet readings (memory.h) */
  double wander_g_m3;     /* by which the level itself wanders: it does not average out */
  double clipped_at_g_m3; /* the end of the range, where readings stay at it; INFINITY: not met */
  double log_likelihood;  /* of the view under the curve (seen) or without */
  double accident;        /* ln of what such a curve costs that has come about by accident */
  double log_without;     /* of the view without a plume */
  double scatter;         /* of single quiet readings, in units of the stated noise; 0: not known */
  bool flat;              /* every reading has the same value, many times over */
  double misfit;          /* root mean square residual in units of the stated noise */
  double first_s, last_s;
} hw__fit;

/* Fits the series, and leaves the view that goes with the fit. */
void hw__pulse_fit(const hw__series *series, const hw_sensor *sensor, const hw__tails *tails, hw__fit *fit,
                   hw__view *view);
/* What the river shows elsewhere, for sensors that cannot tell it by themselves. */
typedef struct {
  double level_g_m3; /* the highest that any has */
  double floor_g_m3; /* the noise of the sensor whose pulse is followed */
} hw__elsewhere;

/* Another view of a sensor whose own pulse is not seen: about where one would pass. Where its readings are too few to
 * tell a level, they stand on one as the river has it elsewhere; where nobody states its noise, it is taken to be no
 * better than elsewhere: readings of next to nothing do not tell how large it is. */
void hw__pulse_look(const hw__series *series, const hw_sensor *sensor, const hw__tails *tails, const hw__focus *focus,
                    const hw__elsewhere *elsewhere, hw__fit *fit, hw__view *view);

#endif

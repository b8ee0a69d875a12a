/* A curve and a level fitted to one sensor's view: Levenberg-Marquardt. */
#ifndef HW_POSTERIOR_DESCENT_H
#define HW_POSTERIOR_DESCENT_H

#include "posterior/view.h"

/* Parameters. LASTED: the root of minus ln of the instant's share of the variance; grows as the duration does. */
enum {
  HW__FIT_PLACE,
  HW__FIT_LN_WIDTH,
  HW__FIT_LN_HEIGHT,
  HW__FIT_LEVEL,
  HW__FIT_LN_SKEW,
  HW__FIT_LASTED,
  HW__FIT_PARAMETERS
};
enum { HW__FIT_RESIDUALS = HW__VIEW_POINTS + 2 };

/* ln of width over travel time of pulses in rivers: where the readings do not tell the asymmetry, this does. */
#define HW__SKEW_MIDDLE (-2.1)

typedef struct {
  const hw_sensor *sensor;
  const hw__tails *tails;
  hw__view *view;
  double origin_s, scale_s;         /* PLACE counts scale_s from origin_s */
  double unit_g_m3;                 /* LEVEL and heights count in it: the noise floor */
  double level_prior, level_sd;     /* what is known of the level beforehand; 0: it is given */
  bool pulse;                       /* a pulse is fitted, or the level alone */
  bool lasting;                     /* its duration too */
  double variance[HW__VIEW_POINTS]; /* of each point's mean, as last worked out */
} hw__pulse_problem;

hw__curve hw__problem_curve(const hw__pulse_problem *q, const double *p);
double hw__problem_level(const hw__pulse_problem *q, const double *p);
/* What the curve p adds at each of the view's points. */
void hw__problem_signals(const hw__pulse_problem *q, const double *p, double out[HW__VIEW_POINTS]);
/* Residuals whose squares add up to minus twice the log-likelihood and log-prior, the noise as last worked out.
 * Returned: how many. */
size_t hw__problem_residuals(const hw__pulse_problem *q, const double *p, double *out);
double hw__sum_of_squares(const double *r, size_t n);
/* A pulse that a record could have, near where it is looked for. */
bool hw__problem_is_sensible(const hw__pulse_problem *q, const double *p);
/* Levenberg-Marquardt from p. Returned: the sum of squares there. */
double hw__problem_descend(const hw__pulse_problem *q, double *p);

#endif

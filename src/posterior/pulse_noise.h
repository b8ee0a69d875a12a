/* The noise of one sensor's points: as stated, and as the scatter about its own pulse corrects it. */
#ifndef HW_POSTERIOR_PULSE_NOISE_H
#define HW_POSTERIOR_PULSE_NOISE_H

#include "posterior/descent.h"
#include "posterior/pulse.h"

/* The noise as the view knows it: the floor, the share of the signal, of the background what its own scatter allows
 * (`usual`), and how far the level wanders. */
void hw__noise_set_view(const hw__pulse_problem *q, const hw__fit *fit, const hw__curve *pulse, double level,
                        double usual);
/* The variance of every point where the curve p is expected. */
void hw__noise_set_variance(hw__pulse_problem *q, const double *p);
/* Before there is a fit: the readings themselves stand for the signal. */
void hw__noise_set_first(hw__pulse_problem *q, double level);
/* What the scatter about the fit says of the noise: misfit, wander and inflation of `fit`. */
void hw__noise_learn(const hw__pulse_problem *q, const double *p, hw__fit *fit);
/* Where the level wanders plainly, the pulse is given one of its own. */
void hw__noise_let_drift(hw__pulse_problem *q, const hw__fit *fit, const hw__focus *focus, const double *p);

#endif

/* How badly a source explains the readings: the paper's F, its gradient, and the Gauss-Newton matrix.
 *
 *   F(x) = (1/n) sum_i (C(x | l_i, t_i) - c_i)^2     over the n packed readings, in (g/m3)^2
 *
 * Divided by how many readings there are, not by the window's size. A non-detect below a limit adds
 * only what the prediction exceeds that limit by.
 */
#ifndef HW_LOSS_MISFIT_H
#define HW_LOSS_MISFIT_H

#include <stdint.h>

#include "headwater/transport.h"
#include "loss/window.h"

/* An evaluator. Cheap; one per thread or path. What it points to is borrowed. */
typedef struct {
  const hw_transport *transport;
  const double *sensor_m; /* locations of the sensors */
  uint64_t model_evaluations;
  uint64_t gradient_evaluations;
} hw__misfit;

/* F with what a step needs; order mass, location, time. */
typedef struct {
  double value;
  double gradient[3];
  double normal[3][3]; /* (2/n) sum of C_i C_j: the Gauss-Newton Hessian, symmetric */
} hw__slope;

double hw__misfit_value(hw__misfit *misfit, const hw__packed *packed, const hw_source *x);
/* Mean of prediction minus reading, over the same readings. */
double hw__misfit_mean(hw__misfit *misfit, const hw__packed *packed, const hw_source *x);
void hw__misfit_slope(hw__misfit *misfit, const hw__packed *packed, const hw_source *x, hw__slope *out);
/* The full Hessian of F (exact, not Gauss-Newton). Not on any hot path. */
void hw__misfit_hessian(hw__misfit *misfit, const hw__packed *packed, const hw_source *x, double hessian[3][3]);

/* The mass that fits best at this place and time: closed form, clipped to lo..hi. Non-detects left out. */
double hw__misfit_best_mass(hw__misfit *misfit, const hw__packed *packed, const hw_source *at, double lo_g,
                            double hi_g);

#endif

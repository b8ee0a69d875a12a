/* The window's loss in the paper's own units: gram, metre, minute, and (microgram/l)^2. In g/m3 its tolerance is as
 * large as the gradients and nothing ever moves. Coordinates are double[3] here, times in minutes. */
#ifndef HW_ONLINE_PAPER_UNITS_H
#define HW_ONLINE_PAPER_UNITS_H

#include "online/learner.h"

typedef struct {
  const hw__learner *learner;
  hw__path *path;
  hw_box box; /* its times are minutes */
} hw__paper;

extern const double hw__paper_minute_s, hw__paper_loss_scale; /* 60; (g/m3)^2 to (microgram/l)^2 */
enum { HW__PAPER_GRID = 5 };                                  /* K of Algorithm 3; the paper names no value */

/* x is where the path stands. */
hw__paper hw__paper_begin(const hw__learner *learner, hw__path *path, double x[3]);
/* The path stands at x from now on, clamped to the box; a point that is not finite is refused. */
void hw__paper_end(const hw__paper *p, const double x[3], hw_stop stop);

double hw__paper_loss(const hw__paper *p, const double x[3]);
void hw__paper_gradient(const hw__paper *p, const double x[3], double g[3]);
/* Definition 2.7. */
void hw__paper_projected(const hw__paper *p, const double x[3], const double g[3], const double eta[3], double out[3]);
/* Lipschitz moduli of F (Algorithm 3) and, where asked for, of its gradient and Hessian (Algorithm 5). */
void hw__paper_measure(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, bool curvature,
                       hw__steepness *out);

/* x - step o direction; false, and x as it was, when that is not finite. */
bool hw__paper_move(double x[3], const double step[3], const double direction[3]);
double hw__norm(const double v[3]);
double hw__norm_of_product(const double a[3], const double b[3]);

#endif

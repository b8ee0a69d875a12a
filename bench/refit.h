/* The alternative to headwater: fitting everything again after each reading, with a library. */
#ifndef HW_BENCH_REFIT_H
#define HW_BENCH_REFIT_H

#include "headwater/headwater.h"

/* Mean square misfit of a source over the first n readings, (g/m3)^2. */
double refit_loss(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                  const hw_source *x);

/* GSL's trust-region least squares (gsl_multifit_nlinear, Levenberg-Marquardt, analytic Jacobian), from *x on;
 * coordinates in box widths. Ends at its own tolerances (1e-8) or once the loss is at most `enough`.
 * Returned: *x. Result: its loss. */
double refit_gsl(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                 double enough, hw_source *x);

/* NLopt's global multi-start (G_MLSL_LDS over LD_LBFGS, analytic gradient) from scratch over the box, until the loss is
 * at most `enough` or the evaluations are spent. */
double refit_nlopt(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                   double enough, int evaluations, hw_source *x);

/* NLopt's local searches (LD_LBFGS) from random places, the best kept: as many as MPTGD has paths, each to its end, and
 * more, up to REFIT_MOST_STARTS, while the best is still above `enough`. */
enum { REFIT_MOST_STARTS = 300 };
double refit_nlopt_starts(const hw_transport *transport, const hw_river *river, const hw_reading *readings, size_t n,
                          int starts, double enough, hw_source *x);

#endif

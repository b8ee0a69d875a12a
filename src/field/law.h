/* The law learned across rivers: how long the front of a pulse of a given age is.
 *
 *   ln lead_m = a + b_B ln(age_0 / 36000 s) + b_W ln(age_m / age_0) + c z + eps_m
 *
 * for the pulses m = 0, 1, ... of one release, z = ln(velocity / 0.33 m/s). The residuals are a multivariate Student's
 * t with scale matrix s^2 exp(-|ln age_i - ln age_j| / ell) + s_e^2 I: one river's pulses err together.
 */
#ifndef HW_FIELD_LAW_H
#define HW_FIELD_LAW_H

#include <stddef.h>

#include "field/population.h"

/* Degrees of freedom of the velocity of one reach after another downstream. */
static const double hw__onward_freedom = 2;

enum { HW__PULSES = 6 }; /* most pulses of one release */

/* Middle of ln lead (of seconds) for the pulse of this age; log_age_first that of the release's first. */
double hw__law_lead(const hw__population *population, double log_age_first, double log_age, double log_velocity);

/* ln density of the residuals eps[0..n) of pulses with these ln ages, up to a constant that depends on their number
 * alone; n <= HW__PULSES. own_variance: what the reading of each lead adds (NULL: nothing). */
double hw__law_log_density(const hw__population *population, size_t n, const double *residual, const double *log_age,
                           const double *own_variance);

/* Scale of one pulse's residual, and of ln lead at log_age_to when it is known at log_age_from. */
double hw__law_scale(const hw__population *population);
double hw__law_onward_scale(const hw__population *population, double log_age_from, double log_age_to);

/* Student's t, for everything that varies from river to river: ln density up to a constant, and quantiles (0 < p < 1,
 * cut off where exp of one could overflow). */
double hw__t_log_density(double x, double freedom);
double hw__t_quantile(double p, double freedom);

/* Cauchy's distribution, the widest of them, from which ages are drawn whatever the law's own: distribution function
 * and its inverse in closed form. */
double hw__cauchy_log_density(double x);
double hw__cauchy_below(double x);
double hw__cauchy_quantile(double p);

#endif

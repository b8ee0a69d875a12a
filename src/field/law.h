/* The law learned across rivers: how long the front of a pulse of a given age is.
 *
 *   ln lead_m = a + b_B ln(age_0 / 36000 s) + b_W ln(age_m / age_0) + c z + eps_m
 *
 * for the pulses m = 0, 1, ... of one release, z = ln(velocity / 0.33 m/s). The residuals are multivariate Cauchy with
 * scale matrix s^2 exp(-|ln age_i - ln age_j| / ell) + s_e^2 I: one river's pulses err together. Where the velocity
 * between the first two sensors is known, one more member of it is the reach: ln velocity above the first sensor
 * over that between them, less its usual shift, with scale r and covariance k s r exp(-|ln age_m - ln age_0| / ell) to
 * eps_m. Water slower above the first sensor than below it brings a shorter front than its age should make.
 */
#ifndef HW_FIELD_LAW_H
#define HW_FIELD_LAW_H

#include <stddef.h>

#include "field/population.h"

enum { HW__PULSES = 8 }; /* most pulses of one release */

/* Middle of ln lead (of seconds) for the pulse of this age; log_age_first that of the release's first. */
double hw__law_lead(const hw__population *population, double log_age_first, double log_age, double log_velocity);

/* ln density of the residuals eps[0..n) of pulses with these ln ages and of the reach (NAN: not known), up to a
 * constant that depends on their number alone; n <= HW__PULSES. own_variance: what the reading of each lead adds
 * (NULL: nothing). */
double hw__law_log_density(const hw__population *population, size_t n, const double *residual, const double *log_age,
                           const double *own_variance, double reach);

/* The first pulse's residual given the reach, both members of a t with so many degrees of freedom (Cauchy's: 1): centre
 * and scale of a t with one more. Reach NAN, not known: of a t with as many. */
typedef struct {
  double centre, scale;
} hw__law_spread;
hw__law_spread hw__law_given_reach(const hw__population *population, double reach, double freedom);

/* Scale of one pulse's residual, and of ln lead at log_age_to when it is known at log_age_from. */
double hw__law_scale(const hw__population *population);
double hw__law_onward_scale(const hw__population *population, double log_age_from, double log_age_to);

/* Cauchy's distribution for everything that tells the source and varies from river to river: ln density up to a
 * constant, distribution function and its inverse (0 < p < 1, cut off where exp of it could overflow). Of Student's t
 * it is the one that scores best on rivers left out, because most rivers are regular and those that stray stray far
 * (docs/engine.md). */
double hw__cauchy_log_density(double x);
double hw__cauchy_below(double x);
double hw__cauchy_quantile(double p);

/* Student's t with two degrees of freedom, for the velocity of one reach after another downstream. */
double hw__t2_log_density(double x);
double hw__t2_quantile(double p);

#endif

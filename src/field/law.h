/* The law learned across rivers: how long the front of a pulse of a given age is.
 *
 *   ln lead_m = a + b_B ln(age_0 / 36000 s) + b_W ln(age_m / age_0) + c z + eps_m
 *
 * for the pulses m = 0, 1, ... of one release, z = ln(velocity / 0.33 m/s). The residuals are multivariate t with
 * scale matrix s^2 exp(-|ln age_i - ln age_j| / ell) + s_e^2 I: one river's pulses err together. Where the velocity
 * between the first two sensors is known, one more member of the same t is the reach: ln velocity above the first sensor
 * over that between them, less its usual shift, with scale r and covariance k s r exp(-|ln age_m - ln age_0| / ell) to
 * eps_m. Water slower above the first sensor than below it brings a shorter front than its age should make.
 */
#ifndef HW_FIELD_LAW_H
#define HW_FIELD_LAW_H

#include <stddef.h>

#include "field/population.h"

enum { HW__PULSES = 8 }; /* most pulses of one release */
enum { HW__FREEDOM = 2 };

/* Middle of ln lead (of seconds) for the pulse of this age; log_age_first that of the release's first. */
double hw__law_lead(const hw__population *population, double log_age_first, double log_age, double log_velocity);

/* ln density of the residuals eps[0..n) of pulses with these ln ages and of the reach (NAN: not known), up to a
 * constant that depends on their number alone; n <= HW__PULSES. own_variance: what the reading of each lead adds
 * (NULL: nothing). */
double hw__law_log_density(const hw__population *population, size_t n, const double *residual, const double *log_age,
                           const double *own_variance, double reach);

/* The first pulse's residual given the reach (NAN: not known): its centre, and a scale such that a t with HW__FREEDOM
 * lies everywhere above the true density or close to it. */
typedef struct {
  double centre, scale;
} hw__law_spread;
hw__law_spread hw__law_given_reach(const hw__population *population, double reach);

/* Scale of one pulse's residual, and of ln lead at log_age_to when it is known at log_age_from. */
double hw__law_scale(const hw__population *population);
double hw__law_onward_scale(const hw__population *population, double log_age_from, double log_age_to);

/* Student's t with HW__FREEDOM = 2 degrees of freedom, for everything that varies from river to river: the
 * distribution function and its inverse (0 < p < 1). The likelihood of the development releases is flat from
 * 2 to 5; on rivers left out 2 scores best, because rivers that stray stray far (docs/engine.md). */
double hw__t_below(double t);
double hw__t_quantile(double p);

#endif

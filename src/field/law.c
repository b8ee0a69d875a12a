#include "field/law.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static const double log_age_middle = 10.491274217438248;       /* ln 36000 s */
static const double log_velocity_middle = -1.1086626245216111; /* ln 0.33 m/s */

double hw__law_lead(const hw__population *population, double log_age_first, double log_age, double log_velocity) {
  return population->law_intercept + population->law_between * (log_age_first - log_age_middle) +
         population->law_within * (log_age - log_age_first) +
         population->law_velocity * (log_velocity - log_velocity_middle);
}

double hw__law_scale(const hw__population *population) {
  return hypot(population->law_scale, population->law_nugget);
}

double hw__law_onward_scale(const hw__population *population, double log_age_from, double log_age_to) {
  const double kept = exp(-fabs(log_age_to - log_age_from) / population->law_length);
  const double s = population->law_scale, nugget = population->law_nugget;
  return sqrt(s * s * (1 - kept * kept) + nugget * nugget);
}

/* Cholesky factorisation of the scale matrix row by row, solving for the residuals on the way. */
double hw__law_log_density(const hw__population *population, size_t n, const double *residual, const double *log_age,
                           const double *own_variance) {
  const double s = population->law_scale, nugget = population->law_nugget, freedom = population->law_freedom;
  double root[HW__PULSES][HW__PULSES], solved[HW__PULSES];
  double det = 1, square = 0; /* of the root; at most 6 factors of about 0.2, so no underflow */
  for (size_t i = 0; i < n; i++) {
    double rest = residual[i];
    for (size_t j = 0; j <= i; j++) {
      double sum = s * s * exp(-fabs(log_age[i] - log_age[j]) / population->law_length);
      sum += i == j ? nugget * nugget + (own_variance ? own_variance[i] : 0) : 0;
      for (size_t k = 0; k < j; k++) {
        sum -= root[i][k] * root[j][k];
      }
      root[i][j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / root[j][j];
      if (j < i) {
        rest -= root[i][j] * solved[j];
      }
    }
    solved[i] = rest / root[i][i];
    square += solved[i] * solved[i];
    det *= root[i][i];
  }
  return -log(det) - 0.5 * (freedom + (double)n) * log1p(square / freedom);
}

static double cut(double x) {
  static const double most = 500;
  return fmin(fmax(x, -most), most);
}

double hw__cauchy_log_density(double x) {
  return -log1p(x * x);
}

/* The lower tail without cancellation. */
double hw__cauchy_below(double x) {
  return x < -1 ? -atan(1 / x) / M_PI : 0.5 + atan(x) / M_PI;
}

double hw__cauchy_quantile(double p) {
  return cut(p < 0.25 ? -1 / tan(M_PI * p) : tan(M_PI * (p - 0.5)));
}

double hw__t_log_density(double x, double freedom) {
  return -0.5 * (freedom + 1) * log1p(x * x / freedom);
}

double hw__t_quantile(double p, double freedom) {
  return cut(gsl_cdf_tdist_Pinv(p, freedom));
}

#include "field/law.h"

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

hw__law_spread hw__law_given_reach(const hw__population *population, double reach, double freedom) {
  if (isnan(reach)) {
    return (hw__law_spread){0, hw__law_scale(population)};
  }
  const double z = reach / population->reach_scale, told = population->reach_correlation * population->law_scale;
  const double s = hw__law_scale(population);
  return (hw__law_spread){told * z, sqrt((s * s - told * told) * (freedom + z * z) / (freedom + 1))};
}

/* Scale matrix of the residuals, and in row n of the reach. */
static double covariance(const hw__population *p, size_t n, const double *log_age, const double *own_variance, size_t i,
                         size_t j) {
  const double s = p->law_scale, nugget = p->law_nugget;
  if (i == n) {
    return j == n ? p->reach_scale * p->reach_scale
                  : p->reach_correlation * s * p->reach_scale * exp(-fabs(log_age[j] - log_age[0]) / p->law_length);
  }
  const double shared = s * s * exp(-fabs(log_age[i] - log_age[j]) / p->law_length);
  return i == j ? shared + nugget * nugget + (own_variance ? own_variance[i] : 0) : shared;
}

/* Cholesky factorisation row by row, solving for the residuals on the way. */
double hw__law_log_density(const hw__population *population, size_t n, const double *residual, const double *log_age,
                           const double *own_variance, double reach) {
  const size_t rows = isnan(reach) ? n : n + 1;
  double root[HW__PULSES + 1][HW__PULSES + 1], solved[HW__PULSES + 1];
  double det = 1, square = 0; /* of the root; at most 9 factors of about 0.2, so no underflow */
  for (size_t i = 0; i < rows; i++) {
    double rest = i < n ? residual[i] : reach;
    for (size_t j = 0; j <= i; j++) {
      double sum = covariance(population, n, log_age, own_variance, i, j);
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
  return -log(det) - 0.5 * (1 + (double)rows) * log1p(square);
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

double hw__t2_log_density(double x) {
  return -1.5 * log1p(0.5 * x * x);
}

double hw__t2_quantile(double p) {
  return cut((2 * p - 1) / sqrt(2 * p * (1 - p)));
}

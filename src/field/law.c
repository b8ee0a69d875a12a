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

/* Cholesky factorisation row by row, solving for the residuals on the way. */
double hw__law_log_density(const hw__population *population, size_t n, const double *residual, const double *log_age,
                           const double *own_variance) {
  const double s = population->law_scale, nugget = population->law_nugget, freedom = population->law_freedom;
  double root[HW__PULSES][HW__PULSES], solved[HW__PULSES];
  double log_det = 0, square = 0;
  for (size_t i = 0; i < n; i++) {
    double rest = residual[i];
    for (size_t j = 0; j <= i; j++) {
      double sum = s * s * exp(-fabs(log_age[i] - log_age[j]) / population->law_length);
      if (i == j) {
        sum += nugget * nugget + (own_variance ? own_variance[i] : 0);
      }
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
    log_det += log(root[i][i]);
  }
  const double d = (double)n;
  return -log_det - 0.5 * (freedom + d) * log1p(square / freedom);
}

double hw__t5_below(double t) {
  const double x = t / sqrt(5), w = 1 / (1 + x * x);
  if (x < -50) { /* the closed form cancels; leading term of the tail instead */
    return 8 / (15 * M_PI) / pow(-x, 5);
  }
  return 0.5 + (x * w * (1 + 2 * w / 3) + atan(x)) / M_PI;
}

/* Newton from the normal's side, kept inside a bracket: the density is known, the function is smooth. */
double hw__t5_quantile(double p) {
  const double tail = p < 0.5 ? p : 1 - p;
  if (!(tail > 1e-9)) {
    return p < 0.5 ? -165 : 165;
  }
  double lo = -170, hi = 0, t = tail > 0.02 ? 2.6 * (tail - 0.5) : -2.3 * pow(tail, -0.2) * 0.62;
  for (int i = 0; i < 60; i++) {
    const double miss = hw__t5_below(t) - tail;
    if (miss > 0) {
      hi = t;
    } else {
      lo = t;
    }
    const double w = 1 + t * t / 5;
    const double density = 8 / (3 * M_PI * sqrt(5)) / (w * w * w);
    double next = t - miss / density;
    next = next > lo && next < hi ? next : (lo + hi) / 2;
    if (fabs(next - t) < 1e-10 * (1 + fabs(t))) {
      break;
    }
    t = next;
  }
  return p < 0.5 ? t : -t;
}

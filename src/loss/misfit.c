/* The loops here are the inner loops of every gradient method. They run over one sensor's readings at a
 * time (one leg, see transport.h), four readings at once (lanes.h), so that
 * the result does not depend on the machine's vector width.
 */
#include "loss/misfit.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

/* Ages at or before the release are evaluated at this one, where the plume has not left the source. */
static const double first_age_s = 1e-9;

static double response_scale(const hw_leg *leg) {
  return sqrt(leg->sharpness_per_s / (2 * M_PI)) / leg->discharge_m3_s;
}

/* Ages of four readings, from first_age_s up. */
HW__INLINE hw__v4 ages(const hw__packed *v, size_t i, double release_s) {
  return hw__v4_max(hw__v4_load(v->time_s + i) - release_s, hw__v4_all(first_age_s));
}

/* Concentration per gram at four ages, exactly 0 up to the release. */
HW__INLINE hw__v4 responses(const hw_leg *leg, double scale, hw__v4 age) {
  const hw__v4 lag = age - leg->travel_s;
  const hw__v4 g =
      scale * hw__v4_exp((-0.5 * leg->sharpness_per_s) * (lag * lag / age) - leg->decay_per_s * age) / hw__v4_sqrt(age);
  return hw__v4_keep(age > first_age_s, g);
}

/* Prediction minus reading; for a non-detect only the excess; 0 in the padding. */
HW__INLINE hw__v4 residuals(hw__v4 prediction, const hw__packed *v, size_t i) {
  const hw__v4 r = prediction - hw__v4_load(v->concentration + i);
  const hw__v4 detect = hw__v4_load(v->detect + i);
  return hw__v4_load(v->weight + i) * hw__v4_choose(detect > 0, r, hw__v4_max(r, hw__v4_all(0)));
}

static double residual(double prediction, const hw__packed *v, size_t i) {
  const double r = prediction - v->concentration[i];
  return v->weight[i] * (v->detect[i] > 0 || r > 0 ? r : 0);
}

HW__CLONES static double sum_squares(const hw_leg *leg, const hw__packed *v, size_t begin, size_t end,
                                     const hw_source *x) {
  hw__v4 squares = {0};
  const double scale = response_scale(leg) * x->mass_g;
  for (size_t i = begin; i < end; i += HW__LANES) {
    const hw__v4 r = residuals(responses(leg, scale, ages(v, i, x->time_s)), v, i);
    squares += r * r;
  }
  return hw__v4_sum(squares);
}

/* Nothing arrives at this sensor: every reading stands against 0. */
static double sum_squares_unreached(const hw__packed *v, size_t begin, size_t end) {
  double squares = 0;
  for (size_t i = begin; i < end; i++) {
    const double r = residual(0, v, i);
    squares += r * r;
  }
  return squares;
}

double hw__misfit_value(hw__misfit *misfit, const hw__packed *packed, const hw_source *x) {
  double squares = 0;
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const size_t begin = packed->begin[m], end = packed->begin[m + 1];
    if (begin == end) {
      continue;
    }
    const hw_leg leg = hw_transport_leg(misfit->transport, x->location_m, misfit->sensor_m[m]);
    squares += leg.travel_s > 0 ? sum_squares(&leg, packed, begin, end, x) : sum_squares_unreached(packed, begin, end);
  }
  misfit->model_evaluations += packed->count;
  return packed->count ? squares / (double)packed->count : 0;
}

HW__CLONES static double sum_residuals(const hw_leg *leg, const hw__packed *v, size_t begin, size_t end,
                                       const hw_source *x) {
  hw__v4 sum = {0};
  const double scale = response_scale(leg) * x->mass_g;
  for (size_t i = begin; i < end; i += HW__LANES) {
    sum += residuals(responses(leg, scale, ages(v, i, x->time_s)), v, i);
  }
  return hw__v4_sum(sum);
}

static double sum_residuals_unreached(const hw__packed *v, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; i++) {
    sum += residual(0, v, i);
  }
  return sum;
}

double hw__misfit_mean(hw__misfit *misfit, const hw__packed *packed, const hw_source *x) {
  double sum = 0;
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const size_t begin = packed->begin[m], end = packed->begin[m + 1];
    if (begin == end) {
      continue;
    }
    const hw_leg leg = hw_transport_leg(misfit->transport, x->location_m, misfit->sensor_m[m]);
    sum += leg.travel_s > 0 ? sum_residuals(&leg, packed, begin, end, x) : sum_residuals_unreached(packed, begin, end);
  }
  misfit->model_evaluations += packed->count;
  return packed->count ? sum / (double)packed->count : 0;
}

/* Sums over readings: r the residual, s, l, t the derivatives of C. */
enum { RR, RS, RL, RT, SS, SL, ST, LL, LT, TT, SUMS };

HW__CLONES static void sum_slopes(const hw_leg *leg, const hw__packed *v, size_t begin, size_t end, const hw_source *x,
                                  double out[SUMS]) {
  hw__v4 sum[SUMS] = {{0}};
  const double scale = response_scale(leg), s = x->mass_g;
  const double a = leg->sharpness_per_s, theta = leg->travel_s, kappa = leg->decay_per_s;
  for (size_t i = begin; i < end; i += HW__LANES) {
    const hw__v4 age = ages(v, i, x->time_s), inverse = 1 / age, lag = age - theta;
    const hw__v4 g = responses(leg, scale, age);
    /* Logarithmic derivatives, as in hw_leg_derivatives; minus d/dT is d/dt. */
    const hw__v4 per_l = (a * leg->travel_dl) * lag * inverse +
                         (0.5 / a - 0.5 * lag * lag * inverse) * leg->sharpness_dl - age * leg->decay_dl;
    const hw__v4 per_t = 0.5 * inverse + (0.5 * a) * (1 - theta * inverse) * (1 + theta * inverse) + kappa;
    const hw__v4 r = residuals(s * g, v, i);
    /* A non-detect that is not exceeded has slope 0, and so has the padding. */
    const hw__i4 on = (hw__v4_load(v->detect + i) > 0) | (r > 0);
    const hw__v4 c_s = hw__v4_keep(on, hw__v4_load(v->weight + i) * g);
    const hw__v4 c_l = s * c_s * per_l, c_t = s * c_s * per_t;
    sum[RR] += r * r;
    sum[RS] += r * c_s;
    sum[RL] += r * c_l;
    sum[RT] += r * c_t;
    sum[SS] += c_s * c_s;
    sum[SL] += c_s * c_l;
    sum[ST] += c_s * c_t;
    sum[LL] += c_l * c_l;
    sum[LT] += c_l * c_t;
    sum[TT] += c_t * c_t;
  }
  for (int j = 0; j < SUMS; j++) {
    out[j] += hw__v4_sum(sum[j]);
  }
}

void hw__misfit_slope(hw__misfit *misfit, const hw__packed *packed, const hw_source *x, hw__slope *out) {
  double sum[SUMS] = {0};
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const size_t begin = packed->begin[m], end = packed->begin[m + 1];
    if (begin == end) {
      continue;
    }
    const hw_leg leg = hw_transport_leg(misfit->transport, x->location_m, misfit->sensor_m[m]);
    if (leg.travel_s > 0) {
      sum_slopes(&leg, packed, begin, end, x, sum);
    } else {
      sum[RR] += sum_squares_unreached(packed, begin, end);
    }
  }
  misfit->model_evaluations += packed->count;
  misfit->gradient_evaluations++;
  const double n = packed->count ? (double)packed->count : 1;
  out->value = sum[RR] / n;
  static const int first[3] = {RS, RL, RT};
  static const int second[3][3] = {{SS, SL, ST}, {SL, LL, LT}, {ST, LT, TT}};
  for (int i = 0; i < 3; i++) {
    out->gradient[i] = 2 * sum[first[i]] / n;
    for (int j = 0; j < 3; j++) {
      out->normal[i][j] = 2 * sum[second[i][j]] / n;
    }
  }
}

void hw__misfit_hessian(hw__misfit *misfit, const hw__packed *packed, const hw_source *x, double hessian[3][3]) {
  memset(hessian, 0, 9 * sizeof hessian[0][0]);
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const hw_leg leg = hw_transport_leg(misfit->transport, x->location_m, misfit->sensor_m[m]);
    for (size_t i = packed->begin[m]; i < packed->begin[m + 1]; i++) {
      hw_derivatives d;
      hw_leg_derivatives(&leg, x->mass_g, packed->time_s[i] - x->time_s, true, &d);
      const double r = residual(d.value, packed, i);
      const double on = packed->weight[i] > 0 && (packed->detect[i] > 0 || r > 0) ? 2 / (double)packed->count : 0;
      for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) {
          hessian[j][k] += on * (d.gradient[j] * d.gradient[k] + r * d.hessian[j][k]);
        }
      }
    }
  }
  misfit->model_evaluations += packed->count;
  misfit->gradient_evaluations++;
}

double hw__misfit_best_mass(hw__misfit *misfit, const hw__packed *packed, const hw_source *at, double lo_g,
                            double hi_g) {
  double gc = 0, gg = 0;
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const hw_leg leg = hw_transport_leg(misfit->transport, at->location_m, misfit->sensor_m[m]);
    for (size_t i = packed->begin[m]; i < packed->begin[m + 1]; i++) {
      const double g = packed->weight[i] * packed->detect[i] * hw_leg_response(&leg, packed->time_s[i] - at->time_s);
      gc += g * packed->concentration[i];
      gg += g * g;
    }
  }
  misfit->model_evaluations += packed->count;
  const double best = gg > 0 ? gc / gg : lo_g;
  return fmin(fmax(best, lo_g), hi_g);
}

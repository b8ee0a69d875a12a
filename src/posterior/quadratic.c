#include "posterior/quadratic.h"

#include <math.h>

double hw__log_root_det(size_t n, const double matrix[HW__PULSE_SIZE][HW__PULSE_SIZE]) {
  double root[HW__PULSE_SIZE][HW__PULSE_SIZE], sum = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double left = matrix[i][j];
      for (size_t k = 0; k < j; k++) {
        left -= root[i][k] * root[j][k];
      }
      if (i == j && !(left > 0)) {
        return NAN;
      }
      root[i][j] = i == j ? sqrt(left) : left / root[j][j];
    }
    sum += log(root[i][i]);
  }
  return sum;
}

double hw__price_of_meeting(const hw__quadratic *q, const double sd[HW__INSTANT_SIZE]) {
  double met[HW__PULSE_SIZE][HW__PULSE_SIZE];
  for (size_t i = 0; i < HW__INSTANT_SIZE; i++) {
    for (size_t j = 0; j < HW__INSTANT_SIZE; j++) {
      met[i][j] = sd[i] * q->curvature[i][j] * sd[j] + (i == j ? 1 : 0);
    }
  }
  return fmax(hw__log_root_det(HW__INSTANT_SIZE, met), 0);
}

/* What one place and time are worth. */
#include "advice/inside.h"

void hw__foresee(const hw_advice *a, const hw__pulse_ahead *pulses, double time_s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const size_t j = a->picked[i];
    a->scratch[i] = hw__stabilised(&a->error, hw__foresight_read(&a->ahead, j, &pulses[j], time_s));
  }
}

double hw__worth_of(const hw_advice *a, size_t n) {
  double bits = 0;
  for (size_t i = 0; i < a->question_count; i++) {
    bits += hw__information(&a->questions[i], &a->error, a->picked, a->scratch, a->dealt, n);
  }
  return bits;
}

void hw__shuffle(size_t *order, size_t n, hw_rng *rng) {
  for (size_t i = 0; i < n; i++) {
    order[i] = i;
  }
  for (size_t i = n; i > 1; i--) {
    const size_t j = (size_t)(hw_rng_uniform(rng) * (double)i), swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
}

size_t hw__pick(hw_advice *a, size_t stride) {
  size_t n = 0;
  for (size_t j = 0; j < a->ahead.count; j += stride) {
    a->picked[n++] = j;
  }
  hw__shuffle(a->dealt, n, &a->rng);
  return n;
}

void hw__pulses_at(const hw_advice *a, hw__place_ahead place, hw__pulse_ahead *out) {
  hw__prospect at;
  hw__foresight_look(&a->ahead, place.branch, place.x_m, &at);
  for (size_t j = 0; j < a->ahead.count; j++) {
    out[j] = hw__foresight_pulse(&a->ahead, j, &at);
  }
}

#include "core/normal.h"

#include <math.h>

const double hw__normal_layer[HW__NORMAL_LAYERS + 1] = {
#include "core/normal_layers.def"
};

static double density(double x) {
  return exp(-0.5 * x * x);
}

/* Beyond the lowest layer's end. */
static double draw_tail(hw_rng *rng) {
  const double end = hw__normal_layer[1];
  for (;;) {
    const double x = -log(1 - hw_rng_uniform(rng)) / end, y = -log(1 - hw_rng_uniform(rng));
    if (2 * y > x * x) {
      return end + x;
    }
  }
}

double hw__normal(hw_rng *rng) {
  for (;;) {
    const uint64_t bits = hw_rng_bits(rng);
    const unsigned layer = bits & 255;
    const double sign = bits & 256 ? -1 : 1, x = (double)(bits >> 11) * 0x1p-53 * hw__normal_layer[layer];
    if (x < hw__normal_layer[layer + 1]) {
      return sign * x;
    }
    if (layer == 0) {
      return sign * draw_tail(rng);
    }
    const double foot = density(hw__normal_layer[layer]), top = density(hw__normal_layer[layer + 1]);
    if (foot + hw_rng_uniform(rng) * (top - foot) < density(x)) {
      return sign * x;
    }
  }
}

/* xoshiro256++ 1.0 by David Blackman and Sebastiano Vigna (public domain algorithm), seeded by
 * splitmix64 as they advise. A stream number is mixed into the seed, so that streams of one seed start
 * at unrelated places of a period of 2^256 - 1.
 *
 * Why not gsl_rng: its state lives on the heap behind a pointer; ours is copied with every saved state
 * and forked per path and particle population, so it has to be a value.
 */
#include "headwater/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x) {
  uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

void hw_rng_seed(hw_rng *rng, uint64_t seed, uint64_t stream) {
  uint64_t x = stream;
  x = seed ^ splitmix(&x);
  for (int i = 0; i < 4; i++) {
    rng->word[i] = splitmix(&x);
  }
}

uint64_t hw_rng_bits(hw_rng *rng) {
  uint64_t *s = rng->word;
  const uint64_t result = rotate(s[0] + s[3], 23) + s[0];
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

double hw_rng_uniform(hw_rng *rng) {
  return (double)(hw_rng_bits(rng) >> 11) * 0x1p-53;
}

double hw_rng_normal(hw_rng *rng) {
  for (;;) {
    const double u = 2 * hw_rng_uniform(rng) - 1;
    const double v = 2 * hw_rng_uniform(rng) - 1;
    const double r = u * u + v * v;
    if (r > 0 && r < 1) {
      return u * sqrt(-2 * log(r) / r);
    }
  }
}

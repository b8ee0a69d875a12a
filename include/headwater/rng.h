/* Random numbers as a value.
 *
 * The state is a plain struct: copy it to fork a stream, write it out to save one. Nothing is hidden
 * or global, and the same seed and stream give the same numbers on every machine.
 *
 * Generator: xoshiro256++ (Blackman and Vigna, 2019), seeded through splitmix64.
 * Check value: hw_rng_seed(&r, 1, 0) and the first hw_rng_bits are pinned in tests/test_core.c.
 */
#ifndef HEADWATER_RNG_H
#define HEADWATER_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint64_t word[4];
} hw_rng;

/* Given: seed and stream number. Different streams of one seed are independent for every use here:
 * give each start, particle population or worker its own, and results do not depend on scheduling. */
void hw_rng_seed(hw_rng *rng, uint64_t seed, uint64_t stream);

/* 64 random bits. */
uint64_t hw_rng_bits(hw_rng *rng);

/* Uniform on [0, 1), 53 bits. */
double hw_rng_uniform(hw_rng *rng);

/* Standard normal (Marsaglia's polar method; no value is kept between calls). */
double hw_rng_normal(hw_rng *rng);

#ifdef __cplusplus
}
#endif

#endif

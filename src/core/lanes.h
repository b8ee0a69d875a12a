/* Four doubles at a time, in plain C that gcc and clang turn into AVX2, SSE2 or whatever the machine has.
 *
 * Every operation is an ordinary IEEE one done on four numbers (contraction is off for the whole project), so
 * the bits do not depend on the instruction set. That is why exp is written out here: libm's vector exp
 * needs -ffast-math, and differs from machine to machine.
 *
 * Functions that use these carry HW__CLONES, which compiles them for AVX2 too and picks at load time.
 */
#ifndef HW_CORE_LANES_H
#define HW_CORE_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { HW__LANES = 4 };

typedef double hw__v4 __attribute__((vector_size(32)));
typedef int64_t hw__i4 __attribute__((vector_size(32)));  /* what comparisons give */
typedef uint64_t hw__u4 __attribute__((vector_size(32))); /* bits to calculate with: they may wrap around */

#define HW__INLINE static inline __attribute__((always_inline, unused))

/* Clones need ifunc support and confuse the sanitizers' start-up. clang 14 has none for C. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HW__CLONES __attribute__((target_clones("avx2", "default")))
#else
#define HW__CLONES
#endif

HW__INLINE hw__v4 hw__v4_load(const double *from) {
  hw__v4 v;
  memcpy(&v, from, sizeof v);
  return v;
}

HW__INLINE hw__v4 hw__v4_all(double x) {
  return (hw__v4){x, x, x, x};
}

/* Where the mask (a comparison's result) is set a, elsewhere b. */
HW__INLINE hw__v4 hw__v4_choose(hw__i4 mask, hw__v4 a, hw__v4 b) {
  return (hw__v4)(((hw__i4)a & mask) | ((hw__i4)b & ~mask));
}

/* a where the mask is set, elsewhere 0. */
HW__INLINE hw__v4 hw__v4_keep(hw__i4 mask, hw__v4 a) {
  return (hw__v4)((hw__i4)a & mask);
}

HW__INLINE int hw__v4_any(hw__i4 mask) {
  return ((mask[0] | mask[1]) | (mask[2] | mask[3])) != 0;
}

HW__INLINE hw__v4 hw__v4_max(hw__v4 a, hw__v4 b) {
  return hw__v4_choose(a > b, a, b);
}

HW__INLINE hw__v4 hw__v4_sqrt(hw__v4 a) {
  return (hw__v4){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
}

HW__INLINE double hw__v4_sum(hw__v4 a) {
  return (a[0] + a[1]) + (a[2] + a[3]);
}

/* e^x for x <= 700. x = n ln2 + r with |r| <= ln2/2; e^r by its Taylor polynomial of degree 13 (remainder below
 * 5e-18); 2^n by adding n to the exponent field. Relative error below 4.5e-16 (tests/test_core.c). Arguments
 * below -708 give e^-708 = 3.3e-308: nothing, for every use here. */
HW__INLINE hw__v4 hw__v4_exp(hw__v4 x) {
  const hw__v4 shift = hw__v4_all(0x1.8p52); /* adding it rounds to an integer and leaves that in the low bits */
  const hw__v4 y = hw__v4_max(x, hw__v4_all(-708));
  const hw__v4 shifted = y * 0x1.71547652b82fep0 + shift;
  const hw__v4 n = shifted - shift;
  const hw__v4 r = (y - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
  const hw__v4 r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const hw__v4 p01 = 1 + r, p23 = 1.0 / 2 + r * (1.0 / 6);
  const hw__v4 p45 = 1.0 / 24 + r * (1.0 / 120), p67 = 1.0 / 720 + r * (1.0 / 5040);
  const hw__v4 p89 = 1.0 / 40320 + r * (1.0 / 362880), pab = 1.0 / 3628800 + r * (1.0 / 39916800);
  const hw__v4 pcd = 1.0 / 479001600 + r * (1.0 / 6227020800);
  const hw__v4 p = ((p01 + p23 * r2) + (p45 + p67 * r2) * r4) + ((p89 + pab * r2) + pcd * r4) * r8;
  return (hw__v4)((hw__u4)p + ((hw__u4)shifted << 52));
}

/* ln x for positive normal x; absolute error below 1e-11. x = 2^k m with m in [sqrt(1/2), sqrt 2), then
 * ln m = 2 artanh((m-1)/(m+1)) as a series. */
HW__INLINE hw__v4 hw__v4_log(hw__v4 x) {
  const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
  const hw__u4 shifted = (hw__u4)x - root_half + UINT64_C(0x4000000000000000);
  const hw__v4 k = (hw__v4)((shifted >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024);
  const hw__v4 m = (hw__v4)((shifted & UINT64_C(0x000fffffffffffff)) + root_half);
  const hw__v4 f = (m - 1.0) / (m + 1.0), s = f * f;
  hw__v4 p = s * (2.0 / 13) + 2.0 / 11;
  p = p * s + 2.0 / 9;
  p = p * s + 2.0 / 7;
  p = p * s + 2.0 / 5;
  p = p * s + 2.0 / 3;
  p = p * s + 2.0;
  return k * 0.6931471805599453 + f * p;
}

#endif

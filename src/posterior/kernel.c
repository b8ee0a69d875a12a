/* Inner loops; see kernel.h. Compiled with HW_KERNEL_NAME set, once per instruction set.
 *
 *   g = sqrt(r / (2 pi)) exp(-r (T - theta)^2 / 2 - kappa T) / Q,   r = a / T = theta / (V T),
 *
 * with T the age, theta the travel time and V the temporal variance. One reciprocal root y = (V T theta)^(-1/2) serves
 * it all: sqrt r = theta y, 1/T = V theta y^2, kappa = K/theta = K V T y^2; no division, no square root.
 *
 * Written in the compilers' four-lane vectors, which any machine can run; exp and ln are spelt out in them. Left to
 * auto-vectorisation half of these loops stayed scalar. Fused multiply-add would save a sixth of the time and cost the
 * equality of the two versions.
 */
#include "posterior/kernel.h"

#include <math.h>
#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { LANES = 4 };
typedef double vec __attribute__((vector_size(32), aligned(32)));
typedef int64_t mask __attribute__((vector_size(32)));
typedef uint64_t bits __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const double *x) {
  return *(const vec *)__builtin_assume_aligned(x, 32);
}

INLINE void store(double *x, vec v) {
  *(vec *)__builtin_assume_aligned(x, 32) = v;
}

INLINE vec all(double x) {
  return (vec){x, x, x, x};
}

INLINE vec choose(mask m, vec yes, vec no) {
  return (vec)((m & (mask)yes) | (~m & (mask)no));
}

INLINE vec larger(vec a, vec b) {
  return choose(a > b, a, b);
}

INLINE vec smaller(vec a, vec b) {
  return choose(a < b, a, b);
}

INLINE double sum_of(vec v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}

INLINE double largest_of(vec v) {
  const double a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}

INLINE vec root(vec x) {
#if defined(__AVX__)
  return (vec)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
  const __m128d low = _mm_sqrt_pd(_mm_set_pd(x[1], x[0])), high = _mm_sqrt_pd(_mm_set_pd(x[3], x[2]));
  return (vec){low[0], low[1], high[0], high[1]};
#else
  return (vec){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
#endif
}

/* e^x for x <= 700; below -340 no longer falling, 2e-148, so that squares stay normal numbers (others cost a trap
 * into microcode each). Relative error below 3e-10 (Taylor, degree 8, |r| <= ln(2)/2, summed in
 * pairs: a Horner chain waits for itself). Adding 1.5 * 2^52 rounds to an integer that then stands in the lowest bits.
 */
INLINE vec fast_exp(vec x) {
  const double magic = 0x1.8p52;
  const vec clipped = larger(x, all(-340));
  const vec shifted = clipped * 1.4426950408889634 + magic;
  const vec n = shifted - magic;
  const vec r = (clipped - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  const vec r2 = r * r, r4 = r2 * r2;
  const vec low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6));
  const vec high = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040)) + r4 * (1.0 / 40320);
  const vec p = low + r4 * high;
  return p * (vec)(((bits)shifted << 52) + UINT64_C(0x3ff0000000000000));
}

/* ln x for positive normal x; absolute error below 1e-11. x = 2^k m with m in [sqrt(1/2), sqrt 2), then
 * ln m = 2 artanh((m-1)/(m+1)) as a series. */
INLINE vec fast_log(vec x) {
  const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
  const bits shifted = (bits)x - root_half + UINT64_C(0x4000000000000000);
  const vec k = (vec)((shifted >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024);
  const vec m = (vec)((shifted & UINT64_C(0x000fffffffffffff)) + root_half);
  const vec f = (m - 1.0) / (m + 1.0);
  const vec s = f * f;
  vec p = s * (2.0 / 13) + 2.0 / 11;
  p = p * s + 2.0 / 9;
  p = p * s + 2.0 / 7;
  p = p * s + 2.0 / 5;
  p = p * s + 2.0 / 3;
  p = p * s + 2.0;
  return k * 0.6931471805599453 + f * p;
}

typedef struct {
  mask seen; /* released before, and the place is downstream */
  vec age, travel, root_r, r, lag, kappa, per_age;
} passage;

INLINE passage passage_at(const hw__view *view, size_t j, const hw__point *point, vec slowness) {
  const vec age = point->time_s - load(view->release + j);
  const vec travel = (point->theta - load(view->theta + j)) * slowness;
  const vec variance = (point->variance - load(view->variance + j)) * load(view->spread + j);
  passage p;
  p.seen = (age > 0.0) & (travel > 0.0);
  p.age = choose(p.seen, age, all(1));
  p.travel = choose(p.seen, travel, all(1));
  const vec v = choose(p.seen, variance, all(1));
  const vec age_v = p.age * v;
  const vec inverse = 1.0 / (age_v * p.travel);
  p.r = p.travel * p.travel * inverse;
  p.root_r = root(p.r);
  p.lag = p.age - p.travel;
  p.kappa = (point->decay - load(view->decay + j)) * slowness * (age_v * inverse);
  p.per_age = v * p.travel * inverse;
  return p;
}

INLINE vec response_at(const passage *p, const hw__point *point, vec slowness) {
  const vec g = p->root_r * 0.3989422804014327 * fast_exp(-0.5 * p->r * p->lag * p->lag - p->kappa * p->age) *
                (point->per_discharge + point->per_area * slowness);
  return (vec)(p->seen & (mask)g);
}

static void response(const hw__view *view, size_t n, const hw__point *at, double *g) {
  const hw__point point = *at;
  const hw__view sources = *view;
  for (size_t j = 0; j < n; j += LANES) {
    const vec slowness = load(sources.slowness + j);
    const passage p = passage_at(&sources, j, &point, slowness);
    store(g + j, response_at(&p, &point, slowness));
  }
}

static void expect(const hw__view *view, size_t n, const hw__point *at, const double *mass, double *g, double sums[2]) {
  const hw__point point = *at;
  const hw__view sources = *view;
  vec sum = all(0), squares = all(0);
  for (size_t j = 0; j < n; j += LANES) {
    const vec slowness = load(sources.slowness + j);
    const passage p = passage_at(&sources, j, &point, slowness);
    const vec value = response_at(&p, &point, slowness);
    store(g + j, value);
    const vec c = value * load(mass + j);
    sum += c;
    squares += c * c;
  }
  sums[0] = sum_of(sum);
  sums[1] = sum_of(squares);
}

/* With p = d ln g / dT the mean of g over a bin is g (1 + half_spread (p^2 + p')) to the fourth order in the bin's
 * width, and its slope is g p. */
static void accumulate(const hw__view *view, size_t n, const hw__point *at, const hw__bin *bin_at,
                       const hw__sums *sums) {
  const hw__point point = *at;
  const hw__view sources = *view;
  const hw__bin bin = *bin_at;
  const hw__sums to = *sums;
  const double weighted = bin.weight * bin.value;
  for (size_t j = 0; j < n; j += LANES) {
    const vec slowness = load(sources.slowness + j);
    const passage q = passage_at(&sources, j, &point, slowness);
    const vec g = response_at(&q, &point, slowness);
    const vec p = -q.per_age * (0.5 + 0.5 * q.r * q.lag * (q.age + q.travel)) - q.kappa;
    const vec p_dt = q.per_age * q.per_age * (0.5 - q.r * q.travel * q.travel);
    const vec bend = 1.0 + bin.half_spread * (p * p + p_dt);
    const vec mean = g * smaller(larger(bend, all(0)), all(4));
    const vec slope = g * p;
    store(to.lambda + j, load(to.lambda + j) + (bin.weight * (mean * mean) + bin.slope_weight * (slope * slope)));
    store(to.h + j, load(to.h + j) + (weighted * mean + bin.slope_value * slope));
    store(to.g + j, load(to.g + j) + bin.weight * mean);
  }
}

typedef struct {
  vec lambda, h, offset;
} folded;

INLINE folded fold_one(vec lambda, vec h, vec g, const hw__fold *f, bool gain) {
  const vec per_s0_g = g * f->per_s0;
  folded out = {larger(lambda - g * per_s0_g, all(0)), h - f->s1 * per_s0_g, all(0)};
  if (gain) {
    const vec d = 1.0 + f->gain2 * out.lambda;
    const vec per_d = 1.0 / d;
    out.offset = 0.5 * (f->gain2 * out.h * out.h * per_d - fast_log(d));
    out.lambda *= per_d;
    out.h *= per_d;
  }
  return out;
}

INLINE void fold_all(size_t n, const hw__sums *sums, const hw__fold *f, const hw__totals *totals, bool gain) {
  for (size_t j = 0; j < n; j += LANES) {
    const folded x = fold_one(load(sums->lambda + j), load(sums->h + j), load(sums->g + j), f, gain);
    store(totals->lambda + j, load(totals->lambda + j) + x.lambda);
    store(totals->h + j, load(totals->h + j) + x.h);
    if (gain) {
      store(totals->offset + j, load(totals->offset + j) + x.offset);
    }
  }
}

static void fold(size_t n, const hw__sums *sums, const hw__fold *fold_at, const hw__totals *totals) {
  const hw__sums from = *sums;
  const hw__fold f = *fold_at;
  const hw__totals to = *totals;
  if (f.gain2 > 0) {
    fold_all(n, &from, &f, &to, true);
  } else {
    fold_all(n, &from, &f, &to, false);
  }
}

static void add(size_t n, const double *g, double w, double c, const hw__totals *totals, const hw__totals *out) {
  const hw__totals from = *totals, to = *out;
  const double wc = w * c;
  for (size_t j = 0; j < n; j += LANES) {
    const vec x = load(g + j);
    store(to.lambda + j, load(from.lambda + j) + w * (x * x));
    store(to.h + j, load(from.h + j) + wc * x);
    store(to.offset + j, load(from.offset + j));
  }
}

static void grow(size_t n, const double *g, double w, double c, const hw__sums *sums) {
  const hw__sums to = *sums;
  for (size_t j = 0; j < n; j += LANES) {
    const vec x = load(g + j), wx = w * x;
    store(to.lambda + j, load(to.lambda + j) + wx * x);
    store(to.h + j, load(to.h + j) + wx * c);
    store(to.g + j, load(to.g + j) + wx);
  }
}

INLINE void couple_all(size_t n, const double *g, double w, double c, const hw__sums *sums, const hw__fold *before,
                       const hw__fold *after, const hw__totals *from, const hw__totals *to, bool gain) {
  const double wc = w * c;
  for (size_t j = 0; j < n; j += LANES) {
    const vec x = load(g + j), lambda = load(sums->lambda + j), h = load(sums->h + j), sum_g = load(sums->g + j);
    const folded old = fold_one(lambda, h, sum_g, before, gain);
    const folded new = fold_one(lambda + w * (x * x), h + wc * x, sum_g + w * x, after, gain);
    store(to->lambda + j, larger(load(from->lambda + j) + (new.lambda - old.lambda), all(0)));
    store(to->h + j, load(from->h + j) + (new.h - old.h));
    store(to->offset + j, load(from->offset + j) + (new.offset - old.offset));
  }
}

static void couple(size_t n, const double *g, double w, double c, const hw__sums *sums, const hw__fold *before,
                   const hw__fold *after, const hw__totals *totals, const hw__totals *out) {
  const hw__sums s = *sums;
  const hw__fold f0 = *before, f1 = *after;
  const hw__totals from = *totals, to = *out;
  if (f1.gain2 > 0) {
    couple_all(n, g, w, c, &s, &f0, &f1, &from, &to, true);
  } else {
    couple_all(n, g, w, c, &s, &f0, &f1, &from, &to, false);
  }
}

static size_t evidence(size_t n, const hw__totals *totals, double lo, double hi, double *out, double *mass) {
  const hw__totals from = *totals;
  const double prior = hi > lo ? 12 / ((hi - lo) * (hi - lo)) : 1e300, pull = prior * (0.5 * (lo + hi));
  vec near = all(0);
  for (size_t j = 0; j < n; j += LANES) {
    const vec l = larger(load(from.lambda + j), all(1e-280)), h = load(from.h + j);
    const vec room = smaller(h - lo * l, hi * l - h);
    const mask far = (room > 0.0) & (room * room > 36.0 * l);
    store(out + j, 0.5 * (h * h / l - fast_log(l)) + (0.9189385332046727 + load(from.offset + j)));
    store(mass + j, smaller(larger((h + pull) / (l + prior), all(lo)), all(hi)));
    near += choose(far, all(0), all(1));
  }
  return (size_t)sum_of(near);
}

static double largest(size_t n, const double *e, const double *base) {
  vec most = all(-1e300);
  for (size_t j = 0; j < n; j += LANES) {
    most = larger(load(e + j) - load(base + j), most);
  }
  return largest_of(most);
}

static void weigh(size_t n, const double *e, const double *base, double shift, double *weight, double sums[2]) {
  vec sum = all(0), squares = all(0);
  for (size_t j = 0; j < n; j += LANES) {
    const vec w = fast_exp(load(e + j) - load(base + j) - shift);
    store(weight + j, w);
    sum += w;
    squares += w * w;
  }
  sums[0] = sum_of(sum);
  sums[1] = sum_of(squares);
}

#define JOIN(a, b)         a##b
#define TABLE(name)        JOIN(hw__kernel_, name)
#define TEXT_OF(name)      #name
#define TEXT_OF_NAME(name) TEXT_OF(name)

const hw__kernel_table TABLE(HW_KERNEL_NAME) = {
    TEXT_OF_NAME(HW_KERNEL_NAME), response, expect, accumulate, fold, add, grow, couple, evidence, largest, weigh,
};

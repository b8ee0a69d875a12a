/* The inner loops of the posterior engine, over many particles at once.
 *
 * kernel.c is compiled twice, for the baseline machine and for AVX2; hw__kernel picks one at run time. Both do
 * the same IEEE operations in the same order (no fused multiply-add, sums in four lanes), so they give the
 * same bits; only their speed differs. Arrays are 64-byte aligned and lengths are multiples of 8.
 */
#ifndef HW_POSTERIOR_KERNEL_H
#define HW_POSTERIOR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* Sources as the transport sees them: release time, the running integrals at their places (river/along.h),
 * 1/p and q/p^3 for velocity scale p and dispersion scale q. */
typedef struct {
  const double *release, *theta, *variance, *decay, *slowness, *spread;
} hw__view;

/* A sensor's place at one time. Concentration per gram is scaled by per_discharge + per_area * slowness, one of which
 * is 0: either the discharge is known or the area is. */
typedef struct {
  double time_s, theta, variance, decay, per_discharge, per_area;
} hw__point;

/* Readings of one sensor merged into one: with delta = time - mean time, weights 1/sigma^2,
 *   weight = sum w,  value = mean c,  half_spread = mean delta^2 / 2,  slope_weight = sum w delta^2,
 *   slope_value = sum w delta (c - mean c).
 * A single reading has zeros in the last three. */
typedef struct {
  double weight, value, half_spread, slope_weight, slope_value;
} hw__bin;

/* A sensor's running sums with its background and gain worked in:
 *   Lambda' = Lambda - G^2 per_s0,  H' = H - G S1 per_s0                    (background unknown)
 *   then, d = 1 + gain2 Lambda':  Lambda'' = Lambda'/d, H'' = H'/d, offset += gain2 H'^2/(2 d) - ln(d)/2. */
typedef struct {
  double per_s0, s1, gain2;
} hw__fold;

/* Columns of one sensor's sums, and of the totals over sensors. */
typedef struct {
  double *lambda, *h, *g;
} hw__sums;
typedef struct {
  double *lambda, *h, *offset;
} hw__totals;

typedef struct {
  const char *name;
  /* g[i]: concentration per gram of source i at the point. */
  void (*response)(const hw__view *view, size_t n, const hw__point *point, double *g);
  /* The same, and the sum and sum of squares of mass[i] g[i]. */
  void (*expect)(const hw__view *view, size_t n, const hw__point *point, const double *mass, double *g, double sums[2]);
  /* The bin's terms added to the sums; all three are written. */
  void (*accumulate)(const hw__view *view, size_t n, const hw__point *point, const hw__bin *bin, const hw__sums *sums);
  /* totals += fold(sums). */
  void (*fold)(size_t n, const hw__sums *sums, const hw__fold *fold, const hw__totals *totals);
  /* One reading, weight w and value c, at a sensor without sums of its own: out = totals + terms; out may be totals. */
  void (*add)(size_t n, const double *g, double w, double c, const hw__totals *totals, const hw__totals *out);
  /* The reading's terms added to a sensor's sums. */
  void (*grow)(size_t n, const double *g, double w, double c, const hw__sums *sums);
  /* The same as add at a sensor with sums: out = totals - fold(sums, before) + fold(sums + terms, after);
   * out may be totals. */
  void (*couple)(size_t n, const double *g, double w, double c, const hw__sums *sums, const hw__fold *before,
                 const hw__fold *after, const hw__totals *totals, const hw__totals *out);
  /* evidence[i] = H^2/(2 Lambda) - ln(Lambda)/2 + ln(2 pi)/2 + offset: the mass integrated over all numbers.
   * mass[i]: the mass to expect, H / Lambda drawn towards the middle of [lo, hi] by the box's own precision.
   * Returned: how many have a bound of [lo, hi] within 6 standard deviations, so that it is not yet right. */
  size_t (*evidence)(size_t n, const hw__totals *totals, double lo, double hi, double *evidence, double *mass);
  /* weight[i] = exp(evidence - base - shift); sums[0] their sum, sums[1] the sum of squares.
   * Returned: nothing else; largest() gives the shift. */
  double (*largest)(size_t n, const double *evidence, const double *base);
  void (*weigh)(size_t n, const double *evidence, const double *base, double shift, double *weight, double sums[2]);
} hw__kernel_table;

/* The fastest one this machine runs. */
const hw__kernel_table *hw__kernel(void);

extern const hw__kernel_table hw__kernel_portable;
#ifdef __x86_64__
extern const hw__kernel_table hw__kernel_avx2;
#endif

#endif

/* The inner loop of the engine: one sensor's view against the curves of many supposed releases. */
#ifndef HW_POSTERIOR_KERNEL_H
#define HW_POSTERIOR_KERNEL_H

#include "posterior/view.h"

/* Columns of hw__curve; area 0 where nothing passes. The last NULL: instants all. */
typedef struct {
  const double *passage_s, *travel_s, *variance_s2, *area_g_s_m3, *decay_per_s, *duration_s;
} hw__curves;

/* out[i] = hw__view_log_likelihood under curve i, within 1e-12 of its size, and 1e-3 a censored reading (a plume below
 * a thousandth of the noise is taken for none); n <= 256. clean[i]: the same where a hidden background is nothing
 * (view->hidden; else untouched). The same bits on every machine. */
void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               double *out, double *clean);

#endif

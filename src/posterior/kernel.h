/* The inner loop of the engine: one sensor's view against the curves of many supposed releases. */
#ifndef HW_POSTERIOR_KERNEL_H
#define HW_POSTERIOR_KERNEL_H

#include "posterior/curves.h"

/* out[i] = hw__view_log_likelihood under curve i of n, within 1e-12 of its size, and 1e-3 a censored reading (a plume
 * below a thousandth of the noise is taken for none); out and `clean` are filled up to a multiple of four. `lasting`:
 * all curves have durations, or none has. clean[i]: the same where a hidden background is nothing (view->hidden; else
 * untouched). The same bits on every machine. */
void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               bool lasting, double *out, double *clean);

#endif

/* The inner loop of the engine: one sensor's view against the curves of many supposed releases. */
#ifndef HW_POSTERIOR_KERNEL_H
#define HW_POSTERIOR_KERNEL_H

#include "posterior/curves.h"

/* A view's points with what every curve asks of them, and their sums without a plume: of those before point k at
 * without[k]. */
typedef struct {
  const hw__view *view;
  const hw__tails *tails;
  double off[HW__VIEW_POINTS];                              /* value less background */
  double spread_s[HW__VIEW_POINTS];                         /* standard deviation of the times */
  double sign[HW__VIEW_POINTS];                             /* -1 below a limit, 1 above one, 0 measured */
  double per[HW__VIEW_POINTS], loudest[HW__VIEW_POINTS];    /* of a reading; of a squared misfit, as hw__soft has it */
  double quiet[HW__VIEW_POINTS], on_level[HW__VIEW_POINTS]; /* 1 / variance without a plume; 1 or 0 */
  hw__by_level without[HW__VIEW_POINTS + 1];
  double widest_s2, quietest; /* the largest spread and the smallest fixed variance of any */
} hw__prepared;

void hw__kernel_prepare(const hw__view *view, const hw__tails *tails, hw__prepared *out);
/* out[i] = hw__view_log_likelihood under curve i of n, within 1e-12 of its size, and 1e-3 a censored reading (a plume
 * below a thousandth of the noise is taken for none); out and `clean` are filled up to a multiple of four. `lasting`:
 * all curves have durations, or none has. clean[i]: the same where a hidden background is nothing (view->hidden; else
 * untouched). The same bits on every machine. */
void hw__kernel_compare(const hw__prepared *p, size_t n, const hw__curves *curves, bool lasting, double *out,
                        double *clean);
/* Both. */
void hw__kernel_log_likelihood(const hw__view *view, const hw__tails *tails, size_t n, const hw__curves *curves,
                               bool lasting, double *out, double *clean);

#endif

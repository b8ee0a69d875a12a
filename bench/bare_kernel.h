/* The least a particle can cost: one exponential and two running sums, as fast as the compiler makes it. */
#ifndef HW_BENCH_BARE_KERNEL_H
#define HW_BENCH_BARE_KERNEL_H

#include <stddef.h>

/* lambda += w g^2 and h += w c g with g = exp(-sharpness (t - centre)^2), over n particles. */
void bare_kernel(size_t n, double t, double w, double c, const double *centre, const double *sharpness, double *lambda,
                 double *h);

#endif

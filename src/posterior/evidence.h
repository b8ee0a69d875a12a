/* The mass integrated out: ln of the integral over [lo, hi] of exp(H s - Lambda s^2 / 2) ds, and draws of s. */
#ifndef HW_POSTERIOR_EVIDENCE_H
#define HW_POSTERIOR_EVIDENCE_H

/* ln of the upper tail of the standard normal; accurate to 1e-9 in the far tail too. */
double hw__log_upper_tail(double z);

/* Given: lambda >= 0, lo <= hi. With lo = hi the mass is known and the integrand itself is meant. */
double hw__mass_evidence(double lambda, double h, double lo, double hi);

/* The mass at quantile u in (0, 1) of the density above, within [lo, hi]. */
double hw__mass_quantile(double lambda, double h, double lo, double hi, double u);

#endif

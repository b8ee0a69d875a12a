/* Readings below a detection limit, and above the end of a range: ln Phi(z) and its slope r = phi / Phi come from a
 * table, by cubic interpolation. Every draw asks for them at every such reading, and the error function itself made a
 * quiet, well watched river the most expensive one.
 */
#ifndef HW_POSTERIOR_NONDETECT_H
#define HW_POSTERIOR_NONDETECT_H

/* From z = -38, where e^(-z^2/2) is about to leave the numbers, to 6, where ln Phi is -1e-9. */
enum { HW__TAIL_FROM = -38, HW__TAIL_TO = 6, HW__TAIL_PER_UNIT = 32 };
enum { HW__TAIL_KNOTS = (HW__TAIL_TO - HW__TAIL_FROM) * HW__TAIL_PER_UNIT + 1 };

typedef struct {
  double value[HW__TAIL_KNOTS]; /* ln Phi(z) */
  double slope[HW__TAIL_KNOTS]; /* its derivative */
} hw__tails;

void hw__tails_build(hw__tails *out);
/* ln Phi(z) for z <= 6 and its slope; both within 1e-8 of their size or 1e-9, whichever is more. */
double hw__tails_at(const hw__tails *tails, double z, double *slope);
/* Minus the second derivative of ln Phi at z, from its slope r there: r (z + r), in (0, 1). */
double hw__tail_curvature(double z, double r);

/* ln of the upper tail of the standard normal; accurate to 1e-9 in the far tail too. */
double hw__log_upper_tail(double z);

#endif

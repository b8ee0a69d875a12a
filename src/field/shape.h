/* The family of pulse shapes: exponentially modified Gaussians.
 *
 * A Gaussian of width sigma that has passed through a store of residence time tau: the simplest curve
 * with the steep front and long tail of dye in real rivers. With sigma = 1 at mu = 0,
 *
 *   f(x; q) = exp(1/(2 tau^2) - x/tau) erfc((1/tau - x) / sqrt 2),   tau = exp q.
 *
 * The law of the field model speaks of three numbers that any pulse has: its peak, phi (midpoint of the
 * half-height crossings) and its lead (phi minus the rising 10 % crossing). Each shape is therefore
 * tabulated with peak 1 against y = (t - phi) / lead: every shape is 0.1 at y = -1.
 * Check value: ln lead for sigma = 1, q = 0 is ln 2.146 + 0.152.
 */
#ifndef HW_FIELD_SHAPE_H
#define HW_FIELD_SHAPE_H

#include <stddef.h>

/* A table from y = -3 to 21 in steps of 1/32: linear interpolation is within 0.001 of the peak. */
enum { HW__SHAPES = 9, HW__SHAPE_POINTS = 769, HW__SHAPE_PER_LEAD = 32, HW__SHAPE_FROM = -3 };

typedef struct {
  double skew;          /* q = ln(tau / sigma) */
  double lead_in_sigma; /* lead for sigma = 1 */
  double area;          /* integral over y of the shape with peak 1 */
  double peak_y;        /* where the peak is */
  float value[HW__SHAPE_POINTS];
} hw__shape;

typedef struct {
  hw__shape shape[HW__SHAPES]; /* skews -1.5 to 2.75, evenly spaced */
} hw__shapes;

void hw__shapes_build(hw__shapes *out);

/* Height at y of the shape with peak 1; 0 outside the table. */
static inline float hw__shape_at(const hw__shape *shape, float y) {
  const float place = (y - (float)HW__SHAPE_FROM) * (float)HW__SHAPE_PER_LEAD;
  if (!(place >= 0) || place >= (float)(HW__SHAPE_POINTS - 1)) {
    return 0;
  }
  const int i = (int)place;
  return shape->value[i] + (place - (float)i) * (shape->value[i + 1] - shape->value[i]);
}

/* The y at which the front first reaches this share (0 < share <= 1) of the peak. */
double hw__shape_front(const hw__shape *shape, double share);
/* The y at which the tail last has this share; the table's end for one that it does not fall to. */
double hw__shape_tail(const hw__shape *shape, double share);

#endif

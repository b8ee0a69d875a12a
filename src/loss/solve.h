/* One follow-the-leader solve: from a point of the box down to a stationary point of F.
 *
 * A gradient step in well-chosen coordinates. Place and time lie on a ridge l - v t = const along which F
 * hardly changes (condition number 1e7 in (l, t)); in y = (s, p, t) with the phase p = l - v t the
 * condition number is about 4, and a diagonal step suffices. See docs/paper.md for what this replaces.
 */
#ifndef HW_LOSS_SOLVE_H
#define HW_LOSS_SOLVE_H

#include "headwater/method.h"
#include "loss/misfit.h"

typedef struct {
  double tolerance;  /* on the projected gradient in box widths, F divided by the mean square reading; a tenth of
                      * it on the share of F that is still to be gained */
  size_t iterations; /* at most */
  unsigned without;  /* HW_WITHOUT_... of method.h */
} hw__limits;

typedef struct {
  hw_source x;       /* in: where to start, inside the box; out: where it ended */
  double value;      /* F there, (g/m3)^2 */
  size_t iterations; /* steps taken */
  hw_stop stop;
} hw__solution;

/* Given: misfit, packed, box, limits, solution->x. Returned: *solution. Never worse than the start, never
 * non-finite: a start where F is not finite stays where it is (HW_STOP_NONFINITE). */
void hw__solve(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, const hw__limits *limits,
               hw__solution *solution);

#endif

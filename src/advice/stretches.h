/* The draws' places cut into stretches of equal probability, none across two branches; and regions made of them. */
#ifndef HW_ADVICE_STRETCHES_H
#define HW_ADVICE_STRETCHES_H

#include "advice/foresight.h"

enum { HW__STRETCHES_MOST = 112 };

typedef struct {
  size_t count;
  size_t *of_draw; /* the stretch each draw lies in */
  size_t branch[HW__STRETCHES_MOST];
  double from_m[HW__STRETCHES_MOST], to_m[HW__STRETCHES_MOST];
} hw__stretches;

/* About `parts` of them, at least one a branch. Status: HW_ENOMEM */
hw_status hw__stretches_cut(const hw__foresight *f, size_t parts, hw__stretches *out);
void hw__stretches_free(hw__stretches *stretches);

/* Length of the shortest stretches that hold 90 % of the draws' weights (they sum to 1), of the last only as much as is
 * needed; holds (NULL: not asked) tells of each stretch whether it is among them. */
double hw__stretches_region(const hw__stretches *stretches, const double *weight, size_t draws, bool *holds);

#endif

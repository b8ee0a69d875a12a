#include "river/doubt.h"

#include <math.h>

/* ln(local) / ln(factor) where only the factor is given; 0.8 is then left for the common part, as 0.6^2 + 0.8^2 = 1. */
#define LOCAL_SHARE 0.6

hw__spread hw__spread_of(hw_doubt doubt) {
  if (!(doubt.factor > 1)) {
    return (hw__spread){0, 0};
  }
  const double whole = log(doubt.factor);
  const double local = doubt.local >= 1 ? fmin(log(doubt.local), whole) : LOCAL_SHARE * whole;
  return (hw__spread){.common = sqrt((whole - local) * (whole + local)), .local = local};
}

hw__spread hw__spread_of_quantity(const hw_quantity *quantity) {
  return quantity->certainty == HW_UNCERTAIN ? hw__spread_of((hw_doubt){quantity->factor, quantity->local})
                                             : (hw__spread){0, 0};
}

hw__spread hw__spread_of_reach(const hw_doubt *own, const hw_quantity *quantity) {
  return own->factor >= 1 ? hw__spread_of(*own) : hw__spread_of_quantity(quantity);
}
